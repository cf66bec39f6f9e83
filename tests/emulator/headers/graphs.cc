// Capture and replay: every kind of node, forks and joins by events, and each misuse with the error that CUDA gives for
// it.
#include <thread>

#include "device.h"

__global__ void add(int *values, int amount) { values[threadIdx.x] += amount; }
__global__ void store(int *values, const int *from) { values[0] = *from; }

API(Stream_t) stream, other;
API(Event_t) mark, second_mark;
int *values;

API(StreamCaptureStatus) status_of(API(Stream_t) asked) {
    API(StreamCaptureStatus) status = API(StreamCaptureStatusNone);
    SUCCEEDS(API(StreamIsCapturing)(asked, &status));
    return status;
}

void begin(API(StreamCaptureMode) mode = API(StreamCaptureModeRelaxed)) {
    SUCCEEDS(API(StreamBeginCapture)(stream, mode));
    CHECK(status_of(stream) == API(StreamCaptureStatusActive));
}

API(Graph_t) end() {
    API(Graph_t) graph = nullptr;
    SUCCEEDS(API(StreamEndCapture)(stream, &graph));
    CHECK(graph != nullptr && status_of(stream) == API(StreamCaptureStatusNone));
    return graph;
}

void end_spoilt(API(Error) error = API(ErrorStreamCaptureInvalidated)) {
    auto graph = reinterpret_cast<API(Graph_t)>(16);
    check_code(API(StreamEndCapture)(stream, &graph), error, "StreamEndCapture", __FILE__, __LINE__);
    CHECK(graph == nullptr && status_of(stream) == API(StreamCaptureStatusNone));
}

size_t nodes_of(API(Graph_t) graph) {
    size_t count = 99;
    SUCCEEDS(API(GraphGetNodes)(graph, nullptr, &count));
    return count;
}

API(GraphExec_t) executable_of(API(Graph_t) graph) {
    API(GraphExec_t) executable = nullptr;
    SUCCEEDS(API(GraphInstantiate)(&executable, graph, nullptr, nullptr, 0));
    SUCCEEDS(API(GraphDestroy)(graph));
    return executable;
}

void check_replay() {
    int host[4] = {5, 6, 7, 8}, result = 0;
    SUCCEEDS(API(Memset)(values, 0, 64));
    begin();
    SUCCEEDS(API(MemcpyAsync)(values, host, sizeof host, API(MemcpyHostToDevice), stream));
    SUCCEEDS(API(MemsetAsync)(values + 1, 0, 4, stream));
    int amount = 10;
    SUCCEEDS(start(add, 1, 4, 0, stream, values, amount));
    amount = 1000;  // arguments are those of the capture
    SUCCEEDS(API(EventRecordWithFlags)(mark, stream, API(EventRecordExternal)));
    SUCCEEDS(API(MemcpyAsync)(&result, values, 4, API(MemcpyDeviceToHost), stream));
    API(Graph_t) graph = end();
    CHECK_EQUAL(nodes_of(graph), 5u);
    CHECK(on_host(values, 4) == std::vector<int>(4, 0));  // nothing has run
    API(GraphExec_t) executable = executable_of(graph);
    for (int i = 0; i < 3; ++i) {
        host[0] = i;
        SUCCEEDS(API(GraphLaunch)(executable, i == 1 ? nullptr : stream));
        SUCCEEDS(API(DeviceSynchronize)());
        SUCCEEDS(API(EventQuery)(mark));
        CHECK(on_host(values, 4) == (std::vector<int>{i + 10, 10, 17, 18}));
        CHECK_EQUAL(result, i + 10);
    }
    // A launch in a capture puts the nodes into the captured graph.
    begin();
    SUCCEEDS(API(GraphLaunch)(executable, stream));
    SUCCEEDS(start(add, 1, 1, 0, stream, values, 1));
    graph = end();
    CHECK_EQUAL(nodes_of(graph), 6u);
    API(GraphExec_t) both = executable_of(graph);
    SUCCEEDS(API(GraphExecDestroy)(executable));
    SUCCEEDS(API(GraphLaunch)(both, stream));
    SUCCEEDS(API(StreamSynchronize)(stream));
    CHECK_EQUAL(on_host(values, 1)[0], 13);
    SUCCEEDS(API(GraphExecDestroy)(both));
    FAILS(ErrorInvalidValue, API(GraphLaunch)(both, stream));
    FAILS(ErrorInvalidValue, API(GraphDestroy)(nullptr));
    begin();
    CHECK_EQUAL(nodes_of(end()), 0u);
}

void fork_other() {
    SUCCEEDS(API(EventRecord)(mark, stream));
    SUCCEEDS(API(StreamWaitEvent)(other, mark, 0));
    CHECK(status_of(other) == API(StreamCaptureStatusActive));
}

