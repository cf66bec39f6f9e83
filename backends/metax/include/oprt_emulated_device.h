// What the emulator says of itself where it stands in for a MetaX device, from public sources on the C500 family.
#pragma once

#include "oprt_emulator/runtime.h"

namespace oprt::vendor {

inline constexpr oprt_emulator::runtime::device_facts emulated_device = {
    "emulated MetaX semantics (wave 64) on CPU - not a MetaX device",
    10,
    0,       // what the xcore1000 family reports
    104,     // multiprocessors
    2048,    // threads each
    32,      // blocks each
    131072,  // registers a block
    65536,   // shared memory a block: all of it without an opt-in
    65536,
    65536,
    0,
    8388608,  // L2
    0,
};

}  // namespace oprt::vendor
