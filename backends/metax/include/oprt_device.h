// The device layer of MetaX kernels: the vendor's names, widths and types under the names that all kernels use.
// The same file serves the GPU and the emulator, whose stand-in <mcr/mc_runtime.h> defines OPRT_EMULATOR.
// What does not differ between vendors is left to backends/launch.h and operators/shared/element.h, included at the
// end. Written from public sources; no MetaX hardware has run it yet.
#pragma once

#include <common/maca_bfloat16.h>
#include <common/maca_fp16.h>
#include <mcr/mc_runtime.h>

#include <cstddef>
#include <cstdint>

// MetaX devices have no thread block clusters.
#define OPRT_HAS_CLUSTER 0
#define OPRT_ARCH_HAS_CLUSTER 0

// OPRT_DYNAMIC_SHARED(float, tile); declares `float *tile`, the block's dynamic shared memory
// (launch_config::shared_bytes), 16-byte aligned. The array is always bytes, so that kernels of several types can stand
// in one file.
#if defined(OPRT_EMULATOR)
#define OPRT_DYNAMIC_SHARED(T, name) T *name = static_cast<T *>(oprt_emulator::dynamic_shared())
#else
#define OPRT_DYNAMIC_SHARED(T, name)                                     \
    extern __shared__ __align__(16) unsigned char oprt_dynamic_shared[]; \
    T *name = reinterpret_cast<T *>(oprt_dynamic_shared)
#endif

namespace oprt {

using stream_t = mcStream_t;
using half_t = __half;
using bfloat16_t = __maca_bfloat16;
using lane_mask_t = uint64_t;

inline constexpr int warp_size = 64;
inline constexpr lane_mask_t full_mask = ~lane_mask_t{0};
inline constexpr int max_block_threads = 1024;

}  // namespace oprt

#include "backends/launch.h"
#include "oprt_intrinsics.h"
#include "shared/element.h"
