// 16-byte vector access to arrays that start at any element. An array is cut at 16-byte addresses into packs; only the
// first and the last can be incomplete, and only those are accessed element by element. Which thread takes which pack
// is left to the kernels.
//
//   address     | ..16.. | ..16.. | ..16.. | ..16.. |
//   array           [xxxxxxxxxxxxxxxxxxxxxxxxx]          pack 0 begins before the array: its `first` is negative
#pragma once

#include <oprt_device.h>

#include <cstdint>

namespace oprt {

inline constexpr int pack_bytes = 16;  // the widest single access of both vendors

// A pack is read and written as one 16-byte access.
template <typename T>
struct alignas(pack_bytes) pack {
    static constexpr int size = pack_bytes / static_cast<int>(sizeof(T));
    T values[size];
};

template <typename T>
__host__ __device__ __forceinline__ bool is_pack_aligned(const T *pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % pack_bytes == 0;
}

// Elements between the last 16-byte address and the array; 0 when it begins at one. Less than pack<T>::size.
template <typename T>
__host__ __device__ __forceinline__ int pack_shift(const T *array) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(array) % pack_bytes / sizeof(T));
}

// Packs that an array of `count` elements touches when it begins `shift` elements after a 16-byte address.
template <typename T>
__host__ __device__ __forceinline__ int64_t pack_count(int64_t count, int shift) {
    return (shift + count + pack<T>::size - 1) / pack<T>::size;
}

// Whether the pack whose elements are first, ..., first + size - 1 lies in the array as a whole.
template <typename T>
__device__ __forceinline__ bool is_whole_pack(int64_t first, int64_t count) {
    return first >= 0 && first + pack<T>::size <= count;
}

// Elements first, ..., first + size - 1 of array: [count]; `fill` for those outside of it. One access when the pack is
// whole and aligned; an array that is read beside another one, and begins at another shift, comes element by element.
template <typename T>
__device__ __forceinline__ pack<T> load_pack(const T *array, int64_t first, int64_t count, T fill) {
    if (is_whole_pack<T>(first, count) && is_pack_aligned(array + first)) {
        return *reinterpret_cast<const pack<T> *>(array + first);
    }
    pack<T> result;
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) {
        const bool inside = first + i >= 0 && first + i < count;
        result.values[i] = inside ? array[first + i] : fill;
    }
    return result;
}

// The same for writing; elements outside of the array are dropped.
template <typename T>
__device__ __forceinline__ void store_pack(T *array, int64_t first, int64_t count, const pack<T> &source) {
    if (is_whole_pack<T>(first, count) && is_pack_aligned(array + first)) {
        *reinterpret_cast<pack<T> *>(array + first) = source;
        return;
    }
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) {
        if (first + i >= 0 && first + i < count) array[first + i] = source.values[i];
    }
}

}  // namespace oprt
