// reduce_sum: checks and plan. Specification: operator_runtime/ops/reduce_sum.h. Kernels: nvidia/, metax/.
#include "reduce_sum/reduce_sum.h"

#include "operator_runtime/ops/reduce_sum.h"
#include "plan_hash/reduce_sum.h"
#include "runtime/src/descriptor.h"

namespace oprt {
namespace {

constexpr operator_definition reduce_sum{"reduce_sum", OPRT_PLAN_HASH, 1, false};

// axes[0 .. count - 1] as a set; count -1 means all.
dimension_set summed_dimensions(const operand &x, const int32_t *axes, int32_t count) {
    if (count == -1) return all_dimensions;
    if (count < -1)
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: axis_count is %d, wanted -1 (all axes) or more", reduce_sum.name, count);
    if (count > 0 && axes == nullptr)
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: axes is null with axis_count %d", reduce_sum.name, count);
    dimension_set summed = 0;
    for (int32_t i = 0; i < count; ++i) {
        const dimension_set named = dimension(require_axis(reduce_sum.name, axes[i], x.ndim));
        if ((summed & named) != 0)
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: axis %d is given twice", reduce_sum.name, axes[i]);
        summed |= named;
    }
    return summed;
}

// y with one dimension for each of x: summed ones have extent 1. y itself may have them or not.
operand aligned_output(const operand &y, const operand &x, dimension_set summed) {
    operand kept = y;
    operand removed = y;
    kept.ndim = x.ndim;
    removed.ndim = 0;
    int32_t next = 0;  // dimension of a y that leaves out the summed ones
    for (int32_t d = 0; d < x.ndim; ++d) {
        const bool is_summed = (summed & dimension(d)) != 0;
        kept.shape[d] = is_summed ? 1 : x.shape[d];
        kept.strides[d] = is_summed ? 0 : y.strides[y.ndim == x.ndim ? d : next];
        if (is_summed) continue;
        removed.shape[removed.ndim++] = x.shape[d];
        ++next;
    }
    if (has_shape_of(y, kept) || has_shape_of(y, removed)) return kept;
    fail(OPRT_ERR_INVALID_ARGUMENT, "%s: y has shape %s, wanted %s or %s", reduce_sum.name, shape_text(y).c_str(),
         shape_text(removed).c_str(), shape_text(kept).c_str());
}

reduce_sum_plan plan_reduce_sum(const operand &y, const operand &x, const int32_t *axes, int32_t axis_count) {
    require_dtype(x, reduce_sum_plan::dtypes{});
    require_same_dtype(y, x);
    const dimension_set summed = summed_dimensions(x, axes, axis_count);
    const operand aligned_y = aligned_output(y, x, summed);

    reduce_sum_plan plan{};
    plan.dtype = x.dtype;
    plan.outer = make_layout<2>({&aligned_y, &x}, ~summed);
    plan.inner = make_layout<1>({&x}, summed);
    plan.rows = plan.outer.elements;
    plan.columns = plan.inner.elements;
    return plan;
}

}  // namespace
}  // namespace oprt

extern "C" oprt_status_t oprt_create_reduce_sum_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                           const oprt_tensor_t *x, const int32_t *axes,
                                                           int32_t axis_count) {
    return oprt::create_descriptor(
        oprt::reduce_sum, descriptor, {{"y", y}, {"x", x}},
        [=](const oprt::operand &output, const oprt::operand &input) {
            return oprt::plan_reduce_sum(output, input, axes, axis_count);
        },
        oprt::reduce_sum_workspace_size_bytes);
}

extern "C" oprt_status_t oprt_get_reduce_sum_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes) {
    return oprt::get_workspace_size(oprt::reduce_sum, descriptor, size_bytes);
}

extern "C" oprt_status_t oprt_execute_reduce_sum(oprt_descriptor_t descriptor, void *workspace,
                                                 size_t workspace_size_bytes, void *y, const void *x,
                                                 oprt_stream_t stream) {
    return oprt::execute_descriptor(oprt::reduce_sum, descriptor, {workspace, workspace_size_bytes}, {y, x}, stream);
}

extern "C" oprt_status_t oprt_destroy_reduce_sum_descriptor(oprt_descriptor_t descriptor) {
    return oprt::destroy_descriptor(oprt::reduce_sum, descriptor);
}
