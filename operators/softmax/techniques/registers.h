// softmax, registers: the fast path for contiguous rows. A team of threads, from two lanes to a block, holds a whole row
// in its registers, so each element is read once and written once. A warp takes its own maximum, the exponentials
// against it and their sum; one barrier later every warp corrects by one factor. Rows that are not contiguous or do not
// fit are left to `online`.
#pragma once

#include <oprt_device.h>

#include <cstdint>

#include "shared/online_softmax.h"
#include "shared/row_team.h"
#include "softmax/row_share.h"
#include "softmax/techniques/online.h"
#include "softmax/tuning.h"

namespace oprt {

// The packs of a row that one thread of a team holds: number `member`, member + threads, ... , so that neighbours load
// and store neighbouring packs. What lies outside of the row reads as -inf and counts for nothing.
// aligned: rows of both operands begin at 16-byte addresses and are whole packs. keeps_exponentials: see tuning.h.
template <typename T, int packs, bool aligned, bool keeps_exponentials>
class softmax_share {
public:
    using A = accumulate_t<T>;
    static constexpr int size = pack<T>::size;

    // x_row, y_row: [columns]. The packs lie on y's addresses.
    __device__ __forceinline__ softmax_share(T *y_row, const T *x_row, int columns, int member, int threads)
        : y_(y_row),
          columns_(columns),
          first_(member * size - (aligned ? 0 : pack_shift(y_row))),
          step_(threads * size) {
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            keep(k, load(x_row, first_ + k * step_));
        }
    }

    // NaN is left out here; it comes back through the exponentials.
    __device__ __forceinline__ A largest() const {
        A result = static_cast<A>(-INFINITY);
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            if (is_skipped(k)) break;
#pragma unroll
            for (int i = 0; i < size; ++i) result = larger_number{}(result, value(k, i));
        }
        return result;
    }

    // Sum of exp(value - base), which are kept if there is room.
    __device__ __forceinline__ A exponentiate(A base) {
        stay_packed();
        A sum = 0;
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            if (is_skipped(k)) break;
            A pack_sum = 0;
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const A result = exponential(value(k, i) - base);
                if constexpr (keeps_exponentials) values_[k][i] = result;
                pack_sum += result;
            }
            sum += pack_sum;
        }
        return sum;
    }

    // maximum: the one that exponentiate subtracted, -inf where it subtracted 0; whole: of the row.
    __device__ __forceinline__ void store(A maximum, softmax_part<A> whole) {
        stay_packed();
        const A row_base = softmax_base(whole.maximum);
        const A factor = (keeps_exponentials ? exponential(maximum - row_base) : 1) / whole.sum;
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            if (is_skipped(k)) break;
            pack<T> result;
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const A power = keeps_exponentials ? value(k, i) : exponential(value(k, i) - row_base);
                result.values[i] = from_accumulate<T>(power * factor);
            }
            const int first = first_ + k * step_;
            if constexpr (!aligned) {
                store_pack(y_, first, columns_, result);
            } else if (first < columns_) {
                store_aligned(y_ + first, result);
            }
        }
    }

private:
    __device__ __forceinline__ pack_words load(const T *x_row, int first) const {
        if constexpr (!aligned) return load_words(x_row, first, columns_, lowest_element<T>());
        if (first < columns_) return load_aligned_words(x_row + first);
        return words_of(filled_pack(lowest_element<T>()));
    }

    // Whether pack k lies outside of the row. Of many packs, those are left out, branch by branch, which also keeps the
    // compiler from unpacking them all at once; a few are cheaper to go along with.
    __device__ __forceinline__ bool is_skipped(int k) const {
        return !keeps_exponentials && first_ + k * step_ >= columns_;
    }

    __device__ __forceinline__ void keep(int k, const pack_words &loaded) {
        if constexpr (keeps_exponentials) {
            const pack<T> elements = pack_of<T>(loaded);
#pragma unroll
            for (int i = 0; i < size; ++i) values_[k][i] = to_accumulate(elements.values[i]);
        } else {
            packed_[k] = loaded;
        }
    }

    __device__ __forceinline__ A value(int k, int i) const {
        if constexpr (keeps_exponentials) {
            return values_[k][i];
        } else {
            return to_accumulate(pack_of<T>(packed_[k]).values[i]);
        }
    }

    // Elements as they were loaded take half the registers of floats, if the compiler lets them.
    __device__ __forceinline__ void stay_packed() {
        if constexpr (!keeps_exponentials) {
#pragma unroll
            for (pack_words &bits : packed_) {
#pragma unroll
                for (uint32_t &word : bits.words) forget_conversions(word);
            }
        }
    }

    A values_[keeps_exponentials ? packs : 1][size];
    pack_words packed_[keeps_exponentials ? 1 : packs];
    T *y_;
    int columns_;
    int first_;  // element of the row that is number 0 of the first pack
    int step_;   // from one pack of a thread to its next
};

// The whole row's part from each warp's. lanes, partials: as in sum_of_team
template <int lanes, typename A>
__device__ __forceinline__ softmax_part<A> combine_team(softmax_part<A> part, softmax_part<A> *partials) {
    if constexpr (lanes < warp_size) return part;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    if (warps == 1) return part;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (lane == 0) partials[team_warp_index()] = part;
    // Separates each warp's write of its part from its team's reads of all of them.
    __syncthreads();
    const int first = static_cast<int>(threadIdx.y) * warps;
    return merge_warp(lane < warps ? partials[first + lane] : empty_softmax_part<A>());
}

