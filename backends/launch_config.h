// What a launch is made of, and what launchers ask of the device, once for all vendors. The launch itself is in launch.h.
#pragma once

#include <oprt_device.h>
#include <oprt_vendor.h>

#include <cstddef>

#include "backends/launcher_registry.h"

namespace oprt {

struct launch_config {
    dim3 grid;
    dim3 block;
    size_t shared_bytes = 0;  // dynamic shared memory
    stream_t stream = nullptr;
#if OPRT_HAS_CLUSTER
    // Blocks of one thread block cluster, neighbours along x; divides grid.x. More than 1 only where
    // may_launch_clusters().
    unsigned cluster_blocks = 1;
#endif
};

// Overlapped launches. Such a kernel may start while the kernels before it in its stream are still finishing, which
// hides the start of its blocks: launch_overlapping if the descriptor asks for it, launch_behind always. Where the device
// does not allow it, it starts in order as always.
//
// It is right because every thread waits before its first access of memory (reads, writes and atomics alike) and the
// wait returns only when all kernels before have completed and what they wrote is visible. So nothing is read too
// early, nothing that an earlier kernel still reads is overwritten, and a kernel that has completed implies that those
// before it have, too: the stream's order holds for whatever comes next.
//
// A kernel declares itself by its first parameter, which launch_overlapping passes and without which the wait cannot
// be called; one that forgets to wait has an unused parameter, of which the compiler warns:
//
//   template <typename T>
//   __global__ void relu_dense(previous_kernels previous, T *y, const T *x, int64_t count) {
//       ... indices ...
//       wait_for_previous_kernels(previous);  // every thread, also one that will find nothing to do
//       ... memory ...
//   }
//   launch_overlapping(relu_dense<T>, config, y, x, count);
//
// Inputs must not be `const __restrict__` there, nor be read by __ldg: the compiler takes such memory for constant and
// may move a load in front of the wait. `let_next_kernel_start()`, called by all blocks, lets the next overlapped kernel
// start before this one ends; that one waits all the same, so where it is called decides speed only.
struct previous_kernels {};

using vendor_error_t = OPRT_VENDOR(Error_t);

inline bool record_if_failed(const char *call, vendor_error_t error) {
    if (error == OPRT_VENDOR(Success)) return false;
    record_launch_error(call, static_cast<int>(error), OPRT_VENDOR(GetErrorName)(error),
                        OPRT_VENDOR(GetErrorString)(error));
    return true;
}

// Of the calling thread's current device, asked once a device. A query that fails is recorded as a failed launch, so
// that the execute reports it; it answers 1 and is asked again the next time.
int multiprocessor_count();
int compute_capability_major();

}  // namespace oprt
