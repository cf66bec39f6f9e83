// Capture of streams and graphs of the runtime interface. A graph keeps its nodes in the order of the captured calls; a
// launch runs them one after the other in the given stream, which every dependency allows. Streams that join a capture
// by an event must be joined back before it ends; that is checked with one counter a stream.
#include <algorithm>

#include "runtime_api_state.h"

namespace oprt_emulator::runtime {
namespace {

constexpr int mode_global = 0;
constexpr int mode_relaxed = 2;  // 1, thread-local, lies between them and needs no name

// How strict the calling thread is with itself, see exchange_capture_mode.
int &mode_of_this_thread() {
    thread_local int mode = mode_global;
    return mode;
}

void merge(capture_clock &into, const capture_clock &other) {
    for (const auto &entry : other) {
        size_t &known = into[entry.first];
        known = std::max(known, entry.second);
    }
}

void add_node(stream *on, work node) {
    capture &target = *on->capturing;
    target.nodes.push_back(std::move(node));
    on->clock[on] = ++target.counts[on];
}

void leave_capture(const std::shared_ptr<capture> &ended) {
    for (stream *on : state().streams) {
        if (on->capturing != ended) continue;
        on->capturing = nullptr;
        on->clock.clear();
    }
    auto &captures = state().captures;
    captures.erase(std::find(captures.begin(), captures.end(), ended));
    state().active_captures.store(static_cast<int>(captures.size()), std::memory_order_release);
}

// A blocking stream that is being captured; null when there is none, or the stream is not the default stream.
capture *implicit_order_with(const stream *on) {
    if (on != &state().default_stream) return nullptr;
    for (stream *other : state().streams) {
        if (other->capturing && other->blocking) return other->capturing.get();
    }
    return nullptr;
}

int spoil_implicit_order(const stream *on) {
    bool refused = false;
    while (capture *const one = implicit_order_with(on)) {
        if (one->invalid) return fail(ErrorStreamCaptureImplicit);
        one->invalid = refused = true;
    }
    return refused ? fail(ErrorStreamCaptureImplicit) : Success;
}

}  // namespace

int refuse_implicit_order(const stream *on) {
    if (state().active_captures.load(std::memory_order_acquire) == 0) return Success;
    std::lock_guard<std::mutex> lock(state().mutex);
    return spoil_implicit_order(on);
}

int refuse_waiting_for_all() {
    if (state().active_captures.load(std::memory_order_acquire) == 0) return Success;
    std::lock_guard<std::mutex> lock(state().mutex);
    for (const auto &one : state().captures) one->invalid = true;
    return state().captures.empty() ? Success : fail(ErrorStreamCaptureUnsupported);
}

int refuse_in_capture() {
    if (state().active_captures.load(std::memory_order_acquire) == 0) return Success;
    const int own_mode = mode_of_this_thread();
    if (own_mode == mode_relaxed) return Success;
    std::lock_guard<std::mutex> lock(state().mutex);
    bool refused = false;
    for (const auto &one : state().captures) {
        const bool own = one->thread == std::this_thread::get_id();
        const bool matters = own ? one->mode != mode_relaxed : own_mode == mode_global && one->mode == mode_global;
        if (!matters) continue;
        one->invalid = true;
        refused = true;
    }
    return refused ? fail(ErrorStreamCaptureUnsupported) : Success;
}

bool recorded_in_capture(stream *on, int kind, const std::function<std::function<void()>()> &make, int *error) {
    if (state().active_captures.load(std::memory_order_acquire) == 0) return false;
    std::lock_guard<std::mutex> lock(state().mutex);
    if (!on->capturing) {
        *error = spoil_implicit_order(on);
        return *error != Success;
    }
    if (on->capturing->invalid) {
        *error = fail(ErrorStreamCaptureInvalidated);
    } else {
        add_node(on, {kind, make()});
    }
    return true;
}

namespace {

// A wait that concerns a capture: joins the stream to the event's, merges, or is refused. False when no capture is
// concerned.
bool waited_in_capture(stream *on, event *awaited, int *error) {
    std::lock_guard<std::mutex> lock(state().mutex);
    const std::shared_ptr<capture> from = awaited->captured_in.lock();
    if (!from && !on->capturing) return false;
    *error = Success;
    if (on->capturing && on->capturing->invalid) {
        *error = fail(ErrorStreamCaptureInvalidated);
    } else if (!from) {
        if (!awaited->last) return true;  // never recorded: nothing to wait for
        on->capturing->invalid = true;
        *error = fail(ErrorStreamCaptureIsolation);
    } else if (on == &state().default_stream) {
        from->invalid = true;
        *error = fail(ErrorStreamCaptureImplicit);
    } else if (on->capturing && on->capturing != from) {
        on->capturing->invalid = from->invalid = true;
        *error = fail(ErrorStreamCaptureMerge);
    } else {
        on->capturing = from;
        merge(on->clock, awaited->captured_at);
    }
    return true;
}

void wait_until_passed(event *awaited) {
    completion_pointer mark;
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        mark = awaited->last;
    }
    wait_for(mark);
}

}  // namespace

