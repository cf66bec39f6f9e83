// Integer, bit and conversion intrinsics and the mathematical names, each against plain C++ or a fixed value.
#include <math_constants.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "check.h"
#include "vendor.h"

namespace {

int slow_count(uint64_t x) {
    int count = 0;
    for (; x != 0; x >>= 1) count += static_cast<int>(x & 1);
    return count;
}

int slow_leading(uint64_t x, int width) {
    int zeros = 0;
    while (zeros < width && !(x >> (width - 1 - zeros) & 1)) ++zeros;
    return zeros;
}

int slow_first(uint64_t x) {
    for (int bit = 0; bit < 64; ++bit) {
        if (x >> bit & 1) return bit + 1;
    }
    return 0;
}

uint64_t slow_reverse(uint64_t x, int width) {
    uint64_t result = 0;
    for (int bit = 0; bit < width; ++bit) result |= (x >> bit & 1) << (width - 1 - bit);
    return result;
}

unsigned slow_permutation(unsigned x, unsigned y, unsigned selectors) {
    const unsigned char bytes[8] = {static_cast<unsigned char>(x),       static_cast<unsigned char>(x >> 8),
                                    static_cast<unsigned char>(x >> 16), static_cast<unsigned char>(x >> 24),
                                    static_cast<unsigned char>(y),       static_cast<unsigned char>(y >> 8),
                                    static_cast<unsigned char>(y >> 16), static_cast<unsigned char>(y >> 24)};
    unsigned result = 0;
    for (int i = 3; i >= 0; --i) {
        result = result << 8 | bytes[selectors >> (4 * i) & 7];
    }
    return result;
}

// The exact product of two 64-bit numbers, upper half, by schoolbook.
uint64_t slow_high(uint64_t x, uint64_t y) {
    const uint64_t a = x >> 32, b = x & 0xFFFFFFFF, c = y >> 32, d = y & 0xFFFFFFFF;
    const uint64_t middle = (b * d >> 32) + (a * d & 0xFFFFFFFF) + (b * c & 0xFFFFFFFF);
    return a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

void check_integers(std::mt19937_64 &random) {
    for (int i = 0; i < 20000; ++i) {
        const uint64_t wide = i == 0 ? 0 : i == 1 ? ~0ull : random() >> (random() % 64);
        const auto x = static_cast<unsigned>(wide), y = static_cast<unsigned>(random() >> (random() % 64));
        const auto s = static_cast<unsigned>(random() >> (random() % 64));
        CHECK_EQUAL(__popc(x), slow_count(x));
        CHECK_EQUAL(__popcll(wide), slow_count(wide));
        CHECK_EQUAL(__clz(static_cast<int>(x)), slow_leading(x, 32));
        CHECK_EQUAL(__clzll(static_cast<long long>(wide)), slow_leading(wide, 64));
        CHECK_EQUAL(__ffs(static_cast<int>(x)), slow_first(x));
        CHECK_EQUAL(__ffsll(static_cast<long long>(wide)), slow_first(wide));
        CHECK_EQUAL(__brev(x), slow_reverse(x, 32));
        CHECK_EQUAL(__brevll(wide), slow_reverse(wide, 64));
        CHECK_EQUAL(__byte_perm(x, y, s), slow_permutation(x, y, s));
        const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
        CHECK_EQUAL(__funnelshift_l(x, y, s), static_cast<unsigned>(both << (s & 31) >> 32));
        CHECK_EQUAL(__funnelshift_r(x, y, s), static_cast<unsigned>(both >> (s & 31)));
        CHECK_EQUAL(__funnelshift_lc(x, y, s), s >= 32 ? x : static_cast<unsigned>(both << s >> 32));
        CHECK_EQUAL(__funnelshift_rc(x, y, s), s >= 32 ? y : static_cast<unsigned>(both >> s));
        CHECK_EQUAL(__umulhi(x, y), static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32));
        const int sx = static_cast<int>(x), sy = static_cast<int>(y);
        CHECK_EQUAL(__mulhi(sx, sy), static_cast<int>(static_cast<int64_t>(sx) * sy >> 32));
        CHECK_EQUAL(__umul64hi(wide, both), slow_high(wide, both));
        CHECK_EQUAL(__umul24(x, y), (x & 0xFFFFFF) * (y & 0xFFFFFF));
        CHECK_EQUAL(__usad(x, y, s), (x > y ? x - y : y - x) + s);
        CHECK_EQUAL(__uhadd(x, y), static_cast<unsigned>((static_cast<uint64_t>(x) + y) / 2));
    }
    CHECK_EQUAL(__mul24(-3, 5), -15);
    CHECK_EQUAL(__mul24(0x01000002, 3), 6);
    CHECK_EQUAL(__mul64hi(-1, 1), -1);
    CHECK_EQUAL(__hadd(-3, 2), -1);
    CHECK_EQUAL(__rhadd(2147483647, 2147483645), 2147483646);
    CHECK_EQUAL(__sad(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 1u), 0u);
    CHECK_EQUAL(__dp4a(0x7F80FF01, 0x0102FF03, 10), 127 - 256 + 1 + 3 + 10);
    CHECK_EQUAL(__dp4a(0xFF000000u, 0xFF000000u, 1u), 65026u);
    CHECK_EQUAL(__fns(0b1011000, 0, 2), 4u);
    CHECK_EQUAL(__fns(0b1011000, 6, -2), 4u);
    CHECK_EQUAL(__fns(0b1, 1, 1), 0xFFFFFFFFu);
}

void check_bit_casts() {
    CHECK_EQUAL(__float_as_int(-1.0f), static_cast<int>(0xBF800000));
    CHECK(__int_as_float(0x40490FDB) == 3.14159274f && __uint_as_float(__float_as_uint(1.5f)) == 1.5f);
    CHECK_EQUAL(__double_as_longlong(1.0), 0x3FF0000000000000ll);
    CHECK(__longlong_as_double(0x4000000000000000ll) == 2.0);
    CHECK(__hiloint2double(__double2hiint(1.1), __double2loint(1.1)) == 1.1);
    for (const unsigned bits : {0x7F800001u, 0xFFC12345u, 0x80000000u, 1u}) {  // NaNs of both kinds keep their bits
        CHECK_EQUAL(__float_as_uint(__uint_as_float(bits)), bits);
        CHECK_EQUAL(__float_as_int(__int_as_float(static_cast<int>(bits))), static_cast<int>(bits));
    }
    CHECK(std::isinf(CUDART_INF_F) && std::isnan(CUDART_NAN) && CUDART_PI_F == 3.14159265f);
}

template <typename integer>
integer clamped(double x) {
    using limits = std::numeric_limits<integer>;
    if (x >= std::ldexp(1.0, limits::digits)) return limits::max();
    if (x <= static_cast<double>(limits::min())) return limits::min();
    return static_cast<integer>(x);
}

void check_conversions(std::mt19937_64 &random) {
    for (int i = 0; i < 20000; ++i) {
        const auto x = static_cast<float>(std::ldexp(static_cast<double>(random() % 4096) / 512,
                                                     static_cast<int>(random() % 70) - 4)) *
                       (random() & 1 ? -1.0f : 1.0f);
        CHECK_EQUAL(__float2int_rn(x), clamped<int>(std::nearbyint(x)));
        CHECK_EQUAL(__float2int_rz(x), clamped<int>(std::trunc(x)));
        CHECK_EQUAL(__float2int_rd(x), clamped<int>(std::floor(x)));
        CHECK_EQUAL(__float2int_ru(x), clamped<int>(std::ceil(x)));
        CHECK_EQUAL(__float2uint_rn(x), clamped<unsigned>(std::nearbyint(x)));
        CHECK_EQUAL(__float2ll_rz(x), clamped<long long>(std::trunc(x)));
        CHECK_EQUAL(__double2ull_rd(x), clamped<unsigned long long>(std::floor(x)));
        CHECK_EQUAL(__double2int_rn(x + 0.5), clamped<int>(std::nearbyint(x + 0.5)));
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK_EQUAL(__float2int_rn(nan), 0);
    CHECK_EQUAL(__float2uint_rz(nan), 0u);
    CHECK_EQUAL(__float2ll_rn(nan), std::numeric_limits<long long>::min());
    CHECK_EQUAL(__double2int_rz(static_cast<double>(nan)), std::numeric_limits<int>::min());
    CHECK(__int2float_rz(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f);
    CHECK(__uint2float_rd(0xFFFFFFFFu) == 4294967040.0f && __uint2float_rn(0xFFFFFFFFu) == 4294967296.0f);
    CHECK(__ll2float_rn(-5) == -5.0f && __ull2double_rd(~0ull) == 18446744073709549568.0);
    CHECK(__double2float_rd(0.1) < __double2float_ru(0.1) && __double2float_rn(0.1) == 0.1f);
}

// In each direction: not beyond the exact result, and the neighbour is.
void check_rounding() {
    CHECK(__fadd_rd(1.0f, 1e-10f) == 1.0f && __fadd_ru(1.0f, 1e-10f) == std::nextafterf(1.0f, 2.0f));
    CHECK(__fadd_rz(-1.0f, -1e-10f) == -1.0f && __fsub_rd(1.0f, 1e-10f) == std::nextafterf(1.0f, 0.0f));
    CHECK(__fmul_ru(1.1f, 1.1f) == std::nextafterf(__fmul_rd(1.1f, 1.1f), 2.0f) &&
          __fmul_rz(1.1f, -1.1f) == -__fmul_rd(1.1f, 1.1f));
    CHECK(__fdiv_rd(1.0f, 3.0f) < __fdiv_ru(1.0f, 3.0f) && __fdiv_rn(1.0f, 3.0f) == 1.0f / 3.0f);
    CHECK(__frcp_rn(3.0f) == 1.0f / 3.0f && __frcp_rd(3.0f) <= __frcp_ru(3.0f) && __frcp_rz(4.0f) == 0.25f);
    CHECK(__fsqrt_rn(2.0f) == std::sqrt(2.0f) && __fsqrt_rd(2.0f) < __fsqrt_ru(2.0f) && __fsqrt_rz(9.0f) == 3.0f);
    CHECK(__fmaf_rn(2.0f, 3.0f, 4.0f) == 10.0f && __fmaf_rd(1.0f, 1.0f, 1e-10f) == 1.0f &&
          __fmaf_ru(1.0f, 1.0f, 1e-10f) > 1.0f);
    CHECK(__dadd_rd(1.0, 1e-20) == 1.0 && __dadd_ru(1.0, 1e-20) > 1.0 && __dmul_rn(3.0, 4.0) == 12.0 &&
          __ddiv_rz(1.0, 4.0) == 0.25);
    CHECK(__dsqrt_rd(2.0) < __dsqrt_ru(2.0) && __fma_rz(1.0, -1.0, -1e-20) == -1.0 && __drcp_rn(8.0) == 0.125);
    CHECK(std::fegetround() == FE_TONEAREST);
    // Rounded products stay rounded where the compiler could fuse them with the addition.
    volatile float third = 1.0f / 3.0f;
    const float product = __fmul_rn(third, third);
    volatile float rounded = product;
    CHECK(__fadd_rn(__fmul_rn(third, third), -product) == 0.0f && __fadd_rn(product, -rounded) == 0.0f);
}

bool near(double got, double wanted) { return std::fabs(got - wanted) <= 4e-7 * std::fabs(wanted) + 1e-30; }

void check_mathematics() {
    for (float x : {0.001f, 0.5f, 1.0f, 2.75f, 10.0f}) {
        CHECK(near(__expf(x), std::exp(double(x))) && near(__logf(x), std::log(double(x))) &&
              near(__log2f(x), std::log2(double(x))));
        CHECK(near(__exp10f(x), std::pow(10.0, double(x))) && near(__log10f(x), std::log10(double(x))));
        CHECK(near(__sinf(x), std::sin(double(x))) && near(__cosf(x), std::cos(double(x))) &&
              near(__tanf(x), std::tan(double(x))));
        CHECK(near(__powf(x, 1.5f), std::pow(double(x), 1.5)) && near(__fdividef(x, 3.0f), double(x) / 3));
        CHECK(near(rsqrtf(x), 1 / std::sqrt(double(x))) && near(rsqrt(double(x)), 1 / std::sqrt(double(x))));
        CHECK(near(rcbrtf(x), 1 / std::cbrt(double(x))) && near(__frsqrt_rn(x), 1 / std::sqrt(double(x))));
        CHECK(near(normcdff(x), 0.5 * std::erfc(-double(x) / std::sqrt(2.0))));
        float sine = 0, cosine = 0;
        __sincosf(x, &sine, &cosine);
        CHECK(near(sine, std::sin(double(x))) && near(cosine, std::cos(double(x))));
    }
    CHECK(sinpif(0.5f) == 1 && sinpi(-0.5) == -1 && cospif(0.5f) == 0 && cospi(1.0) == -1 && sinpif(3.0f) == 0 &&
          sinpi(2.5) == 1);
    CHECK(near(sinpif(0.25f), std::sqrt(0.5)) && near(cospi(0.75), -std::sqrt(0.5)) &&
          near(sinpi(1.25), -std::sqrt(0.5)));
    CHECK(__saturatef(-1.0f) == 0 && __saturatef(0.25f) == 0.25f && __saturatef(7.0f) == 1 && __saturatef(NAN) == 0);
    CHECK(rhypotf(3.0f, 4.0f) == 0.2f && norm3df(2.0f, 3.0f, 6.0f) == 7.0f);
    CHECK(isnan(NAN) && isinf(HUGE_VALF) && !isfinite(HUGE_VAL) && fmaxf(NAN, 1.0f) == 1.0f && max(1.0f, NAN) == 1.0f);
    CHECK(expf(0.0f) == 1 && abs(-2.5f) == 2.5f && abs(-3) == 3 && exp2f(3.0f) == 8 && exp2f(-150.0f) == 0 &&
          exp2f(-INFINITY) == 0 && isnan(exp2f(NAN)) && __expf(-INFINITY) == 0 && erff(0.0f) == 0);
}

// Every hinted load sees what each hinted store wrote, for one type.
template <typename T>
void check_hinted(const T &first, const T &second) {
    T values[2];
    const auto holds = [&values](const T &wanted) {
        for (const T &got : {__ldg(values + 1), __ldca(values + 1), __ldcg(values + 1), __ldcs(values + 1),
                             __ldlu(values + 1), __ldcv(values + 1)}) {
            CHECK(std::memcmp(&got, &wanted, sizeof(T)) == 0);
        }
    };
    __stcg(values + 1, first);
    holds(first);
    __stcs(values + 1, second);
    holds(second);
    __stwt(values + 1, first);
    holds(first);
    __stwb(values + 1, second);
    holds(second);
}

void check_hints_of_types() {
    check_hinted(static_cast<signed char>(-3), static_cast<signed char>(7));
    check_hinted(static_cast<unsigned short>(3), static_cast<unsigned short>(70));
    check_hinted(-5, 8);
    check_hinted(5u, 8u);
    check_hinted(5ull, 8ull);
    check_hinted(1.5f, -2.5f);
    check_hinted(1.5, -2.5);
    check_hinted(half(1.5f), half(-2.0f));
    check_hinted(bfloat16(1.5f), bfloat16(-2.0f));
    check_hinted(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4));
    check_hinted(__floats2bfloat162_rn(1, 2), __floats2bfloat162_rn(3, 4));
    check_hinted(make_float2(1, 2), make_float2(3, 4));
    check_hinted(make_float4(1, 2, 3, 4), make_float4(5, 6, 7, 8));
    check_hinted(make_double2(1, 2), make_double2(3, 4));
    check_hinted(make_int4(1, 2, 3, 4), make_int4(5, 6, 7, 8));
    check_hinted(make_uint4(1, 2, 3, 4), make_uint4(5, 6, 7, 8));
    check_hinted(make_ulonglong2(1, 2), make_ulonglong2(3, 4));
}

void check_hints() {
    float values[2] = {1, 2};
    const float *read = values;
    __stcs(&values[1], 5);
    __stcg(&values[0], 3.0f);
    __stwt(&values[0], __ldg(read) + 1);
    CHECK(__ldg(read) == 4 && __ldcs(&values[1]) == 5 && __ldcg(read) == 4 && __ldca(read) == 4 && __ldlu(read) == 4 &&
          __ldcv(read) == 4);
    float4 four = make_float4(1, 2, 3, 4);
    CHECK(__ldg(&four).z == 3);
    half h = half(2.0f);
    CHECK(float(__ldg(&h)) == 2.0f);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    const long long before = clock64();
    CHECK(clock64() >= before);
    __builtin_assume(before != 0);
}

}  // namespace

int main() {
    std::mt19937_64 random(7);
    check_integers(random);
    check_bit_casts();
    check_conversions(random);
    check_rounding();
    check_mathematics();
    check_hints();
    check_hints_of_types();
    return finish();
}
