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

// The sum of the whole grid in one launch: the last block to take a ticket adds up what the others left, and the ticket
// wraps to 0 for the next launch. A volatile, a hinted and a plain read must all see it.
__global__ void single_pass_sum(unsigned *ticket, unsigned *partial, unsigned *sums) {
    __shared__ bool is_last;
    atomicAdd(&partial[blockIdx.x], static_cast<unsigned>(index_in_grid()));
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    __threadfence();
    const volatile unsigned *const seen = partial;
    for (unsigned i = 0; i < gridDim.x; ++i) {
        sums[0] += seen[i];
        sums[1] += __ldcg(&partial[i]);
        sums[2] += partial[i];
    }
}

// Thread 0 sleeps until the last thread of its block, which runs after it, has written.
__global__ void sleeper(unsigned *flags) {
    volatile unsigned *const flag = &flags[blockIdx.x];
    if (threadIdx.x == 0) {
        while (*flag == 0) __nanosleep(20);
        *flag = 2;
    }
    if (threadIdx.x == blockDim.x - 1) *flag = 1;
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

void check_single_pass() {
    unsigned *const ticket = on_device(std::vector<unsigned>{0});
    unsigned *const partial = on_device(std::vector<unsigned>(blocks, 0));
    unsigned *const sums = on_device(std::vector<unsigned>(3, 0));
    SUCCEEDS(start(single_pass_sum, blocks, threads, 0, nullptr, ticket, partial, sums));
    CHECK(on_host(sums, 3) == std::vector<unsigned>(3, total / 2 * (total - 1)));
    CHECK_EQUAL(on_host(ticket, 1)[0], 0u);
    unsigned *const flags = on_device(std::vector<unsigned>(blocks, 0));
    SUCCEEDS(start(sleeper, blocks, threads, 0, nullptr, flags));
    CHECK(on_host(flags, blocks) == std::vector<unsigned>(blocks, 2));
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

#if OPRT_EMULATOR_WARP_SIZE == 32
// Thread 0 hands a value to the last thread of its block through a flag that is stored and loaded in order.
__global__ void messages(unsigned *flags, float *values) {
    if (threadIdx.x == 0) {
        while (__nv_atomic_load_n(&flags[blockIdx.x], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 0) {
        }
        values[blockIdx.x] *= 2;
    }
    if (threadIdx.x == blockDim.x - 1) {
        values[blockIdx.x] = static_cast<float>(blockIdx.x) + 0.5f;
        __nv_atomic_store_n(&flags[blockIdx.x], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    }
}

template <typename T>
__global__ void count_all(T *sum) {
    __nv_atomic_fetch_add(sum, 3, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_sub(sum, 1, __NV_ATOMIC_ACQ_REL);
}

template <typename T>
void check_counts() {
    T *const sum = on_device(std::vector<T>{T(0)});
    SUCCEEDS(start(count_all<T>, blocks, threads, 0, nullptr, sum));
    CHECK(on_host(sum, 1)[0] == T(2 * total));
}

void check_ordered() {
    unsigned *const flags = on_device(std::vector<unsigned>(blocks, 0));
    float *const values = on_device(std::vector<float>(blocks, 0));
    SUCCEEDS(start(messages, blocks, threads, 0, nullptr, flags, values));
    const std::vector<float> got = on_host(values, blocks);
    for (int i = 0; i < blocks; ++i) CHECK(got[size_t(i)] == 2 * float(i) + 1);
    check_counts<int>();
    check_counts<unsigned>();
    check_counts<unsigned long long>();
    check_counts<float>();
    check_counts<double>();
    unsigned u = 12, expected = 5;
    constexpr int order = __NV_ATOMIC_SEQ_CST;
    CHECK(__nv_atomic_fetch_or(&u, 3, order) == 12 && __nv_atomic_fetch_and(&u, 9, order) == 15 && u == 9);
    CHECK(__nv_atomic_fetch_xor(&u, 1, order) == 9 && __nv_atomic_fetch_max(&u, 20, order) == 8 && u == 20);
    CHECK(__nv_atomic_fetch_min(&u, 7, order) == 20 && __nv_atomic_exchange_n(&u, 6, order) == 7);
    CHECK(!__nv_atomic_compare_exchange_n(&u, &expected, 1, false, order, order) && expected == 6 && u == 6);
    CHECK(__nv_atomic_compare_exchange_n(&u, &expected, 1, false, order, order) && expected == 6 && u == 1);
    __nv_atomic_thread_fence(order);
}
#else
void check_ordered() {}  // MACA has no such functions
#endif

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
    check_single_pass();
    check_ordered();
    SUCCEEDS(API(DeviceSynchronize)());
    return finish();
}
