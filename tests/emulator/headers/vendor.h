// One test program for both vendors: API(name) and TEXT are CUDA's at 32 lanes and MACA's at 64.
#pragma once

#if OPRT_EMULATOR_WARP_SIZE == 64
#include <common/maca_bfloat16.h>
#include <common/maca_fp16.h>
#include <mcr/mc_runtime.h>
#define API(name) mc##name
#define PREFIX "mc"
using bfloat16 = __maca_bfloat16;
using bfloat162 = __maca_bfloat162;
using bfloat16_raw = __maca_bfloat16_raw;
using wide_mask = unsigned long long;
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define API(name) cuda##name
#define PREFIX "cuda"
using bfloat16 = __nv_bfloat16;
using bfloat162 = __nv_bfloat162;
using bfloat16_raw = __nv_bfloat16_raw;
using wide_mask = unsigned int;
#endif

constexpr int lanes = OPRT_EMULATOR_WARP_SIZE;
constexpr wide_mask everyone = ~wide_mask(0);
