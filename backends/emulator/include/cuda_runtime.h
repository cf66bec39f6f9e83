// Stand-in for <cuda_runtime.h>: lets a CUDA source compile as plain C++ and run on the emulator. Device side and host
// functions are in oprt_emulator/; half and bfloat16 have their own headers, as with CUDA.
#pragma once

#include "cuda_runtime_api.h"
#include "oprt_emulator/device.h"
#include "oprt_emulator/ordered_atomics.h"
