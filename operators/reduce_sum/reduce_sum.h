// Plan and buffers of reduce_sum: what reduce_sum.cc computes once and a launcher receives.
#pragma once

#include <algorithm>
#include <cstdlib>

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

// Whether neighbouring rows are closer to each other in memory than neighbouring terms of one row.
inline bool has_neighbouring_rows(const reduce_sum_plan &plan) {
    if (plan.outer.ndim == 0 || plan.inner.ndim == 0) return false;
    const int64_t between_rows = plan.outer.strides[1][plan.outer.ndim - 1];
    const int64_t between_terms = plan.inner.strides[0][plan.inner.ndim - 1];
    return std::abs(between_rows) < std::abs(between_terms);
}

// Blocks that a row may be split over, each of which leaves a partial sum in the workspace. The number is fixed with the
// descriptor and must not depend on the device. A split is 32 KB of a row, more where there would be too many; where
// rows are neighbours, enough splits for 256 blocks.
inline int64_t reduce_sum_splits(const reduce_sum_plan &plan) {
    constexpr int64_t split_bytes = 32 * 1024;
    constexpr int64_t most_splits = 8192;
    constexpr int64_t few_terms = 64;
    constexpr int64_t rows_of_block = 128;
    constexpr int64_t enough_blocks = 256;
    if (plan.rows == 0) return 1;
    if (has_neighbouring_rows(plan)) {
        const int64_t blocks = (plan.rows + rows_of_block - 1) / rows_of_block;
        return std::max<int64_t>(1, std::min(enough_blocks / blocks, plan.columns / few_terms));
    }
    const int64_t split_columns = split_bytes / dtype_size_bytes(plan.dtype);
    const int64_t splits = plan.columns / split_columns + (plan.columns % split_columns != 0);
    return std::max<int64_t>(1, std::min(splits, most_splits));
}

// 8 bytes a split of each row (its sum), rounded up to 256; 0 when no row is split. A split has 64 terms or more, so
// this does not overflow.
inline size_t reduce_sum_workspace_size_bytes(const reduce_sum_plan &plan) {
    const int64_t splits = reduce_sum_splits(plan);
    return splits == 1 ? 0 : static_cast<size_t>((plan.rows * splits * 8 + 255) / 256 * 256);
}

template <typename T>
struct reduce_sum_buffers {
    T *y;
    const T *x;
    void *workspace;

    explicit reduce_sum_buffers(const operands &o) : y(o.output<T>(0)), x(o.input<T>(1)), workspace(o.workspace) {}
};

}  // namespace oprt
