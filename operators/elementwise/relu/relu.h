// Plan of relu: a unary elementwise operator with one parameter.
#pragma once

#include "elementwise/elementwise.h"

namespace oprt {

struct relu_plan : unary_plan {
    double slope() const { return parameters[0]; }
};

template <typename T>
using relu_buffers = elementwise_buffers<T, 1>;

}  // namespace oprt
