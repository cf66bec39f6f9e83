// The watchdog thread. It measures in its own ticks, so that a launch need not read the clock, and sleeps while nothing
// is launched.
#include "watchdog.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "signals.h"

namespace oprt_emulator {
namespace {

constexpr double longest_tick_s = 0.25;
constexpr double shortest_tick_s = 0.002;
constexpr int idle_ticks_before_sleep = 8;
constexpr unsigned max_watched = 4096;

// What was last seen of a worker, by its number.
struct observation {
    std::uint64_t grid_number = 0;
    double since_s = 0;
};

struct watchdog_state {
    std::mutex examining_mutex;  // held while the watchdog looks at grids
    std::atomic<bool> examining{false};
    std::atomic<std::uint32_t> asleep{0};  // futex
    std::atomic<std::uint32_t> tick_us{static_cast<std::uint32_t>(longest_tick_s * 1e6)};
    observation seen[max_watched];
};

std::mutex start_mutex;
// Null until the first grid with a limit; never destroyed, and left behind by a forked child, which starts its own.
std::atomic<watchdog_state *> watchdog{nullptr};

double now_s() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Interrupt every worker that is in a block of the grid.
void stop_workers(grid &running) noexcept {
    running.stop_requested.store(true, std::memory_order_release);
    for (unsigned i = 0; i < known_workers(); ++i) {
        worker &candidate = known_worker(i);
        if (candidate.running.load() == &running && candidate.in_block.load()) {
            pthread_kill(candidate.os_thread, stop_signal());
        }
    }
}

// Whether any grid runs.
bool examine(watchdog_state &state, double now) noexcept {
    std::lock_guard<std::mutex> lock(state.examining_mutex);
    state.examining.store(true);
    bool any = false;
    const unsigned count = std::min(known_workers(), max_watched);
    for (unsigned i = 0; i < count; ++i) {
        worker &host = known_worker(i);
        grid *running = host.watched.load();
        if (running == nullptr) continue;
        any = true;
        observation &seen = state.seen[i];
        if (seen.grid_number != host.watched_grids) seen = {host.watched_grids, now};
        if (running->time_limit_s > 0 && now - seen.since_s > running->time_limit_s) stop_workers(*running);
    }
    state.examining.store(false);
    return any;
}

void sleep_until_launch(watchdog_state &state) noexcept {
    state.asleep.store(1);
    // A grid that started before it could see the flag is seen here.
    if (examine(state, now_s())) {
        state.asleep.store(0);
        return;
    }
    while (state.asleep.load() == 1) syscall(SYS_futex, &state.asleep, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
}

void *watchdog_main(void *argument) {
    auto &state = *static_cast<watchdog_state *>(argument);
    for (int idle = 0;;) {
        usleep(state.tick_us.load(std::memory_order_relaxed));
        idle = examine(state, now_s()) ? 0 : idle + 1;
        if (idle < idle_ticks_before_sleep) continue;
        sleep_until_launch(state);
        idle = 0;
    }
    return nullptr;
}

watchdog_state *start_watchdog() noexcept {
    std::lock_guard<std::mutex> lock(start_mutex);
    watchdog_state *state = watchdog.load();
    if (state != nullptr) return state;
    state = new watchdog_state;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    const bool started = pthread_create(&thread, nullptr, &watchdog_main, state) == 0;
    if (started) {
        pthread_setname_np(thread, "oprt-watchdog");
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started) {
        delete state;
        return nullptr;  // no thread to be had: no limit for this grid
    }
    watchdog.store(state);
    return state;
}

void shorten_tick(watchdog_state &state, double limit_s) noexcept {
    const double tick_s = std::max(shortest_tick_s, std::min(longest_tick_s, limit_s / 10));
    const auto tick_us = static_cast<std::uint32_t>(tick_s * 1e6);
    if (tick_us < state.tick_us.load(std::memory_order_relaxed))
        state.tick_us.store(tick_us, std::memory_order_relaxed);
}

__attribute__((constructor)) void leave_watchdog_in_forks() {
    pthread_atfork([] { start_mutex.lock(); }, [] { start_mutex.unlock(); },
                   [] {
                       watchdog.store(nullptr);
                       start_mutex.unlock();
                   });
}

}  // namespace

void watch_grid(grid &running, double time_limit_s) noexcept {
    running.time_limit_s = time_limit_s;
    if (time_limit_s <= 0) return;
    watchdog_state *state = watchdog.load(std::memory_order_acquire);
    if (state == nullptr) state = start_watchdog();
    if (state == nullptr) return;
    if (time_limit_s < 10 * longest_tick_s) shorten_tick(*state, time_limit_s);
    worker &host = *running.caller;
    ++host.watched_grids;
    host.watched.store(&running);
    if (state->asleep.load() != 0) {
        state->asleep.store(0);
        syscall(SYS_futex, &state->asleep, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
}

void unwatch_grid(grid &running) noexcept {
    worker &host = *running.caller;
    if (host.watched.load(std::memory_order_relaxed) == nullptr) return;
    host.watched.store(nullptr);
    watchdog_state *state = watchdog.load(std::memory_order_acquire);
    if (state != nullptr && state->examining.load()) {
        std::lock_guard<std::mutex> wait_for_it(state->examining_mutex);
    }
}

}  // namespace oprt_emulator
