// Exercise: vector_add on NVIDIA. Goal: y = a + b, element by element.
// Yours are the kernel and its launcher; descriptor, checks, dtypes and Python are there already. Hints: hints.md.
//
// Levels of `nox -s check -- --op vector_add`: 1 dense float32 of whole blocks; 2 any length; 3 the other dtypes; 4
// strides, broadcasts, odd pointers and sums in place.
#pragma once

#include <cuda_runtime.h>
#include <oprt_device.h>

#include "shared/index.h"
#include "vector_add/vector_add.h"

namespace oprt {

// y, a, b: [elements], dense
template <typename T>
__global__ void vector_add_grid_stride(T *y, const T *a, const T *b, int64_t elements) {
    // TODO 1: compute, in 64 bits, the number of this thread in the whole grid.
    // TODO 2: add the two elements of that number. Use to_accumulate and from_accumulate<T> of oprt_device.h, so that
    //     16-bit
    //         types are added in float and rounded once.
    // TODO 3: cover every element exactly once, and nothing behind the last one.
}

template <typename T>
void launch_vector_add(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    const int64_t elements = plan.elements.elements;  // at least 1: empty tensors are not launched
    // TODO 4: choose a block of several warps, and a grid for this number of elements.
    const dim3 block(1);
    const dim3 grid(1);
    launch(vector_add_grid_stride<T>, launch_config{grid, block, 0, stream}, buffers.y, buffers.a, buffers.b, elements);
    // TODO 5 (level 4): where plan.elements.dense is 0, element i of y, a and b lie at the offsets that offsets_at of
    //     shared/index.h computes; a broadcast operand has stride 0. Goal: a second kernel that uses them.
    // TODO 6 (speed): load and store 16 bytes at a time where the pointers allow it.
}

}  // namespace oprt
