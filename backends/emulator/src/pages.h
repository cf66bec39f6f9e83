// Sizes in whole pages.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace oprt_emulator {

inline std::size_t page_size_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

inline constexpr std::size_t round_up(std::size_t size, std::size_t unit) noexcept {
    return (size + unit - 1) / unit * unit;
}

}  // namespace oprt_emulator
