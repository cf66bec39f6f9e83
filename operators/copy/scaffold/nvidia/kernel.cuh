// Exercise: copy on NVIDIA. Goal: y = x, bit for bit.
// Yours are the kernel and its launcher; descriptor, checks, dtypes and Python are there already. Hints: hints.md.
//
// Levels of `nox -s check -- --op copy`: 1 dense tensors of whole blocks; 2 any length; 3 elements of 1 to 16
// bytes; 4 strided tensors, odd pointers and copies in place.
#pragma once

#include <cuda_runtime.h>
#include <oprt_device.h>

#include "copy/copy.h"
#include "shared/index.h"

namespace oprt {

// y, x: [elements], dense. T is an unsigned integer of the element's size, or a 16-byte struct.
template <typename T>
__global__ void copy_grid_stride(T *y, const T *x, int64_t elements) {
    // TODO 1: compute, in 64 bits, the number of this thread in the whole grid.
    // TODO 2: copy the element of that number, and every element that no other thread takes.
    // TODO 3: leave alone what lies behind the last element.
}

template <typename T>
void launch_copy(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    const int64_t elements = plan.elements.elements;  // at least 1: empty tensors are not launched
    // TODO 4: choose a block of several warps, and a grid for this number of elements.
    const dim3 block(1);
    const dim3 grid(1);
    launch(copy_grid_stride<T>, launch_config{grid, block, 0, stream}, buffers.y, buffers.x, elements);
    // TODO 5 (level 4): where plan.elements.dense is 0, element i of y and of x lie at the offsets that offsets_at of
    //     shared/index.h computes. Goal: a second kernel that uses them.
    // TODO 6 (speed): move 16 bytes at a time where the pointers allow it.
}

}  // namespace oprt
