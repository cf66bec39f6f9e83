// copy, strided: any rank and any strides of both tensors (transposed, reversed, broadcast, sliced). One thread an
// element; it turns its number into an index per dimension and that into one offset per tensor. Threads follow y's
// order, so writes are coalesced where y allows it. What dense arrays could do better is left to the other techniques.
#pragma once

#include <oprt_device.h>

#include "copy/copy.h"
#include "shared/index.h"

namespace oprt {

// y, x: elements.shape, at elements.strides[0] and elements.strides[1]
template <typename T>
__global__ void __launch_bounds__(default_block_threads) copy_strided(T *y, const T *x, const layout<2> elements) {
    const int64_t i = global_thread_index();
    if (i >= elements.elements) return;
    const operand_offsets<2> offset = offsets_at(elements, i);
    y[offset.of[0]] = x[offset.of[1]];
}

template <typename T>
void launch_copy_strided(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    const dim3 grid = grid_for_all(plan.elements.elements, default_block_threads);
    const launch_config config{grid, default_block_threads, 0, stream};
    launch(copy_strided<T>, config, buffers.y, buffers.x, plan.elements);
}

}  // namespace oprt
