// Reduction over the lanes of a warp and the threads of a block, at any warp width: by a tree in shared memory, and by
// shuffles. Which elements a thread has reduced before is left to the kernels. All threads named in a comment must call
// together.
#pragma once

#include <oprt_device.h>

namespace oprt {

struct add {
    template <typename A>
    __device__ __forceinline__ A operator()(A left, A right) const {
        return left + right;
    }
};

// The larger of two values; NaN if either is NaN (fmaxf would drop it).
struct maximum {
    template <typename A>
    __device__ __forceinline__ A operator()(A left, A right) const {
        return left > right || left != left ? left : right;
    }
};

__device__ __forceinline__ int lane_index() { return static_cast<int>(threadIdx.x) % warp_size; }
__device__ __forceinline__ int warp_index() { return static_cast<int>(threadIdx.x) / warp_size; }

// The value of the lane whose number differs in the bits of lane_mask. All lanes of the warp.
__device__ __forceinline__ float shuffle_xor(float value, int lane_mask) {
    return __shfl_xor_sync(full_mask, value, lane_mask);
}
__device__ __forceinline__ double shuffle_xor(double value, int lane_mask) {
    return __shfl_xor_sync(full_mask, value, lane_mask);
}

// Reduce over each group of `lanes` neighbouring lanes (a power of two, at most the warp). All lanes of the warp; each
// gets its group's result. Blocks are whole warps, so every lane that is read exists.
template <int lanes, typename A, typename Operation>
__device__ __forceinline__ A reduce_lanes(A value, Operation operation) {
    static_assert(lanes >= 1 && lanes <= warp_size && (lanes & (lanes - 1)) == 0, "a power of two within a warp");
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) value = operation(value, shuffle_xor(value, offset));
    return value;
}

// Reduce over the block by shuffles and one barrier. All threads of the block; each gets the result.
// partials: [block_threads / warp_size] in shared memory. The caller sees to it that a barrier stands between the reads
// of one call and the writes of the next one to use the same array; using two arrays in turn does that without another
// barrier.
template <int block_threads, typename A, typename Operation>
__device__ __forceinline__ A reduce_block(A value, A *partials, Operation operation) {
    static_assert(block_threads % warp_size == 0, "blocks are whole warps");
    value = reduce_lanes<warp_size>(value, operation);
    if (lane_index() == 0) partials[warp_index()] = value;
    // Separates each warp's write of its partial from every thread's reads of all of them.
    __syncthreads();
    A result = partials[0];
#pragma unroll
    for (int warp = 1; warp < block_threads / warp_size; ++warp) result = operation(result, partials[warp]);
    return result;
}

// Reduce over the block by a tree in shared memory. All threads of the block; each gets the result.
// values: [block_threads] in shared memory, a power of two; the caller keeps it from being written again before all
// have returned.
template <int block_threads, typename A, typename Operation>
__device__ __forceinline__ A reduce_tree(A value, A *values, Operation operation) {
    static_assert((block_threads & (block_threads - 1)) == 0, "the tree halves the block down to one thread");
    const int thread = static_cast<int>(threadIdx.x);
    values[thread] = value;
    // Separates every thread's write of its value from the first step's reads.
    __syncthreads();
    for (int stride = block_threads / 2; stride > 0; stride /= 2) {
        if (thread < stride) values[thread] = operation(values[thread], values[thread + stride]);
        // Separates this step's writes from the next step's reads, and the last one's from all reads of the result.
        __syncthreads();
    }
    return values[0];
}

}  // namespace oprt
