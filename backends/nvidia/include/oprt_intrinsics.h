// Instructions of NVIDIA's hardware under the names that kernels use; included by oprt_device.h. Where an architecture or
// the emulator lacks one, the same result comes from plain code.
#pragma once

#include <oprt_device.h>

#include <cmath>
#include <cstdint>

#if OPRT_HAS_CLUSTER
#include <cooperative_groups.h>
#endif

namespace oprt {

// 2^x by the special function unit, good to 2 ulp; results below the smallest normal number become 0.
__device__ __forceinline__ float fast_exp2(float x) {
#if defined(OPRT_EMULATOR)
    return exp2f(x);
#else
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#endif
}

// The largest value of the warp, NaN left out; -inf when all are NaN. All lanes of the warp; each gets it.
__device__ __forceinline__ float warp_maximum(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // Integers in the order of the floats: one instruction instead of five shuffles, each with a comparison.
    constexpr int magnitude = 0x7fffffff;
    int ordered = __float_as_int(value == value ? value : -INFINITY);
    ordered ^= (ordered >> 31) & magnitude;
    ordered = __reduce_max_sync(full_mask, ordered);
    return __int_as_float(ordered ^ ((ordered >> 31) & magnitude));
#else
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_mask, value, lanes));
    return fmaxf(value, -INFINITY);
#endif
}

// What the compiler computed from the word it has to compute again: it would rather keep every bfloat16 as a float, in
// twice the registers.
__device__ __forceinline__ void forget_conversions([[maybe_unused]] uint32_t &word) {
#if !defined(OPRT_EMULATOR)
    asm volatile("" : "+r"(word));
#endif
}

// Begin to copy 16 bytes to shared memory, both addresses being multiples of 16. What a thread copied it may read, and
// no other thread, after wait_for_copies.
__device__ __forceinline__ void begin_copy(void *shared, const void *source) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(source) : "memory");
#else
    *static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(source);
#endif
}

__device__ __forceinline__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#if OPRT_HAS_CLUSTER

// Thread block clusters: blocks that are on the device together and may write one another's shared memory. Of other
// architectures' code, which no launcher starts, nothing is left.
inline constexpr int max_cluster_blocks = 16;

// Number of this block in its cluster.
__device__ __forceinline__ int cluster_rank() {
#if OPRT_ARCH_HAS_CLUSTER
    return static_cast<int>(cooperative_groups::this_cluster().block_rank());
#else
    return 0;
#endif
}

// Where `variable`, an address in this block's shared memory, lies in the block of that rank.
template <typename T>
__device__ __forceinline__ T *in_cluster_block(T *variable, int rank) {
#if OPRT_ARCH_HAS_CLUSTER
    return cooperative_groups::this_cluster().map_shared_rank(variable, rank);
#else
    return variable;
#endif
}

// A barrier of all threads of the cluster in two halves: nobody leaves wait_for_cluster before all have called
// arrive_at_cluster. Shared memory of another block may be touched only after one, which tells that it has started, and
// before the last one that this block arrives at, which tells that nobody has ended. What was written before is visible
// after.
__device__ __forceinline__ void arrive_at_cluster() {
#if OPRT_ARCH_HAS_CLUSTER
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_cluster() {
#if OPRT_ARCH_HAS_CLUSTER
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}

#endif

}  // namespace oprt
