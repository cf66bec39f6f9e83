// softmax, split: a few wide rows would keep only a few blocks busy, so each row is cut into splits. A first kernel
// puts every split's (maximum, sum) into the workspace; a second one combines those of its row and writes one split.
// The kernels' order on the stream is the barrier between them. Plans without splits (softmax_splits) are left to
// `online`.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"
#include "softmax/techniques/online.h"

namespace oprt {

// Part p of the work: split p % splits of row p / splits, which has columns [begin, begin + count); count may be 0.
struct softmax_split {
    int64_t row;
    int64_t begin;
    int64_t count;
};

__device__ __forceinline__ softmax_split split_of_part(int64_t part, int64_t splits, int64_t split_columns,
                                                       int64_t columns) {
    const int64_t begin = part % splits * split_columns;
    const int64_t left = begin < columns ? columns - begin : 0;
    return {part / splits, begin, left < split_columns ? left : split_columns};
}

// parts: [rows, splits]; x: [rows, columns] at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads)
    softmax_split_parts(softmax_part<accumulate_t<T>> *parts, const T *x, const softmax_plan plan, int64_t splits,
                        int64_t split_columns) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[2][block_threads / warp_size];  // two in turn, as in `online`
    const int thread = static_cast<int>(threadIdx.x);
    int turn = 0;
    for (int64_t part = blockIdx.x; part < plan.rows * splits; part += gridDim.x, turn ^= 1) {
        const softmax_split mine = split_of_part(part, splits, split_columns, plan.columns);
        const T *x_split = x + offsets_at(plan.outer, mine.row).of[1] + mine.begin * plan.x_column_stride;
        const softmax_part<A> share =
            has_contiguous_rows(plan)
                ? part_of_packs(x_split, mine.count, thread, block_threads)
                : part_of_elements(x_split, plan.x_column_stride, mine.count, thread, block_threads);
        const softmax_part<A> whole = reduce_block<block_threads>(share, partials[turn], merge_softmax{});
        if (thread == 0) parts[part] = whole;
    }
}

// y, x: [rows, columns] at the plan's strides; parts: [rows, splits]
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads)
    softmax_split_write(T *y, const T *x, const softmax_part<accumulate_t<T>> *parts, const softmax_plan plan,
                        int64_t splits, int64_t split_columns) {
    using A = accumulate_t<T>;
    const int thread = static_cast<int>(threadIdx.x);
    for (int64_t part = blockIdx.x; part < plan.rows * splits; part += gridDim.x) {
        const softmax_split mine = split_of_part(part, splits, split_columns, plan.columns);
        // Every warp combines the row's parts for itself; that is cheaper than a barrier.
        softmax_part<A> whole = empty_softmax_part<A>();
        for (int64_t s = lane_index(); s < splits; s += warp_size) {
            whole = merge_softmax{}(whole, parts[mine.row * splits + s]);
        }
        whole = reduce_lanes<warp_size>(whole, merge_softmax{});

        const operand_offsets<2> offset = offsets_at(plan.outer, mine.row);
        T *y_split = y + offset.of[0] + mine.begin * plan.y_column_stride;
        const T *x_split = x + offset.of[1] + mine.begin * plan.x_column_stride;
        const A scale = softmax_scale(whole);
        if (has_contiguous_rows(plan)) {
            write_packs(y_split, x_split, mine.count, whole.maximum, scale, thread, block_threads);
        } else {
            write_elements(y_split, plan.y_column_stride, x_split, plan.x_column_stride, mine.count, whole.maximum,
                           scale, thread, block_threads);
        }
    }
}

template <typename T>
void launch_softmax_split(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    constexpr int threads = default_block_threads;
    const int64_t splits = softmax_splits(plan);
    if (splits <= 1) return launch_softmax_online(plan, buffers, stream);
    // Whole packs, so that every split of a row begins at the same shift from a 16-byte address.
    const int64_t split_columns = ceil_divide(ceil_divide(plan.columns, splits), pack<T>::size) * pack<T>::size;
    auto *parts = static_cast<softmax_part<accumulate_t<T>> *>(buffers.workspace);
    const launch_config config{grid_that_loops(plan.rows * splits, 1), threads, 0, stream};
    launch(softmax_split_parts<T, threads>, config, parts, buffers.x, plan, splits, split_columns);
    launch(softmax_split_write<T, threads>, config, buffers.y, buffers.x, parts, plan, splits, split_columns);
}

}  // namespace oprt
