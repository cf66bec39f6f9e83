// softmax, cluster: contiguous rows too wide for one block. A cluster of 2 to 16 blocks, on multiprocessors that reach one
// another's shared memory, holds a row: each block a piece of it, part in registers and part in shared memory, so that
// two blocks with 256 KB share a multiprocessor and one works while the other waits. Each element is read once and
// written once; the blocks exchange their (maximum, sum) between. Elsewhere, and where it does not fit, `split`.
#pragma once

#include <oprt_device.h>

#include "shared/online_softmax.h"
#include "shared/row_team.h"
#include "softmax/techniques/registers.h"
#include "softmax/techniques/split.h"
#include "softmax/tuning.h"

namespace oprt {

#if OPRT_HAS_CLUSTER

// Packs that wait in shared memory, in slots of their own for each thread: nobody else reads them, so no barrier is needed.
template <typename T, int packs, bool aligned>
class softmax_shared_share {
public:
    using A = accumulate_t<T>;
    static constexpr int size = pack<T>::size;

    // slots: [packs, threads]; x_piece, y_piece: [columns]; first: element of the thread's first pack
    __device__ __forceinline__ softmax_shared_share(pack<T> *slots, T *y_piece, const T *x_piece, int columns,
                                                    int first, int threads)
        : slot_(slots + threadIdx.x), y_(y_piece), columns_(columns), first_(first), threads_(threads) {
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            const int element = first_of(k);
            if (element >= columns_) break;
            if (aligned) {
                begin_copy(slot_ + k * threads_, x_piece + element);
            } else {
                slot_[k * threads_] = load_pack(x_piece, element, columns_, lowest_element<T>());
            }
        }
    }

    // (maximum, sum of exp(value - maximum)) of the whole warp.
    __device__ __forceinline__ softmax_part<A> part() const {
        A largest = static_cast<A>(-INFINITY);
        for_each([&](int, const pack<T> &held) {
#pragma unroll
            for (int i = 0; i < size; ++i) largest = larger_number{}(largest, to_accumulate(held.values[i]));
        });
        largest = largest_of_lanes<warp_size>(largest);
        const A base = softmax_base(largest);
        A sum = 0;
        for_each([&](int, const pack<T> &held) {
#pragma unroll
            for (int i = 0; i < size; ++i) sum += exponential(to_accumulate(held.values[i]) - base);
        });
        return {largest, reduce_lanes<warp_size>(sum, add{})};
    }

    __device__ __forceinline__ void store(softmax_part<A> whole) const {
        const A base = softmax_base(whole.maximum);
        const A factor = 1 / whole.sum;
        for_each([&](int element, const pack<T> &held) {
            pack<T> result;
#pragma unroll
            for (int i = 0; i < size; ++i) {
                result.values[i] = from_accumulate<T>(exponential(to_accumulate(held.values[i]) - base) * factor);
            }
            if (aligned) {
                store_aligned(y_ + element, result);
            } else {
                store_pack(y_, element, columns_, result);
            }
        });
    }

private:
    template <typename Function>
    __device__ __forceinline__ void for_each(Function function) const {
        // Of 16-bit elements four packs at once would not stay in registers.
#pragma unroll(sizeof(T) < sizeof(A) ? 2 : 4)
        for (int k = 0; k < packs; ++k) {
            const int element = first_of(k);
            if (element >= columns_) break;
            const pack<T> held = slot_[k * threads_];
            function(element, held);
        }
    }

    __device__ __forceinline__ int first_of(int k) const { return first_ + k * threads_ * size; }

    pack<T> *slot_;
    T *y_;
    int columns_;
    int first_;
    int threads_;
};

// Rows that are in flight at the start all begin at once, and would then all load, exchange and store in step, with the
// memory idle between. A pause that grows from cluster to cluster spreads them out.
__device__ __forceinline__ void stagger_start(int64_t row, int pause_ns, int64_t rows_at_once) {
    constexpr unsigned longest_sleep_ns = 500;
    if (row >= rows_at_once) return;
    for (unsigned left = static_cast<unsigned>(row) * static_cast<unsigned>(pause_ns); left > 0;) {
        const unsigned sleep = min(left, longest_sleep_ns);
        __nanosleep(sleep);
        left -= sleep;
    }
}

