// Integer, bit and conversion intrinsics of the device (__popc, __byte_perm, __float_as_int, __float2int_rn, ...) as
// plain C++. Conversions to integers saturate and give the device's value for a NaN. Not here: the packed __v...
// instructions.
#pragma once

#include "oprt_emulator/bits.h"
#include "oprt_emulator/vector_types.h"

// Bits of an integer.
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
    x = ((x >> 1) & 0x5555555555555555ull) | ((x & 0x5555555555555555ull) << 1);
    x = ((x >> 2) & 0x3333333333333333ull) | ((x & 0x3333333333333333ull) << 2);
    x = ((x >> 4) & 0x0F0F0F0F0F0F0F0Full) | ((x & 0x0F0F0F0F0F0F0F0Full) << 4);
    return __builtin_bswap64(x);
}
inline unsigned int __brev(unsigned int x) { return static_cast<unsigned int>(__brevll(x) >> 32); }
// Position of the n-th set bit of mask, counted from bit `base` upwards (offset > 0) or downwards (offset < 0).
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    if (offset == 0) return (mask >> base) & 1u ? base : 0xFFFFFFFFu;
    const int step = offset > 0 ? 1 : -1;
    int left = offset > 0 ? offset : -offset;
    for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
        if (((mask >> bit) & 1u) && --left == 0) return static_cast<unsigned int>(bit);
    }
    return 0xFFFFFFFFu;
}
// Four bytes picked out of the eight of y:x by the lower three bits of each selector.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selectors) {
    const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned int selector = selectors >> (4 * i);
        result |= (static_cast<unsigned int>(bytes >> (8 * (selector & 7u))) & 0xFFu) << (8 * i);
    }
    return result;
}
// The upper (l) or lower (r) half of high:low after a shift; the shift counts modulo 32, or up to 32 in the clamped c
// forms.
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return static_cast<unsigned int>((((static_cast<uint64_t>(high) << 32) | low) << (shift & 31u)) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return static_cast<unsigned int>(((static_cast<uint64_t>(high) << 32) | low) >> (shift & 31u));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}

// Products and sums.
inline int __mul24(int x, int y) {
    const auto low24 = [](int value) {
        return static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8);
    };
    return static_cast<int>(static_cast<uint32_t>(low24(x) * low24(y)));
}
inline unsigned int __umul24(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>(static_cast<uint64_t>(x & 0xFFFFFFu) * (y & 0xFFFFFFu));
}
inline int __mulhi(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) * y) >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<uint64_t>(x) * y) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    __extension__ using wide = unsigned __int128;
    return static_cast<unsigned long long>((static_cast<wide>(x) * y) >> 64);
}
inline long long __mul64hi(long long x, long long y) {
    __extension__ using wide = __int128;
    return static_cast<long long>((static_cast<wide>(x) * y) >> 64);
}
// |x - y| + z.
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x > y ? x - y : y - x) + z; }
inline unsigned int __sad(int x, int y, unsigned int z) {
    return static_cast<unsigned int>(x > y ? static_cast<int64_t>(x) - y : static_cast<int64_t>(y) - x) + z;
}
// Averages, rounded down (hadd) or up (rhadd), without overflow.
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<uint64_t>(x) + y) >> 1);
}
inline unsigned int __urhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<uint64_t>(x) + y + 1) >> 1);
}
// c plus the dot product of four bytes.
inline int __dp4a(int a, int b, int c) {
    unsigned int sum = static_cast<unsigned int>(c);
    for (int shift = 0; shift < 32; shift += 8) {
        sum += static_cast<unsigned int>(static_cast<int8_t>(static_cast<unsigned int>(a) >> shift) *
                                         static_cast<int8_t>(static_cast<unsigned int>(b) >> shift));
    }
    return static_cast<int>(sum);
}
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int shift = 0; shift < 32; shift += 8) c += ((a >> shift) & 0xFFu) * ((b >> shift) & 0xFFu);
    return c;
}

