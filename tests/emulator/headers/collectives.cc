// Barriers, shuffles, votes, matches, reductions and cooperative groups under the vendors' names: widths of masks and
// types that they take. How they work inside is the engine's own tests' matter.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>

#include "device.h"

namespace cg = cooperative_groups;

constexpr int block = 2 * lanes;

template <typename T>
__global__ void shuffles(T *out) {
    const int lane = static_cast<int>(threadIdx.x) % warpSize;
    const T own = T(float(lane));
    T *const row = out + threadIdx.x * 5;
    row[0] = __shfl_sync(everyone, own, 3);
    row[1] = __shfl_up_sync(everyone, own, 1);
    row[2] = __shfl_down_sync(everyone, own, 2);
    row[3] = __shfl_xor_sync(everyone, own, 1);
    row[4] = __shfl_sync(everyone, own, 1, 8);
}

template <typename T>
void check_shuffles() {
    std::vector<T> begin(5 * block, T(0.0f));
    T *const out = on_device(begin);
    SUCCEEDS(start(shuffles<T>, 1, block, 0, nullptr, out));
    const std::vector<T> got = on_host(out, 5 * block);
    for (int thread = 0; thread < block; ++thread) {
        const int lane = thread % lanes;
        const int wanted[5] = {3, lane == 0 ? 0 : lane - 1, lane + 2 < lanes ? lane + 2 : lane, lane ^ 1,
                               lane / 8 * 8 + 1};
        for (int i = 0; i < 5; ++i)
            CHECK(static_cast<float>(got[size_t(thread * 5 + i)]) == static_cast<float>(wanted[i]));
    }
    API(Free)(out);
}

__global__ void shuffle_pairs(float *out) {
    const half2 own = __floats2half2_rn(float(threadIdx.x), float(threadIdx.x) + 0.5f);
    const half2 other = __shfl_xor_sync(everyone, own, 1);
    out[threadIdx.x] = __low2float(other) + __high2float(other);
}

__global__ void votes(unsigned long long *out) {
    const int lane = static_cast<int>(threadIdx.x) % warpSize;
    unsigned long long *const row = out + threadIdx.x * 8;
    row[0] = __ballot_sync(everyone, lane % 3 == 0);
    row[1] = static_cast<unsigned long long>(__all_sync(everyone, lane >= 0)) +
             2u * static_cast<unsigned>(__any_sync(everyone, lane == 5));
    row[2] = __activemask();
    row[3] = __match_any_sync(everyone, lane / 4);
    int same = 7;
    row[4] = __match_all_sync(everyone, 1.5f, &same);
    row[5] = static_cast<unsigned long long>(same);
    row[6] = static_cast<unsigned long long>(__reduce_add_sync(everyone, lane)) +
             1000u * static_cast<unsigned>(__reduce_max_sync(everyone, lane));
    row[7] =
        __reduce_xor_sync(everyone, 1u << (lane % 31)) + static_cast<unsigned>(__reduce_min_sync(everyone, lane + 1));
    __syncwarp();
}

void check_votes() {
    unsigned long long *const out = on_device(std::vector<unsigned long long>(8 * block));
    SUCCEEDS(start(votes, 1, block, 0, nullptr, out));
    const auto got = on_host(out, 8 * block);
    unsigned long long thirds = 0;
    unsigned ring = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        thirds |= (lane % 3 == 0 ? 1ull : 0) << lane;
        ring ^= 1u << (lane % 31);
    }
    for (int thread = 0; thread < block; ++thread) {
        const int lane = thread % lanes;
        const auto *row = &got[size_t(8 * thread)];
        CHECK_EQUAL(row[0], thirds);
        CHECK_EQUAL(row[1], 3u);
        CHECK_EQUAL(row[2], everyone);
        CHECK_EQUAL(row[3], 15ull << (lane / 4 * 4));
        CHECK_EQUAL(row[4], everyone);
        CHECK_EQUAL(row[5], 1u);
        CHECK_EQUAL(row[6], unsigned(lanes * (lanes - 1) / 2 + 1000 * (lanes - 1)));
        CHECK_EQUAL(row[7], ring + 1);
    }
    API(Free)(out);
}

// Every reduction of both integers, over values whose order differs with and without a sign. The second half of the
// warp asks for itself alone.
__global__ void reductions(unsigned *out) {
    const int lane = static_cast<int>(threadIdx.x) % warpSize;
    const wide_mask upper = everyone << (lanes / 2);
    const wide_mask mask = lane < lanes / 2 ? everyone ^ upper : upper;
    const unsigned bits = 1u << lane % 31 | (lane == 3 ? 0x80000000u : 0);
    const int number = static_cast<int>(bits);
    unsigned *const row = out + threadIdx.x * 9;
    row[0] = __reduce_add_sync(mask, bits);
    row[1] = static_cast<unsigned>(__reduce_add_sync(mask, number));
    row[2] = __reduce_max_sync(mask, bits);
    row[3] = static_cast<unsigned>(__reduce_max_sync(mask, number));
    row[4] = __reduce_min_sync(mask, bits);
    row[5] = static_cast<unsigned>(__reduce_min_sync(mask, number));
    row[6] = __reduce_or_sync(mask, bits);
    row[7] = __reduce_and_sync(mask, bits);
    row[8] = __reduce_xor_sync(mask, bits);
}

