// The time limit: a thread that looks now and then which grids still run, and stops those that have run too long.
#pragma once

#include "grid.h"

namespace oprt_emulator {

// Around a grid, on its host thread. Costs a store each while the watchdog is awake.
void watch_grid(grid &running, double time_limit_s) noexcept;
void unwatch_grid(grid &running) noexcept;

}  // namespace oprt_emulator
