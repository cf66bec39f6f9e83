// Kernels at the runtime interface: the limits of a launch, the launch itself, attributes and occupancy of a kernel;
// and the two library functions that device code calls without knowing (spin_hint, the assert of <cassert>).
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "oprt_emulated_device.h"
#include "oprt_emulator/engine.h"
#include "runtime_api_extents.h"
#include "runtime_api_state.h"

namespace oprt_emulator {
namespace runtime {
namespace {

// Dynamic shared memory that kernels were allowed by set_dynamic_shared_limit.
struct allowance_table {
    std::mutex mutex;
    std::unordered_map<const void *, size_t> bytes;
};
allowance_table &allowances() {
    static auto *made = new allowance_table;
    return *made;
}

size_t dynamic_limit_bytes(const void *kernel, size_t static_bytes) {
    {
        std::lock_guard<std::mutex> lock(allowances().mutex);
        const auto found = allowances().bytes.find(kernel);
        if (found != allowances().bytes.end()) return found->second;
    }
    return facts.shared_bytes_per_block > static_bytes ? facts.shared_bytes_per_block - static_bytes : 0;
}

// One kernel at a time: gridDim and blockDim belong to the one that runs. In a forked child nothing runs.
std::mutex &kernel_mutex() {
    static auto *made = [] {
        auto *fresh = new std::mutex;
        pthread_atfork([] { kernel_mutex().lock(); }, [] { kernel_mutex().unlock(); }, [] { kernel_mutex().unlock(); });
        return fresh;
    }();
    return *made;
}

fault_code run_kernel(const kernel_node &node) {
    std::lock_guard<std::mutex> lock(kernel_mutex());
    const index3 &grid = node.request.grid;
    const index3 &block = node.request.block;
    set_extents(dim3(grid.x, grid.y, grid.z), dim3(block.x, block.y, block.z));
    return node.run();
}

void run_and_keep_fault(const kernel_node &node) {
    const fault_code code = run_kernel(node);
    if (code != fault_code::none) set_fault(code, last_report());
}

int check_extents(const grid_request &request) {
    const index3 &grid = request.grid;
    const index3 &block = request.block;
    const bool grid_fits = grid.x >= 1 && grid.x <= max_grid_x && grid.y >= 1 && grid.y <= max_grid_yz && grid.z >= 1 &&
                           grid.z <= max_grid_yz;
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    const bool block_fits = block.x <= max_block_xy && block.y <= max_block_xy && block.z <= max_block_z &&
                            threads >= 1 && threads <= max_block_threads;
    if (grid_fits && block_fits) return Success;
    char text[256];
    std::snprintf(
        text, sizeof text,
        "grid (%u, %u, %u), block (%u, %u, %u); a grid is 1 to (%u, %u, %u), a block 1 to (%u, %u, %u) and at most "
        "%u threads",
        grid.x, grid.y, grid.z, block.x, block.y, block.z, max_grid_x, max_grid_yz, max_grid_yz, max_block_xy,
        max_block_xy, max_block_z, max_block_threads);
    return fail(ErrorInvalidConfiguration, text);
}

// Static arrays and dynamic shared memory; the engine gets the limit too, because it may learn of more arrays later.
int check_shared_memory(grid_request &request) {
    const size_t in_arrays = static_shared_bytes(request.kernel_address);
    const size_t dynamic_limit = dynamic_limit_bytes(request.kernel_address, in_arrays);
    request.shared_limit_bytes = std::max(in_arrays + dynamic_limit, facts.shared_bytes_per_block);
    char text[256];
    if (in_arrays > facts.shared_bytes_per_block) {
        std::snprintf(text, sizeof text, "the kernel's __shared__ arrays take %zu bytes; %zu is the limit", in_arrays,
                      facts.shared_bytes_per_block);
        return fail(ErrorInvalidValue, text);
    }
    if (request.dynamic_shared_bytes <= dynamic_limit) return Success;
    const bool could_opt_in = facts.shared_bytes_per_block_opt_in > facts.shared_bytes_per_block &&
                              request.dynamic_shared_bytes + in_arrays <= facts.shared_bytes_per_block_opt_in;
    std::snprintf(text, sizeof text,
                  "%zu bytes of dynamic shared memory beside %zu in __shared__ arrays; the kernel may have %zu%s",
                  request.dynamic_shared_bytes, in_arrays, dynamic_limit,
                  could_opt_in ? " until FuncSetAttribute(MaxDynamicSharedMemorySize) allows more" : "");
    return fail(ErrorInvalidValue, text);
}

// At once, in the calling thread. A launch that the engine refused did not run and is the launch's own failure.
int run_now(const kernel_node &node) {
    if (is_broken()) return Success;
    const fault_code code = run_kernel(node);
    if (code == fault_code::none) return Success;
    if (code == fault_code::invalid_configuration) return fail(ErrorInvalidValue, last_report().c_str());
    if (code == fault_code::out_of_memory) return fail(ErrorLaunchOutOfResources, last_report().c_str());
    set_fault(code, last_report());
    return Success;
}

}  // namespace

const device_facts &facts = oprt::vendor::emulated_device;

int set_dynamic_shared_limit(const void *kernel, int size_bytes) {
    if (const int error = guard()) return error;
    if (kernel == nullptr) return fail(ErrorInvalidDeviceFunction);
    const size_t in_arrays = static_shared_bytes(kernel);
    const size_t most = facts.shared_bytes_per_block_opt_in - std::min(in_arrays, facts.shared_bytes_per_block_opt_in);
    if (size_bytes < 0 || static_cast<size_t>(size_bytes) > most) {
        char text[128];
        std::snprintf(text, sizeof text, "%d bytes of dynamic shared memory; the kernel may have up to %zu", size_bytes,
                      most);
        return fail(ErrorInvalidValue, text);
    }
    std::lock_guard<std::mutex> lock(allowances().mutex);
    allowances().bytes[kernel] = static_cast<size_t>(size_bytes);
    return Success;
}

int get_kernel_facts(const void *kernel, kernel_facts *result) {
    if (const int error = guard()) return error;
    if (kernel == nullptr) return fail(ErrorInvalidDeviceFunction);
    result->static_shared_bytes = static_shared_bytes(kernel);
    result->dynamic_shared_limit_bytes = static_cast<int>(dynamic_limit_bytes(kernel, result->static_shared_bytes));
    return Success;
}

int blocks_per_multiprocessor(const void *kernel, int block_threads, size_t dynamic_shared_bytes) {
    if (block_threads <= 0 || block_threads > static_cast<int>(max_block_threads)) return 0;
    const int in_warps = (block_threads + warp_size - 1) / warp_size * warp_size;
    int blocks = std::min(facts.threads_per_multiprocessor / in_warps, facts.blocks_per_multiprocessor);
    const size_t shared = static_shared_bytes(kernel) + dynamic_shared_bytes + facts.shared_bytes_reserved_per_block;
    if (shared > 0) blocks = std::min<int>(blocks, static_cast<int>(facts.shared_bytes_per_multiprocessor / shared));
    return blocks;
}

}  // namespace runtime

int enqueue_kernel(void *stream_handle, std::unique_ptr<kernel_node> node) {
    using namespace runtime;
    if (inside_kernel()) node->run();  // the engine's own fault: does not return
    if (const int error = guard()) return error;
    if (const int error = check_extents(node->request)) return error;
    if (const int error = check_shared_memory(node->request)) return error;
    auto *const on = find_stream(static_cast<stream *>(stream_handle));
    if (on == nullptr) return fail(ErrorInvalidResourceHandle);
    const bool at_once = !asynchronous() && state().active_captures.load(std::memory_order_acquire) == 0;
    if (at_once) return run_now(*node);
    int error = Success;
    const auto run_later = [shared = std::shared_ptr<const kernel_node>(std::move(node))] {
        run_and_keep_fault(*shared);
    };
    if (recorded_in_capture(
            on, 0, [&] { return std::function<void()>(run_later); }, &error))
        return error;
    if (asynchronous()) {
        enqueue(on, run_later);
    } else if (!is_broken()) {
        run_later();
    }
    return Success;
}

void spin_hint() {
    thread_local unsigned calls = 0;
    if (++calls % 16 == 0 && inside_kernel()) yield();
}

}  // namespace oprt_emulator

// The failing branch of assert() in <cassert>. The module's kernels are linked to this one instead of the C library's,
// however often and wherever a source includes <cassert>. Outside a kernel it does what the library does.
extern "C" __attribute__((visibility("hidden"))) void __assert_fail(const char *expression, const char *file,
                                                                    unsigned int line, const char *function) noexcept {
    if (oprt_emulator::inside_kernel()) {
        oprt_emulator::device_assert_fail(expression, file, static_cast<int>(line), function);
    }
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function == nullptr ? "" : function,
                 expression);
    std::abort();
}
