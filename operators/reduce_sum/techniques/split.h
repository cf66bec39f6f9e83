// reduce_sum, split: a few wide rows would keep only a few blocks busy, so each row is cut into splits. A first kernel
// sums every split into the workspace, a second one adds up each row's splits; the kernels' order on the stream is the
// barrier between them, and the second one is ready by when the first one ends. Plans without splits
// (reduce_sum_splits) are left to `vectorised`.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "reduce_sum/techniques/vectorised.h"
#include "reduce_sum/tuning.h"
#include "shared/reduction.h"

namespace oprt {

// A block a split. parts: [rows, splits]; x: [rows, columns], even_rows
template <typename T, int block_threads, int packs>
__global__ void __launch_bounds__(block_threads)
    reduce_sum_even_parts(previous_kernels previous, accumulate_t<T> *parts, const T *x, int splits, int64_t columns,
                          int64_t split_columns, const even_rows<2> places) {
    using A = accumulate_t<T>;
    __shared__ A partials[block_threads / warp_size];
    const int thread = static_cast<int>(threadIdx.x);
    const row_piece split = piece_of_row(blockIdx.x, splits, split_columns, columns);
    const T *terms = x + places.offsets_of(split.row).of[1] + split.begin;
    const int whole_packs = static_cast<int>(split.count / pack<T>::size);
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    const A share = sum_of_whole_packs<packs>(terms, whole_packs, thread, block_threads);
    const A sum = reduce_block<block_threads>(share, partials, add{});
    if (thread == 0) parts[blockIdx.x] = sum;
}

// The same for rows anywhere. x: [rows, columns] at the plan's strides
template <typename T, int block_threads, int packs>
__global__ void __launch_bounds__(block_threads)
    reduce_sum_any_parts(previous_kernels previous, accumulate_t<T> *parts, const T *x, int splits,
                         int64_t split_columns, const reduce_sum_plan plan) {
    using A = accumulate_t<T>;
    __shared__ A partials[block_threads / warp_size];
    const int thread = static_cast<int>(threadIdx.x);
    const row_piece split = piece_of_row(blockIdx.x, splits, split_columns, plan.columns);
    const T *x_row = x + offsets_at(plan.outer, split.row).of[1];
    const int64_t end = split.begin + split.count;
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    const A share = has_contiguous_rows(plan)
                        ? sum_of_packs<packs>(x_row + split.begin, split.count, thread, block_threads)
                        : sum_of_terms(x_row, plan.inner, split.begin + thread, end, block_threads);
    const A sum = reduce_block<block_threads>(share, partials, add{});
    if (thread == 0) parts[blockIdx.x] = sum;
}

// A block a row. y: [rows] at the plan's strides; parts: [rows, splits]
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads)
    reduce_sum_split_combine(previous_kernels previous, T *y, const accumulate_t<T> *parts, const reduce_sum_plan plan,
                             int64_t splits) {
    using A = accumulate_t<T>;
    __shared__ A partials[block_threads / warp_size];
    const int64_t row = blockIdx.x;
    wait_for_previous_kernels(previous);
    running_sum<A> share;
    for (int64_t s = threadIdx.x; s < splits; s += block_threads) share.add(parts[row * splits + s]);
    const A sum = reduce_block<block_threads>(share.total(), partials, add{});
    if (threadIdx.x == 0) y[offsets_at(plan.outer, row).of[0]] = from_accumulate<T>(sum);
}

template <typename T>
void launch_reduce_sum_split(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    constexpr int threads = reduce_sum_split_threads;
    constexpr int packs = reduce_sum_split_packs;
    const int64_t splits = reduce_sum_splits(plan);
    if (splits <= 1) return launch_reduce_sum_vectorised(plan, buffers, stream);
    // Whole packs, so that every split of a row begins at the same shift from a 16-byte address.
    const int64_t split_columns = ceil_divide(ceil_divide(plan.columns, splits), pack<T>::size) * pack<T>::size;
    auto *parts = static_cast<accumulate_t<T> *>(buffers.workspace);
    const launch_config config{grid_for_all(plan.rows * splits, 1), threads, 0, stream};
    if (has_contiguous_rows(plan) && has_even_rows(plan, buffers)) {
        launch_overlapping(reduce_sum_even_parts<T, threads, packs>, config, parts, buffers.x, splits, plan.columns,
                           split_columns, even_rows<2>(plan.outer));
    } else {
        launch_overlapping(reduce_sum_any_parts<T, threads, packs>, config, parts, buffers.x, splits, split_columns,
                           plan);
    }
    launch_behind(reduce_sum_split_combine<T, threads>, launch_config{grid_for_all(plan.rows, 1), threads, 0, stream},
                  buffers.y, parts, plan, splits);
}

}  // namespace oprt
