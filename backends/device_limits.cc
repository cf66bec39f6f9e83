// What launchers ask of the current device and of a kernel on it (backends/launch.h). Compiled once for each module.
#include <oprt_device.h>

#include <algorithm>
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

struct residency {
    const void *kernel;  // null: no answer here
    int device;
    int block_threads;
    size_t shared_bytes;
    int blocks;
};

// A thread's latest answers, so that asking takes no lock. Two kernels in one place ask again each time, no more.
residency &residency_of(const void *kernel) {
    constexpr int bits = 6;
    thread_local residency known[1 << bits];
    return known[spread_address(kernel, bits)];
}

}  // namespace

int multiprocessor_count() { return current_device_limits().multiprocessors; }

int compute_capability_major() { return current_device_limits().compute_capability_major; }

int resident_blocks(const void *kernel, int block_threads, size_t shared_bytes) {
    int device = 0;
    if (record_if_failed("GetDevice", OPRT_VENDOR(GetDevice)(&device))) return 1;
    residency &known = residency_of(kernel);
    if (known.kernel == kernel && known.device == device && known.block_threads == block_threads &&
        known.shared_bytes == shared_bytes) {
        return known.blocks;
    }
    int blocks = 0;
    if (record_if_failed(
            "OccupancyMaxActiveBlocksPerMultiprocessor",
            OPRT_VENDOR(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, kernel, block_threads, shared_bytes))) {
        return 1;
    }
    known = {kernel, device, block_threads, shared_bytes, std::max(blocks, 1)};
    return known.blocks;
}

}  // namespace oprt
