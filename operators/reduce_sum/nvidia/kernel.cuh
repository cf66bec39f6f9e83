// The reference reduce_sum for NVIDIA: which technique for which tensors. The kernels themselves are in
// reduce_sum/techniques, from simple to fast: naive, shared, warp, vectorised, columns, split. A kernel file of your
// own may hold its kernels right here and needs only launch_reduce_sum.
#pragma once

#include <oprt_device.h>

#include "reduce_sum/nvidia/techniques/columns.cuh"
#include "reduce_sum/nvidia/techniques/split.cuh"
#include "reduce_sum/nvidia/techniques/vectorised.cuh"
#include "reduce_sum/reduce_sum.h"

namespace oprt {

// What lies side by side in memory decides: the terms of a row, or the rows. An empty sum has no terms and no address
// to read; every technique then writes zeros.
template <typename T>
void launch_reduce_sum(const reduce_sum_plan &plan, const reduce_sum_buffers<T> &buffers, stream_t stream) {
    constexpr int64_t sector_bytes =
        32;  // least that a memory access moves: below so many rows, lanes would read too little
    const bool enough_rows = plan.rows * static_cast<int64_t>(sizeof(T)) >= sector_bytes;
    const bool few_wide_rows = reduce_sum_splits(plan) > 1 && !blocks_fill_device(plan.rows);
    if (!has_contiguous_rows(plan) && has_neighbouring_rows(plan) && enough_rows) {
        launch_reduce_sum_columns(plan, buffers, stream);
    } else if (few_wide_rows) {
        launch_reduce_sum_split(plan, buffers, stream);
    } else {
        launch_reduce_sum_vectorised(plan, buffers, stream);  // `warp` for rows that are not contiguous
    }
}

}  // namespace oprt
