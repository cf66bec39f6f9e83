// reduce_sum, naive: one thread a row. Right for any strides, axes and lengths and the first thing to write; slow for
// long rows, since few threads work and neighbours read addresses a whole row apart.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/row_terms.h"

namespace oprt {

// y: [rows], x: [rows, columns], both at the plan's strides
template <typename T>
__global__ void __launch_bounds__(default_block_threads)
    reduce_sum_naive(T *y, const T *x, const reduce_sum_plan plan) {
    const int64_t row = global_thread_index();
    if (row >= plan.rows) return;
    const operand_offsets<2> offset = offsets_at(plan.outer, row);
    y[offset.of[0]] = from_accumulate<T>(sum_of_terms(x + offset.of[1], plan.inner, 0, plan.columns, 1));
}

template <typename T>
void launch_reduce_sum_naive(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_for_all(plan.rows, default_block_threads), default_block_threads, 0, stream};
    launch(reduce_sum_naive<T>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
