// copy: checks and plan. Specification: operator_runtime/ops/copy.h. Kernels: nvidia/, metax/.
#include "copy/copy.h"

#include "operator_runtime/ops/copy.h"
#include "plan_hash/copy.h"
#include "runtime/src/descriptor.h"

namespace oprt {
namespace {

constexpr operator_definition copy{"copy", OPRT_PLAN_HASH, 1, true};

// Only the size of an element matters: kernels exist for the BITS dtypes.
template <oprt_dtype_t... dtypes>
oprt_dtype_t bits_of_same_size(oprt_dtype_t dtype, dtype_list<dtypes...>) {
    oprt_dtype_t found = dtype;
    (void)(... || (dtype_size_bytes(dtypes) == dtype_size_bytes(dtype) && (found = dtypes, true)));
    return found;
}

copy_plan plan_copy(const operand &y, const operand &x) {
    require_same_dtype(y, x);
    require_same_shape(y, x);
    return {bits_of_same_size(y.dtype, copy_plan::dtypes{}), make_layout<2>({&y, &x})};
}

}  // namespace
}  // namespace oprt

extern "C" oprt_status_t oprt_create_copy_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                     const oprt_tensor_t *x) {
    return oprt::create_descriptor(oprt::copy, descriptor, {{"y", y}, {"x", x}}, oprt::plan_copy);
}

extern "C" oprt_status_t oprt_get_copy_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes) {
    return oprt::get_workspace_size(oprt::copy, descriptor, size_bytes);
}

extern "C" oprt_status_t oprt_execute_copy(oprt_descriptor_t descriptor, void *workspace, size_t workspace_size_bytes,
                                           void *y, const void *x, oprt_stream_t stream) {
    return oprt::execute_descriptor(oprt::copy, descriptor, {workspace, workspace_size_bytes}, {y, x}, stream);
}

extern "C" oprt_status_t oprt_destroy_copy_descriptor(oprt_descriptor_t descriptor) {
    return oprt::destroy_descriptor(oprt::copy, descriptor);
}
