// 16-byte vector access to arrays that start at any element. An array is cut at 16-byte addresses into packs; only the
// first and the last can be incomplete, and only those are accessed element by element. Which thread takes which pack
// is left to the kernels. Where several arrays are accessed together, the packs lie on the output's addresses.
//
//   address     | ..16.. | ..16.. | ..16.. | ..16.. |
//   array           [xxxxxxxxxxxxxxxxxxxxxxxxx]          pack 0 begins before the array: its `first` is negative
#pragma once

#include <oprt_device.h>

#include <cstdint>
#include <cstring>

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

// A pack's bits as 32-bit words. Where a value comes from one branch or another, the compiler keeps one register for each
// thing that is chosen: for a pack of 16-bit elements that is twice as many as for its words.
// It may stand for memory that holds elements of any type.
struct __attribute__((may_alias, aligned(pack_bytes))) pack_words {
    uint32_t words[pack_bytes / sizeof(uint32_t)];
};

template <typename T>
__device__ __forceinline__ pack_words words_of(pack<T> source) {
    pack_words result;
    memcpy(&result, &source, pack_bytes);
    return result;
}

template <typename T>
__device__ __forceinline__ pack<T> pack_of(const pack_words &source) {
    pack<T> result;
    memcpy(&result, &source, pack_bytes);
    return result;
}

// The pack at an element that begins at a 16-byte address: one access, whatever is done with its elements.
template <typename T>
__device__ __forceinline__ pack_words load_aligned_words(const T *element) {
    return *reinterpret_cast<const pack_words *>(element);
}
template <typename T>
__device__ __forceinline__ pack<T> load_aligned(const T *element) {
    return pack_of<T>(load_aligned_words(element));
}
template <typename T>
__device__ __forceinline__ void store_aligned(T *element, const pack<T> &source) {
    *reinterpret_cast<pack_words *>(element) = words_of(source);
}

// The pack that begins at any element, from the two aligned packs around it.
template <typename T>
__device__ __forceinline__ pack_words load_straddling_words(const T *element) {
    const auto behind = static_cast<int>(reinterpret_cast<uintptr_t>(element) % pack_bytes);
    const T *aligned = element - behind / static_cast<int>(sizeof(T));
    const pack_words low = load_aligned_words(aligned);
    const pack_words high = load_aligned_words(aligned + pack<T>::size);
    uint32_t words[9] = {};
    memcpy(words, &low, pack_bytes);
    memcpy(words + 4, &high, pack_bytes);
    // Shifted down by two words, by one, then by bytes: places in arrays are constants, so that they stay in registers.
    if (behind & 8) {
#pragma unroll
        for (int i = 0; i < 6; ++i) words[i] = words[i + 2];
    }
    if (behind & 4) {
#pragma unroll
        for (int i = 0; i < 5; ++i) words[i] = words[i + 1];
    }
    pack_words shifted;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const uint64_t pair = static_cast<uint64_t>(words[i + 1]) << 32 | words[i];
        shifted.words[i] = static_cast<uint32_t>(pair >> (behind % 4 * 8));
    }
    return shifted;
}

template <typename T>
__device__ __forceinline__ pack<T> filled_pack(T fill) {
    pack<T> result;
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) result.values[i] = fill;
    return result;
}

// Elements first, ..., first + size - 1 of array: [count]; `fill` for those outside of it. A whole pack takes one access
// where it is aligned and two where it is not, as of an array that is read beside another one and begins at another
// shift; the ends of the array come element by element.
template <typename T>
__device__ __forceinline__ pack_words load_words(const T *array, int64_t first, int64_t count, T fill) {
    if (is_whole_pack<T>(first, count)) {
        if (is_pack_aligned(array + first)) return load_aligned_words(array + first);
        if (is_whole_pack<T>(first - pack<T>::size, count) && is_whole_pack<T>(first + pack<T>::size, count)) {
            return load_straddling_words(array + first);
        }
    }
    pack<T> result;
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) {
        const bool inside = first + i >= 0 && first + i < count;
        result.values[i] = inside ? array[first + i] : fill;
    }
    return words_of(result);
}

template <typename T>
__device__ __forceinline__ pack<T> load_pack(const T *array, int64_t first, int64_t count, T fill) {
    return pack_of<T>(load_words(array, first, count, fill));
}

// Calls use(packs) with the packs of array: [count] that are number member, member + members, ... of those that lie in it
// as a whole, `unroll` at a time so that their loads are under way together. The first member gets the incomplete first
// pack, too, and the last member the incomplete last one. What is missing reads as `fill`. use: takes
// const pack_words (&packs)[unroll].
template <int unroll, typename T, typename Use>
__device__ __forceinline__ void read_packs(const T *array, int64_t count, T fill, int member, int members, Use use) {
    constexpr int size = pack<T>::size;
    const int shift = pack_shift(array);
    const int64_t whole_begin = shift == 0 ? 0 : 1;
    const int64_t whole_end = (shift + count) / size;
    const bool has_tail = whole_end >= whole_begin && whole_end < pack_count<T>(count, shift);
    const T *aligned = array - shift;
    const pack_words outside = words_of(filled_pack(fill));
    pack_words packs[unroll];
    int64_t k = whole_begin + member;
    for (; k + int64_t{unroll - 1} * members < whole_end; k += int64_t{unroll} * members) {
#pragma unroll
        for (int i = 0; i < unroll; ++i) packs[i] = load_aligned_words(aligned + (k + int64_t{i} * members) * size);
        use(packs);
    }
#pragma unroll
    for (int i = 0; i < unroll; ++i) {
        const int64_t place = k + int64_t{i} * members;
        packs[i] = outside;
        if (place < whole_end) packs[i] = load_aligned_words(aligned + place * size);
    }
    use(packs);
    const auto use_end = [&](int64_t place) {
#pragma unroll
        for (int i = 1; i < unroll; ++i) packs[i] = outside;
        packs[0] = load_words(array, place * size - shift, count, fill);
        use(packs);
    };
    if (member == 0 && whole_begin == 1) use_end(0);
    if (member == members - 1 && has_tail) use_end(whole_end);
}

// The same of `count` whole packs from a 16-byte address on, which takes a fraction of the code.
template <int unroll, typename T, typename Use>
__device__ __forceinline__ void read_whole_packs(const T *array, int count, T fill, int member, int members, Use use) {
    const pack_words outside = words_of(filled_pack(fill));
    for (int first = member; first < count; first += unroll * members) {
        pack_words packs[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            const int place = first + k * members;
            packs[k] = outside;
            if (place < count) packs[k] = load_aligned_words(array + static_cast<int64_t>(place) * pack<T>::size);
        }
        use(packs);
    }
}

// As load_pack, for writing; elements outside of the array are dropped.
template <typename T>
__device__ __forceinline__ void store_pack(T *array, int64_t first, int64_t count, const pack<T> &source) {
    if (is_whole_pack<T>(first, count) && is_pack_aligned(array + first)) {
        store_aligned(array + first, source);
        return;
    }
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) {
        if (first + i >= 0 && first + i < count) array[first + i] = source.values[i];
    }
}

}  // namespace oprt
