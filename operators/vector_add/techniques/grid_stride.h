// vector_add, grid-stride: as many threads as fill the device, each walking through the arrays in steps of the whole
// grid. Strided and broadcast tensors are left to `strided`.
#pragma once

#include <oprt_device.h>

#include "shared/index.h"
#include "vector_add/techniques/strided.h"
#include "vector_add/vector_add.h"

namespace oprt {

// y, a, b: [elements]
template <typename T>
__global__ void __launch_bounds__(default_block_threads)
    vector_add_grid_stride(T *y, const T *a, const T *b, int64_t elements) {
    const int64_t step = global_thread_count();
    for (int64_t i = global_thread_index(); i < elements; i += step) y[i] = sum_of_two(a[i], b[i]);
}

template <typename T>
void launch_vector_add_grid_stride(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_vector_add_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const launch_config config{grid_that_loops(elements, default_block_threads), default_block_threads, 0, stream};
    launch(vector_add_grid_stride<T>, config, buffers.y, buffers.a, buffers.b, elements);
}

}  // namespace oprt
