// The module table over a vendor's runtime: memory, streams, events, graphs and the list of launchers. Compiled once
// for each module (CUDA, MACA, or either's stand-in on the emulator) through OPRT_VENDOR of oprt_vendor.h, so that no
// backend has its own copy. Leaves validation, handles and ownership to runtime/src, kernels to probes.cc and the
// operators; here a call is made, its error is translated and then cleared.
#include <oprt_vendor.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <vector>

#include "backends/launcher_registry.h"
#include "backends/module.h"
#include "backends/probes.h"
#include "interface.h"

#define OPRT_TEXT_OF(...) #__VA_ARGS__
#define OPRT_TEXT(...) OPRT_TEXT_OF(__VA_ARGS__)

// OPRT_CALL(message, Malloc)(&pointer, size): the vendor's function of that name, its failure as status and message.
#define OPRT_CALL(message, name) \
    [&](auto... arguments) { return translate(OPRT_VENDOR(name)(arguments...), OPRT_TEXT(OPRT_VENDOR(name)), message); }

namespace oprt {
namespace {

using error_t = OPRT_VENDOR(Error_t);
using native_stream = OPRT_VENDOR(Stream_t);
using native_event = OPRT_VENDOR(Event_t);
using native_graph = OPRT_VENDOR(GraphExec_t);

native_stream native(oprt_stream_t stream) { return reinterpret_cast<native_stream>(stream); }
native_event native(oprt_event_t event) { return reinterpret_cast<native_event>(event); }
native_graph native(oprt_graph_t graph) { return reinterpret_cast<native_graph>(graph); }

__attribute__((format(printf, 2, 3))) void write_message(module_message &message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.text, sizeof message.text, format, arguments);
    va_end(arguments);
}

// Both vendors give these errors the same numbers (MACA took CUDA's); names of the rarer ones are not known for both.
oprt_status_t status_of(int code) {
    switch (code) {
        case 0: return OPRT_SUCCESS;
        case 1:    // InvalidValue
        case 16:   // InvalidHostPointer
        case 17:   // InvalidDevicePointer
        case 21:   // InvalidMemcpyDirection
        case 400:  // InvalidResourceHandle
            return OPRT_ERR_INVALID_ARGUMENT;
        case 2: return OPRT_ERR_OUT_OF_MEMORY;  // MemoryAllocation
        case 3:                                 // InitializationError
        case 35:                                // InsufficientDriver
        case 46:                                // DevicesUnavailable
        case 100:                               // NoDevice
        case 101:                               // InvalidDevice
        case 802:                               // SystemNotReady
        case 803:                               // SystemDriverMismatch
        case 804:                               // CompatNotSupportedOnDevice
            return OPRT_ERR_DEVICE_UNAVAILABLE;
        case 214:  // ECCUncorrectable
        case 700:  // IllegalAddress
        case 702:  // LaunchTimeout
        case 710:  // Assert
        case 714:  // HardwareStackError
        case 715:  // IllegalInstruction
        case 716:  // MisalignedAddress
        case 717:  // InvalidAddressSpace
        case 718:  // InvalidPc
        case 719:  // LaunchFailure
            return OPRT_ERR_KERNEL_FAULT;
        case 600: return OPRT_ERR_NOT_READY;  // NotReady
        case 801: return OPRT_ERR_NOT_SUPPORTED;
        default: return OPRT_ERR_RUNTIME;
    }
}

// The vendor keeps the last error for GetLastError: it is taken away here, so that a later launch is not blamed for it.
oprt_status_t translate(error_t error, const char *call, module_message &message) {
    if (error == OPRT_VENDOR(Success)) return OPRT_SUCCESS;
    const oprt_status_t status = status_of(static_cast<int>(error));
    if (status != OPRT_ERR_NOT_READY) {
        write_message(message, "%s failed: %s (%d): %s", call, OPRT_VENDOR(GetErrorName)(error),
                      static_cast<int>(error), OPRT_VENDOR(GetErrorString)(error));
    }
    static_cast<void>(OPRT_VENDOR(GetLastError)());
    return status;
}

// Devices.

oprt_status_t device_count(int32_t *count, module_message &message) {
    int found = 0;
    const oprt_status_t status = OPRT_CALL(message, GetDeviceCount)(&found);
    *count = status == OPRT_SUCCESS ? found : 0;
    return status;
}

// GetDevice reads a thread-local of the vendor's runtime; a copy of our own would miss a SetDevice by another library.
oprt_status_t set_device(int32_t device, module_message &message) {
    int current = -1;
    if (const oprt_status_t status = OPRT_CALL(message, GetDevice)(&current); status != OPRT_SUCCESS) return status;
    if (current == device) return OPRT_SUCCESS;
    return OPRT_CALL(message, SetDevice)(device);
}

oprt_status_t device_properties(int32_t device, oprt_device_properties_t *properties, module_message &message) {
    vendor::device_properties native_properties{};
    const oprt_status_t status = OPRT_CALL(message, GetDeviceProperties)(&native_properties, device);
    if (status != OPRT_SUCCESS) return status;
    snprintf(properties->name, sizeof properties->name, "%s", native_properties.name);
    properties->warp_size = native_properties.warpSize;
    properties->multiprocessor_count = native_properties.multiProcessorCount;
    properties->max_threads_per_block = native_properties.maxThreadsPerBlock;
    properties->compute_capability_major = native_properties.major;
    properties->compute_capability_minor = native_properties.minor;
    properties->shared_memory_per_block_bytes = vendor::shared_memory_per_block_bytes(native_properties);
    properties->l2_cache_bytes = native_properties.l2CacheSize;
    properties->total_memory_bytes = static_cast<int64_t>(native_properties.totalGlobalMem);
    return OPRT_SUCCESS;
}

oprt_status_t synchronize_device(module_message &message) { return OPRT_CALL(message, DeviceSynchronize)(); }

oprt_status_t reset_device(module_message &message) {
#if defined(OPRT_EMULATOR)
    return OPRT_CALL(message, DeviceReset)();
#else
    write_message(message, "a %s gpu cannot be reset without losing its memory: a fault ends with the process",
                  vendor::backend_name);
    return OPRT_ERR_NOT_SUPPORTED;
#endif
}

// Memory.

oprt_status_t allocate(void **pointer, size_t size_bytes, module_message &message) {
    *pointer = nullptr;
    return OPRT_CALL(message, Malloc)(pointer, size_bytes);
}

oprt_status_t release(void *pointer, module_message &message) { return OPRT_CALL(message, Free)(pointer); }

oprt_status_t pointer_device(int32_t *owner, const void *pointer, module_message &message) {
    *owner = no_device;
    vendor::pointer_attributes attributes{};
    const error_t error = OPRT_VENDOR(PointerGetAttributes)(&attributes, pointer);
    if (error ==
        OPRT_VENDOR(ErrorInvalidValue)) {  // older runtimes' answer for host memory that they were never told of
        static_cast<void>(OPRT_VENDOR(GetLastError)());
        return OPRT_SUCCESS;
    }
    if (error != OPRT_VENDOR(Success)) return translate(error, OPRT_TEXT(OPRT_VENDOR(PointerGetAttributes)), message);
    if (vendor::is_unregistered_memory(attributes)) return OPRT_SUCCESS;
    *owner = vendor::is_device_memory(attributes) ? attributes.device : any_device;
    return OPRT_SUCCESS;
}

oprt_status_t copy(void *destination, const void *source, size_t size_bytes, oprt_stream_t stream,
                   module_message &message) {
    return OPRT_CALL(message, MemcpyAsync)(destination, source, size_bytes, OPRT_VENDOR(MemcpyDefault), native(stream));
}

oprt_status_t fill(void *pointer, int32_t value, size_t size_bytes, oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, MemsetAsync)(pointer, value, size_bytes, native(stream));
}

