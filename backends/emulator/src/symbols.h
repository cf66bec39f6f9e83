// Source positions of code addresses, for reports. Slow (it may start addr2line), and never called in a signal handler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oprt_emulator {

struct code_place {
    std::string function;  // as people write it; "" when unknown
    std::string file;      // "" when unknown
    int line = 0;
};

// The places of an address, the innermost inlined function first; at least one entry for each address, in their order.
std::vector<std::vector<code_place>> places_of(const std::vector<std::uintptr_t> &addresses);

}  // namespace oprt_emulator
