// The built-in vector types (char1 ... double4, dim3) with the vendors' sizes and alignments, and make_<type>().
// They have no operators, as on the device; half2 and bfloat162 are in half.h and bfloat16.h.
#pragma once

#include <cstddef>

#include "oprt_emulator/qualifiers.h"

// A vector of 1 to 4 elements that is aligned to `alignment` bytes. The plain alignment of 3 elements is that of one.
#define OPRT_EMULATOR_VECTOR1(type, element) \
    struct type {                            \
        element x;                           \
    };                                       \
    static inline type make_##type(element x) { return type{x}; }
#define OPRT_EMULATOR_VECTOR2(type, element, alignment) \
    struct alignas(alignment) type {                    \
        element x, y;                                   \
    };                                                  \
    static inline type make_##type(element x, element y) { return type{x, y}; }
#define OPRT_EMULATOR_VECTOR3(type, element) \
    struct type {                            \
        element x, y, z;                     \
    };                                       \
    static inline type make_##type(element x, element y, element z) { return type{x, y, z}; }
#define OPRT_EMULATOR_VECTOR4(type, element, alignment) \
    struct alignas(alignment) type {                    \
        element x, y, z, w;                             \
    };                                                  \
    static inline type make_##type(element x, element y, element z, element w) { return type{x, y, z, w}; }
#define OPRT_EMULATOR_VECTORS(name, element, alignment2, alignment4) \
    OPRT_EMULATOR_VECTOR1(name##1, element)                          \
    OPRT_EMULATOR_VECTOR2(name##2, element, alignment2)              \
    OPRT_EMULATOR_VECTOR3(name##3, element)                          \
    OPRT_EMULATOR_VECTOR4(name##4, element, alignment4)

OPRT_EMULATOR_VECTORS(char, signed char, 2, 4)
OPRT_EMULATOR_VECTORS(uchar, unsigned char, 2, 4)
OPRT_EMULATOR_VECTORS(short, short, 4, 8)
OPRT_EMULATOR_VECTORS(ushort, unsigned short, 4, 8)
OPRT_EMULATOR_VECTORS(int, int, 8, 16)
OPRT_EMULATOR_VECTORS(uint, unsigned int, 8, 16)
OPRT_EMULATOR_VECTORS(long, long, 16, 16)
OPRT_EMULATOR_VECTORS(ulong, unsigned long, 16, 16)
OPRT_EMULATOR_VECTORS(longlong, long long, 16, 16)
OPRT_EMULATOR_VECTORS(ulonglong, unsigned long long, 16, 16)
OPRT_EMULATOR_VECTORS(float, float, 8, 16)
OPRT_EMULATOR_VECTORS(double, double, 16, 16)

#undef OPRT_EMULATOR_VECTORS
#undef OPRT_EMULATOR_VECTOR4
#undef OPRT_EMULATOR_VECTOR3
#undef OPRT_EMULATOR_VECTOR2
#undef OPRT_EMULATOR_VECTOR1

// An extent of a grid or block; what is not given is 1.
struct dim3 {
    unsigned int x, y, z;

    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
