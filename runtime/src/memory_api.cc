// The C functions about device memory. Ownership is kept here (ownership.h), the work is done by the module.
#include "operator_runtime/device.h"
#include "runtime/src/ownership.h"
#include "runtime/src/selection.h"

namespace oprt {
namespace {

struct bytes_at {
    uintptr_t begin;
    uintptr_t end;
};

// The bytes behind a pointer that is not null. Memory of another device is refused, and so is an end beyond the
// allocation; what is not known is left to the vendor: host memory in a copy, other libraries' memory.
bytes_at require_bytes(const device_binding &device, const char *function, const char *name, const void *pointer,
                       size_t size_bytes) {
    if (pointer == nullptr)
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s is null with %zu bytes", function, name, size_bytes);
    bytes_at bytes{reinterpret_cast<uintptr_t>(pointer), 0};
    if (__builtin_add_overflow(bytes.begin, size_bytes, &bytes.end)) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) with %zu bytes leaves the address space", function, name, pointer,
             size_bytes);
    }
    if (memory_owners().find(pointer).is_known())
        require_memory_of(device, function, name, pointer, bytes.begin, bytes.end);
    return bytes;
}

void *allocate(const device_binding &device, size_t size_bytes) {
    const char *const function = "oprt_allocate_memory";
    const module_table &table = *device.module->table;
    void *allocated = nullptr;
    call_module(device, function, table.allocate, &allocated, size_bytes);
    const auto begin = reinterpret_cast<uintptr_t>(allocated);
    try {
        memory_owners().add({begin, begin + size_bytes, device});
    } catch (...) {
        call_module(device, function, table.release, allocated);
        throw;
    }
    return allocated;
}

}  // namespace
}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" oprt_status_t oprt_allocate_memory(void **pointer, size_t size_bytes) {
    return guarded([&] {
        begin_output("oprt_allocate_memory", "pointer", pointer);
        const device_binding device = current_device();
        if (size_bytes > 0) *pointer = allocate(device, size_bytes);
    });
}

extern "C" oprt_status_t oprt_free_memory(void *pointer) {
    return guarded([&] {
        if (pointer == nullptr) return;
        const owned_object owned = memory_owners().remove(pointer);
        if (!owned.is_known()) {
            fail(OPRT_ERR_INVALID_ARGUMENT,
                 "oprt_free_memory: %p was not given by oprt_allocate_memory, or is free already", pointer);
        }
        try {
            call_module(owned.device, "oprt_free_memory", owned.device.module->table->release, pointer);
        } catch (const failure &) {
            memory_owners().add(owned);  // still there: a broken GPU, or a capture, refuses to free
            throw;
        }
    });
}

extern "C" oprt_status_t oprt_copy_memory(void *destination, const void *source, size_t size_bytes,
                                          oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_copy_memory";
        const device_binding device = current_device();
        require_stream_of(device, function, stream);
        if (size_bytes == 0) return;
        const bytes_at to = require_bytes(device, function, "destination", destination, size_bytes);
        const bytes_at from = require_bytes(device, function, "source", source, size_bytes);
        if (to.begin < from.end && from.begin < to.end)
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: destination overlaps source", function);
        call_module(device, function, device.module->table->copy, destination, source, size_bytes, stream);
    });
}

extern "C" oprt_status_t oprt_fill_memory(void *pointer, int32_t value, size_t size_bytes, oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_fill_memory";
        const device_binding device = current_device();
        require_stream_of(device, function, stream);
        if (value < 0 || value > 255)
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: value is %d, wanted 0 to 255", function, value);
        if (size_bytes == 0) return;
        const bytes_at bytes = require_bytes(device, function, "pointer", pointer, size_bytes);
        require_memory_of(device, function, "pointer", pointer, bytes.begin, bytes.end);
        call_module(device, function, device.module->table->fill, pointer, value, size_bytes, stream);
    });
}
