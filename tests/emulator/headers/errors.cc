// Errors: limits of a launch, the last error of a thread, names and texts, and a kernel's fault from its first sight to
// the reset.
#include <cstdlib>
#include <string>
#include <thread>

#include "device.h"

__global__ void nothing(int) {}
__global__ void fill(float *values) { values[threadIdx.x] = 1; }
__global__ void fill_shared(float *out) {
    __shared__ float values[1024];
    float *const more = static_cast<float *>(oprt_emulator_dynamic_shared());
    values[threadIdx.x] = more[threadIdx.x] = 2;
    __syncthreads();  // and another thread's element, so that the array cannot be optimised away
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x] + more[threadIdx.x];
}
__global__ void write_far(float *values) { values[100000] = 1; }
__global__ void failed_assert(int x) { assert(x == 3 && "three"); }
__global__ void trap(int x) {
    if (x == 1) __trap();
}
__global__ void chatter(int x) { printf("kernel says %d from %u\n", x, threadIdx.x); }

bool contains(const char *text, const char *part) { return std::strstr(text, part) != nullptr; }

void check_launch_limits() {
    FAILS(ErrorInvalidConfiguration, start(nothing, 1, 1025, 0, nullptr, 1));
    CHECK(contains(API(GetErrorString)(API(ErrorInvalidConfiguration)), "block (1025, 1, 1)"));
    FAILS(ErrorInvalidConfiguration, start(nothing, 1, dim3(32, 33), 0, nullptr, 1));
    FAILS(ErrorInvalidConfiguration, start(nothing, 1, dim3(65536, 65536, 1), 0, nullptr, 1));
    FAILS(ErrorInvalidConfiguration, start(nothing, 1, dim3(1, 1, 65), 0, nullptr, 1));
    FAILS(ErrorInvalidConfiguration, start(nothing, 1, 0, 0, nullptr, 1));
    FAILS(ErrorInvalidConfiguration, start(nothing, 0, 1, 0, nullptr, 1));
    FAILS(ErrorInvalidConfiguration, start(nothing, dim3(1, 65536), 1, 0, nullptr, 1));
    FAILS(ErrorInvalidConfiguration, start(nothing, dim3(0x80000000u), 1, 0, nullptr, 1));
    SUCCEEDS(start(nothing, dim3(1, 1, 65535), 1, 0, nullptr, 1));
    SUCCEEDS(start(nothing, 1, 1024, 0, nullptr, 1));
    CHECK(API(PeekAtLastError)() == API(ErrorInvalidConfiguration));  // successes do not clear it
    CHECK(API(GetLastError)() == API(ErrorInvalidConfiguration) && API(GetLastError)() == API(Success));
}

void check_shared_memory_limits() {
    constexpr int always = lanes == 32 ? 49152 : 65536, most = lanes == 32 ? 232448 : 65536;
    float *const out = on_device(std::vector<float>(1024));
    SUCCEEDS(start(fill_shared, 1, 1024, 4096, nullptr, out));
    CHECK(on_host(out, 1024)[1023] == 4);
    API(FuncAttributes) attributes{};
    SUCCEEDS(API(FuncGetAttributes)(&attributes, fill_shared));
    CHECK_EQUAL(attributes.sharedSizeBytes, 4096u);
    CHECK_EQUAL(attributes.maxDynamicSharedSizeBytes, always - 4096);
    SUCCEEDS(start(fill_shared, 1, 1024, always - 4096, nullptr, out));
    FAILS(ErrorInvalidValue, start(fill_shared, 1, 1024, always - 4092, nullptr, out));
    SUCCEEDS(API(FuncSetAttribute)(fill_shared, API(FuncAttributeMaxDynamicSharedMemorySize), most - 4096));
    SUCCEEDS(start(fill_shared, 1, 1024, most - 4096, nullptr, out));
    FAILS(ErrorInvalidValue, start(fill_shared, 1, 1024, most - 4092, nullptr, out));
    FAILS(ErrorInvalidValue,
          API(FuncSetAttribute)(fill_shared, API(FuncAttributeMaxDynamicSharedMemorySize), most - 4092));
    FAILS(ErrorInvalidValue, API(FuncSetAttribute)(fill_shared, API(FuncAttributeMaxDynamicSharedMemorySize), -1));
    int blocks = 0, threads = 0;
    SUCCEEDS(API(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, nothing, 256, 0));
    CHECK_EQUAL(blocks, 8);
    SUCCEEDS(API(OccupancyMaxPotentialBlockSize)(&blocks, &threads, nothing, 0, 512));
    CHECK(threads == 512 && blocks >= 4);
    static_cast<void>(API(GetLastError)());
}

