// Reinterpretation of bits and rounding between number formats: the arithmetic below half, bfloat16 and the intrinsics.
// Plain C++ on bits and doubles; no vendor name in it.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace oprt_emulator {

template <typename to, typename from>
inline to bit_cast(const from &value) {
    static_assert(sizeof(to) == sizeof(from), "bit_cast needs two types of one size");
    static_assert(std::is_trivially_copyable<to>::value && std::is_trivially_copyable<from>::value,
                  "bit_cast copies bytes");
    to result;
    std::memcpy(static_cast<void *>(&result), static_cast<const void *>(&value), sizeof(to));
    return result;
}

// The four rounding directions of the device: _rn, _rz, _rd, _ru.
enum class rounding { nearest, toward_zero, down, up };

// Round (-1)^negative * significand * 2^exponent once to a 16-bit format. The value is exact: no bits below
// significand.
template <int mantissa_bits>
inline uint16_t encode_bits(bool negative, uint64_t significand, int exponent, rounding mode) {
    constexpr int bias = (1 << (14 - mantissa_bits)) - 1;
    constexpr int lowest = 1 - bias - mantissa_bits;  // exponent of the last bit of a subnormal
    constexpr uint32_t infinity = ((1u << (15 - mantissa_bits)) - 1) << mantissa_bits;
    const uint16_t sign = negative ? 0x8000u : 0u;
    if (significand == 0) return sign;

    const int top = 63 - __builtin_clzll(significand) + exponent;
    const int last = top - mantissa_bits > lowest ? top - mantissa_bits : lowest;
    if (last + mantissa_bits + bias > (1 << (15 - mantissa_bits))) {  // far above: spare the shifts
        significand = uint64_t(1) << mantissa_bits;
        return encode_bits<mantissa_bits>(negative, significand, bias + 1 - mantissa_bits, mode);
    }
    const int shift = last - exponent;
    uint64_t kept = 0;
    int rest = 0;  // what is cut off, in halves of the last bit: 0 none, 1 below a half, 2 a half, 3 above
    if (shift <= 0) {
        kept = significand << -shift;
    } else if (shift > 64) {
        rest = 1;
    } else {
        kept = shift == 64 ? 0 : significand >> shift;
        const uint64_t cut = shift == 64 ? significand : significand & ((uint64_t(1) << shift) - 1);
        const uint64_t half = uint64_t(1) << (shift - 1);
        rest = cut == 0 ? 0 : cut < half ? 1 : cut == half ? 2 : 3;
    }
    const bool away = mode == rounding::nearest ? rest == 3 || (rest == 2 && (kept & 1))
                                                : rest != 0 && mode == (negative ? rounding::down : rounding::up);
    kept += away ? 1 : 0;
    uint64_t bits = (uint64_t(last + mantissa_bits + bias - 1) << mantissa_bits) + kept;
    if (bits >= infinity) {
        const bool to_infinity = mode == rounding::nearest || mode == (negative ? rounding::down : rounding::up);
        bits = to_infinity ? infinity : infinity - 1;
    }
    return static_cast<uint16_t>(sign | bits);
}

// NaN becomes 0x7FFF, the device's NaN in both 16-bit formats.
template <int mantissa_bits>
inline uint16_t encode_double(double value, rounding mode) {
    const uint64_t bits = bit_cast<uint64_t>(value);
    const bool negative = bits >> 63;
    const int exponent = static_cast<int>(bits >> 52) & 0x7FF;
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    if (exponent == 0x7FF) {
        if (fraction != 0) return 0x7FFF;
        return static_cast<uint16_t>((negative ? 0x8000u : 0u) | ((1u << 15) - (1u << mantissa_bits)));
    }
    if (exponent == 0) return encode_bits<mantissa_bits>(negative, fraction, -1074, mode);
    return encode_bits<mantissa_bits>(negative, fraction | (uint64_t(1) << 52), exponent - 1075, mode);
}

