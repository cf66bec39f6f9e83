/*
 * Version, errors, the choice of backend and device, memory, streams and events.
 *
 * Selection acts on the calling thread and starts from the process default (backend AUTO; device from CAMP_DEVICE, else AUTO).
 * A descriptor, a pointer, a stream, an event and a graph belong to the device on which they were made. Calls that name only an event
 * act on the event's own device. On an emulator every stream and event is known: a foreign one is OPRT_ERR_INVALID_HANDLE.
 *
 * Memory of another device is refused with OPRT_ERR_INVALID_ARGUMENT: always what this library allocated, and on a GPU also what the
 * vendor's runtime names another GPU as the owner of. Its answer is kept for a thread until memory is next allocated or freed here,
 * so an address that another library meanwhile gave to another device is not noticed. Managed and registered host memory is let through on a GPU,
 * ordinary host memory is refused.
 *
 * A call leaves its GPU as the calling thread's current device of the vendor's runtime (cudaSetDevice), as the vendor's own calls
 * would need it. Whoever works on several GPUs in one thread sets the device again for the vendor's and other libraries' calls.
 */
#ifndef OPERATOR_RUNTIME_DEVICE_H
#define OPERATOR_RUNTIME_DEVICE_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The library's version as "major.minor.patch". Static; never null. */
OPRT_API const char *oprt_version(void);

/** How the library was built: compiler, build type, interface hash, one "name: value" a line. Static; never null. */
OPRT_API const char *oprt_build_information(void);

/** The name of a status, such as "OPRT_ERR_INVALID_HANDLE". Static; "OPRT_STATUS_UNKNOWN" for any other value. */
OPRT_API const char *oprt_status_name(oprt_status_t status);

/** The name of a backend ("auto", "nvidia", "metax"). Static; "unknown" for any other value. */
OPRT_API const char *oprt_backend_name(oprt_backend_t backend);

/** The name of a dtype ("float16", ..., "bits128"). Static; "unknown" for any other value. */
OPRT_API const char *oprt_dtype_name(oprt_dtype_t dtype);

/** Bytes an element. OPRT_ERR_UNSUPPORTED_DTYPE for a value that is no dtype. */
OPRT_API oprt_status_t oprt_dtype_size(size_t *size_bytes, oprt_dtype_t dtype);

/** The calling thread's last failure, valid until its next failing call. Never null; "" when nothing failed yet. */
OPRT_API const char *oprt_last_error_message(void);

/** Select the backend of the calling thread. It is loaded on first use, not here. OPRT_ERR_INVALID_ARGUMENT: unknown value. */
OPRT_API oprt_status_t oprt_set_backend(oprt_backend_t backend);

/** The backend that the calling thread's next call would use, AUTO resolved (which may load modules). */
OPRT_API oprt_status_t oprt_get_backend(oprt_backend_t *backend);

/** Select the device of the calling thread. index counts from 0; AUTO and EMULATOR take only 0. */
OPRT_API oprt_status_t oprt_set_device(oprt_device_kind_t kind, int32_t index);

/** The device that the calling thread's next call would use, AUTO resolved (which may load modules). */
OPRT_API oprt_status_t oprt_get_device(oprt_device_kind_t *kind, int32_t *index);

/**
 * Select, for the calling thread's next descriptors, a technique of the operators by name ("warp", "vectorised", ...);
 * null or "" is the reference kernel. A descriptor of an operator without that technique is refused with
 * OPRT_ERR_NOT_SUPPORTED and a message that lists those it has.
 */
OPRT_API oprt_status_t oprt_set_technique(const char *technique);

/**
 * Let the kernels of the calling thread's next descriptors start before those in front of them in the stream have ended (1), or
 * not (0; the process default, unless CAMP_LAUNCH_OVERLAP is 1). It saves time between short kernels and changes no result: such
 * a kernel waits for those before it prior to touching memory. Kernels and devices that cannot overlap start in order as always.
 * OPRT_ERR_INVALID_ARGUMENT: any other value.
 */
OPRT_API oprt_status_t oprt_set_launch_overlap(int32_t enabled);

/** Whether the calling thread's next descriptor would overlap its launches: 1 or 0. OPRT_ERR_INVALID_ARGUMENT: CAMP_LAUNCH_OVERLAP is neither. */
OPRT_API oprt_status_t oprt_get_launch_overlap(int32_t *enabled);

/** How many devices the backend has of that kind (0 when the module is not there; AUTO is refused). */
OPRT_API oprt_status_t oprt_get_device_count(int32_t *count, oprt_backend_t backend, oprt_device_kind_t kind);

/** What a device can do. Numbers that a backend does not know are 0. */
typedef struct oprt_device_properties_t {
    /** Set by the caller to sizeof(oprt_device_properties_t). */
    size_t struct_size;
    char name[256];
    int32_t warp_size;
    int32_t multiprocessor_count;
    int32_t max_threads_per_block;
    int32_t compute_capability_major;
    int32_t compute_capability_minor;
    /** Largest shared memory of one block, with the opt-in where the vendor has one. */
    int64_t shared_memory_per_block_bytes;
    int64_t l2_cache_bytes;
    int64_t total_memory_bytes;
} oprt_device_properties_t;

