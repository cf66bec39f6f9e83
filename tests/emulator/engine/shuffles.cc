// Shuffles of every kind, width and type size, against the rule computed on the host.
#include "engine_test.h"

template <typename T>
static T value_of(unsigned lane) {
    T value;
    unsigned char bytes[sizeof(T)];
    for (unsigned i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(lane * 7 + i * 31 + 1);
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

// results: [kind][amount][thread]
template <typename T>
static void all_kinds(T *results, int width, int amounts) {
    const unsigned t = thread_index().x, n = block_dim().x;
    const T mine = value_of<T>(t);
    for (int amount = 0; amount < amounts; ++amount) {
        T *row = results + static_cast<unsigned>(amount) * n + t;
        const unsigned kind = static_cast<unsigned>(amounts) * n;
        row[0] = shfl(all_lanes, mine, amount, width, HERE);
        row[kind] = shfl_up(all_lanes, mine, static_cast<unsigned>(amount), width, HERE);
        row[2 * kind] = shfl_down(all_lanes, mine, static_cast<unsigned>(amount), width, HERE);
        row[3 * kind] = shfl_xor(all_lanes, mine, amount, width, HERE);
    }
}

// The thread whose value arrives, by the vendor's rule.
static unsigned source(int kind, unsigned thread, int amount, unsigned width) {
    const unsigned lane = thread % warp_size, warp = thread - lane, segment = lane / width * width;
    const auto delta = static_cast<unsigned>(amount);
    switch (kind) {
        case 0: return warp + segment + delta % width;
        case 1: return lane - segment < delta ? thread : thread - delta;
        case 2: return lane - segment + delta >= width ? thread : thread + delta;
        default: return (lane ^ delta) >= segment + width ? thread : warp + (lane ^ delta);
    }
}

template <typename T>
static void check_type() {
    const unsigned threads = 2 * warp_size;
    const int amounts = warp_size;
    for (int width = 1; width <= warp_size; width *= 2) {
        buffer<T> results(4 * amounts * threads);
        run(all_kinds<T>, dim3(1), dim3(threads), 0, static_cast<T *>(results), width, amounts);
        for (int kind = 0; kind < 4; ++kind) {
            for (int amount = 0; amount < amounts; ++amount) {
                for (unsigned thread = 0; thread < threads; ++thread) {
                    const T wanted = value_of<T>(source(kind, thread, amount, static_cast<unsigned>(width)));
                    const T got = results[(static_cast<unsigned>(kind * amounts + amount)) * threads + thread];
                    CHECK(std::memcmp(&wanted, &got, sizeof(T)) == 0);
                }
            }
        }
    }
}

struct three_floats {
    float x, y, z;
};
struct four_floats {
    float x, y, z, w;
};
struct odd_bytes {
    unsigned char bytes[5];
};

// Lanes that exited, lanes outside the mask and lanes that were never there give poison.
static void absent(float *output) {
    const unsigned t = thread_index().x;
    if (t % 8 == 5) return;
    output[t] = shfl(all_lanes, static_cast<float>(t), static_cast<int>(t ^ 1), warp_size, HERE);
}

static void outside_mask(int *output) {
    const unsigned t = thread_index().x;
    if (t < 4) output[t] = shfl(0xF, static_cast<int>(t), 6, warp_size, HERE);
}

// A butterfly sum and a scan, the usual uses.
static void sums(const int *input, int *total, int *scan) {
    const unsigned t = thread_index().x;
    int sum = input[t];
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) sum += shfl_xor(all_lanes, sum, lanes, warp_size, HERE);
    total[t] = sum;
    int prefix = input[t];
    for (unsigned delta = 1; delta < static_cast<unsigned>(warp_size); delta *= 2) {
        const int lower = shfl_up(all_lanes, prefix, delta, warp_size, HERE);
        if (t % warp_size >= delta) prefix += lower;
    }
    scan[t] = prefix;
}

int main(int argc, char **argv) {
    return run_parts(argc, argv,
                     {
                         {"types",
                          [] {
                              check_type<signed char>();
                              check_type<unsigned short>();
                              check_type<int>();
                              check_type<float>();
                              check_type<odd_bytes>();
                              check_type<double>();
                              check_type<unsigned long long>();
                              check_type<three_floats>();
                              check_type<four_floats>();
                          }},
                         {"absent",
                          [] {
                              buffer<float> output(17, 0.0f);
                              run(absent, dim3(1), dim3(17), 0, output);
                              for (unsigned t = 0; t < 17; ++t) {
                                  const unsigned from = t ^ 1;
                                  if (t % 8 == 5) {
                                      CHECK(output[t] == 0);
                                  } else if (from % 8 == 5 || from >= 17) {
                                      CHECK(output[t] != output[t]);  // NaN
                                  } else {
                                      CHECK(output[t] == static_cast<float>(from));
                                  }
                              }
                              buffer<int> masked(4, 0);
                              run(outside_mask, dim3(1), dim3(warp_size), 0, masked);
                              for (unsigned t = 0; t < 4; ++t) CHECK(masked[t] == -1);
                          }},
                         {"sums",
                          [] {
                              const unsigned threads = 4 * warp_size;
                              buffer<int> input(threads), total(threads), scan(threads);
                              for (unsigned t = 0; t < threads; ++t) input[t] = static_cast<int>(t * t % 91);
                              run(sums, dim3(1), dim3(threads), 0, input, total, scan);
                              int sum = 0;
                              for (unsigned t = 0; t < threads; ++t) {
                                  if (t % warp_size == 0) sum = 0;
                                  sum += input[t];
                                  CHECK(scan[t] == sum);
                                  if (t % warp_size == warp_size - 1) {
                                      for (unsigned lane = 0; lane < static_cast<unsigned>(warp_size); ++lane)
                                          CHECK(total[t - lane] == sum);
                                  }
                              }
                          }},
                     });
}
