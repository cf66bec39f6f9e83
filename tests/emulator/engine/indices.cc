// Indices and extents in three dimensions, and arguments of every kind.
#include "engine_test.h"

struct seen {
    index3 thread, block, block_dim, grid_dim;
    unsigned linear;
};

static void record(seen *all, bool wait) {
    const index3 b = block_index(), g = grid_dim(), t = thread_index(), d = block_dim();
    const unsigned block = (b.z * g.y + b.y) * g.x + b.x;
    const unsigned thread = (t.z * d.y + t.y) * d.x + t.x;
    if (wait) SYNC();
    // Read again: the indices of a resumed thread are its own.
    all[block * (d.x * d.y * d.z) + thread] = {thread_index(), block_index(), block_dim(), grid_dim(), linear_thread()};
}

static void check_indices(dim3 grid, dim3 block, bool wait) {
    const unsigned threads = block.x * block.y * block.z;
    buffer<seen> all(std::size_t{grid.x} * grid.y * grid.z * threads);
    run(record, grid, block, 0, all, wait);
    for (unsigned i = 0; i < all.size(); ++i) {
        const unsigned t = i % threads, b = i / threads;
        const seen &one = all[i];
        CHECK(one.linear == t);
        CHECK(one.thread.x == t % block.x && one.thread.y == t / block.x % block.y &&
              one.thread.z == t / block.x / block.y);
        CHECK(one.block.x == b % grid.x && one.block.y == b / grid.x % grid.y && one.block.z == b / grid.x / grid.y);
        CHECK(one.block_dim.x == block.x && one.block_dim.y == block.y && one.block_dim.z == block.z);
        CHECK(one.grid_dim.x == grid.x && one.grid_dim.y == grid.y && one.grid_dim.z == grid.z);
    }
}

struct inner {
    short a;
    double b;
};
struct nested {
    inner parts[3];
    char text[7];
    const int *pointer;
};
template <typename T>
struct add {
    T amount;
    T operator()(T value) const { return value + amount; }
};

static void take_all(int *ok, nested by_value, const nested &, char letter, bool flag, long long wide, float real,
                     void (*function)(int *)) {
    if (thread_index().x != 3) return;
    *ok = by_value.parts[2].a == 5 && by_value.parts[1].b == 2.5 && std::strcmp(by_value.text, "nested") == 0 &&
          *by_value.pointer == 9 && letter == 'x' && flag && wide == -7 && real == 0.25f;
    function(ok + 1);
}
template <typename T, int N, typename Functor>
static void apply(T *values, Functor functor) {
    values[thread_index().x] = functor(static_cast<T>(N));
}
static void set_to_four(int *value) { *value = 4; }

// Arguments are evaluated once a launch, not once a thread.
static int evaluations = 0;
static int counted(int value) {
    ++evaluations;
    return value;
}
static void use(int *sum, int value) { __atomic_fetch_add(sum, value, __ATOMIC_RELAXED); }

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"extents",
                          [] {
                              for (bool wait : {false, true}) {
                                  check_indices(dim3(1), dim3(1), wait);
                                  check_indices(dim3(5), dim3(33), wait);
                                  check_indices(dim3(3, 2, 4), dim3(8, 4, 2), wait);
                                  check_indices(dim3(1, 7), dim3(1, 1, 64), wait);
                                  check_indices(dim3(2), dim3(1, 1024), wait);
                                  check_indices(dim3(70, 1, 3), dim3(5, 7, 3), wait);
                                  check_indices(dim3(2, 2), dim3(32, 32), wait);
                              }
                          }},
                         {"arguments",
                          [] {
                              buffer<int> ok(2, 0);
                              buffer<int> nine(1, 9);
                              const nested by_value = {{{1, 1.5}, {3, 2.5}, {5, 3.5}}, "nested", nine};
                              run(take_all, dim3(1), dim3(8), 0, ok, by_value, by_value, 'x', true, -7, 0.25,
                                  set_to_four);
                              CHECK(ok[0] == 1 && ok[1] == 4);
                              buffer<double> values(4);
                              run(apply<double, 3, add<double>>, dim3(1), dim3(4), 0, values, add<double>{0.5});
                              for (int i = 0; i < 4; ++i) CHECK(values[i] == 3.5);
                          }},
                         {"evaluated_once",
                          [] {
                              buffer<int> sum(1, 0);
                              run(use, dim3(3), dim3(50), 0, sum, counted(2));
                              CHECK(evaluations == 1 && sum[0] == 300);
                          }},
                     });
}
