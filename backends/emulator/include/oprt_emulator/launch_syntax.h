// What rewrite.py makes of `kernel<<<grid, block, shared, stream>>>(arguments)`:
//     ::oprt_emulator::launch_of(kernel).on(grid, block, shared, stream)(arguments)
// The tokens keep their order, so every line keeps its number. As with the vendors the launch gives nothing back:
// GetLastError tells.
#pragma once

#include <cstddef>
#include <type_traits>

#include "oprt_emulator/launch.h"
#include "oprt_emulator/vector_types.h"

namespace oprt_emulator {

struct launch_extents {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    void *stream;
};

template <typename... P>
class launch_of_kernel {
public:
    explicit launch_of_kernel(void (*kernel)(P...)) : kernel_(kernel) {}

    launch_of_kernel on(dim3 grid, dim3 block, size_t shared_bytes = 0, void *stream = nullptr) const {
        launch_of_kernel configured = *this;
        configured.extents_ = {grid, block, shared_bytes, stream};
        return configured;
    }
    void operator()(P... arguments) const {
        static_cast<void>(
            launch(kernel_, extents_.grid, extents_.block, extents_.shared_bytes, extents_.stream, arguments...));
    }

private:
    void (*kernel_)(P...);
    launch_extents extents_{};
};

template <typename... P>
inline launch_of_kernel<P...> launch_of(void (*kernel)(P...)) {
    return launch_of_kernel<P...>(kernel);
}

// The same for a kernel template whose arguments the call deduces. body(arguments...) calls it; it captures nothing, so
// for the types of a call it is a plain function.
template <typename function>
class launch_of_template {
public:
    explicit launch_of_template(function body) : body_(body) {}

    launch_of_template on(dim3 grid, dim3 block, size_t shared_bytes = 0, void *stream = nullptr) const {
        launch_of_template configured = *this;
        configured.extents_ = {grid, block, shared_bytes, stream};
        return configured;
    }
    template <typename... A>
    void operator()(const A &...arguments) const {
        void (*const kernel)(std::decay_t<A>...) = body_;
        static_cast<void>(
            launch(kernel, extents_.grid, extents_.block, extents_.shared_bytes, extents_.stream, arguments...));
    }

private:
    function body_;
    launch_extents extents_{};
};

template <typename function>
inline launch_of_template<function> launch_deduced(function body) {
    return launch_of_template<function>(body);
}

// What rewrite.py makes of `extern __shared__ T name[]` at namespace scope: stands for the running block's dynamic
// shared memory wherever a T * does. A reinterpret_cast needs `name + 0`.
template <typename T>
class dynamic_shared_array {
public:
    operator T *() const { return static_cast<T *>(dynamic_shared()); }
    template <typename U>
    explicit operator U *() const {
        return static_cast<U *>(dynamic_shared());
    }
};

}  // namespace oprt_emulator
