// How a kernel file joins its module: one macro turns launch_<op> into a launcher over every dtype of the plan and adds
// it to the module's list. Names no vendor: stream_t and the element types come from oprt_device.h, which the kernel
// file includes. The TU that uses a macro is made by CMake (backends/launcher.cu.in, technique.cu.in) and defines what
// the build knows: OPRT_PLAN_HASH, OPRT_KERNEL_PATH and OPRT_KERNEL_SHA256.
#pragma once

#include <exception>

#include "backends/module.h"
#include "shared/layout.h"

namespace oprt {

// element_type<dtype>::type is the C++ type of a dtype's elements; defined in oprt_device.h.
template <oprt_dtype_t dtype>
struct element_type;

// Keep a failed launch for the execute that the calling thread is in; the first one of an execute counts. launch()
// calls it. call: the step that failed ("launch", "allow_dynamic_shared"); code, name, text: the vendor's error.
void record_launch_error(const char *call, int code, const char *name, const char *text);

// Before a launcher: forget older failures of this thread, refuse a device that is broken already. overlap: what
// launch_overlapping may do until the next begin_launch of this thread.
oprt_status_t begin_launch(bool overlap, module_message &message);
bool is_overlap_wanted();
// After it: what launch() recorded, else what the vendor's runtime kept of a plain <<<>>> launch.
oprt_status_t end_launch(module_message &message);
// What to answer for a plan whose dtype has no instance, and for an exception in a launcher.
oprt_status_t refuse_dtype(oprt_dtype_t dtype, module_message &message);
oprt_status_t refuse_exception(const char *what, module_message &message);

// Adds one launcher to the module's list; lives as long as the module.
class launcher_registration {
public:
    explicit launcher_registration(const launcher &added);

    const launcher entry;
    const launcher_registration *const next;
};

// Call: what OPRT_REGISTER_LAUNCHER makes; plan_type, and run<T>(plan, operands, stream) for one element type.
template <typename Call, oprt_dtype_t... dtypes>
bool run_for_dtype(dtype_list<dtypes...>, const typename Call::plan_type &plan, const operands &operands,
                   oprt_stream_t stream) {
    return ((plan.dtype == dtypes &&
             (Call::template run<typename element_type<dtypes>::type>(plan, operands, stream), true)) ||
            ...);
}

template <typename Call>
oprt_status_t run_launcher(const void *plan_pointer, const operands &operands, oprt_stream_t stream,
                           module_message &message) {
    const auto &plan = *static_cast<const typename Call::plan_type *>(plan_pointer);
    if (const oprt_status_t status = begin_launch(operands.overlap, message); status != OPRT_SUCCESS) return status;
    try {
        if (!run_for_dtype<Call>(typename Call::plan_type::dtypes{}, plan, operands, stream)) {
            return refuse_dtype(plan.dtype, message);
        }
    } catch (const std::exception &error) {
        return refuse_exception(error.what(), message);
    } catch (...) {
        return refuse_exception("unknown exception", message);
    }
    return end_launch(message);
}

}  // namespace oprt

// OPRT_REGISTER_LAUNCHER(softmax, launch_softmax) at the end of softmax_cuda.cu or softmax_metax.maca, outside any
// namespace: oprt::launch_softmax<T>(plan, buffers, stream) becomes the module's launcher of softmax.
#define OPRT_REGISTER_LAUNCHER(op, function) OPRT_REGISTER_WITH_NAME(op, "", function)

// OPRT_REGISTER_TECHNIQUE(softmax, warp, launch_softmax_warp): the same for a technique. CMake writes this line.
#define OPRT_REGISTER_TECHNIQUE(op, technique, function) OPRT_REGISTER_WITH_NAME(op, #technique, function)

// Both macros above; one use a TU.
#define OPRT_REGISTER_WITH_NAME(op, technique, function)                                                              \
    namespace {                                                                                                       \
    struct op##_call {                                                                                                \
        using plan_type = ::oprt::op##_plan;                                                                          \
        template <typename T>                                                                                         \
        static void run(const plan_type &plan, const ::oprt::operands &operands, oprt_stream_t stream) {              \
            ::oprt::function<T>(plan, ::oprt::op##_buffers<T>(operands), reinterpret_cast<::oprt::stream_t>(stream)); \
        }                                                                                                             \
    };                                                                                                                \
    const ::oprt::launcher_registration op##_registration({#op, technique, OPRT_PLAN_HASH, OPRT_KERNEL_PATH,          \
                                                           OPRT_KERNEL_SHA256, &::oprt::run_launcher<op##_call>});    \
    }