// A thread that keeps exponentials needs 32 bits an element; two large blocks would not fit on a multiprocessor then.
template <typename T, int packs, int most_threads>
inline constexpr bool keeps_softmax_exponentials = sizeof(T) == sizeof(accumulate_t<T>) ||
                                                   (packs <= most_kept_softmax_packs &&
                                                    most_threads < max_block_threads);
// Of large blocks two have to fit on a multiprocessor, so that one works while the other waits.
template <int packs, int most_threads>
inline constexpr int softmax_blocks_to_fit = most_threads == max_block_threads
                                                 ? (packs <= most_kept_softmax_packs ? 2 : 1)
                                                 : (packs > most_kept_softmax_packs ? 2 : 1);

// y, x: [rows, columns], contiguous rows that fit into the packs of a team
template <typename T, int lanes, int packs, int most_threads, typename Rows>
__global__ void __launch_bounds__(most_threads, softmax_blocks_to_fit<packs, most_threads>)
    softmax_registers(previous_kernels previous, T *y, const T *x, int64_t rows, int columns, const Rows places) {
    using A = accumulate_t<T>;
    __shared__ softmax_part<A> partials[lanes < warp_size ? 1 : most_threads / warp_size];
    const int64_t row = team_row();
    const bool is_row = row < rows;
    const operand_offsets<2> offset = places.offsets_of(is_row ? row : 0);
    wait_for_previous_kernels(previous);
    // A team past the last row goes along with a row of no columns: shuffles and the barrier want everyone.
    softmax_share<T, packs, Rows::are_aligned, keeps_softmax_exponentials<T, packs, most_threads>> share(
        y + offset.of[0], x + offset.of[1], is_row ? columns : 0, static_cast<int>(threadIdx.x),
        static_cast<int>(blockDim.x));
    const A largest = largest_of_lanes<lanes>(share.largest());
    const A sum = reduce_lanes<lanes>(share.exponentiate(softmax_base(largest)), add{});
    let_next_kernel_start();
    share.store(largest, combine_team<lanes>(softmax_part<A>{largest, sum}, partials));
}

template <int lanes, int packs, int most_threads, typename Rows, typename T>
void launch_softmax_team(const row_team &team, const softmax_plan &plan, const softmax_buffers<T> &buffers,
                         stream_t stream) {
    launch_overlapping(softmax_registers<T, lanes, packs, most_threads, Rows>,
                       launch_config{team.grid(plan.rows), team.block(), 0, stream}, buffers.y, buffers.x, plan.rows,
                       static_cast<int>(plan.columns), Rows(plan.outer));
}

template <int lanes, int most_threads, typename Rows, typename T>
void launch_softmax_packs(const row_team &team, const softmax_plan &plan, const softmax_buffers<T> &buffers,
                          stream_t stream) {
    if (team.packs == 1) return launch_softmax_team<lanes, 1, most_threads, Rows>(team, plan, buffers, stream);
    if (team.packs == 2) return launch_softmax_team<lanes, 2, most_threads, Rows>(team, plan, buffers, stream);
    if constexpr (lanes == warp_size) {  // smaller teams have 1, 2 or 4
        if (team.packs == 3) return launch_softmax_team<lanes, 3, most_threads, Rows>(team, plan, buffers, stream);
    }
    launch_softmax_team<lanes, 4, most_threads, Rows>(team, plan, buffers, stream);
}

template <typename Rows, typename T>
void launch_softmax_registers_of(const row_team &team, const softmax_plan &plan, const softmax_buffers<T> &buffers,
                                 stream_t stream) {
    if (team.threads == 2) return launch_softmax_packs<2, small_team_block, Rows>(team, plan, buffers, stream);
    if (team.threads == 8) return launch_softmax_packs<8, small_team_block, Rows>(team, plan, buffers, stream);
    if constexpr (sizeof(T) < 4) {
        if (team.threads == large_team_block && team.packs == largest_softmax_packs) {
            return launch_softmax_team<warp_size, largest_softmax_packs, large_team_block, Rows>(team, plan, buffers,
                                                                                                 stream);
        }
    }
    if (team.threads <= large_team_block)
        return launch_softmax_packs<warp_size, large_team_block, Rows>(team, plan, buffers, stream);
    constexpr int large = max_block_threads;
    if constexpr (sizeof(T) == 4) {
        if (team.packs == most_kept_softmax_packs) {
            return launch_softmax_team<warp_size, most_kept_softmax_packs, large, Rows>(team, plan, buffers, stream);
        }
    }
    if constexpr (sizeof(T) < 8) {
        launch_softmax_team<warp_size, largest_softmax_packs, large, Rows>(team, plan, buffers, stream);
    }
}

template <typename T>
row_team softmax_team_of(const softmax_plan &plan, bool aligned) {
    return softmax_team<T>(pack_count<T>(plan.columns, aligned ? 0 : pack<T>::size - 1), plan.rows);
}

template <typename T>
bool fits_softmax_registers(const softmax_plan &plan, const softmax_buffers<T> &buffers) {
    // A grid has no more than 2^31 - 1 blocks; `online` loops over any number of rows.
    return has_contiguous_rows(plan) && plan.rows <= INT32_MAX &&
           softmax_team_of<T>(plan, has_even_rows(plan, buffers)).threads > 0;
}

template <typename T>
void launch_softmax_registers(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
    if (!fits_softmax_registers(plan, buffers)) return launch_softmax_online(plan, buffers, stream);
    const bool is_even = has_even_rows(plan, buffers);
    const row_team team = softmax_team_of<T>(plan, is_even);
    if (is_even) return launch_softmax_registers_of<even_rows<2>>(team, plan, buffers, stream);
    launch_softmax_registers_of<any_rows<2>>(team, plan, buffers, stream);
}

}  // namespace oprt
