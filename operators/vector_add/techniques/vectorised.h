// vector_add, vectorised: one 16-byte pack a thread. The packs lie on y's 16-byte addresses; shared/pack.h reads and
// writes the incomplete first and last one element by element, and makes the packs of inputs that are shifted against y
// from two of theirs. Strided and broadcast tensors are left to `strided`.
#pragma once

#include <oprt_device.h>

#include "shared/index.h"
#include "shared/pack.h"
#include "vector_add/techniques/strided.h"
#include "vector_add/vector_add.h"

namespace oprt {

template <typename T>
__device__ __forceinline__ pack<T> sum_of_packs(const pack<T> &left, const pack<T> &right) {
    pack<T> sum;
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) sum.values[i] = sum_of_two(left.values[i], right.values[i]);
    return sum;
}

// y, a, b: [elements]; aligned: all three begin at 16-byte addresses
template <typename T, bool aligned>
__global__ void __launch_bounds__(default_block_threads)
    vector_add_vectorised(previous_kernels previous, T *y, const T *a, const T *b, int64_t elements) {
    const int64_t first = global_thread_index() * pack<T>::size - (aligned ? 0 : pack_shift(y));
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    if (aligned && is_whole_pack<T>(first, elements)) {
        // Both loads are under way before the addition waits for the first.
        store_aligned(y + first, sum_of_packs(load_aligned(a + first), load_aligned(b + first)));
    } else if (first < elements) {
        const T zero = from_accumulate<T>(0);
        store_pack(y, first, elements,
                   sum_of_packs(load_pack(a, first, elements, zero), load_pack(b, first, elements, zero)));
    }
}

template <typename T>
void launch_vector_add_vectorised(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_vector_add_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const bool aligned = is_pack_aligned(buffers.y) && is_pack_aligned(buffers.a) && is_pack_aligned(buffers.b);
    const int64_t packs = pack_count<T>(elements, pack_shift(buffers.y));
    const launch_config config{grid_for_all(packs, default_block_threads), default_block_threads, 0, stream};
    launch_overlapping(aligned ? vector_add_vectorised<T, true> : vector_add_vectorised<T, false>, config, buffers.y,
                       buffers.a, buffers.b, elements);
}

}  // namespace oprt
