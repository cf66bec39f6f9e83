// execute takes no lock once a thread has seen its pointers and stream: the program's lock functions take the place of
// the C library's and count for the calling thread. What takes no lock cannot make two threads wait for each other.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "check.h"

namespace {

thread_local int64_t locks_taken = 0;

// The C library's function of that name.
template <typename Lock>
auto original(const char *name) {
    return reinterpret_cast<int (*)(Lock *)>(dlsym(RTLD_NEXT, name));
}

// Locks that this thread takes in `runs` executes of a descriptor of its own.
int64_t locks_of_executes(int runs) {
    const memory buffers(1024);
    oprt_stream_t stream = nullptr;
    OK(oprt_create_stream(&stream));
    const oprt_tensor_t t = tensor(OPRT_DTYPE_FLOAT32, {4});
    oprt_descriptor_t descriptor = nullptr;
    OK(oprt_create_copy_descriptor(&descriptor, &t, &t));
    const auto execute = [&] {
        return oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), stream);
    };
    OK(execute());
    const int64_t before = locks_taken;
    for (int i = 0; i < runs; ++i) OK(execute());
    const int64_t taken = locks_taken - before;
    OK(oprt_destroy_copy_descriptor(descriptor));
    OK(oprt_destroy_stream(stream));
    return taken;
}

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static const auto lock = original<pthread_mutex_t>("pthread_mutex_lock");
    ++locks_taken;
    return lock(mutex);
}

extern "C" int pthread_rwlock_rdlock(pthread_rwlock_t *mutex) {
    static const auto lock = original<pthread_rwlock_t>("pthread_rwlock_rdlock");
    ++locks_taken;
    return lock(mutex);
}

extern "C" int pthread_rwlock_wrlock(pthread_rwlock_t *mutex) {
    static const auto lock = original<pthread_rwlock_t>("pthread_rwlock_wrlock");
    ++locks_taken;
    return lock(mutex);
}

TEST(locks_are_counted) {
    const int64_t before = locks_taken;
    const memory taken(64);
    CHECK(locks_taken > before);
}

TEST(execute_takes_no_lock) { CHECK(locks_of_executes(1000) == 0); }

// Where memory comes and goes beside it, a thread looks its pointers up again: twice an execute at most, and the stream.
TEST(execute_takes_few_locks_beside_allocations) {
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) const memory brief(64);
    });
    const int64_t taken = locks_of_executes(1000);
    done = true;
    other.join();
    CHECK(taken <= 2000);
}
