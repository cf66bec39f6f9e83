// Static and dynamic shared memory: which arrays a kernel has, their poison, the limit and the canary behind dynamic
// shared memory.
#include "shared_memory.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "grid.h"
#include "module_image.h"

namespace oprt_emulator {

// The arrays of one kernel. Only grows; readers see a prefix.
struct kernel_arrays {
    static constexpr unsigned max_arrays = 128;

    std::atomic<unsigned> count{0};
    const thread_local_symbol *arrays[max_arrays];
    std::atomic<std::size_t> size_bytes{0};
    std::atomic<unsigned> grids{0};
};

namespace {

constexpr std::size_t dynamic_alignment_bytes = 128;
constexpr unsigned char dynamic_canary = 0xCB;
// Other arrays are looked at after a kernel's first grids, then now and then: a kernel uses the same ones nearly
// always.
constexpr unsigned grids_to_learn = 4;
constexpr unsigned grids_between_looks = 64;

std::mutex kernels_mutex;
std::unordered_map<const void *, kernel_arrays *> kernels;  // under the mutex
// The kernel found last for each hash, so that a launch takes no lock.
struct cached_kernel {
    std::atomic<const void *> address{nullptr};
    std::atomic<kernel_arrays *> arrays{nullptr};
};
constexpr unsigned cached_kernels = 256;
cached_kernel cache[cached_kernels];

struct thread_local_index {
    unsigned long module;
    unsigned long offset;
};
extern "C" void *__tls_get_addr(thread_local_index *);

bool is_shared_array(const thread_local_symbol &symbol) {
    return std::strncmp(symbol.name, "_Z", 2) == 0 && std::strncmp(symbol.name, "_ZGV", 4) != 0 &&
           std::strstr(symbol.name, "B11oprt_shared") != nullptr;
}

const std::vector<thread_local_symbol> &all_arrays() {
    static const auto *arrays = [] {
        auto *found = new std::vector<thread_local_symbol>;
        for (const thread_local_symbol &symbol : own_image().thread_locals) {
            if (is_shared_array(symbol)) found->push_back(symbol);
        }
        return found;
    }();
    return *arrays;
}

// Whether an array is declared inside a function: _ZZ<function>E<array>, with a Z more for each lambda or local class
// around it.
bool belongs_to(const thread_local_symbol &array, const char *function) {
    if (std::strncmp(function, "_Z", 2) == 0) {
        function += 2;
    }
    const char *scope = array.name + 1;
    if (scope[0] != 'Z' || scope[1] != 'Z') return false;
    while (*scope == 'Z') ++scope;
    const std::size_t length = std::strlen(function);
    return std::strncmp(scope, function, length) == 0 && scope[length] == 'E';
}

void add_array(kernel_arrays &kernel, const thread_local_symbol &array) {
    const unsigned count = kernel.count.load(std::memory_order_relaxed);
    if (count == kernel_arrays::max_arrays) return;
    kernel.arrays[count] = &array;
    kernel.size_bytes.fetch_add(array.size_bytes);
    kernel.count.store(count + 1, std::memory_order_release);
}

bool has_array(const kernel_arrays &kernel, const thread_local_symbol &array) {
    const unsigned count = kernel.count.load(std::memory_order_acquire);
    for (unsigned i = 0; i < count; ++i) {
        if (kernel.arrays[i] == &array) return true;
    }
    return false;
}

kernel_arrays *make_kernel(const void *address) {
    auto *kernel = new kernel_arrays;
    const module_image &image = own_image();
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    for (const code_symbol &function : image.functions) {
        if (function.address != place) continue;  // several names when the compiler folded equal kernels
        for (const thread_local_symbol &array : all_arrays()) {
            if (belongs_to(array, function.name) && !has_array(*kernel, array)) add_array(*kernel, array);
        }
    }
    return kernel;
}

kernel_arrays *arrays_of(const void *address) {
    cached_kernel &entry = cache[reinterpret_cast<std::uintptr_t>(address) / 16 % cached_kernels];
    if (entry.address.load(std::memory_order_acquire) == address) {
        kernel_arrays *kernel = entry.arrays.load(std::memory_order_acquire);
        if (entry.address.load(std::memory_order_acquire) == address) return kernel;
    }
    std::lock_guard<std::mutex> lock(kernels_mutex);
    kernel_arrays *&kernel = kernels[address];
    if (kernel == nullptr) kernel = make_kernel(address);
    entry.address.store(nullptr, std::memory_order_release);
    entry.arrays.store(kernel, std::memory_order_release);
    entry.address.store(address, std::memory_order_release);
    return kernel;
}

// Of the module, on the calling OS thread.
char *thread_local_base() {
    thread_local_index index = {own_image().thread_local_module, 0};
    return static_cast<char *>(__tls_get_addr(&index));
}

void poison(char *base, const thread_local_symbol &array) {
    std::memset(base + array.offset, poison_byte, array.size_bytes);
}

// Whether anything was written into a poisoned array. Samples of large ones: kernels write more than a word here and
// there.
bool is_changed(const char *base, const thread_local_symbol &array) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(base + array.offset);
    const std::size_t step = array.size_bytes <= 512 ? 1 : 61;
    for (std::size_t i = 0; i < array.size_bytes; i += i < 128 ? 1 : step) {
        if (bytes[i] != poison_byte) return true;
    }
    return false;
}

void learn_arrays(kernel_arrays &kernel, const worker &self) {
    for (const thread_local_symbol &array : all_arrays()) {
        if (!is_changed(self.thread_local_base, array) || has_array(kernel, array)) continue;
        poison(self.thread_local_base, array);
        std::lock_guard<std::mutex> lock(kernels_mutex);
        if (!has_array(kernel, array)) add_array(kernel, array);
    }
}

std::size_t dynamic_slack_bytes(std::size_t size_bytes) {
    return (dynamic_alignment_bytes - size_bytes % dynamic_alignment_bytes) % dynamic_alignment_bytes;
}

void poison_arrays(const kernel_arrays &kernel, const worker &self) {
    const unsigned count = kernel.count.load(std::memory_order_acquire);
    for (unsigned i = 0; i < count; ++i) poison(self.thread_local_base, *kernel.arrays[i]);
}

}  // namespace

