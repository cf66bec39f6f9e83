// What backends/vendor_module.cc needs to speak MACA: the prefix of every name, and the few calls whose form is MACA's
// own. On the emulator the stand-in <mcr/mc_runtime.h> answers the same names. Device code is in oprt_device.h. Written
// from public sources; the gpu build of it has not met the hardware.
#pragma once

#include <mcr/mc_runtime.h>

#include <cstdint>

#define OPRT_VENDOR(name) mc##name

namespace oprt::vendor {

inline constexpr const char *backend_name = "metax";

using device_properties = mcDeviceProp_t;

// Up to the block's limit there is nothing to opt in.
inline int64_t shared_memory_per_block_bytes(const mcDeviceProp_t &properties) {
    return static_cast<int64_t>(properties.sharedMemPerBlock);
}

using pointer_attributes = mcPointerAttribute_t;

// Public code reads the field as .type (newer SDKs) or .memoryType (older ones): take the one that this SDK has.
template <typename Attributes>
auto memory_type(const Attributes &attributes, int) -> decltype(attributes.type) {
    return attributes.type;
}
template <typename Attributes>
auto memory_type(const Attributes &attributes, long) -> decltype(attributes.memoryType) {
    return attributes.memoryType;
}

// Memory of one device, as opposed to managed memory, which every device may use.
inline bool is_device_memory(const mcPointerAttribute_t &attributes) {
    return memory_type(attributes, 0) == mcMemoryTypeDevice;
}

// That MACA has a type for ordinary host memory is not known; its error for such a pointer is.
inline bool is_unregistered_memory(const mcPointerAttribute_t &) { return false; }

inline mcError_t instantiate_graph(mcGraphExec_t *executable, mcGraph_t graph) {
    return mcGraphInstantiate(executable, graph, nullptr, nullptr, 0);
}

}  // namespace oprt::vendor
