// Launches as launchers make them (backends/launch.h), with the state that a module keeps for them replaced by this
// program's own: overlapped ones, and what a launcher asks of the device.
#include <oprt_device.h>

#include <cstdio>
#include <cstdlib>

namespace {

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            std::printf("line %d: %s does not hold\n", __LINE__, #condition); \
            std::exit(1);                                                     \
        }                                                                     \
    } while (false)

struct {
    int failures = 0;
    int code = 0;
    char text[256] = "";
    bool overlap = false;
} state;

constexpr int count = 1000;

__global__ void add_one(oprt::previous_kernels previous, float *values, int64_t elements) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    oprt::wait_for_previous_kernels(previous);
    if (i < elements) values[i] += 1;
    oprt::let_next_kernel_start();
}

__global__ void add_two(float *values, int64_t elements) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < elements) values[i] += 2;
}

__global__ void fill_through_shared(float *values, int64_t elements) {
    OPRT_DYNAMIC_SHARED(float, tile);
    tile[threadIdx.x] = 5;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < elements; i += blockDim.x) values[i] = tile[blockDim.x - 1 - threadIdx.x];
}

class device_values {
public:
    device_values() {
        CHECK(OPRT_VENDOR(Malloc)(reinterpret_cast<void **>(&pointer), count * sizeof(float)) == OPRT_VENDOR(Success));
        CHECK(OPRT_VENDOR(Memset)(pointer, 0, count * sizeof(float)) == OPRT_VENDOR(Success));
    }
    ~device_values() { OPRT_VENDOR(Free)(pointer); }

    bool all(float wanted) const {
        static float values[count];
        CHECK(OPRT_VENDOR(Memcpy)(values, pointer, sizeof values, OPRT_VENDOR(MemcpyDeviceToHost)) ==
              OPRT_VENDOR(Success));
        for (const float value : values) {
            if (value != wanted) return false;
        }
        return true;
    }

    float *pointer = nullptr;
};

void overlapped_launches_keep_their_order() {
    const oprt::launch_config config{dim3(8), dim3(128), 0, nullptr};
    for (const bool overlap : {false, true}) {
        state.overlap = overlap;
        device_values values;
        for (int i = 0; i < 3; ++i) oprt::launch_overlapping(add_one, config, values.pointer, count);
        oprt::launch(add_two, config, values.pointer, count);
        oprt::launch_overlapping(add_one, config, values.pointer, count);
        CHECK(state.failures == 0);
        CHECK(values.all(6));
    }
}

void shared_memory_is_allowed_up_to_the_limit() {
    oprt::vendor::device_properties properties;
    CHECK(OPRT_VENDOR(GetDeviceProperties)(&properties, 0) == OPRT_VENDOR(Success));
    const auto most_bytes = static_cast<size_t>(oprt::vendor::shared_memory_per_block_bytes(properties));
    oprt::launch_config config{dim3(1), dim3(128), 0, nullptr};
    for (const size_t shared_bytes : {most_bytes, size_t{1024}, most_bytes}) {
        device_values values;
        config.shared_bytes = shared_bytes;
        oprt::launch(fill_through_shared, config, values.pointer, count);
        CHECK(state.failures == 0);
        CHECK(values.all(5));
    }
    device_values values;
    config.shared_bytes = most_bytes + 1;
    oprt::launch(fill_through_shared, config, values.pointer, count);
    CHECK(state.failures == 1);
    state.failures = 0;
}

void limits_are_those_of_the_device() {
    oprt::vendor::device_properties properties;
    CHECK(OPRT_VENDOR(GetDeviceProperties)(&properties, 0) == OPRT_VENDOR(Success));
    for (int i = 0; i < 2; ++i) {
        CHECK(oprt::multiprocessor_count() == properties.multiProcessorCount);
        CHECK(oprt::compute_capability_major() == properties.major);
        CHECK(OPRT_HAS_CLUSTER == 0);
    }
    CHECK(state.failures == 0);
}

}  // namespace

namespace oprt {

void record_launch_error(const char *, int code, const char *, const char *text) {
    ++state.failures;
    state.code = code;
    std::snprintf(state.text, sizeof state.text, "%s", text);
}

bool is_overlap_wanted() { return state.overlap; }

}  // namespace oprt

int main() {
    overlapped_launches_keep_their_order();
    shared_memory_is_allowed_up_to_the_limit();
    limits_are_those_of_the_device();
    std::puts("passed");
}
