// softmax, warp: one block a row, three passes as in `shared`, but the lanes of a warp reduce by shuffles and only one
// value a warp goes through shared memory: two barriers a row instead of one for each step of two trees.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"

namespace oprt {

// y, x: [rows, columns] at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) softmax_warp(T *y, const T *x, const softmax_plan plan) {
    using A = accumulate_t<T>;
    // Two arrays: each one's reads and its next writes have the other one's barrier between them.
    __shared__ A maxima[block_threads / warp_size];
    __shared__ A sums[block_threads / warp_size];
    const int thread = static_cast<int>(threadIdx.x);
    for (int64_t row = blockIdx.x; row < plan.rows; row += gridDim.x) {
        const operand_offsets<2> offset = offsets_at(plan.outer, row);
        const T *x_row = x + offset.of[1];

        A largest = static_cast<A>(-INFINITY);
        for (int64_t c = thread; c < plan.columns; c += block_threads) {
            largest = maximum{}(largest, to_accumulate(x_row[c * plan.x_column_stride]));
        }
        largest = reduce_block<block_threads>(largest, maxima, maximum{});

        running_sum<A> share;
        for (int64_t c = thread; c < plan.columns; c += block_threads) {
            share.add(exponential(to_accumulate(x_row[c * plan.x_column_stride]) - largest));
        }
        const A sum = reduce_block<block_threads>(share.total(), sums, add{});

        const A scale = softmax_scale(softmax_part<A>{largest, sum});
        write_elements(y + offset.of[0], plan.y_column_stride, x_row, plan.x_column_stride, plan.columns, largest,
                       scale, thread, block_threads);
    }
}

template <typename T>
void launch_softmax_warp(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_that_loops(plan.rows, 1), default_block_threads, 0, stream};
    launch(softmax_warp<T, default_block_threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
