// reduce_sum, vectorised: contiguous rows, read 16 bytes at a time by a team of threads: part of a warp for short rows,
// so that one block sums many of them; a warp, or the whole block, for longer ones. Rows that are not contiguous are
// left to `warp`.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "reduce_sum/techniques/warp.h"
#include "shared/reduction.h"

namespace oprt {

// y: [rows], x: [rows, columns], contiguous rows; where they begin is in the plan
template <typename T, int team_threads, int block_threads>
__global__ void __launch_bounds__(block_threads) reduce_sum_vectorised(T *y, const T *x, const reduce_sum_plan plan) {
    using A = accumulate_t<T>;
    constexpr int teams = block_threads / team_threads;
    __shared__ A
        partials[2][block_threads / warp_size];  // two in turn, as in `warp`; only a team of several warps uses them
    const int team = static_cast<int>(threadIdx.x) / team_threads;
    const int member = static_cast<int>(threadIdx.x) % team_threads;
    int turn = 0;
    // All threads of the block take each step, teams past the last row with nothing to add: shuffles and barriers want
    // everyone.
    for (int64_t block_row = static_cast<int64_t>(blockIdx.x) * teams; block_row < plan.rows;
         block_row += static_cast<int64_t>(gridDim.x) * teams, turn ^= 1) {
        const int64_t row = block_row + team;
        const bool is_row = row < plan.rows;
        const operand_offsets<2> offset = offsets_at(plan.outer, is_row ? row : 0);
        A sum = is_row ? sum_of_packs(x + offset.of[1], plan.columns, member, team_threads) : 0;
        if constexpr (team_threads > warp_size) {
            sum = reduce_block<block_threads>(sum, partials[turn], add{});
        } else {
            sum = reduce_lanes<team_threads>(sum, add{});
        }
        if (member == 0 && is_row) y[offset.of[0]] = from_accumulate<T>(sum);
    }
}

template <int team_threads, typename T>
void launch_reduce_sum_teams(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    static_assert(team_threads <= warp_size || team_threads == default_block_threads, "part of a warp, or the block");
    constexpr int teams = default_block_threads / team_threads;
    const launch_config config{grid_that_loops(plan.rows, teams), default_block_threads, 0, stream};
    launch(reduce_sum_vectorised<T, team_threads, default_block_threads>, config, buffers.y, buffers.x, plan);
}

template <typename T>
void launch_reduce_sum_vectorised(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    if (!has_contiguous_rows(plan)) return launch_reduce_sum_warp(plan, buffers, stream);
    constexpr int few_lanes = 8;  // 128 bytes a step: one cache line
    constexpr int warps = default_block_threads / warp_size;
    const int64_t packs = pack_count<T>(plan.columns, 0);
    if (packs <= 4 * few_lanes) return launch_reduce_sum_teams<few_lanes>(plan, buffers, stream);
    // A warp a row takes the fewest steps in all, if there are rows enough to keep the device busy that way.
    if (packs <= warp_size || (packs <= 16 * warp_size && blocks_fill_device(plan.rows / warps))) {
        return launch_reduce_sum_teams<warp_size>(plan, buffers, stream);
    }
    launch_reduce_sum_teams<default_block_threads>(plan, buffers, stream);
}

}  // namespace oprt
