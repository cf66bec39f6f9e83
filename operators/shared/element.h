// Element types of kernels: from a dtype to its C++ type, and from an element to the type that sums are kept in and
// back. Included by oprt_device.h, which names half_t and bfloat16_t.
#pragma once

#include <oprt_device.h>

#include <cstdint>

#include "operator_runtime/types.h"

namespace oprt {

// 16 opaque bytes; copied as one access.
struct alignas(16) bits128_t {
    uint64_t low;
    uint64_t high;
};

template <oprt_dtype_t dtype>
struct element_type;
template <>
struct element_type<OPRT_DTYPE_FLOAT16> {
    using type = half_t;
};
template <>
struct element_type<OPRT_DTYPE_BFLOAT16> {
    using type = bfloat16_t;
};
template <>
struct element_type<OPRT_DTYPE_FLOAT32> {
    using type = float;
};
template <>
struct element_type<OPRT_DTYPE_FLOAT64> {
    using type = double;
};
template <>
struct element_type<OPRT_DTYPE_BITS8> {
    using type = uint8_t;
};
template <>
struct element_type<OPRT_DTYPE_BITS16> {
    using type = uint16_t;
};
template <>
struct element_type<OPRT_DTYPE_BITS32> {
    using type = uint32_t;
};
template <>
struct element_type<OPRT_DTYPE_BITS64> {
    using type = uint64_t;
};
template <>
struct element_type<OPRT_DTYPE_BITS128> {
    using type = bits128_t;
};

template <typename T>
struct accumulate_type {
    using type = float;
};
template <>
struct accumulate_type<double> {
    using type = double;
};

// The type that arithmetic on T is done in: float, and double for double.
template <typename T>
using accumulate_t = typename accumulate_type<T>::type;

__device__ __forceinline__ float to_accumulate(half_t value) { return __half2float(value); }
__device__ __forceinline__ float to_accumulate(bfloat16_t value) { return __bfloat162float(value); }
__device__ __forceinline__ float to_accumulate(float value) { return value; }
__device__ __forceinline__ double to_accumulate(double value) { return value; }

// Rounds to nearest, ties to even.
template <typename T>
__device__ __forceinline__ T from_accumulate(accumulate_t<T> value) {
    return value;
}
template <>
__device__ __forceinline__ half_t from_accumulate<half_t>(float value) {
    return __float2half(value);
}
template <>
__device__ __forceinline__ bfloat16_t from_accumulate<bfloat16_t>(float value) {
    return __float2bfloat16(value);
}

}  // namespace oprt
