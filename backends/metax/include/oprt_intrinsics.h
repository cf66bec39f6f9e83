// What kernels ask of MetaX's hardware by name, in plain code; included by oprt_device.h. Whether an instruction of its
// own would be faster has to be measured on a card.
#pragma once

#include <oprt_device.h>

#include <cmath>
#include <cstdint>

namespace oprt {

// 2^x.
__device__ __forceinline__ float fast_exp2(float x) { return exp2f(x); }

// The largest value of the warp, NaN left out; -inf when all are NaN. All lanes of the warp; each gets it.
__device__ __forceinline__ float warp_maximum(float value) {
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_mask, value, lanes));
    return fmaxf(value, -INFINITY);
}

// What the compiler computed from the word it has to compute again: it would rather keep every bfloat16 as a float, in
// twice the registers.
__device__ __forceinline__ void forget_conversions(uint32_t &) {}

}  // namespace oprt
