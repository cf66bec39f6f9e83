// Plan and buffers of vector_add: what vector_add.cc computes once and a launcher receives.
#pragma once

#include "backends/module.h"
#include "shared/layout.h"

namespace oprt {

struct vector_add_plan {
    using dtypes = floating_dtypes;

    oprt_dtype_t dtype;
    layout<3> elements;  // operands y, a, b; broadcast dimensions have stride 0
};

template <typename T>
struct vector_add_buffers {
    T *y;
    const T *a;
    const T *b;
    void *workspace;

    explicit vector_add_buffers(const operands &o)
        : y(o.output<T>(0)), a(o.input<T>(1)), b(o.input<T>(2)), workspace(o.workspace) {}
};

}  // namespace oprt
