// half and bfloat16 against a reference that knows only the list of their values: every value, every midpoint and its
// neighbours, the four rounding directions, integers, and arithmetic rounded once.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.h"
#include "vendor.h"

using oprt_emulator::bit_cast;

// A 16-bit format by the list of its values alone.
class format {
public:
    explicit format(int mantissa_bits) : infinity_(0x7FFFu >> mantissa_bits << mantissa_bits) {
        const int bias = (1 << (14 - mantissa_bits)) - 1;
        for (unsigned bits = 0; bits <= infinity_; ++bits) {
            const int exponent = static_cast<int>(bits >> mantissa_bits);
            const double fraction = bits & ((1u << mantissa_bits) - 1);
            values_.push_back(exponent == 0
                                  ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                                  : std::ldexp(fraction + (1 << mantissa_bits), exponent - bias - mantissa_bits));
        }
    }
    unsigned infinity() const { return infinity_; }
    // The value of a pattern without a sign; what stands at infinity is the next power of two, so that midpoints are
    // right.
    double value(unsigned bits) const { return values_[bits]; }
    // Round x, which may carry `beyond` (-1, 0, 1): less, nothing or more than a double can say.
    unsigned round(double x, char mode = 'n', int beyond = 0) const {
        if (std::isnan(x)) return 0x7FFF;
        const unsigned sign = std::signbit(x) ? 0x8000u : 0;
        const double size = std::fabs(x);
        if (std::isinf(x)) return sign | infinity();
        if (sign) beyond = -beyond;
        unsigned low = 0,
                 high = infinity();  // value(low) <= size < value(high), or size is at or above value(infinity)
        while (high - low > 1) {
            const unsigned middle = (low + high) / 2;
            (value(middle) < size || (value(middle) == size && beyond >= 0) ? low : high) = middle;
        }
        const bool above_all = size > value(infinity()) || (size == value(infinity()) && beyond >= 0);
        if (size == value(low) && beyond == 0) return sign | low;
        const double middle = (value(low) + value(low + 1)) / 2;
        const bool away_mode = mode == (sign ? 'd' : 'u');
        if (mode != 'n') return sign | (away_mode ? low + 1 : low);
        if (above_all || size > middle || (size == middle && (beyond > 0 || (beyond == 0 && (low & 1)))))
            return sign | (low + 1);
        return sign | low;
    }

private:
    unsigned infinity_;
    std::vector<double> values_;
};

template <typename T>
unsigned bits_of(T value) {
    return bit_cast<uint16_t>(value);
}

template <typename T>
T from_bits(unsigned bits) {
    return bit_cast<T>(static_cast<uint16_t>(bits));
}

// The conversions of each type under one name.
struct half_functions {
    using type = half;
    static inline const format shape{10};
    static half nearest(float x) { return __float2half_rn(x); }
    static half to_zero(float x) { return __float2half_rz(x); }
    static half down(float x) { return __float2half_rd(x); }
    static half up(float x) { return __float2half_ru(x); }
    static half from_double(double x) { return __double2half(x); }
    static float to_float(half x) { return __half2float(x); }
    static half from_int(int x) { return __int2half_rn(x); }
    static half from_long(long long x) { return __ll2half_rn(x); }
    static half from_long_up(long long x) { return __ll2half_ru(x); }
    static half from_unsigned_long(unsigned long long x) { return __ull2half_rn(x); }
    static int to_int(half x) { return __half2int_rn(x); }
    static int to_int_down(half x) { return __half2int_rd(x); }
    static unsigned to_unsigned(half x) { return __half2uint_rz(x); }
    static long long to_long(half x) { return __half2ll_ru(x); }
    static short to_short(half x) { return __half2short_rn(x); }
};
struct bfloat16_functions {
    using type = bfloat16;
    static inline const format shape{7};
    static bfloat16 nearest(float x) { return __float2bfloat16_rn(x); }
    static bfloat16 to_zero(float x) { return __float2bfloat16_rz(x); }
    static bfloat16 down(float x) { return __float2bfloat16_rd(x); }
    static bfloat16 up(float x) { return __float2bfloat16_ru(x); }
    static bfloat16 from_double(double x) { return __double2bfloat16(x); }
    static float to_float(bfloat16 x) { return __bfloat162float(x); }
    static bfloat16 from_int(int x) { return __int2bfloat16_rn(x); }
    static bfloat16 from_long(long long x) { return __ll2bfloat16_rn(x); }
    static bfloat16 from_long_up(long long x) { return __ll2bfloat16_ru(x); }
    static bfloat16 from_unsigned_long(unsigned long long x) { return __ull2bfloat16_rn(x); }
    static int to_int(bfloat16 x) { return __bfloat162int_rn(x); }
    static int to_int_down(bfloat16 x) { return __bfloat162int_rd(x); }
    static unsigned to_unsigned(bfloat16 x) { return __bfloat162uint_rz(x); }
    static long long to_long(bfloat16 x) { return __bfloat162ll_ru(x); }
    static short to_short(bfloat16 x) { return __bfloat162short_rn(x); }
};

