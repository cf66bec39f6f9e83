// Atomic functions under contention of many blocks, each against the value that any order gives; locks; the values that
// come back.
#include <algorithm>
#include <numeric>

#include "device.h"

constexpr int blocks = 64;
constexpr int threads = 96;
constexpr int total = blocks * threads;

__device__ int index_in_grid() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <typename T>
__global__ void add_all(T *sum) {
    atomicAdd(sum, T(2));
    atomicAdd_block(sum, T(1));
    atomicAdd_system(sum, T(1));
}

template <typename T>
__global__ void select_all(T *results) {
    const T i = static_cast<T>(index_in_grid());
    atomicMin(&results[0], i);
    atomicMax(&results[1], i);
    atomicOr(&results[2], T(1) << (index_in_grid() % (8 * int(sizeof(T)) - 1)));
    atomicAnd(&results[3], static_cast<T>(~(T(1) << (index_in_grid() % (8 * int(sizeof(T)) - 1)))));
    atomicXor(&results[4], i);
}

__global__ void others(int *subtracted, unsigned *wrapped, unsigned *down, float *exchanged, unsigned *tickets) {
    atomicSub(subtracted, 3);
    atomicInc(wrapped, 9u);
    atomicDec(down, 9u);
    atomicExch(&exchanged[0], 1.0f);
    tickets[atomicAdd(tickets + total, 1u)] = 1;  // every ticket is given once
}

// A lock by exchange and one by compare-and-swap: critical sections lose no update.
__global__ void locked(int *lock, int *counters) {
    while (atomicExch(lock, 1) != 0) {
    }
    __threadfence();
    counters[0] = counters[0] + 1;
    __threadfence();
    atomicExch(lock, 0);
    while (atomicCAS(&lock[1], 0, 1) != 0) {
    }
    counters[1] = counters[1] + 1;
    __threadfence();
    atomicCAS(&lock[1], 1, 0);
}

// Thread 0 waits for the last thread of its block, which runs after it.
__global__ void handshake(int *flags) {
    int *const flag = &flags[blockIdx.x];
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {
        }
        atomicAdd(flag, 1);
    }
    if (threadIdx.x == blockDim.x - 1) atomicExch(flag, 1);
}

template <typename T>
void check_sum() {
    T *const sum = on_device(std::vector<T>{T(0)});
    SUCCEEDS(start(add_all<T>, blocks, threads, 0, nullptr, sum));
    CHECK(on_host(sum, 1)[0] == T(4 * total));
    API(Free)(sum);
}

// 16-bit sums must stay exact: few additions of a power of two.
template <typename T>
void check_narrow_sum(T one) {
    T *const sum = on_device(std::vector<T>(2, T(0.0f)));
    SUCCEEDS(start(add_all<T>, 4, 8, 0, nullptr, sum));
    CHECK(float(on_host(sum, 1)[0]) == 128.0f * float(one));
    API(Free)(sum);
}

template <typename T>
void check_selection() {
    const std::vector<T> begin = {T(1000000000), T(0), T(0), T(-1), T(0)};
    T *const results = on_device(begin);
    SUCCEEDS(start(select_all<T>, blocks, threads, 0, nullptr, results));
    const std::vector<T> got = on_host(results, 5);
    const T low_bits = static_cast<T>(~(T(1) << (8 * int(sizeof(T)) - 1)));
    T all_xored = 0;
    for (int i = 0; i < total; ++i) all_xored ^= static_cast<T>(i);
    CHECK(got[0] == 0 && got[1] == T(total - 1));
    CHECK(got[2] == low_bits && got[3] == static_cast<T>(~low_bits) && got[4] == all_xored);
    API(Free)(results);
}

void check_others() {
    int *const subtracted = on_device(std::vector<int>{0});
    unsigned *const counters = on_device(std::vector<unsigned>{0, 4});
    float *const exchanged = on_device(std::vector<float>{0});
    unsigned *const tickets = on_device(std::vector<unsigned>(total + 1, 0));
    SUCCEEDS(start(others, blocks, threads, 0, nullptr, subtracted, counters, counters + 1, exchanged, tickets));
    CHECK_EQUAL(on_host(subtracted, 1)[0], -3 * total);
    CHECK_EQUAL(on_host(counters, 2)[0], unsigned(total % 10));
    CHECK_EQUAL(on_host(counters, 2)[1], unsigned((10000000 + 4 - total) % 10));
    CHECK(on_host(exchanged, 1)[0] == 1.0f);
    const std::vector<unsigned> seen = on_host(tickets, total);
    CHECK_EQUAL(std::accumulate(seen.begin(), seen.end(), 0u), unsigned(total));
}

void check_locks() {
    int *const lock = on_device(std::vector<int>(2, 0));
    int *const counters = on_device(std::vector<int>(2, 0));
    SUCCEEDS(start(locked, 16, threads, 0, nullptr, lock, counters));
    CHECK(on_host(counters, 2) == std::vector<int>(2, 16 * threads));
    int *const flags = on_device(std::vector<int>(blocks, 0));
    SUCCEEDS(start(handshake, blocks, threads, 0, nullptr, flags));
    CHECK(on_host(flags, blocks) == std::vector<int>(blocks, 2));
}

// Outside kernels: what comes back.
void check_results() {
    int i = 5;
    CHECK(atomicAdd(&i, 3) == 5 && i == 8 && atomicCAS(&i, 7, 1) == 8 && i == 8 && atomicCAS(&i, 8, 1) == 8 && i == 1);
    CHECK(atomicExch(&i, 4) == 1 && atomicMax(&i, 9) == 4 && atomicMin(&i, -2) == 9 && i == -2);
    unsigned u = 9;
    CHECK(atomicInc(&u, 9) == 9 && u == 0 && atomicDec(&u, 9) == 0 && u == 9 && atomicDec(&u, 5) == 9 && u == 5);
    unsigned long long wide = 1;
    CHECK(atomicAdd(&wide, ~0ull) == 1 && wide == 0 && atomicExch(&wide, 7ull) == 0 &&
          atomicCAS(&wide, 7ull, 8ull) == 7);
    double d = 1.5;
    CHECK(atomicAdd(&d, 2.0) == 1.5 && d == 3.5);
    unsigned short s = 3;
    CHECK(atomicCAS(&s, static_cast<unsigned short>(3), static_cast<unsigned short>(4)) == 3 && s == 4);
    half2 pair = __floats2half2_rn(1, 2);
    CHECK(__hbeq2(atomicAdd(&pair, __floats2half2_rn(0.5f, -1)), __floats2half2_rn(1, 2)) && __high2float(pair) == 1);
}

int main() {
    check_results();
    check_sum<int>();
    check_sum<unsigned>();
    check_sum<unsigned long long>();
    check_sum<float>();
    check_sum<double>();
    check_narrow_sum(half(1.0f));
    check_narrow_sum(bfloat16(1.0f));
    check_selection<int>();
    check_selection<unsigned>();
    check_selection<long long>();
    check_selection<unsigned long long>();
    check_others();
    check_locks();
    SUCCEEDS(API(DeviceSynchronize)());
    return finish();
}
