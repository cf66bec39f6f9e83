// A backend module without a backend: host memory, streams that are numbers, launches that are only recorded. With it
// every answer a vendor may give, and several devices, can be had on any machine. FAKE_BACKEND, FAKE_KIND and
// FAKE_INTERFACE_HASH say what it claims to be.
#include "fake_module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "copy/copy.h"
#include "elementwise/relu/relu.h"
#include "reduce_sum/reduce_sum.h"
#include "softmax/softmax.h"
#include "vector_add/vector_add.h"

// Each generated header defines OPRT_PLAN_HASH.
#include "plan_hash/copy.h"
static const char *const copy_hash = OPRT_PLAN_HASH;
#undef OPRT_PLAN_HASH
#include "plan_hash/reduce_sum.h"
static const char *const reduce_sum_hash = OPRT_PLAN_HASH;
#undef OPRT_PLAN_HASH
#include "plan_hash/relu.h"
static const char *const relu_hash = OPRT_PLAN_HASH;
#undef OPRT_PLAN_HASH
#include "plan_hash/softmax.h"
static const char *const softmax_hash = OPRT_PLAN_HASH;
#undef OPRT_PLAN_HASH
#include "plan_hash/vector_add.h"
static const char *const vector_add_hash = OPRT_PLAN_HASH;
#undef OPRT_PLAN_HASH

extern "C" __attribute__((visibility("default"))) fake_state fake_module_state;
fake_state fake_module_state;

