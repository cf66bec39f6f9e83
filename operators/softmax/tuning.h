// The numbers that softmax was tuned with, and what the alternatives cost. Measured on an NVIDIA H200, CUDA 13.0, in graphs
// over operands that exceed the L2 cache; MetaX takes the same ones, unmeasured. T is the time of a copy of the same bytes.
#pragma once

#include <oprt_device.h>

#include "shared/row_team.h"

namespace oprt {

// Threads x packs of a team that is a block. Measured, us, float32 unless said otherwise:
//   144 x 1280    320x1 2.12   160x2 2.17   128x3 2.24   96x4 2.27   64x5 2.41     few rows: latency counts, so one pack
//   1008 x 1280   160x2 4.13    96x4 4.18   128x3 4.21   64x6 4.26  320x1 4.71
//   1008 x 2304   288x2 6.03   192x3 6.03   160x4 6.07  128x5 6.26  576x1 7.69
//   784 x 3840    320x3 7.23   256x4 7.31   192x5 7.43  480x2 7.52  960x1 9.53
//   4080 x 1536   128x3 13.44  192x2 13.54  (two rows a block: 13.52, four: 13.73)
//   4096 x 4096   512x2 33.55  352x3 33.72  256x4 33.77 128x8 34.18 1024x1 43.27
//   4096 x 32768  1024x8 258.3; a cluster of 2 blocks of 512x8 264.3, of 4 of 512x4 268; a loop over rows in shared memory 278
//   float16: 1008 x 2304 160x2 4.03, 96x3 4.08, 288x1 4.62; 16384 x 1024 64x2 17.5, 32x4 17.8, 128x1 19.0;
//            4096 x 32768 1024x4 130.8, 512x8 132.3, 256x16 133.4
inline constexpr int preferred_softmax_threads = 320;
inline constexpr int largest_softmax_packs = 8;

// A thread that keeps exponentials needs 32 bits for each element. Up to 4 packs it does; beyond, it keeps the elements
// as they were loaded and takes each exponential twice, which lets two blocks with a row each share a multiprocessor:
// 4096 x 32768 in float16 1.03 to 1.04 T; with exponentials kept, one block, 1.11 T.
inline constexpr int most_kept_softmax_packs = 4;

// Team for contiguous rows of `packs` packs; threads 0: the row does not fit.
template <typename T>
row_team softmax_team(int64_t packs, int64_t rows) {
    constexpr int most_threads =
        sizeof(T) == 8 ? large_team_block : max_block_threads;  // double: registers spill beyond
    constexpr int most_packs = sizeof(T) == 8 ? most_kept_softmax_packs : largest_softmax_packs;
    const auto power_of_two = [](int64_t n) { return n <= 1 ? 1 : n <= 2 ? 2 : 4; };
    if (packs <= 8) return {2, power_of_two(ceil_divide(packs, 2)), small_team_block / 2};
    if (packs <= 32) return {8, power_of_two(ceil_divide(packs, 8)), small_team_block / 8};
    if (packs <= 4 * warp_size) {
        return {warp_size, static_cast<int>(ceil_divide(packs, warp_size)), small_team_block / warp_size};
    }
    if (packs <= 4 * preferred_softmax_threads) {
        const int fewest = rows <= 2 * multiprocessor_count() ? 1 : 2;
        const int each = std::max(fewest, static_cast<int>(ceil_divide(packs, preferred_softmax_threads)));
        return {whole_warps(ceil_divide(packs, each)), each, 1};
    }
    if (packs <= 4 * large_team_block) return {large_team_block, 4, 1};
    if (packs <= 4 * most_threads) {
        // With two blocks of 1024 threads, 16-bit elements spill out of the registers.
        return sizeof(T) < 4 ? row_team{large_team_block, 8, 1} : row_team{most_threads, 4, 1};
    }
    if (packs <= int64_t{most_packs} * most_threads) return {most_threads, most_packs, 1};
    return {0, 0, 0};
}

// Clusters: blocks of 512 threads (two on a multiprocessor) or 1024 (one), each thread with 8 packs in registers and 8 in
// shared memory. pause_ns: what neighbouring rows' starts lie apart. 268 or 537 MB in all, us:
//   2048 x 65536 float32     2 of 512, 50 ns: 261.0, 0 ns: 265; registers alone, 2 of 1024x8: 265
//   1024 x 131072 float32    4 of 512, 100 ns: 263.7, 0 ns: 268; registers alone 276; parts through global memory 278
//   512 x 262144 float32     4 of 1024, 100 ns: 272.6
//   64 x 1048576 float32     16 of 1024, 1600 ns: 155, 0 ns: 168; parts through global memory 151, but its blocks wait for
//                            blocks that may not have started; a ring of pieces in shared memory 168
//   1024 x 131072 float16    2 of 512, 50 ns: 135.3, 0 ns: 138.2; one block of 1024 with 8 + 8 packs 146.7
//   64 x 1048576 float16     16 of 512, 800 ns: 80.0, 0 ns: 83.3
inline constexpr int softmax_cluster_register_packs = 8;
inline constexpr int softmax_cluster_shared_packs = 8;

struct softmax_cluster_shape {
    int blocks;  // 0: the row does not fit
    int threads;
    int pause_ns;
};

// The fewest blocks of the smaller kind that hold a row of `packs` packs, else 16 of the larger. aligned: pieces of the
// row begin at 16-byte addresses; others touch one pack more than they fill.
inline softmax_cluster_shape softmax_cluster_shape_for(int64_t packs, bool aligned) {
    constexpr int64_t thread_packs = softmax_cluster_register_packs + softmax_cluster_shared_packs;
    constexpr int large = max_block_threads;
    constexpr int small = large / 2;
    const int64_t spare = aligned ? 0 : 1;
    for (const int blocks : {2, 4, 8, 16}) {
        const int pause_ns = (blocks < 8 ? 25 : 50) * blocks;
        if (packs <= blocks * (small * thread_packs - spare)) return {blocks, small, pause_ns};
    }
    constexpr int most_blocks = 16;
    if (packs <= most_blocks * (large * thread_packs - spare)) return {most_blocks, large, 100 * most_blocks};
    return {0, 0, 0};
}

// Splits: threads of a block that reads, and threads x packs of one that writes. 1 x 67108864, us: float32 both kernels
// 193.8, the first one alone 61.4, the second one 127.9; a read and a copy as two kernels 191.4. Write tiles of 512x4
// 196.6, 256x8 196.8; float16 101.7 with 1024x2, 102.7 with 512x4; a read and a copy 99.9.
inline constexpr int softmax_split_threads = 512;
inline constexpr int softmax_split_write_threads = 1024;
inline constexpr int softmax_split_write_packs = 2;

// Threads of a block whose lanes have a row each: few rows make few blocks, so the blocks are large. 4096 x 4096 over
// axis 0 took 347 us with blocks of 256.
inline constexpr int softmax_column_threads = max_block_threads;

}  // namespace oprt
