// Stand-in for CUDA's header of the same name on the emulator: threadIdx, blockIdx, blockDim, gridDim, warpSize.
#pragma once

#include "oprt_emulator/device.h"
