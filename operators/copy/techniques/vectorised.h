// copy, vectorised: 16 bytes a thread, one load and one store, which asks least of the memory system for the bytes it
// moves. The packs lie on y's 16-byte addresses. Where y begins or ends between two of them, the first or last thread
// copies element by element; where x is shifted against y, its side of a pack comes from two packs of x. Strided
// tensors are left to `strided`.
#pragma once

#include <oprt_device.h>

#include "copy/copy.h"
#include "copy/techniques/strided.h"
#include "shared/index.h"
#include "shared/pack.h"

namespace oprt {

// y, x: [elements]; aligned: both begin at 16-byte addresses
template <typename T, bool aligned>
__global__ void __launch_bounds__(default_block_threads)
    copy_vectorised(previous_kernels previous, T *y, const T *x, int64_t elements) {
    const int64_t first = global_thread_index() * pack<T>::size - (aligned ? 0 : pack_shift(y));
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    if (aligned && is_whole_pack<T>(first, elements)) {
        store_aligned(y + first, load_aligned(x + first));
    } else if (first < elements) {
        store_pack(y, first, elements, load_pack(x, first, elements, T{}));
    }
}

template <typename T>
void launch_copy_vectorised(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_copy_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const bool aligned = is_pack_aligned(buffers.y) && is_pack_aligned(buffers.x);
    const int64_t packs = pack_count<T>(elements, pack_shift(buffers.y));
    const launch_config config{grid_for_all(packs, default_block_threads), default_block_threads, 0, stream};
    launch_overlapping(aligned ? copy_vectorised<T, true> : copy_vectorised<T, false>, config, buffers.y, buffers.x,
                       elements);
}

}  // namespace oprt