namespace {

using namespace oprt;

fake_state &state = fake_module_state;
thread_local int32_t current_device = 0;

oprt_status_t answered(module_message &message) {
    ++state.calls;
    const oprt_status_t answer = state.answer;
    if (answer != OPRT_SUCCESS)
        std::snprintf(message.text, sizeof message.text, "fakeCall failed: fakeErrorTold (%d)", answer);
    return answer;
}

oprt_status_t device_count(int32_t *count, module_message &message) {
    *count = state.device_count;
    std::snprintf(message.text, sizeof message.text, "fakeGetDeviceCount failed: fakeErrorNoDevice");
    return state.device_status;
}

oprt_status_t set_device(int32_t device, module_message &) {
    current_device = device;
    return OPRT_SUCCESS;
}

oprt_status_t device_properties(int32_t device, oprt_device_properties_t *properties, module_message &message) {
    std::snprintf(properties->name, sizeof properties->name, "fake device %d", device);
    properties->warp_size = 32;
    return answered(message);
}

oprt_status_t plain(module_message &message) { return answered(message); }

oprt_status_t allocate(void **pointer, size_t size_bytes, module_message &message) {
    *pointer = nullptr;
    if (const oprt_status_t status = answered(message); status != OPRT_SUCCESS) return status;
    if (size_bytes <= size_t{1} << 40) *pointer = std::aligned_alloc(256, (size_bytes + 255) / 256 * 256);
    if (*pointer != nullptr) return OPRT_SUCCESS;
    std::snprintf(message.text, sizeof message.text, "fakeMalloc failed: fakeErrorMemoryAllocation");
    return OPRT_ERR_OUT_OF_MEMORY;
}

oprt_status_t release(void *pointer, module_message &message) {
    const oprt_status_t status = answered(message);
    if (status == OPRT_SUCCESS) std::free(pointer);
    return status;
}

oprt_status_t pointer_device(int32_t *owner, const void *, module_message &message) {
    ++state.questions;
    *owner = state.owner;
    return state.answer == OPRT_SUCCESS ? OPRT_SUCCESS : answered(message);
}

oprt_status_t copy(void *destination, const void *source, size_t size_bytes, oprt_stream_t, module_message &message) {
    const oprt_status_t status = answered(message);
    if (status == OPRT_SUCCESS) std::memcpy(destination, source, size_bytes);
    return status;
}

oprt_status_t fill(void *pointer, int32_t value, size_t size_bytes, oprt_stream_t, module_message &message) {
    const oprt_status_t status = answered(message);
    if (status == OPRT_SUCCESS) std::memset(pointer, value, size_bytes);
    return status;
}

// Streams, events and graphs are small allocations, so that a sanitizer sees one that is freed twice or leaked.
template <typename Handle>
oprt_status_t create(Handle *made, module_message &message) {
    const oprt_status_t status = answered(message);
    if (status == OPRT_SUCCESS) *made = reinterpret_cast<Handle>(new int(0));
    return status;
}

template <typename Handle>
oprt_status_t destroy(Handle handle, module_message &message) {
    const oprt_status_t status = answered(message);
    if (status == OPRT_SUCCESS) delete reinterpret_cast<int *>(handle);
    return status;
}

template <typename Handle>
oprt_status_t use(Handle, module_message &message) {
    return answered(message);
}

template <typename First, typename Second>
oprt_status_t use_both(First, Second, module_message &message) {
    return answered(message);
}

oprt_status_t elapsed_time(float *time_ms, oprt_event_t, oprt_event_t, module_message &message) {
    *time_ms = 1.5F;
    return answered(message);
}

oprt_status_t end_capture(oprt_graph_t *graph, oprt_stream_t, module_message &message) {
    const oprt_status_t status = create(graph, message);
    if (status == OPRT_SUCCESS) ++state.live_graphs;
    return status;
}

oprt_status_t destroy_graph(oprt_graph_t graph, module_message &message) {
    const oprt_status_t status = destroy(graph, message);
    if (status == OPRT_SUCCESS) --state.live_graphs;
    return status;
}

oprt_status_t probe_variant_count(int32_t *count, oprt_probe_t, module_message &message) {
    *count = 2;
    return answered(message);
}

oprt_status_t run_probe(oprt_probe_t, int32_t, void *, const void *, size_t, oprt_stream_t, module_message &message) {
    return answered(message);
}

oprt_status_t measure_launches(double *samples_us, int32_t samples, int32_t burst, oprt_stream_t,
                               module_message &message) {
    std::fill_n(samples_us, samples, burst);
    return answered(message);
}

// index: of this launcher in the list below
template <typename Plan, int index>
oprt_status_t launch(const void *plan, const operands &operands, oprt_stream_t stream, module_message &message);

#define FAKE_LAUNCHER(index, op, technique) \
    { #op, technique, op##_hash, "/fake/" #op ".cuh", "0123", launch < op##_plan, index> }

const launcher launchers[] = {
    FAKE_LAUNCHER(0, copy, ""),
    FAKE_LAUNCHER(1, copy, "naive"),
    FAKE_LAUNCHER(2, copy, "vectorised"),
    FAKE_LAUNCHER(3, reduce_sum, ""),
    FAKE_LAUNCHER(4, relu, ""),
    FAKE_LAUNCHER(5, softmax, ""),
    FAKE_LAUNCHER(6, softmax, "warp"),
    FAKE_LAUNCHER(7, vector_add, ""),
    {"vector_add", "stale", "the plan of another version", "/fake/stale.cuh", "0123", launch<vector_add_plan, 8>},
};

template <typename Plan, int index>
oprt_status_t launch(const void *plan, const operands &operands, oprt_stream_t stream, module_message &message) {
    static_assert(sizeof(Plan) <= sizeof(state.plan));
    ++state.launches;
    if (state.slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (state.recording) {
        state.op = launchers[index].op;
        state.technique = launchers[index].technique;
        state.device = current_device;
        state.stream = stream;
        state.workspace = operands.workspace;
        state.overlap = operands.overlap;
        state.pointers[0] = operands.pointers[0];
        state.pointers[1] = operands.pointers[1];
        std::memcpy(state.plan, plan, sizeof(Plan));
    }
    const oprt_status_t answer = state.answer;
    if (answer != OPRT_SUCCESS)
        std::snprintf(message.text, sizeof message.text, "fakeLaunchKernel failed: fakeErrorTold (%d)", answer);
    return answer;
}

const launcher *launcher_at(int32_t index) {
    return index >= 0 && static_cast<size_t>(index) < std::size(launchers) ? &launchers[index] : nullptr;
}

const module_table table = {
    sizeof(module_table),
    FAKE_INTERFACE_HASH,
    FAKE_BACKEND,
    FAKE_KIND,
    device_count,
    set_device,
    device_properties,
    plain,
    plain,
    allocate,
    release,
    pointer_device,
    copy,
    fill,
    create<oprt_stream_t>,
    destroy<oprt_stream_t>,
    use<oprt_stream_t>,
    use<oprt_stream_t>,
    use_both<oprt_stream_t, oprt_event_t>,
    create<oprt_event_t>,
    destroy<oprt_event_t>,
    use_both<oprt_event_t, oprt_stream_t>,
    use<oprt_event_t>,
    use<oprt_event_t>,
    elapsed_time,
    use<oprt_stream_t>,
    end_capture,
    use_both<oprt_graph_t, oprt_stream_t>,
    destroy_graph,
    probe_variant_count,
    run_probe,
    measure_launches,
    launcher_at,
};

}  // namespace

extern "C" const oprt::module_table *oprt_get_module(void) { return &table; }
