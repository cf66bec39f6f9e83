/*
 * copy: y = x, bit for bit, between tensors of any strides.
 */
#ifndef OPERATOR_RUNTIME_OPS_COPY_H
#define OPERATOR_RUNTIME_OPS_COPY_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plan y = x. Shapes and dtypes of y and x must be equal; every dtype is taken, BITS types included.
 * x may have any strides (negative: reversed, 0: broadcast). Reading and writing the very same view is allowed.
 * OPRT_ERR_INVALID_ARGUMENT: null tensor, rank, shape, stride or size out of range (the product of the non-zero extents must fit
 * in 63 bits), y with overlapping elements (stride 0 or interleaved, extent > 1). OPRT_ERR_UNSUPPORTED_DTYPE.
 */
OPRT_API oprt_status_t oprt_create_copy_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                   const oprt_tensor_t *x);

/** Bytes of workspace that oprt_execute_copy needs; 0 when it needs none. OPRT_ERR_INVALID_HANDLE: not a living copy descriptor. */
OPRT_API oprt_status_t oprt_get_copy_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes);

/**
 * Queue y = x on the stream. y may be exactly x (same pointer, same strides); any other overlap is refused.
 * Allocates nothing, waits for nothing and can be captured in a graph. Legal from several threads at once with distinct
 * workspaces and outputs. Buffers must stay valid until the stream has passed.
 *
 * workspace: device memory of at least oprt_get_copy_workspace_size bytes, aligned to 256; null when that size is 0. Disjoint from the operands.
 * Pointers: device memory of the descriptor's device, aligned to the element, each view inside its allocation where that is known;
 * null only for the operand that is itself empty.
 *
 * OPRT_ERR_INVALID_HANDLE: not a living copy descriptor. OPRT_ERR_INVALID_ARGUMENT: null, misaligned, overlapping or foreign
 * pointer. OPRT_ERR_INSUFFICIENT_WORKSPACE. OPRT_ERR_LAUNCH_FAILED. OPRT_ERR_KERNEL_FAULT: the device broke before.
 */
OPRT_API oprt_status_t oprt_execute_copy(oprt_descriptor_t descriptor, void *workspace, size_t workspace_size_bytes,
                                         void *y, const void *x, oprt_stream_t stream);

/** Free the descriptor; work already queued completes. Null succeeds. OPRT_ERR_INVALID_HANDLE: destroyed before, or not of copy. */
OPRT_API oprt_status_t oprt_destroy_copy_descriptor(oprt_descriptor_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
