// Device memory of the emulator: 256-byte aligned, filled with 0xFF, a canary in the slack on both sides of it and a
// guard page behind. Streams, copies and the vendor's error codes are left to the runtime interface above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace oprt_emulator {

inline constexpr std::size_t allocation_alignment_bytes = 256;

// Memory of size_bytes, or null when there is none left (or size_bytes is 0). From any thread.
void *allocate(std::size_t size_bytes) noexcept;

// Give memory back; its addresses fault from then on and are reused as late as possible. False when the pointer is not
// the start of a live allocation. A canary that is broken when this is called is told by take_memory_report.
bool release(void *pointer) noexcept;

// Release everything at once, as a device reset does.
void release_all() noexcept;

// Whether the address lies inside a live allocation.
bool owns(const void *pointer) noexcept;

// What is known about an address of the device memory: the allocation around it, else a released one, else the nearest
// below.
struct address_owner {
    const void *base;        // null: not device memory, or nothing is allocated at or below it
    std::size_t size_bytes;  // as asked for
    std::uint64_t serial;    // 1 for the first allocation of the process
    std::ptrdiff_t offset;   // address - base; negative or beyond size_bytes for an address just outside
    bool live;
};
address_owner owner_of(const void *pointer) noexcept;

std::size_t memory_used_bytes() noexcept;
std::size_t memory_total_bytes() noexcept;

// Broken canaries found by release since the last call, as text for a fault report; "" when there were none.
std::string take_memory_report();

// Host access to device memory, process-wide. After forbid_host_access() every access from host code faults (as on a
// real device), except between begin_access() and end_access(), which nest and count over all threads; run_grid
// brackets its kernel itself. Costs a system call per allocation and change, so it is for the asynchronous mode that
// looks for missing synchronisation.
void forbid_host_access() noexcept;
void allow_host_access() noexcept;
void begin_access() noexcept;
void end_access() noexcept;

}  // namespace oprt_emulator
