// One launch while it runs: what the workers share.
#pragma once

#include <atomic>
#include <cstdint>

#include "fault_record.h"
#include "oprt_emulator/engine.h"
#include "options.h"
#include "shared_memory.h"

namespace oprt_emulator {

struct grid {
    const grid_request *request = nullptr;
    worker *caller = nullptr;  // of the host thread that runs the grid
    schedule_order order;
    std::uint64_t blocks = 0;
    unsigned block_threads = 0;
    std::uint64_t chunk = 1;        // blocks that a worker takes at once
    std::uint64_t random_step = 0;  // of random orders: block i * step + start, modulo blocks, is the i-th to start
    std::uint64_t random_start = 0;
    unsigned pool_share = 1;             // workers that may take part
    std::atomic<unsigned> helpers{0};    // that wanted to take part
    bool offered = false;                // to the helpers
    std::uint64_t patience_ends_ns = 0;  // when to offer it
    kernel_arrays *arrays = nullptr;     // static shared arrays of the kernel; null: unknown
    bool learn_arrays = false;           // look which other arrays the kernel uses
    double time_limit_s = 0;
    std::atomic<bool> stop_requested{false};  // by the watchdog
    std::atomic<int> stop_attempts{0};
    std::atomic<std::uint64_t> next_block{0};
    std::atomic<bool> abandoned{false};
    std::atomic<bool> fault_claimed{false};
    fault_record fault;  // filled by whoever claimed it, before abandoned is set
};

// Take blocks until none is left or the grid is abandoned. On the OS thread of the worker.
void work_on(grid &running, worker &self) noexcept;

}  // namespace oprt_emulator
