// Exercise: softmax on NVIDIA. Goal: y[row, c] = exp(x[row, c] - m) / sum of exp(x[row, ...] - m), where m is the
// row's maximum.
// Yours are the kernel and its launcher; descriptor, checks, dtypes and Python are there already. Hints: hints.md.
//
// Levels of `nox -s check -- --op softmax`: 1 float32, contiguous rows of whole blocks; 2 any number of columns,
// NaN and infinity; 3 the other dtypes; 4 any axis and strides, in place, odd pointers.
#pragma once

#include <cuda_runtime.h>
#include <oprt_device.h>

#include "shared/index.h"
#include "softmax/softmax.h"

namespace oprt {

// y, x: [rows, columns], row-major, contiguous
template <typename T, int block_threads>
__global__ void softmax_shared(T *y, const T *x, int64_t rows, int64_t columns) {
    // TODO 1: declare shared memory for the block's reductions, in accumulate_t<T>.
    // TODO 2: let this block find its row. There may be more rows than blocks.
    // TODO 3: find the maximum of the row: each thread over its share of the columns, then the block. A NaN must not
    //     get lost.
    // TODO 4: find the sum of exp(x - maximum), the same way. Mind who may still be reading the shared memory of
    //     TODO 3.
    // TODO 5: write the row. A row that is all -inf, or that holds NaN or +inf, becomes NaN.
    // Say at each barrier which writes it separates from which reads.
}

template <typename T>
void launch_softmax(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    // TODO 6: choose the threads of a block, and a grid for plan.rows rows.
    constexpr int block_threads = warp_size;
    const dim3 grid(1);
    launch(softmax_shared<T, block_threads>, launch_config{grid, block_threads, 0, stream}, buffers.y, buffers.x,
           plan.rows, plan.columns);
    // TODO 7 (level 4): plan.outer says where each row of y and x begins (offsets_at of shared/index.h turns a row's
    //     number into offsets), plan.y_column_stride and plan.x_column_stride how far columns are apart. Goal: a kernel
    //     that takes the plan by value.
    // TODO 8 (speed): one pass for maximum and sum together; shuffles instead of a tree; 16 bytes at a time.
}

}  // namespace oprt
