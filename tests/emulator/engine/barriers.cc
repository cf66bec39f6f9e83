// __syncthreads and its variants: order of memory between phases, counts, generations in loops.
#include "engine_test.h"

// Every thread reads what another one wrote in the phase before.
static void rotate(const int *input, int *output, int steps) {
    __shared__ int values[2][1024];
    const unsigned t = thread_index().x, n = block_dim().x;
    values[0][t] = input[global_thread()];
    for (int step = 0; step < steps; ++step) {
        SYNC();
        values[(step + 1) % 2][t] = values[step % 2][(t + 1) % n];
    }
    output[global_thread()] = values[steps % 2][t];
}

static void tree_sum(const int *input, int *output) {
    __shared__ int sums[1024];
    const unsigned t = thread_index().x;
    sums[t] = input[global_thread()];
    SYNC();
    for (unsigned half = block_dim().x / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        SYNC();
    }
    if (t == 0) output[block_index().x] = sums[0];
}

static void variants(int *output, unsigned limit) {
    const unsigned t = thread_index().x;
    int *mine = output + global_thread() * 5;
    mine[0] = syncthreads_count(t < limit, HERE);
    mine[1] = syncthreads_and(t < limit, HERE);
    mine[2] = syncthreads_or(t < limit, HERE);
    mine[3] = syncthreads_count(t % 3 == 0, HERE);
    mine[4] = syncthreads_count(true, HERE);
}

// Half of the threads exit; the counts are those of the rest.
static void variants_after_exit(int *output) {
    if (thread_index().x % 2 == 1) return;
    output[global_thread()] = syncthreads_count(true, HERE) + 1000 * syncthreads_and(true, HERE);
}

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"rotate",
                          [] {
                              for (unsigned size : {1u, 2u, 33u, 64u, 100u, 1024u}) {
                                  buffer<int> input(4 * size), output(4 * size);
                                  for (unsigned i = 0; i < 4 * size; ++i) input[i] = static_cast<int>(i);
                                  run(rotate, dim3(4), dim3(size), 0, input, output, 37);
                                  for (unsigned i = 0; i < 4 * size; ++i) {
                                      CHECK(output[i] == static_cast<int>(i / size * size + (i % size + 37) % size));
                                  }
                              }
                          }},
                         {"tree_sum",
                          [] {
                              buffer<int> input(50 * 256), output(50);
                              for (unsigned i = 0; i < input.size(); ++i) input[i] = static_cast<int>(i % 251);
                              run(tree_sum, dim3(50), dim3(256), 0, input, output);
                              for (unsigned block = 0; block < 50; ++block) {
                                  int sum = 0;
                                  for (unsigned i = 0; i < 256; ++i) sum += input[block * 256 + i];
                                  CHECK(output[block] == sum);
                              }
                          }},
                         {"variants",
                          [] {
                              for (unsigned size : {1u, 32u, 65u, 1024u}) {
                                  for (unsigned limit : {0u, 1u, size - 1, size}) {
                                      buffer<int> output(2 * size * 5);
                                      run(variants, dim3(2), dim3(size), 0, output, limit);
                                      for (unsigned i = 0; i < 2 * size; ++i) {
                                          const int *mine = output + i * 5;
                                          CHECK(mine[0] == static_cast<int>(limit));
                                          CHECK(mine[1] == (limit == size));
                                          CHECK(mine[2] == (limit != 0));
                                          CHECK(mine[3] == static_cast<int>((size + 2) / 3));
                                          CHECK(mine[4] == static_cast<int>(size));
                                      }
                                  }
                              }
                          }},
                         {"variants_after_exit",
                          [] {
                              buffer<int> output(100, 0);
                              run(variants_after_exit, dim3(1), dim3(100), 0, output);
                              for (unsigned i = 0; i < 100; ++i) CHECK(output[i] == (i % 2 == 1 ? 0 : 1050));
                          }},
                     });
}
