// The launch of a kernel: packs the arguments by value once and hands the node to the runtime interface, which runs it
// at once, queues it or records it in a graph. Checks of the vendor's limits and the sticky error are left to
// enqueue_kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "oprt_emulator/engine.h"

namespace oprt_emulator {

// One kernel with its arguments; may be run any number of times, on any host thread.
class kernel_node {
public:
    virtual ~kernel_node() = default;

    // run_grid of the request. Arguments live as long as the node.
    fault_code run() const noexcept { return run_grid(request); }

    grid_request request;
};

// Queue, run or record a launch. Implemented by the runtime interface; returns the vendor's error code (0: fine).
int enqueue_kernel(void *stream, std::unique_ptr<kernel_node> node);

// Move to the next row of threads of a block that still runs as a loop, or backward by one thread. False after the last
// one, and when the thread that just ran was suspended on its way: from then on the scheduler starts the threads one by
// one.
bool next_row(thread_context &context) noexcept;

// Call run() for the thread of the context and the threads after it, as long as the block is a loop. The index is kept
// in registers: only this loop changes the context's while the loop is forward.
template <typename Run>
OPRT_EMULATOR_INLINE void run_threads_of_block(thread_context &context, const Run &run) {
    do {
        const unsigned columns = static_cast<unsigned>(context.block_dim.x);
        unsigned x = static_cast<unsigned>(context.thread.x);
        unsigned linear = context.linear_thread;
        run();
        while (context.loop == thread_loop::forward && x + 1 < columns) {
            context.thread.x = static_cast<index_word>(++x);
            context.linear_thread = ++linear;
            run();
        }
    } while (next_row(context));
}

template <typename... P>
class packed_kernel final : public kernel_node {
public:
    using function = void (*)(P...);

    template <typename... A>
    packed_kernel(function kernel, A &&...args) : kernel_(kernel), args_(std::forward<A>(args)...) {
        request.body = &run_threads;
        request.packed_args = this;
        request.kernel_address = reinterpret_cast<const void *>(kernel);
    }

private:
    // Runs the thread of the context and, while the block has not been suspended, those after it.
    static void run_threads(void *packed) {
        const auto &self = *static_cast<const packed_kernel *>(packed);
        self.run_threads(std::index_sequence_for<P...>{});
    }

    template <std::size_t... I>
    void run_threads(std::index_sequence<I...>) const {
        const function kernel = kernel_;
        run_threads_of_block(*current_context(), [&] { kernel(std::get<I>(args_)...); });
    }

    function kernel_;
    std::tuple<std::decay_t<P>...> args_;
};

// Launch kernel(args...); each argument is converted to its parameter's type as a call would. Extents are anything with
// x, y, z.
template <typename... P, typename Grid, typename Block, typename... A>
int launch(void (*kernel)(P...), const Grid &grid, const Block &block, std::size_t shared_bytes, void *stream,
           A &&...args) {
    static_assert(sizeof...(P) == sizeof...(A), "the launch gives another number of arguments than the kernel takes");
    auto node = std::make_unique<packed_kernel<P...>>(kernel, static_cast<P>(std::forward<A>(args))...);
    node->request.grid = {grid.x, grid.y, grid.z};
    node->request.block = {block.x, block.y, block.z};
    node->request.dynamic_shared_bytes = shared_bytes;
    return enqueue_kernel(stream, std::move(node));
}

}  // namespace oprt_emulator
