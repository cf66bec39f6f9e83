// Mathematical functions that the device has and the host's <math.h> does not: fast-math names, rsqrt, sinpi, min and
// max of mixed types, arithmetic in a rounding direction. The fast forms (__expf, ...) are as exact as the host's
// functions here; their larger errors on the device, and its flushing of subnormals, are not imitated.
#pragma once

// Both: the wrappers of libstdc++ bring isnan, abs, ... of every type into the global namespace.
#include <math.h>
#include <stdlib.h>

#include "oprt_emulator/bits.h"
#include "oprt_emulator/qualifiers.h"

// glibc declares most of these already, extern "C" and noexcept; so they are defined in just that way.
extern "C" {
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return static_cast<float>(pow(10.0, static_cast<double>(x))); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __tanhf(float x) noexcept { return tanhf(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline void __sincosf(float x, float *sine, float *cosine) noexcept {
    *sine = sinf(x);
    *cosine = cosf(x);
}
}

inline float __fdividef(float x, float y) { return x / y; }
inline double __fdivide(double x, double y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0.0f ? x > 1.0f ? 1.0f : x : 0.0f; }
inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rhypotf(float x, float y) {
    return static_cast<float>(1.0 / hypot(static_cast<double>(x), static_cast<double>(y)));
}
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float norm3df(float a, float b, float c) {
    return static_cast<float>(sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline float rnorm3df(float a, float b, float c) {
    return static_cast<float>(1.0 / sqrt(double(a) * a + double(b) * b + double(c) * c));
}

namespace oprt_emulator {
inline constexpr double pi = 3.14159265358979323846;
// x reduced to [-1, 1] by whole turns, which is exact; quarter turns give exact values.
inline double sine_of_pi(double x) {
    const double turn = remainder(x, 2.0);
    if (turn == floor(turn)) return copysign(0.0, x);
    return fabs(turn) == 0.5 ? turn * 2 : sin(turn * pi);
}
inline double cosine_of_pi(double x) {
    const double turn = fabs(remainder(x, 2.0));
    return turn == 0.5 ? 0.0 : cos(turn * pi);
}
}  // namespace oprt_emulator
inline float sinpif(float x) { return static_cast<float>(oprt_emulator::sine_of_pi(x)); }
inline float cospif(float x) { return static_cast<float>(oprt_emulator::cosine_of_pi(x)); }
inline double sinpi(double x) { return oprt_emulator::sine_of_pi(x); }
inline double cospi(double x) { return oprt_emulator::cosine_of_pi(x); }
inline void sincospif(float x, float *sine, float *cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
inline float normcdff(float x) {
    return static_cast<float>(0.5 * erfc(-static_cast<double>(x) * 0.70710678118654752440));
}
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

// min and max as the vendor overloads them: two integers of one width, one of them unsigned, give the unsigned type;
// float and double give double. As on the device a call such as min(size_t, int) is ambiguous.
#define OPRT_EMULATOR_MIN_MAX(result, first, second)                                                              \
    inline result min(first a, second b) {                                                                        \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b); \
    }                                                                                                             \
    inline result max(first a, second b) {                                                                        \
        return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b); \
    }
#define OPRT_EMULATOR_MIN_MAX_WIDTH(type)                              \
    OPRT_EMULATOR_MIN_MAX(type, type, type)                            \
    OPRT_EMULATOR_MIN_MAX(unsigned type, unsigned type, unsigned type) \
    OPRT_EMULATOR_MIN_MAX(unsigned type, type, unsigned type)          \
    OPRT_EMULATOR_MIN_MAX(unsigned type, unsigned type, type)
OPRT_EMULATOR_MIN_MAX_WIDTH(int)
OPRT_EMULATOR_MIN_MAX_WIDTH(long)
OPRT_EMULATOR_MIN_MAX_WIDTH(long long)
#undef OPRT_EMULATOR_MIN_MAX_WIDTH
#undef OPRT_EMULATOR_MIN_MAX
// Of a number and a NaN the number (of a signalling NaN too, where the host's fmin differs); +0 is above -0.
namespace oprt_emulator {
template <typename T>
inline T smaller(T a, T b) {
    if (a != a || b != b) return a != a ? b : a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T>
inline T larger(T a, T b) {
    if (a != a || b != b) return a != a ? b : a;
    return a > b || (a == b && std::signbit(b)) ? a : b;
}
}  // namespace oprt_emulator
inline float min(float a, float b) { return oprt_emulator::smaller(a, b); }
inline float max(float a, float b) { return oprt_emulator::larger(a, b); }
inline double min(double a, double b) { return oprt_emulator::smaller(a, b); }
inline double max(double a, double b) { return oprt_emulator::larger(a, b); }
inline double min(float a, double b) { return oprt_emulator::smaller(static_cast<double>(a), b); }
inline double max(float a, double b) { return oprt_emulator::larger(static_cast<double>(a), b); }
inline double min(double a, float b) { return oprt_emulator::smaller(a, static_cast<double>(b)); }
inline double max(double a, float b) { return oprt_emulator::larger(a, static_cast<double>(b)); }

// Arithmetic in a stated rounding direction, never fused. Operations on floats are done on floats, not on doubles.
#define OPRT_EMULATOR_ROUNDED2(name, type, op)                                       \
    inline type name##_rn(type a, type b) { return oprt_emulator::unfused(a op b); } \
    OPRT_EMULATOR_ROUNDED2_MODE(name##_rz, type, op, toward_zero)                    \
    OPRT_EMULATOR_ROUNDED2_MODE(name##_rd, type, op, down)                           \
    OPRT_EMULATOR_ROUNDED2_MODE(name##_ru, type, op, up)
#define OPRT_EMULATOR_ROUNDED2_MODE(name, type, op, mode)                                \
    inline type name(type a, type b) {                                                   \
        return oprt_emulator::with_rounding(                                             \
            oprt_emulator::rounding::mode, [](type x, type y) { return x op y; }, a, b); \
    }
OPRT_EMULATOR_ROUNDED2(__fadd, float, +)
OPRT_EMULATOR_ROUNDED2(__fsub, float, -)
OPRT_EMULATOR_ROUNDED2(__fmul, float, *)
OPRT_EMULATOR_ROUNDED2(__fdiv, float, /)
OPRT_EMULATOR_ROUNDED2(__dadd, double, +)
OPRT_EMULATOR_ROUNDED2(__dsub, double, -)
OPRT_EMULATOR_ROUNDED2(__dmul, double, *)
OPRT_EMULATOR_ROUNDED2(__ddiv, double, /)
#undef OPRT_EMULATOR_ROUNDED2_MODE
#undef OPRT_EMULATOR_ROUNDED2

// Reciprocal, square root and fma. The host's fma obeys the rounding direction.
#define OPRT_EMULATOR_ROUNDED_FUNCTIONS(letter, type, suffix, mode)                             \
    inline type __##letter##rcp##suffix(type a) {                                               \
        return oprt_emulator::with_rounding(                                                    \
            oprt_emulator::rounding::mode, [](type x) { return static_cast<type>(1) / x; }, a); \
    }                                                                                           \
    inline type __##letter##sqrt##suffix(type a) {                                              \
        return oprt_emulator::with_rounding(                                                    \
            oprt_emulator::rounding::mode, [](type x) { return std::sqrt(x); }, a);             \
    }
OPRT_EMULATOR_ROUNDED_FUNCTIONS(f, float, _rz, toward_zero)
OPRT_EMULATOR_ROUNDED_FUNCTIONS(f, float, _rd, down)
OPRT_EMULATOR_ROUNDED_FUNCTIONS(f, float, _ru, up)
OPRT_EMULATOR_ROUNDED_FUNCTIONS(d, double, _rz, toward_zero)
OPRT_EMULATOR_ROUNDED_FUNCTIONS(d, double, _rd, down)
OPRT_EMULATOR_ROUNDED_FUNCTIONS(d, double, _ru, up)
#undef OPRT_EMULATOR_ROUNDED_FUNCTIONS
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
#define OPRT_EMULATOR_ROUNDED_FMA(name, type, mode)                                                            \
    inline type name(type a, type b, type c) {                                                                 \
        return oprt_emulator::with_rounding(                                                                   \
            oprt_emulator::rounding::mode, [](type x, type y, type z) { return std::fma(x, y, z); }, a, b, c); \
    }
OPRT_EMULATOR_ROUNDED_FMA(__fmaf_rz, float, toward_zero)
OPRT_EMULATOR_ROUNDED_FMA(__fmaf_rd, float, down)
OPRT_EMULATOR_ROUNDED_FMA(__fmaf_ru, float, up)
OPRT_EMULATOR_ROUNDED_FMA(__fma_rz, double, toward_zero)
OPRT_EMULATOR_ROUNDED_FMA(__fma_rd, double, down)
OPRT_EMULATOR_ROUNDED_FMA(__fma_ru, double, up)
#undef OPRT_EMULATOR_ROUNDED_FMA
