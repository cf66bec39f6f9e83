// Grids from several host threads at once, from host threads that come and go, and from forked children.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "engine_test.h"

static void sum_blocks(const int *input, int *output) {
    __shared__ int sums[128];
    const unsigned t = thread_index().x;
    sums[t] = input[global_thread()];
    SYNC();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        SYNC();
    }
    if (t == 0) output[block_index().x] = sums[0];
}

static void fails() { device_trap(HERE); }

static void check_sums() {
    constexpr int blocks = 600;
    buffer<int> input(blocks * 128), output(blocks, 0);
    for (int i = 0; i < blocks * 128; ++i) input[i] = i % 7;
    run(sum_blocks, dim3(blocks), dim3(128), 0, static_cast<const int *>(input), output);
    for (int block = 0; block < blocks; ++block) {
        int sum = 0;
        for (int i = 0; i < 128; ++i) sum += input[block * 128 + i];
        CHECK(output[block] == sum);
    }
}

// A report belongs to the host thread whose grid failed.
static void check_fault() {
    launch(fails, dim3(1), dim3(1), 0, nullptr);
    CHECK(last_code == fault_code::trap && last_report().find("fails(") != std::string::npos);
}

static int child_of(const std::function<void()> &body) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        body();
        std::_Exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"threads",
                          [] {
                              std::vector<std::thread> threads;
                              for (int i = 0; i < 6; ++i) {
                                  threads.emplace_back([i] {
                                      for (int round = 0; round < 10; ++round) {
                                          check_sums();
                                          if (i % 2 == 0) check_fault();
                                      }
                                  });
                              }
                              for (std::thread &thread : threads) thread.join();
                          }},
                         {"short_lived",
                          [] {
                              for (int i = 0; i < 50; ++i) std::thread(check_sums).join();
                              check_sums();
                          }},
                         {"fork",
                          [] {
                              check_sums();
                              for (int i = 0; i < 3; ++i) {
                                  CHECK(child_of([] {
                                            check_sums();
                                            check_fault();
                                            check_sums();
                                        }) == 0);
                              }
                              // A child of a child, and one forked while other threads run grids.
                              CHECK(child_of([] {
                                        check_sums();
                                        CHECK(child_of(check_sums) == 0);
                                    }) == 0);
                              std::thread busy([] {
                                  for (int i = 0; i < 40; ++i) check_sums();
                              });
                              for (int i = 0; i < 10; ++i) CHECK(child_of(check_sums) == 0);
                              busy.join();
                              check_sums();
                          }},
                     });
}
