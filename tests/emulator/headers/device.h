// Device memory and launches for the test programs: failures of the runtime are failures of the test.
#pragma once

#include <vector>

#include "check.h"
#include "vendor.h"

#define SUCCEEDS(call) check_code(static_cast<int>(call), 0, #call, __FILE__, __LINE__)
#define FAILS(error, call) check_code(static_cast<int>(call), static_cast<int>(API(error)), #call, __FILE__, __LINE__)

inline void check_code(int got, int wanted, const char *call, const char *file, int line) {
    if (got == wanted) return;
    char text[4096];
    std::snprintf(
        text, sizeof text, "%s gave %s (%s), wanted %s", call, API(GetErrorName)(static_cast<API(Error_t)>(got)),
        API(GetErrorString)(static_cast<API(Error_t)>(got)), API(GetErrorName)(static_cast<API(Error_t)>(wanted)));
    report_failure(text, file, line);
}

template <typename T>
T *on_device(const std::vector<T> &values) {
    T *pointer = nullptr;
    SUCCEEDS(API(Malloc)(&pointer, values.size() * sizeof(T)));
    SUCCEEDS(API(Memcpy)(pointer, values.data(), values.size() * sizeof(T), API(MemcpyHostToDevice)));
    return pointer;
}

template <typename T>
std::vector<T> on_host(const T *pointer, size_t count) {
    std::vector<T> values(count);
    SUCCEEDS(API(Memcpy)(values.data(), pointer, count * sizeof(T), API(MemcpyDeviceToHost)));
    return values;
}

template <typename... P, typename... A>
int start(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, API(Stream_t) stream, A... arguments) {
    return oprt_emulator::launch(kernel, grid, block, shared_bytes, stream, arguments...);
}
