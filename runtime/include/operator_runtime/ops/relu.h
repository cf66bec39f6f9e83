/*
 * relu: y = x where x > 0, else slope * x (leaky when slope is not 0).
 */
#ifndef OPERATOR_RUNTIME_OPS_RELU_H
#define OPERATOR_RUNTIME_OPS_RELU_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plan y[i] = x[i] > 0 ? x[i] : slope * x[i] in float16, bfloat16, float32 or float64.
 * x broadcasts to the shape of y as in NumPy. With slope 0 (or -0.0) NaN stays NaN and every other x that is not above 0 gives +0.0.
 * Any other slope (negative, infinite, NaN) is the formula as written; NaN stays NaN. 16-bit types compute in float32, rounded once.
 * slope is first rounded to the type of the arithmetic (float32, or float64 for float64): 1e-60 counts as 0 in float32.
 * OPRT_ERR_INVALID_ARGUMENT: null tensor, rank, shape, stride or size out of range (the product of the non-zero extents must fit
 * in 63 bits), y with overlapping elements (stride 0 or interleaved, extent > 1). OPRT_ERR_UNSUPPORTED_DTYPE.
 */
OPRT_API oprt_status_t oprt_create_relu_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                   const oprt_tensor_t *x, double slope);

/** Bytes of workspace that oprt_execute_relu needs; 0 when it needs none. OPRT_ERR_INVALID_HANDLE: not a living relu descriptor. */
OPRT_API oprt_status_t oprt_get_relu_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes);

/**
 * Queue the operator on the stream. y may be exactly x (same pointer, same strides); any other overlap is refused.
 * Allocates nothing, waits for nothing and can be captured in a graph. Legal from several threads at once with distinct
 * workspaces and outputs. Buffers must stay valid until the stream has passed.
 *
 * workspace: device memory of at least oprt_get_relu_workspace_size bytes, aligned to 256; null when that size is 0. Disjoint from the operands.
 * Pointers: device memory of the descriptor's device, aligned to the element, each view inside its allocation where that is known;
 * null only for the operand that is itself empty.
 *
 * OPRT_ERR_INVALID_HANDLE: not a living relu descriptor. OPRT_ERR_INVALID_ARGUMENT: null, misaligned, overlapping or foreign
 * pointer. OPRT_ERR_INSUFFICIENT_WORKSPACE. OPRT_ERR_LAUNCH_FAILED. OPRT_ERR_KERNEL_FAULT: the device broke before.
 */
OPRT_API oprt_status_t oprt_execute_relu(oprt_descriptor_t descriptor, void *workspace, size_t workspace_size_bytes,
                                         void *y, const void *x, oprt_stream_t stream);

/** Free the descriptor; work already queued completes. Null succeeds. OPRT_ERR_INVALID_HANDLE: destroyed before, or not of relu. */
OPRT_API oprt_status_t oprt_destroy_relu_descriptor(oprt_descriptor_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
