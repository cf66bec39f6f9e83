// reduce_sum, vectorised: contiguous rows, read 16 bytes at a time by a team of threads: a few lanes for short rows, a
// warp, or several. All packs of a thread are under way before the first is added. Rows that are not contiguous are left
// to `warp`.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "reduce_sum/techniques/warp.h"
#include "reduce_sum/tuning.h"
#include "shared/row_team.h"

namespace oprt {

// y: [rows], x: [rows, columns], contiguous rows. lanes: as in sum_of_team
template <typename T, int lanes, int packs, int most_threads, typename Rows>
__global__ void __launch_bounds__(most_threads)
    reduce_sum_vectorised(previous_kernels previous, T *y, const T *x, int64_t rows, int64_t columns,
                          const Rows places) {
    __shared__ accumulate_t<T> partials[lanes < warp_size ? 1 : most_threads / warp_size];
    const int64_t row = team_row();
    const bool is_row = row < rows;
    const operand_offsets<2> offset = places.offsets_of(is_row ? row : 0);
    const int member = static_cast<int>(threadIdx.x);
    const int members = static_cast<int>(blockDim.x);
    // A team past the last row goes along with no columns: shuffles and the barrier want everyone.
    const int64_t count = is_row ? columns : 0;
    wait_for_previous_kernels(previous);
    accumulate_t<T> sum;
    if constexpr (Rows::are_aligned) {
        sum = sum_of_whole_packs<packs>(x + offset.of[1], static_cast<int>(count) / pack<T>::size, member, members);
    } else {
        sum = sum_of_packs<packs>(x + offset.of[1], count, member, members);
    }
    let_next_kernel_start();
    sum = sum_of_team<lanes>(sum, partials);
    if (member == 0 && is_row) y[offset.of[0]] = from_accumulate<T>(sum);
}

template <int lanes, int packs, int most_threads, typename Rows, typename T>
void launch_reduce_sum_team(const row_team &team, const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers,
                            stream_t stream) {
    launch_overlapping(reduce_sum_vectorised<T, lanes, packs, most_threads, Rows>,
                       launch_config{team.grid(plan.rows), team.block(), 0, stream}, buffers.y, buffers.x, plan.rows,
                       plan.columns, Rows(plan.outer));
}

template <int lanes, int most_threads, typename Rows, typename T>
void launch_reduce_sum_packs(const row_team &team, const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers,
                             stream_t stream) {
    if (team.packs == 1) return launch_reduce_sum_team<lanes, 1, most_threads, Rows>(team, plan, buffers, stream);
    if (team.packs == 2) return launch_reduce_sum_team<lanes, 2, most_threads, Rows>(team, plan, buffers, stream);
    if constexpr (lanes == warp_size) {  // smaller teams have 1, 2 or 4
        if (team.packs == 3) return launch_reduce_sum_team<lanes, 3, most_threads, Rows>(team, plan, buffers, stream);
        if (team.packs == 8) return launch_reduce_sum_team<lanes, 8, most_threads, Rows>(team, plan, buffers, stream);
    }
    launch_reduce_sum_team<lanes, 4, most_threads, Rows>(team, plan, buffers, stream);
}

template <typename Rows, typename T>
void launch_reduce_sum_vectorised_of(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers,
                                     stream_t stream) {
    const row_team team = reduce_sum_team(pack_count<T>(plan.columns, 0), plan.rows);
    if (team.threads == 2) return launch_reduce_sum_packs<2, small_team_block, Rows>(team, plan, buffers, stream);
    if (team.threads == 8) return launch_reduce_sum_packs<8, small_team_block, Rows>(team, plan, buffers, stream);
    launch_reduce_sum_packs<warp_size, large_team_block, Rows>(team, plan, buffers, stream);
}

template <typename T>
void launch_reduce_sum_vectorised(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    // A grid has no more than 2^31 - 1 blocks; `warp` loops over any number of rows.
    if (!has_contiguous_rows(plan) || plan.rows > INT32_MAX) return launch_reduce_sum_warp(plan, buffers, stream);
    if (has_even_rows(plan, buffers)) {
        return launch_reduce_sum_vectorised_of<even_rows<2>>(plan, buffers, stream);
    }
    launch_reduce_sum_vectorised_of<any_rows<2>>(plan, buffers, stream);
}

}  // namespace oprt
