/*
 * reduce_sum: y = sum of x over one axis, several or all.
 */
#ifndef OPERATOR_RUNTIME_OPS_REDUCE_SUM_H
#define OPERATOR_RUNTIME_OPS_REDUCE_SUM_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plan the sum of x over axes[0 .. axis_count - 1] (each -ndim to ndim - 1, no axis twice) in float16, bfloat16, float32 or float64; one dtype.
 * axis_count -1 sums over all axes (axes is not read); axis_count 0 sums over none: y = x.
 * y has the shape of x with the summed axes removed, or kept with extent 1; both are accepted. An empty sum is 0.
 * Sums are kept in float32 (float64 for float64) and rounded once. Error bound for n terms: about ceil(log2(n)) + 16 roundings of
 * sum(|x|) in the accumulator, plus one rounding to the dtype; the order of summation is not specified but the same for equal shapes.
 * OPRT_ERR_INVALID_ARGUMENT: null tensor, rank, shape, stride or size out of range (the product of the non-zero extents must fit
 * in 63 bits), y with overlapping elements (stride 0 or interleaved, extent > 1). OPRT_ERR_UNSUPPORTED_DTYPE.
 * OPRT_ERR_INVALID_ARGUMENT also: axis out of range or given twice, axis_count below -1.
 */
OPRT_API oprt_status_t oprt_create_reduce_sum_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                         const oprt_tensor_t *x, const int32_t *axes,
                                                         int32_t axis_count);

/** Bytes of workspace that oprt_execute_reduce_sum needs; 0 when it needs none. OPRT_ERR_INVALID_HANDLE: not a living reduce_sum descriptor. */
OPRT_API oprt_status_t oprt_get_reduce_sum_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes);

/**
 * Queue the sum on the stream. y must not overlap x.
 * Allocates nothing, waits for nothing and can be captured in a graph. Legal from several threads at once with distinct
 * workspaces and outputs. Buffers must stay valid until the stream has passed.
 *
 * workspace: device memory of at least oprt_get_reduce_sum_workspace_size bytes, aligned to 256; null when that size is 0. Disjoint from the operands.
 * Pointers: device memory of the descriptor's device, aligned to the element, each view inside its allocation where that is known;
 * null only for the operand that is itself empty.
 *
 * OPRT_ERR_INVALID_HANDLE: not a living reduce_sum descriptor. OPRT_ERR_INVALID_ARGUMENT: null, misaligned, overlapping or foreign
 * pointer. OPRT_ERR_INSUFFICIENT_WORKSPACE. OPRT_ERR_LAUNCH_FAILED. OPRT_ERR_KERNEL_FAULT: the device broke before.
 */
OPRT_API oprt_status_t oprt_execute_reduce_sum(oprt_descriptor_t descriptor, void *workspace,
                                               size_t workspace_size_bytes, void *y, const void *x,
                                               oprt_stream_t stream);

/** Free the descriptor; work already queued completes. Null succeeds. OPRT_ERR_INVALID_HANDLE: destroyed before, or not of reduce_sum. */
OPRT_API oprt_status_t oprt_destroy_reduce_sum_descriptor(oprt_descriptor_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
