// relu: names and the parameter; checks and plan are the elementwise framework's. Specification:
// operator_runtime/ops/relu.h.
#include "elementwise/relu/relu.h"

#include "elementwise/elementwise_descriptor.h"
#include "operator_runtime/ops/relu.h"
#include "plan_hash/relu.h"

namespace oprt {
namespace {

constexpr operator_definition relu{"relu", OPRT_PLAN_HASH, 1, true};

}  // namespace
}  // namespace oprt

extern "C" oprt_status_t oprt_create_relu_descriptor(oprt_descriptor_t *descriptor, const oprt_tensor_t *y,
                                                     const oprt_tensor_t *x, double slope) {
    return oprt::create_elementwise_descriptor<oprt::relu_plan>(oprt::relu, descriptor, {{"y", y}, {"x", x}}, {slope});
}

extern "C" oprt_status_t oprt_get_relu_workspace_size(oprt_descriptor_t descriptor, size_t *size_bytes) {
    return oprt::get_workspace_size(oprt::relu, descriptor, size_bytes);
}

extern "C" oprt_status_t oprt_execute_relu(oprt_descriptor_t descriptor, void *workspace, size_t workspace_size_bytes,
                                           void *y, const void *x, oprt_stream_t stream) {
    return oprt::execute_descriptor(oprt::relu, descriptor, {workspace, workspace_size_bytes}, {y, x}, stream);
}

extern "C" oprt_status_t oprt_destroy_relu_descriptor(oprt_descriptor_t descriptor) {
    return oprt::destroy_descriptor(oprt::relu, descriptor);
}
