// softmax, online: one block a row. Maximum and sum grow together in one pass, the sum shrinking whenever a larger
// maximum turns up; a second pass writes. Two reads of the row instead of three, one barrier instead of two. For rows
// of any length.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"

namespace oprt {

// y, x: [rows, columns] at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) softmax_online(T *y, const T *x, const softmax_plan plan) {
    using A = accumulate_t<T>;
    // Two arrays in turn: a thread that begins the next row writes the other one, and the row after that is behind a
    // barrier.
    __shared__ softmax_part<A> partials[2][block_threads / warp_size];
    const bool contiguous = has_contiguous_rows(plan);
    const int thread = static_cast<int>(threadIdx.x);
    int turn = 0;
    for (int64_t row = blockIdx.x; row < plan.rows; row += gridDim.x, turn ^= 1) {
        const operand_offsets<2> offset = offsets_at(plan.outer, row);
        T *y_row = y + offset.of[0];
        const T *x_row = x + offset.of[1];

        const softmax_part<A> share =
            contiguous ? part_of_packs(x_row, plan.columns, thread, block_threads)
                       : part_of_elements(x_row, plan.x_column_stride, plan.columns, thread, block_threads);
        const softmax_part<A> whole = merge_block<block_threads>(share, partials[turn]);

        const A scale = softmax_scale(whole);
        if (contiguous) {
            write_packs(y_row, x_row, plan.columns, whole.maximum, scale, thread, block_threads);
        } else {
            write_elements(y_row, plan.y_column_stride, x_row, plan.x_column_stride, plan.columns, whole.maximum, scale,
                           thread, block_threads);
        }
    }
}

template <typename T>
void launch_softmax_online(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_that_loops(plan.rows, 1), default_block_threads, 0, stream};
    launch(softmax_online<T, default_block_threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
