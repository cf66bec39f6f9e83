// Sets what kernels read as gridDim and blockDim. Only between kernels: compilers take the two for constants.
#pragma once

#include "oprt_emulator/vector_types.h"

namespace oprt_emulator::runtime {

void set_extents(const dim3 &grid, const dim3 &block);

}  // namespace oprt_emulator::runtime
