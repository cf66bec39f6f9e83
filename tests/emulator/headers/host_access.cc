// Wrong uses of device memory by host code, which the asynchronous mode stops; the argument chooses.
#include <cstdlib>

#include "device.h"

__global__ void fill(int *values) { values[threadIdx.x] = 1; }

int main(int, char **arguments) {
    const int part = std::atoi(arguments[1]);
    int *const values = on_device(std::vector<int>(16, 1));
    SUCCEEDS(start(fill, 1, 16, 0, nullptr, values));
    if (part != 2) SUCCEEDS(API(DeviceSynchronize)());
    if (part == 0) CHECK(values[3] == 1);                           // a load instead of a copy
    if (part == 1) CHECK(std::memcmp(values, values + 1, 4) == 0);  // the C library does it
    if (part == 2) values[3] = 5;                                   // while work may be pending
    return finish();
}
