// What backends/vendor_module.cc needs to speak CUDA: the prefix of every name, and the few calls whose form is CUDA's
// own. On the emulator the stand-in <cuda_runtime.h> answers the same names. Device code is in oprt_device.h.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#define OPRT_VENDOR(name) cuda##name

namespace oprt::vendor {

inline constexpr const char *backend_name = "nvidia";

using device_properties = cudaDeviceProp;

inline int64_t shared_memory_per_block_bytes(const cudaDeviceProp &properties) {
    return static_cast<int64_t>(properties.sharedMemPerBlockOptin);
}

// Memory of one device, as opposed to managed memory, which every device may use.
inline bool is_device_memory(const cudaPointerAttributes &attributes) {
    return attributes.type == cudaMemoryTypeDevice;
}

// Ordinary host memory, of which the runtime was never told.
inline bool is_unregistered_memory(const cudaPointerAttributes &attributes) {
    return attributes.type == cudaMemoryTypeUnregistered;
}

using pointer_attributes = cudaPointerAttributes;

inline cudaError_t instantiate_graph(cudaGraphExec_t *executable, cudaGraph_t graph) {
    return cudaGraphInstantiate(executable, graph, 0);
}

}  // namespace oprt::vendor
