// Streams and events, in both modes of the runtime: the order of work within and between streams, what is ready when,
// time, errors. The argument says how many milliseconds a slow piece of work takes: 0 where everything runs at once.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "device.h"

// Takes the place of the C library's while the machine has no threads left.
std::atomic<bool> no_threads_left{false};
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                                     const pthread_attr_t *attributes,
                                                                     void *(*start)(void *), void *argument) {
    static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return no_threads_left ? EAGAIN : next(thread, attributes, start, argument);
}

int slow_ms = 0;
std::atomic<bool> gate{false};

// Host work that holds a stream until the gate opens.
void wait_at_gate(void *) {
    while (slow_ms != 0 && !gate.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
void count_up(void *counter) { ++*static_cast<std::atomic<int> *>(counter); }

__global__ void append(int *list, int value) { list[++list[0]] = value; }
__global__ void copy_value(const int *from, int *to) { *to = *from; }

bool asynchronous() { return slow_ms != 0; }

void check_order_in_a_stream() {
    int *const list = on_device(std::vector<int>(200, 0));
    API(Stream_t) stream;
    SUCCEEDS(API(StreamCreate)(&stream));
    for (int i = 0; i < 100; ++i) SUCCEEDS(start(append, 1, 1, 0, stream, list, i));
    int last = -1;
    SUCCEEDS(API(MemcpyAsync)(&last, list + 100, sizeof last, API(MemcpyDeviceToHost), stream));
    SUCCEEDS(API(StreamSynchronize)(stream));
    SUCCEEDS(API(StreamQuery)(stream));
    const std::vector<int> got = on_host(list, 101);
    for (int i = 0; i < 100; ++i) CHECK_EQUAL(got[size_t(i) + 1], i);
    CHECK_EQUAL(last, 99);
    SUCCEEDS(API(StreamDestroy)(stream));
    FAILS(ErrorInvalidResourceHandle, API(StreamSynchronize)(stream));
    FAILS(ErrorInvalidResourceHandle, start(append, 1, 1, 0, stream, list, 0));
    API(Free)(list);
}

// A consumer waits by an event for a slow producer in another stream.
void check_event_between_streams() {
    int *const values = on_device(std::vector<int>{1, 2});
    API(Stream_t) producer, consumer;
    SUCCEEDS(API(StreamCreateWithFlags)(&producer, API(StreamNonBlocking)));
    SUCCEEDS(API(StreamCreateWithFlags)(&consumer, API(StreamNonBlocking)));
    API(Event_t) done;
    SUCCEEDS(API(EventCreateWithFlags)(&done, API(EventDisableTiming)));
    SUCCEEDS(API(EventQuery)(done));  // never recorded: nothing to wait for
    gate = false;
    SUCCEEDS(API(LaunchHostFunc)(producer, wait_at_gate, nullptr));
    const int seven = 7;
    SUCCEEDS(API(MemcpyAsync)(values, &seven, sizeof seven, API(MemcpyHostToDevice), producer));
    SUCCEEDS(API(EventRecord)(done, producer));
    SUCCEEDS(API(StreamWaitEvent)(consumer, done, 0));
    SUCCEEDS(start(copy_value, 1, 1, 0, consumer, values, values + 1));
    static_cast<void>(API(GetLastError)());
    if (asynchronous()) {
        FAILS(ErrorNotReady, API(EventQuery)(done));
        FAILS(ErrorNotReady, API(StreamQuery)(producer));
        FAILS(ErrorNotReady, API(StreamQuery)(consumer));
        CHECK(API(GetLastError)() == API(Success));  // not ready is no error
    }
    gate = true;
    SUCCEEDS(API(StreamSynchronize)(consumer));
    SUCCEEDS(API(EventQuery)(done));
    CHECK_EQUAL(on_host(values, 2)[1], 7);
    SUCCEEDS(API(EventDestroy)(done));
    FAILS(ErrorInvalidResourceHandle, API(EventQuery)(done));
    SUCCEEDS(API(StreamDestroy)(producer));
    SUCCEEDS(API(StreamDestroy)(consumer));
    API(Free)(values);
}

// The default stream waits for blocking streams and they wait for it; others run beside it.
void check_default_stream() {
    int *const values = on_device(std::vector<int>{1, 2, 3});
    API(Stream_t) blocking, beside;
    SUCCEEDS(API(StreamCreate)(&blocking));
    SUCCEEDS(API(StreamCreateWithFlags)(&beside, API(StreamNonBlocking)));
    std::atomic<int> counter{0};
    gate = false;
    SUCCEEDS(API(LaunchHostFunc)(blocking, wait_at_gate, nullptr));
    SUCCEEDS(start(copy_value, 1, 1, 0, nullptr, values, values + 1));
    SUCCEEDS(API(LaunchHostFunc)(blocking, count_up, &counter));
    SUCCEEDS(API(LaunchHostFunc)(beside, count_up, &counter));
    SUCCEEDS(API(StreamSynchronize)(beside));
    CHECK_EQUAL(counter.load(), asynchronous() ? 1 : 2);
    if (asynchronous()) FAILS(ErrorNotReady, API(StreamQuery)(nullptr));
    gate = true;
    SUCCEEDS(API(StreamSynchronize)(nullptr));
    SUCCEEDS(API(DeviceSynchronize)());
    CHECK_EQUAL(counter.load(), 2);
    CHECK_EQUAL(on_host(values, 2)[1], 1);
    SUCCEEDS(API(StreamDestroy)(blocking));
    SUCCEEDS(API(StreamDestroy)(beside));
}

void check_time() {
    API(Stream_t) stream;
    API(Event_t) start_event, stop_event, untimed;
    SUCCEEDS(API(StreamCreate)(&stream));
    SUCCEEDS(API(EventCreate)(&start_event));
    SUCCEEDS(API(EventCreate)(&stop_event));
    SUCCEEDS(API(EventCreateWithFlags)(&untimed, API(EventDisableTiming)));
    float time_ms = -1;
    FAILS(ErrorInvalidResourceHandle, API(EventElapsedTime)(&time_ms, start_event, stop_event));
    SUCCEEDS(API(EventRecord)(start_event, stream));
    SUCCEEDS(API(LaunchHostFunc)(
        stream, [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
    SUCCEEDS(API(EventRecord)(stop_event, stream));
    SUCCEEDS(API(EventRecord)(untimed, stream));
    if (asynchronous()) FAILS(ErrorNotReady, API(EventElapsedTime)(&time_ms, start_event, stop_event));
    SUCCEEDS(API(EventSynchronize)(stop_event));
    SUCCEEDS(API(EventElapsedTime)(&time_ms, start_event, stop_event));
    CHECK(time_ms >= 19 && time_ms < 5000);
    SUCCEEDS(API(StreamSynchronize)(stream));
    FAILS(ErrorInvalidResourceHandle, API(EventElapsedTime)(&time_ms, start_event, untimed));
    SUCCEEDS(API(StreamDestroy)(stream));
}

void check_memory_of_a_stream() {
    API(Stream_t) stream;
    SUCCEEDS(API(StreamCreateWithFlags)(&stream, API(StreamNonBlocking)));
    int *pointer = nullptr;
    SUCCEEDS(API(MallocAsync)(&pointer, 400, stream));
    SUCCEEDS(API(MemsetAsync)(pointer, 1, 400, stream));
    gate = false;
    SUCCEEDS(API(LaunchHostFunc)(stream, wait_at_gate, nullptr));
    int value = 0;
    SUCCEEDS(API(MemcpyAsync)(&value, pointer, 4, API(MemcpyDeviceToHost), stream));
    SUCCEEDS(API(FreeAsync)(pointer, stream));
    gate = true;
    SUCCEEDS(API(StreamSynchronize)(stream));
    CHECK_EQUAL(value, 0x01010101);
    FAILS(ErrorInvalidValue, API(FreeAsync)(pointer, stream));
    unsigned flags = 9;
    SUCCEEDS(API(StreamGetFlags)(stream, &flags));
    CHECK_EQUAL(flags, API(StreamNonBlocking));
    SUCCEEDS(API(StreamDestroy)(stream));
}

// Work of a destroyed stream still runs; many streams from many threads.
void check_many() {
    std::atomic<int> counter{0};
    std::vector<std::thread> hosts;
    for (int host = 0; host < 4; ++host) {
        hosts.emplace_back([&counter] {
            for (int i = 0; i < 10; ++i) {
                API(Stream_t) stream;
                int *const list = on_device(std::vector<int>(20, 0));
                SUCCEEDS(API(StreamCreateWithFlags)(&stream, API(StreamNonBlocking)));
                for (int k = 0; k < 10; ++k) SUCCEEDS(start(append, 1, 1, 0, stream, list, k));
                SUCCEEDS(API(StreamSynchronize)(stream));
                CHECK_EQUAL(on_host(list, 11)[10], 9);
                SUCCEEDS(API(LaunchHostFunc)(stream, count_up, &counter));
                SUCCEEDS(API(StreamDestroy)(stream));
                SUCCEEDS(API(Free)(list));
            }
        });
    }
    for (std::thread &host : hosts) host.join();
    SUCCEEDS(API(DeviceSynchronize)());
    CHECK_EQUAL(counter.load(), 40);
}

// Work that no thread can be had for is refused; the stream takes the next one.
void check_without_threads() {
    API(Stream_t) stream;
    std::atomic<int> counter{0};
    SUCCEEDS(API(StreamCreateWithFlags)(&stream, API(StreamNonBlocking)));
    no_threads_left = true;
    bool refused = false;
    try {
        SUCCEEDS(API(LaunchHostFunc)(stream, count_up, &counter));
    } catch (const std::system_error &) {
        refused = true;
    }
    no_threads_left = false;
    CHECK_EQUAL(refused, asynchronous());
    SUCCEEDS(API(LaunchHostFunc)(stream, count_up, &counter));
    SUCCEEDS(API(StreamSynchronize)(stream));
    CHECK_EQUAL(counter.load(), asynchronous() ? 1 : 2);
    SUCCEEDS(API(StreamDestroy)(stream));
}

int main(int, char **arguments) {
    slow_ms = std::atoi(arguments[1]);
    check_order_in_a_stream();
    check_event_between_streams();
    check_default_stream();
    check_time();
    check_memory_of_a_stream();
    check_many();
    check_without_threads();
    return finish();
}
