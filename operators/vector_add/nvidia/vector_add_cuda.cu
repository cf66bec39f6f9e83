// vector_add on NVIDIA: registers launch_vector_add of the kernel file that the build chose, the reference kernel.cuh
// or the learner's.
#include "backends/launcher_registry.h"
#include "vector_add/vector_add.h"
#include OPRT_KERNEL_FILE

OPRT_REGISTER_LAUNCHER(vector_add, launch_vector_add)