// Streams.

oprt_status_t create_stream(oprt_stream_t *stream, module_message &message) {
    native_stream created = nullptr;
    const oprt_status_t status = OPRT_CALL(message, StreamCreateWithFlags)(&created, OPRT_VENDOR(StreamNonBlocking));
    *stream = status == OPRT_SUCCESS ? reinterpret_cast<oprt_stream_t>(created) : nullptr;
    return status;
}

oprt_status_t destroy_stream(oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, StreamDestroy)(native(stream));
}

oprt_status_t synchronize_stream(oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, StreamSynchronize)(native(stream));
}

oprt_status_t query_stream(oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, StreamQuery)(native(stream));
}

oprt_status_t wait_event(oprt_stream_t stream, oprt_event_t event, module_message &message) {
    return OPRT_CALL(message, StreamWaitEvent)(native(stream), native(event), 0u);
}

// Events.

oprt_status_t create_event(oprt_event_t *event, module_message &message) {
    native_event created = nullptr;
    const oprt_status_t status = OPRT_CALL(message, EventCreateWithFlags)(&created, OPRT_VENDOR(EventDefault));
    *event = status == OPRT_SUCCESS ? reinterpret_cast<oprt_event_t>(created) : nullptr;
    return status;
}

oprt_status_t destroy_event(oprt_event_t event, module_message &message) {
    return OPRT_CALL(message, EventDestroy)(native(event));
}

