// What launchers ask of the current device (backends/launch_config.h). Compiled once for each module.
#include <oprt_device.h>

#include <atomic>
#include <cstdint>

namespace oprt {
namespace {

struct device_limits {
    int multiprocessors;
    int compute_capability_major;
};

constexpr device_limits unknown_limits{1, 0};
constexpr int cached_devices = 64;

// Both numbers in one word, so that a reader never sees half an answer; 0: not asked yet.
std::atomic<uint64_t> known_limits[cached_devices];

uint64_t packed(const device_limits &limits) {
    return static_cast<uint64_t>(limits.compute_capability_major) << 32 | static_cast<uint32_t>(limits.multiprocessors);
}

device_limits unpacked(uint64_t word) { return {static_cast<int>(word & UINT32_MAX), static_cast<int>(word >> 32)}; }

device_limits current_device_limits() {
    int device = 0;
    if (record_if_failed("GetDevice", OPRT_VENDOR(GetDevice)(&device))) return unknown_limits;
    const bool is_cached = device >= 0 && device < cached_devices;
    if (const uint64_t word = is_cached ? known_limits[device].load(std::memory_order_relaxed) : 0) {
        return unpacked(word);
    }
    vendor::device_properties properties;
    if (record_if_failed("GetDeviceProperties", OPRT_VENDOR(GetDeviceProperties)(&properties, device))) {
        return unknown_limits;
    }
    const device_limits limits{properties.multiProcessorCount, properties.major};
    if (is_cached) known_limits[device].store(packed(limits), std::memory_order_relaxed);
    return limits;
}

}  // namespace

int multiprocessor_count() { return current_device_limits().multiprocessors; }

int compute_capability_major() { return current_device_limits().compute_capability_major; }

}  // namespace oprt
