// vector_add, vectorised: one 16-byte pack a thread. The packs lie on y's 16-byte addresses; shared/pack.h reads and
// writes the incomplete first and last one, and inputs that are shifted against y, element by element. Strided and
// broadcast tensors are left to `strided`.
#pragma once

#include <oprt_device.h>

#include "shared/index.h"
#include "shared/pack.h"
#include "vector_add/techniques/strided.h"
#include "vector_add/vector_add.h"

namespace oprt {

// y, a, b: [elements]
template <typename T>
__global__ void __launch_bounds__(default_block_threads)
    vector_add_vectorised(T *y, const T *a, const T *b, int64_t elements) {
    const int64_t first = global_thread_index() * pack<T>::size - pack_shift(y);
    if (first >= elements) return;
    const T zero = from_accumulate<T>(0);
    const pack<T> left = load_pack(a, first, elements, zero);
    const pack<T> right = load_pack(b, first, elements, zero);
    pack<T> sum;
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) sum.values[i] = sum_of_two(left.values[i], right.values[i]);
    store_pack(y, first, elements, sum);
}

template <typename T>
void launch_vector_add_vectorised(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_vector_add_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const int64_t packs = pack_count<T>(elements, pack_shift(buffers.y));
    const launch_config config{grid_for_all(packs, default_block_threads), default_block_threads, 0, stream};
    launch(vector_add_vectorised<T>, config, buffers.y, buffers.a, buffers.b, elements);
}

}  // namespace oprt