oprt_status_t record_event(oprt_event_t event, oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, EventRecord)(native(event), native(stream));
}

oprt_status_t synchronize_event(oprt_event_t event, module_message &message) {
    return OPRT_CALL(message, EventSynchronize)(native(event));
}

oprt_status_t query_event(oprt_event_t event, module_message &message) {
    return OPRT_CALL(message, EventQuery)(native(event));
}

oprt_status_t elapsed_time(float *time_ms, oprt_event_t start, oprt_event_t stop, module_message &message) {
    return OPRT_CALL(message, EventElapsedTime)(time_ms, native(start), native(stop));
}

// Graphs. An oprt_graph_t is the executable graph.

// Relaxed: only the stream is captured; an allocation or release meanwhile, by Python's collector for one, does not
// break it.
oprt_status_t begin_capture(oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, StreamBeginCapture)(native(stream), OPRT_VENDOR(StreamCaptureModeRelaxed));
}

oprt_status_t end_capture(oprt_graph_t *graph, oprt_stream_t stream, module_message &message) {
    *graph = nullptr;
    OPRT_VENDOR(Graph_t) captured = nullptr;
    oprt_status_t status = OPRT_CALL(message, StreamEndCapture)(native(stream), &captured);
    if (status != OPRT_SUCCESS) return status;
    native_graph executable = nullptr;
    status =
        translate(vendor::instantiate_graph(&executable, captured), OPRT_TEXT(OPRT_VENDOR(GraphInstantiate)), message);
    static_cast<void>(OPRT_VENDOR(GraphDestroy)(captured));
    if (status == OPRT_SUCCESS) *graph = reinterpret_cast<oprt_graph_t>(executable);
    return status;
}

oprt_status_t launch_graph(oprt_graph_t graph, oprt_stream_t stream, module_message &message) {
    return OPRT_CALL(message, GraphLaunch)(native(graph), native(stream));
}

oprt_status_t destroy_graph(oprt_graph_t graph, module_message &message) {
    return OPRT_CALL(message, GraphExecDestroy)(native(graph));
}

// Launchers. A function static, because the registrations of other TUs run before this one's statics may be ready.
const launcher_registration *&last_registration() {
    static const launcher_registration *last = nullptr;
    return last;
}

