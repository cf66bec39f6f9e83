// Faults that the engine itself finds: misuse of barriers and collectives, deadlock, assert. Signals are left to
// signals.cc.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "fault_record.h"
#include "grid.h"
#include "oprt_emulator/engine.h"
#include "scheduler.h"

namespace oprt_emulator {
namespace {

// Text built up in fixed storage; what does not fit is cut.
class text_builder {
public:
    text_builder(char *text, std::size_t size) : text_(text), size_(size) { text_[0] = '\0'; }

    __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
        if (used_ + 1 >= size_) return;
        va_list values;
        va_start(values, format);
        const int length = std::vsnprintf(text_ + used_, size_ - used_, format, values);
        va_end(values);
        if (length > 0) used_ += static_cast<std::size_t>(length);
        if (used_ >= size_) used_ = size_ - 1;
    }

private:
    char *text_;
    std::size_t size_;
    std::size_t used_ = 0;
};

const char *collective_name(collective kind) noexcept {
    switch (kind) {
        case collective::none: return "no collective";
        case collective::syncwarp: return "__syncwarp";
        case collective::shuffle: return "__shfl_sync";
        case collective::shuffle_up: return "__shfl_up_sync";
        case collective::shuffle_down: return "__shfl_down_sync";
        case collective::shuffle_xor: return "__shfl_xor_sync";
        case collective::ballot: return "__ballot_sync";
        case collective::all: return "__all_sync";
        case collective::any: return "__any_sync";
        case collective::active_mask: return "__activemask";
        case collective::match_any: return "__match_any_sync";
        case collective::match_all: return "__match_all_sync";
        case collective::reduce_add: return "__reduce_add_sync";
        case collective::reduce_min: return "__reduce_min_sync";
        case collective::reduce_max: return "__reduce_max_sync";
        case collective::reduce_and: return "__reduce_and_sync";
        case collective::reduce_or: return "__reduce_or_sync";
        case collective::reduce_xor: return "__reduce_xor_sync";
    }
    return "a collective";
}

bool is_one(const thread_set &set) { return set.size(thread_set::max_words) == 1; }

// "threads 0-15, 32" of the members of a set, cut after a few ranges.
void add_threads(text_builder &text, const thread_set &set, unsigned threads) {
    text.add("%s", is_one(set) ? "thread" : "threads");
    int ranges = 0;
    for (unsigned thread = 0; thread < threads; ++thread) {
        if (!set.contains(thread)) continue;
        unsigned last = thread;
        while (last + 1 < threads && set.contains(last + 1)) ++last;
        if (++ranges > 12) {
            text.add(", ...");
            return;
        }
        text.add(ranges == 1 ? " %u" : ", %u", thread);
        if (last > thread) text.add("-%u", last);
        thread = last;
    }
}

// The same as the subject of a sentence: "threads 0-15 wait", "thread 3 waits".
void add_waiting(text_builder &text, const thread_set &set, unsigned threads) {
    add_threads(text, set, threads);
    text.add(is_one(set) ? " waits" : " wait");
}

// A line for each place where lanes of a warp wait.
void add_waiting_lanes(text_builder &text, const worker &self, unsigned warp) {
    const block_state &block = self.block;
    for (unsigned slot = 0; slot < block.rendezvous_used[warp]; ++slot) {
        const rendezvous &meeting = self.meetings[slot][warp];
        if (meeting.arrived == 0) continue;
        thread_set waiting;
        waiting.insert_lanes(warp, meeting.arrived);
        text.add("\n  ");
        add_waiting(text, waiting, block.threads);
        thread_set missing;
        missing.insert_lanes(warp, meeting.mask & block.alive.lanes(warp) & ~meeting.arrived);
        text.add(" in %s at %s:%d (mask 0x%llx) for ", collective_name(meeting.kind), meeting.position.file,
                 meeting.position.line, static_cast<unsigned long long>(meeting.mask));
        add_threads(text, missing, block.threads);
    }
}

}  // namespace

const char *fault_name(fault_code code) noexcept {
    switch (code) {
        case fault_code::none: return "none";
        case fault_code::illegal_address: return "illegal_address";
        case fault_code::misaligned_address: return "misaligned_address";
        case fault_code::illegal_instruction: return "illegal_instruction";
        case fault_code::arithmetic: return "arithmetic";
        case fault_code::device_assert: return "device_assert";
        case fault_code::trap: return "trap";
        case fault_code::aborted: return "aborted";
        case fault_code::stack_overflow: return "stack_overflow";
        case fault_code::barrier_divergence: return "barrier_divergence";
        case fault_code::warp_misuse: return "warp_misuse";
        case fault_code::deadlock: return "deadlock";
        case fault_code::time_limit: return "time_limit";
        case fault_code::memory_corruption: return "memory_corruption";
        case fault_code::invalid_configuration: return "invalid_configuration";
        case fault_code::out_of_memory: return "out_of_memory";
        case fault_code::not_supported: return "not_supported";
    }
    return "unknown";
}

fault_record *claim_fault(grid &running) noexcept {
    return running.fault_claimed.exchange(true, std::memory_order_acq_rel) ? nullptr : &running.fault;
}