// The same bits as another type.
inline int __float_as_int(float x) { return oprt_emulator::bit_cast<int>(x); }
inline unsigned int __float_as_uint(float x) { return oprt_emulator::bit_cast<unsigned int>(x); }
inline float __int_as_float(int x) { return oprt_emulator::bit_cast<float>(x); }
inline float __uint_as_float(unsigned int x) { return oprt_emulator::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return oprt_emulator::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return oprt_emulator::bit_cast<double>(x); }
inline int __double2loint(double x) {
    return static_cast<int>(static_cast<unsigned int>(oprt_emulator::bit_cast<uint64_t>(x)));
}
inline int __double2hiint(double x) {
    return static_cast<int>(static_cast<unsigned int>(oprt_emulator::bit_cast<uint64_t>(x) >> 32));
}
inline double __hiloint2double(int high, int low) {
    return oprt_emulator::bit_cast<double>((static_cast<uint64_t>(static_cast<unsigned int>(high)) << 32) |
                                           static_cast<unsigned int>(low));
}

// Conversions between numbers in the four rounding directions. Every float is a double: one function serves both.
#define OPRT_EMULATOR_CONVERT_MODE(name, integer, suffix, mode)                                          \
    inline integer __float2##name##suffix(float x) {                                                     \
        return oprt_emulator::to_integer<integer>(static_cast<double>(x), oprt_emulator::rounding::mode, \
                                                  oprt_emulator::nan_of_float<integer>());               \
    }                                                                                                    \
    inline integer __double2##name##suffix(double x) {                                                   \
        return oprt_emulator::to_integer<integer>(x, oprt_emulator::rounding::mode,                      \
                                                  oprt_emulator::nan_of_double<integer>());              \
    }                                                                                                    \
    inline float __##name##2float##suffix(integer x) {                                                   \
        return oprt_emulator::with_rounding(                                                             \
            oprt_emulator::rounding::mode, [](integer value) { return static_cast<float>(value); }, x);  \
    }
#define OPRT_EMULATOR_CONVERT(name, integer)                    \
    OPRT_EMULATOR_CONVERT_MODE(name, integer, _rn, nearest)     \
    OPRT_EMULATOR_CONVERT_MODE(name, integer, _rz, toward_zero) \
    OPRT_EMULATOR_CONVERT_MODE(name, integer, _rd, down)        \
    OPRT_EMULATOR_CONVERT_MODE(name, integer, _ru, up)
OPRT_EMULATOR_CONVERT(int, int)
OPRT_EMULATOR_CONVERT(uint, unsigned int)
OPRT_EMULATOR_CONVERT(ll, long long)
OPRT_EMULATOR_CONVERT(ull, unsigned long long)
#undef OPRT_EMULATOR_CONVERT
#undef OPRT_EMULATOR_CONVERT_MODE
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned int x) { return x; }
#define OPRT_EMULATOR_TO_DOUBLE(suffix, mode)                                                                       \
    inline double __ll2double##suffix(long long x) {                                                                \
        return oprt_emulator::with_rounding(                                                                        \
            oprt_emulator::rounding::mode, [](long long value) { return static_cast<double>(value); }, x);          \
    }                                                                                                               \
    inline double __ull2double##suffix(unsigned long long x) {                                                      \
        return oprt_emulator::with_rounding(                                                                        \
            oprt_emulator::rounding::mode, [](unsigned long long value) { return static_cast<double>(value); }, x); \
    }                                                                                                               \
    inline float __double2float##suffix(double x) {                                                                 \
        return oprt_emulator::with_rounding(                                                                        \
            oprt_emulator::rounding::mode, [](double value) { return static_cast<float>(value); }, x);              \
    }
OPRT_EMULATOR_TO_DOUBLE(_rn, nearest)
OPRT_EMULATOR_TO_DOUBLE(_rz, toward_zero)
OPRT_EMULATOR_TO_DOUBLE(_rd, down)
OPRT_EMULATOR_TO_DOUBLE(_ru, up)
#undef OPRT_EMULATOR_TO_DOUBLE