template <typename F>
void check_from_float(float x) {
    CHECK_EQUAL(bits_of(F::nearest(x)), F::shape.round(x));
    CHECK_EQUAL(bits_of(typename F::type(x)), F::shape.round(x));
    CHECK_EQUAL(bits_of(F::to_zero(x)), F::shape.round(x, 'z'));
    CHECK_EQUAL(bits_of(F::down(x)), F::shape.round(x, 'd'));
    CHECK_EQUAL(bits_of(F::up(x)), F::shape.round(x, 'u'));
}

// Every value there and back; the middle of each pair of neighbours, and the floats and doubles beside it.
template <typename F>
void check_all_values() {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto value = from_bits<typename F::type>(bits);
        const float as_float = F::to_float(value);
        const bool nan = (bits & 0x7FFF) > F::shape.infinity();
        CHECK(nan == std::isnan(as_float) && nan == __hisnan(value));
        CHECK_EQUAL(bits_of(F::nearest(as_float)), nan ? 0x7FFFu : bits);
        if (nan) continue;
        const double sign = bits & 0x8000 ? -1 : 1;
        const bool infinite = (bits & 0x7FFF) == F::shape.infinity();
        const double wanted = sign * (infinite ? HUGE_VAL : F::shape.value(bits & 0x7FFF));
        CHECK(static_cast<double>(as_float) == wanted && std::signbit(as_float) == (sign < 0));
        if (infinite) continue;
        const double middle = sign * (F::shape.value(bits & 0x7FFF) + F::shape.value((bits & 0x7FFF) + 1)) / 2;
        for (double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, sign * HUGE_VAL)}) {
            CHECK_EQUAL(bits_of(F::from_double(x)), F::shape.round(x));
            CHECK_EQUAL(bits_of(typename F::type(x)), F::shape.round(x));
        }
        const auto near = static_cast<float>(middle);
        for (float x : {as_float, near, std::nextafterf(near, 0.0f),
                        std::nextafterf(near, static_cast<float>(sign * HUGE_VAL))}) {
            check_from_float<F>(x);
        }
    }
}

template <typename F>
void check_special_numbers() {
    for (float x :
         {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, std::numeric_limits<float>::quiet_NaN(), 1e38f, -1e38f,
          std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), 65519.996f, 65520.0f}) {
        check_from_float<F>(x);
    }
    CHECK_EQUAL(bits_of(F::nearest(bit_cast<float>(0xFFC00001u))), 0x7FFFu);
    CHECK_EQUAL(bits_of(F::from_double(1e300)), F::shape.infinity());
    CHECK_EQUAL(bits_of(F::from_double(-5e-324)), 0x8000u);
}

template <typename F>
void check_random_floats(std::mt19937_64 &random) {
    for (int i = 0; i < 60000; ++i) {
        const auto x = bit_cast<float>(static_cast<uint32_t>(random()));
        CHECK_EQUAL(bits_of(F::nearest(x)), F::shape.round(x));
        const auto wide = bit_cast<double>(random());
        if (!std::isnan(wide)) CHECK_EQUAL(bits_of(F::from_double(wide)), F::shape.round(wide));
    }
}

template <typename integer>
integer saturated(double x, integer nan) {
    using limits = std::numeric_limits<integer>;
    if (std::isnan(x)) return nan;
    if (x >= std::ldexp(1.0, limits::digits)) return limits::max();
    if (x <= static_cast<double>(limits::min())) return limits::min();
    return static_cast<integer>(x);
}