const launcher *launcher_at(int32_t index) {
    static const std::vector<const launcher *> sorted = [] {
        std::vector<const launcher *> all;
        for (const launcher_registration *r = last_registration(); r != nullptr; r = r->next) all.push_back(&r->entry);
        std::sort(all.begin(), all.end(), [](const launcher *a, const launcher *b) {
            const int order = strcmp(a->op, b->op);
            return order != 0 ? order < 0 : strcmp(a->technique, b->technique) < 0;
        });
        return all;
    }();
    return index >= 0 && static_cast<size_t>(index) < sorted.size() ? sorted[static_cast<size_t>(index)] : nullptr;
}

// What a launch of the calling thread left behind; code 0: nothing.
struct launch_error {
    int code;
    char text[sizeof(module_message::text)];
};

thread_local launch_error last_launch_error;
thread_local bool overlap_wanted = false;

// A launch that was refused, as opposed to a device that broke before it.
oprt_status_t launch_status_of(int code) {
    const oprt_status_t status = status_of(code);
    return status == OPRT_ERR_KERNEL_FAULT || status == OPRT_ERR_DEVICE_UNAVAILABLE ? status : OPRT_ERR_LAUNCH_FAILED;
}

constexpr module_table table = {
    sizeof(module_table),
    OPRT_INTERFACE_HASH,
    vendor::backend_name,
#if defined(OPRT_EMULATOR)
    "emulator",
#else
    "gpu",
#endif
    device_count,
    set_device,
    device_properties,
    synchronize_device,
    reset_device,
    allocate,
    release,
    pointer_device,
    copy,
    fill,
    create_stream,
    destroy_stream,
    synchronize_stream,
    query_stream,
    wait_event,
    create_event,
    destroy_event,
    record_event,
    synchronize_event,
    query_event,
    elapsed_time,
    begin_capture,
    end_capture,
    launch_graph,
    destroy_graph,
    probe_variant_count,
    run_probe,
    measure_launches,
    launcher_at,
};

}  // namespace

launcher_registration::launcher_registration(const launcher &added) : entry(added), next(last_registration()) {
    last_registration() = this;
}

void record_launch_error(const char *call, int code, const char *name, const char *text) {
    if (last_launch_error.code != 0) return;
    last_launch_error.code = code;
    snprintf(last_launch_error.text, sizeof last_launch_error.text, "%s failed: %s (%d): %s", call, name, code, text);
}

// Older errors are forgotten so that this launch is not blamed for them; a fault is not: nothing runs on that device
// any more.
oprt_status_t begin_launch(bool overlap, module_message &message) {
    last_launch_error.code = 0;
    overlap_wanted = overlap;
    const error_t left = OPRT_VENDOR(GetLastError)();
    if (status_of(static_cast<int>(left)) != OPRT_ERR_KERNEL_FAULT) return OPRT_SUCCESS;
    return translate(left, "a kernel before this launch", message);
}

bool is_overlap_wanted() { return overlap_wanted; }

oprt_status_t end_launch(module_message &message) {
    const error_t left = OPRT_VENDOR(GetLastError)();
    if (last_launch_error.code != 0) {
        snprintf(message.text, sizeof message.text, "%s", last_launch_error.text);
        return launch_status_of(last_launch_error.code);
    }
    if (left == OPRT_VENDOR(Success)) return OPRT_SUCCESS;
    translate(left, "the kernel launch", message);
    return launch_status_of(static_cast<int>(left));
}

oprt_status_t refuse_dtype(oprt_dtype_t dtype, module_message &message) {
    write_message(message, "the module has no kernel for dtype %d", static_cast<int>(dtype));
    return OPRT_ERR_UNSUPPORTED_DTYPE;
}

oprt_status_t refuse_exception(const char *what, module_message &message) {
    write_message(message, "the launcher threw an exception: %s", what);
    return OPRT_ERR_LAUNCH_FAILED;
}

}  // namespace oprt

extern "C" __attribute__((visibility("default"))) const oprt::module_table *oprt_get_module(void) {
    return &oprt::table;
}