void check_launches_by_pointers() {
    float *values = on_device(std::vector<float>(8));
    void *arguments[] = {&values};
    SUCCEEDS(API(LaunchKernel)(fill, 1, 8, arguments, 0, nullptr));
    CHECK(on_host(values, 8) == std::vector<float>(8, 1));
#if OPRT_EMULATOR_WARP_SIZE == 32
    SUCCEEDS(cudaMemset(values, 0, 32));
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(8);
    SUCCEEDS(cudaLaunchKernelEx(&config, fill, values));
    CHECK(on_host(values, 8) == std::vector<float>(8, 1));
    SUCCEEDS(cudaLaunchKernelExC(&config, fill, arguments));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    FAILS(ErrorNotSupported, cudaLaunchKernelEx(&config, fill, values));
#endif
    FAILS(ErrorNotSupported, API(LaunchCooperativeKernel)(fill, dim3(1), dim3(8), arguments));
    static_cast<void>(API(GetLastError)());
}

void check_device() {
    int count = 0, device = 9;
    SUCCEEDS(API(GetDeviceCount)(&count));
    SUCCEEDS(API(GetDevice)(&device));
    CHECK(count == 1 && device == 0);
    SUCCEEDS(API(SetDevice)(0));
    FAILS(ErrorInvalidDevice, API(SetDevice)(1));
#if OPRT_EMULATOR_WARP_SIZE == 64
    mcDeviceProp_t properties{};
    int attribute = 0;
    SUCCEEDS(mcDeviceGetAttribute(&attribute, mcDeviceAttributeWaveSize, 0));
    SUCCEEDS(mcInit(0));
    char name[16];
    SUCCEEDS(mcDeviceGetName(name, sizeof name, 0));
    CHECK(std::strcmp(name, "emulated MetaX ") == 0);
#else
    cudaDeviceProp properties{};
    int attribute = 0;
    SUCCEEDS(cudaDeviceGetAttribute(&attribute, cudaDevAttrWarpSize, 0));
#endif
    CHECK_EQUAL(attribute, lanes);
    SUCCEEDS(API(GetDeviceProperties)(&properties, 0));
    FAILS(ErrorInvalidDevice, API(GetDeviceProperties)(&properties, 1));
    CHECK(contains(properties.name, "emulated") && contains(properties.name, "not a") &&
          contains(properties.name, "device"));
    CHECK(properties.warpSize == lanes && properties.maxThreadsPerBlock == 1024 && properties.multiProcessorCount > 16);
    static_cast<void>(API(GetLastError)());
}

void check_names() {
    CHECK(std::strcmp(API(GetErrorName)(API(Success)), PREFIX "Success") == 0);
    CHECK(std::strcmp(API(GetErrorName)(API(ErrorMemoryAllocation)), PREFIX "ErrorMemoryAllocation") == 0);
    CHECK(std::strcmp(API(GetErrorString)(API(Success)), "no error") == 0);
    CHECK(contains(API(GetErrorName)(static_cast<API(Error_t)>(12345)), "unrecognized"));
    CHECK(contains(API(GetErrorString)(static_cast<API(Error_t)>(12345)), "unrecognized"));
}

// The last error belongs to a thread.
void check_threads() {
    FAILS(ErrorInvalidDevice, API(SetDevice)(1));
    std::thread([] { CHECK(API(GetLastError)() == API(Success)); }).join();
    CHECK(API(GetLastError)() == API(ErrorInvalidDevice));
}

