// A thread's share of a row of softmax: what it contributes to (maximum, sum), and writing it once those are known.
// Rows with neighbouring elements go by 16-byte packs, all others element by element. How a row is shared out is left
// to the techniques.
#pragma once

#include <oprt_device.h>

#include <cstdlib>

#include "shared/index.h"
#include "shared/online_softmax.h"
#include "shared/pack.h"
#include "shared/row_team.h"
#include "softmax/softmax.h"

namespace oprt {

// Whether the elements of a row are neighbours in memory, in both operands.
inline __host__ __device__ bool has_contiguous_rows(const softmax_plan &plan) {
    return plan.columns == 1 || (plan.y_column_stride == 1 && plan.x_column_stride == 1);
}

// Whether neighbouring rows are closer to each other in memory than neighbouring elements of one row.
inline bool has_neighbouring_rows(const softmax_plan &plan) {
    if (plan.outer.ndim == 0) return false;
    return std::abs(plan.outer.strides[1][plan.outer.ndim - 1]) < std::abs(plan.x_column_stride);
}

// Whether the rows of both operands are even_rows.
template <typename T>
bool has_even_rows(const softmax_plan &plan, const softmax_buffers<T> &buffers) {
    return plan.outer.ndim <= 1 && plan.columns % pack<T>::size == 0 &&
           has_aligned_rows(buffers.y, plan.outer.strides[0], plan.outer.ndim) &&
           has_aligned_rows(buffers.x, plan.outer.strides[1], plan.outer.ndim);
}

// -inf in T: what softmax may read outside of a row without noticing.
template <typename T>
__device__ __forceinline__ T lowest_element() {
    return from_accumulate<T>(static_cast<accumulate_t<T>>(-INFINITY));
}

// The part of the elements that are number `member`, `member + members`, ... of x: [count], at this stride; several of
// them under way at once.
template <typename T>
__device__ softmax_part<accumulate_t<T>> part_of_elements(const T *x, int64_t stride, int64_t count, int member,
                                                          int members) {
    using A = accumulate_t<T>;
    constexpr int unroll = 4;
    running_softmax<A> running;
    for (int64_t c = member; c < count; c += int64_t{unroll} * members) {
        A elements[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            const int64_t place = c + int64_t{k} * members;
            elements[k] = place < count ? to_accumulate(x[place * stride]) : static_cast<A>(-INFINITY);
        }
        running.add(elements);
    }
    return running.part();
}

template <int count, typename T>
__device__ __forceinline__ void add_packs(running_softmax<accumulate_t<T>> &running, const pack_words (&packs)[count]) {
    accumulate_t<T> elements[count * pack<T>::size];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        const pack<T> loaded = pack_of<T>(packs[k]);
#pragma unroll
        for (int i = 0; i < pack<T>::size; ++i) elements[k * pack<T>::size + i] = to_accumulate(loaded.values[i]);
    }
    running.add(elements);
}

// The part of the packs that are number `member`, `member + members`, ... of x: [count], neighbours in memory.
template <typename T>
__device__ softmax_part<accumulate_t<T>> part_of_packs(const T *x, int64_t count, int member, int members) {
    constexpr int unroll = 4;
    running_softmax<accumulate_t<T>> running;
    read_packs<unroll>(x, count, lowest_element<T>(), member, members,
                       [&](const pack_words(&packs)[unroll]) { add_packs<unroll, T>(running, packs); });
    return running.part();
}

// The same of `count` whole packs from a 16-byte address on.
template <typename T>
__device__ __forceinline__ softmax_part<accumulate_t<T>> part_of_whole_packs(const T *x, int count, int member,
                                                                             int members) {
    constexpr int unroll = 4;
    running_softmax<accumulate_t<T>> running;
    read_whole_packs<unroll>(x, count, lowest_element<T>(), member, members,
                             [&](const pack_words(&packs)[unroll]) { add_packs<unroll, T>(running, packs); });
    return running.part();
}

// y = exp(x - largest) * scale for this member's elements. y may be x: each element is read and written by one thread.
template <typename T>
__device__ void write_elements(T *y, int64_t y_stride, const T *x, int64_t x_stride, int64_t count,
                               accumulate_t<T> largest, accumulate_t<T> scale, int member, int members) {
#pragma unroll 4
    for (int64_t c = member; c < count; c += members) {
        y[c * y_stride] = from_accumulate<T>(exponential(to_accumulate(x[c * x_stride]) - largest) * scale);
    }
}

template <typename T>
__device__ void write_packs(T *y, const T *x, int64_t count, accumulate_t<T> largest, accumulate_t<T> scale, int member,
                            int members) {
    const int shift = pack_shift(x);
    const int64_t packs = pack_count<T>(count, shift);
    for (int64_t k = member; k < packs; k += members) {
        const int64_t first = k * pack<T>::size - shift;
        const pack<T> source = load_pack(x, first, count, lowest_element<T>());
        pack<T> result;
#pragma unroll
        for (int i = 0; i < pack<T>::size; ++i) {
            result.values[i] = from_accumulate<T>(exponential(to_accumulate(source.values[i]) - largest) * scale);
        }
        store_pack(y, first, count, result);
    }
}

}  // namespace oprt
