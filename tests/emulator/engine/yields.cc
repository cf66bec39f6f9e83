// Loops that wait for memory that another thread writes make progress through yield().
#include "engine_test.h"

// A lock inside a block.
static void locked(int *lock, int *sum) {
    for (bool done = false; !done;) {
        if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0) {
            const int before = *sum;
            yield();  // lose the processor with the lock held
            *sum = before + 1;
            __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
            done = true;
        } else {
            yield();
        }
    }
}

// Thread 0 waits for the last one.
static void flag(int *flags) {
    if (thread_index().x == 0) {
        while (__atomic_load_n(&flags[block_index().x], __ATOMIC_ACQUIRE) == 0) yield();
        flags[block_index().x] = 2;
    } else if (thread_index().x == block_dim().x - 1) {
        __atomic_store_n(&flags[block_index().x], 1, __ATOMIC_RELEASE);
    }
}

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"lock",
                          [] {
                              buffer<int> lock(1, 0), sum(1, 0);
                              run(locked, dim3(6), dim3(100), 0, lock, sum);
                              CHECK(sum[0] == 600);
                          }},
                         {"flag",
                          [] {
                              buffer<int> flags(10, 0);
                              run(flag, dim3(10), dim3(100), 0, flags);
                              for (int i = 0; i < 10; ++i) CHECK(flags[i] == 2);
                          }},
                     });
}