// The nine results of reductions() for the lanes from `first` on.
std::vector<unsigned> reductions_of(int first) {
    std::vector<unsigned> values;
    for (int lane = first; lane < first + lanes / 2; ++lane)
        values.push_back(1u << lane % 31 | (lane == 3 ? 0x80000000u : 0));
    const auto below = [](unsigned a, unsigned b) { return static_cast<int>(a) < static_cast<int>(b); };
    unsigned sum = 0, either = 0, all = ~0u, odd = 0;
    for (unsigned value : values) sum += value, either |= value, all &= value, odd ^= value;
    return {sum,
            sum,
            *std::max_element(values.begin(), values.end()),
            *std::max_element(values.begin(), values.end(), below),
            *std::min_element(values.begin(), values.end()),
            *std::min_element(values.begin(), values.end(), below),
            either,
            all,
            odd};
}

void check_reductions() {
    unsigned *const out = on_device(std::vector<unsigned>(9 * block));
    SUCCEEDS(start(reductions, 1, block, 0, nullptr, out));
    const std::vector<unsigned> got = on_host(out, 9 * block);
    for (int thread = 0; thread < block; ++thread) {
        const std::vector<unsigned> row(got.begin() + 9 * thread, got.begin() + 9 * thread + 9);
        CHECK(row == reductions_of(thread % lanes / (lanes / 2) * (lanes / 2)));
    }
    API(Free)(out);
}

__global__ void barriers(int *out) {
    __shared__ int values[block];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    const int neighbour = values[(threadIdx.x + 1) % blockDim.x];
    int *const row = out + (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    row[0] = neighbour;
    row[1] = __syncthreads_count(threadIdx.x % 2);
    row[2] = __syncthreads_and(threadIdx.x < 1000);
    row[3] = __syncthreads_or(threadIdx.x == 1000);
}

void check_barriers() {
    int *const out = on_device(std::vector<int>(4 * 3 * block));
    SUCCEEDS(start(barriers, 3, block, 0, nullptr, out));
    const std::vector<int> got = on_host(out, 4 * 3 * block);
    for (int i = 0; i < 3 * block; ++i) {
        const std::vector<int> row(got.begin() + 4 * i, got.begin() + 4 * i + 4);
        CHECK(row == (std::vector<int>{(i % block + 1) % block, block / 2, 1, 0}));
    }
}

__global__ void groups(int *out) {
    const cg::thread_block whole = cg::this_thread_block();
    const auto warp = cg::tiled_partition<lanes>(whole);
    const auto tile = cg::tiled_partition<8>(warp);
    int *const row = out + (cg::this_grid().thread_rank()) * 10;
    row[0] = cg::reduce(warp, static_cast<int>(whole.thread_rank()), cg::plus<int>());
    row[1] = cg::reduce(tile, static_cast<int>(whole.thread_rank()), cg::greater<int>());
    row[2] = static_cast<int>(tile.ballot(tile.thread_rank() < 3));
    row[3] = tile.shfl(static_cast<int>(whole.thread_rank()), 2);
    row[4] = static_cast<int>(tile.meta_group_rank() * 100 + tile.meta_group_size());
    row[5] = static_cast<int>(warp.num_threads() + warp.meta_group_size());
    row[6] = tile.any(tile.thread_rank() == 7) + 2 * tile.all(tile.thread_rank() == 7);
    row[7] = static_cast<int>(tile.match_any(tile.thread_rank() / 4));
    row[8] = static_cast<int>(whole.group_index().x + 10 * whole.thread_index().x);
    row[9] = static_cast<int>(whole.size() + cg::this_grid().num_blocks());
    tile.sync();
    cg::sync(warp);
    whole.sync();
}

void check_groups() {
    int *const out = on_device(std::vector<int>(10 * 2 * block));
    SUCCEEDS(start(groups, 2, block, 0, nullptr, out));
    const std::vector<int> got = on_host(out, 10 * 2 * block);
    for (int i = 0; i < 2 * block; ++i) {
        const int thread = i % block, first = thread / lanes * lanes, tile = thread / 8 * 8;
        const std::vector<int> wanted = {lanes * first + lanes * (lanes - 1) / 2,
                                         tile + 7,
                                         7,
                                         tile + 2,
                                         thread / 8 * 100 + block / 8,
                                         lanes + 2,
                                         1,
                                         thread % 8 < 4 ? 0x0F : 0xF0,
                                         i / block + 10 * thread,
                                         block + 2};
        CHECK(std::vector<int>(got.begin() + 10 * i, got.begin() + 10 * i + 10) == wanted);
    }
}

// The built-in extents in three dimensions, next to host variables of the same names.
__global__ void extents(unsigned *out) {
    const unsigned block_number = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block_number * blockDim.x * blockDim.y * blockDim.z + thread] = block_number * 1000 + thread;
}

void check_extents() {
    const dim3 gridDim(3, 2, 2), blockDim(4, 3, 2);
    unsigned *const out = on_device(std::vector<unsigned>(12 * 24));
    SUCCEEDS(start(extents, gridDim, blockDim, 0, nullptr, out));
    const std::vector<unsigned> got = on_host(out, 12 * 24);
    for (unsigned i = 0; i < got.size(); ++i) CHECK_EQUAL(got[i], i / 24 * 1000 + i % 24);
}

int main() {
    check_shuffles<int>();
    check_shuffles<unsigned>();
    check_shuffles<long long>();
    check_shuffles<unsigned long>();
    check_shuffles<float>();
    check_shuffles<double>();
    check_shuffles<half>();
    check_shuffles<bfloat16>();
    float *const pairs = on_device(std::vector<float>(block));
    SUCCEEDS(start(shuffle_pairs, 1, block, 0, nullptr, pairs));
    CHECK(on_host(pairs, block)[4] == 10.5f);
    check_votes();
    check_reductions();
    check_barriers();
    check_groups();
    check_extents();
    SUCCEEDS(API(DeviceSynchronize)());
    return finish();
}
