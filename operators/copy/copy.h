// Plan and buffers of copy: what copy.cc computes once and a launcher receives.
#pragma once

#include "backends/module.h"
#include "shared/layout.h"

namespace oprt {

struct copy_plan {
    using dtypes = bits_dtypes;  // copy moves bits: every dtype is planned as the BITS dtype of its size

    oprt_dtype_t dtype;
    layout<2> elements;  // operands y, x
};

template <typename T>
struct copy_buffers {
    T *y;
    const T *x;
    void *workspace;

    explicit copy_buffers(const operands &o) : y(o.output<T>(0)), x(o.input<T>(1)), workspace(o.workspace) {}
};

}  // namespace oprt
