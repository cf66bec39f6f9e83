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

template <typename T>
struct softmax_buffers {
    T *y;
    const T *x;
    void *workspace;

    explicit softmax_buffers(const operands &o) : y(o.output<T>(0)), x(o.input<T>(1)), workspace(o.workspace) {}
};

}  // namespace oprt
