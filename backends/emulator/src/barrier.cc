// Block barriers: every thread that is alive arrives, the last one releases the others and goes on.
#include <cstring>

#include "fault_record.h"
#include "oprt_emulator/engine.h"
#include "scheduler.h"

namespace oprt_emulator {
namespace {

bool same_position(const source_position &a, const source_position &b) noexcept {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

[[noreturn]] __attribute__((noinline, cold)) void diverge(worker &self, const char *name,
                                                          const source_position &position) {
    raise_divergence_fault(self, name, position);
}

// The first thread to come: the block may still be a loop.
__attribute__((noinline)) void arrive_first(worker &self, const char *name, const char *file, int line) {
    ensure_demoted(self);
    self.block.barrier_position = {file, line};
    self.block.barrier_name = name;
}

// Count the running thread; whether it is the last one.
inline bool arrive(worker &self, const char *name, const char *file, int line) {
    block_state &block = self.block;
    const source_position &first = block.barrier_position;
    if (__builtin_expect(block.barrier_arrived == 0, 0)) {
        arrive_first(self, name, file, line);
    } else if (__builtin_expect(line != first.line || file != first.file, 0) && !same_position(first, {file, line})) {
        diverge(self, name, {file, line});
    }
    return ++block.barrier_arrived == block.alive_count;
}

// The last thread to come releases the others and goes on.
__attribute__((noinline)) void release_as_last(worker &self) {
    release_barrier_if_complete(self);
    self.block.ready.erase(self.context.linear_thread);
    leave_if_abandoned(self);
    take_turns(self);
}

// Wait for the block; the number of threads that brought true.
unsigned count_at_barrier(const char *name, bool predicate, const char *file, int line) {
    worker &self = this_worker();
    const bool last = arrive(self, name, file, line);
    unsigned &count = self.block.barrier_true[self.block.barrier_generation & 1];
    count += predicate ? 1 : 0;
    if (last) {
        release_as_last(self);
    } else {
        suspend(self);
    }
    return count;
}

}  // namespace

bool release_barrier_if_complete(worker &self) noexcept {
    block_state &block = self.block;
    if (block.barrier_arrived != block.alive_count) return false;
    block.barrier_arrived = 0;
    ++block.barrier_generation;
    block.barrier_true[block.barrier_generation & 1] = 0;
    block.idle_yields = 0;
    block.ready.copy(block.alive, block.words);
    return true;
}

thread_set threads_at_barrier(const worker &self, bool running_waits) noexcept {
    const block_state &block = self.block;
    thread_set waiting = block.alive;
    waiting.erase_all(block.ready);
    if (!running_waits) waiting.erase(self.context.linear_thread);
    for (unsigned warp = 0; warp * static_cast<unsigned>(warp_size) < block.threads; ++warp) {
        for (unsigned slot = 0; slot < block.rendezvous_used[warp]; ++slot) {
            thread_set meeting;
            meeting.insert_lanes(warp, self.meetings[slot][warp].arrived);
            waiting.erase_all(meeting);
        }
    }
    return waiting;
}

// The common case apart, without a frame of its own: a suspended thread then has less to keep in the cache.
__attribute__((noinline)) static void syncthreads_with_care(worker &self, const char *file, int line) {
    if (arrive(self, "__syncthreads", file, line)) return release_as_last(self);
    return suspend(self);
}

void syncthreads(const char *file, int line) {
    worker &self = this_worker();
    block_state &block = self.block;
    const unsigned arrived = block.barrier_arrived + 1;
    const source_position &first = block.barrier_position;
    if (__builtin_expect(arrived == 1 || arrived == block.alive_count || line != first.line || file != first.file, 0)) {
        return syncthreads_with_care(self, file, line);
    }
    block.barrier_arrived = arrived;
    return suspend(self);
}

int syncthreads_count(bool predicate, const char *file, int line) {
    return static_cast<int>(count_at_barrier("__syncthreads_count", predicate, file, line));
}

int syncthreads_and(bool predicate, const char *file, int line) {
    return count_at_barrier("__syncthreads_and", !predicate, file, line) == 0 ? 1 : 0;
}

int syncthreads_or(bool predicate, const char *file, int line) {
    return count_at_barrier("__syncthreads_or", predicate, file, line) != 0 ? 1 : 0;
}

}  // namespace oprt_emulator
