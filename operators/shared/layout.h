// Canonical layout of several operands that are indexed together: what descriptors compute once and kernels read.
// Plain C++ without any vendor name; usable on host and device. runtime/src/tensor.h makes layouts from oprt_tensor_t.
#pragma once

#include <cstdint>

#include "operator_runtime/types.h"

namespace oprt {

// Operands of one shape (broadcast already resolved to stride 0), reduced to its simplest form: dimensions of extent 1 removed, neighbours
// that can be walked as one merged, ordered so that operand 0 (the output) has its largest stride first. A scalar has ndim 0.
template <int operand_count>
struct layout {
    int64_t elements;  // product of shape; 0 when empty
    int32_t ndim;      // 0 to OPRT_MAX_DIMS
    int32_t
        dense;  // 1 when each operand is the plain array of its elements: ndim is 0, or ndim is 1 and every stride is 1
    int64_t shape[OPRT_MAX_DIMS];
    int64_t strides[operand_count][OPRT_MAX_DIMS];  // in elements, any sign
};

// A dtype's number of bytes; 0 for a value that is no dtype.
constexpr int64_t dtype_size_bytes(oprt_dtype_t dtype) {
    switch (dtype) {
        case OPRT_DTYPE_BITS8: return 1;
        case OPRT_DTYPE_FLOAT16:
        case OPRT_DTYPE_BFLOAT16:
        case OPRT_DTYPE_BITS16: return 2;
        case OPRT_DTYPE_FLOAT32:
        case OPRT_DTYPE_BITS32: return 4;
        case OPRT_DTYPE_FLOAT64:
        case OPRT_DTYPE_BITS64: return 8;
        case OPRT_DTYPE_BITS128: return 16;
    }
    return 0;
}

// A compile-time list of dtypes: which instances of a launcher exist.
template <oprt_dtype_t... dtypes>
struct dtype_list {};

using floating_dtypes = dtype_list<OPRT_DTYPE_FLOAT16, OPRT_DTYPE_BFLOAT16, OPRT_DTYPE_FLOAT32, OPRT_DTYPE_FLOAT64>;
using bits_dtypes =
    dtype_list<OPRT_DTYPE_BITS8, OPRT_DTYPE_BITS16, OPRT_DTYPE_BITS32, OPRT_DTYPE_BITS64, OPRT_DTYPE_BITS128>;

}  // namespace oprt
