// softmax, split: a few wide rows would keep only a few blocks busy, so each row is cut into splits. A first kernel
// puts every split's (maximum, sum) into the workspace; a second one combines those of its row and writes one tile of
// it. The kernels' order on the stream is the barrier between them; the second one starts while the first one ends.
// Plans without splits (softmax_splits) are left to `online`.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"
#include "softmax/techniques/online.h"
#include "softmax/techniques/registers.h"
#include "softmax/tuning.h"

namespace oprt {

// parts: [rows, splits]; x: [rows, columns] at the plan's strides. Split s has the columns from s * split_columns on,
// the last ones maybe none.
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads)
    softmax_split_parts(previous_kernels previous, softmax_part<accumulate_t<T>> *parts, const T *x,
                        const softmax_plan plan, int64_t splits, int64_t split_columns) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[2][block_threads / warp_size];  // two in turn, as in `online`
    const int thread = static_cast<int>(threadIdx.x);
    int turn = 0;
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    for (int64_t part = blockIdx.x; part < plan.rows * splits; part += gridDim.x, turn ^= 1) {
        const int64_t begin = part % splits * split_columns;
        const int64_t left = begin < plan.columns ? plan.columns - begin : 0;
        const int64_t count = left < split_columns ? left : split_columns;
        const T *x_split = x + offsets_at(plan.outer, part / splits).of[1] + begin * plan.x_column_stride;
        const softmax_part<A> share =
            has_contiguous_rows(plan) ? part_of_packs(x_split, count, thread, block_threads)
                                      : part_of_elements(x_split, plan.x_column_stride, count, thread, block_threads);
        const softmax_part<A> whole = merge_block<block_threads>(share, partials[turn]);
        if (thread == 0) parts[part] = whole;
    }
}

// The whole row's part. parts: [splits] in the workspace; partials: [block_threads / warp_size] in shared memory. All
// threads of the block; each gets it.
template <int block_threads, typename A>
__device__ softmax_part<A> combine_splits(const softmax_part<A> *parts, int64_t splits, softmax_part<A> *partials) {
    softmax_part<A> share = empty_softmax_part<A>();
    for (int64_t s = threadIdx.x; s < splits; s += block_threads) share = merge_softmax{}(share, parts[s]);
    return merge_block<block_threads>(share, partials);
}

// A tile a block, the last rows' last tiles first: what the first kernel read last may still be in the cache.
// y, x: [rows, columns] at the plan's strides; parts: [rows, splits]
template <typename T, int block_threads, int packs, bool contiguous, bool aligned>
__global__ void __launch_bounds__(block_threads)
    softmax_split_write(previous_kernels previous, T *y, const T *x, const softmax_part<accumulate_t<T>> *parts,
                        const softmax_plan plan, int64_t splits, int64_t tiles) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[block_threads / warp_size];
    constexpr int tile_columns = block_threads * packs * pack<T>::size;
    const int64_t tile = gridDim.x - 1 - blockIdx.x;
    const int64_t row = tile / tiles;
    const int64_t begin = tile % tiles * tile_columns;
    const int64_t left = plan.columns - begin;
    const int columns = static_cast<int>(left < tile_columns ? left : tile_columns);
    const int thread = static_cast<int>(threadIdx.x);
    const operand_offsets<2> offset = offsets_at(plan.outer, row);
    T *y_tile = y + offset.of[0] + begin * plan.y_column_stride;
    const T *x_tile = x + offset.of[1] + begin * plan.x_column_stride;
    wait_for_previous_kernels(previous);
    if constexpr (contiguous) {
        // One pack a thread more than the tile has, for tiles that do not begin at a 16-byte address.
        softmax_share<T, packs + (aligned ? 0 : 1), aligned, false> share(y_tile, x_tile, columns, thread,
                                                                          block_threads);
        share.store(0, combine_splits<block_threads>(parts + row * splits, splits, partials));
    } else {
        const softmax_part<A> whole = combine_splits<block_threads>(parts + row * splits, splits, partials);
        write_elements(y_tile, plan.y_column_stride, x_tile, plan.x_column_stride, columns, whole.maximum,
                       softmax_scale(whole), thread, block_threads);
    }
    let_next_kernel_start();
}

template <bool contiguous, bool aligned, typename T>
void launch_softmax_split_write(const softmax_plan &plan, const softmax_buffers<T> &buffers,
                                const softmax_part<accumulate_t<T>> *parts, int64_t splits, stream_t stream) {
    constexpr int threads = sizeof(T) == 8 ? default_block_threads : softmax_split_write_threads;
    constexpr int packs = softmax_split_write_packs;
    const int64_t tiles = ceil_divide(plan.columns, int64_t{threads} * packs * pack<T>::size);
    launch_behind(softmax_split_write<T, threads, packs, contiguous, aligned>,
                  launch_config{grid_for_all(plan.rows * tiles, 1), threads, 0, stream}, buffers.y, buffers.x, parts,
                  plan, splits, tiles);
}

template <typename T>
void launch_softmax_split(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    constexpr int threads = sizeof(T) == 8 ? default_block_threads : softmax_split_threads;
    const int64_t splits = softmax_splits(plan);
    if (splits <= 1) return launch_softmax_online(plan, buffers, stream);
    // Whole packs, so that every split of a row begins at the same shift from a 16-byte address.
    const int64_t split_columns = ceil_divide(ceil_divide(plan.columns, splits), pack<T>::size) * pack<T>::size;
    auto *parts = static_cast<softmax_part<accumulate_t<T>> *>(buffers.workspace);
    launch_overlapping(softmax_split_parts<T, threads>,
                       launch_config{grid_that_loops(plan.rows * splits, 1), threads, 0, stream}, parts, buffers.x,
                       plan, splits, split_columns);
    if (!has_contiguous_rows(plan)) {
        launch_softmax_split_write<false, false>(plan, buffers, parts, splits, stream);
    } else if (has_even_rows(plan, buffers)) {
        launch_softmax_split_write<true, true>(plan, buffers, parts, splits, stream);
    } else {
        launch_softmax_split_write<true, false>(plan, buffers, parts, splits, stream);
    }
}

}  // namespace oprt
