// The reference softmax for NVIDIA: which technique for which tensors. The kernels themselves are in
// softmax/techniques, from simple to fast: naive, shared, warp, online, registers, columns, split; cluster, in
// nvidia/techniques, is NVIDIA's alone. A kernel file of your own may hold its kernels right here and needs only
// launch_softmax.
#pragma once

#include <oprt_device.h>

#include "softmax/nvidia/techniques/cluster.cuh"
#include "softmax/nvidia/techniques/columns.cuh"
#include "softmax/nvidia/techniques/registers.cuh"
#include "softmax/nvidia/techniques/split.cuh"
#include "softmax/softmax.h"

namespace oprt {

// A row that fits into the registers of a block, or into a cluster of blocks, is read once. Wider ones are read twice, by
// several blocks when there are few of them. Where rows lie side by side in memory rather than their elements, each lane takes a row.
template <typename T>
void launch_softmax(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    // The least that a memory access moves: with fewer bytes of rows side by side, lanes would read too little.
    constexpr int64_t sector_bytes = 32;
    const bool enough_rows = plan.rows * static_cast<int64_t>(sizeof(T)) >= sector_bytes;
    const bool can_split = softmax_splits(plan) > 1;
    const bool blocks_are_few = 2 * plan.rows < multiprocessor_count();
    if (!has_contiguous_rows(plan) && has_neighbouring_rows(plan) && enough_rows) {
        launch_softmax_columns(plan, buffers, stream);
    } else if (fits_softmax_registers(plan, buffers) && !(can_split && blocks_are_few)) {
        launch_softmax_registers(plan, buffers, stream);
    } else if (fits_softmax_cluster(plan, buffers)) {
        launch_softmax_cluster(plan, buffers, stream);
    } else if (can_split && !blocks_fill_device(plan.rows)) {
        launch_softmax_split(plan, buffers, stream);
    } else {
        launch_softmax_online(plan, buffers, stream);
    }
}

}  // namespace oprt
