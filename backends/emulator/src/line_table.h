// The DWARF line table of an ELF file (versions 2 to 5): from a code address to a file and line. For machines without
// addr2line; it does not know inlined calls.
#pragma once

#include <cstdint>
#include <string>

namespace oprt_emulator {

struct source_line {
    std::string file;  // "" when unknown
    int line = 0;
};

// address: as in the file, without the load bias.
source_line find_line(const std::string &path, std::uint64_t address);

}  // namespace oprt_emulator
