// Stand-in for CUDA's header of half on the emulator; the types are in oprt_emulator/half.h.
#pragma once

#include "oprt_emulator/device.h"
#include "oprt_emulator/half.h"

#define CUDART_INF_FP16 __ushort_as_half(static_cast<unsigned short>(0x7C00u))
#define CUDART_NAN_FP16 __ushort_as_half(static_cast<unsigned short>(0x7FFFu))
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(static_cast<unsigned short>(0x7BFFu))
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_FP16 __ushort_as_half(static_cast<unsigned short>(0x3C00u))
