// softmax: checks and plan. Specification: operator_runtime/ops/softmax.h. Kernels: nvidia/, metax/.
#include "softmax/softmax.h"

#include "operator_runtime/ops/softmax.h"
#include "plan_hash/softmax.h"
#include "runtime/src/descriptor.h"

namespace oprt {
namespace {

constexpr operator_definition softmax{"softmax", OPRT_PLAN_HASH, 1, true};

softmax_plan plan_softmax(const operand &y, const operand &x, int32_t axis) {
    require_dtype(x, softmax_plan::dtypes{});
    require_same_dtype(y, x);
    require_same_shape(y, x);
    const int32_t along = require_axis(softmax.name, axis, x.ndim);

    softmax_plan plan{};
    plan.dtype = x.dtype;
    plan.outer = make_layout<2>({&y, &x}, all_dimensions & ~dimension(along));
    plan.rows = plan.outer.elements;
    plan.columns = x.shape[along];
    plan.y_column_stride = y.strides[along];
    plan.x_column_stride = x.strides[along];
    return plan;
}

}  // namespace
}  // namespace oprt

extern "C" oprt_status_t oprt_create_softmax_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                        const oprt_tensor_t *x, int32_t axis) {
    return oprt::create_descriptor(
        oprt::softmax, descriptor, {{"y", y}, {"x", x}},
        [axis](const oprt::operand &output, const oprt::operand &input) {
            return oprt::plan_softmax(output, input, axis);
        },
        oprt::softmax_workspace_size_bytes);
}

extern "C" oprt_status_t oprt_get_softmax_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes) {
    return oprt::get_workspace_size(oprt::softmax, descriptor, size_bytes);
}

extern "C" oprt_status_t oprt_execute_softmax(oprt_descriptor_t descriptor, void *workspace,
                                              size_t workspace_size_bytes, void *y, const void *x,
                                              oprt_stream_t stream) {
    return oprt::execute_descriptor(oprt::softmax, descriptor, {workspace, workspace_size_bytes}, {y, x}, stream);
}

extern "C" oprt_status_t oprt_destroy_softmax_descriptor(oprt_descriptor_t descriptor) {
    return oprt::destroy_descriptor(oprt::softmax, descriptor);
}
