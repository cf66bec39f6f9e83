// The helpers: OS threads that join the host thread which runs a grid. Kept between grids; a forked child makes its
// own.
#pragma once

#include "grid.h"

namespace oprt_emulator {

// Workers in all that a grid may have: the option, else what the machine gives.
unsigned pool_threads(const engine_options &options) noexcept;

// Run the grid on the caller and as many helpers as pay. threads: workers in all, the caller included.
void run_on_pool(grid &running, worker &caller, unsigned threads) noexcept;

// Called by the caller's work loop between chunks: bring in helpers once the grid has shown that it takes a while.
void consider_helpers(grid &running) noexcept;

}  // namespace oprt_emulator
