// The switch between stacks: one implementation a processor, ucontext for the others (OPRT_EMULATOR_FIBRE=asm|ucontext,
// passed as the macro OPRT_EMULATOR_FIBRE_ASM = 1 or 0). Knows nothing of threads, blocks or schedules.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(OPRT_EMULATOR_FIBRE_ASM)
#if defined(__x86_64__) || defined(__aarch64__)
#define OPRT_EMULATOR_FIBRE_ASM 1
#else
#define OPRT_EMULATOR_FIBRE_ASM 0
#endif
#endif

namespace oprt_emulator {

// A suspended stack; what it points to belongs to the implementation and lies on that stack.
using fibre = void *;

using fibre_entry = void (*)();

// Make a fibre that starts entry, which never returns, on the stack that ends below top (16-byte aligned).
fibre prepare_fibre(void *top, fibre_entry entry) noexcept;

// switch_fibre(from, to): save the running fibre in *from and continue to; returns when somebody continues *from.
// resume_fibre(to): continue to and never come back. A fibre stays on one OS thread.
#if OPRT_EMULATOR_FIBRE_ASM
extern "C" {
__attribute__((visibility("hidden"))) void oprt_emulator_switch_fibre(fibre *from, fibre to) noexcept;
[[noreturn]] __attribute__((visibility("hidden"))) void oprt_emulator_resume_fibre(fibre to) noexcept;
}
inline void switch_fibre(fibre *from, fibre to) noexcept { oprt_emulator_switch_fibre(from, to); }
[[noreturn]] inline void resume_fibre(fibre to) noexcept { oprt_emulator_resume_fibre(to); }
#else
void switch_fibre(fibre *from, fibre to) noexcept;
[[noreturn]] void resume_fibre(fibre to) noexcept;
#endif

// In a signal handler: make the return from the handler continue to instead of the interrupted code. signal_context is
// the handler's third argument. May itself not return (ucontext).
void resume_fibre_after_signal(void *signal_context, fibre to) noexcept;

// Fetch the part of a suspended stack that continuing it reads first. Any pointer will do.
inline void prefetch_fibre(fibre to) noexcept {
    const auto stack = reinterpret_cast<std::uintptr_t>(to);  // may be null, which a pointer could not be added to
    __builtin_prefetch(reinterpret_cast<const void *>(stack));
    __builtin_prefetch(reinterpret_cast<const void *>(stack + 64));
    __builtin_prefetch(reinterpret_cast<const void *>(stack + 128));
}

}  // namespace oprt_emulator
