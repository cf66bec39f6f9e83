// Stand-in for CUDA's host runtime API on the emulator; the functions are in oprt_emulator/runtime_api.h.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "oprt_emulator/runtime.h"
#include "oprt_emulator/vector_types.h"

#define CUDART_VERSION 13000
#define CUDART_CB

#define OPRT_EMULATOR_API(name) cuda##name
#define OPRT_EMULATOR_API_PREFIX "cuda"
#define OPRT_EMULATOR_API_IS_MACA 0
#include "oprt_emulator/runtime_api.h"
