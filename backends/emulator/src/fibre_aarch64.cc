// Stack switch for aarch64: the registers that a call keeps (x19 to x30, d8 to d15) and the stack pointer.
#include "fibre.h"

#if OPRT_EMULATOR_FIBRE_ASM && defined(__aarch64__)

#include <ucontext.h>

#include <cstdint>

extern "C" __attribute__((visibility("hidden"))) void oprt_emulator_begin_fibre();

// The saved frame, from the saved stack pointer up: x19 to x30, d8 to d15. A new fibre begins with its entry in x19 and
// clears the return address, where unwinding stops.
__asm__(R"(
    .text
    .p2align 4
    .globl oprt_emulator_switch_fibre
    .hidden oprt_emulator_switch_fibre
    .type oprt_emulator_switch_fibre, %function
oprt_emulator_switch_fibre:
    .cfi_startproc
    sub sp, sp, #160
    .cfi_adjust_cfa_offset 160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    .cfi_rel_offset x29, 80
    .cfi_rel_offset x30, 88
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov x0, x1
    b oprt_emulator_resume_fibre
    .cfi_endproc
    .size oprt_emulator_switch_fibre, . - oprt_emulator_switch_fibre

    .p2align 4
    .globl oprt_emulator_resume_fibre
    .hidden oprt_emulator_resume_fibre
    .type oprt_emulator_resume_fibre, %function
oprt_emulator_resume_fibre:
    mov sp, x0
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size oprt_emulator_resume_fibre, . - oprt_emulator_resume_fibre

    .p2align 4
    .globl oprt_emulator_begin_fibre
    .hidden oprt_emulator_begin_fibre
    .type oprt_emulator_begin_fibre, %function
oprt_emulator_begin_fibre:
    mov x30, xzr
    br x19
    .size oprt_emulator_begin_fibre, . - oprt_emulator_begin_fibre
)");

namespace oprt_emulator {

fibre prepare_fibre(void *top, fibre_entry entry) noexcept {
    auto *frame = static_cast<std::uint64_t *>(top) - 20;
    for (int word = 0; word < 20; ++word) frame[word] = 0;
    frame[0] = reinterpret_cast<std::uint64_t>(entry);                        // x19
    frame[11] = reinterpret_cast<std::uint64_t>(&oprt_emulator_begin_fibre);  // x30
    return frame;
}

void resume_fibre_after_signal(void *signal_context, fibre to) noexcept {
    auto &machine = static_cast<ucontext_t *>(signal_context)->uc_mcontext;
    machine.pc = reinterpret_cast<std::uintptr_t>(&oprt_emulator_resume_fibre);
    machine.regs[0] = reinterpret_cast<std::uintptr_t>(to);
    machine.sp = reinterpret_cast<std::uintptr_t>(to);
}

}  // namespace oprt_emulator

#endif
