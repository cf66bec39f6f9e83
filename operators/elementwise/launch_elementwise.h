// The elementwise framework's kernels: y = function(inputs...) for any number of inputs, any strides, broadcasting
// included. An operator brings a functor over accumulate_t values and one line that launches it; relu is the example.
// Vendor-neutral; shapes, checks and broadcasting are resolved before, in the plan.
#pragma once

#include <oprt_device.h>

#include <utility>

#include "elementwise/elementwise.h"
#include "shared/index.h"
#include "shared/pack.h"

namespace oprt {

template <typename T, int input_count, typename Function, size_t... input>
__device__ __forceinline__ T apply_function(const Function &function, const T (&values)[input_count],
                                            std::index_sequence<input...>) {
    return from_accumulate<T>(function(to_accumulate(values[input])...));
}

template <typename T, int input_count, typename Function>
__device__ __forceinline__ pack<T> apply_to_packs(const Function &function, const pack<T> (&inputs)[input_count]) {
    pack<T> results;
#pragma unroll
    for (int i = 0; i < pack<T>::size; ++i) {
        T values[input_count];
#pragma unroll
        for (int k = 0; k < input_count; ++k) values[k] = inputs[k].values[i];
        results.values[i] = apply_function(function, values, std::make_index_sequence<input_count>());
    }
    return results;
}

// One 16-byte pack a thread, laid on y's 16-byte addresses. y and each input: [elements]; aligned: all of them begin at
// 16-byte addresses
template <typename T, bool aligned, int input_count, typename Function>
__global__ void __launch_bounds__(default_block_threads)
    elementwise_dense(previous_kernels previous, const elementwise_buffers<T, input_count> buffers, int64_t elements,
                      const Function function) {
    const int64_t first = global_thread_index() * pack<T>::size - (aligned ? 0 : pack_shift(buffers.y));
    wait_for_previous_kernels(previous);
    let_next_kernel_start();
    pack<T> inputs[input_count];
    if (aligned && is_whole_pack<T>(first, elements)) {
#pragma unroll
        for (int k = 0; k < input_count; ++k) inputs[k] = load_aligned(buffers.inputs[k] + first);
        store_aligned(buffers.y + first, apply_to_packs(function, inputs));
    } else if (first < elements) {
#pragma unroll
        for (int k = 0; k < input_count; ++k) {
            inputs[k] = load_pack(buffers.inputs[k], first, elements, from_accumulate<T>(0));
        }
        store_pack(buffers.y, first, elements, apply_to_packs(function, inputs));
    }
}

// One element a thread, in y's order. y and each input: elements.shape, each at its own strides; stride 0 repeats an
// input.
template <typename T, int input_count, typename Function>
__global__ void __launch_bounds__(default_block_threads)
    elementwise_strided(const elementwise_buffers<T, input_count> buffers, const layout<1 + input_count> elements,
                        const Function function) {
    const int64_t i = global_thread_index();
    if (i >= elements.elements) return;
    const operand_offsets<1 + input_count> offset = offsets_at(elements, i);
    T values[input_count];
#pragma unroll
    for (int k = 0; k < input_count; ++k) values[k] = buffers.inputs[k][offset.of[1 + k]];
    buffers.y[offset.of[0]] = apply_function(function, values, std::make_index_sequence<input_count>());
}

// function: a plain struct, passed to the device by value; operator()(accumulate_t<T>, ...) -> accumulate_t<T>,
// __device__ and const.
template <typename T, int input_count, typename Function>
void launch_elementwise(const elementwise_plan<input_count> &plan, const elementwise_buffers<T, input_count> &buffers,
                        const Function &function, stream_t stream) {
    const int64_t elements = plan.elements.elements;
    if (plan.elements.dense) {
        const int64_t packs = pack_count<T>(elements, pack_shift(buffers.y));
        const launch_config config{grid_for_all(packs, default_block_threads), default_block_threads, 0, stream};
        bool aligned = is_pack_aligned(buffers.y);
        for (const T *input : buffers.inputs) aligned = aligned && is_pack_aligned(input);
        launch_overlapping(aligned ? elementwise_dense<T, true, input_count, Function>
                                   : elementwise_dense<T, false, input_count, Function>,
                           config, buffers, elements, function);
    } else {
        const launch_config config{grid_for_all(elements, default_block_threads), default_block_threads, 0, stream};
        launch(elementwise_strided<T, input_count, Function>, config, buffers, plan.elements, function);
    }
}

}  // namespace oprt
