/*
 * Status codes, dtypes, backends, devices, tensors and handles: the words of the public API.
 *
 * This folder is the specification of Operator Runtime: what a function accepts, returns and guarantees is written here and
 * nowhere else. Every header compiles alone as C99 and as C++17 and stays inside the grammar that cffi reads.
 *
 * Rules for every function:
 *   - It returns oprt_status_t. On failure oprt_last_error_message() says, for the calling thread, which operator and
 *     argument failed, what came and what was wanted. On success the message is not touched.
 *   - It never prints, exits, aborts or throws.
 *   - It may be called from any thread. What may not run at the same time is said beside the function.
 *   - Output pointers must not be null (OPRT_ERR_INVALID_ARGUMENT). On failure an output handle or pointer is set to null.
 */
#ifndef OPERATOR_RUNTIME_TYPES_H
#define OPERATOR_RUNTIME_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define OPRT_VERSION_MAJOR 0
#define OPRT_VERSION_MINOR 1
#define OPRT_VERSION_PATCH 0

/* The largest number of dimensions of a tensor. */
#define OPRT_MAX_DIMS 8

#if defined(OPRT_BUILDING)
#define OPRT_API __attribute__((visibility("default")))
#else
#define OPRT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. Values are fixed for ever; new ones are added at the end. */
typedef enum oprt_status_t {
    OPRT_SUCCESS = 0,
    /** A null output, a shape, stride, axis, pointer, alignment or overlap that the operator does not allow. */
    OPRT_ERR_INVALID_ARGUMENT = 1,
    /** A null, destroyed or unknown handle, or a handle of another kind or operator. */
    OPRT_ERR_INVALID_HANDLE = 2,
    /** A dtype that the operator does not take, or dtypes that do not go together. */
    OPRT_ERR_UNSUPPORTED_DTYPE = 3,
    /** A legal request that this backend, device or operator does not carry out. */
    OPRT_ERR_NOT_SUPPORTED = 4,
    /** The workspace is smaller than oprt_get_<op>_workspace_size says, or null although that size is not 0. */
    OPRT_ERR_INSUFFICIENT_WORKSPACE = 5,
    /** Host or device memory is exhausted. */
    OPRT_ERR_OUT_OF_MEMORY = 6,
    /** The backend's module is not built, cannot be loaded or belongs to another version. The message names each place tried. */
    OPRT_ERR_BACKEND_UNAVAILABLE = 7,
    /** The backend's module is there, the device is not. */
    OPRT_ERR_DEVICE_UNAVAILABLE = 8,
    /** The vendor's runtime refused a launch. */
    OPRT_ERR_LAUNCH_FAILED = 9,
    /** A kernel that ran before broke (bad address, assert, time limit, deadlock). The device refuses work until oprt_device_reset. */
    OPRT_ERR_KERNEL_FAULT = 10,
    /** oprt_query_event or oprt_query_stream: work is still running. Not an error; no message is set. */
    OPRT_ERR_NOT_READY = 11,
    /** The vendor's runtime failed in a way that has no code of its own; the message has its name and text. */
    OPRT_ERR_RUNTIME = 12
} oprt_status_t;

/** Element types. float16 and bfloat16 are IEEE binary16 and the upper half of binary32. BITS types are opaque: only copy takes them. */
typedef enum oprt_dtype_t {
    OPRT_DTYPE_FLOAT16 = 0,
    OPRT_DTYPE_BFLOAT16 = 1,
    OPRT_DTYPE_FLOAT32 = 2,
    OPRT_DTYPE_FLOAT64 = 3,
    OPRT_DTYPE_BITS8 = 4,
    OPRT_DTYPE_BITS16 = 5,
    OPRT_DTYPE_BITS32 = 6,
    OPRT_DTYPE_BITS64 = 7,
    OPRT_DTYPE_BITS128 = 8
} oprt_dtype_t;

/** Whose kernels run. AUTO: the first backend with a GPU, else the first with an emulator module. */
typedef enum oprt_backend_t { OPRT_BACKEND_AUTO = 0, OPRT_BACKEND_NVIDIA = 1, OPRT_BACKEND_METAX = 2 } oprt_backend_t;

/** Where kernels run. AUTO: the GPU where the backend has one, else the emulator. */
typedef enum oprt_device_kind_t {
    OPRT_DEVICE_AUTO = 0,
    OPRT_DEVICE_EMULATOR = 1,
    OPRT_DEVICE_GPU = 2
} oprt_device_kind_t;

/**
 * The shape of an operand, without its memory: a descriptor is made from shapes, execute gets the pointers.
 * As in DLPack, strides count elements, may be negative or 0, and the pointer given to execute is that of element [0, ..., 0].
 */
typedef struct oprt_tensor_t {
    /** sizeof(oprt_tensor_t); lets a newer library accept an older caller. */
    size_t struct_size;
    /** One of oprt_dtype_t. */
    oprt_dtype_t dtype;
    /** 0 to OPRT_MAX_DIMS; 0 is a scalar. */
    int32_t ndim;
    /** Elements along each dimension, 0 or more; the first ndim are read. */
    int64_t shape[OPRT_MAX_DIMS];
    /** Elements from one index to the next along each dimension; the first ndim are read. */
    int64_t strides[OPRT_MAX_DIMS];
} oprt_tensor_t;

/**
 * A checked, immutable plan for one operator on given shapes, made by oprt_create_<op>_descriptor and freed by
 * oprt_destroy_<op>_descriptor. It keeps the backend, device, technique and launch overlap that the creating thread had selected.
 * The value is a slot and a generation, not an address: a destroyed or foreign one is recognised, never followed.
 */
typedef struct oprt_descriptor *oprt_descriptor_t;

/** An ordered queue of device work. Null is the device's default stream. On a GPU it is the vendor's own stream (cudaStream_t, mcStream_t). */
typedef struct oprt_stream *oprt_stream_t;

/** A mark in a stream. On a GPU it is the vendor's own event. */
typedef struct oprt_event *oprt_event_t;

/** Captured work that can be launched again. */
typedef struct oprt_graph *oprt_graph_t;

#ifdef __cplusplus
}
#endif

#endif
