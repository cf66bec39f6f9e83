/*
 * Kernels that show what a device can do, to compare operators with: an empty launch, a copy, a read, two reads and a write.
 * Each comes in variants (other grids, other amounts of work for a thread), all of them right; which is fastest depends on the
 * device and the size. They act on the calling thread's device and hold no workspace.
 */
#ifndef OPERATOR_RUNTIME_PROBE_H
#define OPERATOR_RUNTIME_PROBE_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a probe does with its bytes. */
typedef enum oprt_probe_t {
    /** One block of one warp that does nothing. Takes no memory: pointers and size are not looked at. */
    OPRT_PROBE_EMPTY = 0,
    /** destination = source. */
    OPRT_PROBE_COPY = 1,
    /** Reads all of source and writes nothing. */
    OPRT_PROBE_READ = 2,
    /** Reads all of source, then, in a second kernel, destination = source. */
    OPRT_PROBE_READ_TWICE = 3
} oprt_probe_t;

/** How many variants a probe has on the calling thread's device; at least 1. OPRT_ERR_INVALID_ARGUMENT: no such probe. */
OPRT_API oprt_status_t oprt_get_probe_variant_count(int32_t *count, oprt_probe_t probe);

/**
 * Queue a probe on a stream. It can be captured in a graph.
 * variant: 0 to the count - 1. destination and source: [size_bytes], device memory, aligned to 16 bytes, disjoint, not null unless
 * size_bytes is 0, in which case nothing is launched. size_bytes: a multiple of 16.
 * OPRT_PROBE_READ leaves destination as it is, but wants the memory: the compiler must not know that it is never written.
 * OPRT_ERR_INVALID_ARGUMENT: anything else, with what is wrong in the message.
 */
OPRT_API oprt_status_t oprt_run_probe(oprt_probe_t probe, int32_t variant, void *destination, const void *source,
                                      size_t size_bytes, oprt_stream_t stream);

/**
 * What the host pays for one bare launch of the empty kernel, measured below the C API: each sample launches `burst` kernels
 * on the idle stream and is their host time divided by burst, in microseconds. Waits for the stream before each sample and at the end.
 * samples_us: [samples]. samples and burst: 1 or more; a device queues about a thousand launches before it makes the host wait.
 * OPRT_ERR_INVALID_ARGUMENT: null, or a count below 1.
 */
OPRT_API oprt_status_t oprt_measure_launches(double *samples_us, int32_t samples, int32_t burst, oprt_stream_t stream);

#ifdef __cplusplus
}
#endif

#endif
