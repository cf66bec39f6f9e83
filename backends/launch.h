// The launch of a kernel, once for all vendors; included by oprt_device.h. The vendor's own calls are in oprt_launch.h of
// its folder. What becomes of a recorded failure is left to backends/launcher_registry.h.
#pragma once

#include <oprt_device.h>
#include <oprt_launch.h>

#include <cstddef>

#include "backends/launch_config.h"

#if defined(OPRT_EMULATOR)
#include <oprt_emulator/launch.h>
#endif

namespace oprt {

template <typename... Parameters>
vendor_error_t start_kernel(void (*kernel)(Parameters...), const launch_config &config, bool overlap,
                            Parameters... values) {
#if defined(OPRT_EMULATOR)
    static_cast<void>(overlap);  // a kernel of the emulator starts when the one before has ended
    return static_cast<vendor_error_t>(
        oprt_emulator::launch(kernel, config.grid, config.block, config.shared_bytes, config.stream, values...));
#else
    void *pointers[] = {static_cast<void *>(&values)..., nullptr};
    return launch_address(reinterpret_cast<const void *>(kernel), config, overlap, pointers);
#endif
}

// Arguments become the kernel's own parameter types first: passing an int where it wants int64_t is safe. A failure is
// recorded for this thread and comes back from the execute that called the launcher.
template <typename... Parameters, typename... Arguments>
void launch_recorded(void (*kernel)(Parameters...), const launch_config &config, bool overlap,
                     Arguments &&...arguments) {
    const auto address = reinterpret_cast<const void *>(kernel);
    if (record_if_failed("allow_dynamic_shared", allow_dynamic_shared(address, config.shared_bytes))) return;
    record_if_failed("launch",
                     start_kernel<Parameters...>(kernel, config, overlap, static_cast<Parameters>(arguments)...));
}

// Queue the kernel.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), const launch_config &config, Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
    launch_recorded(kernel, config, false, static_cast<Arguments &&>(arguments)...);
}

// Queue a kernel that waits for those before it; overlapped when the descriptor asked for it (launch_config.h says why it is right).
template <typename... Parameters, typename... Arguments>
void launch_overlapping(void (*kernel)(previous_kernels, Parameters...), const launch_config &config,
                        Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "the kernel takes another number of arguments after previous_kernels");
    launch_recorded(kernel, config, is_overlap_wanted(), previous_kernels{}, static_cast<Arguments &&>(arguments)...);
}

// Queue a kernel right behind another one of the same launcher, overlapped with it wherever the device can: the launcher
// knows both. That one lets it start (let_next_kernel_start) after having waited itself, so that the order of the
// stream holds through it.
template <typename... Parameters, typename... Arguments>
void launch_behind(void (*kernel)(previous_kernels, Parameters...), const launch_config &config,
                   Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "the kernel takes another number of arguments after previous_kernels");
    launch_recorded(kernel, config, true, previous_kernels{}, static_cast<Arguments &&>(arguments)...);
}

}  // namespace oprt
