// Blocks start as a loop and turn into fibres only where a thread waits: each thread runs exactly once whatever the
// mix.
#include "engine_test.h"

static void no_barrier(int *runs) { __atomic_fetch_add(&runs[global_thread()], 1, __ATOMIC_RELAXED); }

// Waits only in odd blocks, and there only after the first instructions.
static void some_blocks(int *runs) {
    runs[global_thread()] += 1;
    if (block_index().x % 2 == 1) SYNC();
    runs[global_thread()] += 10;
}

// Threads below `leave` exit at once; the others meet. Exited threads count as arrived.
static void some_threads(int *runs, unsigned leave) {
    runs[global_thread()] += 1;
    if (thread_index().x < leave) return;
    SYNC();
    runs[global_thread()] += 10;
}

// The first threads meet, the last ones exit: their exit releases the others.
static void last_threads_leave(int *runs, unsigned stay) {
    if (thread_index().x < stay) {
        SYNC();
        SYNC();
    }
    runs[global_thread()] += 1;
}

// Local variables of a suspended thread survive, on its own stack.
static void locals(long *sums) {
    long values[32];
    for (int i = 0; i < 32; ++i) values[i] = static_cast<long>(global_thread()) * 100 + i;
    for (int i = 0; i < 32; ++i) {
        SYNC();
        values[i] += i;
    }
    long sum = 0;
    for (long value : values) sum += value;
    sums[global_thread()] = sum;
}

int main(int argc, char **argv) {
    const unsigned sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 1000, 1024};
    return run_parts(argc, argv,
                     {
                         {"no_barrier",
                          [&] {
                              for (unsigned size : sizes) {
                                  buffer<int> runs(7 * size, 0);
                                  run(no_barrier, dim3(7), dim3(size), 0, runs);
                                  for (unsigned i = 0; i < 7 * size; ++i) CHECK(runs[i] == 1);
                              }
                          }},
                         {"some_blocks",
                          [&] {
                              for (unsigned size : sizes) {
                                  buffer<int> runs(9 * size, 0);
                                  run(some_blocks, dim3(9), dim3(size), 0, runs);
                                  for (unsigned i = 0; i < 9 * size; ++i) CHECK(runs[i] == 11);
                              }
                          }},
                         {"some_threads",
                          [&] {
                              for (unsigned size : sizes) {
                                  for (unsigned leave : {0u, 1u, size / 2, size - 1, size}) {
                                      buffer<int> runs(2 * size, 0);
                                      run(some_threads, dim3(2), dim3(size), 0, runs, leave);
                                      for (unsigned i = 0; i < 2 * size; ++i)
                                          CHECK(runs[i] == (i % size < leave ? 1 : 11));
                                  }
                              }
                          }},
                         {"last_threads_leave",
                          [&] {
                              for (unsigned size : sizes) {
                                  for (unsigned stay : {0u, 1u, size / 2, size}) {
                                      buffer<int> runs(2 * size, 0);
                                      run(last_threads_leave, dim3(2), dim3(size), 0, runs, stay);
                                      for (unsigned i = 0; i < 2 * size; ++i) CHECK(runs[i] == 1);
                                  }
                              }
                          }},
                         {"locals",
                          [&] {
                              buffer<long> sums(3 * 500);
                              run(locals, dim3(3), dim3(500), 0, sums);
                              for (long i = 0; i < 3 * 500; ++i) CHECK(sums[i] == i * 3200 + 2 * 496);
                          }},
                     });
}