template <typename F>
void check_integers(std::mt19937_64 &random) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto value = from_bits<typename F::type>(bits);
        const double x = F::to_float(value);
        CHECK_EQUAL(F::to_int(value), saturated<int>(std::nearbyint(x), 0));
        CHECK_EQUAL(F::to_int_down(value), saturated<int>(std::floor(x), 0));
        CHECK_EQUAL(F::to_unsigned(value), saturated<unsigned>(std::trunc(x), 0u));
        CHECK_EQUAL(F::to_short(value), saturated<short>(std::nearbyint(x), short(0)));
        CHECK_EQUAL(F::to_long(value), saturated<long long>(std::ceil(x), std::numeric_limits<long long>::min()));
    }
    for (int i = 0; i < 50000; ++i) {
        const int shift = static_cast<int>(random() % 64);
        const auto wide = static_cast<long long>(random() << (random() % 60)) >> shift;
        const auto low = static_cast<double>(wide);
        // What the double lost of the integer decides ties.
        const long long back = low >= 0x1p63 ? std::numeric_limits<long long>::max() : static_cast<long long>(low);
        const int beyond = low >= 0x1p63 ? -1 : wide > back ? 1 : wide < back ? -1 : 0;
        CHECK_EQUAL(bits_of(F::from_long(wide)), F::shape.round(low, 'n', beyond));
        CHECK_EQUAL(bits_of(F::from_long_up(wide)), F::shape.round(low, 'u', beyond));
        const int narrow = static_cast<int>(wide);
        CHECK_EQUAL(bits_of(F::from_int(narrow)), F::shape.round(narrow));
    }
    CHECK_EQUAL(bits_of(F::from_unsigned_long(~0ull)), F::shape.round(0x1p64, 'n', -1));
}

// Bits of one of the two NaN-free operands that show something: near each other, tiny, huge, any.
unsigned operand(std::mt19937_64 &random, const format &shape, unsigned other) {
    switch (random() % 4) {
        case 0: return static_cast<unsigned>(random() % 64) | static_cast<unsigned>(random() & 0x8000);
        case 1: return (other ^ static_cast<unsigned>(random() % 16)) & 0xFFFF;
        case 2:
            return (shape.infinity() - static_cast<unsigned>(random() % 64)) | static_cast<unsigned>(random() & 0x8000);
        default: return static_cast<unsigned>(random() & 0xFFFF);
    }
}

// a * b is exact in double; what the sum with c loses decides ties.
unsigned reference_fma(const format &shape, double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    if (!std::isfinite(sum)) return shape.round(sum);
    const double part = sum - product;
    const double error = (product - (sum - part)) + (c - part);
    return shape.round(sum, 'n', error > 0 ? 1 : error < 0 ? -1 : 0);
}

template <typename F>
void check_arithmetic(std::mt19937_64 &random) {
    using T = typename F::type;
    for (int i = 0; i < 50000; ++i) {
        const unsigned a_bits = operand(random, F::shape, 0x3C00), b_bits = operand(random, F::shape, a_bits);
        const unsigned c_bits = operand(random, F::shape, b_bits);
        const T a = from_bits<T>(a_bits), b = from_bits<T>(b_bits), c = from_bits<T>(c_bits);
        const double x = F::to_float(a), y = F::to_float(b), z = F::to_float(c);
        CHECK_EQUAL(bits_of(__hadd(a, b)), F::shape.round(x + y));
        CHECK_EQUAL(bits_of(a - b), F::shape.round(x - y));
        CHECK_EQUAL(bits_of(a * b), F::shape.round(x * y));
        CHECK_EQUAL(bits_of(__hdiv(a, b)), F::shape.round(x / y));
        CHECK_EQUAL(bits_of(hsqrt(a)), F::shape.round(std::sqrt(x)));
        CHECK_EQUAL(bits_of(__hfma(a, b, c)), reference_fma(F::shape, x, y, z));
        CHECK(__heq(a, b) == (x == y) && __hne(a, b) == (x < y || x > y) && (a != b) == (x != y));
        CHECK(__hlt(a, b) == (x < y) && __hle(a, b) == (x <= y) && __hgt(a, b) == (x > y) && __hge(a, b) == (x >= y));
        CHECK(__hltu(a, b) == !(x >= y) && __hgeu(a, b) == !(x < y) && __hequ(a, b) == !(x < y || x > y));
        CHECK_EQUAL(bits_of(__hmax(a, b)),
                    F::shape.round(std::isnan(x)                                            ? y
                                   : std::isnan(y) || x > y || (x == y && !std::signbit(x)) ? x
                                                                                            : y));
        CHECK_EQUAL(bits_of(__hmin_nan(a, b)), F::shape.round(std::isnan(x) || std::isnan(y)         ? NAN
                                                              : x < y || (x == y && std::signbit(x)) ? x
                                                                                                     : y));
        CHECK_EQUAL(bits_of(__hadd_sat(a, b)), F::shape.round(!(x + y > 0) ? 0.0 : x + y > 1 ? 1.0 : x + y));
        CHECK_EQUAL(bits_of(__hneg(a)), F::shape.round(-x));
        CHECK_EQUAL(bits_of(__habs(a)), F::shape.round(std::fabs(x)));
    }
}

