// bfloat16 and its pair as <cuda_bf16.h> and <common/maca_bfloat16.h> give them: bit-exact conversions and arithmetic.
// The class has the vendor's name. MetaX has no implicit conversion from numbers, so there it is explicit.
#pragma once

#include "oprt_emulator/atomics.h"
#include "oprt_emulator/bits.h"
#include "oprt_emulator/intrinsics.h"
#include "oprt_emulator/vector_types.h"

#if OPRT_EMULATOR_WARP_SIZE == 64
#define OPRT_NARROW __maca_bfloat16
#define OPRT_NARROW_RAW __maca_bfloat16_raw
#define OPRT_NARROW2 __maca_bfloat162
#define OPRT_NARROW2_RAW __maca_bfloat162_raw
#define OPRT_NARROW_FROM_NUMBER explicit
#else
#define OPRT_NARROW __nv_bfloat16
#define OPRT_NARROW_RAW __nv_bfloat16_raw
#define OPRT_NARROW2 __nv_bfloat162
#define OPRT_NARROW2_RAW __nv_bfloat162_raw
#define OPRT_NARROW_FROM_NUMBER
#endif
#define OPRT_NARROW_WORD(before, after) before##bfloat16##after
#define OPRT_NARROW_WORD2(before, after) before##bfloat162##after
#define OPRT_NARROW_PAIR_OF_ONE __bfloat162bfloat162
#define OPRT_NARROW_MANTISSA 7
#define OPRT_NARROW_INFINITY 0x7F80u
#define OPRT_NARROW_ENCODE oprt_emulator::encode_bfloat16
#define OPRT_NARROW_DECODE oprt_emulator::decode_bfloat16
#if defined(__CUDA_NO_BFLOAT16_OPERATORS__) || defined(__MACA_NO_BFLOAT16_OPERATORS__)
#define OPRT_NARROW_WITHOUT_OPERATORS
#endif
#include "oprt_emulator/narrow_float.inc"

#if OPRT_EMULATOR_WARP_SIZE == 64
using __nv_bfloat16 = __maca_bfloat16;  // the spelling of cu-bridge
using __nv_bfloat162 = __maca_bfloat162;
using __nv_bfloat16_raw = __maca_bfloat16_raw;
using __nv_bfloat162_raw = __maca_bfloat162_raw;
using maca_bfloat16 = __maca_bfloat16;
using maca_bfloat162 = __maca_bfloat162;
#endif
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
