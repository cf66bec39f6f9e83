// reduce_sum on NVIDIA: registers launch_reduce_sum of the kernel file that the build chose, the reference kernel.cuh
// or the learner's.
#include "backends/launcher_registry.h"
#include "reduce_sum/reduce_sum.h"
#include OPRT_KERNEL_FILE

OPRT_REGISTER_LAUNCHER(reduce_sum, launch_reduce_sum)
