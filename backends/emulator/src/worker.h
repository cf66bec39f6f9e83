// A worker: one OS thread's place to run blocks, one after the other. It lies at the bottom of an aligned area whose
// upper part holds the stacks of the block's GPU threads, so that code on such a stack finds it from its stack pointer
// alone.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fibre.h"
#include "oprt_emulator/context.h"
#include "oprt_emulator/warp.h"
#include "options.h"
#include "thread_set.h"

namespace oprt_emulator {

struct grid;

inline constexpr unsigned max_warps = max_block_threads / warp_size;
// A lane waits in one rendezvous at a time or has not yet fetched its values from one, and the running lane needs one
// more.
inline constexpr unsigned rendezvous_per_warp = warp_size + 1;

// How many threads ahead of the next one a stack is fetched into the cache.
inline constexpr unsigned prefetch_distance = 3;

struct source_position {
    const char *file;
    int line;
};

// Where the lanes of one warp and mask meet.
struct rendezvous {
    lane_mask mask;
    lane_mask arrived;
    std::uint32_t generation;  // its lowest bit names the half of values that the lanes now fill
    collective kind;
    bool open;                 // of active_mask: the mask is whoever comes
    source_position position;  // of the first to arrive
    lane_values values[2];     // the half before stays valid until every lane has come again
};

// The block that a worker runs. Only context.loop means something while the block is still a loop; demote() fills the
// rest.
struct block_state {
    unsigned threads;
    unsigned words;   // of the thread sets, that the block uses
    bool plain_ring;  // threads take turns in the order ring, and no lane is in active_mask
    unsigned alive_count;
    thread_set alive;  // begun or not, and not exited
    thread_set ready;  // alive, neither running nor waiting
    unsigned barrier_arrived;
    std::uint32_t barrier_generation;
    source_position barrier_position;
    unsigned barrier_true[2];  // predicates of syncthreads_count and so on, by generation
    const char *barrier_name;
    std::uint64_t random;  // state of the generator of random orders
    unsigned idle_yields;
    std::uint64_t open_warps;                               // warps with lanes in active_mask, a bit each
    fibre stack_of[max_block_threads + prefetch_distance];  // null: not begun
    std::uint8_t meeting_of[max_block_threads];             // the thread's last rendezvous in its warp
    std::uint8_t rendezvous_used[max_warps];
    std::uint16_t free_stacks[max_block_threads];
    unsigned free_stack_count;
    unsigned stacks_begun;
    unsigned new_stack;  // handed to the fibre that is about to begin
};

struct worker {
    thread_context context;       // first: see current_context()
    std::atomic<grid *> running;  // null between grids
    schedule_order order;         // of that grid
    fibre home;                   // the OS thread's own stack while a block runs
    std::atomic<bool> in_block;
    std::atomic<bool> in_handler;  // a signal of this worker is being handled
    bool faulted;                  // the block was abandoned
    unsigned stacks_ready;         // stacks with memory and guard
    std::atomic<grid *> watched;   // the grid that this worker's host thread runs, for the watchdog
    std::uint64_t watched_grids;   // how many there were
    pthread_t os_thread;
    char *dynamic_shared_end;
    char *thread_local_base;  // of the module on this OS thread, once its shared arrays are poisoned; null before
    bool first_block;         // of the grid has not ended yet
    bool flat;                // the block has only an x extent
    index3 table_dim;         // the extents that the table below is for
    rendezvous *meeting;      // that the running lane has joined and not finished
    block_state block;
    index_words thread_table[max_block_threads];  // of blocks that are not flat
    // By slot, then warp: slot 0 of all warps lies together, and few kernels use another.
    rendezvous meetings[rendezvous_per_warp][max_warps];
};

// The worker whose fibre is running. Only inside a kernel.
OPRT_EMULATOR_INLINE worker &this_worker() noexcept { return *reinterpret_cast<worker *>(current_context()); }

// The grid that a worker runs a block of.
inline grid &grid_of(const worker &self) noexcept { return *self.running.load(std::memory_order_relaxed); }

// The worker in whose area an address lies, or null. Safe in signal handlers.
worker *worker_of_address(const void *address) noexcept;

// The worker of an OS thread that is in its signal handler, or null. Safe in signal handlers.
worker *worker_in_handler(pthread_t os_thread) noexcept;

// All workers that were ever made, by number.
unsigned known_workers() noexcept;
worker &known_worker(unsigned index) noexcept;

// What an address in a worker's area is.
enum class area_place { not_an_area, state, stack, stack_guard, dynamic_shared, dynamic_shared_guard };
area_place place_of_address(const void *address) noexcept;

// The worker of the calling OS thread, made on first use and given back when the thread ends. Null: no memory.
worker *worker_of_os_thread() noexcept;

// Give the worker that many usable stacks. False: no memory.
bool ensure_stacks(worker &self, unsigned count) noexcept;

// Make room for dynamic shared memory of that size, whose end is dynamic_shared_end. False: no memory.
bool ensure_dynamic_shared(worker &self, std::size_t size_bytes) noexcept;

// The (coloured) top of a stack.
void *stack_top(worker &self, unsigned stack) noexcept;

// Usable bytes of a stack, at least.
std::size_t stack_size_bytes() noexcept;

inline constexpr std::size_t max_dynamic_shared_bytes = std::size_t{1} << 20;

}  // namespace oprt_emulator
