// MACA's part of backends/launch.h, which includes it. Written from public sources; the gpu build of it has not met the
// hardware.
#pragma once

#include <oprt_device.h>

#include "backends/launch_config.h"

namespace oprt {

// See previous_kernels. Launches do not overlap here.
__device__ __forceinline__ void wait_for_previous_kernels(previous_kernels) {}
__device__ __forceinline__ void let_next_kernel_start() {}

// Dynamic shared memory up to the device's limit (64 KiB) needs no permission; above it the launch fails.
inline mcError_t allow_dynamic_shared(const void *, size_t) { return mcSuccess; }

#if !defined(OPRT_EMULATOR)
inline mcError_t launch_address(const void *kernel, const launch_config &config, bool, void **arguments) {
    return mcLaunchKernel(kernel, config.grid, config.block, arguments, config.shared_bytes, config.stream);
}
#endif

}  // namespace oprt
