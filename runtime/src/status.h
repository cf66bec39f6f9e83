// How a failure travels: thrown inside the runtime as `failure`, turned at the C edge into a status and the thread's
// message by guarded(). Every extern "C" body that can fail runs inside guarded(); nothing else catches. Names of
// values are in names.h.
#pragma once

#include <string>
#include <type_traits>

#include "operator_runtime/types.h"

namespace oprt {

struct failure {
    oprt_status_t status;
    std::string message;
};

// Usage: fail(OPRT_ERR_INVALID_ARGUMENT, "softmax: axis %d is out of range", axis).
[[noreturn]] void fail(oprt_status_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Text like printf makes it.
std::string formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Inside a catch block: store the current exception's message for the thread, give its status.
oprt_status_t report_current_exception() noexcept;

// Run the body of a C function. A body may return a status for an answer that is no failure (OPRT_ERR_NOT_READY).
template <typename Body>
oprt_status_t guarded(Body &&body) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return OPRT_SUCCESS;
        } else {
            return body();
        }
    } catch (...) {
        return report_current_exception();
    }
}

// Refuse a null output pointer, else give it its value for the case that the call fails.
template <typename T>
void begin_output(const char *function, const char *name, T *output) {
    if (output == nullptr) fail(OPRT_ERR_INVALID_ARGUMENT, "%s: output pointer %s is null", function, name);
    *output = T{};
}

// The same for a structure that begins with its own size, which the caller sets and which is kept.
template <typename T>
void begin_structure(const char *function, const char *name, T *structure) {
    if (structure == nullptr) fail(OPRT_ERR_INVALID_ARGUMENT, "%s: output pointer %s is null", function, name);
    if (structure->struct_size != sizeof(T)) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s has struct_size %zu, wanted %zu", function, name,
             structure->struct_size, sizeof(T));
    }
    *structure = T{};
    structure->struct_size = sizeof(T);
}

}  // namespace oprt
