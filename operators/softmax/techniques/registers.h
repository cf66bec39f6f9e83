// softmax, registers: the fast path for contiguous rows. A team of threads, a warp or a block, holds a whole row in its
// registers, so each element is read once and written once. Every thread takes exp against its own maximum and corrects
// by one factor at the end: one exp an element. Rows that are not contiguous or do not fit are left to `online`.
#pragma once

#include <oprt_device.h>

#include "shared/reduction.h"
#include "softmax/row_share.h"
#include "softmax/techniques/online.h"

namespace oprt {

// The packs of a row that one member of a team holds: number member, member + team_threads, ... , so that neighbouring
// threads load and store neighbouring packs. What lies outside of the row reads as -inf and counts for nothing.
template <typename T, int team_threads, int packs>
struct softmax_registers_share {
    using A = accumulate_t<T>;
    static constexpr int size = pack<T>::size;

    A values[packs][size];
    int64_t first;  // element of the row in values[0][0]; each next pack is team_threads packs further

    // Returns the largest value.
    __device__ __forceinline__ A load(const T *x_row, int64_t columns, int member) {
        first = static_cast<int64_t>(member) * size - pack_shift(x_row);
        A largest = static_cast<A>(-INFINITY);
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            to_accumulate_pack(values[k], load_pack(x_row, first_of(k), columns, lowest_element<T>()));
#pragma unroll
            for (int i = 0; i < size; ++i) largest = maximum{}(largest, values[k][i]);
        }
        return largest;
    }

    // Values become exp(value - largest); returns their sum.
    __device__ __forceinline__ A exponentiate(A largest) {
        // A thread with nothing but -inf must contribute 0: exp(-inf - 0) is that, exp(-inf - -inf) would be NaN.
        const A base = largest == static_cast<A>(-INFINITY) ? 0 : largest;
        A sum = 0;
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            A pack_sum = 0;
#pragma unroll
            for (int i = 0; i < size; ++i) pack_sum += values[k][i] = exponential(values[k][i] - base);
            sum += pack_sum;
        }
        return sum;
    }

    __device__ __forceinline__ void store(T *y_row, int64_t columns, A factor) const {
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            pack<T> result;
#pragma unroll
            for (int i = 0; i < size; ++i) result.values[i] = from_accumulate<T>(values[k][i] * factor);
            store_pack(y_row, first_of(k), columns, result);
        }
    }

    __device__ __forceinline__ int64_t first_of(int k) const {
        return first + static_cast<int64_t>(k) * team_threads * size;
    }
};

// y, x: [rows, columns], contiguous rows of at most team_threads * packs packs; where they begin is in the plan
template <typename T, int team_threads, int packs, int block_threads>
__global__ void __launch_bounds__(block_threads) softmax_registers(T *y, const T *x, const softmax_plan plan) {
    using A = accumulate_t<T>;
    constexpr int teams = block_threads / team_threads;
    // Two arrays in turn, as in `online`; only a team of several warps uses them.
    __shared__ softmax_part<A> partials[2][block_threads / warp_size];
    const int team = static_cast<int>(threadIdx.x) / team_threads;
    const int member = static_cast<int>(threadIdx.x) % team_threads;
    int turn = 0;
    for (int64_t row = static_cast<int64_t>(blockIdx.x) * teams + team; row < plan.rows;
         row += static_cast<int64_t>(gridDim.x) * teams, turn ^= 1) {
        const operand_offsets<2> offset = offsets_at(plan.outer, row);
        softmax_registers_share<T, team_threads, packs> share;
        softmax_part<A> part;
        part.maximum = share.load(x + offset.of[1], plan.columns, member);
        part.sum = share.exponentiate(part.maximum);

        softmax_part<A> whole;
        if constexpr (team_threads > warp_size) {
            whole = reduce_block<block_threads>(part, partials[turn], merge_softmax{});
        } else {
            whole = reduce_lanes<team_threads>(part, merge_softmax{});
        }
        share.store(y + offset.of[0], plan.columns, exponential(part.maximum - whole.maximum) * softmax_scale(whole));
    }
}

// Teams of a warp share a block of four; a larger team is a block.
template <int team_threads, int packs, typename T>
void launch_softmax_team(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    constexpr int block_threads = team_threads > warp_size ? team_threads : 4 * warp_size;
    const launch_config config{grid_that_loops(plan.rows, block_threads / team_threads), block_threads, 0, stream};
    launch(softmax_registers<T, team_threads, packs, block_threads>, config, buffers.y, buffers.x, plan);
}

inline constexpr int large_softmax_team = 512;

// Packs that a thread can hold: 32 float registers for float, 64 for 16-bit types. With 4 packs of double (8 values,
// and exp in many instructions for each), nvcc 13 spilled up to 1.2 KB a thread.
template <typename T>
inline constexpr int most_softmax_packs = sizeof(T) == 8 ? 2 : 8;

// Packs that one row can touch. Rows that all begin at 16-byte addresses touch fewer than those that may not.
template <typename T>
int64_t packs_in_row(const softmax_plan &plan, const softmax_buffers<T> &buffers) {
    bool aligned = is_pack_aligned(buffers.x);
    for (int d = 0; d < plan.outer.ndim; ++d) aligned = aligned && plan.outer.strides[1][d] % pack<T>::size == 0;
    return pack_count<T>(plan.columns, aligned ? 0 : pack<T>::size - 1);
}

template <typename T>
bool fits_softmax_registers(const softmax_plan &plan, const softmax_buffers<T> &buffers) {
    return has_contiguous_rows(plan) &&
           packs_in_row(plan, buffers) <= int64_t{large_softmax_team} * most_softmax_packs<T>;
}

// The smallest team that holds the row: fewest threads to combine, and least left without work.
template <typename T>
void launch_softmax_registers(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    if (!fits_softmax_registers(plan, buffers)) return launch_softmax_online(plan, buffers, stream);
    constexpr int middle_team = 128;
    constexpr int large_team = large_softmax_team;
    const int64_t packs = packs_in_row(plan, buffers);
    if (packs <= warp_size * 2) return launch_softmax_team<warp_size, 2>(plan, buffers, stream);
    if constexpr (most_softmax_packs<T> >= 4) {
        if (packs <= warp_size * 4) return launch_softmax_team<warp_size, 4>(plan, buffers, stream);
    }
    if (packs <= middle_team * 2) return launch_softmax_team<middle_team, 2>(plan, buffers, stream);
    if constexpr (most_softmax_packs<T> >= 8) {
        if (packs <= middle_team * 4) return launch_softmax_team<middle_team, 4>(plan, buffers, stream);
        if (packs <= middle_team * 8) return launch_softmax_team<middle_team, 8>(plan, buffers, stream);
        if (packs <= large_team * 4) return launch_softmax_team<large_team, 4>(plan, buffers, stream);
    }
    launch_softmax_team<large_team, most_softmax_packs<T>>(plan, buffers, stream);
}

}  // namespace oprt
