// Host memory runs out at every place where the library asks for some, one place after the other: each time the call
// fails cleanly, its output is null, and the next call works. The program's operator new takes the place of the
// library's.
#include <cstdint>
#include <new>

#include "check.h"

namespace {

thread_local int64_t allocations_left = -1;  // -1: no limit

void *limited(size_t size_bytes) {
    if (allocations_left == 0) throw std::bad_alloc();
    if (allocations_left > 0) --allocations_left;
    void *pointer = std::malloc(size_bytes == 0 ? 1 : size_bytes);
    if (pointer == nullptr) throw std::bad_alloc();
    return pointer;
}

// Run the call with 0, 1, 2, ... allocations until it succeeds; give the number of failures.
template <typename Call>
int64_t failures_of(Call call) {
    for (int64_t allowed = 0;; ++allowed) {
        allocations_left = allowed;
        const oprt_status_t status = call();
        allocations_left = -1;
        if (status == OPRT_SUCCESS) return allowed;
        check_status(status, OPRT_ERR_OUT_OF_MEMORY, "host memory is exhausted", __FILE__, __LINE__, "exhausted call");
        CHECK(allowed < 1000);
    }
}

}  // namespace

void *operator new(size_t size_bytes) { return limited(size_bytes); }
void operator delete(void *pointer) noexcept { std::free(pointer); }
void operator delete(void *pointer, size_t) noexcept { std::free(pointer); }

TEST(loading_survives) {
    const int64_t failures = failures_of([] {
        const char *path = "";
        const oprt_status_t status = oprt_get_module_path(&path);
        CHECK((status == OPRT_SUCCESS) == (path != nullptr));
        return status;
    });
    CHECK(failures > 0);
}

TEST(create_survives) {
    const oprt_tensor_t t = tensor(OPRT_DTYPE_FLOAT32, {4});
    oprt_descriptor_t made = nullptr;
    const int64_t failures = failures_of([&] {
        made = reinterpret_cast<oprt_descriptor_t>(1);
        const oprt_status_t status = oprt_create_softmax_descriptor(&made, &t, &t, 0);
        CHECK(status == OPRT_SUCCESS || made == nullptr);
        return status;
    });
    CHECK(failures > 0 && made != nullptr);
    OK(oprt_destroy_softmax_descriptor(made));
}

TEST(a_refusal_survives) {
    const oprt_tensor_t t = tensor(OPRT_DTYPE_FLOAT32, {4});
    for (int64_t allowed = 0; allowed < 50; ++allowed) {
        oprt_descriptor_t made = nullptr;
        allocations_left = allowed;
        const oprt_status_t status = oprt_create_softmax_descriptor(&made, &t, &t, 5);
        allocations_left = -1;
        CHECK(status == OPRT_ERR_OUT_OF_MEMORY || status == OPRT_ERR_INVALID_ARGUMENT);
        CHECK(made == nullptr);
    }
    oprt_descriptor_t made = nullptr;
    REFUSED(oprt_create_softmax_descriptor(&made, &t, &t, 5), OPRT_ERR_INVALID_ARGUMENT, "axis 5");
}

TEST(execute_needs_no_memory) {
    const oprt_tensor_t t = tensor(OPRT_DTYPE_FLOAT32, {4});
    const memory buffers(1024);
    oprt_descriptor_t made = nullptr;
    oprt_stream_t stream = nullptr;
    OK(oprt_create_softmax_descriptor(&made, &t, &t, 0));
    OK(oprt_create_stream(&stream));
    allocations_left = 0;
    const oprt_status_t first = oprt_execute_softmax(made, nullptr, 0, buffers.at(0), buffers.at(256), nullptr);
    const oprt_status_t second = oprt_execute_softmax(made, nullptr, 0, buffers.at(0), buffers.at(256), stream);
    allocations_left = -1;
    OK(first);
    OK(second);
    OK(oprt_destroy_softmax_descriptor(made));
    OK(oprt_destroy_stream(stream));
}

TEST(memory_and_streams_survive) {
    void *pointer = nullptr;
    oprt_stream_t stream = nullptr;
    oprt_event_t event = nullptr;
    CHECK(failures_of([&] { return oprt_allocate_memory(&pointer, 64); }) > 0);
    CHECK(failures_of([&] { return oprt_create_stream(&stream); }) > 0);
    CHECK(failures_of([&] { return oprt_create_event(&event); }) > 0);
    OK(oprt_free_memory(pointer));
    OK(oprt_destroy_stream(stream));
    OK(oprt_destroy_event(event));
}
