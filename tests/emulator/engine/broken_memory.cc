// Kernels with a wrong access: outside of allocations and shared memory, misaligned, through a null pointer, of
// released memory.
#include "engine_test.h"

static void good(int *output) {
    SYNC();
    output[global_thread()] = 1;
}

static void write_at(int *data, long index, unsigned thread) {
    if (thread_index().x == thread) data[index] = 1;  // line: write
}

static void read_at(const int *data, long index, int *output) {
    output[0] = data[index];  // line: read
}

static __attribute__((noinline)) void store(int *place) {
    *place = 5;  // line: callee
    __asm__ volatile("" ::: "memory");
}
static void through_call(int *data) {
    SYNC();
    store(data + 1000000);  // line: caller
    data[0] = 1;
}

struct alignas(16) four_floats {
    float x, y, z, w;
};
static void misaligned(const float *input, float *output) {
    *reinterpret_cast<four_floats *>(output) = *reinterpret_cast<const four_floats *>(input + 1);  // line: vector
}

static void past_dynamic(long index) { static_cast<char *>(dynamic_shared())[index] = 1; }  // line: dynamic

static void call_null(void (*function)()) {
    SYNC();
    function();  // line: call
    SYNC();
}

int main(int argc, char **argv) {
    buffer<int> output(1024);
    const int result = run_parts(
        argc, argv,
        {
            // 1000 ints end 96 bytes before the guard page.
            {"past_end",
             [] {
                 buffer<int> data(1000, 0);
                 run_broken(write_at, dim3(1), dim3(32), 0, data, 1024, 7u);
             }},
            {"far_past_end",
             [] {
                 buffer<int> data(1024, 0);
                 run_broken(write_at, dim3(1), dim3(32), 0, data, 1025, 31u);
             }},
            {"canary",
             [] {
                 buffer<int> data(1000, 0);
                 run_broken(write_at, dim3(1), dim3(32), 0, data, 1001, 7u);
             }},
            {"canary_before",
             [] {
                 buffer<int> data(100, 0);
                 run_broken(write_at, dim3(1), dim3(32), 0, data, -2, 7u);
             }},
            {"released",
             [&] {
                 int *data = static_cast<int *>(allocate(4096));
                 release(data);
                 run_broken(read_at, dim3(1), dim3(1), 0, static_cast<const int *>(data), 3, output);
             }},
            {"null", [&] { run_broken(read_at, dim3(1), dim3(1), 0, static_cast<const int *>(nullptr), 5, output); }},
            {"through_call",
             [] {
                 buffer<int> data(1000, 0);
                 run_broken(through_call, dim3(1), dim3(32), 0, data);
             }},
            {"misaligned",
             [] {
                 buffer<float> data(1000, 0), more(1000, 0);
                 run_broken(misaligned, dim3(1), dim3(1), 0, static_cast<const float *>(data), more);
             }},
            {"past_dynamic", [] { run_broken(past_dynamic, dim3(1), dim3(1), 256, 256); }},
            {"dynamic_canary", [] { run_broken(past_dynamic, dim3(3), dim3(1), 100, 101); }},
            {"call_null", [] { run_broken(call_null, dim3(1), dim3(2), 0, static_cast<void (*)()>(nullptr)); }},
        });
    output.fill(0);
    run(good, dim3(8), dim3(128), 0, output);
    for (int i = 0; i < 1024; ++i) CHECK(output[i] == 1);
    std::printf("alive\n");
    return result;
}
