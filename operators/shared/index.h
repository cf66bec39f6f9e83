// Where a thread works: its number in the grid, the offsets of an element in operands of any strides, and the grids
// that launchers choose. What is done at an index is left to the kernels.
#pragma once

#include <oprt_device.h>

#include <algorithm>
#include <cstdint>

#include "shared/layout.h"

namespace oprt {

// Threads of a block where nothing asks for another number: eight warps of 32 lanes, four of 64.
inline constexpr int default_block_threads = 256;

// Number of this thread in a one-dimensional grid; 64 bits, since tensors pass 2^31 elements.
__device__ __forceinline__ int64_t global_thread_index() {
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ int64_t global_thread_count() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

// Offsets in elements from each operand's pointer.
template <int operand_count>
struct operand_offsets {
    int64_t of[operand_count];
};

template <typename Index, int operand_count>
__device__ __forceinline__ operand_offsets<operand_count> offsets_with(const layout<operand_count> &where,
                                                                       Index index) {
    operand_offsets<operand_count> offsets = {};
    if (where.ndim <= 1) {  // the usual case, spared the divisions
#pragma unroll
        for (int i = 0; i < operand_count; ++i) {
            offsets.of[i] = where.ndim == 1 ? static_cast<int64_t>(index) * where.strides[i][0] : 0;
        }
        return offsets;
    }
    // The last dimension varies fastest. The bounds are constants so that `where` need not move into local memory.
#pragma unroll
    for (int d = OPRT_MAX_DIMS - 1; d >= 0; --d) {
        if (d >= where.ndim) continue;
        const Index extent = static_cast<Index>(where.shape[d]);
        const Index rest = d > 0 ? index / extent : 0;
        const int64_t coordinate = static_cast<int64_t>(index - rest * extent);
        index = rest;
#pragma unroll
        for (int i = 0; i < operand_count; ++i) offsets.of[i] += coordinate * where.strides[i][d];
    }
    return offsets;
}

// Offsets of the element that is number `index` in the layout's order; 0 <= index < where.elements.
template <int operand_count>
__device__ __forceinline__ operand_offsets<operand_count> offsets_at(const layout<operand_count> &where,
                                                                     int64_t index) {
    // A 64-bit division costs a GPU about a hundred instructions, a 32-bit one about twenty.
    if (where.elements <= UINT32_MAX) return offsets_with(where, static_cast<uint32_t>(index));
    return offsets_with(where, static_cast<uint64_t>(index));
}

inline int64_t ceil_divide(int64_t dividend, int64_t divisor) { return (dividend + divisor - 1) / divisor; }

// Grid in which each of `units` pieces of work has a thread (or a block, with block_units 1) of its own.
// More blocks than a grid can have become none, and the launch is refused.
inline dim3 grid_for_all(int64_t units, int64_t block_units) {
    const int64_t blocks = ceil_divide(units, block_units);
    return dim3(blocks <= INT32_MAX ? static_cast<unsigned>(blocks) : 0);
}

// Grid that fills the device; each block loops over the work. Enough blocks to hide one another's waits and to even out
// the end, few enough that starting them is cheap, whatever the number of rows.
inline dim3 grid_that_loops(int64_t units, int64_t block_units) {
    constexpr int64_t blocks_per_multiprocessor = 32;
    const int64_t enough = blocks_per_multiprocessor * multiprocessor_count();
    return dim3(static_cast<unsigned>(std::min(ceil_divide(units, block_units), enough)));
}

// Whether so many blocks keep every multiprocessor busy; with fewer, work should be cut finer.
inline bool blocks_fill_device(int64_t blocks) {
    constexpr int64_t blocks_per_multiprocessor = 4;
    return blocks >= blocks_per_multiprocessor * multiprocessor_count();
}

}  // namespace oprt
