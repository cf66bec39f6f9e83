// Exercise: reduce_sum on NVIDIA. Goal: y[row] = sum of x[row, 0 .. columns - 1].
// Yours are the kernel and its launcher; descriptor, checks, dtypes and Python are there already. Hints: hints.md.
//
// Levels of `nox -s check -- --op reduce_sum`: 1 float32, contiguous rows of whole blocks; 2 any number of columns,
// even none, NaN and infinity; 3 the other dtypes; 4 any axes and strides, odd pointers.
#pragma once

#include <cuda_runtime.h>
#include <oprt_device.h>

#include "reduce_sum/reduce_sum.h"
#include "shared/index.h"

namespace oprt {

// y: [rows], x: [rows, columns], row-major, contiguous
template <typename T, int block_threads>
__global__ void reduce_sum_shared(T *y, const T *x, int64_t rows, int64_t columns) {
    // TODO 1: declare shared memory for one value of type accumulate_t<T> a thread.
    // TODO 2: let this block find its row. There may be more rows than blocks.
    // TODO 3: sum this thread's share of the columns in a register. Neighbouring threads should read neighbouring
    //     elements.
    // TODO 4: combine the threads' sums into one. Say at each barrier which writes it separates from which reads.
    // TODO 5: let one thread write y, rounded by from_accumulate<T>.
}

template <typename T>
void launch_reduce_sum(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    // TODO 6: choose the threads of a block, and a grid for plan.rows rows.
    constexpr int block_threads = warp_size;
    const dim3 grid(1);
    launch(reduce_sum_shared<T, block_threads>, launch_config{grid, block_threads, 0, stream}, buffers.y, buffers.x,
           plan.rows, plan.columns);
    // TODO 7 (level 4): plan.outer says where each row and each output lie, plan.inner where the terms of a row lie;
    //     offsets_at of shared/index.h turns numbers into offsets. Goal: a kernel that takes the plan by value and uses
    //     both.
    // TODO 8 (speed): let the lanes of a warp combine their sums by shuffles; read 16 bytes at a time.
}

}  // namespace oprt
