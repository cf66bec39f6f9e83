// Plan and buffers of softmax: what softmax.cc computes once and a launcher receives.
#pragma once

#include "backends/module.h"
#include "shared/layout.h"

namespace oprt {

// A row is the set of elements along the axis; it need not be contiguous.
struct softmax_plan {
    using dtypes = floating_dtypes;

    oprt_dtype_t dtype;
    int64_t rows;             // product of the other extents
    int64_t columns;          // extent of the axis
    int64_t y_column_stride;  // elements from one column to the next
    int64_t x_column_stride;
    layout<2> outer;  // where rows start; operands y, x; outer.elements == rows
};

// Blocks that a row may be split over: 1 up to softmax_split_columns columns. More leave a partial result each in the
// workspace, so the number is fixed with the descriptor and must not depend on the device.
inline constexpr int64_t softmax_split_columns = 16384;
// No power of two: blocks that read in step at such distances meet in the same memory channels.
inline constexpr int64_t softmax_max_splits = 528;

inline int64_t softmax_splits(const softmax_plan &plan) {
    const int64_t splits = plan.columns / softmax_split_columns + (plan.columns % softmax_split_columns != 0);
    if (splits <= 1) return 1;
    return splits < softmax_max_splits ? splits : softmax_max_splits;
}

// 16 bytes a split of each row (its maximum and sum), rounded up to 256; 0 when no row is split. rows * columns fits in
// 63 bits, so this does too.
inline size_t softmax_workspace_size_bytes(const softmax_plan &plan) {
    const int64_t splits = softmax_splits(plan);
    return splits == 1 ? 0 : static_cast<size_t>((plan.rows * splits * 16 + 255) / 256 * 256);
}

template <typename T>
struct softmax_buffers {
    T *y;
    const T *x;
    void *workspace;

    explicit softmax_buffers(const operands &o) : y(o.output<T>(0)), x(o.input<T>(1)), workspace(o.workspace) {}
};

}  // namespace oprt
