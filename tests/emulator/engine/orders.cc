// Schedule orders. Prints what the orders did, for the test to compare: "trace" one block's order of arrival between
// barriers, "blocks" the order of blocks, "bugs" which of some wrong kernels gave a right result.
#include "engine_test.h"

// events: the threads in the order in which they passed each of some points.
static void trace(int *events, int *count) {
    const int t = static_cast<int>(thread_index().x);
    for (int phase = 0; phase < 3; ++phase) {
        events[(*count)++] = t;
        syncwarp(all_lanes, HERE);
        events[(*count)++] = 1000 + t;
        SYNC();
    }
}

static void block_order(int *events, int *count) {
    events[__atomic_fetch_add(count, 1, __ATOMIC_RELAXED)] = static_cast<int>(block_index().x);
}

static void no_wait(int *events, int *count) { events[(*count)++] = static_cast<int>(thread_index().x); }

// A tree reduction without its barrier, with one at the end of each step left out.
static void missing_barrier(const int *input, int *output) {
    __shared__ int sums[256];
    const unsigned t = thread_index().x;
    sums[t] = input[t];
    SYNC();
    for (unsigned half = block_dim().x / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
    }
    SYNC();
    if (t == 0) output[0] = sums[0];
}

// Reads the neighbour below without a barrier: right when threads run upwards.
static void reads_below(int *output) {
    __shared__ int values[256];
    const unsigned t = thread_index().x;
    values[t] = static_cast<int>(t);
    output[t] = t == 0 ? 0 : values[t - 1];
}

static void print(const char *name, buffer<int> &events, int count) {
    std::printf("%s", name);
    for (int i = 0; i < count; ++i) std::printf(" %d", events[i]);
    std::printf("\n");
}

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"trace",
                          [] {
                              buffer<int> events(4096), count(1, 0);
                              run(trace, dim3(1), dim3(3 * warp_size), 0, events, count);
                              print("trace", events, count[0]);
                              count[0] = 0;
                              run(no_wait, dim3(1), dim3(40), 0, events, count);
                              print("no_wait", events, count[0]);
                          }},
                         {"blocks",
                          [] {
                              buffer<int> events(100), count(1, 0);
                              run(block_order, dim3(100), dim3(1), 0, events, count);
                              print("blocks", events, count[0]);
                          }},
                         {"bugs",
                          [] {
                              buffer<int> input(256, 1), output(256, 0);
                              run(missing_barrier, dim3(1), dim3(256), 0, static_cast<const int *>(input), output);
                              std::printf("missing_barrier %s\n", output[0] == 256 ? "right" : "wrong");
                              run(reads_below, dim3(1), dim3(256), 0, output);
                              bool right = true;
                              for (int i = 1; i < 256; ++i) right = right && output[i] == i - 1;
                              std::printf("reads_below %s\n", right ? "right" : "wrong");
                          }},
                     });
}