int stream_wait_event(stream *handle, event *awaited, bool external) {
    if (const int error = guard()) return error;
    stream *const on = find_stream(handle);
    if (on == nullptr || !is_alive(awaited)) return fail(ErrorInvalidResourceHandle);
    if (state().active_captures.load(std::memory_order_acquire) != 0) {
        int error = Success;
        const auto node = [awaited] { wait_until_passed(awaited); };
        const auto make = [&] { return std::function<void()>(node); };
        if (external && recorded_in_capture(on, 6, make, &error)) return error;
        if (waited_in_capture(on, awaited, &error)) return error;
    }
    if (!asynchronous()) return Success;
    completion_pointer mark;
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        mark = awaited->last;
    }
    if (mark) enqueue(on, nullptr, {mark});
    return Success;
}

int begin_capture(stream *handle, int mode) {
    if (const int error = guard()) return error;
    if (mode < mode_global || mode > mode_relaxed) return fail(ErrorInvalidValue);
    stream *const on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    if (on == &state().default_stream)
        return fail(ErrorStreamCaptureUnsupported, "the default stream cannot be captured");
    std::lock_guard<std::mutex> lock(state().mutex);
    if (on->capturing) return fail(ErrorIllegalState, "the stream is being captured already");
    static unsigned long long last_id = 0;
    auto begun = std::make_shared<capture>();
    begun->mode = mode;
    begun->id = ++last_id;
    begun->origin = on;
    begun->thread = std::this_thread::get_id();
    on->capturing = begun;
    state().captures.push_back(std::move(begun));
    state().active_captures.store(static_cast<int>(state().captures.size()), std::memory_order_release);
    return Success;
}

int end_capture(stream *handle, graph **captured) {
    if (captured == nullptr) return fail(ErrorInvalidValue);
    *captured = nullptr;
    if (const int error = guard()) return error;
    stream *const on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    std::lock_guard<std::mutex> lock(state().mutex);
    const std::shared_ptr<capture> ended = on->capturing;
    if (!ended) return fail(ErrorIllegalState, "the stream is not being captured");
    if (ended->origin != on) {
        ended->invalid = true;
        return fail(ErrorStreamCaptureUnmatched);
    }
    const capture_clock known = on->clock;
    leave_capture(ended);
    if (ended->mode != mode_relaxed && ended->thread != std::this_thread::get_id()) {
        return fail(ErrorStreamCaptureWrongThread);
    }
    if (ended->invalid) return fail(ErrorStreamCaptureInvalidated);
    for (const auto &entry : ended->counts) {
        const auto found = known.find(entry.first);
        if (found == known.end() || found->second < entry.second) return fail(ErrorStreamCaptureUnjoined);
    }
    *captured = state().graph_pool.take();
    (*captured)->nodes = std::move(ended->nodes);
    return Success;
}

int capture_status(stream *handle, int *status, unsigned long long *id) {
    stream *const on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    if (status == nullptr) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    if (implicit_order_with(on) != nullptr) return fail(ErrorStreamCaptureImplicit);
    *status = !on->capturing ? 0 : on->capturing->invalid ? 2 : 1;
    if (on->capturing && id != nullptr) *id = on->capturing->id;
    return Success;
}

int exchange_capture_mode(int *mode) {
    if (mode == nullptr || *mode < mode_global || *mode > mode_relaxed) return fail(ErrorInvalidValue);
    std::swap(*mode, mode_of_this_thread());
    return Success;
}

int create_graph(graph **created) {
    if (const int error = guard()) return error;
    if (created == nullptr) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    *created = state().graph_pool.take();
    return Success;
}

int count_nodes(graph *counted, size_t *nodes) {
    if (!is_alive(counted) || nodes == nullptr) return fail(ErrorInvalidValue);
    *nodes = counted->nodes.size();
    return Success;
}

int node_kinds(graph *asked, int *kinds, size_t *count) {
    if (!is_alive(asked) || kinds == nullptr || count == nullptr) return fail(ErrorInvalidValue);
    *count = std::min(*count, asked->nodes.size());
    for (size_t i = 0; i < *count; ++i) kinds[i] = asked->nodes[i].kind;
    return Success;
}

int destroy_graph(graph *destroyed) {
    if (!is_alive(destroyed)) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    state().graph_pool.give_back(destroyed);
    return Success;
}

int instantiate_graph(executable **created, graph *source) {
    if (const int error = guard()) return error;
    if (created == nullptr || !is_alive(source)) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    *created = state().executable_pool.take();
    (*created)->nodes = std::make_shared<const std::vector<work>>(source->nodes);
    return Success;
}

// In a capture the nodes of the launched graph become nodes of the captured one.
int launch_graph(executable *launched, stream *handle) {
    if (const int error = guard()) return error;
    stream *const on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    if (!is_alive(launched)) return fail(ErrorInvalidValue);
    const auto run = [nodes = launched->nodes] {
        for (const work &node : *nodes) {
            if (!is_broken()) node.run();
        }
    };
    if (state().active_captures.load(std::memory_order_acquire) != 0) {
        std::lock_guard<std::mutex> lock(state().mutex);
        if (on->capturing && !on->capturing->invalid) {
            for (const work &node : *launched->nodes) add_node(on, node);
            return Success;
        }
        if (on->capturing) return fail(ErrorStreamCaptureInvalidated);
        if (const int error = spoil_implicit_order(on)) return error;
    }
    if (asynchronous()) {
        enqueue(on, run);
    } else {
        run();
    }
    return Success;
}

int destroy_executable(executable *destroyed) {
    if (!is_alive(destroyed)) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    state().executable_pool.give_back(destroyed);
    return Success;
}

}  // namespace oprt_emulator::runtime
