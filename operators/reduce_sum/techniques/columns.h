// reduce_sum, columns: for an axis that is not the last, where neighbours in memory belong to neighbouring rows. Each
// lane takes a row of its own, or a 16-byte pack of them, so a warp reads neighbours in one access, without a transposed
// copy; the warps of a block share the terms, and so do several blocks where rows are few. Right for any strides; where
// rows themselves are contiguous, `vectorised` reads better.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "reduce_sum/tuning.h"
#include "shared/reduction.h"

namespace oprt {

// The sums of `width` neighbouring rows over the terms first, first + step, ... below end; `terms` of them under way at
// once. x_rows: the first row; width > 1: a pack, at every term.
template <int width, int terms, typename T>
__device__ void sum_neighbours(accumulate_t<T> (&sums)[width], const T *x_rows, const layout<1> &inner, int64_t first,
                               int64_t end, int64_t step) {
    running_sum<accumulate_t<T>> running[width];
    for (int64_t c = first; c < end; c += terms * step) {
        T loaded[terms][width];
#pragma unroll
        for (int k = 0; k < terms; ++k) {
            const int64_t term = c + k * step;
            const bool is_term = term < end;
            const T *source = x_rows + offsets_at(inner, is_term ? term : c).of[0];
            if constexpr (width == pack<T>::size) {
                pack_words bits = words_of(filled_pack(from_accumulate<T>(0)));
                if (is_term) bits = load_aligned_words(source);
                const pack<T> neighbours = pack_of<T>(bits);
#pragma unroll
                for (int i = 0; i < width; ++i) loaded[k][i] = neighbours.values[i];
            } else {
                loaded[k][0] = is_term ? source[0] : from_accumulate<T>(0);
            }
        }
#pragma unroll
        for (int k = 0; k < terms; ++k) {
#pragma unroll
            for (int i = 0; i < width; ++i) running[i].add(to_accumulate(loaded[k][i]));
        }
    }
#pragma unroll
    for (int i = 0; i < width; ++i) sums[i] = running[i].total();
}

// Block (i, s) has the rows from i * warp_size * width on and the terms from s * split_columns on. Sums go to
// y: [rows] at the plan's strides, or, with more than one split, to parts: [splits, rows]. x: [rows, columns] at the
// plan's strides
template <typename T, int width, int slices>
__global__ void __launch_bounds__(slices *warp_size)
    reduce_sum_columns(previous_kernels previous, T *y, accumulate_t<T> *parts, const T *x, const reduce_sum_plan plan,
                       int64_t split_columns) {
    using A = accumulate_t<T>;
    __shared__ A partials[slices][width][warp_size];
    const int lane = lane_index();
    const int slice = warp_index();
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * warp_size + lane) * width;
    const bool is_row = row < plan.rows;
    const operand_offsets<2> offset = offsets_at(plan.outer, is_row ? row : 0);
    const int64_t begin = blockIdx.y * split_columns;
    const int64_t end = begin + split_columns < plan.columns ? begin + split_columns : plan.columns;
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    A sums[width] = {};
    if (is_row) {
        sum_neighbours<width, reduce_sum_column_terms>(sums, x + offset.of[1], plan.inner, begin + slice, end, slices);
    }
#pragma unroll
    for (int i = 0; i < width; ++i) partials[slice][i][lane] = sums[i];
    // Separates the writes of all slices from the first warps' reads of them.
    __syncthreads();
    if (slice >= width) return;
    // Warp i adds up the rows that are number i of their packs.
    A sum = partials[0][slice][lane];
    for (int other = 1; other < slices; ++other) sum += partials[other][slice][lane];
    const int64_t mine = row + slice;
    if (!is_row || mine >= plan.rows) return;
    if (gridDim.y > 1) {
        parts[blockIdx.y * plan.rows + mine] = sum;
    } else {
        y[offsets_at(plan.outer, mine).of[0]] = from_accumulate<T>(sum);
    }
}

// A thread a row. y: [rows] at the plan's strides; parts: [splits, rows]
template <typename T>
__global__ void __launch_bounds__(default_block_threads)
    reduce_sum_columns_combine(previous_kernels previous, T *y, const accumulate_t<T> *parts,
                               const reduce_sum_plan plan, int64_t splits) {
    const int64_t row = global_thread_index();
    wait_for_previous_kernels(previous);
    if (row >= plan.rows) return;
    accumulate_t<T> sum = 0;
    for (int64_t s = 0; s < splits; ++s) sum += parts[s * plan.rows + row];
    y[offsets_at(plan.outer, row).of[0]] = from_accumulate<T>(sum);
}

// Whether the rows that begin at a pack can be read as one: neighbours at every term, in whole packs.
template <typename T>
bool has_packs_of_rows(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers) {
    return plan.outer.ndim == 1 && plan.outer.strides[1][0] == 1 && plan.rows % pack<T>::size == 0 &&
           has_aligned_rows(buffers.x, plan.inner.strides[0], plan.inner.ndim);
}

template <int width, typename T>
void launch_reduce_sum_columns_of(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    constexpr int slices = reduce_sum_column_slices * 32 / warp_size;
    // The workspace was laid out for rows that are neighbours; others have parts of another kind, or none.
    const int64_t splits = has_neighbouring_rows(plan) ? reduce_sum_splits(plan) : 1;
    const int64_t split_columns = ceil_divide(plan.columns, splits);
    auto *parts = static_cast<accumulate_t<T> *>(buffers.workspace);
    const dim3 grid(static_cast<unsigned>(ceil_divide(plan.rows, int64_t{warp_size} * width)),
                    static_cast<unsigned>(splits));
    launch_overlapping(reduce_sum_columns<T, width, slices>, launch_config{grid, slices * warp_size, 0, stream},
                       buffers.y, parts, buffers.x, plan, split_columns);
    if (splits == 1) return;
    launch_behind(reduce_sum_columns_combine<T>,
                  launch_config{grid_for_all(plan.rows, default_block_threads), default_block_threads, 0, stream},
                  buffers.y, parts, plan, splits);
}

template <typename T>
void launch_reduce_sum_columns(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    if (has_packs_of_rows(plan, buffers)) return launch_reduce_sum_columns_of<pack<T>::size>(plan, buffers, stream);
    launch_reduce_sum_columns_of<1>(plan, buffers, stream);
}

}  // namespace oprt
