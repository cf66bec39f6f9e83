// The inside of the runtime interface: faults, units of work, streams, events and captures. Shared by the
// runtime_api_*.cc alone. Two ways to run: at once in the calling thread (the default), or, with CAMP_EMULATOR_ASYNC=1,
// by one worker thread a stream, in order, so that missing synchronisation shows. All mutable state below is guarded by
// state().mutex unless said otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "oprt_emulator/runtime.h"

namespace oprt_emulator::runtime {

// Faults of kernels. A fault is pending until a call that waits sees it; from then on every call fails with it, until
// the device is reset. Work that comes after a fault is dropped.
void set_fault(fault_code code, std::string report);
bool is_broken();  // pending or seen
int guard();       // first line of a call: 0, or the fault that was seen, as the call's failure
int seen_fault();  // last line of a call that waited: a pending fault counts as seen from here on; 0 when there is none
void forget_fault();

// Whether streams have workers of their own. Read from the environment once.
bool asynchronous();

// One thing for a stream to do. Runs any number of times when it is a node of a graph.
struct work {
    int kind;  // see node_kinds in runtime.h
    std::function<void()> run;
};

struct completion {
    bool done = false;
    std::chrono::steady_clock::time_point when;
};
using completion_pointer = std::shared_ptr<completion>;

struct task {
    std::function<void()> run;
    std::vector<completion_pointer> after;
    completion_pointer done;
};

// How many nodes of each stream are before a point of a capture: a vector clock.
using capture_clock = std::map<const stream *, size_t>;

struct capture {
    int mode;
    unsigned long long id;
    stream *origin;
    std::thread::id thread;
    bool invalid = false;
    std::vector<work> nodes;  // in the order of the calls, which is an order that their dependencies allow
    capture_clock counts;
};

// The word by which a handle is told to be alive. Objects are never freed but kept for the next create, so a stale
// handle can be asked too: without the lock, by any thread.
class life_mark {
public:
    life_mark(uint64_t value) : value_(value) {}
    life_mark(const life_mark &other) : value_(uint64_t{other}) {}
    life_mark &operator=(const life_mark &other) {
        value_.store(uint64_t{other}, std::memory_order_release);
        return *this;
    }
    operator uint64_t() const { return value_.load(std::memory_order_acquire); }

private:
    std::atomic<uint64_t> value_;
};

struct stream {
    static constexpr uint64_t alive = 0x6F70727473747265;

    life_mark magic = alive;
    bool blocking = true;  // waits for the default stream and is waited for by it
    int priority = 0;
    std::shared_ptr<capture> capturing;
    capture_clock clock;

    // Asynchronous mode.
    std::deque<task> queue;
    completion_pointer tail;  // of the task given last
    bool running = false;
    bool has_worker = false;
};

struct event {
    static constexpr uint64_t alive = 0x6F7072746576656E;

    life_mark magic = alive;
    bool timed = true;
    completion_pointer last;             // null: never recorded
    bool captured = false;               // last recorded in a capture: of no use outside
    std::weak_ptr<capture> captured_in;  // while that capture runs: the point of it
    capture_clock captured_at;
};

struct graph {
    static constexpr uint64_t alive = 0x6F70727467726170;

    life_mark magic = alive;
    std::vector<work> nodes;
};

struct executable {
    static constexpr uint64_t alive = 0x6F70727465786563;

    life_mark magic = alive;
    std::shared_ptr<const std::vector<work>> nodes;
};

// Objects behind the handles. Destroyed ones are kept and used again.
template <typename object>
class object_pool {
public:
    object *take() {
        if (unused_.empty()) return new object;
        object *taken = unused_.back();
        unused_.pop_back();
        *taken = object();
        return taken;
    }
    void give_back(object *used) {
        *used = object();
        used->magic = 0;
        unused_.push_back(used);
    }

private:
    std::vector<object *> unused_;
};

struct runtime_state {
    std::mutex mutex;
    // A task was queued or done, a stream destroyed. A pointer, because a forked child cannot use one that others wait
    // at.
    std::condition_variable *changed = new std::condition_variable;
    stream default_stream;
    std::vector<stream *> streams;  // all that may still have work, the default stream first
    object_pool<stream> stream_pool;
    object_pool<event> event_pool;
    object_pool<graph> graph_pool;
    object_pool<executable> executable_pool;
    std::vector<std::shared_ptr<capture>> captures;
    std::atomic<int> active_captures{0};
};
runtime_state &state();  // made on first use, never destroyed: streams may outlive the statics

template <typename object>
bool is_alive(const object *handle) {
    return handle != nullptr && handle->magic == object::alive;
}

// The stream of a handle, null for one that is none.
stream *find_stream(stream *handle);

// Calls that could wait for or depend on work outside a capture are refused while one runs, by the rules of its mode,
// and spoil it. 0, or the failure.
int refuse_in_capture();
// Work in the default stream would wait for the blocking streams: refused while one of them is captured, which is
// spoilt.
int refuse_implicit_order(const stream *on);
// Waiting for the whole device is refused while any capture runs, and spoils them all.
int refuse_waiting_for_all();

// Record a node when the stream is being captured. True when the call is over, with *error as its result. Takes the
// lock.
bool recorded_in_capture(stream *on, int kind, const std::function<std::function<void()>()> &make, int *error);

// Asynchronous mode: queue a task. Call without the lock.
completion_pointer enqueue(stream *on, std::function<void()> run, std::vector<completion_pointer> after = {});
void wait_for(const completion_pointer &awaited);
void wait_for_all_streams();
// Every waiting call ends here: what kernels printed becomes visible, a fault is seen.
int finish_wait();

// Give a stream something to do: now, later or in the graph that is being captured. run is copied only in the last two
// cases.
template <typename function>
int submit(stream *handle, int kind, function &&run) {
    if (const int error = guard()) return error;
    stream *on = find_stream(handle);
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    if (state().active_captures.load(std::memory_order_acquire) != 0) {
        int error = Success;
        if (recorded_in_capture(
                on, kind, [&] { return std::function<void()>(run); }, &error))
            return error;
    }
    if (asynchronous()) {
        enqueue(on, std::forward<function>(run));
    } else if (!is_broken()) {
        run();
    }
    return Success;
}

}  // namespace oprt_emulator::runtime
