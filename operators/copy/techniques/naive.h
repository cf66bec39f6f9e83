// copy, naive: one thread an element. Neighbouring threads touch neighbouring elements, so each warp's access is one
// coalesced run; but every thread moves only one element for all its index arithmetic. Strided tensors are left to
// `strided`.
#pragma once

#include <oprt_device.h>

#include "copy/copy.h"
#include "copy/techniques/strided.h"
#include "shared/index.h"

namespace oprt {

// y, x: [elements]
template <typename T>
__global__ void __launch_bounds__(default_block_threads) copy_naive(T *y, const T *x, int64_t elements) {
    const int64_t i = global_thread_index();
    if (i < elements) y[i] = x[i];  // the last block has threads past the end
}

template <typename T>
void launch_copy_naive(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_copy_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const launch_config config{grid_for_all(elements, default_block_threads), default_block_threads, 0, stream};
    launch(copy_naive<T>, config, buffers.y, buffers.x, elements);
}

}  // namespace oprt
