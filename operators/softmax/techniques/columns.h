// softmax, columns: for an axis that is not the last, where neighbours in memory belong to neighbouring rows. Each lane
// takes a row of its own, so a warp reads and writes neighbours in one access, without a transposed copy; the warps of
// a block share the columns. Right for any strides; where rows themselves are contiguous, `registers` and `online` read
// better.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"
#include "softmax/tuning.h"

namespace oprt {

// y, x: [rows, columns] at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) softmax_columns(T *y, const T *x, const softmax_plan plan) {
    using A = accumulate_t<T>;
    constexpr int slices = block_threads / warp_size;           // of the columns, one a warp
    __shared__ softmax_part<A> partials[2][slices][warp_size];  // two in turn, as in `online`
    const int lane = lane_index();
    const int slice = warp_index();
    int turn = 0;
    for (int64_t block_row = static_cast<int64_t>(blockIdx.x) * warp_size; block_row < plan.rows;
         block_row += static_cast<int64_t>(gridDim.x) * warp_size, turn ^= 1) {
        const int64_t row = block_row + lane;
        const bool is_row = row < plan.rows;
        const operand_offsets<2> offset = offsets_at(plan.outer, is_row ? row : 0);
        const T *x_row = x + offset.of[1];
        partials[turn][slice][lane] =
            part_of_elements(x_row, plan.x_column_stride, is_row ? plan.columns : 0, slice, slices);
        // Separates the writes of all slices from every warp's reads of them.
        __syncthreads();
        if (!is_row) continue;
        softmax_part<A> whole = partials[turn][0][lane];
        for (int other = 1; other < slices; ++other) whole = merge_softmax{}(whole, partials[turn][other][lane]);
        write_elements(y + offset.of[0], plan.y_column_stride, x_row, plan.x_column_stride, plan.columns, whole.maximum,
                       softmax_scale(whole), slice, slices);
    }
}

template <typename T>
void launch_softmax_columns(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    constexpr int threads = sizeof(T) == 8 ? default_block_threads : softmax_column_threads;
    const launch_config config{grid_that_loops(plan.rows, warp_size), threads, 0, stream};
    launch(softmax_columns<T, threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
