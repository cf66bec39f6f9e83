// The areas of the workers: made for an OS thread on its first grid, kept until it ends, then given to the next one.
#include "worker.h"

#include <sys/mman.h>

#include <mutex>
#include <new>

#include "pages.h"
#include "signals.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13: a guard page without a mapping of its own
#endif

namespace oprt_emulator {
namespace {

constexpr unsigned max_areas = 4096;
constexpr std::size_t line_offset_bytes =
    320;  // between the tops of neighbouring stacks, so that they do not share cache sets

// Set once, before the first worker is published.
std::size_t page_bytes;
std::size_t state_bytes;         // of the worker and its guard
std::size_t stack_stride_bytes;  // with the guard page below; an odd number of pages, which spreads stacks over the TLB

std::mutex areas_mutex;
std::atomic<worker *> areas[max_areas];
std::atomic<unsigned> area_count{0};
worker *unused[max_areas];
unsigned unused_count = 0;

// Dynamic shared memory lies between the worker and the stacks: data up to dynamic_shared_end, then a guard page.
std::size_t dynamic_region_bytes() { return round_up(max_dynamic_shared_bytes, page_bytes) + 2 * page_bytes; }
std::size_t stacks_offset() { return state_bytes + dynamic_region_bytes(); }

void compute_layout() {
    page_bytes = page_size_bytes();
    state_bytes = round_up(sizeof(worker), page_bytes) + page_bytes;
    std::size_t pages = (worker_area_bytes - stacks_offset()) / max_block_threads / page_bytes;
    if (pages % 2 == 0) --pages;
    stack_stride_bytes = pages * page_bytes;
}

char *base_of(const worker &self) { return reinterpret_cast<char *>(const_cast<worker *>(&self)); }

char *stack_bottom(const worker &self, unsigned stack) {
    return base_of(self) + stacks_offset() + stack * stack_stride_bytes;  // where the guard page is
}

// An aligned stretch of address space, without memory behind it.
char *reserve_area() {
    const std::size_t size = 2 * worker_area_bytes;
    void *raw = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    char *begin = static_cast<char *>(raw);
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(begin);
    const std::size_t before = (worker_area_bytes - address % worker_area_bytes) % worker_area_bytes;
    char *area = begin + before;
    if (before != 0) munmap(begin, before);
    if (before != worker_area_bytes) munmap(area + worker_area_bytes, worker_area_bytes - before);
    return area;
}

worker *make_area() {
    if (page_bytes == 0) compute_layout();
    const unsigned index = area_count.load(std::memory_order_relaxed);
    if (index == max_areas) return nullptr;
    char *area = reserve_area();
    if (area == nullptr) return nullptr;
    if (mprotect(area, state_bytes - page_bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(area, worker_area_bytes);
        return nullptr;
    }
    // Default, not value, initialisation: the meetings are large and start when a kernel uses them; mapped memory is
    // zero.
    auto *self = new (area) worker;
    areas[index].store(self, std::memory_order_relaxed);
    area_count.store(index + 1, std::memory_order_release);
    return self;
}

worker *acquire_worker() {
    std::lock_guard<std::mutex> lock(areas_mutex);
    return unused_count != 0 ? unused[--unused_count] : make_area();
}

// Holds the worker of an OS thread until the thread ends.
struct worker_holder {
    worker *held = nullptr;

    ~worker_holder() {
        if (held == nullptr) return;
        forget_signal_stack();
        std::lock_guard<std::mutex> lock(areas_mutex);
        unused[unused_count++] = held;
    }
};

thread_local worker_holder holder;

// A child has only the forking thread: the workers of the others, in whatever state, are free again.
void free_lost_workers() {
    unused_count = 0;
    for (unsigned i = 0; i < area_count.load(); ++i) {
        worker *lost = areas[i].load();
        if (lost == holder.held) continue;
        lost->running = nullptr;
        lost->watched = nullptr;
        lost->in_block = false;
        lost->in_handler = false;
        unused[unused_count++] = lost;
    }
    areas_mutex.unlock();
}

__attribute__((constructor)) void keep_areas_whole_in_forks() {
    pthread_atfork([] { areas_mutex.lock(); }, [] { areas_mutex.unlock(); }, &free_lost_workers);
}

// One stack: memory above, a guard page below. Most kernels have few threads, so stacks get ready in the order of their
// use.
bool make_stack(worker &self, unsigned stack) {
    char *bottom = stack_bottom(self, stack);
    if (mprotect(bottom, stack_stride_bytes, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(bottom, stack_stride_bytes, MADV_NOHUGEPAGE);
    if (madvise(bottom, page_bytes, MADV_GUARD_INSTALL) == 0) return true;
    return mprotect(bottom, page_bytes, PROT_NONE) == 0;
}

}  // namespace

worker *worker_of_address(const void *address) noexcept {
    const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(address) & ~(worker_area_bytes - 1);
    const unsigned count = area_count.load(std::memory_order_acquire);
    for (unsigned i = 0; i < count; ++i) {
        worker *candidate = areas[i].load(std::memory_order_relaxed);
        if (reinterpret_cast<std::uintptr_t>(candidate) == base) return candidate;
    }
    return nullptr;
}

worker *worker_in_handler(pthread_t os_thread) noexcept {
    const unsigned count = area_count.load(std::memory_order_acquire);
    for (unsigned i = 0; i < count; ++i) {
        worker *candidate = areas[i].load(std::memory_order_relaxed);
        if (candidate->in_handler && pthread_equal(candidate->os_thread, os_thread)) return candidate;
    }
    return nullptr;
}

unsigned known_workers() noexcept { return area_count.load(std::memory_order_acquire); }

worker &known_worker(unsigned index) noexcept { return *areas[index].load(std::memory_order_relaxed); }

area_place place_of_address(const void *address) noexcept {
    const worker *self = worker_of_address(address);
    if (self == nullptr) return area_place::not_an_area;
    const auto offset = static_cast<std::size_t>(static_cast<const char *>(address) - base_of(*self));
    if (offset < state_bytes) return area_place::state;
    if (offset < stacks_offset() - page_bytes) return area_place::dynamic_shared;
    if (offset < stacks_offset()) return area_place::dynamic_shared_guard;
    return (offset - stacks_offset()) % stack_stride_bytes < page_bytes ? area_place::stack_guard : area_place::stack;
}

worker *worker_of_os_thread() noexcept {
    if (holder.held == nullptr) {
        worker *self = acquire_worker();
        if (self == nullptr) return nullptr;
        self->os_thread = pthread_self();
        self->thread_local_base = nullptr;
        unblock_fault_signals();
        holder.held = self;
    }
    return holder.held;
}

bool ensure_stacks(worker &self, unsigned count) noexcept {
    for (; self.stacks_ready < count; ++self.stacks_ready) {
        if (!make_stack(self, self.stacks_ready)) return false;
    }
    return true;
}

bool ensure_dynamic_shared(worker &self, std::size_t size_bytes) noexcept {
    char *begin = base_of(self) + state_bytes;
    const std::size_t room = dynamic_region_bytes() - page_bytes;
    if (size_bytes > room) return false;
    if (self.dynamic_shared_end == nullptr) {
        if (mprotect(begin, room, PROT_READ | PROT_WRITE) != 0) return false;
        madvise(begin, room, MADV_NOHUGEPAGE);
        self.dynamic_shared_end = begin + room;
    }
    return true;
}

void *stack_top(worker &self, unsigned stack) noexcept {
    const std::size_t colour = stack * line_offset_bytes % 4096 & ~std::size_t{63};
    return stack_bottom(self, stack) + stack_stride_bytes - colour;
}

std::size_t stack_size_bytes() noexcept { return stack_stride_bytes - page_bytes - 4096; }

}  // namespace oprt_emulator
