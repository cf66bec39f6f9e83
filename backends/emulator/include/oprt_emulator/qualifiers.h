// The words that CUDA and MACA add to C++: qualifiers of functions, variables and types. The indices (threadIdx, ...)
// are in intrinsics.h. __noinline__ is left out: as a macro it breaks libstdc++, which spells an attribute so.
#pragma once

#include "oprt_emulator/engine.h"

// Tells sources that kernels run on the CPU. Neither __CUDACC__ nor __CUDA_ARCH__ nor __MACA__ is defined.
#define OPRT_EMULATOR 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// A block's shared array; see engine.h. `extern __shared__` is rewritten before compilation (rewrite.py), or spelled
// OPRT_DYNAMIC_SHARED.
#define __shared__ OPRT_EMULATOR_SHARED

// nvcc knows this one; g++ 12 does not.
#if !defined(__has_builtin)
#define __builtin_assume(condition) ((void)0)
#elif !__has_builtin(__builtin_assume)
#define __builtin_assume(condition) ((void)0)
#endif
