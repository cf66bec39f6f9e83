// reduce_sum, shared: one block a row. Each thread sums every block_threads-th term, then the block adds its threads'
// sums as a tree in shared memory: half of the threads add the other half's values, then a quarter, and so on, with a
// barrier after each step.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "shared/reduction.h"

namespace oprt {

// y: [rows], x: [rows, columns], both at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) reduce_sum_shared(T *y, const T *x, const reduce_sum_plan plan) {
    // Two arrays in turn: a thread may begin the next row while a slower one still reads this row's.
    __shared__ accumulate_t<T> values[2][block_threads];
    const int thread = static_cast<int>(threadIdx.x);
    int turn = 0;
    for (int64_t row = blockIdx.x; row < plan.rows; row += gridDim.x, turn ^= 1) {
        const operand_offsets<2> offset = offsets_at(plan.outer, row);
        const auto share = sum_of_terms(x + offset.of[1], plan.inner, thread, plan.columns, block_threads);
        const auto sum = reduce_tree<block_threads>(share, values[turn], add{});
        if (thread == 0) y[offset.of[0]] = from_accumulate<T>(sum);
    }
}

template <typename T>
void launch_reduce_sum_shared(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_that_loops(plan.rows, 1), default_block_threads, 0, stream};
    launch(reduce_sum_shared<T, default_block_threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
