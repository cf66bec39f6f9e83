// softmax, shared: one block a row, three passes; the block's maximum and sum are trees in shared memory. Each thread
// reads and writes every block_threads-th element of its row, always the same ones, so softmax in place needs no
// barrier between the passes.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"

namespace oprt {

// y, x: [rows, columns] at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) softmax_shared(T *y, const T *x, const softmax_plan plan) {
    using A = accumulate_t<T>;
    // Two arrays: the sum's first barrier also keeps the next row's maxima away from slower reads of this row's, and
    // the other way round. With one array, a barrier would have to stand between reading the maximum and writing the
    // sums.
    __shared__ A maxima[block_threads];
    __shared__ A sums[block_threads];
    const int thread = static_cast<int>(threadIdx.x);
    for (int64_t row = blockIdx.x; row < plan.rows; row += gridDim.x) {
        const operand_offsets<2> offset = offsets_at(plan.outer, row);
        const T *x_row = x + offset.of[1];

        A largest = static_cast<A>(-INFINITY);
        for (int64_t c = thread; c < plan.columns; c += block_threads) {
            largest = maximum{}(largest, to_accumulate(x_row[c * plan.x_column_stride]));
        }
        largest = reduce_tree<block_threads>(largest, maxima, maximum{});

        running_sum<A> share;
        for (int64_t c = thread; c < plan.columns; c += block_threads) {
            share.add(exponential(to_accumulate(x_row[c * plan.x_column_stride]) - largest));
        }
        const A sum = reduce_tree<block_threads>(share.total(), sums, add{});

        const A scale = softmax_scale(softmax_part<A>{largest, sum});
        write_elements(y + offset.of[0], plan.y_column_stride, x_row, plan.x_column_stride, plan.columns, largest,
                       scale, thread, block_threads);
    }
}

template <typename T>
void launch_softmax_shared(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_that_loops(plan.rows, 1), default_block_threads, 0, stream};
    launch(softmax_shared<T, default_block_threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
