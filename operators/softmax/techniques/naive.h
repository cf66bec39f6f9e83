// softmax, naive: one thread a row, three passes: the maximum, the sum, the results. Right for any strides and lengths
// and the first thing to write; slow, since few threads work and neighbours read addresses a whole row apart.
#pragma once

#include <oprt_device.h>

#include "softmax/row_share.h"

namespace oprt {

// y, x: [rows, columns] at the plan's strides
template <typename T>
__global__ void __launch_bounds__(default_block_threads) softmax_naive(T *y, const T *x, const softmax_plan plan) {
    using A = accumulate_t<T>;
    const int64_t row = global_thread_index();
    if (row >= plan.rows) return;
    const operand_offsets<2> offset = offsets_at(plan.outer, row);
    const T *x_row = x + offset.of[1];

    A largest = static_cast<A>(-INFINITY);
    for (int64_t c = 0; c < plan.columns; ++c)
        largest = maximum{}(largest, to_accumulate(x_row[c * plan.x_column_stride]));

    running_sum<A> sum;
    for (int64_t c = 0; c < plan.columns; ++c) {
        sum.add(exponential(to_accumulate(x_row[c * plan.x_column_stride]) - largest));
    }
    const A scale = softmax_scale(softmax_part<A>{largest, sum.total()});
    write_elements(y + offset.of[0], plan.y_column_stride, x_row, plan.x_column_stride, plan.columns, largest, scale, 0,
                   1);
}

template <typename T>
void launch_softmax_naive(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    const launch_config config{grid_for_all(plan.rows, default_block_threads), default_block_threads, 0, stream};
    launch(softmax_naive<T>, config, buffers.y, buffers.x, plan);
}

}  // namespace oprt