// y, x: [rows, columns], contiguous rows. A cluster a row; a block has piece_columns columns, the last ones maybe none.
template <typename T, int threads, typename Rows>
__global__ void __launch_bounds__(threads, max_block_threads / threads)
    softmax_cluster(previous_kernels previous, T *y, const T *x, int64_t columns_of_row, int64_t piece_columns,
                    int cluster_blocks, int pause_ns, int64_t rows_at_once, const Rows places) {
    using A = accumulate_t<T>;
    constexpr bool aligned = Rows::are_aligned;
    constexpr int size = pack<T>::size;
    constexpr int warps = threads / warp_size;
    OPRT_DYNAMIC_SHARED(pack<T>, slots);
    __shared__ softmax_part<A> warp_parts[warps];
    __shared__ softmax_part<A> block_parts[max_cluster_blocks];
    const int64_t row = blockIdx.x / static_cast<unsigned>(cluster_blocks);
    const int rank = cluster_rank();
    const operand_offsets<2> offset = places.offsets_of(row);
    const int64_t begin = rank * piece_columns;
    const int64_t left = columns_of_row - begin;
    const int columns = static_cast<int>(left < 0 ? 0 : left < piece_columns ? left : piece_columns);
    T *y_piece = y + offset.of[0] + begin;
    const T *x_piece = x + offset.of[1] + begin;
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % warp_size;
    const int first = thread * size - (aligned ? 0 : pack_shift(y_piece));
    arrive_at_cluster();
    wait_for_previous_kernels(previous);
    stagger_start(row, pause_ns, rows_at_once);

    constexpr int held_packs = softmax_cluster_register_packs;
    const softmax_shared_share<T, softmax_cluster_shared_packs, aligned> waiting(
        slots, y_piece, x_piece, columns, first + held_packs * threads * size, threads);
    softmax_share<T, held_packs, aligned, sizeof(T) == sizeof(A)> held(y_piece, x_piece, columns, thread, threads);
    const A largest = largest_of_lanes<warp_size>(held.largest());
    const A sum = reduce_lanes<warp_size>(held.exponentiate(softmax_base(largest)), add{});
    wait_for_copies();
    const softmax_part<A> warp_part = merge_softmax{}(softmax_part<A>{largest, sum}, waiting.part());
    if (lane == 0) warp_parts[thread / warp_size] = warp_part;
    // Separates each warp's write of its part from the first warp's reads of all of them.
    __syncthreads();
    // Every block of the cluster has started, so its shared memory is there to be written to.
    wait_for_cluster();
    if (thread < warp_size) {
        const softmax_part<A> block_part = merge_warp(lane < warps ? warp_parts[lane] : empty_softmax_part<A>());
        if (lane < cluster_blocks) *in_cluster_block(&block_parts[rank], lane) = block_part;
    }
    // Separates the writes of every block's part, into all blocks, from the reads; none is written after it, so that no
    // block ends with another one still writing to it.
    arrive_at_cluster();
    wait_for_cluster();
    let_next_kernel_start();
    const softmax_part<A> whole = merge_warp(lane < cluster_blocks ? block_parts[lane] : empty_softmax_part<A>());
    held.store(largest, whole);
    waiting.store(whole);
}

constexpr size_t softmax_cluster_shared_bytes(int threads) {
    return static_cast<size_t>(softmax_cluster_shared_packs) * threads * pack_bytes;
}

template <int threads, typename Rows, typename T>
void launch_softmax_cluster_of(const softmax_plan &plan, const softmax_buffers<T> &buffers,
                               const softmax_cluster_shape &shape, stream_t stream) {
    constexpr size_t shared_bytes = softmax_cluster_shared_bytes(threads);
    constexpr int blocks_at_once = max_block_threads / threads;
    launch_config config{dim3(static_cast<unsigned>(plan.rows * shape.blocks)), threads, shared_bytes, stream};
    config.cluster_blocks = static_cast<unsigned>(shape.blocks);
    const int64_t piece_columns = ceil_divide(ceil_divide(plan.columns, shape.blocks), pack<T>::size) * pack<T>::size;
    const int64_t rows_at_once = multiprocessor_count() * blocks_at_once / shape.blocks;
    launch_overlapping(softmax_cluster<T, threads, Rows>, config, buffers.y, buffers.x, plan.columns, piece_columns,
                       shape.blocks, shape.pause_ns, rows_at_once, Rows(plan.outer));
}

// blocks 0: rows do not go through clusters here.
template <typename T>
softmax_cluster_shape softmax_cluster_of(const softmax_plan &plan, bool aligned) {
    if constexpr (sizeof(T) < 8) {
        if (has_contiguous_rows(plan)) {
            const softmax_cluster_shape shape = softmax_cluster_shape_for(pack_count<T>(plan.columns, 0), aligned);
            // Any instance tells what the code of all of them is for.
            const auto kernel = reinterpret_cast<const void *>(softmax_cluster<T, max_block_threads, even_rows<2>>);
            if (may_launch_clusters(kernel, softmax_cluster_shared_bytes(shape.threads))) return shape;
        }
    }
    return {0, 0, 0};
}

template <typename Rows, typename T>
void launch_softmax_cluster_at(const softmax_plan &plan, const softmax_buffers<T> &buffers,
                               const softmax_cluster_shape &shape, stream_t stream) {
    constexpr int large = max_block_threads;
    constexpr int small = max_block_threads / 2;
    if (shape.threads == large) return launch_softmax_cluster_of<large, Rows>(plan, buffers, shape, stream);
    launch_softmax_cluster_of<small, Rows>(plan, buffers, shape, stream);
}

#endif

// Whether rows go through clusters, and are enough to keep the device busy that way.
template <typename T>
bool fits_softmax_cluster([[maybe_unused]] const softmax_plan &plan,
                          [[maybe_unused]] const softmax_buffers<T> &buffers) {
#if OPRT_HAS_CLUSTER
    const softmax_cluster_shape shape = softmax_cluster_of<T>(plan, has_even_rows(plan, buffers));
    return shape.blocks > 0 && plan.rows * shape.blocks >= multiprocessor_count();
#else
    return false;
#endif
}

template <typename T>
void launch_softmax_cluster(const softmax_plan &plan, const softmax_buffers<T> &buffers, stream_t stream) {
#if OPRT_HAS_CLUSTER
    if constexpr (sizeof(T) < 8) {
        const bool aligned = has_even_rows(plan, buffers);
        if (const softmax_cluster_shape shape = softmax_cluster_of<T>(plan, aligned); shape.blocks > 0) {
            return aligned ? launch_softmax_cluster_at<even_rows<2>>(plan, buffers, shape, stream)
                           : launch_softmax_cluster_at<any_rows<2>>(plan, buffers, shape, stream);
        }
    }
#endif
    launch_softmax_split(plan, buffers, stream);
}

}  // namespace oprt
