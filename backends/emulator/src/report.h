// The text of a fault report.
#pragma once

#include "grid.h"

namespace oprt_emulator {

// Make the text of the grid's fault and keep it as the calling thread's last_report(). On the host thread of the grid.
void write_report(const grid &running);

}  // namespace oprt_emulator