void note_thread(fault_record &record, const worker &self) noexcept {
    record.in_thread = true;
    record.block = self.context.block;
    record.thread = self.context.thread;
}

void abandon_block(worker &self) noexcept {
    self.faulted = true;
    resume_fibre(self.home);
}

void raise_fault(worker &self, fault_code code, const char *text) noexcept {
    grid &running = grid_of(self);
    if (fault_record *record = claim_fault(running)) {
        note_thread(*record, self);
        record->code = code;
        std::snprintf(record->text, sizeof record->text, "%s", text);
        note_own_frames(*record);
        running.abandoned.store(true, std::memory_order_release);
    }
    abandon_block(self);
}

void set_grid_fault(grid &running, fault_code code, const char *text) noexcept {
    if (fault_record *record = claim_fault(running)) {
        record->code = code;
        std::snprintf(record->text, sizeof record->text, "%s", text);
        running.abandoned.store(true, std::memory_order_release);
    }
}

void leave_if_abandoned(worker &self) noexcept {
    if (__builtin_expect(grid_of(self).abandoned.load(std::memory_order_relaxed), 0)) abandon_block(self);
}

void raise_deadlock_fault(worker &self) noexcept {
    leave_if_abandoned(self);
    const block_state &block = self.block;
    char storage[sizeof fault_record::text];
    text_builder text(storage, sizeof storage);
    text.add("deadlock: %u threads of the block wait for threads that never come", block.alive_count);
    if (block.barrier_arrived != 0) {
        text.add("\n  ");
        add_waiting(text, threads_at_barrier(self, true), block.threads);
        text.add(" in %s at %s:%d for the whole block", block.barrier_name, block.barrier_position.file,
                 block.barrier_position.line);
    }
    for (unsigned warp = 0; warp * static_cast<unsigned>(warp_size) < block.threads; ++warp) {
        add_waiting_lanes(text, self, warp);
    }
    raise_fault(self, fault_code::deadlock, storage);
}

void raise_divergence_fault(worker &self, const char *barrier, source_position position) noexcept {
    const block_state &block = self.block;
    char storage[sizeof fault_record::text];
    text_builder text(storage, sizeof storage);
    text.add("barrier divergence: this thread reached %s at %s:%d, while ", barrier, position.file, position.line);
    add_waiting(text, threads_at_barrier(self, false), block.threads);
    text.add(" in %s at %s:%d already", block.barrier_name, block.barrier_position.file, block.barrier_position.line);
    text.add("\n  every thread of a block has to come to the same barrier; is this one inside a condition or a loop?");
    raise_fault(self, fault_code::barrier_divergence, storage);
}

void raise_mask_fault(worker &self, collective kind, lane_mask mask, source_position position) noexcept {
    char storage[1024];
    text_builder text(storage, sizeof storage);
    const unsigned lane = self.context.linear_thread % static_cast<unsigned>(warp_size);
    text.add("%s at %s:%d: lane %u calls it with the mask 0x%llx, which does not name lane %u", collective_name(kind),
             position.file, position.line, lane, static_cast<unsigned long long>(mask), lane);
    if (warp_size == 64 && mask <= 0xFFFFFFFFu && lane >= 32) {
        text.add("\n  a warp has 64 lanes here; a mask of 32 bits leaves out lanes 32 to 63");
    }
    raise_fault(self, fault_code::warp_misuse, storage);
}

void raise_collective_fault(worker &self, const rendezvous &meeting, collective kind,
                            source_position position) noexcept {
    const unsigned warp = self.context.linear_thread / static_cast<unsigned>(warp_size);
    thread_set waiting;
    waiting.insert_lanes(warp, meeting.arrived);
    char storage[2048];
    text_builder text(storage, sizeof storage);
    text.add("divergence inside a warp: this thread reached %s at %s:%d, while ", collective_name(kind), position.file,
             position.line);
    add_waiting(text, waiting, self.block.threads);
    text.add(" in %s at %s:%d, with the same mask 0x%llx", collective_name(meeting.kind), meeting.position.file,
             meeting.position.line, static_cast<unsigned long long>(meeting.mask));
    raise_fault(self, fault_code::warp_misuse, storage);
}

void device_assert_fail(const char *expression, const char *file, int line, const char *function) {
    char storage[1536];
    text_builder text(storage, sizeof storage);
    text.add("%s:%d: assertion `%s` failed", file, line, expression);
    if (function != nullptr && *function != '\0') text.add(" in %s", function);
    raise_fault(this_worker(), fault_code::device_assert, storage);
}

void device_trap(const char *file, int line) {
    char storage[1024];
    text_builder text(storage, sizeof storage);
    text.add("__trap() at %s:%d", file, line);
    raise_fault(this_worker(), fault_code::trap, storage);
}

void device_not_supported(const char *what, const char *file, int line) {
    char storage[1024];
    text_builder text(storage, sizeof storage);
    text.add("%s at %s:%d is not supported by the emulator, which runs each block to its end", what, file, line);
    raise_fault(this_worker(), fault_code::not_supported, storage);
}

}  // namespace oprt_emulator
