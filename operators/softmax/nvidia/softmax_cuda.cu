// softmax on NVIDIA: registers launch_softmax of the kernel file that the build chose, the reference kernel.cuh or the
// learner's.
#include "backends/launcher_registry.h"
#include "softmax/softmax.h"
#include OPRT_KERNEL_FILE

OPRT_REGISTER_LAUNCHER(softmax, launch_softmax)
