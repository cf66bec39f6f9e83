// Host side of a kernel launch and the two device limits that launchers ask for, once for all vendors.
// Included by oprt_device.h; vendor calls go through OPRT_VENDOR(name) of oprt_vendor.h. What becomes of a recorded
// failure is left to backends/launcher_registry.h.
#pragma once

#include <oprt_device.h>
#include <oprt_vendor.h>

#include <atomic>
#include <cstddef>

#include "backends/launcher_registry.h"

#if defined(OPRT_EMULATOR)
#include <oprt_emulator/launch.h>
#endif

namespace oprt {

struct launch_config {
    dim3 grid;
    dim3 block;
    size_t shared_bytes = 0;  // dynamic shared memory
    stream_t stream = nullptr;
};

using vendor_error_t = OPRT_VENDOR(Error_t);

inline bool record_if_failed(const char *call, vendor_error_t error) {
    if (error == OPRT_VENDOR(Success)) return false;
    record_launch_error(call, static_cast<int>(error), OPRT_VENDOR(GetErrorName)(error),
                        OPRT_VENDOR(GetErrorString)(error));
    return true;
}

template <typename... Parameters>
vendor_error_t start_kernel(void (*kernel)(Parameters...), const launch_config &config, Parameters... values) {
#if defined(OPRT_EMULATOR)
    return static_cast<vendor_error_t>(
        oprt_emulator::launch(kernel, config.grid, config.block, config.shared_bytes, config.stream, values...));
#else
    void *pointers[] = {static_cast<void *>(&values)..., nullptr};
    return OPRT_VENDOR(LaunchKernel)(reinterpret_cast<const void *>(kernel), config.grid, config.block, pointers,
                                     config.shared_bytes, config.stream);
#endif
}

// Queue the kernel. Arguments become the kernel's own parameter types first: passing an int where it wants int64_t is
// safe. A failure is recorded for this thread and comes back from the execute that called the launcher.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), const launch_config &config, Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
    const auto address = reinterpret_cast<const void *>(kernel);
    if (record_if_failed("allow_dynamic_shared", allow_dynamic_shared(address, config.shared_bytes))) return;
    record_if_failed("launch", start_kernel<Parameters...>(kernel, config, static_cast<Parameters>(arguments)...));
}

// Limits of the calling thread's current device, asked from the vendor once a device.
struct device_limits {
    int multiprocessors;
    size_t shared_memory_bytes;  // most dynamic shared memory that one block can have
};

inline device_limits query_device_limits(int device) {
    vendor::device_properties properties;
    if (record_if_failed("GetDeviceProperties", OPRT_VENDOR(GetDeviceProperties)(&properties, device))) return {1, 0};
    const size_t opt_in_bytes = properties.sharedMemPerBlockOptin;
    const size_t always_bytes = properties.sharedMemPerBlock;
    return {properties.multiProcessorCount, opt_in_bytes > always_bytes ? opt_in_bytes : always_bytes};
}

inline device_limits current_device_limits() {
    constexpr int cached_devices = 64;
    static std::atomic<int> multiprocessors[cached_devices];  // 0: not asked yet
    static std::atomic<size_t> shared_memory_bytes[cached_devices];
    int device = 0;
    if (record_if_failed("GetDevice", OPRT_VENDOR(GetDevice)(&device))) return {1, 0};
    if (device >= cached_devices) return query_device_limits(device);
    if (const int known = multiprocessors[device].load(std::memory_order_acquire)) {
        return {known, shared_memory_bytes[device].load(std::memory_order_relaxed)};
    }
    const device_limits limits = query_device_limits(device);
    shared_memory_bytes[device].store(limits.shared_memory_bytes, std::memory_order_relaxed);
    multiprocessors[device].store(limits.multiprocessors, std::memory_order_release);
    return limits;
}

inline int multiprocessor_count() { return current_device_limits().multiprocessors; }

inline size_t shared_memory_limit_bytes() { return current_device_limits().shared_memory_bytes; }

}  // namespace oprt
