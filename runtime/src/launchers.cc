// Look-up of launchers, and the C functions that list them.
#include "runtime/src/launchers.h"

#include <cstring>

#include "operator_runtime/device.h"
#include "runtime/src/names.h"
#include "runtime/src/selection.h"

namespace oprt {
namespace {

// Names of the module's operators (op null) or of an operator's techniques, joined by commas. Launchers are sorted by
// operator.
std::string known_names(const loaded_module &module, const char *op) {
    std::string names;
    std::string last;
    for (int32_t i = 0; const launcher *known = module.table->launcher_at(i); ++i) {
        if (op != nullptr && std::strcmp(known->op, op) != 0) continue;
        const std::string name = op == nullptr ? known->op : known->technique;
        if (name.empty() || name == last) continue;
        names += (names.empty() ? "" : ", ") + name;
        last = name;
    }
    return names.empty() ? "none" : names;
}

[[noreturn]] void refuse_launcher(const loaded_module &module, const char *op, const std::string &technique,
                                  bool has_operator) {
    if (has_operator && !technique.empty()) {
        fail(OPRT_ERR_NOT_SUPPORTED, "%s: unknown technique \"%s\"; %s %s has: %s", op, technique.c_str(),
             backend_name(module.backend), device_kind_name(module.kind), known_names(module, op).c_str());
    }
    fail(OPRT_ERR_NOT_SUPPORTED, "%s: %s has no launcher for it; its operators are: %s. Build it again: %s", op,
         module.path.c_str(), known_names(module, nullptr).c_str(), build_command(module.backend, module.kind).c_str());
}

}  // namespace

int32_t launcher_count(const loaded_module &module) {
    int32_t count = 0;
    while (module.table->launcher_at(count) != nullptr) ++count;
    return count;
}

launcher_function find_launcher(const loaded_module &module, const char *op, const std::string &technique,
                                const char *plan_hash) {
    bool has_operator = false;
    for (int32_t i = 0; const launcher *known = module.table->launcher_at(i); ++i) {
        if (std::strcmp(known->op, op) != 0) continue;
        has_operator = true;
        if (technique != known->technique) continue;
        if (std::strcmp(known->plan_hash, plan_hash) == 0) return known->launch;
        fail(OPRT_ERR_BACKEND_UNAVAILABLE,
             "%s: its launcher in %s was built with another plan than this library's; build it again: %s", op,
             module.path.c_str(), build_command(module.backend, module.kind).c_str());
    }
    refuse_launcher(module, op, technique, has_operator);
}

}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" oprt_status_t oprt_get_kernel_count(int32_t *count) {
    return guarded([&] {
        begin_output("oprt_get_kernel_count", "count", count);
        *count = launcher_count(*current_device().module);
    });
}

extern "C" oprt_status_t oprt_get_kernel_info(oprt_kernel_info_t *info, int32_t index) {
    return guarded([&] {
        begin_structure("oprt_get_kernel_info", "info", info);
        const loaded_module &module = *current_device().module;
        const int32_t count = launcher_count(module);
        if (index < 0 || index >= count) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "oprt_get_kernel_info: index is %d, wanted 0 to %d", index, count - 1);
        }
        const launcher &known = *module.table->launcher_at(index);
        info->op = known.op;
        info->technique = known.technique;
        info->path = known.path;
        info->sha256 = known.sha256;
    });
}
