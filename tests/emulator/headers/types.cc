// Sizes, alignments and construction of the vector types, half, bfloat16 and dim3; what is a type and what is a name
// for a learner.
#include <algorithm>
#include <type_traits>

#include "check.h"
#include "vendor.h"

#define VECTOR(type, element, size, alignment)                                \
    static_assert(sizeof(type) == size && alignof(type) == alignment, #type); \
    static_assert(std::is_same<decltype(type().x), element>::value, #type);   \
    static_assert(std::is_trivial<type>::value && std::is_standard_layout<type>::value, #type)
#define VECTORS(name, element, size, alignment2, alignment4) \
    VECTOR(name##1, element, size, size);                    \
    VECTOR(name##2, element, 2 * size, alignment2);          \
    VECTOR(name##3, element, 3 * size, size);                \
    VECTOR(name##4, element, 4 * size, alignment4)
VECTORS(char, signed char, 1, 2, 4);
VECTORS(uchar, unsigned char, 1, 2, 4);
VECTORS(short, short, 2, 4, 8);
VECTORS(ushort, unsigned short, 2, 4, 8);
VECTORS(int, int, 4, 8, 16);
VECTORS(uint, unsigned int, 4, 8, 16);
VECTORS(long, long, 8, 16, 16);
VECTORS(ulong, unsigned long, 8, 16, 16);
VECTORS(longlong, long long, 8, 16, 16);
VECTORS(ulonglong, unsigned long long, 8, 16, 16);
VECTORS(float, float, 4, 8, 16);
VECTORS(double, double, 8, 16, 16);

static_assert(sizeof(half) == 2 && alignof(half) == 2, "half");
static_assert(sizeof(half2) == 4 && alignof(half2) == 4, "half2");
static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2, "bfloat16");
static_assert(sizeof(bfloat162) == 4 && alignof(bfloat162) == 4, "bfloat162");
static_assert(std::is_trivial<half>::value && std::is_trivially_copyable<half2>::value, "half");
static_assert(std::is_trivial<bfloat16>::value && std::is_trivially_copyable<bfloat162>::value, "bfloat16");
static_assert(std::is_convertible<float, half>::value && std::is_convertible<half, float>::value, "half");
static_assert(std::is_convertible<bfloat16, float>::value, "bfloat16");
static_assert(std::is_convertible<float, bfloat16>::value == (lanes == 32), "MetaX: no implicit float to bfloat16");
static_assert(std::is_constructible<bfloat16, float>::value, "bfloat16");
static_assert(sizeof(dim3) == 12, "dim3");
static_assert(std::is_same<decltype(__ballot_sync(everyone, 1)), wide_mask>::value, "width of a ballot");
static_assert(std::is_same<decltype(__activemask()), wide_mask>::value, "width of activemask");

struct __align__(16) aligned_struct {
    float x;
};
static_assert(alignof(aligned_struct) == 16, "__align__");

// Names of kernels' extents are free for host code.
struct launch_shape {
    dim3 gridDim, blockDim;
};

__device__ __forceinline__ int device_function() { return 3; }
__constant__ float table[4] = {1, 2, 3, 4};

int main() {
    const dim3 gridDim(7), blockDim(2, 3);
    CHECK(gridDim.x == 7 && gridDim.y == 1 && gridDim.z == 1);
    CHECK(blockDim.x == 2 && blockDim.y == 3 && blockDim.z == 1);
    launch_shape shape;
    shape.gridDim = 5;
    shape.blockDim = blockDim;
    CHECK(shape.gridDim.x == 5 && shape.blockDim.y == 3);
    const uint3 plain = gridDim;
    CHECK(plain.x == 7 && dim3(plain).x == 7);

    const float4 four = make_float4(1, 2, 3, 4);
    CHECK(four.x == 1 && four.y == 2 && four.z == 3 && four.w == 4);
    const uchar4 bytes = {1, 2, 3, 255};
    CHECK(bytes.w == 255);
    const half2 pair = __halves2half2(half(1.0f), half(2.0f));
    CHECK(float(pair.x) == 1 && __high2float(pair) == 2);
    half one = 1.0f;
    one += half(2);
    ++one;
    CHECK(float(one) == 4 && static_cast<int>(one) == 4 && one > half(3) && -one < half(0));
    CHECK(sizeof(table) == 16 && device_function() == 3);
    CHECK(warpSize == lanes);

    // min and max of the vendor beside the standard's.
    using namespace std;
    CHECK(min(3, 4u) == 3u && max(-1, 1u) == 0xFFFFFFFFu);
    CHECK(min(1.0f, 2.0) == 1.0 && max(2.5f, 1.0f) == 2.5f && max(3ll, 4ll) == 4);
    CHECK(std::max(1, 2) == 2 && (max<int>(1, 2)) == 2);
    return finish();
}
