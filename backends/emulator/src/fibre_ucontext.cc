// Stack switch over ucontext, for processors without one of their own. Portable and slow: a system call a switch.
#include "fibre.h"

#if !OPRT_EMULATOR_FIBRE_ASM

#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <new>

namespace oprt_emulator {

fibre prepare_fibre(void *top, fibre_entry entry) noexcept {
    // The context lies at the top of the stack that it describes; the stack below it is as long as the caller made it,
    // so only its end matters here.
    constexpr std::uintptr_t assumed_stack_bytes = 16384;
    const std::uintptr_t place = (reinterpret_cast<std::uintptr_t>(top) - sizeof(ucontext_t)) & ~std::uintptr_t{63};
    auto *context = new (reinterpret_cast<void *>(place)) ucontext_t;
    getcontext(context);
    context->uc_link = nullptr;
    context->uc_stack.ss_sp = reinterpret_cast<void *>(place - assumed_stack_bytes);
    context->uc_stack.ss_size = assumed_stack_bytes;
    makecontext(context, entry, 0);
    return context;
}

void switch_fibre(fibre *from, fibre to) noexcept {
    ucontext_t own;
    *from = &own;
    swapcontext(&own, static_cast<ucontext_t *>(to));
}

void resume_fibre(fibre to) noexcept {
    setcontext(static_cast<ucontext_t *>(to));
    __builtin_trap();
}

void resume_fibre_after_signal(void *, fibre to) noexcept {
    // setcontext gives back the signal mask of the time when the fibre was saved.
    resume_fibre(to);
}

}  // namespace oprt_emulator

#endif
