// What the engine's test programs share: checks, device buffers, a synchronous enqueue_kernel and short spellings of
// the engine's functions. Each program is one facility; its first argument picks one part, without it all parts run.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "oprt_emulator/launch.h"

using namespace oprt_emulator;

#define __shared__ OPRT_EMULATOR_SHARED
#define HERE __FILE__, __LINE__
#define SYNC() syncthreads(HERE)

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
            std::fflush(stdout);                                                      \
            std::_Exit(1);                                                            \
        }                                                                             \
    } while (0)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline thread_local fault_code last_code = fault_code::none;
inline thread_local std::size_t shared_limit_bytes = 0;

namespace oprt_emulator {
inline __attribute__((used)) int enqueue_kernel(void *, std::unique_ptr<kernel_node> node) {
    node->request.shared_limit_bytes = shared_limit_bytes;
    last_code = node->run();
    return static_cast<int>(last_code);
}
}  // namespace oprt_emulator

// Launch that has to succeed.
template <typename... P, typename... A>
void run(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, A &&...args) {
    launch(kernel, grid, block, shared_bytes, nullptr, std::forward<A>(args)...);
    if (last_code != fault_code::none) {
        std::printf("%s\n%s\n", fault_name(last_code), last_report().c_str());
        std::fflush(stdout);
        std::_Exit(1);
    }
}

// Launch that may fail: prints "<code>" and the report.
template <typename... P, typename... A>
fault_code run_broken(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes, A &&...args) {
    launch(kernel, grid, block, shared_bytes, nullptr, std::forward<A>(args)...);
    std::printf("code %s\n%s\n", fault_name(last_code), last_code == fault_code::none ? "" : last_report().c_str());
    std::fflush(stdout);
    return last_code;
}

// Device memory for count elements.
template <typename T>
class buffer {
public:
    explicit buffer(std::size_t count) : data_(static_cast<T *>(allocate(count * sizeof(T)))), count_(count) {
        CHECK(data_ != nullptr);
    }
    buffer(std::size_t count, T value) : buffer(count) { fill(value); }
    ~buffer() { release(data_); }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;

    void fill(T value) {
        for (std::size_t i = 0; i < count_; ++i) data_[i] = value;
    }
    operator T *() { return data_; }
    template <typename Index>
    T &operator[](Index i) {
        return data_[i];
    }
    std::size_t size() const { return count_; }

private:
    T *data_;
    std::size_t count_;
};

using parts = std::map<std::string, std::function<void()>>;

// Runs the part that the first argument names, else all.
inline int run_parts(int argc, char **argv, const parts &all) {
    for (const auto &part : all) {
        if (argc > 1 && part.first != argv[1]) continue;
        part.second();
        std::printf("passed %s\n", part.first.c_str());
        std::fflush(stdout);
    }
    if (argc > 1 && all.count(argv[1]) == 0) {
        std::printf("no part %s\n", argv[1]);
        return 2;
    }
    return 0;
}

inline unsigned global_thread() { return block_index().x * block_dim().x + thread_index().x; }
