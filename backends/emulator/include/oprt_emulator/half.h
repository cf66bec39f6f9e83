// half (IEEE binary16) and half2 as <cuda_fp16.h> and <common/maca_fp16.h> give them: bit-exact conversions and
// arithmetic.
#pragma once

#include "oprt_emulator/atomics.h"
#include "oprt_emulator/bits.h"
#include "oprt_emulator/intrinsics.h"
#include "oprt_emulator/vector_types.h"

#define OPRT_NARROW __half
#define OPRT_NARROW_RAW __half_raw
#define OPRT_NARROW2 __half2
#define OPRT_NARROW2_RAW __half2_raw
#define OPRT_NARROW_WORD(before, after) before##half##after
#define OPRT_NARROW_WORD2(before, after) before##half2##after
#define OPRT_NARROW_PAIR_OF_ONE __half2half2
#define OPRT_NARROW_MANTISSA 10
#define OPRT_NARROW_INFINITY 0x7C00u
#define OPRT_NARROW_ENCODE oprt_emulator::encode_half
#define OPRT_NARROW_DECODE oprt_emulator::decode_half
#define OPRT_NARROW_FROM_NUMBER
#if defined(__CUDA_NO_HALF_OPERATORS__) || defined(__MACA_NO_HALF_OPERATORS__)
#define OPRT_NARROW_WITHOUT_OPERATORS
#endif
#include "oprt_emulator/narrow_float.inc"

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
