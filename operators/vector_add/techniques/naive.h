// vector_add, naive: one thread an element, three coalesced accesses. Strided and broadcast tensors are left to
// `strided`.
#pragma once

#include <oprt_device.h>

#include "shared/index.h"
#include "vector_add/techniques/strided.h"
#include "vector_add/vector_add.h"

namespace oprt {

// y, a, b: [elements]
template <typename T>
__global__ void __launch_bounds__(default_block_threads)
    vector_add_naive(T *y, const T *a, const T *b, int64_t elements) {
    const int64_t i = global_thread_index();
    if (i < elements) y[i] = sum_of_two(a[i], b[i]);  // the last block has threads past the end
}

template <typename T>
void launch_vector_add_naive(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_vector_add_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const launch_config config{grid_for_all(elements, default_block_threads), default_block_threads, 0, stream};
    launch(vector_add_naive<T>, config, buffers.y, buffers.a, buffers.b, elements);
}

}  // namespace oprt
