// Memory functions: kinds of pointers, copies and fills with their refusals, pitches, symbols, host and managed memory.
#include <cstdint>

#include "device.h"

__device__ int device_variable = 3;
__constant__ float constants[4];

__global__ void use_symbols(float *out) { out[0] = constants[2] + static_cast<float>(device_variable); }
__global__ void double_all(float *values, int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) values[i] *= 2;
}

API(MemoryType) kind_of(const void *pointer) {
#if OPRT_EMULATOR_WARP_SIZE == 64
    mcPointerAttribute_t attributes{};
#else
    cudaPointerAttributes attributes{};
#endif
    SUCCEEDS(API(PointerGetAttributes)(&attributes, pointer));
    return attributes.type;
}

void check_allocation() {
    void *first = nullptr, *second = nullptr;
    SUCCEEDS(API(Malloc)(&first, 1000));
    SUCCEEDS(API(Malloc)(&second, 1));
    CHECK(reinterpret_cast<uintptr_t>(first) % 256 == 0 && reinterpret_cast<uintptr_t>(second) % 256 == 0);
    CHECK(on_host(static_cast<unsigned char *>(first), 1000) == std::vector<unsigned char>(1000, 0xFF));
    void *none = first;
    SUCCEEDS(API(Malloc)(&none, 0));
    CHECK(none == nullptr);
    FAILS(ErrorInvalidValue, API(Malloc)(static_cast<void **>(nullptr), 4));
    FAILS(ErrorMemoryAllocation, API(Malloc)(&none, size_t(1) << 60));
    CHECK(none == nullptr);
    size_t free_bytes = 0, total_bytes = 0;
    SUCCEEDS(API(MemGetInfo)(&free_bytes, &total_bytes));
    CHECK(free_bytes < total_bytes && free_bytes > 0);
    SUCCEEDS(API(Free)(nullptr));
    FAILS(ErrorInvalidValue, API(Free)(static_cast<char *>(first) + 256));
    SUCCEEDS(API(Free)(first));
    FAILS(ErrorInvalidValue, API(Free)(first));
    int local = 0;
    FAILS(ErrorInvalidValue, API(Free)(&local));
    SUCCEEDS(API(Free)(second));
}

void check_kinds() {
    void *device = nullptr, *host = nullptr, *managed = nullptr;
    SUCCEEDS(API(Malloc)(&device, 100));
    SUCCEEDS(API(MallocHost)(&host, 100));
    SUCCEEDS(API(MallocManaged)(&managed, 100));
    std::vector<int> plain(10);
    CHECK(kind_of(device) == API(MemoryTypeDevice) &&
          kind_of(static_cast<char *>(device) + 99) == API(MemoryTypeDevice));
    CHECK(kind_of(host) == API(MemoryTypeHost) && kind_of(managed) == API(MemoryTypeManaged));
    CHECK(kind_of(plain.data()) == API(MemoryTypeUnregistered) && kind_of(nullptr) == API(MemoryTypeUnregistered));
    SUCCEEDS(API(HostRegister)(plain.data(), 40, 0));
    CHECK(kind_of(&plain[9]) == API(MemoryTypeHost));
    FAILS(ErrorHostMemoryAlreadyRegistered, API(HostRegister)(plain.data(), 40, 0));
    SUCCEEDS(API(HostUnregister)(plain.data()));
    FAILS(ErrorHostMemoryNotRegistered, API(HostUnregister)(plain.data()));
    void *mapped = nullptr;
    SUCCEEDS(API(HostGetDevicePointer)(&mapped, host, 0));
    CHECK(mapped == host);
    FAILS(ErrorInvalidValue, API(Free)(host));
    FAILS(ErrorInvalidValue, API(FreeHost)(plain.data()));
    SUCCEEDS(API(FreeHost)(host));
    SUCCEEDS(API(Free)(managed));
    SUCCEEDS(API(Free)(device));
    FAILS(ErrorInvalidValue, API(Memset)(device, 0, 1));
}

