// Rows shared out among teams. A block is teams of blockDim.x threads side by side, blockDim.y of them, and each team has
// a row of its own: part of a warp for short rows, a warp, or several warps. Which team a row gets is decided by the
// operators' tuning.h; what is done with a row is left to the kernels.
#pragma once

#include <oprt_device.h>

#include <algorithm>
#include <cstdint>

#include "shared/index.h"
#include "shared/pack.h"
#include "shared/reduction.h"

namespace oprt {

struct row_team {
    int threads;  // of one team: a power of two below the warp, else whole warps
    int packs;    // that each thread has under way at once
    int rows;     // teams in a block

    dim3 block() const { return dim3(static_cast<unsigned>(threads), static_cast<unsigned>(rows)); }
    dim3 grid(int64_t all_rows) const { return grid_for_all(all_rows, rows); }
};

// Threads of a block: of many small teams, and at most of larger ones.
inline constexpr int small_team_block = 128;
inline constexpr int large_team_block = 512;

inline int whole_warps(int64_t threads) { return static_cast<int>(ceil_divide(threads, warp_size)) * warp_size; }

// Whether every row begins at a 16-byte address. row_strides: [ndim], from row to row
template <typename T>
bool has_aligned_rows(const T *first_row, const int64_t *row_strides, int ndim) {
    bool aligned = is_pack_aligned(first_row);
    for (int d = 0; d < ndim; ++d) aligned = aligned && row_strides[d] % pack<T>::size == 0;
    return aligned;
}

// Where rows begin, as a kernel receives it. Nearly all tensors have even_rows; a kernel for them alone is short, and short
// kernels end sooner (docs/benchmarking.md).

// Rows at even distances that begin at 16-byte addresses and are whole packs.
template <int operand_count>
struct even_rows {
    static constexpr bool are_aligned = true;
    int64_t strides[operand_count];  // from row to row

    explicit even_rows(const layout<operand_count> &where) : strides{} {
        for (int i = 0; i < operand_count; ++i) strides[i] = where.ndim == 1 ? where.strides[i][0] : 0;
    }

    __device__ __forceinline__ operand_offsets<operand_count> offsets_of(int64_t row) const {
        operand_offsets<operand_count> offsets;
#pragma unroll
        for (int i = 0; i < operand_count; ++i) offsets.of[i] = row * strides[i];
        return offsets;
    }
};

// Rows anywhere.
template <int operand_count>
struct any_rows {
    static constexpr bool are_aligned = false;
    layout<operand_count> where;

    explicit any_rows(const layout<operand_count> &places) : where(places) {}

    __device__ __forceinline__ operand_offsets<operand_count> offsets_of(int64_t row) const {
        return offsets_at(where, row);
    }
};

// A row cut into pieces of equal length: piece p of all rows is piece p % pieces of row p / pieces. It has `count` columns
// from `begin` on; the last pieces have fewer, or none.
struct row_piece {
    int64_t row;
    int64_t begin;
    int64_t count;
};

__device__ __forceinline__ row_piece piece_of_row(unsigned piece, int pieces, int64_t piece_columns, int64_t columns) {
    const unsigned row = piece / static_cast<unsigned>(pieces);
    const int64_t begin = (piece - row * pieces) * piece_columns;
    const int64_t left = begin < columns ? columns - begin : 0;
    return {row, begin, left < piece_columns ? left : piece_columns};
}

// The row of this thread's team; may lie past the last one.
__device__ __forceinline__ int64_t team_row() { return static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; }

// Number of this thread's warp in the block, of which teams follow one another.
__device__ __forceinline__ int team_warp_index() {
    return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x) / warp_size;
}

// Add up over the team: `lanes` is blockDim.x where that is below the warp, else warp_size. All threads of the block;
// the team's first thread gets the sum. partials: [block_threads / warp_size] in shared memory, used once in a kernel.
template <int lanes, typename A>
__device__ __forceinline__ A sum_of_team(A value, A *partials) {
    value = reduce_lanes<lanes>(value, add{});
    if constexpr (lanes < warp_size) return value;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    if (warps == 1) return value;
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = team_warp_index();
    if (thread % warp_size == 0) partials[warp] = value;
    // Separates each warp's write of its sum from the read of all of them by the team's first warp.
    __syncthreads();
    if (thread >= warp_size) return value;
    return reduce_lanes<warp_size>(thread < warps ? partials[warp + thread] : 0, add{});
}

}  // namespace oprt
