// What the emulator says of itself where it stands in for an NVIDIA device: the limits of compute capability 9.0.
#pragma once

#include "oprt_emulator/runtime.h"

namespace oprt::vendor {

inline constexpr oprt_emulator::runtime::device_facts emulated_device = {
    "emulated NVIDIA semantics (warp 32) on CPU - not an NVIDIA device",
    9,
    0,
    128,     // multiprocessors: no product's number, but a grid of a few blocks each fills the emulator's threads well
    2048,    // threads each
    32,      // blocks each
    65536,   // registers a block
    49152,   // shared memory a block
    232448,  // with the opt-in
    233472,  // of a multiprocessor
    1024,    // reserved
    0,
    13000,  // of the runtime interface
};

}  // namespace oprt::vendor
