// Which GPU thread of a block runs next. A block starts as a plain loop over its threads on one stack; the first thread
// that has to wait keeps that stack, and the others go on, each on a fresh one only when it has to wait too.
#pragma once

#include "fault_record.h"
#include "worker.h"

namespace oprt_emulator {

// Run one block to its end. False: it was abandoned, the grid has the reason.
bool run_block(worker &self, index3 block);

// Before the blocks of a grid: what follows from its extents.
void set_block_dim(worker &self, const index3 &dim) noexcept;

// End the loop phase: from now on the sets of block_state hold. Call before the running thread waits or counts others.
void demote(worker &self) noexcept;
inline void ensure_demoted(worker &self) noexcept {
    if (__builtin_expect(self.context.loop != thread_loop::none, 0)) demote(self);
}

// The ready thread whose turn it is after another one, taken out of the ready ones; nobody when none is ready.
unsigned pick_next(worker &self, unsigned from) noexcept;

// Let the context be that of a thread.
inline void set_thread(worker &self, unsigned thread) noexcept {
    self.context.linear_thread = thread;
    if (__builtin_expect(self.flat, 1)) {
        self.context.thread.x = static_cast<index_word>(thread);
    } else {
        self.context.thread = self.thread_table[thread];
    }
}

// switch_to a thread that has not begun: on a fresh stack.
void begin_thread(worker &self, unsigned next);

// Give the processor to another thread, which is no longer among the ready ones. Returns when the running thread's turn
// comes again. Nothing is to be done after it, so that it ends its callers' frames too: fewer cache lines a suspended
// thread.
inline void switch_to(worker &self, unsigned next) {
    block_state &block = self.block;
    const fibre target = block.stack_of[next];
    if (__builtin_expect(target == nullptr, 0)) return begin_thread(self, next);
    // A stack that will run soon; what lies behind the last thread's is old or null, which does no harm. Measured: a tree
    // reduction of 256 threads takes 8 % longer without this, 4 % longer with the very next stack instead.
    prefetch_fibre(block.stack_of[next + prefetch_distance]);
    const unsigned thread = self.context.linear_thread;
    set_thread(self, next);
    return switch_fibre(&block.stack_of[thread], target);
}

// suspend() when the next thread of the ring is not the one to run, or nobody is.
void suspend_elsewhere(worker &self);

// Run others until somebody makes the running thread ready.
inline void suspend(worker &self) {
    block_state &block = self.block;
    const unsigned next = self.context.linear_thread + 1;
    if (__builtin_expect(block.plain_ring && block.ready.take(next), 1)) return switch_to(self, next);
    return suspend_elsewhere(self);
}

// In random orders: let others run before the running thread goes on, which stays ready.
void take_random_turn(worker &self);
inline void take_turns(worker &self) {
    if (__builtin_expect(self.order.way == schedule_order::direction::random, 0)) take_random_turn(self);
}

// Release the barrier when everybody alive has come.
bool release_barrier_if_complete(worker &self) noexcept;

// After a thread of the warp exited: complete the meetings that waited for it only.
void complete_meetings(worker &self, unsigned warp) noexcept;

// When no other lane of the warp can run, the lanes in active_mask are released.
void resolve_open_meetings(worker &self) noexcept;

// The threads that wait at the block's barrier; the running one counts when it is among them.
thread_set threads_at_barrier(const worker &self, bool running_waits) noexcept;

}  // namespace oprt_emulator
