// The environment variables of the engine, read at each launch so that a test may change them in its own process.
#pragma once

#include <cstdint>
#include <string>

#include "oprt_emulator/context.h"

namespace oprt_emulator {

// How the threads of a block take turns, and in which order blocks start.
struct schedule_order {
    enum class direction : std::uint8_t { forward, backward, random };

    bool warp_first =
        false;  // a warp runs until a block barrier before another one does; else thread by thread round the block
    direction way = direction::forward;
    std::uint64_t seed = 0;  // of random
};

struct engine_options {
    schedule_order order;
    unsigned threads = 0;      // CAMP_EMULATOR_THREADS; 0: not given
    double time_limit_s = 60;  // CAMP_EMULATOR_TIME_LIMIT; 0: none
    std::string error;         // what a variable holds that cannot be understood; "" when all is well
};

// "ring-random:7" and so on, as CAMP_EMULATOR_ORDER takes it.
std::string order_text(const schedule_order &order);

// Cheap when none of the variables is set.
engine_options read_options();

// Workers of the pool, the caller of run_grid included: the option, else the cores this process may use, shared among
// pytest's workers.
unsigned worker_count(const engine_options &options);

}  // namespace oprt_emulator
