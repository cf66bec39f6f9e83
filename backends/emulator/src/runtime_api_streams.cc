// Streams and events of the runtime interface, and the workers that run streams in asynchronous mode.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "oprt_emulator/memory.h"
#include "runtime_api_state.h"

namespace oprt_emulator::runtime {
namespace {

// A forked child has no workers and none of its parent's work: queues are emptied as if everything were done.
void start_again_in_child() {
    state().changed = new std::condition_variable;
    for (stream *on : state().streams) {
        for (task &left : on->queue) left.done->done = true;
        if (on->running && on->tail) on->tail->done = true;
        on->queue.clear();
        on->running = false;
        on->has_worker = false;
    }
    state().mutex.unlock();
}

bool all_done(const std::vector<completion_pointer> &awaited) {
    return std::all_of(awaited.begin(), awaited.end(), [](const completion_pointer &one) { return one->done; });
}

void mark_done(const completion_pointer &finished) {
    finished->done = true;
    finished->when = std::chrono::steady_clock::now();
}

void forget_stream(stream *on) {
    auto &streams = state().streams;
    streams.erase(std::find(streams.begin(), streams.end(), on));
    state().stream_pool.give_back(on);
}

// A worker: runs the stream's tasks in order and ends when the stream was destroyed and is empty.
void work_on_stream(stream *on) {
    std::unique_lock<std::mutex> lock(state().mutex);
    for (;;) {
        state().changed->wait(
            lock, [on] { return on->queue.empty() ? on->magic != stream::alive : all_done(on->queue.front().after); });
        if (on->queue.empty()) break;
        task current = std::move(on->queue.front());
        on->queue.pop_front();
        on->running = true;
        lock.unlock();
        if (current.run && !is_broken()) current.run();
        current.run = nullptr;  // before the lock: it may hold the last reference to a kernel's arguments
        lock.lock();
        on->running = false;
        mark_done(current.done);
        state().changed->notify_all();
    }
    forget_stream(on);
}

void ensure_worker(stream *on) {
    if (on->has_worker) return;
    std::thread(work_on_stream, on).detach();  // may throw; it begins by waiting for the lock that is held here
    on->has_worker = true;
}

// What the legacy default stream orders: it waits for all blocking streams, and they wait for it.
std::vector<completion_pointer> implicit_order(const stream *on) {
    std::vector<completion_pointer> after;
    for (const stream *other : state().streams) {
        const bool ordered =
            on == &state().default_stream ? other->blocking : on->blocking && other == &state().default_stream;
        if (other != on && ordered && other->tail && !other->tail->done) after.push_back(other->tail);
    }
    return after;
}

event *find_event(event *handle) { return is_alive(handle) ? handle : nullptr; }

// What waiting for the stream waits for; the default stream's work includes that of the blocking streams.
completion_pointer tail_of(stream *on) {
    if (on == &state().default_stream) return enqueue(on, nullptr);
    std::lock_guard<std::mutex> lock(state().mutex);
    return on->tail;
}

bool is_done(const completion_pointer &mark) {
    std::lock_guard<std::mutex> lock(state().mutex);
    return !mark || mark->done;
}

}  // namespace

runtime_state &state() {
    static auto *made = [] {
        auto *fresh = new runtime_state;
        fresh->streams.push_back(&fresh->default_stream);
        pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); }, start_again_in_child);
        return fresh;
    }();
    return *made;
}

bool asynchronous() {
    static const bool wanted = [] {
        const char *text = std::getenv("CAMP_EMULATOR_ASYNC");
        const bool on = text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
        if (on) forbid_host_access();
        return on;
    }();
    return wanted;
}

// Handles 1 and 2 are CUDA's names of the legacy default stream and of the thread's own; a single default stream serves
// both here.
stream *find_stream(stream *handle) {
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number <= 2) return &state().default_stream;
    return is_alive(handle) ? handle : nullptr;
}

