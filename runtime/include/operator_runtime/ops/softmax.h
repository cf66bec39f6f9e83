/*
 * softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) along one axis.
 */
#ifndef OPERATOR_RUNTIME_OPS_SOFTMAX_H
#define OPERATOR_RUNTIME_OPS_SOFTMAX_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plan the softmax of x along axis (-ndim to ndim - 1) in float16, bfloat16, float32 or float64; y and x have one shape and dtype.
 * The maximum is subtracted first, so finite rows never overflow; sums are kept in float32 (float64 for float64) and rounded once.
 * A row that holds NaN or +inf, or only -inf, gives NaN in all its elements, as in PyTorch. -inf beside finite values gives 0.
 * A scalar (ndim 0) has no axis and is refused.
 * OPRT_ERR_INVALID_ARGUMENT: null tensor, rank, shape, stride or size out of range (the product of the non-zero extents must fit
 * in 63 bits), y with overlapping elements (stride 0 or interleaved, extent > 1). OPRT_ERR_UNSUPPORTED_DTYPE.
 * OPRT_ERR_INVALID_ARGUMENT also: axis out of range.
 */
OPRT_API oprt_status_t oprt_create_softmax_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                      const oprt_tensor_t *x, int32_t axis);

/** Bytes of workspace that oprt_execute_softmax needs; 0 when it needs none. OPRT_ERR_INVALID_HANDLE: not a living softmax descriptor. */
OPRT_API oprt_status_t oprt_get_softmax_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes);

/**
 * Queue the softmax on the stream. y may be exactly x (same pointer, same strides); any other overlap is refused.
 * Allocates nothing, waits for nothing and can be captured in a graph. Legal from several threads at once with distinct
 * workspaces and outputs. Buffers must stay valid until the stream has passed.
 *
 * workspace: device memory of at least oprt_get_softmax_workspace_size bytes, aligned to 256; null when that size is 0. Disjoint from the operands.
 * Pointers: device memory of the descriptor's device, aligned to the element, each view inside its allocation where that is known;
 * null only for the operand that is itself empty.
 *
 * OPRT_ERR_INVALID_HANDLE: not a living softmax descriptor. OPRT_ERR_INVALID_ARGUMENT: null, misaligned, overlapping or foreign
 * pointer. OPRT_ERR_INSUFFICIENT_WORKSPACE. OPRT_ERR_LAUNCH_FAILED. OPRT_ERR_KERNEL_FAULT: the device broke before.
 */
OPRT_API oprt_status_t oprt_execute_softmax(oprt_descriptor_t descriptor, void *workspace, size_t workspace_size_bytes,
                                            void *y, const void *x, oprt_stream_t stream);

/** Free the descriptor; work already queued completes. Null succeeds. OPRT_ERR_INVALID_HANDLE: destroyed before, or not of softmax. */
OPRT_API oprt_status_t oprt_destroy_softmax_descriptor(oprt_descriptor_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