// The launch itself succeeds and later launches are dropped; the first call that waits reports, then every call does.
void check_fault(API(Error) error, const char *words) {
    float *const values = on_device(std::vector<float>(8, 0));
    API(Stream_t) stream;
    SUCCEEDS(API(StreamCreateWithFlags)(&stream, API(StreamNonBlocking)));
    if (error == API(ErrorIllegalAddress)) SUCCEEDS(start(write_far, 1, 1, 0, stream, values));
    if (error == API(ErrorAssert)) SUCCEEDS(start(failed_assert, 1, 1, 0, stream, 4));
    if (error == API(ErrorLaunchFailure)) SUCCEEDS(start(trap, 1, 1, 0, stream, 1));
    const int second = start(fill, 1, 8, 0, stream, values);
    CHECK(second == 0);
    CHECK(API(GetLastError)() == API(Success));
    check_code(API(StreamSynchronize)(stream), error, "StreamSynchronize", __FILE__, __LINE__);
    const std::string text = API(GetErrorString)(static_cast<API(Error_t)>(error));
    CHECK(contains(text.c_str(), words) && contains(text.c_str(), "was stopped") &&
          contains(text.c_str(), "errors.cc"));
    CHECK(API(GetLastError)() == error && API(GetLastError)() == API(Success));  // taken like any other
    void *pointer = nullptr;
    CHECK(API(Malloc)(&pointer, 8) == error && API(DeviceSynchronize)() == error);
    CHECK(start(fill, 1, 8, 0, stream, values) == error && API(StreamQuery)(stream) == error);
    SUCCEEDS(API(SetDevice)(0));
    SUCCEEDS(API(DeviceReset)());
    CHECK(API(GetLastError)() == API(Success));
    CHECK(!contains(API(GetErrorString)(static_cast<API(Error_t)>(error)), "was stopped"));
    CHECK(on_host(values, 8) == std::vector<float>(8, 0));  // memory and streams live on, the second kernel was dropped
    SUCCEEDS(start(fill, 1, 8, 0, stream, values));
    SUCCEEDS(API(StreamSynchronize)(stream));
    CHECK(on_host(values, 8) == std::vector<float>(8, 1));
    SUCCEEDS(API(StreamDestroy)(stream));
    SUCCEEDS(API(Free)(values));
}

size_t free_bytes() {
    size_t left = 0, total = 0;
    SUCCEEDS(API(MemGetInfo)(&left, &total));
    return left;
}

// What was there before a fault can be given back after it, so that owners can clean up.
void check_release_after_fault() {
    const size_t before = free_bytes();
    float *const values = on_device(std::vector<float>(5000, 0));
    void *pinned = nullptr, *queued = nullptr;
    SUCCEEDS(API(MallocHost)(&pinned, 64));
    SUCCEEDS(API(MallocAsync)(&queued, 64, nullptr));
    CHECK(free_bytes() < before);
    SUCCEEDS(start(trap, 1, 1, 0, nullptr, 1));
    FAILS(ErrorLaunchFailure, API(DeviceSynchronize)());
    SUCCEEDS(API(Free)(nullptr));
    SUCCEEDS(API(Free)(values));
    SUCCEEDS(API(FreeHost)(pinned));
    SUCCEEDS(API(FreeAsync)(queued, nullptr));
    FAILS(ErrorLaunchFailure, API(DeviceSynchronize)());
    SUCCEEDS(API(DeviceReset)());
    CHECK_EQUAL(free_bytes(), before);
}

// Damage that shows only when the memory is given back is reported by that call; the memory is gone all the same, and
// giving it back again is no further error.
void check_release_of_damaged_memory() {
    const size_t before = free_bytes();
    char *const values = on_device(std::vector<char>(100, 0));
    char *const others = on_device(std::vector<char>(100, 0));
    values[100] = others[100] = 1;
    FAILS(ErrorIllegalAddress, API(Free)(values));
    CHECK(contains(API(GetErrorString)(API(ErrorIllegalAddress)), "was overwritten"));
    SUCCEEDS(API(Free)(values));
    SUCCEEDS(API(Free)(others));
    SUCCEEDS(API(DeviceReset)());
    CHECK_EQUAL(free_bytes(), before);
    FAILS(ErrorInvalidValue, API(Free)(values));
    static_cast<void>(API(GetLastError)());
}

int main(int argc, char **argv) {
    const bool host_may_touch_device_memory = argc < 2 || std::strcmp(argv[1], "1") != 0;
    check_device();
    check_names();
    check_threads();
    check_launch_limits();
    check_shared_memory_limits();
    check_launches_by_pointers();
    check_fault(API(ErrorIllegalAddress), "illegal");
    check_fault(API(ErrorAssert), "three");
    check_fault(API(ErrorLaunchFailure), "trap");
    check_release_after_fault();
    if (host_may_touch_device_memory) check_release_of_damaged_memory();
    SUCCEEDS(start(chatter, 1, 2, 0, nullptr, 42));
    SUCCEEDS(API(DeviceSynchronize)());
    return finish();
}
