// Stack switch for x86-64. Saves with mov and ends with ret: an ending jump unbalances the processor's return-address
// predictor and costs a barrier twice the time. The vector unit's control word is not switched: kernels do not change
// rounding.
#include "fibre.h"

#if OPRT_EMULATOR_FIBRE_ASM && defined(__x86_64__)

#include <ucontext.h>

#include <cstdint>

// The saved frame, from the saved stack pointer up: rbx, rbp, r12 to r15, return address.
__asm__(R"(
    .text
    .p2align 4
    .globl oprt_emulator_switch_fibre
    .hidden oprt_emulator_switch_fibre
    .type oprt_emulator_switch_fibre, @function
oprt_emulator_switch_fibre:
    .cfi_startproc
    sub $48, %rsp
    .cfi_adjust_cfa_offset 48
    mov %rbx, 0(%rsp)
    .cfi_rel_offset rbx, 0
    mov %rbp, 8(%rsp)
    .cfi_rel_offset rbp, 8
    mov %r12, 16(%rsp)
    .cfi_rel_offset r12, 16
    mov %r13, 24(%rsp)
    .cfi_rel_offset r13, 24
    mov %r14, 32(%rsp)
    .cfi_rel_offset r14, 32
    mov %r15, 40(%rsp)
    .cfi_rel_offset r15, 40
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    mov 0(%rsp), %rbx
    mov 8(%rsp), %rbp
    mov 16(%rsp), %r12
    mov 24(%rsp), %r13
    mov 32(%rsp), %r14
    mov 40(%rsp), %r15
    add $48, %rsp
    .cfi_adjust_cfa_offset -48
    ret
    .cfi_endproc
    .size oprt_emulator_switch_fibre, . - oprt_emulator_switch_fibre

    .p2align 4
    .globl oprt_emulator_resume_fibre
    .hidden oprt_emulator_resume_fibre
    .type oprt_emulator_resume_fibre, @function
oprt_emulator_resume_fibre:
    mov %rdi, %rsp
    mov 0(%rsp), %rbx
    mov 8(%rsp), %rbp
    mov 16(%rsp), %r12
    mov 24(%rsp), %r13
    mov 32(%rsp), %r14
    mov 40(%rsp), %r15
    add $48, %rsp
    ret
    .size oprt_emulator_resume_fibre, . - oprt_emulator_resume_fibre
)");

namespace oprt_emulator {

fibre prepare_fibre(void *top, fibre_entry entry) noexcept {
    // The entry sees a stack pointer of 8 modulo 16, as after a call, and a return address of 0, where unwinding stops.
    auto *frame = static_cast<std::uint64_t *>(top) - 10;
    for (int word = 0; word < 6; ++word) frame[word] = 0;
    frame[6] = reinterpret_cast<std::uint64_t>(entry);
    frame[7] = 0;
    return frame;
}

void resume_fibre_after_signal(void *signal_context, fibre to) noexcept {
    auto &registers = static_cast<ucontext_t *>(signal_context)->uc_mcontext.gregs;
    registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&oprt_emulator_resume_fibre));
    registers[REG_RDI] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(to));
    registers[REG_RSP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(to) & ~std::uintptr_t{15});
}

}  // namespace oprt_emulator

#endif
