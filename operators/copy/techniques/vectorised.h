// copy, vectorised: 16 bytes a thread, one load and one store, which asks least of the memory system for the bytes it
// moves. The packs lie on y's 16-byte addresses. Where y begins or ends between two of them, the first or last thread
// copies element by element; where x is shifted against y, its side of a pack is read element by element. Strided
// tensors are left to `strided`.
#pragma once

#include <oprt_device.h>

#include "copy/copy.h"
#include "copy/techniques/strided.h"
#include "shared/index.h"
#include "shared/pack.h"

namespace oprt {

// y, x: [elements]
template <typename T>
__global__ void __launch_bounds__(default_block_threads) copy_vectorised(T *y, const T *x, int64_t elements) {
    constexpr int size = pack<T>::size;
    const int64_t first = global_thread_index() * size - pack_shift(y);
    if (is_whole_pack<T>(first, elements)) {
        *reinterpret_cast<pack<T> *>(y + first) = load_pack(x, first, elements, x[first]);
        return;
    }
    // Head and tail: the pack is cut by the beginning or the end of y. Threads past the end find nothing to do here.
    const int64_t begin = first < 0 ? 0 : first;
    const int64_t end = first + size < elements ? first + size : elements;
    for (int64_t i = begin; i < end; ++i) y[i] = x[i];
}

template <typename T>
void launch_copy_vectorised(const copy_plan &plan, const copy_buffers<T> &buffers, stream_t stream) {
    if (!plan.elements.dense) return launch_copy_strided(plan, buffers, stream);
    const int64_t elements = plan.elements.elements;
    const int64_t packs = pack_count<T>(elements, pack_shift(buffers.y));
    const launch_config config{grid_for_all(packs, default_block_threads), default_block_threads, 0, stream};
    launch(copy_vectorised<T>, config, buffers.y, buffers.x, elements);
}

}  // namespace oprt
