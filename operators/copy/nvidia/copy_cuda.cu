// copy on NVIDIA: registers launch_copy of the kernel file that the build chose, the reference kernel.cuh or the
// learner's.
#include "backends/launcher_registry.h"
#include "copy/copy.h"
#include OPRT_KERNEL_FILE

OPRT_REGISTER_LAUNCHER(copy, launch_copy)
