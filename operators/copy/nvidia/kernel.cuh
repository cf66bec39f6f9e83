// The reference copy for NVIDIA: which technique for which tensors. The kernels themselves are in copy/techniques, from
// simple to fast: naive, grid_stride, vectorised, strided. A kernel file of your own may hold its kernels right here
// and needs only launch_copy.
#pragma once

#include <oprt_device.h>

#include "copy/copy.h"
#include "copy/nvidia/techniques/strided.cuh"
#include "copy/nvidia/techniques/vectorised.cuh"

namespace oprt {

// Dense tensors move as one array of 16-byte packs, whatever their shape was; everything else needs an offset per
// element.
template <typename T>
void launch_copy(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    if (plan.elements.dense) {
        launch_copy_vectorised(plan, buffers, stream);
    } else {
        launch_copy_strided(plan, buffers, stream);
    }
}

}  // namespace oprt