completion_pointer enqueue(stream *on, std::function<void()> run, std::vector<completion_pointer> after) {
    std::lock_guard<std::mutex> lock(state().mutex);
    std::vector<completion_pointer> implied = implicit_order(on);
    implied.insert(implied.end(), after.begin(), after.end());
    ensure_worker(on);  // before anything is queued that nobody would run
    on->tail = std::make_shared<completion>();
    on->queue.push_back({std::move(run), std::move(implied), on->tail});
    state().changed->notify_all();
    return on->tail;
}

void wait_for(const completion_pointer &awaited) {
    if (!awaited) return;
    std::unique_lock<std::mutex> lock(state().mutex);
    state().changed->wait(lock, [&] { return awaited->done; });
}

void wait_for_all_streams() {
    std::vector<completion_pointer> tails;
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        for (const stream *on : state().streams) tails.push_back(on->tail);
    }
    for (const completion_pointer &tail : tails) wait_for(tail);
}

int finish_wait() {
    std::fflush(stdout);
    return seen_fault();
}

int create_stream(stream **created, bool blocking, int priority) {
    if (const int error = guard()) return error;
    if (created == nullptr) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    stream *const made = state().stream_pool.take();
    made->blocking = blocking;
    made->priority = priority;
    state().streams.push_back(made);
    *created = made;
    return Success;
}

// Work that is left still runs. Also after a fault, so that owners can clean up.
int destroy_stream(stream *on) {
    if (find_stream(on) == nullptr || find_stream(on) == &state().default_stream)
        return fail(ErrorInvalidResourceHandle);
    std::lock_guard<std::mutex> lock(state().mutex);
    if (on->capturing) {
        on->capturing->invalid = true;
        on->capturing = nullptr;
    }
    on->magic = 0;
    if (on->has_worker) {
        state().changed->notify_all();
    } else {
        forget_stream(on);
    }
    return Success;
}

int synchronize_stream(stream *handle) {
    if (const int error = guard()) return error;
    stream *on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        if (on->capturing) {
            on->capturing->invalid = true;
            return fail(ErrorStreamCaptureUnsupported);
        }
    }
    if (const int error = refuse_implicit_order(on)) return error;
    if (const int error = refuse_in_capture()) return error;
    if (asynchronous()) wait_for(tail_of(on));
    return finish_wait();
}

int query_stream(stream *handle) {
    if (const int error = guard()) return error;
    stream *on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        if (on->capturing) {
            on->capturing->invalid = true;
            return fail(ErrorStreamCaptureUnsupported);
        }
    }
    if (const int error = refuse_implicit_order(on)) return error;
    if (const int error = refuse_in_capture()) return error;
    if (asynchronous() && !is_done(tail_of(on))) return is_broken() ? seen_fault() : fail(ErrorNotReady);
    return seen_fault();
}

int stream_priority(stream *handle, int *priority) {
    const stream *on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    if (priority == nullptr) return fail(ErrorInvalidValue);
    *priority = on->priority;
    return Success;
}

int stream_flags(stream *handle, unsigned int *flags) {
    const stream *on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    if (flags == nullptr) return fail(ErrorInvalidValue);
    *flags = on->blocking ? 0 : 1;
    return Success;
}

int call_host(stream *on, void (*function)(void *), void *data) {
    if (function == nullptr) return fail(ErrorInvalidValue);
    return submit(on, 3, [function, data] { function(data); });
}

int synchronize_device() {
    if (const int error = guard()) return error;
    if (const int error = refuse_waiting_for_all()) return error;
    if (asynchronous()) wait_for_all_streams();
    return finish_wait();
}

// Work that has not begun is dropped; what runs is waited for (the engine stops what is broken).
int reset_device() {
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        for (stream *on : state().streams) {
            for (task &left : on->queue) mark_done(left.done);
            on->queue.clear();
            if (on->capturing) on->capturing->invalid = true;
        }
        state().changed->notify_all();
    }
    std::unique_lock<std::mutex> lock(state().mutex);
    state().changed->wait(lock, [] {
        return std::none_of(state().streams.begin(), state().streams.end(),
                            [](const stream *on) { return on->running; });
    });
    forget_fault();
    return Success;
}

// Events.

