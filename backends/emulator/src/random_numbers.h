// The generator of the random schedule orders: small, seeded, the same on every machine.
#pragma once

#include <cstdint>

#include "oprt_emulator/context.h"

namespace oprt_emulator {

// SplitMix64.
inline std::uint64_t next_random(std::uint64_t &state) noexcept {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

// A block's own seed: a block plays the same whichever worker runs it and whatever ran before.
inline std::uint64_t seed_of_block(std::uint64_t seed, index3 block) noexcept {
    std::uint64_t state = seed;
    state = next_random(state) ^ block.x;
    state = next_random(state) ^ block.y;
    return next_random(state) ^ block.z;
}

}  // namespace oprt_emulator