template <typename F>
void check(std::mt19937_64 &random) {
    check_all_values<F>();
    check_special_numbers<F>();
    check_random_floats<F>(random);
    check_integers<F>(random);
    check_arithmetic<F>(random);
}

// Both halves of a pair are converted as one number is, bit by bit.
void check_pairs_of_floats(std::mt19937_64 &random) {
    const auto any_float = [&random] { return __uint_as_float(static_cast<unsigned>(random())); };
    for (int i = 0; i < 50000; ++i) {
        const float2 from = make_float2(any_float(), any_float());
        const half2 halves = __float22half2_rn(from);
        CHECK_EQUAL(bits_of(halves.x), bits_of(__float2half_rn(from.x)));
        CHECK_EQUAL(bits_of(halves.y), bits_of(__float2half_rn(from.y)));
        const bfloat162 shorts = __float22bfloat162_rn(from);
        CHECK_EQUAL(bits_of(shorts.x), bits_of(__float2bfloat16_rn(from.x)));
        CHECK_EQUAL(bits_of(shorts.y), bits_of(__float2bfloat16_rn(from.y)));
        const float2 from_halves = __half22float2(halves), from_shorts = __bfloat1622float2(shorts);
        CHECK_EQUAL(__float_as_uint(from_halves.x), __float_as_uint(__half2float(halves.x)));
        CHECK_EQUAL(__float_as_uint(from_halves.y), __float_as_uint(__half2float(halves.y)));
        CHECK_EQUAL(__float_as_uint(from_shorts.x), __float_as_uint(__bfloat162float(shorts.x)));
        CHECK_EQUAL(__float_as_uint(from_shorts.y), __float_as_uint(__bfloat162float(shorts.y)));
    }
}

void check_pairs() {
    const half2 a = __floats2half2_rn(1.5f, -2.0f), b = make_half2(half(3), half(4));
    CHECK(__hbeq2(__hadd2(a, b), __floats2half2_rn(4.5f, 2.0f)) && a * b == __floats2half2_rn(4.5f, -8.0f));
    CHECK(__hbgt2(b, a) && !__hblt2(a, __lowhigh2highlow(a)));
    CHECK_EQUAL(__hgt2_mask(a, __floats2half2_rn(1.0f, 1.0f)), 0x0000FFFFu);
    CHECK(float(__low2half(a)) == 1.5f && __high2float(a) == -2.0f && __half22float2(a).y == -2.0f);
    CHECK(__hbeq2(__half2half2(half(2)), __float2half2_rn(2.0f)) &&
          __hbeq2(__lows2half2(a, b), __floats2half2_rn(1.5f, 3)));
    CHECK(__hbeq2(__hfma2(a, b, a), __floats2half2_rn(6.0f, -10.0f)) && __hbeq2(h2sqrt(b * b), b));
    const bfloat162 c = __floats2bfloat162_rn(1.0f, 2.0f);
    CHECK(__bfloat1622float2(__hmul2(c, c)).y == 4.0f && __low2float(c) == 1.0f);
    CHECK(__hbeq2(__bfloat162bfloat162(bfloat16(2.0f)), __high2bfloat162(c)));
    CHECK(float(__hmax(half(NAN), half(2.0f))) == 2.0f && __hisnan(__hmax_nan(half(NAN), half(2.0f))));
    CHECK(float(hexp(half(0.0f))) == 1 && float(hlog2(half(8.0f))) == 3 && float(hrcp(half(4.0f))) == 0.25f);
    CHECK(float(hrint(half(2.5f))) == 2 && float(hceil(bfloat16(1.25f))) == 2 && float(hrsqrt(half(16.0f))) == 0.25f);
    CHECK(__hisinf(half(-HUGE_VALF)) == -1 && __hisinf(half(1.0f)) == 0);
    CHECK_EQUAL(__half_as_ushort(__ushort_as_half(0x1234)), 0x1234);
    CHECK_EQUAL(__bfloat16_as_short(__short_as_bfloat16(-5)), -5);
}

int main() {
    std::mt19937_64 random(20240607);
    check<half_functions>(random);
    check<bfloat16_functions>(random);
    check_pairs_of_floats(random);
    check_pairs();
    return finish();
}
