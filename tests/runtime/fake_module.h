// What a test program sees of a fake backend module (fake_module.cc): it records each launch and answers as it is told.
// A program reaches it by opening the module's file once more; the runtime itself knows nothing of it.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "backends/module.h"

struct fake_state {
    int32_t device_count = 2;
    oprt_status_t device_status = OPRT_SUCCESS;       // of device_count
    std::atomic<oprt_status_t> answer{OPRT_SUCCESS};  // of everything else
    std::atomic<int64_t> launches{0};
    std::atomic<int64_t> calls{0};  // of functions that take a stream, an event or memory
    std::atomic<int64_t> live_graphs{0};
    std::atomic<int32_t> owner{-1};  // of memory that the library asks the module about
    std::atomic<int64_t> questions{0};
    std::atomic<bool> slow{false};  // a launch takes a millisecond
    // The last launch. Only for programs of one thread.
    bool recording = true;
    const char *op = "";
    const char *technique = "";
    int32_t device = -1;
    oprt_stream_t stream = nullptr;
    void *workspace = nullptr;
    bool overlap = false;
    void *pointers[3] = {};
    alignas(16) unsigned char plan[1024] = {};
};

// The state of the module at that path, which the runtime has loaded.
inline fake_state &state_of(const char *module_path) {
    void *library = dlopen(module_path, RTLD_NOW | RTLD_NOLOAD);
    return *static_cast<fake_state *>(dlsym(library, "fake_module_state"));
}

template <typename Plan>
Plan last_plan(const fake_state &state) {
    static_assert(sizeof(Plan) <= sizeof(state.plan));
    Plan plan;
    std::memcpy(&plan, state.plan, sizeof plan);
    return plan;
}
