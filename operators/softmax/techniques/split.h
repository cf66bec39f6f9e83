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

// The whole row's part. parts: [splits] in the workspace; partials: [block_threads / warp_size] in shared memory. All
// threads of the block; each gets it.
template <int block_threads, typename A>
__device__ __forceinline__ softmax_part<A> combine_splits(const softmax_part<A> *parts, int splits,
                                                          softmax_part<A> *partials) {
    softmax_part<A> share = empty_softmax_part<A>();
    for (int s = static_cast<int>(threadIdx.x); s < splits; s += block_threads) {
        share = merge_softmax{}(share, parts[s]);
    }
    return merge_block<block_threads>(share, partials);
}

// A block a split of contiguous even_rows. parts: [rows, splits]; x: [rows, columns]
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads)
    softmax_even_parts(previous_kernels previous, softmax_part<accumulate_t<T>> *parts, const T *x, int splits,
                       int64_t split_columns, int64_t columns, const even_rows<2> places) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[block_threads / warp_size];
    const int thread = static_cast<int>(threadIdx.x);
    const row_piece piece = piece_of_row(blockIdx.x, splits, split_columns, columns);
    const T *x_piece = x + places.offsets_of(piece.row).of[1] + piece.begin;
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    const int whole_packs = static_cast<int>(piece.count / pack<T>::size);
    const softmax_part<A> share = part_of_whole_packs(x_piece, whole_packs, thread, block_threads);
    const softmax_part<A> part = merge_block<block_threads>(share, partials);
    if (thread == 0) parts[blockIdx.x] = part;
}

// The same of rows anywhere. x: [rows, columns] at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads)
    softmax_any_parts(previous_kernels previous, softmax_part<accumulate_t<T>> *parts, const T *x, int splits,
                      int64_t split_columns, const softmax_plan plan) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[block_threads / warp_size];
    const int thread = static_cast<int>(threadIdx.x);
    const row_piece piece = piece_of_row(blockIdx.x, splits, split_columns, plan.columns);
    const T *x_piece = x + offsets_at(plan.outer, piece.row).of[1] + piece.begin * plan.x_column_stride;
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    const softmax_part<A> share =
        has_contiguous_rows(plan) ? part_of_packs(x_piece, piece.count, thread, block_threads)
                                  : part_of_elements(x_piece, plan.x_column_stride, piece.count, thread, block_threads);
    const softmax_part<A> part = merge_block<block_threads>(share, partials);
    if (thread == 0) parts[blockIdx.x] = part;
}

// A block a tile of contiguous even_rows, the last rows' last tiles first: what the first kernel read last may still be
// in the cache. y, x: [rows, columns]; parts: [rows, splits]
template <typename T, int block_threads, int packs>
__global__ void __launch_bounds__(block_threads)
    softmax_even_write(previous_kernels previous, T *y, const T *x, const softmax_part<accumulate_t<T>> *parts,
                       int splits, int tiles, int64_t columns, const even_rows<2> places) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[block_threads / warp_size];
    constexpr int tile_columns = block_threads * packs * pack<T>::size;
    const row_piece tile = piece_of_row(gridDim.x - 1 - blockIdx.x, tiles, tile_columns, columns);
    const operand_offsets<2> offset = places.offsets_of(tile.row);
    wait_for_previous_kernels(previous);
    softmax_share<T, packs, true, false> share(y + offset.of[0] + tile.begin, x + offset.of[1] + tile.begin,
                                               static_cast<int>(tile.count), static_cast<int>(threadIdx.x),
                                               block_threads);
    share.store(0, combine_splits<block_threads>(parts + tile.row * splits, splits, partials));
    let_next_kernel_start();
}

// The same for rows anywhere. y, x: [rows, columns] at the plan's strides
template <typename T, int block_threads, int packs>
__global__ void __launch_bounds__(block_threads)
    softmax_any_write(previous_kernels previous, T *y, const T *x, const softmax_part<accumulate_t<T>> *parts,
                      int splits, int tiles, const softmax_plan plan) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[block_threads / warp_size];
    constexpr int tile_columns = block_threads * packs * pack<T>::size;
    const int thread = static_cast<int>(threadIdx.x);
    const row_piece tile = piece_of_row(gridDim.x - 1 - blockIdx.x, tiles, tile_columns, plan.columns);
    const operand_offsets<2> offset = offsets_at(plan.outer, tile.row);
    T *y_tile = y + offset.of[0] + tile.begin * plan.y_column_stride;
    const T *x_tile = x + offset.of[1] + tile.begin * plan.x_column_stride;
    wait_for_previous_kernels(previous);
    const softmax_part<A> whole = combine_splits<block_threads>(parts + tile.row * splits, splits, partials);
    const A scale = softmax_scale(whole);
    if (has_contiguous_rows(plan)) {
        write_packs(y_tile, x_tile, tile.count, whole.maximum, scale, thread, block_threads);
    } else {
        write_elements(y_tile, plan.y_column_stride, x_tile, plan.x_column_stride, tile.count, whole.maximum, scale,
                       thread, block_threads);
    }
    let_next_kernel_start();
}

template <typename T>
void launch_softmax_split(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    // Doubles need twice the registers.
    constexpr int read_threads = sizeof(T) == 8 ? default_block_threads : softmax_split_threads;
    constexpr int write_threads = sizeof(T) == 8 ? default_block_threads : softmax_split_write_threads;
    constexpr int packs = softmax_split_write_packs;
    const int64_t splits = softmax_splits(plan);
    if (splits <= 1) return launch_softmax_online(plan, buffers, stream);
    // Whole packs, so that every split of a row begins at the same shift from a 16-byte address.
    const int64_t split_columns = ceil_divide(ceil_divide(plan.columns, splits), pack<T>::size) * pack<T>::size;
    const int64_t tiles = ceil_divide(plan.columns, int64_t{write_threads} * packs * pack<T>::size);
    auto *parts = static_cast<softmax_part<accumulate_t<T>> *>(buffers.workspace);
    const launch_config reading{grid_for_all(plan.rows * splits, 1), read_threads, 0, stream};
    const launch_config writing{grid_for_all(plan.rows * tiles, 1), write_threads, 0, stream};
    if (has_contiguous_rows(plan) && has_even_rows(plan, buffers)) {
        const even_rows<2> places(plan.outer);
        launch_overlapping(softmax_even_parts<T, read_threads>, reading, parts, buffers.x, splits, split_columns,
                           plan.columns, places);
        launch_behind(softmax_even_write<T, write_threads, packs>, writing, buffers.y, buffers.x, parts, splits, tiles,
                      plan.columns, places);
    } else {
        launch_overlapping(softmax_any_parts<T, read_threads>, reading, parts, buffers.x, splits, split_columns, plan);
        launch_behind(softmax_any_write<T, write_threads, packs>, writing, buffers.y, buffers.x, parts, splits, tiles,
                      plan);
    }
}

}  // namespace oprt
