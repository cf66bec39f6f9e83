// Kernels with a wrong barrier or collective. Each part launches one and prints the report; a correct launch afterwards
// shows that the process and the engine live on. "line: NAME" marks the lines that reports have to name.
#include "engine_test.h"

static void good(int *output) {
    SYNC();
    output[global_thread()] = 1;
}

// A barrier inside a condition that only some threads meet, with another one after it.
static void divergence(int *output) {
    const unsigned t = thread_index().x;
    if (t < block_dim().x / 2) SYNC();  // line: inner barrier
    output[t] = 1;
    SYNC();  // line: outer barrier
}

// Two branches, a barrier each.
static void two_branches() {
    if (thread_index().x % 2 == 0) {
        SYNC();  // line: even barrier
    } else {
        SYNC();  // line: odd barrier
    }
}

// One lane waits for the block, the others for their warp.
static void deadlocked() {
    if (thread_index().x == 0) {
        SYNC();  // line: block waits
    } else {
        syncwarp(all_lanes, HERE);  // line: warp waits
    }
}

static void not_in_mask(int *output) {
    output[thread_index().x] = shfl(0xFFFF, 1, 0, warp_size, HERE);  // line: mask
}

static void narrow_mask(int *output) {
    output[thread_index().x] = shfl_down(0xFFFFFFFF, 1, 1, warp_size, HERE);  // line: narrow
}

static void different_collectives() {
    if (thread_index().x % 2 == 0) {
        syncwarp(all_lanes, HERE);  // line: syncwarp
    } else {
        ballot(all_lanes, true, HERE);  // line: ballot
    }
}

static void grid_barrier() { device_not_supported("grid.sync()", HERE); }

static void launches() { launch(good, dim3(1), dim3(1), 0, nullptr, static_cast<int *>(nullptr)); }

int main(int argc, char **argv) {
    buffer<int> output(1024);
    const int result =
        run_parts(argc, argv,
                  {
                      {"divergence", [&] { run_broken(divergence, dim3(2), dim3(64), 0, output); }},
                      {"two_branches", [] { run_broken(two_branches, dim3(1), dim3(4), 0); }},
                      {"deadlock", [] { run_broken(deadlocked, dim3(1), dim3(warp_size), 0); }},
                      {"not_in_mask", [&] { run_broken(not_in_mask, dim3(1), dim3(20), 0, output); }},
                      {"narrow_mask", [&] { run_broken(narrow_mask, dim3(1), dim3(64), 0, output); }},
                      {"different_collectives", [] { run_broken(different_collectives, dim3(1), dim3(32), 0); }},
                      {"grid_barrier", [] { run_broken(grid_barrier, dim3(1), dim3(1), 0); }},
                      {"launch_in_kernel", [] { run_broken(launches, dim3(1), dim3(1), 0); }},
                  });
    output.fill(0);
    run(good, dim3(8), dim3(128), 0, output);
    for (int i = 0; i < 1024; ++i) CHECK(output[i] == 1);
    std::printf("alive\n");
    return result;
}
