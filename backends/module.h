// What a backend module gives to the runtime. A module is one shared library for one backend and one kind of device
// (camp_ops_nvidia.so, camp_ops_nvidia_emulator.so, ...). The runtime opens it RTLD_NOW | RTLD_LOCAL and asks it for
// one table; the module never links the runtime. Everything that crosses is plain data, C strings or a pointer of the
// table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "operator_runtime/device.h"
#include "operator_runtime/probe.h"
#include "operator_runtime/types.h"

namespace oprt {

// Where a function of a module writes what went wrong: the vendor's name and text of the error and the failing call,
// or the emulator's report (several lines). Cut at the end when longer.
struct module_message {
    char text[4096];
};

// The operands of one execute, outputs first, in the order of the C call. An empty operand may be null: no launch has an empty output,
// but reduce_sum over no terms has an empty input.
struct operands {
    void *const *pointers;
    void *workspace;
    bool overlap;  // kernels that can may start before those in front of them have ended (backends/launch.h)

    template <typename T>
    T *output(int index) const {
        return static_cast<T *>(pointers[index]);
    }
    template <typename T>
    const T *input(int index) const {
        return static_cast<const T *>(pointers[index]);
    }
};

// Queue the operator on the stream of the current device (see module_table::set_device). plan is the plan struct of
// operators/<op>/<op>.h.
using launcher_function = oprt_status_t (*)(const void *plan, const operands &operands, oprt_stream_t stream,
                                            module_message &message);

struct launcher {
    const char *op;
    const char *technique;  // "" for the reference or the learner's kernel
    const char
        *plan_hash;    // SHA-256 of operators/<op>/<op>.h and operators/shared/layout.h when this launcher was compiled
    const char *path;  // absolute path of the kernel file
    const char *sha256;  // of the kernel file
    launcher_function launch;
};

// Answers of pointer_device beside the index of a device.
inline constexpr int32_t any_device = -1;
inline constexpr int32_t no_device = -2;

// One table a module, static, never freed. device is an index from 0. Functions that return oprt_status_t fill message
// on failure.
struct module_table {
    size_t table_size;
    const char *interface_hash;  // generated/interface.h; compared as text, a difference refuses the module
    const char *backend;         // "nvidia" or "metax"
    const char *device_kind;     // "gpu" or "emulator"

    // Device count; OPRT_ERR_DEVICE_UNAVAILABLE with the vendor's reason when there is no usable driver.
    oprt_status_t (*device_count)(int32_t *count, module_message &message);
    // Make device the calling thread's current device for every function below that names no device. Cheap when it is
    // current already.
    oprt_status_t (*set_device)(int32_t device, module_message &message);
    oprt_status_t (*device_properties)(int32_t device, oprt_device_properties_t *properties, module_message &message);
    oprt_status_t (*synchronize_device)(module_message &message);
    oprt_status_t (*reset_device)(module_message &message);

    oprt_status_t (*allocate)(void **pointer, size_t size_bytes, module_message &message);
    oprt_status_t (*release)(void *pointer, module_message &message);
    // owner: the index of the only device that the memory at the pointer is for; any_device for managed and registered
    // host memory; no_device for what the vendor was never told of, such as ordinary host memory.
    oprt_status_t (*pointer_device)(int32_t *owner, const void *pointer, module_message &message);
    oprt_status_t (*copy)(void *destination, const void *source, size_t size_bytes, oprt_stream_t stream,
                          module_message &message);
    oprt_status_t (*fill)(void *pointer, int32_t value, size_t size_bytes, oprt_stream_t stream,
                          module_message &message);

    oprt_status_t (*create_stream)(oprt_stream_t *stream, module_message &message);
    oprt_status_t (*destroy_stream)(oprt_stream_t stream, module_message &message);
    oprt_status_t (*synchronize_stream)(oprt_stream_t stream, module_message &message);
    oprt_status_t (*query_stream)(oprt_stream_t stream, module_message &message);
    oprt_status_t (*wait_event)(oprt_stream_t stream, oprt_event_t event, module_message &message);

    oprt_status_t (*create_event)(oprt_event_t *event, module_message &message);
    oprt_status_t (*destroy_event)(oprt_event_t event, module_message &message);
    oprt_status_t (*record_event)(oprt_event_t event, oprt_stream_t stream, module_message &message);
    oprt_status_t (*synchronize_event)(oprt_event_t event, module_message &message);
    oprt_status_t (*query_event)(oprt_event_t event, module_message &message);
    oprt_status_t (*elapsed_time)(float *time_ms, oprt_event_t start, oprt_event_t stop, module_message &message);

    oprt_status_t (*begin_capture)(oprt_stream_t stream, module_message &message);
    oprt_status_t (*end_capture)(oprt_graph_t *graph, oprt_stream_t stream, module_message &message);
    oprt_status_t (*launch_graph)(oprt_graph_t graph, oprt_stream_t stream, module_message &message);
    oprt_status_t (*destroy_graph)(oprt_graph_t graph, module_message &message);

    // See operator_runtime/probe.h. Arguments are right: a probe that exists, a variant below its count.
    oprt_status_t (*probe_variant_count)(int32_t *count, oprt_probe_t probe, module_message &message);
    oprt_status_t (*run_probe)(oprt_probe_t probe, int32_t variant, void *destination, const void *source,
                               size_t size_bytes, oprt_stream_t stream, module_message &message);
    oprt_status_t (*measure_launches)(double *samples_us, int32_t samples, int32_t burst, oprt_stream_t stream,
                                      module_message &message);

    // Launchers in a stable order (operator, then technique). Null past the end.
    const launcher *(*launcher_at)(int32_t index);
};

}  // namespace oprt

// The one symbol that a module exports.
extern "C" __attribute__((visibility("default"))) const oprt::module_table *oprt_get_module(void);
