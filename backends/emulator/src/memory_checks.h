// What a grid asks of the device memory: whether its kernel broke a canary.
#pragma once

#include <string>

#include "grid.h"

namespace oprt_emulator {

// After the last block: sets the grid's fault when a canary next to an allocation is broken.
void check_memory(grid &running) noexcept;

// "4 bytes past the end of allocation 3 (1024 bytes at 0x...)" for a report; "" when the address is not device memory.
std::string describe_device_address(const void *address);

}  // namespace oprt_emulator
