// Storage of gridDim and blockDim. A file of its own: intrinsics.h declares them const, here they can be written.
#include "runtime_api_extents.h"

dim3 gridDim;
dim3 blockDim;

namespace oprt_emulator::runtime {

void set_extents(const dim3 &grid, const dim3 &block) {
    gridDim = grid;
    blockDim = block;
}

}  // namespace oprt_emulator::runtime
