// Stand-in for MACA's host runtime API on the emulator; the functions are in oprt_emulator/runtime_api.h.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "oprt_emulator/runtime.h"
#include "oprt_emulator/vector_types.h"

#if OPRT_EMULATOR_WARP_SIZE != 64
#error "MACA's headers belong to the metax backend, whose warps have 64 lanes; include <cuda_runtime.h> here"
#endif

#define OPRT_EMULATOR_API(name) mc##name
#define OPRT_EMULATOR_API_PREFIX "mc"
#define OPRT_EMULATOR_API_IS_MACA 1
#include "oprt_emulator/runtime_api.h"