int create_event(event **created, bool timed) {
    if (const int error = guard()) return error;
    if (created == nullptr) return fail(ErrorInvalidValue);
    std::lock_guard<std::mutex> lock(state().mutex);
    *created = state().event_pool.take();
    (*created)->timed = timed;
    return Success;
}

int destroy_event(event *destroyed) {
    if (find_event(destroyed) == nullptr) return fail(ErrorInvalidResourceHandle);
    std::lock_guard<std::mutex> lock(state().mutex);
    state().event_pool.give_back(destroyed);
    return Success;
}

namespace {

// The event's mark at the end of the stream's work. In a graph it runs on the stream's thread, so the mark is reached
// already.
void record_now(event *recorded, const completion_pointer &mark) {
    std::lock_guard<std::mutex> lock(state().mutex);
    if (recorded->magic != event::alive) return;
    recorded->last = mark;
    recorded->captured = false;
    recorded->captured_in.reset();
}

completion_pointer passed_mark() {
    auto mark = std::make_shared<completion>();
    mark_done(mark);
    return mark;
}

// Record in a capture: by default the event only marks a point of the capture. False when the stream is not being
// captured.
bool record_in_capture(event *recorded, stream *on, int *error) {
    std::lock_guard<std::mutex> lock(state().mutex);
    if (!on->capturing) return false;
    *error = on->capturing->invalid ? fail(ErrorStreamCaptureInvalidated) : Success;
    recorded->last = nullptr;
    recorded->captured = true;
    recorded->captured_in = on->capturing;
    recorded->captured_at = on->clock;
    return true;
}

}  // namespace

int record_event(event *recorded, stream *handle, bool external) {
    if (const int error = guard()) return error;
    stream *const on = find_stream(handle);
    if (on == nullptr || find_event(recorded) == nullptr) return fail(ErrorInvalidResourceHandle);
    if (state().active_captures.load(std::memory_order_acquire) != 0) {
        int error = Success;
        if (!external && record_in_capture(recorded, on, &error)) return error;
        const auto node = [recorded] { record_now(recorded, passed_mark()); };
        if (recorded_in_capture(
                on, 7, [&] { return std::function<void()>(node); }, &error))
            return error;
    }
    record_now(recorded, asynchronous() ? enqueue(on, nullptr) : passed_mark());
    return Success;
}

namespace {

// What the event says outside captures; fails for one that was last recorded in a capture, and spoils that.
int mark_of(event *handle, completion_pointer *mark) {
    if (find_event(handle) == nullptr) return fail(ErrorInvalidResourceHandle);
    std::lock_guard<std::mutex> lock(state().mutex);
    if (const auto in = handle->captured_in.lock()) {
        in->invalid = true;
        return fail(ErrorCapturedEvent);
    }
    if (handle->captured) return fail(ErrorInvalidValue, "the event was last recorded in a capture");
    *mark = handle->last;
    return Success;
}

}  // namespace

int synchronize_event(event *awaited) {
    if (const int error = guard()) return error;
    completion_pointer mark;
    if (const int error = mark_of(awaited, &mark)) return error;
    if (const int error = refuse_in_capture()) return error;
    wait_for(mark);
    return finish_wait();
}

int query_event(event *asked) {
    if (const int error = guard()) return error;
    completion_pointer mark;
    if (const int error = mark_of(asked, &mark)) return error;
    if (const int error = refuse_in_capture()) return error;
    if (!is_done(mark)) return is_broken() ? seen_fault() : fail(ErrorNotReady);
    return seen_fault();
}

int elapsed_time(float *time_ms, event *start, event *stop) {
    if (const int error = guard()) return error;
    if (time_ms == nullptr) return fail(ErrorInvalidValue);
    completion_pointer first, last;
    if (const int error = mark_of(start, &first)) return error;
    if (const int error = mark_of(stop, &last)) return error;
    if (!first || !last || !start->timed || !stop->timed) return fail(ErrorInvalidResourceHandle);
    if (!is_done(first) || !is_done(last)) return is_broken() ? seen_fault() : fail(ErrorNotReady);
    *time_ms = std::chrono::duration<float, std::milli>(last->when - first->when).count();
    return seen_fault();
}

}  // namespace oprt_emulator::runtime
