// The reference vector_add for NVIDIA: which technique for which tensors. The kernels themselves are in
// vector_add/techniques, from simple to fast: naive, grid_stride, vectorised, strided. A kernel file of your own may
// hold its kernels right here and needs only launch_vector_add.
#pragma once

#include <oprt_device.h>

#include "vector_add/nvidia/techniques/strided.cuh"
#include "vector_add/nvidia/techniques/vectorised.cuh"
#include "vector_add/vector_add.h"

namespace oprt {

// Dense tensors are added as arrays of 16-byte packs, whatever their shape was; strides and broadcasts need an offset
// per element.
template <typename T>
void launch_vector_add(const vector_add_plan &plan, const vector_add_buffers<T> &buffers, stream_t stream) {
    if (plan.elements.dense) {
        launch_vector_add_vectorised(plan, buffers, stream);
    } else {
        launch_vector_add_strided(plan, buffers, stream);
    }
}

}  // namespace oprt
