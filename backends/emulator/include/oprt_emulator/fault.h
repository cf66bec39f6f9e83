// Why a grid was abandoned. The codes are the engine's own; the vendor's runtime interface maps them to its error
// numbers.
#pragma once

#include <string>

namespace oprt_emulator {

enum class fault_code : int {
    none = 0,
    illegal_address,        // SIGSEGV or SIGBUS in a kernel
    misaligned_address,     // SIGSEGV or SIGBUS of an access that the processor wants aligned
    illegal_instruction,    // SIGILL
    arithmetic,             // SIGFPE: an integer division by zero or an overflowing one
    device_assert,          // assert() in a kernel
    trap,                   // __trap()
    aborted,                // abort(), std::terminate or a C++ exception that left the kernel
    stack_overflow,         // a GPU thread used up its stack
    barrier_divergence,     // threads of one block wait at barriers of different source lines
    warp_misuse,            // a lane that its own mask does not name, different collectives of one mask
    deadlock,               // threads wait for threads that never come
    time_limit,             // the grid ran longer than CAMP_EMULATOR_TIME_LIMIT
    memory_corruption,      // a broken canary: a write just outside an allocation or dynamic shared memory
    invalid_configuration,  // grid, block or shared memory beyond the limits; the kernel did not run
    out_of_memory,          // no memory for stacks or shared memory; the kernel did not run
    not_supported           // a grid-wide barrier, a launch from inside a kernel
};

// Name of the code as written above.
const char *fault_name(fault_code code) noexcept;

// The report of the last grid that run_grid did not finish on this host thread, several lines, without a final newline.
// "" when none failed yet.
std::string last_report();

}  // namespace oprt_emulator
