// A process that used the emulator and then forks, as Python's multiprocessing does: child and parent both go on, also
// with streams that had workers and work.
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

__global__ void add(int *values, int amount) { values[threadIdx.x] += amount; }

int *values;
API(Stream_t) stream;

bool works(int wanted) {
    SUCCEEDS(start(add, 1, 64, 0, stream, values, 1));
    SUCCEEDS(API(StreamSynchronize)(stream));
    CHECK(on_host(values, 64) == std::vector<int>(64, wanted));
    API(Stream_t) another;
    SUCCEEDS(API(StreamCreate)(&another));
    SUCCEEDS(start(add, 4, 64, 0, another, values + 64, 1));
    SUCCEEDS(API(DeviceSynchronize)());
    SUCCEEDS(API(StreamDestroy)(another));
    return failures == 0;
}

int main() {
    values = on_device(std::vector<int>(128, 0));
    SUCCEEDS(API(StreamCreateWithFlags)(&stream, API(StreamNonBlocking)));
    works(1);
    const pid_t child = fork();
    if (child == 0) _exit(works(2) ? 0 : 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    works(2);
    return finish();
}
