/*
 * vector_add: y = a + b, elementwise.
 */
#ifndef OPERATOR_RUNTIME_OPS_VECTOR_ADD_H
#define OPERATOR_RUNTIME_OPS_VECTOR_ADD_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plan y = a + b in float16, bfloat16, float32 or float64; one dtype for all three.
 * a and b broadcast to the shape of y as in NumPy (a missing or size-1 dimension is repeated). float16 and bfloat16 are added in float32 and
 * rounded once. Subnormal numbers are kept on NVIDIA and on the emulator; MetaX hardware flushes float32 subnormals by default.
 * OPRT_ERR_INVALID_ARGUMENT: null tensor, rank, shape, stride or size out of range (the product of the non-zero extents must fit
 * in 63 bits), y with overlapping elements (stride 0 or interleaved, extent > 1). OPRT_ERR_UNSUPPORTED_DTYPE.
 */
OPRT_API oprt_status_t oprt_create_vector_add_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                         const oprt_tensor_t *a, const oprt_tensor_t *b);

/** Bytes of workspace that oprt_execute_vector_add needs; 0 when it needs none. OPRT_ERR_INVALID_HANDLE: not a living vector_add descriptor. */
OPRT_API oprt_status_t oprt_get_vector_add_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes);

/**
 * Queue y = a + b on the stream. y may be exactly a or exactly b (same pointer, shape and strides); any other overlap is refused. a and b may overlap.
 * Allocates nothing, waits for nothing and can be captured in a graph. Legal from several threads at once with distinct
 * workspaces and outputs. Buffers must stay valid until the stream has passed.
 *
 * workspace: device memory of at least oprt_get_vector_add_workspace_size bytes, aligned to 256; null when that size is 0. Disjoint from the operands.
 * Pointers: device memory of the descriptor's device, aligned to the element, each view inside its allocation where that is known;
 * null only for the operand that is itself empty.
 *
 * OPRT_ERR_INVALID_HANDLE: not a living vector_add descriptor. OPRT_ERR_INVALID_ARGUMENT: null, misaligned, overlapping or foreign
 * pointer. OPRT_ERR_INSUFFICIENT_WORKSPACE. OPRT_ERR_LAUNCH_FAILED. OPRT_ERR_KERNEL_FAULT: the device broke before.
 */
OPRT_API oprt_status_t oprt_execute_vector_add(oprt_descriptor_t descriptor, void *workspace,
                                               size_t workspace_size_bytes, void *y, const void *a, const void *b,
                                               oprt_stream_t stream);

/** Free the descriptor; work already queued completes. Null succeeds. OPRT_ERR_INVALID_HANDLE: destroyed before, or not of vector_add. */
OPRT_API oprt_status_t oprt_destroy_vector_add_descriptor(oprt_descriptor_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