std::size_t static_shared_bytes(const void *kernel_address) noexcept {
    if (all_arrays().empty()) return 0;
    return arrays_of(kernel_address)->size_bytes.load(std::memory_order_relaxed);
}

std::string shared_memory_error(const grid_request &request) {
    const std::size_t in_arrays = static_shared_bytes(request.kernel_address);
    char text[256];
    const std::size_t limit = request.shared_limit_bytes != 0 ? request.shared_limit_bytes : max_dynamic_shared_bytes;
    if (request.dynamic_shared_bytes <= limit && in_arrays <= limit - request.dynamic_shared_bytes) return "";
    std::snprintf(text, sizeof text,
                  "the kernel wants %zu bytes of shared memory (%zu static, %zu dynamic); a block may have %zu",
                  in_arrays + request.dynamic_shared_bytes, in_arrays, request.dynamic_shared_bytes, limit);
    return text;
}

void find_arrays(grid &running) noexcept {
    if (all_arrays().empty()) return;
    running.arrays = arrays_of(running.request->kernel_address);
    const unsigned grids = running.arrays->grids.fetch_add(1, std::memory_order_relaxed);
    running.learn_arrays = grids < grids_to_learn || grids % grids_between_looks == 0;
}

bool prepare_shared(grid &running, worker &self) noexcept {
    if (running.arrays != nullptr && self.thread_local_base == nullptr) {
        self.thread_local_base = thread_local_base();
        for (const thread_local_symbol &array : all_arrays()) poison(self.thread_local_base, array);
    }
    self.first_block = true;
    const std::size_t size = running.request->dynamic_shared_bytes;
    if (!ensure_dynamic_shared(self, size)) return false;
    self.context.dynamic_shared = self.dynamic_shared_end - size - dynamic_slack_bytes(size);
    std::memset(self.dynamic_shared_end - dynamic_slack_bytes(size), dynamic_canary, dynamic_slack_bytes(size));
    return true;
}

void poison_shared(const grid &running, worker &self) noexcept {
    if (running.arrays != nullptr) poison_arrays(*running.arrays, self);
    const std::size_t size = running.request->dynamic_shared_bytes;
    if (size != 0) std::memset(self.context.dynamic_shared, poison_byte, size);
}

bool check_shared(grid &running, worker &self) noexcept {
    if (self.first_block && running.learn_arrays && running.arrays != nullptr) learn_arrays(*running.arrays, self);
    self.first_block = false;
    const std::size_t size = running.request->dynamic_shared_bytes;
    const std::size_t slack = dynamic_slack_bytes(size);
    const auto *end = reinterpret_cast<const unsigned char *>(self.dynamic_shared_end) - slack;
    for (std::size_t i = 0; i < slack; ++i) {
        if (__builtin_expect(end[i] == dynamic_canary, 1)) continue;
        char text[256];
        std::snprintf(text, sizeof text,
                      "a thread of block (%u, %u, %u) wrote past the end of dynamic shared memory: byte %zu of %zu",
                      static_cast<unsigned>(self.context.block.x), static_cast<unsigned>(self.context.block.y),
                      static_cast<unsigned>(self.context.block.z), size + i, size);
        set_grid_fault(running, fault_code::memory_corruption, text);
        return false;
    }
    return true;
}

void finish_shared(grid &running, worker &self) noexcept {
    if (running.arrays == nullptr) return;
    if (running.learn_arrays) learn_arrays(*running.arrays, self);
    poison_arrays(*running.arrays, self);
}

std::string shared_array_at(const void *address) {
    if (all_arrays().empty()) return "";
    const char *base = thread_local_base();
    for (const thread_local_symbol &array : all_arrays()) {
        const char *begin = base + array.offset;
        if (address < begin || address >= begin + array.size_bytes) continue;
        return demangle(array.name);
    }
    return "";
}

}  // namespace oprt_emulator
