// Crash containment: a signal that a kernel raises abandons its grid instead of the process. Signals of anything else
// go to the handlers that were there before.
#pragma once

#include <signal.h>

namespace oprt_emulator {

// Install the handlers, or put them back on top when somebody else's were installed since. Cheap when nothing changed.
void ensure_signal_handlers() noexcept;

// A stack for the handlers on the calling OS thread, which keeps one of somebody else's that is large enough. Before each
// grid, as others may take theirs away; forget before the thread ends.
void provide_signal_stack() noexcept;
void forget_signal_stack() noexcept;

// Let the calling OS thread receive the signals: a fault that is blocked kills the process.
void unblock_fault_signals() noexcept;

// Take the signals that must reach a helper thread out of a set to block.
void keep_fault_signals(sigset_t &blocked) noexcept;

// The signal that stops a worker inside a block whose grid has stop_requested.
int stop_signal() noexcept;

}  // namespace oprt_emulator
