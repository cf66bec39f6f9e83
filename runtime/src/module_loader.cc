// The search for modules: each folder of CAMP_BUILD_DIR, the folder of this library, its sibling build-<backend>.
#include "runtime/src/module_loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "interface.h"
#include "runtime/src/names.h"

namespace oprt {
namespace {

std::string module_file_name(oprt_backend_t backend, oprt_device_kind_t kind) {
    const char *suffix = kind == OPRT_DEVICE_EMULATOR ? "_emulator" : "";
    return formatted("camp_ops_%s%s.so", backend_name(backend), suffix);
}

// The folder of this library. dladdr's own name for it is relative when the library was found through a relative
// LD_LIBRARY_PATH; the origin is absolute and fixed when the library is loaded.
std::string library_folder() {
    Dl_info info;
    link_map *map = nullptr;
    char origin[PATH_MAX];
    static const char anchor = 0;
    if (dladdr1(&anchor, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
    if (dlinfo(map, RTLD_DI_ORIGIN, origin) != 0) return {};
    return origin;
}

std::vector<std::string> search_folders(oprt_backend_t backend) {
    std::vector<std::string> folders;
    const char *listed = std::getenv("CAMP_BUILD_DIR");
    std::string rest = listed == nullptr ? "" : listed;
    while (!rest.empty()) {
        const size_t end = rest.find(':');
        if (end != 0) folders.push_back(rest.substr(0, end));
        rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
    if (const std::string own = library_folder(); !own.empty()) {
        folders.push_back(own);
        folders.push_back(own.substr(0, own.rfind('/') + 1) + "build-" + backend_name(backend));
    }
    return folders;
}

[[noreturn]] void refuse(const std::string &path, oprt_backend_t backend, oprt_device_kind_t kind,
                         const std::string &reason) {
    fail(OPRT_ERR_BACKEND_UNAVAILABLE, "%s %s; build it again: %s", path.c_str(), reason.c_str(),
         build_command(backend, kind).c_str());
}

// Only the first two fields are at the same place in every version of the table.
void check_table(const module_table *table, const std::string &path, oprt_backend_t backend, oprt_device_kind_t kind) {
    const bool same = table != nullptr && table->table_size == sizeof(module_table) &&
                      table->interface_hash != nullptr && std::strcmp(table->interface_hash, OPRT_INTERFACE_HASH) == 0;
    if (!same) refuse(path, backend, kind, "was built from other headers than this library");
    if (std::strcmp(table->backend, backend_name(backend)) != 0 ||
        std::strcmp(table->device_kind, device_kind_name(kind)) != 0) {
        refuse(path, backend, kind, formatted("is a module for %s %s", table->backend, table->device_kind));
    }
}

struct close_library {
    void operator()(void *library) const { dlclose(library); }
};

std::unique_ptr<loaded_module> open_module(const std::string &path, oprt_backend_t backend, oprt_device_kind_t kind) {
    std::unique_ptr<void, close_library> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library == nullptr) {
        const char *reason = dlerror();
        refuse(path, backend, kind, formatted("cannot be loaded (%s)", reason == nullptr ? "no reason given" : reason));
    }
    const auto get_module = reinterpret_cast<decltype(&oprt_get_module)>(dlsym(library.get(), "oprt_get_module"));
    if (get_module == nullptr) refuse(path, backend, kind, "is no backend module (it has no oprt_get_module)");
    const module_table *table = get_module();
    check_table(table, path, backend, kind);
    auto module = std::make_unique<loaded_module>(loaded_module{table, path, backend, kind});
    library.release();
    return module;
}

std::unique_ptr<loaded_module> search_module(oprt_backend_t backend, oprt_device_kind_t kind, std::string &misses) {
    for (const std::string &folder : search_folders(backend)) {
        const std::string candidate = folder + "/" + module_file_name(backend, kind);
        char absolute[PATH_MAX];
        if (realpath(candidate.c_str(), absolute) != nullptr) return open_module(absolute, backend, kind);
        misses += formatted("\n  %s: %s", candidate.c_str(), std::strerror(errno));
    }
    return nullptr;
}

}  // namespace

std::string build_command(oprt_backend_t backend, oprt_device_kind_t kind) {
    return formatted("nox -s build-%s -- --device %s", backend_name(backend), device_kind_name(kind));
}

std::string device_text(oprt_backend_t backend, oprt_device_kind_t kind, int32_t index) {
    std::string text = formatted("%s %s", backend_name(backend), device_kind_name(kind));
    if (kind == OPRT_DEVICE_GPU) text += ":" + std::to_string(index);
    return text;
}

std::string device_text(const device_binding &device) {
    return device_text(device.module->backend, device.module->kind, device.index);
}

const loaded_module *find_module(oprt_backend_t backend, oprt_device_kind_t kind, std::string &misses) {
    static std::atomic<const loaded_module *> modules[backend_count][device_kind_count];
    static std::mutex loading;
    std::atomic<const loaded_module *> &known = modules[backend][kind];
    if (const loaded_module *module = known.load(std::memory_order_acquire)) return module;
    const std::lock_guard<std::mutex> lock(loading);
    if (const loaded_module *module = known.load(std::memory_order_acquire)) return module;
    const loaded_module *module = search_module(backend, kind, misses).release();
    known.store(module, std::memory_order_release);
    return module;
}

void require_success(oprt_status_t status, const char *what, const module_message &message) {
    if (status == OPRT_SUCCESS) return;
    fail(status, "%s: %s", what, message.text[0] == '\0' ? oprt_status_name(status) : message.text);
}

}  // namespace oprt
