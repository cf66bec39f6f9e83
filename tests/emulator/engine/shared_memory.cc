// Static shared arrays (2-D, of templates, of classes, in device functions and lambdas) and dynamic shared memory:
// their contents, their poison at the start of each block, their size.
#include "engine_test.h"

// A class with constructors, as half is.
struct half_like {
    half_like() = default;
    half_like(float value) : bits(static_cast<unsigned short>(value)) {}
    operator float() const { return bits; }
    unsigned short bits;
};

template <typename T, int Rows, int Columns>
static void transpose(const T *input, T *output) {
    __shared__ T tile[Rows][Columns + 1];
    const index3 t = thread_index();
    tile[t.y][t.x] = input[(block_index().x * Rows + t.y) * Columns + t.x];
    SYNC();
    output[(block_index().x * Columns + t.x) * Rows + t.y] = tile[t.y][t.x];
}

template <typename T>
static void check_transpose() {
    buffer<T> input(5 * 16 * 32), output(5 * 16 * 32);
    for (unsigned i = 0; i < input.size(); ++i) input[i] = static_cast<T>(static_cast<float>(i % 1000));
    run(transpose<T, 16, 32>, dim3(5), dim3(32, 16), 0, static_cast<const T *>(input), output);
    for (unsigned i = 0; i < input.size(); ++i) {
        const unsigned block = i / 512, row = i % 512 / 32, column = i % 32;
        CHECK(static_cast<float>(output[block * 512 + column * 16 + row]) == static_cast<float>(input[i]));
    }
}

static bool is_poison(const void *bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        if (static_cast<const unsigned char *>(bytes)[i] != 0xFF) return false;
    }
    return true;
}

// Every block finds poison, whatever the block before left there.
static void static_poison(int *wrong) {
    __shared__ float values[100];
    static __shared__ int more[3][5];
    auto inside = [] {
        __shared__ double deep[7];
        return &deep;
    };
    if (!is_poison(values, sizeof values) || !is_poison(more, sizeof more) || !is_poison(inside(), 56))
        __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    SYNC();
    values[thread_index().x % 100] = 1;
    more[0][0] = more[2][4] = 3;
    (*inside())[3] = 2;
}

static __attribute__((noinline)) float block_sum(float value) {
    __shared__ float partial[1024];
    const unsigned t = thread_index().x;
    partial[t] = value;
    SYNC();
    float sum = 0;
    for (unsigned i = 0; i < block_dim().x; ++i) sum += partial[i];
    SYNC();
    return sum;
}

static void uses_device_function(float *output) {
    const float sum = block_sum(static_cast<float>(thread_index().x));
    if (thread_index().x == 0) output[block_index().x] = sum;
}

// Reads the array of the device function before anybody wrote it in this block.
static float *array_of_device_function = nullptr;
static __attribute__((noinline)) float *device_array() {
    __shared__ float values[64];
    return values;
}
static void leaves_device_array_dirty(int *wrong) {
    float *values = device_array();
    if (!is_poison(values, 256)) __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    SYNC();
    values[thread_index().x] = 5;
    array_of_device_function = values;
}

static void dynamic(int *wrong, std::size_t bytes) {
    auto *memory = static_cast<unsigned char *>(dynamic_shared());
    if (reinterpret_cast<std::uintptr_t>(memory) % 128 != 0 || !is_poison(memory, bytes))
        __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    SYNC();
    for (std::size_t i = thread_index().x; i < bytes; i += block_dim().x) memory[i] = static_cast<unsigned char>(i);
    SYNC();
    for (std::size_t i = 0; i < bytes; ++i) {
        if (memory[i] != static_cast<unsigned char>(i)) __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    }
}

int main(int argc, char **argv) {
    return run_parts(
        argc, argv,
        {
            {"transpose",
             [] {
                 check_transpose<float>();
                 check_transpose<double>();
                 check_transpose<half_like>();
                 check_transpose<unsigned short>();
             }},
            {"static_poison",
             [] {
                 buffer<int> wrong(1, 0);
                 for (int i = 0; i < 3; ++i) run(static_poison, dim3(20), dim3(64), 0, wrong);
                 CHECK(wrong[0] == 0);
                 CHECK(static_shared_bytes(reinterpret_cast<const void *>(&static_poison)) == 400 + 60 + 56);
             }},
            {"device_function",
             [] {
                 buffer<float> output(4);
                 run(uses_device_function, dim3(4), dim3(100), 0, output);
                 for (int i = 0; i < 4; ++i) CHECK(output[i] == 4950);
                 CHECK(static_shared_bytes(reinterpret_cast<const void *>(&uses_device_function)) == 4096);
                 buffer<int> wrong(1, 0);
                 for (int i = 0; i < 3; ++i) run(leaves_device_array_dirty, dim3(6), dim3(64), 0, wrong);
                 CHECK(wrong[0] == 0);
                 CHECK(array_of_device_function != nullptr);
             }},
            {"dynamic",
             [] {
                 buffer<int> wrong(1, 0);
                 for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{128},
                                           std::size_t{49152}, std::size_t{232448}}) {
                     run(dynamic, dim3(3), dim3(64), bytes, wrong, bytes);
                     CHECK(wrong[0] == 0);
                 }
             }},
            {"limit",
             [] {
                 buffer<int> wrong(1, 0);
                 shared_limit_bytes = 49152;
                 run(dynamic, dim3(1), dim3(1), 49152, wrong, std::size_t{49152});
                 CHECK(run_broken(dynamic, dim3(1), dim3(1), 49153, wrong, std::size_t{0}) ==
                       fault_code::invalid_configuration);
                 CHECK(last_report().find(
                           "49153 bytes of shared memory (0 static, 49153 dynamic); a block may have 49152") !=
                       std::string::npos);
                 CHECK(run_broken(static_poison, dim3(1), dim3(1), 49152, wrong) == fault_code::invalid_configuration);
                 CHECK(last_report().find("516 static") != std::string::npos);
             }},
        });
}