void check_fork_and_join() {
    SUCCEEDS(API(Memset)(values, 0, 64));
    begin();
    SUCCEEDS(start(add, 1, 1, 0, stream, values, 3));
    fork_other();
    SUCCEEDS(start(store, 1, 1, 0, other, values + 1, values));
    SUCCEEDS(API(EventRecord)(second_mark, other));
    SUCCEEDS(API(StreamWaitEvent)(stream, second_mark, 0));
    SUCCEEDS(start(store, 1, 1, 0, stream, values + 2, values + 1));
    API(Graph_t) graph = end();
    CHECK(status_of(other) == API(StreamCaptureStatusNone));
    CHECK_EQUAL(nodes_of(graph), 3u);
    API(GraphExec_t) executable = executable_of(graph);
    SUCCEEDS(API(GraphLaunch)(executable, stream));
    SUCCEEDS(API(StreamSynchronize)(stream));
    CHECK(on_host(values, 3) == std::vector<int>(3, 3));
    SUCCEEDS(API(GraphExecDestroy)(executable));
    FAILS(ErrorInvalidValue, API(EventQuery)(mark));  // last recorded in a capture

    begin();  // work that is not joined back
    fork_other();
    SUCCEEDS(start(add, 1, 1, 0, other, values, 3));
    end_spoilt(API(ErrorStreamCaptureUnjoined));
    begin();  // joined, but without work
    fork_other();
    CHECK_EQUAL(nodes_of(end()), 0u);
    begin();  // ended in the wrong stream
    fork_other();
    API(Graph_t) none = nullptr;
    FAILS(ErrorStreamCaptureUnmatched, API(StreamEndCapture)(other, &none));
    end_spoilt();
    SUCCEEDS(API(EventRecord)(second_mark, other));  // an event of before the capture
    begin();
    FAILS(ErrorStreamCaptureIsolation, API(StreamWaitEvent)(stream, second_mark, 0));
    end_spoilt();
    begin();  // two captures do not merge
    SUCCEEDS(API(StreamBeginCapture)(other, API(StreamCaptureModeRelaxed)));
    SUCCEEDS(API(EventRecord)(mark, stream));
    FAILS(ErrorStreamCaptureMerge, API(StreamWaitEvent)(other, mark, 0));
    FAILS(ErrorStreamCaptureInvalidated, API(StreamEndCapture)(other, &none));
    end_spoilt();
}

void check_misuse() {
    API(Graph_t) graph = nullptr;
    FAILS(ErrorStreamCaptureUnsupported, API(StreamBeginCapture)(nullptr, API(StreamCaptureModeRelaxed)));
    FAILS(ErrorIllegalState, API(StreamEndCapture)(stream, &graph));
    FAILS(ErrorInvalidValue, API(StreamBeginCapture)(stream, static_cast<API(StreamCaptureMode)>(7)));
    begin();
    FAILS(ErrorIllegalState, API(StreamBeginCapture)(stream, API(StreamCaptureModeRelaxed)));
    end();
    begin();
    FAILS(ErrorStreamCaptureUnsupported, API(StreamSynchronize)(stream));
    FAILS(ErrorStreamCaptureInvalidated, start(add, 1, 1, 0, stream, values, 1));
    CHECK(status_of(stream) == API(StreamCaptureStatusInvalidated));
    end_spoilt();
    begin();
    FAILS(ErrorStreamCaptureUnsupported, API(DeviceSynchronize)());
    end_spoilt();
    begin();
    FAILS(ErrorStreamCaptureUnsupported, API(StreamQuery)(stream));
    end_spoilt();
    begin();  // the default stream would wait for the blocking stream
    FAILS(ErrorStreamCaptureImplicit, start(add, 1, 1, 0, nullptr, values, 1));
    end_spoilt();
    begin();
    FAILS(ErrorStreamCaptureImplicit, API(Memset)(values, 0, 4));
    end_spoilt();
    begin();
    SUCCEEDS(API(EventRecord)(mark, stream));
    FAILS(ErrorCapturedEvent, API(EventQuery)(mark));
    end_spoilt();
    FAILS(ErrorInvalidValue, API(EventSynchronize)(mark));
}

void check_modes() {
    void *pointer = nullptr;
    begin(API(StreamCaptureModeRelaxed));
    SUCCEEDS(API(Malloc)(&pointer, 8));
    SUCCEEDS(API(Free)(pointer));
    end();
    begin(API(StreamCaptureModeGlobal));
    FAILS(ErrorStreamCaptureUnsupported, API(Malloc)(&pointer, 8));
    end_spoilt();
    begin(API(StreamCaptureModeThreadLocal));
    FAILS(ErrorStreamCaptureUnsupported, API(Malloc)(&pointer, 8));
    end_spoilt();
    begin(API(StreamCaptureModeGlobal));
    std::thread([] {
        void *memory = nullptr;
        FAILS(ErrorStreamCaptureUnsupported, API(Malloc)(&memory, 8));
    }).join();
    end_spoilt();
    begin(API(StreamCaptureModeThreadLocal));
    std::thread([] {
        void *memory = nullptr;
        SUCCEEDS(API(Malloc)(&memory, 8));
        SUCCEEDS(API(Free)(memory));
    }).join();
    end();
    begin(API(StreamCaptureModeGlobal));
    auto mode = API(StreamCaptureModeRelaxed);
    SUCCEEDS(API(ThreadExchangeStreamCaptureMode)(&mode));
    CHECK(mode == API(StreamCaptureModeGlobal));
    SUCCEEDS(API(Malloc)(&pointer, 8));
    SUCCEEDS(API(ThreadExchangeStreamCaptureMode)(&mode));
    SUCCEEDS(API(StreamQuery)(nullptr) == API(ErrorStreamCaptureImplicit) ? API(Success) : API(ErrorUnknown));
    end_spoilt();
    begin(API(StreamCaptureModeGlobal));
    std::thread([] {
        API(Graph_t) graph = nullptr;
        FAILS(ErrorStreamCaptureWrongThread, API(StreamEndCapture)(stream, &graph));
    }).join();
    API(Graph_t) graph = nullptr;
    FAILS(ErrorIllegalState, API(StreamEndCapture)(stream, &graph));
    begin(API(StreamCaptureModeRelaxed));
    std::thread([] { end(); }).join();
}

int main(int, char **) {
    SUCCEEDS(API(StreamCreate)(&stream));
    SUCCEEDS(API(StreamCreate)(&other));
    SUCCEEDS(API(EventCreate)(&mark));
    SUCCEEDS(API(EventCreate)(&second_mark));
    values = on_device(std::vector<int>(16));
    check_replay();
    check_fork_and_join();
    check_misuse();
    check_modes();
    return finish();
}
