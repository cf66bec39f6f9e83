// The smallest test harness that does: a program holds TESTs, `program NAME` runs one and exits 0 when every CHECK
// held. pytest finds the names in the source (test_programs.py).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>

#include "operator_runtime/operator_runtime.h"

using test_function = void (*)();

inline std::map<std::string, test_function> &tests() {
    static std::map<std::string, test_function> known;
    return known;
}

// Usage: TEST(destroy_twice_is_refused) { CHECK(...); }
#define TEST(name)                                                       \
    static void name();                                                  \
    static const bool name##_is_known = (tests()[#name] = (name), true); \
    static void name()

// The condition must hold; else the program ends.
#define CHECK(condition) check((condition), __FILE__, __LINE__, #condition)
// The call must succeed.
#define OK(call) check_status((call), OPRT_SUCCESS, "", __FILE__, __LINE__, #call)
// The call must fail with that status and leave a message that has that piece.
#define REFUSED(call, status, piece) check_status((call), (status), (piece), __FILE__, __LINE__, #call)

inline void check(bool holds, const char *file, int line, const char *text) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: %s does not hold\n  last message: %s\n", file, line, text, oprt_last_error_message());
    std::exit(1);
}

inline void check_status(oprt_status_t got, oprt_status_t wanted, const char *piece, const char *file, int line,
                         const char *text) {
    const char *message = oprt_last_error_message();
    if (got == wanted && (got == OPRT_SUCCESS || std::strstr(message, piece) != nullptr)) return;
    std::fprintf(stderr, "%s:%d: %s\n  gave   %s: %s\n  wanted %s: %s\n", file, line, text, oprt_status_name(got),
                 got == OPRT_SUCCESS ? "" : message, oprt_status_name(wanted), piece);
    std::exit(1);
}

// A tensor; without strides it is contiguous.
inline oprt_tensor_t tensor(oprt_dtype_t dtype, std::initializer_list<int64_t> shape,
                            std::initializer_list<int64_t> strides = {}) {
    oprt_tensor_t made{};
    made.struct_size = sizeof made;
    made.dtype = dtype;
    made.ndim = static_cast<int32_t>(shape.size());
    for (int32_t d = 0; d < made.ndim && d < OPRT_MAX_DIMS; ++d) made.shape[d] = shape.begin()[d];
    int64_t step = 1;
    for (int32_t d = made.ndim; d-- > 0;) {
        if (d >= OPRT_MAX_DIMS) continue;
        made.strides[d] = strides.size() != 0 ? strides.begin()[d] : step;
        if (made.shape[d] > 1 && step <= INT64_MAX / made.shape[d]) step *= made.shape[d];
    }
    return made;
}

// Device memory that is freed at the end of its scope.
class memory {
public:
    explicit memory(size_t size_bytes) { OK(oprt_allocate_memory(&pointer_, size_bytes)); }
    ~memory() { OK(oprt_free_memory(pointer_)); }
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;

    void *at(ptrdiff_t offset_bytes = 0) const { return static_cast<char *>(pointer_) + offset_bytes; }

private:
    void *pointer_ = nullptr;
};

int main(int argument_count, char **arguments) {
    const auto found = argument_count == 2 ? tests().find(arguments[1]) : tests().end();
    if (found == tests().end()) {
        for (const auto &known : tests()) std::printf("%s\n", known.first.c_str());
        return 2;
    }
    found->second();
    return 0;
}
