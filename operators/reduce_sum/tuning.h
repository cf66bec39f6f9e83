// The numbers that reduce_sum was tuned with, and what the alternatives cost. Measured on an NVIDIA H200, CUDA 13.0, in
// graphs over operands that exceed the L2 cache; MetaX takes the same ones, unmeasured. R is the time to read the bytes.
#pragma once

#include <oprt_device.h>

#include "shared/row_team.h"

namespace oprt {

// Threads x packs of a team, and teams in a block. Measured, us:
//   144 x 1280 float32    64x6 1.80, 96x4 1.80 (by 4: 1.86), 160x2 1.83        R 1.45
//   144 x 1280 float16    96x2 1.79, 32x5 1.81; 1008 x 1280: 32x5 2.37, 96x2 by 4 2.38
//   1008 x 1280 float32   96x4 by 4 2.97, 64x5 2.99, 32x5 3.05                 R 2.54
//   1008 x 2304 float32   96x6 by 4 3.97, 288x2 4.00, 160x4 4.01               R 3.53
//   2032 x 2304 float32   32x6 by 8 5.96, 128x6 6.05, 288x2 6.08               R 5.59
//   4080 x 1536 float32   32x4 by 4 7.32, 32x8 7.46, 64x6 7.48, 192x2 7.50     R 6.97
//   16384 x 1024 float32  32x8 by 4 16.66, 32x4 16.74, 128x2 16.75             R 16.04
//   4096 x 4096 float32   128x8 by 2 16.59, 256x4 16.61, 32x8 16.70            R 16.04
//   4096 x 32768 float32  512x8 118.4, 256x8 118.6, 128x8 119.2                R 117.4
//   1008 x 2304 float16   96x3 by 4 2.95 (by 1: 3.08), 64x5 3.05, 160x2 3.1    R 2.44
//   2032 x 2304 float16   96x3 by 4 4.12, 64x5 4.17, 160x2 4.20                R 3.54
//   784 x 3840 float16    256x2 3.31, 128x4 by 2 3.35, 96x5 3.39               R 2.79
//   4080 x 1536 float16   32x3 by 4 4.69, 96x2 4.82, 64x3 4.85                 R 4.26
//   16384 x 1024 float16  32x4 by 4 9.37, 32x2 9.41, 32x5 9.48                 R 8.76
//   4096 x 4096 float16   256x2 9.36, 128x2 9.49, 96x6 9.51                    R 8.76
inline row_team reduce_sum_team(int64_t packs, int64_t rows) {
    constexpr int most_packs = 4;
    constexpr int middle_team = warp_size > 32 ? 2 * warp_size : 3 * warp_size;
    constexpr int preferred_threads = 320;
    const bool few_rows = rows <= 2 * multiprocessor_count();
    const bool many_rows = rows >= 16 * multiprocessor_count();
    const auto power_of_two = [](int64_t n) { return n <= 1 ? 1 : n <= 2 ? 2 : 4; };
    if (packs <= 8) return {2, power_of_two(ceil_divide(packs, 2)), small_team_block / 2};
    if (packs <= 32) return {8, power_of_two(ceil_divide(packs, 8)), small_team_block / 8};
    // With many rows a warp takes several steps for one; with fewer, each step would cost the latency of the memory.
    if (packs <= most_packs * warp_size || (many_rows && packs <= 3 * most_packs * warp_size)) {
        const int64_t steps = ceil_divide(packs, most_packs * warp_size);
        return {warp_size, static_cast<int>(ceil_divide(packs, steps * warp_size)), small_team_block / warp_size};
    }
    if (packs <= most_packs * middle_team) {
        return {middle_team, static_cast<int>(ceil_divide(packs, middle_team)), few_rows ? 1 : 4};
    }
    if (packs <= most_packs * preferred_threads) {
        const int each = std::max(2, static_cast<int>(ceil_divide(packs, preferred_threads)));
        return {whole_warps(ceil_divide(packs, each)), each, 1};
    }
    return {large_team_block, 2 * most_packs, 1};
}

// A split that is a tile of 32 KB: 1 x 67108864, us: float16 512x4 31.8, looped over 264 larger splits 32.9 (R 30.1);
// float32 512x4 60.3, 528 larger splits 62.0 (R 58.5).
inline constexpr int reduce_sum_split_threads = 512;
inline constexpr int reduce_sum_split_packs = 4;

// Warps that share the terms where lanes have rows, and terms under way at once. 4096 x 4096 over axis 0, us, with 8
// splits: 16x4 18.5, 16x2 18.8, 8x4 (16 splits) 18.7; R 16.0.
inline constexpr int reduce_sum_column_slices = 16;
inline constexpr int reduce_sum_column_terms = 4;

}  // namespace oprt
