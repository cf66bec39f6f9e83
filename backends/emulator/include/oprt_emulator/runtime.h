// The emulator's runtime without a vendor's prefix: memory, streams, events, graphs, errors of the one emulated device.
// runtime_api.h puts the vendors' names and types over it; src/runtime_api_*.cc implement it. Functions return the
// numbers below, which CUDA and MACA share; each failing call also becomes the calling thread's last error. Safe from
// any host thread.
#pragma once

#include <cstddef>
#include <memory>

#include "oprt_emulator/launch.h"

// X(name without the vendor's prefix, number, text).
#define OPRT_EMULATOR_ERRORS(X)                                                                               \
    X(Success, 0, "no error")                                                                                 \
    X(ErrorInvalidValue, 1, "invalid argument")                                                               \
    X(ErrorMemoryAllocation, 2, "out of memory")                                                              \
    X(ErrorInitializationError, 3, "initialization error")                                                    \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument")                                         \
    X(ErrorInvalidPitchValue, 12, "invalid pitch argument")                                                   \
    X(ErrorInvalidSymbol, 13, "invalid device symbol")                                                        \
    X(ErrorInvalidHostPointer, 16, "invalid host pointer")                                                    \
    X(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                                \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                   \
    X(ErrorInsufficientDriver, 35, "driver version is insufficient for runtime version")                      \
    X(ErrorInvalidDeviceFunction, 98, "invalid device function")                                              \
    X(ErrorNoDevice, 100, "no device is detected")                                                            \
    X(ErrorInvalidDevice, 101, "invalid device ordinal")                                                      \
    X(ErrorInvalidKernelImage, 200, "device kernel image is invalid")                                         \
    X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")           \
    X(ErrorIllegalState, 401, "the operation cannot be performed in the present state")                       \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                             \
    X(ErrorNotReady, 600, "device not ready")                                                                 \
    X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                                   \
    X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                              \
    X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                     \
    X(ErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                   \
    X(ErrorAssert, 710, "device-side assert triggered")                                                       \
    X(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")   \
    X(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")         \
    X(ErrorHardwareStackError, 714, "hardware stack error")                                                   \
    X(ErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                 \
    X(ErrorMisalignedAddress, 716, "misaligned address")                                                      \
    X(ErrorLaunchFailure, 719, "unspecified launch failure")                                                  \
    X(ErrorNotPermitted, 800, "operation not permitted")                                                      \
    X(ErrorNotSupported, 801, "operation not supported")                                                      \
    X(ErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                 \
    X(ErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")          \
    X(ErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")        \
    X(ErrorStreamCaptureUnmatched, 903, "capture was not begun in this stream")                               \
    X(ErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                  \
    X(ErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")            \
    X(ErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing stream") \
    X(ErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")     \
    X(ErrorStreamCaptureWrongThread, 908, "attempt to end a capture from another thread than began it")       \
    X(ErrorUnknown, 999, "unknown error")

namespace oprt_emulator::runtime {

#define OPRT_EMULATOR_ERROR_CONSTANT(name, number, text) inline constexpr int name = number;
OPRT_EMULATOR_ERRORS(OPRT_EMULATOR_ERROR_CONSTANT)
#undef OPRT_EMULATOR_ERROR_CONSTANT

// Handles. Null is the default stream; all others come from a create function.
struct stream;
struct event;
struct graph;
struct executable;

// Limits of a vendor's device that are part of its semantics, and what an emulated device reports about itself.
struct device_facts {
    const char *name;
    int compute_capability_major, compute_capability_minor;
    int multiprocessors;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int registers_per_block;
    size_t shared_bytes_per_block;         // that every kernel has
    size_t shared_bytes_per_block_opt_in;  // with the vendor's opt-in
    size_t shared_bytes_per_multiprocessor;
    size_t shared_bytes_reserved_per_block;
    int l2_cache_bytes;  // 0: not known
    int version;         // of the vendor's runtime interface; 0: not known
};
extern const device_facts &facts;

inline constexpr unsigned int max_grid_x = 0x7FFFFFFF;
inline constexpr unsigned int max_grid_yz = 65535;
inline constexpr unsigned int max_block_xy = 1024;
inline constexpr unsigned int max_block_z = 64;

// Errors. The text of a fault is the engine's whole report until the device is reset.
int take_last_error();
int peek_last_error();
const char *error_name(int code, const char *prefix);
const char *error_text(int code);
// Record code as the thread's last error and give it back; detail, if any, is added to its text.
int fail(int code, const char *detail = nullptr);

// Device. There is one: index 0.
int set_device(int device);
int check_device(int device);
int synchronize_device();
int reset_device();
int memory_sizes(size_t *free_bytes, size_t *total_bytes);

// Memory. kind is the vendors' number: 0 host to host, 1 host to device, 2 device to host, 3 device to device, 4 find
// out.
int allocate(void **pointer, size_t size_bytes);
int release(void *pointer);
int allocate_on_stream(void **pointer, size_t size_bytes, stream *on);
int release_on_stream(void *pointer, stream *on);
int allocate_host(void **pointer, size_t size_bytes, bool managed);
int release_host(void *pointer);
int register_host(void *pointer, size_t size_bytes);
int unregister_host(void *pointer);
int register_symbol(const void *address, size_t size_bytes);
// A rectangle of `height` rows of `width` bytes; a plain copy is one row. wait: return when it is done, as the calls
// without Async do.
struct rectangle_copy {
    void *destination;
    size_t destination_pitch;
    const void *source;
    size_t source_pitch;
    size_t width, height;
    int kind;
};
int copy(const rectangle_copy &request, stream *on, bool wait);
int fill(void *pointer, size_t pitch, int value, size_t width, size_t height, stream *on, bool wait);
enum class memory_kind { unregistered = 0, host = 1, device = 2, managed = 3 };
memory_kind kind_of(const void *pointer);

// Streams and events.
int create_stream(stream **created, bool blocking, int priority);
int destroy_stream(stream *on);
int synchronize_stream(stream *on);
int query_stream(stream *on);
int stream_priority(stream *on, int *priority);
int stream_flags(stream *on, unsigned int *flags);
int stream_wait_event(stream *on, event *awaited, bool external);
int call_host(stream *on, void (*function)(void *), void *data);
int create_event(event **created, bool timed);
int destroy_event(event *destroyed);
int record_event(event *recorded, stream *on, bool external);
int synchronize_event(event *awaited);
int query_event(event *asked);
int elapsed_time(float *time_ms, event *start, event *stop);

// Capture and graphs. mode: 0 global, 1 thread-local, 2 relaxed; status: 0 none, 1 active, 2 invalidated.
int begin_capture(stream *on, int mode);
int end_capture(stream *on, graph **captured);
int capture_status(stream *on, int *status, unsigned long long *id);
int exchange_capture_mode(int *mode);
int create_graph(graph **created);
int count_nodes(graph *counted, size_t *nodes);
// kinds: 0 kernel, 1 memcpy, 2 memset, 3 host function, 6 event wait, 7 event record, as the vendors number node types.
int node_kinds(graph *asked, int *kinds, size_t *count);
int destroy_graph(graph *destroyed);
int instantiate_graph(executable **created, graph *source);
int launch_graph(executable *launched, stream *on);
int destroy_executable(executable *destroyed);

// Kernels.
int set_dynamic_shared_limit(const void *kernel, int size_bytes);
struct kernel_facts {
    size_t static_shared_bytes;
    int dynamic_shared_limit_bytes;
};
int get_kernel_facts(const void *kernel, kernel_facts *result);
int blocks_per_multiprocessor(const void *kernel, int block_threads, size_t dynamic_shared_bytes);

}  // namespace oprt_emulator::runtime
