// The SIMT engine: runs a kernel, compiled as plain C++, over a grid on the CPU, with the GPU's blocks, warps, barriers
// and shared memory. Vendor names (cudaMalloc, __syncthreads, threadIdx, streams) are left to the stand-in headers,
// which call this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oprt_emulator/context.h"
#include "oprt_emulator/fault.h"
#include "oprt_emulator/memory.h"
#include "oprt_emulator/warp.h"

// The specifier of a shared array: `__shared__ float tile[32]`. Inside a function thread_local means static too. The
// tag becomes part of the symbol's name, by which the engine finds the arrays, poisons those of the running kernel and
// adds up their size.
#define OPRT_EMULATOR_SHARED thread_local __attribute__((abi_tag("oprt_shared")))

namespace oprt_emulator {

// One launch. Nothing is kept after run_grid returns.
struct grid_request {
    const char *name = nullptr;  // for reports; null: looked up from the kernel's address when it is needed
    index3 grid = {1, 1, 1};
    index3 block = {1, 1, 1};
    std::size_t dynamic_shared_bytes = 0;
    std::size_t shared_limit_bytes = 0;  // static and dynamic together; 0: no limit
    void (*body)(void *packed_args) =
        nullptr;  // runs the threads of one block that are left, see run_threads in launch.h
    void *packed_args = nullptr;
    const void *kernel_address = nullptr;  // the kernel function
};

// Run one kernel to its end on the calling host thread and the pool. A fault abandons the grid: its GPU threads are
// dropped where they stand, the process lives on and last_report() explains. From any host thread; from inside a kernel
// it is a fault.
fault_code run_grid(const grid_request &request) noexcept;

// Size of the kernel's own static shared arrays, with those of device functions that it was seen to use. 0 when the
// module's symbols are not there to tell.
std::size_t static_shared_bytes(const void *kernel_address) noexcept;

// Block barriers. Threads that exited count as arrived. Threads that wait at different source lines are a fault.
void syncthreads(const char *file, int line);
int syncthreads_count(bool predicate, const char *file, int line);
int syncthreads_and(bool predicate, const char *file, int line);
int syncthreads_or(bool predicate, const char *file, int line);

// Let other threads of the block run; for loops that wait for memory that another thread writes.
void yield() noexcept;

// Faults that a kernel asks for. They do not return.
[[noreturn]] void device_assert_fail(const char *expression, const char *file, int line, const char *function);
[[noreturn]] void device_trap(const char *file, int line);
[[noreturn]] void device_not_supported(const char *what, const char *file, int line);

// Whether the caller runs inside a kernel.
bool inside_kernel() noexcept;

}  // namespace oprt_emulator
