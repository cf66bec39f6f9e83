// Plan and buffers of reduce_sum: what reduce_sum.cc computes once and a launcher receives.
#pragma once

#include "backends/module.h"
#include "shared/layout.h"

namespace oprt {

// A row is the set of elements that are summed into one output. columns may be 0: then every output is 0.
struct reduce_sum_plan {
    using dtypes = floating_dtypes;

    oprt_dtype_t dtype;
    int64_t rows;     // number of outputs
    int64_t columns;  // terms of each output
    layout<2> outer;  // where rows start; operands y, x; outer.elements == rows
    layout<1> inner;  // the summed dimensions of x; inner.elements == columns. ndim 1 and stride 1: contiguous rows
};

// Blocks that a row may be split over: 1 up to reduce_sum_split_columns columns. More leave a partial result each in
// the workspace, so the number is fixed with the descriptor and must not depend on the device.
inline constexpr int64_t reduce_sum_split_columns = 16384;
inline constexpr int64_t reduce_sum_max_splits = 1024;

inline int64_t reduce_sum_splits(const reduce_sum_plan &plan) {
    const int64_t splits = plan.columns / reduce_sum_split_columns + (plan.columns % reduce_sum_split_columns != 0);
    if (splits <= 1) return 1;
    return splits < reduce_sum_max_splits ? splits : reduce_sum_max_splits;
}

// 16 bytes a split of each row (its sum), rounded up to 256; 0 when no row is split. rows * columns fits in 63 bits, so
// this does too.
inline size_t reduce_sum_workspace_size_bytes(const reduce_sum_plan &plan) {
    const int64_t splits = reduce_sum_splits(plan);
    return splits == 1 ? 0 : static_cast<size_t>((plan.rows * splits * 16 + 255) / 256 * 256);
}

template <typename T>
struct reduce_sum_buffers {
    T *y;
    const T *x;
    void *workspace;

    explicit reduce_sum_buffers(const operands &o) : y(o.output<T>(0)), x(o.input<T>(1)), workspace(o.workspace) {}
};

}  // namespace oprt
