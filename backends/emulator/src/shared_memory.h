// The static shared arrays of a kernel, found by their tag among the ELF symbols (see OPRT_EMULATOR_SHARED), and the
// poisoning of them and of dynamic shared memory before each block.
//
// A kernel's own arrays are known by name. An array of a device function belongs to the kernels that call it, which no
// symbol tells: all arrays stay poisoned while nobody uses them, and one that is changed after a kernel's first or last
// block is counted to that kernel from then on.
#pragma once

#include <cstddef>
#include <string>

#include "worker.h"

namespace oprt_emulator {

struct grid;
struct grid_request;
struct kernel_arrays;

inline constexpr unsigned char poison_byte = 0xFF;  // all floats NaN, all integers -1 or their largest

// The launch asks for more shared memory than the limit: a sentence, else "".
std::string shared_memory_error(const grid_request &request);

// Before the blocks of a grid, on its host thread.
void find_arrays(grid &running) noexcept;

// On each worker: before its first block (false: no memory), before and after each block (false: dynamic shared memory
// was overrun, and the grid has the fault), after its last one.
bool prepare_shared(grid &running, worker &self) noexcept;
void poison_shared(const grid &running, worker &self) noexcept;
bool check_shared(grid &running, worker &self) noexcept;
void finish_shared(grid &running, worker &self) noexcept;

// "array `tile` of softmax_shared" and so on when the address lies in a static shared array of the calling OS thread,
// else "".
std::string shared_array_at(const void *address);

}  // namespace oprt_emulator
