// copy, grid-stride: as many threads as fill the device, each walking through the array in steps of the whole grid. Any
// length with any grid, and the set-up of a thread is paid once for many elements. Strided tensors are left to
// `strided`.
#pragma once

#include <oprt_device.h>

#include "copy/copy.h"
#include "copy/techniques/strided.h"
#include "shared/index.h"

namespace oprt {

// y, x: [elements]
template <typename T>
__global__ void __launch_bounds__(default_block_threads) copy_grid_stride(T *y, const T *x, int64_t elements) {
    const int64_t step = global_thread_count();
    for (int64_t i = global_thread_index(); i < elements; i += step) y[i] = x[i];
}

template <typename T>
void launch_copy_grid_stride(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_copy_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const launch_config config{grid_that_loops(elements, default_block_threads), default_block_threads, 0, stream};
    launch(copy_grid_stride<T>, config, buffers.y, buffers.x, elements);
}

}  // namespace oprt
