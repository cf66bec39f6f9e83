// reduce_sum, columns: for an axis that is not the last, where neighbours in memory belong to neighbouring rows. Each
// lane takes a row of its own, so a warp reads neighbours in one access, without a transposed copy; the warps of a
// block share the columns. Right for any strides; where rows themselves are contiguous, `vectorised` reads better.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "shared/reduction.h"

namespace oprt {

// y: [rows], x: [rows, columns], both at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) reduce_sum_columns(T *y, const T *x, const reduce_sum_plan plan) {
    using A = accumulate_t<T>;
    constexpr int slices = block_threads / warp_size;  // of the columns, one a warp
    __shared__ A partials[2][slices][warp_size];       // two in turn, as in `warp`
    const int lane = lane_index();
    const int slice = warp_index();
    int turn = 0;
    for (int64_t block_row = static_cast<int64_t>(blockIdx.x) * warp_size; block_row < plan.rows;
         block_row += static_cast<int64_t>(gridDim.x) * warp_size, turn ^= 1) {
        const int64_t row = block_row + lane;
        const bool is_row = row < plan.rows;
        const operand_offsets<2> offset = offsets_at(plan.outer, is_row ? row : 0);
        partials[turn][slice][lane] =
            is_row ? sum_of_terms(x + offset.of[1], plan.inner, slice, plan.columns, slices) : 0;
        // Separates the writes of all slices from the first warp's reads of them.
        __syncthreads();
        if (slice != 0 || !is_row) continue;
        A sum = partials[turn][0][lane];
        for (int other = 1; other < slices; ++other) sum += partials[turn][other][lane];
        y[offset.of[0]] = from_accumulate<T>(sum);
    }
}

template <typename T>
void launch_reduce_sum_columns(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_that_loops(plan.rows, warp_size), default_block_threads, 0, stream};
    launch(reduce_sum_columns<T, default_block_threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
