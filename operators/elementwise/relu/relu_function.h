// relu's arithmetic, the same for every vendor: all that an elementwise operator adds to the framework on the device.
#pragma once

#include "elementwise/launch_elementwise.h"
#include "elementwise/relu/relu.h"

namespace oprt {

// x where x > 0, else slope * x; with slope 0 every other x but NaN gives +0.0 (the formula would give -0.0 and, for
// -inf, NaN).
template <typename A>
struct relu_function {
    A slope;

    __device__ __forceinline__ A operator()(A x) const {
        if (x > 0) return x;
        if (slope != 0) return slope * x;
        return x == x ? 0 : x;
    }
};

// The slope is rounded to the type of the arithmetic first: one that is 0 there counts as 0.
template <typename T>
void launch_relu(const relu_plan &plan, const relu_buffers<T> &buffers, stream_t stream) {
    using A = accumulate_t<T>;
    launch_elementwise(plan, buffers, relu_function<A>{static_cast<A>(plan.slope())}, stream);
}

}  // namespace oprt