template <int mantissa_bits, typename integer>
inline uint16_t encode_integer(integer value, rounding mode) {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? uint64_t(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return encode_bits<mantissa_bits>(negative, magnitude, 0, mode);
}

// float -> half and -> bfloat16, to nearest even: the paths that kernels use all the time.
inline uint16_t encode_half(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude >= 0x477FF000u) {  // 65520 and above round to infinity
        return static_cast<uint16_t>(magnitude > 0x7F800000u ? 0x7FFFu : sign | 0x7C00u);
    }
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 aligns the last bit of the subnormal with that of the sum
        return static_cast<uint16_t>(sign | (bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u));
    }
    return static_cast<uint16_t>(sign | ((magnitude + 0xFFFu + ((magnitude >> 13) & 1) - (112u << 23)) >> 13));
}

inline float decode_half(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7FFFu;
    if (magnitude >= 0x7C00u) {
        // No branch with a constant NaN: g++ 12 at -O2 takes comparisons of two such constants for true.
        const uint32_t nan = 0u - static_cast<uint32_t>(magnitude > 0x7C00u);
        return bit_cast<float>((sign & ~nan) | 0x7F800000u | (nan & 0x7FFFFFu));
    }
    if (magnitude < 0x0400u)
        return bit_cast<float>(sign | bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
    return bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
}

inline uint16_t encode_bfloat16(float value) {
    const uint32_t bits = bit_cast<uint32_t>(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
    return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16);
}

inline float decode_bfloat16(uint16_t bits) { return bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// a * b + c rounded to odd, so that one more rounding to at most 51 bits gives what a single rounding would. The
// product of two 16-bit numbers is exact in double.
inline double fused_to_odd(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (c - part);
    uint64_t bits = bit_cast<uint64_t>(sum);
    if (error == 0 || !std::isfinite(sum) || (bits & 1)) return sum;
    return bit_cast<double>((error > 0) == (sum > 0) ? bits | 1 : bits - 1);
}

inline double round_to_integral(double value, rounding mode) {
    switch (mode) {
        case rounding::nearest: return std::nearbyint(value);
        case rounding::toward_zero: return std::trunc(value);
        case rounding::down: return std::floor(value);
        case rounding::up: return std::ceil(value);
    }
    return value;
}

// The device's conversion to an integer: rounded, then held at the ends of the range. A NaN gives `nan`.
template <typename integer>
inline integer to_integer(double value, rounding mode, integer nan) {
    if (std::isnan(value)) return nan;
    const double rounded = round_to_integral(value, mode);
    using limits = std::numeric_limits<integer>;
    // The largest value may round up to 2^n in double: so compare with 2^n, which is exact.
    if (rounded >= std::ldexp(1.0, limits::digits)) return limits::max();
    if (rounded < static_cast<double>(limits::min())) return limits::min();
    return static_cast<integer>(rounded);
}

// What the device gives for a NaN: the top bit alone where the source is a double or the result has 64 bits, else 0.
template <typename integer>
constexpr integer nan_of_double() {
    return static_cast<integer>(uint64_t(1) << (8 * sizeof(integer) - 1));
}
template <typename integer>
constexpr integer nan_of_float() {
    return sizeof(integer) == 8 ? nan_of_double<integer>() : static_cast<integer>(0);
}

// The compiler must take the value from memory here and knows nothing about it any more.
template <typename T>
inline void forget_value(T &value) {
    __asm__ volatile("" : "+m"(value) : : "memory");
}

// The value, which the compiler can no longer fuse with an addition: for products that are stated to be rounded.
template <typename T>
inline T unfused(T value) {
#if defined(__x86_64__)
    __asm__("" : "+x"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#else
    forget_value(value);
#endif
    return value;
}

// Evaluate an operation in a rounding direction. Slow: meant for the _rz, _rd and _ru intrinsics. Operands and result
// are forgotten, so that the compiler neither moves nor folds the operation out of the changed mode.
template <typename operation, typename... operands>
inline auto with_rounding(rounding mode, operation compute, operands... values) {
    const int previous = std::fegetround();
    std::fesetround(mode == rounding::nearest       ? FE_TONEAREST
                    : mode == rounding::toward_zero ? FE_TOWARDZERO
                    : mode == rounding::down        ? FE_DOWNWARD
                                                    : FE_UPWARD);
    (forget_value(values), ...);
    auto result = compute(values...);
    forget_value(result);
    std::fesetround(previous);
    return result;
}

}  // namespace oprt_emulator
