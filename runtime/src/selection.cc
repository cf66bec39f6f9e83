// Selection a thread, the process default (CAMP_DEVICE, CAMP_LAUNCH_OVERLAP), and AUTO: the first backend with a GPU, else the first with an
// emulator.
#include "runtime/src/selection.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "operator_runtime/device.h"
#include "runtime/src/names.h"

namespace oprt {
namespace {

struct device_choice {
    oprt_device_kind_t kind = OPRT_DEVICE_AUTO;
    int32_t index = 0;
};

struct selection {
    oprt_backend_t backend = OPRT_BACKEND_AUTO;
    std::optional<device_choice> device;  // none: the process default
    std::string technique;
    std::optional<bool> launch_overlap;  // none: the process default
    device_binding resolved;             // module is null: not resolved yet
};

selection &of_this_thread() {
    thread_local selection selected;
    return selected;
}

// "auto", "emulator", "gpu" or "gpu:N".
std::optional<device_choice> parse_device(const std::string &text) {
    if (text == "auto") return device_choice{OPRT_DEVICE_AUTO, 0};
    if (text == "emulator") return device_choice{OPRT_DEVICE_EMULATOR, 0};
    if (text == "gpu") return device_choice{OPRT_DEVICE_GPU, 0};
    if (text.compare(0, 4, "gpu:") != 0) return std::nullopt;
    const std::string digits = text.substr(4);
    if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
    return device_choice{OPRT_DEVICE_GPU, std::atoi(digits.c_str())};
}

device_choice device_from_environment() {
    const char *text = std::getenv("CAMP_DEVICE");
    if (text == nullptr || text[0] == '\0') return {};
    if (const auto choice = parse_device(text)) return *choice;
    fail(OPRT_ERR_INVALID_ARGUMENT, "CAMP_DEVICE is \"%s\", wanted auto, emulator, gpu or gpu:N", text);
}

device_choice process_default() {
    static const device_choice choice = device_from_environment();  // tried again when it throws
    return choice;
}

bool launch_overlap_from_environment() {
    const char *text = std::getenv("CAMP_LAUNCH_OVERLAP");
    const std::string value = text == nullptr ? "" : text;
    if (value == "1") return true;
    if (value.empty() || value == "0") return false;
    fail(OPRT_ERR_INVALID_ARGUMENT, "CAMP_LAUNCH_OVERLAP is \"%s\", wanted 0 or 1", text);
}

bool default_launch_overlap() {
    static const bool overlap = launch_overlap_from_environment();  // tried again when it throws
    return overlap;
}

// Why candidates were passed over, and the status that this amounts to when none is left.
struct search_report {
    oprt_status_t status = OPRT_ERR_BACKEND_UNAVAILABLE;
    std::string reasons;
};

// The device, or nothing with the reason added to the report.
std::optional<device_binding> try_device(oprt_backend_t backend, oprt_device_kind_t kind, int32_t index,
                                         search_report &report) {
    std::string misses;
    const loaded_module *module = find_module(backend, kind, misses);
    const std::string device = device_text(backend, kind, index);
    if (module == nullptr) {
        report.reasons += formatted("\n%s is not built; build it: %s%s", device.c_str(),
                                    build_command(backend, kind).c_str(), misses.c_str());
        return std::nullopt;
    }
    module_message message;
    message.text[0] = '\0';
    int32_t count = 0;
    const oprt_status_t status = module->table->device_count(&count, message);
    if (status == OPRT_SUCCESS && index < count) return device_binding{module, index};
    report.status = OPRT_ERR_DEVICE_UNAVAILABLE;
    report.reasons += status == OPRT_SUCCESS ? formatted("\n%s is not there: %s has %d of them", device.c_str(),
                                                         backend_name(backend), count)
                                             : formatted("\n%s is not there: %s", device.c_str(), message.text);
    return std::nullopt;
}

device_binding resolve(oprt_backend_t backend, device_choice choice) {
    std::vector<oprt_device_kind_t> kinds = {choice.kind};
    if (choice.kind == OPRT_DEVICE_AUTO) kinds = {OPRT_DEVICE_GPU, OPRT_DEVICE_EMULATOR};
    search_report report;
    for (const oprt_device_kind_t kind : kinds) {
        for (const oprt_backend_t candidate : known_backends) {
            if (backend != OPRT_BACKEND_AUTO && backend != candidate) continue;
            if (const auto device = try_device(candidate, kind, choice.index, report)) return *device;
        }
    }
    fail(report.status, "no device for backend %s, device %s:%s", backend_name(backend), device_kind_name(choice.kind),
         report.reasons.c_str());
}

}  // namespace

device_binding current_device() {
    selection &selected = of_this_thread();
    if (selected.resolved.module == nullptr) {
        selected.resolved = resolve(selected.backend, selected.device ? *selected.device : process_default());
    }
    return selected.resolved;
}

const std::string &current_technique() { return of_this_thread().technique; }

bool current_launch_overlap() {
    const std::optional<bool> &chosen = of_this_thread().launch_overlap;
    return chosen ? *chosen : default_launch_overlap();
}

}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" oprt_status_t oprt_set_backend(oprt_backend_t backend) {
    return guarded([&] {
        const int32_t value = raw_value(backend);
        if (!is_backend(value)) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "oprt_set_backend: unknown backend %d, wanted %s", value,
                 known_backends_text().c_str());
        }
        of_this_thread().backend = backend;
        of_this_thread().resolved = {};
    });
}

extern "C" oprt_status_t oprt_get_backend(oprt_backend_t *backend) {
    return guarded([&] {
        begin_output("oprt_get_backend", "backend", backend);
        *backend = current_device().module->backend;
    });
}

extern "C" oprt_status_t oprt_set_device(oprt_device_kind_t kind, int32_t index) {
    return guarded([&] {
        const int32_t value = raw_value(kind);
        if (!is_device_kind(value)) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "oprt_set_device: unknown device kind %d, wanted %s", value,
                 known_device_kinds_text().c_str());
        }
        if (index < 0 || (kind != OPRT_DEVICE_GPU && index != 0)) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "oprt_set_device: index is %d, wanted 0%s", index,
                 kind == OPRT_DEVICE_GPU ? " or more" : "");
        }
        of_this_thread().device = device_choice{kind, index};
        of_this_thread().resolved = {};
    });
}

extern "C" oprt_status_t oprt_get_device(oprt_device_kind_t *kind, int32_t *index) {
    return guarded([&] {
        begin_output("oprt_get_device", "kind", kind);
        begin_output("oprt_get_device", "index", index);
        const device_binding device = current_device();
        *kind = device.module->kind;
        *index = device.index;
    });
}

extern "C" oprt_status_t oprt_set_technique(const char *technique) {
    return guarded([&] { of_this_thread().technique = technique == nullptr ? "" : technique; });
}

extern "C" oprt_status_t oprt_set_launch_overlap(int32_t enabled) {
    return guarded([&] {
        if (enabled != 0 && enabled != 1)
            fail(OPRT_ERR_INVALID_ARGUMENT, "oprt_set_launch_overlap: enabled is %d, wanted 0 or 1", enabled);
        of_this_thread().launch_overlap = enabled == 1;
    });
}

extern "C" oprt_status_t oprt_get_launch_overlap(int32_t *enabled) {
    return guarded([&] {
        begin_output("oprt_get_launch_overlap", "enabled", enabled);
        *enabled = current_launch_overlap() ? 1 : 0;
    });
}
