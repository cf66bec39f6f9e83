// The C functions about the library, the thread's device as a whole, and its module.
#include <string>

#include "interface.h"
#include "operator_runtime/device.h"
#include "runtime/src/names.h"
#include "runtime/src/selection.h"

using namespace oprt;  // the C functions stand outside it

#define OPRT_TEXT_OF(value) #value
#define OPRT_TEXT(macro) OPRT_TEXT_OF(macro)  // the value of a macro as a string literal

#if defined(__clang__)
#define OPRT_COMPILER "clang " __clang_version__
#else
#define OPRT_COMPILER "gcc " __VERSION__
#endif

extern "C" const char *oprt_version(void) {
    return OPRT_TEXT(OPRT_VERSION_MAJOR) "." OPRT_TEXT(OPRT_VERSION_MINOR) "." OPRT_TEXT(OPRT_VERSION_PATCH);
}

extern "C" const char *oprt_build_information(void) {
    return "compiler: " OPRT_COMPILER "\nbuild type: " OPRT_BUILD_TYPE "\ninterface hash: " OPRT_INTERFACE_HASH "\n";
}

extern "C" oprt_status_t oprt_get_device_count(int32_t *count, oprt_backend_t backend, oprt_device_kind_t kind) {
    return guarded([&] {
        const char *const function = "oprt_get_device_count";
        begin_output(function, "count", count);
        const int32_t wanted_backend = raw_value(backend);
        const int32_t wanted_kind = raw_value(kind);
        if (!is_backend(wanted_backend) || backend == OPRT_BACKEND_AUTO || !is_device_kind(wanted_kind) ||
            kind == OPRT_DEVICE_AUTO) {
            fail(OPRT_ERR_INVALID_ARGUMENT,
                 "%s: backend %d with device kind %d; backends are %s, device kinds %s, auto is refused here", function,
                 wanted_backend, wanted_kind, known_backends_text().c_str(), known_device_kinds_text().c_str());
        }
        std::string misses;
        const loaded_module *module = find_module(backend, kind, misses);
        if (module == nullptr) return;
        module_message message;
        message.text[0] = '\0';
        const oprt_status_t status = module->table->device_count(count, message);
        if (status == OPRT_ERR_DEVICE_UNAVAILABLE)
            *count = 0;  // no driver: no device
        else
            require_success(status, function, message);
    });
}

extern "C" oprt_status_t oprt_get_device_properties(oprt_device_properties_t *properties) {
    return guarded([&] {
        const char *const function = "oprt_get_device_properties";
        begin_structure(function, "properties", properties);
        const device_binding device = current_device();
        call_module(device, function, device.module->table->device_properties, device.index, properties);
    });
}

extern "C" oprt_status_t oprt_get_module_path(const char **path) {
    return guarded([&] {
        begin_output("oprt_get_module_path", "path", path);
        *path = current_device().module->path.c_str();
    });
}

extern "C" oprt_status_t oprt_synchronize_device(void) {
    return guarded([&] {
        const device_binding device = current_device();
        call_module(device, "oprt_synchronize_device", device.module->table->synchronize_device);
    });
}

extern "C" oprt_status_t oprt_device_reset(void) {
    return guarded([&] {
        const device_binding device = current_device();
        module_message message;
        message.text[0] = '\0';
        // A broken device may refuse to become the current one; resetting it is what counts.
        static_cast<void>(device.module->table->set_device(device.index, message));
        message.text[0] = '\0';
        require_success(device.module->table->reset_device(message), "oprt_device_reset", message);
    });
}
