// The text of a fault report.
#pragma once

#include "grid.h"

namespace oprt_emulator {

// Make the text of the grid's fault and keep it as the calling thread's last_report(). On the host thread of the grid.
void write_report(const grid &running);

// There is no report of the last failure: no memory for it.
void forget_report() noexcept;

}  // namespace oprt_emulator
