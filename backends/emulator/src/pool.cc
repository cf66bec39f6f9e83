// Helper threads, and how a grid gets them: a grid that looks large wakes them at once, any other only after it has run
// for a while, so that a launch of a few small blocks costs no wake-up. One grid has the helpers at a time; grids of
// other host threads run alone.
#include "pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <mutex>

#include "signals.h"

namespace oprt_emulator {
namespace {

// Work that is worth a wake-up at once: about 60 us for one worker.
constexpr std::uint64_t large_grid_threads = 32768;
// A grid that has run for this long gets helpers, if it has blocks left.
constexpr std::uint64_t patience_ns = 20000;
constexpr int spin_rounds = 2000;

struct pool_state {
    std::mutex owner;  // held by the host thread whose grid has the helpers
    std::atomic<grid *> offered{nullptr};
    std::atomic<unsigned> inside{0};      // helpers that may be looking at the offered grid
    std::atomic<std::uint32_t> calls{0};  // futex: changes when a grid is offered
    std::atomic<unsigned> sleeping{0};
    unsigned helpers = 0;  // under owner
};

// Never destroyed: helpers sleep in it until the process ends.
pool_state *pool = new pool_state;
std::atomic<unsigned> default_threads{0};

void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void futex_wait(std::atomic<std::uint32_t> &word, std::uint32_t seen) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t> &word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

std::uint64_t now_ns() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint32_t wait_for_call(pool_state &state, std::uint32_t seen) noexcept {
    for (int round = 0; round < spin_rounds; ++round) {
        const std::uint32_t calls = state.calls.load(std::memory_order_acquire);
        if (calls != seen) return calls;
        relax();
    }
    state.sleeping.fetch_add(1);
    while (state.calls.load() == seen) futex_wait(state.calls, seen);
    state.sleeping.fetch_sub(1);
    return state.calls.load();
}

void *helper_main(void *argument) {
    auto &state = *static_cast<pool_state *>(argument);
    worker *self = worker_of_os_thread();
    std::uint32_t seen = 0;
    while (self != nullptr) {
        // A grid is looked at only between the two changes of inside; its host thread waits until inside falls to 0.
        state.inside.fetch_add(1);
        grid *running = state.offered.load();
        if (running != nullptr && running->helpers.fetch_add(1) + 1 < running->pool_share) work_on(*running, *self);
        state.inside.fetch_sub(1);
        seen = wait_for_call(state, seen);
    }
    return nullptr;
}

// Helpers take no signals of the host program; only faults of their own reach them.
void start_helper(pool_state &state) {
    sigset_t all, before;
    sigfillset(&all);
    keep_fault_signals(all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, &helper_main, &state) == 0) {
        pthread_setname_np(thread, "oprt-emulator");
        pthread_detach(thread);
        ++state.helpers;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void offer(grid &running) noexcept {
    while (pool->helpers + 1 < running.pool_share) {
        const unsigned before = pool->helpers;
        start_helper(*pool);
        if (pool->helpers == before) break;  // no more threads to be had; run with those that are there
    }
    running.offered = true;
    pool->offered.store(&running);
    pool->calls.fetch_add(1);
    if (pool->sleeping.load() != 0) futex_wake(pool->calls);
}

void withdraw() noexcept {
    pool->offered.store(nullptr);
    for (int round = 0; pool->inside.load() != 0; ++round) {
        if (round < spin_rounds) {
            relax();
        } else {
            sched_yield();
        }
    }
}

// The helpers do not exist in the child; a new pool gets its own on the first large grid.
void after_fork_in_child() { pool = new pool_state; }

__attribute__((constructor)) void leave_pool_in_forks() { pthread_atfork(nullptr, nullptr, &after_fork_in_child); }

}  // namespace

unsigned pool_threads(const engine_options &options) noexcept {
    if (options.threads != 0) return options.threads;
    unsigned threads = default_threads.load(std::memory_order_relaxed);
    if (threads == 0) {
        threads = worker_count(options);
        default_threads.store(threads, std::memory_order_relaxed);
    }
    return threads;
}

void run_on_pool(grid &running, worker &caller, unsigned threads) noexcept {
    std::unique_lock<std::mutex> owner(pool->owner, std::defer_lock);
    const bool may_share = threads > 1 && running.blocks > 1 && owner.try_lock();
    running.pool_share = may_share ? threads : 1;
    if (may_share) {
        const std::uint64_t threads_in_all = running.blocks * running.block_threads;
        if (threads_in_all >= large_grid_threads) {
            offer(running);
        } else {
            running.patience_ends_ns = now_ns() + patience_ns;
        }
    }
    work_on(running, caller);
    if (running.offered) withdraw();
}

void consider_helpers(grid &running) noexcept {
    if (running.pool_share <= 1 || running.offered) return;
    if (now_ns() >= running.patience_ends_ns) offer(running);
}

}  // namespace oprt_emulator
