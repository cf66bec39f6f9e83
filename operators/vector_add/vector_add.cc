// vector_add: checks and plan. Specification: operator_runtime/ops/vector_add.h. Kernels: nvidia/, metax/.
#include "vector_add/vector_add.h"

#include "operator_runtime/ops/vector_add.h"
#include "plan_hash/vector_add.h"
#include "runtime/src/descriptor.h"

namespace oprt {
namespace {

constexpr operator_definition vector_add{"vector_add", OPRT_PLAN_HASH, 1, true};

vector_add_plan plan_vector_add(const operand &y, const operand &a, const operand &b) {
    require_dtype(y, vector_add_plan::dtypes{});
    require_same_dtype(a, y);
    require_same_dtype(b, y);
    const operand repeated_a = broadcast(a, y);
    const operand repeated_b = broadcast(b, y);
    return {y.dtype, make_layout<3>({&y, &repeated_a, &repeated_b})};
}

}  // namespace
}  // namespace oprt

extern "C" oprt_status_t oprt_create_vector_add_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                           const oprt_tensor_t *a, const oprt_tensor_t *b) {
    return oprt::create_descriptor(oprt::vector_add, descriptor, {{"y", y}, {"a", a}, {"b", b}}, oprt::plan_vector_add);
}

extern "C" oprt_status_t oprt_get_vector_add_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes) {
    return oprt::get_workspace_size(oprt::vector_add, descriptor, size_bytes);
}

extern "C" oprt_status_t oprt_execute_vector_add(oprt_descriptor_t descriptor, void *workspace,
                                                 size_t workspace_size_bytes, void *y, const void *a, const void *b,
                                                 oprt_stream_t stream) {
    return oprt::execute_descriptor(oprt::vector_add, descriptor, {workspace, workspace_size_bytes}, {y, a, b}, stream);
}

extern "C" oprt_status_t oprt_destroy_vector_add_descriptor(oprt_descriptor_t descriptor) {
    return oprt::destroy_descriptor(oprt::vector_add, descriptor);
}
