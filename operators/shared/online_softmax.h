// The state of a softmax over part of a row, (maximum, sum of exp(x - maximum)), and how two parts become one: what
// lets softmax read a row once before it writes (Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018). Loading elements and sharing states between threads are left to the kernels.
#pragma once

#include <oprt_device.h>

#include <cmath>

#include "shared/reduction.h"
#include "shared/running_sum.h"

namespace oprt {

__device__ __forceinline__ float exponential(float x) { return expf(x); }
__device__ __forceinline__ double exponential(double x) { return exp(x); }

// A part without elements, or with nothing but -inf, is {-inf, 0}. NaN in a part makes its sum NaN, and stays.
template <typename A>
struct softmax_part {
    A maximum;
    A sum;
};

template <typename A>
__device__ __forceinline__ softmax_part<A> empty_softmax_part() {
    return {static_cast<A>(-INFINITY), 0};
}

template <typename A>
__device__ __forceinline__ softmax_part<A> shuffle_xor(softmax_part<A> part, int lane_mask) {
    return {shuffle_xor(part.maximum, lane_mask), shuffle_xor(part.sum, lane_mask)};
}

struct merge_softmax {
    template <typename A>
    __device__ __forceinline__ softmax_part<A> operator()(softmax_part<A> left, softmax_part<A> right) const {
        const A larger = maximum{}(left.maximum, right.maximum);
        // -inf - -inf would be NaN and spoil a row that has finite elements elsewhere.
        if (larger == static_cast<A>(-INFINITY)) return {larger, left.sum + right.sum};
        // The part with the larger maximum counts in full, the other one for less.
        const bool left_is_larger = left.maximum == larger;
        const softmax_part<A> less = left_is_larger ? right : left;
        const A sum = left_is_larger ? left.sum : right.sum;
        return {larger, sum + less.sum * exponential(less.maximum - larger)};
    }
};

// What each exp(x - maximum) of the row is multiplied by. A maximum of -inf (all elements are), +inf or NaN makes the
// row NaN.
template <typename A>
__device__ __forceinline__ A softmax_scale(softmax_part<A> row) {
    const bool finite = row.maximum - row.maximum == 0;
    return finite ? 1 / row.sum : static_cast<A>(NAN);
}

// A thread's part, grown by one or several elements at a time.
template <typename A>
class running_softmax {
public:
    template <int count>
    __device__ __forceinline__ void add(const A (&x)[count]) {
        A larger = maximum_;
#pragma unroll
        for (int i = 0; i < count; ++i) larger = maximum{}(larger, x[i]);
        if (larger != maximum_) {  // the maximum grew: what was summed so far counts for less
            sum_.scale(exponential(maximum_ - larger));
            maximum_ = larger;
        }
        A sum = 0;
#pragma unroll
        for (int i = 0; i < count; ++i) sum += x[i] == static_cast<A>(-INFINITY) ? 0 : exponential(x[i] - larger);
        sum_.add(sum);
    }

    __device__ __forceinline__ softmax_part<A> part() const { return {maximum_, sum_.total()}; }

private:
    A maximum_ = static_cast<A>(-INFINITY);
    running_sum<A> sum_;
};

}  // namespace oprt
