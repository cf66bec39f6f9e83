// Finding, opening and checking backend modules. A module that was opened stays open; one that was not found is looked
// for again at the next call, so that a build in between is seen. Which module a call uses is decided in selection.h.
#pragma once

#include <string>

#include "backends/module.h"
#include "runtime/src/status.h"

namespace oprt {

struct loaded_module {
    const module_table *table;
    std::string path;  // absolute
    oprt_backend_t backend;
    oprt_device_kind_t kind;
};

// One device of this process.
struct device_binding {
    const loaded_module *module = nullptr;
    int32_t index = 0;

    friend bool operator==(const device_binding &a, const device_binding &b) {
        return a.module == b.module && a.index == b.index;
    }
    friend bool operator!=(const device_binding &a, const device_binding &b) { return !(a == b); }
};

std::string device_text(oprt_backend_t backend, oprt_device_kind_t kind, int32_t index);  // "nvidia gpu:1"
std::string device_text(const device_binding &device);

// The module of that backend and kind (neither AUTO), or null with every place that was searched added to misses. A
// file that is there but cannot be used is a failure (OPRT_ERR_BACKEND_UNAVAILABLE): another one further on must not
// run in its stead.
const loaded_module *find_module(oprt_backend_t backend, oprt_device_kind_t kind, std::string &misses);

// "nox -s build-nvidia"
std::string build_command(oprt_backend_t backend, oprt_device_kind_t kind);

// Throw what a function of a module answered, unless it succeeded. what: the C function or the operator.
void require_success(oprt_status_t status, const char *what, const module_message &message);

// Call a function of a module's table with the device as the thread's current one. Returns OPRT_SUCCESS or
// OPRT_ERR_NOT_READY. Usage: call_module(device, "oprt_fill_memory", device.module->table->fill, pointer, value,
// size_bytes, stream);
template <typename... Parameters, typename... Arguments>
oprt_status_t call_module(const device_binding &device, const char *what, oprt_status_t (*function)(Parameters...),
                          Arguments... arguments) {
    module_message message;
    message.text[0] = '\0';
    require_success(device.module->table->set_device(device.index, message), what, message);
    const oprt_status_t status = function(arguments..., message);
    if (status != OPRT_SUCCESS && status != OPRT_ERR_NOT_READY) require_success(status, what, message);
    return status;
}

}  // namespace oprt
