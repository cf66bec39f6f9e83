// A fault as it is found, in fixed storage so that a signal handler can fill it in; report.cc makes text of it later.
#pragma once

#include <cstddef>

#include "oprt_emulator/fault.h"
#include "worker.h"

namespace oprt_emulator {

struct fault_record {
    static constexpr int max_frames = 24;

    fault_code code = fault_code::none;
    bool in_thread = false;  // block and thread say where
    index3 block;
    index3 thread;
    int signal = 0;                 // 0: the engine itself found it
    const void *address = nullptr;  // of SIGSEGV and SIGBUS
    bool address_known = false;
    // Code addresses, innermost first: return addresses, but the first one of a signal is that of the instruction.
    void *frames[max_frames];
    int frame_count = 0;
    char text[3584];  // what happened, one or more lines
};

// Claim the grid's only fault record; null when another thread was faster. Safe in signal handlers.
fault_record *claim_fault(grid &running) noexcept;

// Fill in block and thread from the worker's context.
void note_thread(fault_record &record, const worker &self) noexcept;

// Fill in the calls that led to the caller, which runs on a GPU thread's stack.
void note_own_frames(fault_record &record) noexcept;

// Abandon the running block, from code on a GPU thread's stack.
[[noreturn]] void abandon_block(worker &self) noexcept;

// Report a fault of the running GPU thread and abandon the grid. text may have several lines.
[[noreturn]] void raise_fault(worker &self, fault_code code, const char *text) noexcept;

[[noreturn]] void raise_deadlock_fault(worker &self) noexcept;
[[noreturn]] void raise_divergence_fault(worker &self, const char *barrier, source_position position) noexcept;
[[noreturn]] void raise_mask_fault(worker &self, collective kind, lane_mask mask, source_position position) noexcept;
[[noreturn]] void raise_collective_fault(worker &self, const rendezvous &meeting, collective kind,
                                         source_position position) noexcept;

// Report a fault that has no GPU thread, before or after the blocks.
void set_grid_fault(grid &running, fault_code code, const char *text) noexcept;

// Abandon the block when another worker's fault has ended the grid.
void leave_if_abandoned(worker &self) noexcept;

}  // namespace oprt_emulator
