// The scheduler of one block: loop phase, suspension, orders, the end of threads.
#include "scheduler.h"

#include <sched.h>

#include <cstdio>
#include <exception>

#include "fault_record.h"
#include "grid.h"
#include "oprt_emulator/engine.h"
#include "oprt_emulator/launch.h"
#include "random_numbers.h"

namespace oprt_emulator {
namespace {

using direction = schedule_order::direction;

unsigned random_below(block_state &block, unsigned limit) noexcept {
    return static_cast<unsigned>((next_random(block.random) >> 32) * limit >> 32);
}

// A ready thread of the warp, or nobody.
unsigned pick_in_warp(block_state &block, unsigned from, direction way) noexcept {
    const unsigned warp = from / static_cast<unsigned>(warp_size);
    const unsigned first = warp * static_cast<unsigned>(warp_size);
    const lane_mask lanes = block.ready.lanes(warp);
    if (lanes == 0) return thread_set::nobody;
    const unsigned lane = from - first;
    if (way == direction::random) {
        const unsigned rank = random_below(block, static_cast<unsigned>(__builtin_popcountll(lanes)));
        return first + thread_set::nth_bit(lanes, rank);
    }
    if (way == direction::forward) {
        const lane_mask after = lane + 1 < 64 ? lanes >> (lane + 1) << (lane + 1) : 0;
        return first + static_cast<unsigned>(__builtin_ctzll(after != 0 ? after : lanes));
    }
    const lane_mask before = lanes & ((lane_mask{1} << lane) - 1);
    return first + 63 - static_cast<unsigned>(__builtin_clzll(before != 0 ? before : lanes));
}

void fibre_main();

unsigned take_stack(block_state &block) noexcept {
    return block.free_stack_count != 0 ? block.free_stacks[--block.free_stack_count] : block.stacks_begun++;
}

// A fibre that will begin the thread that the context then holds.
fibre begin_stack(worker &self) noexcept {
    block_state &block = self.block;
    block.new_stack = take_stack(block);
    return prepare_fibre(stack_top(self, block.new_stack), &fibre_main);
}

[[noreturn]] void leave_block(worker &self) { resume_fibre(self.home); }

void run_body(worker &self) {
    const grid_request &request = *grid_of(self).request;
    char thrown[256];
    try {
        request.body(request.packed_args);
        return;
    } catch (const std::exception &error) {
        std::snprintf(thrown, sizeof thrown, "the kernel threw a C++ exception: %s", error.what());
    } catch (...) {
        std::snprintf(thrown, sizeof thrown, "the kernel threw a C++ exception");
    }
    raise_fault(self, fault_code::aborted, thrown);
}

// The running thread has returned from the kernel.
void finish_thread(worker &self) noexcept {
    block_state &block = self.block;
    const unsigned thread = self.context.linear_thread;
    block.alive.erase(thread);
    --block.alive_count;
    block.idle_yields = 0;
    if (block.barrier_arrived != 0) release_barrier_if_complete(self);
    const unsigned warp = thread / static_cast<unsigned>(warp_size);
    if (block.rendezvous_used[warp] != 0) complete_meetings(self, warp);
    if (block.open_warps != 0) resolve_open_meetings(self);
}

// The life of a stack: run the thread of the context; then, as long as no suspended thread's turn comes, begin others.
void fibre_main() {
    worker &self = this_worker();
    block_state &block = self.block;
    const unsigned stack = block.new_stack;
    for (;;) {
        run_body(self);
        if (self.context.loop != thread_loop::none) leave_block(self);
        finish_thread(self);
        if (block.alive_count == 0) leave_block(self);
        const unsigned next = pick_next(self, self.context.linear_thread);
        if (next == thread_set::nobody) raise_deadlock_fault(self);
        set_thread(self, next);
        if (block.stack_of[next] != nullptr) {
            block.free_stacks[block.free_stack_count++] = static_cast<std::uint16_t>(stack);
            resume_fibre(block.stack_of[next]);
        }
    }
}

}  // namespace

// A ready thread of the whole block, or nobody.
static unsigned pick_in_block(block_state &block, unsigned from, direction way) noexcept {
    if (way == direction::forward) return block.ready.next_from(from + 1, block.words);
    if (way == direction::backward) return block.ready.previous_from(from - 1, block.words);
    const unsigned count = block.ready.size(block.words);
    return count == 0 ? thread_set::nobody : block.ready.at_rank(random_below(block, count));
}

unsigned pick_next(worker &self, unsigned from) noexcept {
    block_state &block = self.block;
    const schedule_order &order = self.order;
    // Threads of a warp that only spin may wait for another warp.
    const bool warp_first = order.warp_first && block.idle_yields < static_cast<unsigned>(warp_size);
    unsigned next = warp_first ? pick_in_warp(block, from, order.way) : thread_set::nobody;
    if (next == thread_set::nobody) next = pick_in_block(block, from, order.way);
    if (next != thread_set::nobody) block.ready.erase(next);
    return next;
}

void begin_thread(worker &self, unsigned next) {
    const unsigned thread = self.context.linear_thread;
    set_thread(self, next);
    return switch_fibre(&self.block.stack_of[thread], begin_stack(self));
}

bool next_row(thread_context &context) noexcept {
    if (context.loop == thread_loop::none) return false;
    auto &self = reinterpret_cast<worker &>(context);
    const unsigned next = context.linear_thread + (context.loop == thread_loop::forward ? 1u : ~0u);
    if (next >= self.block.threads) return false;
    set_thread(self, next);
    return true;
}

void set_block_dim(worker &self, const index3 &dim) noexcept {
    self.context.block_dim = {static_cast<index_word>(dim.x), static_cast<index_word>(dim.y),
                              static_cast<index_word>(dim.z)};
    self.context.thread = {};
    self.block.threads = dim.x * dim.y * dim.z;
    self.block.words = (self.block.threads + thread_set::word_bits - 1) / thread_set::word_bits;
    self.flat = dim.y == 1 && dim.z == 1;
    const index3 &table = self.table_dim;
    if (self.flat || (table.x == dim.x && table.y == dim.y && table.z == dim.z)) return;
    self.table_dim = dim;
    index_words *entry = self.thread_table;
    for (unsigned z = 0; z < dim.z; ++z) {
        for (unsigned y = 0; y < dim.y; ++y) {
            for (unsigned x = 0; x < dim.x; ++x) {
                *entry++ = {static_cast<index_word>(x), static_cast<index_word>(y), static_cast<index_word>(z)};
            }
        }
    }
}

void demote(worker &self) noexcept {
    block_state &block = self.block;
    const unsigned thread = self.context.linear_thread;
    const bool forward = self.context.loop == thread_loop::forward;
    const unsigned first = forward ? thread : 0;
    const unsigned last = forward ? block.threads : thread + 1;
    block.alive.assign_range(first, last);
    block.ready.assign_range(first, last);
    block.ready.erase(thread);
    block.alive_count = last - first;
    block.plain_ring = forward && self.order.way == direction::forward && !self.order.warp_first;
    block.barrier_true[0] = block.barrier_true[1] = 0;
    block.idle_yields = 0;
    block.open_warps = 0;
    for (unsigned i = first; i < last; ++i) block.stack_of[i] = nullptr;
    for (unsigned i = first; i < last; ++i) block.meeting_of[i] = 0xFF;
    for (unsigned i = 0; i < max_warps; ++i) block.rendezvous_used[i] = 0;
    self.context.loop = thread_loop::none;
}

bool run_block(worker &self, index3 block_index) {
    block_state &block = self.block;
    self.context.block = {static_cast<index_word>(block_index.x), static_cast<index_word>(block_index.y),
                          static_cast<index_word>(block_index.z)};
    block.barrier_arrived = 0;
    block.free_stack_count = 0;
    block.stacks_begun = 0;
    const bool backward = self.order.way == direction::backward;
    self.context.loop = backward ? thread_loop::backward : thread_loop::forward;
    set_thread(self, backward ? block.threads - 1 : 0);
    if (self.order.way == direction::random) {
        block.random = seed_of_block(self.order.seed, block_index);
        demote(self);
        block.ready.insert(0);
        const unsigned first = random_below(block, block.threads);
        block.ready.erase(first);
        set_thread(self, first);
    }
    self.faulted = false;
    self.in_block.store(true, std::memory_order_relaxed);
    switch_fibre(&self.home, begin_stack(self));
    self.in_block.store(false, std::memory_order_relaxed);
    return !self.faulted;
}

void suspend_elsewhere(worker &self) {
    if (self.block.open_warps != 0) resolve_open_meetings(self);
    const unsigned thread = self.context.linear_thread;
    const unsigned next = pick_next(self, thread);
    if (next == thread_set::nobody) raise_deadlock_fault(self);
    if (next != thread)
        switch_to(self, next);  // else it was released just now, from active_mask, and its turn has come at once
}

void take_random_turn(worker &self) {
    const unsigned thread = self.context.linear_thread;
    self.block.ready.insert(thread);
    const unsigned next = pick_next(self, thread);
    if (next != thread) switch_to(self, next);
}

void yield() noexcept {
    worker &self = this_worker();
    ensure_demoted(self);
    block_state &block = self.block;
    leave_if_abandoned(self);
    if (grid_of(self).stop_requested.load(std::memory_order_relaxed)) raise_fault(self, fault_code::time_limit, "");
    ++block.idle_yields;
    const unsigned thread = self.context.linear_thread;
    unsigned next = pick_next(self, thread);
    if (next == thread_set::nobody && block.open_warps != 0) {
        resolve_open_meetings(self);  // whoever spins may wait for them
        next = pick_next(self, thread);
    }
    if (next == thread_set::nobody || block.idle_yields % 1024 == 0) sched_yield();
    if (next == thread_set::nobody) return;
    block.ready.insert(thread);
    switch_to(self, next);
}

}  // namespace oprt_emulator
