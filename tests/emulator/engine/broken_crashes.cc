// Kernels that crash or do not end: arithmetic, traps, asserts, abort, exceptions, deep recursion, endless loops.
#include <stdexcept>

#include "engine_test.h"

static void good(int *output) {
    SYNC();
    output[global_thread()] = 1;
}

static void divide(const int *input, int *output) {
    const unsigned t = thread_index().x;
    output[t] = 100 / input[t];  // line: division
}

static void failed_assert(const int *input) {
    const unsigned t = global_thread();
    if (!(input[t] >= 0)) device_assert_fail("input[t] >= 0", HERE, __func__);  // line: assert
}

static void trap() {
    SYNC();
    device_trap(HERE);  // line: trap
}

static void builtin_trap() { __builtin_trap(); }  // line: builtin trap

static void abort_in_kernel() { std::abort(); }  // line: abort

static void throws() { throw std::runtime_error("thrown on purpose"); }

static __attribute__((noinline)) int recursion(volatile int *depth, int sum) {
    volatile char local[200];
    local[0] = static_cast<char>(sum);
    *depth = *depth + 1;
    if (*depth < 0) return sum;
    return recursion(depth, sum + local[0]) + local[0];  // line: recursion
}
static void overflow(int *output) {
    SYNC();
    volatile int depth = 0;
    output[thread_index().x] = recursion(&depth, 1);
}

// One frame larger than the whole stack skips no guard page.
static void huge_frame(int *output) {
    volatile int local[200000];
    for (int i = 0; i < 200000; i += 1000) local[i] = i;
    output[thread_index().x] = local[1000];
}

static void endless(volatile int *flag) {
    while (*flag == 0) {  // line: loop
    }
}

static void endless_after_barrier(volatile int *flag) {
    SYNC();
    if (thread_index().x != 5) return;
    while (*flag == 0) yield();
}

static void endless_barriers() {
    for (;;) SYNC();
}

int main(int argc, char **argv) {
    buffer<int> output(1024, 0);
    buffer<int> zeros(64, 0);
    const int result = run_parts(
        argc, argv,
        {
            {"division", [&] { run_broken(divide, dim3(1), dim3(32), 0, static_cast<const int *>(zeros), output); }},
            {"assert",
             [&] {
                 buffer<int> input(256, 1);
                 input[200] = -1;
                 run_broken(failed_assert, dim3(4), dim3(64), 0, static_cast<const int *>(input));
             }},
            {"trap", [] { run_broken(trap, dim3(1), dim3(3), 0); }},
            {"builtin_trap", [] { run_broken(builtin_trap, dim3(1), dim3(1), 0); }},
            {"abort", [] { run_broken(abort_in_kernel, dim3(1), dim3(1), 0); }},
            {"exception", [] { run_broken(throws, dim3(1), dim3(1), 0); }},
            {"stack_overflow", [&] { run_broken(overflow, dim3(1), dim3(3), 0, output); }},
            {"huge_frame", [&] { run_broken(huge_frame, dim3(1), dim3(3), 0, output); }},
            {"endless", [&] { run_broken(endless, dim3(64), dim3(1), 0, zeros); }},
            {"endless_yield", [&] { run_broken(endless_after_barrier, dim3(1), dim3(8), 0, zeros); }},
            {"endless_barriers", [] { run_broken(endless_barriers, dim3(64), dim3(64), 0); }},
            {"configuration",
             [&] {
                 // The last one has 2^32 threads, which 32 bits count as none.
                 for (dim3 block : {dim3(0), dim3(1025), dim3(32, 33), dim3(65536, 65536), dim3(32, 32, 4194304)}) {
                     CHECK(run_broken(good, dim3(1), block, 0, output) == fault_code::invalid_configuration);
                 }
                 CHECK(run_broken(good, dim3(1, 65536), dim3(1), 0, output) == fault_code::invalid_configuration);
                 CHECK(run_broken(good, dim3(0), dim3(1), 0, output) == fault_code::invalid_configuration);
             }},
        });
    output.fill(0);
    run(good, dim3(8), dim3(128), 0, output);
    for (int i = 0; i < 1024; ++i) CHECK(output[i] == 1);
    std::printf("alive\n");
    return result;
}
