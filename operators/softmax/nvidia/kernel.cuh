// The reference softmax for NVIDIA: which technique for which tensors. The kernels themselves are in
// softmax/techniques, from simple to fast: naive, shared, warp, online, registers, columns, split. A kernel file of
// your own may hold its kernels right here and needs only launch_softmax.
#pragma once

#include <oprt_device.h>

#include "softmax/nvidia/techniques/columns.cuh"
#include "softmax/nvidia/techniques/registers.cuh"
#include "softmax/nvidia/techniques/split.cuh"
#include "softmax/softmax.h"

namespace oprt {

// A row that fits into registers is read once. Wider ones are read twice, by several blocks when there are few of them.
// Where rows lie side by side in memory rather than their elements, each lane takes a row.
template <typename T>
void launch_softmax(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    constexpr int64_t sector_bytes =
        32;  // least that a memory access moves: below so many rows, lanes would read too little
    const bool enough_rows = plan.rows * static_cast<int64_t>(sizeof(T)) >= sector_bytes;
    const bool few_wide_rows = softmax_splits(plan) > 1 && !blocks_fill_device(plan.rows);
    if (!has_contiguous_rows(plan) && has_neighbouring_rows(plan) && enough_rows) {
        launch_softmax_columns(plan, buffers, stream);
    } else if (few_wide_rows) {
        launch_softmax_split(plan, buffers, stream);
    } else {
        launch_softmax_registers(plan, buffers, stream);  // `online` for rows that do not fit or are not contiguous
    }
}

}  // namespace oprt
