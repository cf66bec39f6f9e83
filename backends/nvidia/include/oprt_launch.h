// CUDA's part of backends/launch.h, which includes it: the launch with attributes, permission for large shared memory,
// and the device side of overlapped launches.
#pragma once

#include <oprt_device.h>

#include <cstddef>
#include <cstdint>

#include "backends/launch_config.h"

namespace oprt {

// See previous_kernels. Neither does anything before compute capability 9.0, where no launch overlaps.
__device__ __forceinline__ void wait_for_previous_kernels(previous_kernels) {
#if OPRT_ARCH_HAS_CLUSTER
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void let_next_kernel_start() {
#if OPRT_ARCH_HAS_CLUSTER
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// What launches have to know of a kernel on a device.
struct kernel_facts {
    const void *kernel;  // null: nothing is known here
    int device;
    size_t static_shared_bytes;
    // Whether its code has what came with compute capability 9.0: the wait of overlapped launches, and clusters. A newer
    // device also runs code for an older one, translated when it is loaded, in which both are nothing.
    bool is_for_9;
    bool may_use_all_shared;
};

// The current device's; kept for each thread, so that a launch asks nothing and takes no lock.
inline cudaError_t find_kernel_facts(kernel_facts **facts, const void *kernel) {
    constexpr int places = 64;
    constexpr int function_alignment = 16;
    thread_local kernel_facts kept[places];
    kernel_facts &known = kept[reinterpret_cast<uintptr_t>(kernel) / function_alignment % places];
    *facts = &known;
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
    if (known.kernel == kernel && known.device == device) return cudaSuccess;
    cudaFuncAttributes attributes;
    if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel); error != cudaSuccess) return error;
    const bool is_for_9 = compute_capability_major() >= 9 && attributes.ptxVersion >= 90;
    known = {kernel, device, attributes.sharedSizeBytes, is_for_9, false};
    return cudaSuccess;
}

// Let the kernel use more dynamic shared memory than the 48 KB that every kernel has: at once all that the device can
// give, so that no thread takes back what a launch of another one needs. More than that is refused by the launch.
inline cudaError_t allow_dynamic_shared(const void *kernel, size_t shared_bytes) {
    constexpr size_t always_allowed_bytes = 48 * 1024;
    if (shared_bytes <= always_allowed_bytes) return cudaSuccess;
    kernel_facts *facts = nullptr;
    if (const cudaError_t error = find_kernel_facts(&facts, kernel); error != cudaSuccess) return error;
    if (facts->may_use_all_shared) return cudaSuccess;
    int most_bytes = 0;
    if (const cudaError_t error =
            cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, facts->device);
        error != cudaSuccess) {
        return error;
    }
    const int dynamic_bytes = most_bytes - static_cast<int>(facts->static_shared_bytes);
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_bytes);
    facts->may_use_all_shared = error == cudaSuccess;
    return error;
}

#if !defined(OPRT_EMULATOR)

// Whether a kernel may be launched in clusters with so much dynamic shared memory a block.
inline bool may_launch_clusters(const void *kernel, size_t shared_bytes) {
    kernel_facts *facts = nullptr;
    if (record_if_failed("FuncGetAttributes", find_kernel_facts(&facts, kernel)) || !facts->is_for_9) return false;
    int most_bytes = 0;
    const cudaError_t error =
        cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, facts->device);
    return !record_if_failed("DeviceGetAttribute", error) &&
           facts->static_shared_bytes + shared_bytes <= static_cast<size_t>(most_bytes);
}

// More than 8 blocks in a cluster are not portable: the kernel has to be allowed to, and the device may refuse.
inline cudaError_t allow_cluster(const void *kernel, unsigned cluster_blocks) {
    constexpr unsigned portable_blocks = 8;
    if (cluster_blocks <= portable_blocks) return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

inline cudaError_t launch_address(const void *kernel, const launch_config &config, bool overlap, void **arguments) {
    if (const cudaError_t error = allow_cluster(kernel, config.cluster_blocks); error != cudaSuccess) return error;
    bool waits = false;
    if (overlap) {
        kernel_facts *facts = nullptr;
        if (const cudaError_t error = find_kernel_facts(&facts, kernel); error != cudaSuccess) return error;
        waits = facts->is_for_9;
    }
    cudaLaunchAttribute attributes[2];
    unsigned count = 0;
    if (waits) {
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (config.cluster_blocks > 1) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count++].val.clusterDim = {config.cluster_blocks, 1, 1};
    }
    if (count == 0) {
        return cudaLaunchKernel(kernel, config.grid, config.block, arguments, config.shared_bytes, config.stream);
    }
    cudaLaunchConfig_t extended = {};
    extended.gridDim = config.grid;
    extended.blockDim = config.block;
    extended.dynamicSmemBytes = config.shared_bytes;
    extended.stream = config.stream;
    extended.attrs = attributes;
    extended.numAttrs = count;
    return cudaLaunchKernelExC(&extended, kernel, arguments);
}

#endif

}  // namespace oprt
