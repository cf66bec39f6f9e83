// The device layer of NVIDIA kernels: the vendor's names, widths and types under the names that all kernels use.
// The same file serves the GPU and the emulator, whose stand-in <cuda_runtime.h> defines OPRT_EMULATOR.
// What does not differ between vendors is left to backends/launch.h and operators/shared/element.h, included at the
// end.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

// 1 where launches may have thread block clusters, the same in every pass of the compiler; the emulator has none. A
// cluster kernel's body stands inside OPRT_ARCH_HAS_CLUSTER, which is 1 only while compiling for an architecture that
// has them; a launcher asks may_launch_clusters().
#if defined(OPRT_EMULATOR)
#define OPRT_HAS_CLUSTER 0
#else
#define OPRT_HAS_CLUSTER 1
#endif
#if OPRT_HAS_CLUSTER && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define OPRT_ARCH_HAS_CLUSTER 1
#else
#define OPRT_ARCH_HAS_CLUSTER 0
#endif

// OPRT_DYNAMIC_SHARED(float, tile); declares `float *tile`, the block's dynamic shared memory
// (launch_config::shared_bytes), 16-byte aligned. nvcc refuses `extern __shared__` arrays of one name and two types, so
// the array is always bytes.
#if defined(OPRT_EMULATOR)
#define OPRT_DYNAMIC_SHARED(T, name) T *name = static_cast<T *>(oprt_emulator::dynamic_shared())
#else
#define OPRT_DYNAMIC_SHARED(T, name)                                     \
    extern __shared__ __align__(16) unsigned char oprt_dynamic_shared[]; \
    T *name = reinterpret_cast<T *>(oprt_dynamic_shared)
#endif

namespace oprt {

using stream_t = cudaStream_t;
using half_t = __half;
using bfloat16_t = __nv_bfloat16;
using lane_mask_t = unsigned;

inline constexpr int warp_size = 32;
inline constexpr lane_mask_t full_mask = 0xffffffffu;
inline constexpr int max_block_threads = 1024;

}  // namespace oprt

#include "backends/launch.h"
#include "oprt_intrinsics.h"
#include "shared/element.h"
