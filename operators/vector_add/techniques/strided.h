// vector_add, strided: any rank and any strides; a broadcast input has stride 0 along the dimensions it is repeated in.
// One thread an element, in y's order. Also holds the addition itself, which every technique uses.
#pragma once

#include <oprt_device.h>

#include "shared/index.h"
#include "vector_add/vector_add.h"

namespace oprt {

// 16-bit types are added in float and rounded once.
template <typename T>
__device__ __forceinline__ T sum_of_two(T left, T right) {
    return from_accumulate<T>(to_accumulate(left) + to_accumulate(right));
}

// y, a, b: elements.shape, each at its own elements.strides
template <typename T>
__global__ void __launch_bounds__(default_block_threads)
    vector_add_strided(T *y, const T *a, const T *b, const layout<3> elements) {
    const int64_t i = global_thread_index();
    if (i >= elements.elements) return;
    const operand_offsets<3> offset = offsets_at(elements, i);
    y[offset.of[0]] = sum_of_two(a[offset.of[1]], b[offset.of[2]]);
}

template <typename T>
void launch_vector_add_strided(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    const dim3 grid = grid_for_all(plan.elements.elements, default_block_threads);
    const launch_config config{grid, default_block_threads, 0, stream};
    launch(vector_add_strided<T>, config, buffers.y, buffers.a, buffers.b, plan.elements);
}

}  // namespace oprt
