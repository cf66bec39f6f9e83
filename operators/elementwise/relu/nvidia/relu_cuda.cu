// relu on NVIDIA: registers the launcher. The arithmetic is in relu_function.h, the kernels in the elementwise
// framework.
#include <oprt_device.h>

#include "backends/launcher_registry.h"
#include "elementwise/relu/relu_function.h"

OPRT_REGISTER_LAUNCHER(relu, launch_relu)
