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
    layout<1> inner;  // the summed dimensions; operand x; inner.elements == columns. ndim 1 and stride 1: contiguous rows
};

template <typename T>
struct reduce_sum_buffers {
    T *y;
    const T *x;
    void *workspace;

    explicit reduce_sum_buffers(const operands &o) : y(o.output<T>(0)), x(o.input<T>(1)), workspace(o.workspace) {}
};

}  // namespace oprt
