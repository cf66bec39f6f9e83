// What a GPU thread knows about itself, and how code on a GPU thread finds it: every worker owns one aligned area that
// holds its context at the bottom and the stacks of its GPU threads above, so the context is the stack pointer with its
// low bits cleared. No thread-local storage is involved: a module's TLS is full of shared arrays (see engine.h).
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef OPRT_EMULATOR_WARP_SIZE
#error "define OPRT_EMULATOR_WARP_SIZE as 32 or 64 for every source of an emulator module"
#endif

namespace oprt_emulator {

inline constexpr int warp_size = OPRT_EMULATOR_WARP_SIZE;
static_assert(warp_size == 32 || warp_size == 64, "a warp has 32 or 64 lanes");

using lane_mask = std::uint64_t;
inline constexpr lane_mask all_lanes = warp_size == 64 ? ~lane_mask{0} : (lane_mask{1} << (warp_size % 64)) - 1;

inline constexpr unsigned max_block_threads = 1024;

// x, y, z of a thread, a block or an extent.
struct index3 {
    unsigned x, y, z;
};

// Small functions on the way to a thread index stay inlined in builds that inline little (-O0, -O1).
#define OPRT_EMULATOR_INLINE inline __attribute__((always_inline))

// The context's own storage type: with type-based aliasing a kernel's stores cannot be taken for changes of it.
enum class index_word : std::uint32_t {};

struct index_words {
    index_word x, y, z;

    OPRT_EMULATOR_INLINE operator index3() const noexcept {
        return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    }
};

// How the threads of a block start. Until its first suspension a block is a plain loop over its threads on one stack.
enum class thread_loop : std::uint32_t { none, forward, backward };

struct thread_context {
    index_words thread;
    index_words block;
    index_words block_dim;
    index_words grid_dim;
    std::uint32_t linear_thread;  // x + y * dim.x + z * dim.x * dim.y
    thread_loop loop;
    void *dynamic_shared;
};

// Size and alignment of a worker's area.
inline constexpr std::uintptr_t worker_area_bytes = std::uintptr_t{1} << 28;

// The context of the running GPU thread. Only for code that runs inside a kernel; elsewhere the address means nothing.
OPRT_EMULATOR_INLINE thread_context *current_context() noexcept {
    std::uintptr_t stack_pointer;
#if defined(__x86_64__)
    __asm__("mov %%rsp, %0" : "=r"(stack_pointer));
#elif defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(stack_pointer));
#else
    stack_pointer = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
    return reinterpret_cast<thread_context *>(stack_pointer & ~(worker_area_bytes - 1));
}

OPRT_EMULATOR_INLINE index3 thread_index() noexcept { return current_context()->thread; }
OPRT_EMULATOR_INLINE index3 block_index() noexcept { return current_context()->block; }
OPRT_EMULATOR_INLINE index3 block_dim() noexcept { return current_context()->block_dim; }
OPRT_EMULATOR_INLINE index3 grid_dim() noexcept { return current_context()->grid_dim; }

// The calling thread's number in its block, and its lane and warp.
OPRT_EMULATOR_INLINE unsigned linear_thread() noexcept { return current_context()->linear_thread; }
OPRT_EMULATOR_INLINE unsigned lane_index() noexcept { return linear_thread() % warp_size; }
OPRT_EMULATOR_INLINE unsigned warp_index() noexcept { return linear_thread() / warp_size; }

// Start of the block's dynamic shared memory: 128-byte aligned; its end is followed by a canary and a guard page.
OPRT_EMULATOR_INLINE void *dynamic_shared() noexcept { return current_context()->dynamic_shared; }

}  // namespace oprt_emulator
