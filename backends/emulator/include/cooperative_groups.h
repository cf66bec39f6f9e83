// Stand-in for <cooperative_groups.h> on the emulator: thread_block, tiles of a warp, and the grid as far as it needs
// no barrier. Not here: coalesced groups, clusters, tiles wider than a warp, asynchronous copies. reduce() is in
// cooperative_groups/reduce.h.
#pragma once

#include "oprt_emulator/device.h"

namespace cooperative_groups {

// All threads of the block.
class thread_block {
public:
    static void sync(OPRT_EMULATOR_POSITION) { oprt_emulator::syncthreads(file, line); }
    static unsigned int thread_rank() { return oprt_emulator::linear_thread(); }
    static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned int size() { return num_threads(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
};

inline thread_block this_thread_block() { return thread_block(); }

// All threads of the grid: indices only.
class grid_group {
public:
    static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() {
        return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
    static bool is_valid() { return false; }
    static void sync(OPRT_EMULATOR_POSITION) {
        oprt_emulator::device_not_supported("grid_group::sync(): blocks run to their end one after the other", file,
                                            line);
    }
};

inline grid_group this_grid() { return grid_group(); }

// `lanes` neighbouring threads of one warp, a power of two; parent says of what they are a part.
template <unsigned int lanes, typename parent = void>
class thread_block_tile {
    static_assert(lanes > 0 && (lanes & (lanes - 1)) == 0, "a tile's size is a power of two");
    static_assert(lanes <= static_cast<unsigned int>(oprt_emulator::warp_size),
                  "the emulator has no tiles wider than a warp");

public:
    static void sync(OPRT_EMULATOR_POSITION) { oprt_emulator::syncwarp(mask(), file, line); }
    static unsigned int thread_rank() { return oprt_emulator::linear_thread() % lanes; }
    static constexpr unsigned int num_threads() { return lanes; }
    static constexpr unsigned int size() { return lanes; }
    static unsigned int meta_group_size() { return (thread_block::num_threads() + lanes - 1) / lanes; }
    static unsigned int meta_group_rank() { return oprt_emulator::linear_thread() / lanes; }

    template <typename T>
    static T shfl(T value, int source, OPRT_EMULATOR_POSITION) {
        return oprt_emulator::shfl(mask(), value, source, static_cast<int>(lanes), file, line);
    }
    template <typename T>
    static T shfl_up(T value, unsigned int delta, OPRT_EMULATOR_POSITION) {
        return oprt_emulator::shfl_up(mask(), value, delta, static_cast<int>(lanes), file, line);
    }
    template <typename T>
    static T shfl_down(T value, unsigned int delta, OPRT_EMULATOR_POSITION) {
        return oprt_emulator::shfl_down(mask(), value, delta, static_cast<int>(lanes), file, line);
    }
    template <typename T>
    static T shfl_xor(T value, unsigned int with, OPRT_EMULATOR_POSITION) {
        return oprt_emulator::shfl_xor(mask(), value, static_cast<int>(with), static_cast<int>(lanes), file, line);
    }
    static int any(int predicate, OPRT_EMULATOR_POSITION) {
        return oprt_emulator::any(mask(), predicate != 0, file, line);
    }
    static int all(int predicate, OPRT_EMULATOR_POSITION) {
        return oprt_emulator::all(mask(), predicate != 0, file, line);
    }
    // Masks of the tile's lanes, lane 0 in bit 0.
    static oprt_emulator::warp_mask ballot(int predicate, OPRT_EMULATOR_POSITION) {
        return in_tile(oprt_emulator::ballot(mask(), predicate != 0, file, line));
    }
    template <typename T>
    static oprt_emulator::warp_mask match_any(T value, OPRT_EMULATOR_POSITION) {
        return in_tile(oprt_emulator::match_any(mask(), value, file, line));
    }
    template <typename T>
    static oprt_emulator::warp_mask match_all(T value, int &same, OPRT_EMULATOR_POSITION) {
        return in_tile(oprt_emulator::match_all(mask(), value, &same, file, line));
    }

private:
    static unsigned int first_lane() { return oprt_emulator::lane_index() / lanes * lanes; }
    static oprt_emulator::lane_mask mask() {
        const oprt_emulator::lane_mask whole = ~oprt_emulator::lane_mask(0) >> (64 - lanes);
        return whole << first_lane();
    }
    static oprt_emulator::warp_mask in_tile(oprt_emulator::lane_mask of_warp) {
        return static_cast<oprt_emulator::warp_mask>((of_warp & mask()) >> first_lane());
    }
};

template <unsigned int lanes>
inline thread_block_tile<lanes, thread_block> tiled_partition(const thread_block &) {
    return thread_block_tile<lanes, thread_block>();
}
template <unsigned int lanes, unsigned int wider, typename parent>
inline thread_block_tile<lanes, thread_block_tile<wider, parent>> tiled_partition(
    const thread_block_tile<wider, parent> &) {
    static_assert(lanes <= wider, "a tile cannot be wider than the tile that it is cut from");
    return thread_block_tile<lanes, thread_block_tile<wider, parent>>();
}

template <typename group>
inline void sync(const group &waiting, OPRT_EMULATOR_POSITION) {
    waiting.sync(file, line);
}

}  // namespace cooperative_groups
