// The C functions about streams and events. On a GPU both are the vendor's own, so other libraries' are taken too;
// those made here are known and refused when they belong to another device or are destroyed.
#include "operator_runtime/device.h"
#include "runtime/src/ownership.h"
#include "runtime/src/selection.h"

namespace oprt {
namespace {

const module_table &table_of(const device_binding &device) { return *device.module->table; }

// Make a stream or an event on the thread's device and enter it as owned.
template <typename Handle>
Handle create_owned(const char *function, owner_table &owners,
                    oprt_status_t (*module_table::*create)(Handle *, module_message &),
                    oprt_status_t (*module_table::*destroy)(Handle, module_message &)) {
    const device_binding device = current_device();
    Handle created = nullptr;
    call_module(device, function, table_of(device).*create, &created);
    const auto begin = reinterpret_cast<uintptr_t>(created);
    try {
        owners.add({begin, begin + 1, device});
    } catch (...) {
        call_module(device, function, table_of(device).*destroy, created);
        throw;
    }
    return created;
}

template <typename Handle>
void destroy_owned(const char *function, owner_table &owners,
                   oprt_status_t (*module_table::*destroy)(Handle, module_message &), Handle handle) {
    if (handle == nullptr) return;
    const owned_object owned = owners.remove(handle);
    if (!owned.is_known()) {
        fail(OPRT_ERR_INVALID_HANDLE, "%s: %p was not made here, or is destroyed already", function,
             static_cast<void *>(handle));
    }
    call_module(owned.device, function, table_of(owned.device).*destroy, handle);
}

// The device on which an event was made; the thread's for one of another library.
device_binding device_of(const char *function, oprt_event_t event) {
    const owned_object owned = event_owners().find(event);
    const device_binding device = owned.is_known() ? owned.device : current_device();
    require_event_of(device, function, event);
    return device;
}

// The thread's device, to which the stream must belong.
device_binding device_of(const char *function, oprt_stream_t stream) {
    const device_binding device = current_device();
    require_stream_of(device, function, stream);
    return device;
}

}  // namespace
}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" oprt_status_t oprt_create_stream(oprt_stream_t *stream) {
    return guarded([&] {
        const char *const function = "oprt_create_stream";
        begin_output(function, "stream", stream);
        *stream = create_owned(function, stream_owners(), &module_table::create_stream, &module_table::destroy_stream);
    });
}

extern "C" oprt_status_t oprt_destroy_stream(oprt_stream_t stream) {
    return guarded(
        [&] { destroy_owned("oprt_destroy_stream", stream_owners(), &module_table::destroy_stream, stream); });
}

extern "C" oprt_status_t oprt_synchronize_stream(oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_synchronize_stream";
        const device_binding device = device_of(function, stream);
        call_module(device, function, table_of(device).synchronize_stream, stream);
    });
}

extern "C" oprt_status_t oprt_query_stream(oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_query_stream";
        const device_binding device = device_of(function, stream);
        return call_module(device, function, table_of(device).query_stream, stream);
    });
}

extern "C" oprt_status_t oprt_wait_event(oprt_stream_t stream, oprt_event_t event) {
    return guarded([&] {
        const char *const function = "oprt_wait_event";
        const device_binding device = device_of(function, stream);
        require_event_of(device, function, event);
        call_module(device, function, table_of(device).wait_event, stream, event);
    });
}

extern "C" oprt_status_t oprt_create_event(oprt_event_t *event) {
    return guarded([&] {
        const char *const function = "oprt_create_event";
        begin_output(function, "event", event);
        *event = create_owned(function, event_owners(), &module_table::create_event, &module_table::destroy_event);
    });
}

extern "C" oprt_status_t oprt_destroy_event(oprt_event_t event) {
    return guarded([&] { destroy_owned("oprt_destroy_event", event_owners(), &module_table::destroy_event, event); });
}

extern "C" oprt_status_t oprt_record_event(oprt_event_t event, oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_record_event";
        const device_binding device = device_of(function, stream);
        require_event_of(device, function, event);
        call_module(device, function, table_of(device).record_event, event, stream);
    });
}

extern "C" oprt_status_t oprt_synchronize_event(oprt_event_t event) {
    return guarded([&] {
        const char *const function = "oprt_synchronize_event";
        const device_binding device = device_of(function, event);
        call_module(device, function, table_of(device).synchronize_event, event);
    });
}

extern "C" oprt_status_t oprt_query_event(oprt_event_t event) {
    return guarded([&] {
        const char *const function = "oprt_query_event";
        const device_binding device = device_of(function, event);
        return call_module(device, function, table_of(device).query_event, event);
    });
}

extern "C" oprt_status_t oprt_elapsed_time(float *time_ms, oprt_event_t start, oprt_event_t stop) {
    return guarded([&] {
        const char *const function = "oprt_elapsed_time";
        begin_output(function, "time_ms", time_ms);
        const device_binding device = device_of(function, start);
        require_event_of(device, function, stop);
        return call_module(device, function, table_of(device).elapsed_time, time_ms, start, stop);
    });
}
