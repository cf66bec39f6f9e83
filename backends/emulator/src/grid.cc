// The run of a grid: checks, the work loop of a worker, and what happens after the last block.
#include "grid.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "memory_checks.h"
#include "pool.h"
#include "random_numbers.h"
#include "report.h"
#include "scheduler.h"
#include "signals.h"
#include "watchdog.h"

namespace oprt_emulator {
namespace {

using direction = schedule_order::direction;

// In 64 bits, which hold it where the first two extents are known to fit a block.
std::uint64_t threads_of(const index3 &dim) { return std::uint64_t{dim.x} * dim.y * dim.z; }

std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b) {
    while (b != 0) {
        const std::uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Blocks of a random order: a step without a common divisor with their number visits each once.
void choose_random_blocks(grid &running) {
    std::uint64_t state = running.order.seed;
    running.random_start = next_random(state) % running.blocks;
    do {
        running.random_step = next_random(state) % running.blocks | 1;
    } while (greatest_common_divisor(running.random_step, running.blocks) != 1);
}

// The number of the block that starts as the i-th.
std::uint64_t block_at(const grid &running, std::uint64_t i) {
    switch (running.order.way) {
        case direction::forward: return i;
        case direction::backward: return running.blocks - 1 - i;
        case direction::random: break;
    }
    using wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<wide>(i) * running.random_step + running.random_start) %
                                      running.blocks);
}

index3 block_index(const grid &running, std::uint64_t block) {
    const index3 &extent = running.request->grid;
    if (block < extent.x) return {static_cast<unsigned>(block), 0, 0};
    const std::uint64_t row = block / extent.x;
    return {static_cast<unsigned>(block % extent.x), static_cast<unsigned>(row % extent.y),
            static_cast<unsigned>(row / extent.y)};
}

index_words words_of(const index3 &index) {
    return {static_cast<index_word>(index.x), static_cast<index_word>(index.y), static_cast<index_word>(index.z)};
}

// Everything of a worker that is the same for all blocks of the grid.
bool prepare_worker(grid &running, worker &self) {
    const grid_request &request = *running.request;
    self.running = &running;
    self.order = running.order;
    set_block_dim(self, request.block);
    self.context.grid_dim = words_of(request.grid);
    if (!ensure_stacks(self, self.block.threads) || !prepare_shared(running, self)) {
        set_grid_fault(running, fault_code::out_of_memory,
                       "no memory for the stacks or shared memory of the GPU threads");
        return false;
    }
    return true;
}

// "" when the launch may run.
std::string configuration_error(const grid_request &request, const engine_options &options) {
    const index3 &grid_dim = request.grid;
    const index3 &block_dim = request.block;
    char text[256];
    if (!options.error.empty()) return options.error;
    if (grid_dim.x == 0 || grid_dim.y == 0 || grid_dim.z == 0 || grid_dim.x > 0x7FFFFFFF || grid_dim.y > 65535 ||
        grid_dim.z > 65535) {
        std::snprintf(text, sizeof text, "the grid is (%u, %u, %u); wanted 1 to (2147483647, 65535, 65535)", grid_dim.x,
                      grid_dim.y, grid_dim.z);
        return text;
    }
    if (block_dim.x == 0 || block_dim.y == 0 || block_dim.z == 0 ||
        std::uint64_t{block_dim.x} * block_dim.y > max_block_threads || threads_of(block_dim) > max_block_threads) {
        std::snprintf(text, sizeof text, "the block is (%u, %u, %u); wanted 1 to %u threads", block_dim.x, block_dim.y,
                      block_dim.z, max_block_threads);
        return text;
    }
    return shared_memory_error(request);
}

void set_chunk(grid &running, unsigned threads) {
    const std::uint64_t chunk = running.blocks / (std::uint64_t{threads} * 16);
    running.chunk = chunk == 0 ? 1 : chunk > 64 ? 64 : chunk;
}

}  // namespace

void work_on(grid &running, worker &self) noexcept {
    if (!prepare_worker(running, self)) return;
    const bool is_caller = running.caller == &self;
    for (;;) {
        const std::uint64_t first = running.next_block.fetch_add(running.chunk, std::memory_order_relaxed);
        if (first >= running.blocks) break;
        const std::uint64_t left = running.blocks - first;
        const std::uint64_t last = first + (left < running.chunk ? left : running.chunk);
        for (std::uint64_t i = first; i < last; ++i) {
            if (running.abandoned.load(std::memory_order_relaxed)) break;
            poison_shared(running, self);
            if (!run_block(self, block_index(running, block_at(running, i)))) break;
            if (!check_shared(running, self)) break;
        }
        if (running.abandoned.load(std::memory_order_relaxed)) break;
        if (is_caller) consider_helpers(running);
    }
    finish_shared(running, self);
    self.running = nullptr;
}

// Run a grid that may run: its configuration is right.
static void run_blocks(grid &running, const engine_options &options) {
    worker &self = *running.caller;
    const grid_request &request = *running.request;
    running.block_threads = static_cast<unsigned>(threads_of(request.block));
    running.blocks = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
    const unsigned threads = pool_threads(options);
    set_chunk(running, threads);
    if (running.order.way == direction::random) choose_random_blocks(running);
    find_arrays(running);
    ensure_signal_handlers();
    provide_signal_stack();
    begin_access();
    watch_grid(running, options.time_limit_s);
    run_on_pool(running, self, threads);
    unwatch_grid(running);
    check_memory(running);
    end_access();
}

static fault_code run_or_throw(const grid_request &request) {
    grid running;
    running.request = &request;
    const engine_options options = read_options();
    running.order = options.order;
    running.caller = worker_of_os_thread();
    const std::string error = configuration_error(request, options);
    if (!error.empty()) {
        set_grid_fault(running, fault_code::invalid_configuration, error.c_str());
    } else if (running.caller == nullptr) {
        set_grid_fault(running, fault_code::out_of_memory, "no address space for the stacks of the GPU threads");
    } else {
        run_blocks(running, options);
    }
    if (!running.fault_claimed.load(std::memory_order_acquire)) return fault_code::none;
    write_report(running);
    return running.fault.code;
}

fault_code run_grid(const grid_request &request) noexcept {
    if (inside_kernel()) {
        raise_fault(this_worker(), fault_code::not_supported,
                    "a kernel launched a kernel; the emulator runs launches of the host only");
    }
    try {
        return run_or_throw(request);
    } catch (const std::bad_alloc &) {
        // Only what comes before and after the blocks allocates.
        forget_report();
        return fault_code::out_of_memory;
    }
}

bool inside_kernel() noexcept {
    const int here = 0;
    const worker *self = worker_of_address(&here);
    return self != nullptr && self->running.load() != nullptr;
}

}  // namespace oprt_emulator
