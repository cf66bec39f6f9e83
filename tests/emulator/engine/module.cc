// A shared library with the engine inside, as a backend's emulator module is: loaded into a host program, also together
// with one of the other warp width. Its shared arrays fill its thread-local storage, which must not need the static
// one.
#include "engine_test.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

template <int Tag>
static void large_shared(int *output) {
    __shared__ int values[10000];
    const unsigned t = thread_index().x;
    values[t * 9] = static_cast<int>(t) + Tag;
    SYNC();
    output[t] = values[(t + 1) % block_dim().x * 9] + warp_size;
}

static void crash(int *pointer) { *pointer = 1; }  // line: crash

EXPORT int module_warp_size() { return warp_size; }

EXPORT int module_run(int tag) {
    buffer<int> output(128, 0);
    if (tag == 1) {
        run(large_shared<1>, dim3(4), dim3(128), 0, output);
    } else {
        run(large_shared<2>, dim3(4), dim3(128), 0, output);
    }
    for (int t = 0; t < 128; ++t) {
        if (output[t] != (t + 1) % 128 + (tag == 1 ? 1 : 2) + warp_size) return 0;
    }
    return 1;
}

static std::string report;
EXPORT const char *module_crash() {
    launch(crash, dim3(1), dim3(1), 0, nullptr, static_cast<int *>(nullptr));
    report = last_report();
    return last_code == fault_code::illegal_address ? report.c_str() : "";
}
