// The C functions about probes: arguments are checked here, the kernels are the module's.
#include "operator_runtime/probe.h"
#include "runtime/src/names.h"
#include "runtime/src/ownership.h"
#include "runtime/src/selection.h"

namespace oprt {
namespace {

constexpr size_t probe_alignment = 16;  // bytes of one access

void require_probe(const char *function, oprt_probe_t probe) {
    const int32_t value = raw_value(probe);
    if (value >= OPRT_PROBE_EMPTY && value <= OPRT_PROBE_READ_TWICE) return;
    fail(OPRT_ERR_INVALID_ARGUMENT, "%s: unknown probe %d, wanted 0 (empty), 1 (copy), 2 (read) or 3 (read twice)",
         function, value);
}

int32_t variant_count(const device_binding &device, const char *function, oprt_probe_t probe) {
    int32_t count = 0;
    call_module(device, function, device.module->table->probe_variant_count, &count, probe);
    return count;
}

uintptr_t require_buffer(const device_binding &device, const char *function, const char *name, const void *pointer,
                         size_t size_bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    if (pointer == nullptr)
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s is null with %zu bytes", function, name, size_bytes);
    if (begin % probe_alignment != 0) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) is not aligned to %zu bytes", function, name, pointer,
             probe_alignment);
    }
    if (size_bytes > UINTPTR_MAX - begin)
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) with %zu bytes leaves the address space", function, name, pointer,
             size_bytes);
    require_memory_of(device, function, name, pointer, begin, begin + size_bytes);
    return begin;
}

void require_buffers(const device_binding &device, const char *function, const void *destination, const void *source,
                     size_t size_bytes) {
    if (size_bytes % probe_alignment != 0) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: size_bytes is %zu, wanted a multiple of %zu", function, size_bytes,
             probe_alignment);
    }
    if (size_bytes == 0) return;
    const uintptr_t to = require_buffer(device, function, "destination", destination, size_bytes);
    const uintptr_t from = require_buffer(device, function, "source", source, size_bytes);
    if (to < from + size_bytes && from < to + size_bytes)
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: destination overlaps source", function);
}

}  // namespace
}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" oprt_status_t oprt_get_probe_variant_count(int32_t *count, oprt_probe_t probe) {
    return guarded([&] {
        const char *const function = "oprt_get_probe_variant_count";
        begin_output(function, "count", count);
        require_probe(function, probe);
        *count = variant_count(current_device(), function, probe);
    });
}

extern "C" oprt_status_t oprt_run_probe(oprt_probe_t probe, int32_t variant, void *destination, const void *source,
                                        size_t size_bytes, oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_run_probe";
        require_probe(function, probe);
        const device_binding device = current_device();
        const int32_t count = variant_count(device, function, probe);
        if (variant < 0 || variant >= count)
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: variant is %d, wanted 0 to %d", function, variant, count - 1);
        require_stream_of(device, function, stream);
        if (probe != OPRT_PROBE_EMPTY) {
            require_buffers(device, function, destination, source, size_bytes);
            if (size_bytes == 0) return;
        }
        call_module(device, function, device.module->table->run_probe, probe, variant, destination, source, size_bytes,
                    stream);
    });
}

extern "C" oprt_status_t oprt_measure_launches(double *samples_us, int32_t samples, int32_t burst,
                                               oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_measure_launches";
        begin_output(function, "samples_us", samples_us);
        if (samples < 1 || burst < 1) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: samples is %d and burst %d, wanted 1 or more of each", function,
                 samples, burst);
        }
        const device_binding device = current_device();
        require_stream_of(device, function, stream);
        call_module(device, function, device.module->table->measure_launches, samples_us, samples, burst, stream);
    });
}
