// Plan and buffers of every elementwise operator y = f(x...; parameters). An operator of the framework adds a functor and its header.
#pragma once

#include "backends/module.h"
#include "shared/layout.h"

namespace oprt {

inline constexpr int max_elementwise_parameters = 4;

template <int input_count>
struct elementwise_plan {
    using dtypes = floating_dtypes;

    oprt_dtype_t dtype;
    layout<1 + input_count> elements;  // operands y, then the inputs; broadcast dimensions have stride 0
    double parameters[max_elementwise_parameters];
};

template <typename T, int input_count>
struct elementwise_buffers {
    T *y;
    const T *inputs[input_count];
    void *workspace;

    explicit elementwise_buffers(const operands &o) : y(o.output<T>(0)), workspace(o.workspace) {
        for (int i = 0; i < input_count; ++i) inputs[i] = o.input<T>(1 + i);
    }
};

using unary_plan = elementwise_plan<1>;
using binary_plan = elementwise_plan<2>;

}  // namespace oprt
