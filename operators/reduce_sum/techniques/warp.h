// reduce_sum, warp: one block a row. Lanes of a warp add their sums by shuffles, without shared memory or barriers; one
// partial sum a warp goes through shared memory. One barrier a row, where the tree of `shared` needs one for each of
// its steps.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"
#include "shared/reduction.h"

namespace oprt {

// y: [rows], x: [rows, columns], both at the plan's strides
template <typename T, int block_threads>
__global__ void __launch_bounds__(block_threads) reduce_sum_warp(T *y, const T *x, const reduce_sum_plan plan) {
    // Two arrays in turn: a thread that begins the next row writes the other one, and the row after that is behind a
    // barrier.
    __shared__ accumulate_t<T> partials[2][block_threads / warp_size];
    const int thread = static_cast<int>(threadIdx.x);
    int turn = 0;
    for (int64_t row = blockIdx.x; row < plan.rows; row += gridDim.x, turn ^= 1) {
        const operand_offsets<2> offset = offsets_at(plan.outer, row);
        const auto share = sum_of_terms(x + offset.of[1], plan.inner, thread, plan.columns, block_threads);
        const auto sum = reduce_block<block_threads>(share, partials[turn], add{});
        if (thread == 0) y[offset.of[0]] = from_accumulate<T>(sum);
    }
}

template <typename T>
void launch_reduce_sum_warp(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_that_loops(plan.rows, 1), default_block_threads, 0, stream};
    launch(reduce_sum_warp<T, default_block_threads>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
