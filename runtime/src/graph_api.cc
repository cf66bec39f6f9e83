// The C functions about graphs. A graph is a handle like a descriptor's; the vendor's object is behind it.
#include "operator_runtime/graph.h"
#include "runtime/src/handle_table.h"
#include "runtime/src/ownership.h"
#include "runtime/src/selection.h"

namespace oprt {
namespace {

constexpr uint8_t graph_sort = 0x67;

struct graph {
    device_binding device;
    oprt_graph_t native = nullptr;  // the module's

    explicit graph(const device_binding &captured_on) : device(captured_on) {}
    graph(const graph &) = delete;
    graph &operator=(const graph &) = delete;
    // Freeing fails only on a device that broke, which has lost the graph anyway.
    ~graph() {
        if (native == nullptr) return;
        static_cast<void>(guarded_destroy());
    }

    oprt_status_t guarded_destroy() const noexcept {
        module_message message;
        const oprt_status_t status = device.module->table->set_device(device.index, message);
        return status == OPRT_SUCCESS ? device.module->table->destroy_graph(native, message) : status;
    }
};

using graph_table = handle_table<graph>;

// Lives as long as the process, so that finalisers may still destroy what they hold.
graph_table &graphs() {
    static graph_table &table = *new graph_table(graph_sort);
    return table;
}

graph_table::hold hold_graph(const char *function, oprt_graph_t handle) {
    auto held = graphs().acquire(reinterpret_cast<uintptr_t>(handle));
    if (!held)
        fail(OPRT_ERR_INVALID_HANDLE, "%s: %p is no living graph: null, destroyed or never made", function,
             static_cast<void *>(handle));
    return held;
}

void require_capturable(const char *function, oprt_stream_t stream) {
    if (stream == nullptr) fail(OPRT_ERR_INVALID_ARGUMENT, "%s: the default stream cannot be captured", function);
}

}  // namespace
}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" oprt_status_t oprt_begin_capture(oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_begin_capture";
        require_capturable(function, stream);
        const device_binding device = current_device();
        require_stream_of(device, function, stream);
        call_module(device, function, device.module->table->begin_capture, stream);
    });
}

extern "C" oprt_status_t oprt_end_capture(oprt_graph_t *made, oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_end_capture";
        begin_output(function, "graph", made);
        require_capturable(function, stream);
        const device_binding device = current_device();
        require_stream_of(device, function, stream);
        auto captured = std::make_unique<graph>(device);
        call_module(device, function, device.module->table->end_capture, &captured->native, stream);
        *made = reinterpret_cast<oprt_graph_t>(graphs().add(std::move(captured)));
    });
}

extern "C" oprt_status_t oprt_launch_graph(oprt_graph_t handle, oprt_stream_t stream) {
    return guarded([&] {
        const char *const function = "oprt_launch_graph";
        const auto held = hold_graph(function, handle);
        require_stream_of(held->device, function, stream);
        call_module(held->device, function, held->device.module->table->launch_graph, held->native, stream);
    });
}

extern "C" oprt_status_t oprt_destroy_graph(oprt_graph_t handle) {
    return guarded([&] {
        if (handle == nullptr) return;
        const auto held = hold_graph("oprt_destroy_graph", handle);
        if (!graphs().retire(held, reinterpret_cast<uintptr_t>(handle))) {
            fail(OPRT_ERR_INVALID_HANDLE, "oprt_destroy_graph: the graph was destroyed by another thread");
        }
    });
}