/** Properties of the calling thread's device. */
OPRT_API oprt_status_t oprt_get_device_properties(oprt_device_properties_t *properties);

/** One kernel that a loaded module holds. The texts live as long as the process. */
typedef struct oprt_kernel_info_t {
    /** Set by the caller to sizeof(oprt_kernel_info_t). */
    size_t struct_size;
    /** Operator, such as "softmax". */
    const char *op;
    /** "" for the reference or the learner's file, else the technique's name. */
    const char *technique;
    /** Absolute path of the source file, and the SHA-256 of its text when it was compiled, in hexadecimal. */
    const char *path;
    const char *sha256;
} oprt_kernel_info_t;

/** How many kernels the module of the calling thread's backend and device holds. */
OPRT_API oprt_status_t oprt_get_kernel_count(int32_t *count);

/** The kernel with that index, 0 to count - 1. */
OPRT_API oprt_status_t oprt_get_kernel_info(oprt_kernel_info_t *info, int32_t index);

/** Absolute path of the module that serves the calling thread's backend and device. Lives as long as the process. */
OPRT_API oprt_status_t oprt_get_module_path(const char **path);

/**
 * Wait for the calling thread's device. OPRT_ERR_KERNEL_FAULT when a kernel broke since the last reset.
 */
OPRT_API oprt_status_t oprt_synchronize_device(void);

/**
 * Take an emulated device back to a clean state after a fault: pending work is dropped, the fault forgotten; memory,
 * streams, events and descriptors stay valid, contents written by the broken kernel are undefined.
 * On a GPU: OPRT_ERR_NOT_SUPPORTED, a fault there ends with the process.
 */
OPRT_API oprt_status_t oprt_device_reset(void);

/**
 * Allocate device memory, aligned to 256 bytes, contents undefined (the emulator fills it with 0xFF: NaN).
 * size_bytes 0 gives null. OPRT_ERR_OUT_OF_MEMORY when it does not fit.
 */
OPRT_API oprt_status_t oprt_allocate_memory(void **pointer, size_t size_bytes);

/** Free device memory of any device of this process; waits for the work that uses it. Null succeeds. An unknown pointer: OPRT_ERR_INVALID_ARGUMENT. */
OPRT_API oprt_status_t oprt_free_memory(void *pointer);

/**
 * Copy between device memory of the calling thread's device and host memory, in the order of the stream. The direction follows from the pointers.
 * A copy to or from pageable host memory may wait for the stream. Host memory must stay valid until the stream has passed.
 * OPRT_ERR_INVALID_ARGUMENT: null with size_bytes above 0, ranges that overlap, or a range that leaves an allocation of this library.
 */
OPRT_API oprt_status_t oprt_copy_memory(void *destination, const void *source, size_t size_bytes, oprt_stream_t stream);

/** Fill device memory with one byte value (0 to 255), in the order of the stream. A range that leaves an allocation of this library is refused. */
OPRT_API oprt_status_t oprt_fill_memory(void *pointer, int32_t value, size_t size_bytes, oprt_stream_t stream);

/** Make a stream that does not wait for the default stream. */
OPRT_API oprt_status_t oprt_create_stream(oprt_stream_t *stream);
/** Destroy a stream that this library made; its work still completes. Null succeeds. OPRT_ERR_INVALID_HANDLE: any other stream. */
OPRT_API oprt_status_t oprt_destroy_stream(oprt_stream_t stream);
/** Wait for a stream of the calling thread's device. OPRT_ERR_KERNEL_FAULT as oprt_synchronize_device. */
OPRT_API oprt_status_t oprt_synchronize_stream(oprt_stream_t stream);
/** OPRT_SUCCESS when the stream is idle, OPRT_ERR_NOT_READY when not. */
OPRT_API oprt_status_t oprt_query_stream(oprt_stream_t stream);
/** Let later work of the stream wait for the event. The host does not wait. */
OPRT_API oprt_status_t oprt_wait_event(oprt_stream_t stream, oprt_event_t event);

/** Make an event that records time. */
OPRT_API oprt_status_t oprt_create_event(oprt_event_t *event);
/** Destroy an event that this library made. Null succeeds. OPRT_ERR_INVALID_HANDLE: any other event. */
OPRT_API oprt_status_t oprt_destroy_event(oprt_event_t event);
/** Mark the end of the work that the stream holds now. */
OPRT_API oprt_status_t oprt_record_event(oprt_event_t event, oprt_stream_t stream);
/** Wait on the host for the event. OPRT_ERR_KERNEL_FAULT as oprt_synchronize_device. */
OPRT_API oprt_status_t oprt_synchronize_event(oprt_event_t event);
/** OPRT_SUCCESS when the event has passed, OPRT_ERR_NOT_READY when not. */
OPRT_API oprt_status_t oprt_query_event(oprt_event_t event);
/** Milliseconds between two events that have passed. OPRT_ERR_NOT_READY when one has not. */
OPRT_API oprt_status_t oprt_elapsed_time(float *time_ms, oprt_event_t start, oprt_event_t stop);

#ifdef __cplusplus
}
#endif

#endif