void check_copies() {
    std::vector<int> host(100), back(100);
    for (int i = 0; i < 100; ++i) host[size_t(i)] = i;
    int *const device = on_device(host), *const other = on_device(back);
    SUCCEEDS(API(Memcpy)(other, device, 400, API(MemcpyDeviceToDevice)));
    SUCCEEDS(API(Memcpy)(back.data(), other, 400, API(MemcpyDefault)));
    CHECK(back == host);
    SUCCEEDS(API(Memcpy)(device + 1, device, 396, API(MemcpyDefault)));  // overlapping: as memmove
    CHECK(on_host(device, 100)[99] == 98);
    SUCCEEDS(API(Memcpy)(back.data(), host.data(), 400, API(MemcpyHostToHost)));
    SUCCEEDS(API(Memcpy)(nullptr, nullptr, 0, API(MemcpyDefault)));
    FAILS(ErrorInvalidValue, API(Memcpy)(nullptr, device, 4, API(MemcpyDefault)));
    FAILS(ErrorInvalidValue, API(Memcpy)(device, host.data(), 401, API(MemcpyHostToDevice)));
    FAILS(ErrorInvalidValue, API(Memcpy)(back.data(), device + 99, 8, API(MemcpyDeviceToHost)));
    FAILS(ErrorInvalidValue, API(Memcpy)(back.data(), host.data(), 4, API(MemcpyDeviceToHost)));
    FAILS(ErrorInvalidValue, API(Memcpy)(back.data(), device, 4, API(MemcpyHostToDevice)));
    CHECK(std::strstr(API(GetErrorString)(API(ErrorInvalidValue)), "wants device memory as the destination") !=
          nullptr);
    FAILS(ErrorInvalidMemcpyDirection, API(Memcpy)(back.data(), device, 4, static_cast<API(MemcpyKind)>(9)));
    SUCCEEDS(API(Memset)(device, 0x101, 400));
    CHECK(on_host(device, 100) == std::vector<int>(100, 0x01010101));
    FAILS(ErrorInvalidValue, API(Memset)(device, 0, 401));
    FAILS(ErrorInvalidValue, API(Memset)(host.data(), 0, 4));
    SUCCEEDS(API(Memset)(nullptr, 0, 0));
    API(Free)(other);
    FAILS(ErrorInvalidValue, API(Memcpy)(back.data(), other, 4, API(MemcpyDefault)));
    CHECK(std::strstr(API(GetErrorString)(API(ErrorInvalidValue)), "released") != nullptr);
}

void check_rectangles() {
    char *device = nullptr;
    size_t pitch = 0;
    SUCCEEDS(API(MallocPitch)(&device, &pitch, 10, 4));
    CHECK(pitch >= 10 && pitch % 256 == 0);
    SUCCEEDS(API(Memset2D)(device, pitch, 'a', 10, 4));
    char host[4 * 12];
    std::memset(host, '.', sizeof host);
    SUCCEEDS(API(Memcpy2D)(host, 12, device, pitch, 10, 3, API(MemcpyDeviceToHost)));
    CHECK(std::memcmp(host, "aaaaaaaaaa..aaaaaaaaaa..aaaaaaaaaa..............", 48) == 0);
    FAILS(ErrorInvalidPitchValue, API(Memcpy2D)(host, 8, device, pitch, 10, 3, API(MemcpyDeviceToHost)));
    FAILS(ErrorInvalidValue, API(Memset2D)(device, pitch, 0, 10, 5));
}

void check_symbols() {
    const float values[4] = {1, 2, 30, 4};
    SUCCEEDS(API(MemcpyToSymbol)(constants, values, sizeof values));
    const int seven = 7;
    SUCCEEDS(API(MemcpyToSymbol)(device_variable, &seven, sizeof seven));
    float *const out = on_device(std::vector<float>{0});
    SUCCEEDS(start(use_symbols, 1, 1, 0, nullptr, out));
    CHECK(on_host(out, 1)[0] == 37);
    float last = 0;
    SUCCEEDS(API(MemcpyFromSymbol)(&last, constants, sizeof last, 3 * sizeof last));
    CHECK(last == 4);
    void *address = nullptr;
    SUCCEEDS(API(GetSymbolAddress)(&address, device_variable));
    CHECK(address == &device_variable && kind_of(address) == API(MemoryTypeDevice));
    size_t size = 0;
    SUCCEEDS(API(GetSymbolSize)(&size, constants));
    CHECK_EQUAL(size, sizeof constants);
}

void check_shared_between_host_and_device() {
    float *managed = nullptr;
    SUCCEEDS(API(MallocManaged)(&managed, 40));
    for (int i = 0; i < 10; ++i) managed[i] = static_cast<float>(i);
    SUCCEEDS(start(double_all, 1, 4, 0, nullptr, managed, 10));
    SUCCEEDS(API(DeviceSynchronize)());
    CHECK(managed[9] == 18);
    SUCCEEDS(API(Free)(managed));
}

int main() {
    check_allocation();
    check_kinds();
    check_copies();
    check_rectangles();
    check_symbols();
    check_shared_between_host_and_device();
    return finish();
}
