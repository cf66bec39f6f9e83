// The state of a softmax over part of a row, (maximum, sum of exp(x - maximum)), and how two parts become one: what
// lets softmax read a row once before it writes (Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018). Loading elements and sharing states between threads are left to the kernels.
#pragma once

#include <oprt_device.h>

#include <cmath>

#include "shared/reduction.h"
#include "shared/running_sum.h"

namespace oprt {

// e^x. In float by the hardware's 2^x: one multiplication and one instruction more, where expf takes ten. The product's
// rounding is what rounding x itself does to e^x.
__device__ __forceinline__ float exponential(float x) {
    constexpr float log2_e = 1.4426950408889634f;
    return fast_exp2(x * log2_e);
}
__device__ __forceinline__ double exponential(double x) { return exp(x); }

// What exp(x - maximum) subtracts: 0 for a part of nothing but -inf, since -inf - -inf would be NaN.
template <typename A>
__device__ __forceinline__ A softmax_base(A maximum) {
    return maximum == static_cast<A>(-INFINITY) ? 0 : maximum;
}

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

// The larger of two numbers; NaN is left out (it comes back through the sum of the exponentials).
struct larger_number {
    __device__ __forceinline__ float operator()(float left, float right) const { return fmaxf(left, right); }
    __device__ __forceinline__ double operator()(double left, double right) const { return fmax(left, right); }
};

// Over each group of `lanes` lanes, as reduce_lanes.
template <int lanes>
__device__ __forceinline__ float largest_of_lanes(float value) {
    if constexpr (lanes == warp_size) return warp_maximum(value);
    return reduce_lanes<lanes>(value, larger_number{});
}
template <int lanes>
__device__ __forceinline__ double largest_of_lanes(double value) {
    return reduce_lanes<lanes>(value, larger_number{});
}

// One part of all lanes' parts: first the maximum, then one exponential a lane. All lanes of the warp; each gets it.
template <typename A>
__device__ __forceinline__ softmax_part<A> merge_warp(softmax_part<A> part) {
    const A larger = largest_of_lanes<warp_size>(part.maximum);
    const A sum = part.sum * exponential(part.maximum - softmax_base(larger));
    return {larger, reduce_lanes<warp_size>(sum, add{})};
}

// One part of the whole block's, with one barrier. All threads of the block; each gets it. partials: [block_threads /
// warp_size] in shared memory, under the rules of reduce_block.
template <int block_threads, typename A>
__device__ __forceinline__ softmax_part<A> merge_block(softmax_part<A> part, softmax_part<A> *partials) {
    constexpr int warps = block_threads / warp_size;
    part = merge_warp(part);
    if (lane_index() == 0) partials[warp_index()] = part;
    // Separates each warp's write of its part from every warp's reads of all of them.
    __syncthreads();
    return merge_warp(lane_index() < warps ? partials[lane_index()] : empty_softmax_part<A>());
}

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
        for (int i = 0; i < count; ++i) larger = larger_number{}(larger, x[i]);
        if (larger != maximum_) {  // the maximum grew: what was summed so far counts for less
            sum_.scale(exponential(maximum_ - larger));
            maximum_ = larger;
        }
        const A base = softmax_base(larger);
        A sum = 0;
#pragma unroll
        for (int i = 0; i < count; ++i) sum += exponential(x[i] - base);
        sum_.add(sum);
    }

    __device__ __forceinline__ softmax_part<A> part() const { return {maximum_, sum_.total()}; }

private:
    A maximum_ = static_cast<A>(-INFINITY);
    running_sum<A> sum_;
};

}  // namespace oprt
