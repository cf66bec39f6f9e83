// A thread's share of the terms of one output of reduce_sum: contiguous rows by 16-byte packs, all others term by term.
// How threads share a row and add up their shares is left to the techniques.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/reduce_sum.h"
#include "shared/index.h"
#include "shared/pack.h"
#include "shared/row_team.h"
#include "shared/running_sum.h"

namespace oprt {

// Whether the terms of a row are neighbours in memory.
inline __host__ __device__ bool has_contiguous_rows(const reduce_sum_plan &plan) {
    return plan.columns == 1 || (plan.inner.ndim == 1 && plan.inner.strides[0][0] == 1);
}

// Sum of the terms first, first + step, ... below end of the row that begins at x_row. inner may have any rank and
// strides.
template <typename T>
__device__ accumulate_t<T> sum_of_terms(const T *x_row, const layout<1> &inner, int64_t first, int64_t end,
                                        int64_t step) {
    running_sum<accumulate_t<T>> sum;
    if (inner.ndim <= 1) {
        const int64_t stride = inner.ndim == 1 ? inner.strides[0][0] : 0;
        for (int64_t c = first; c < end; c += step) sum.add(to_accumulate(x_row[c * stride]));
    } else {
        for (int64_t c = first; c < end; c += step) sum.add(to_accumulate(x_row[offsets_at(inner, c).of[0]]));
    }
    return sum.total();
}

template <typename T>
__device__ __forceinline__ accumulate_t<T> sum_of_pack(const pack<T> &terms) {
    accumulate_t<T> sum = to_accumulate(terms.values[0]);
#pragma unroll
    for (int i = 1; i < pack<T>::size; ++i) sum += to_accumulate(terms.values[i]);
    return sum;
}

// Of several packs, added up plainly: at most 64 terms.
template <int packs, typename T>
__device__ __forceinline__ accumulate_t<T> sum_of_several(const pack_words (&loaded)[packs]) {
    accumulate_t<T> sum = sum_of_pack(pack_of<T>(loaded[0]));
#pragma unroll
    for (int k = 1; k < packs; ++k) sum += sum_of_pack(pack_of<T>(loaded[k]));
    return sum;
}

// Sum of the packs member, member + members, ... of terms: [count], neighbours in memory, beginning anywhere; `packs` of
// them under way at once.
template <int packs, typename T>
__device__ __forceinline__ accumulate_t<T> sum_of_packs(const T *terms, int64_t count, int member, int members) {
    running_sum<accumulate_t<T>> sum;
    read_packs<packs>(terms, count, from_accumulate<T>(0), member, members,
                      [&](const pack_words(&loaded)[packs]) { sum.add(sum_of_several<packs, T>(loaded)); });
    return sum.total();
}

// The same of a row that is `count` whole packs at a 16-byte address.
template <int packs, typename T>
__device__ __forceinline__ accumulate_t<T> sum_of_whole_packs(const T *terms, int count, int member, int members) {
    running_sum<accumulate_t<T>> sum;
    read_whole_packs<packs>(terms, count, from_accumulate<T>(0), member, members,
                            [&](const pack_words(&loaded)[packs]) { sum.add(sum_of_several<packs, T>(loaded)); });
    return sum.total();
}

// Whether the rows of x are even_rows.
template <typename T>
bool has_even_rows(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers) {
    return plan.outer.ndim <= 1 && plan.columns % pack<T>::size == 0 && plan.columns <= INT32_MAX &&
           has_aligned_rows(buffers.x, plan.outer.strides[1], plan.outer.ndim);
}

}  // namespace oprt
