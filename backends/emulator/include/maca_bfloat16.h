// Stand-in for MACA's header of bfloat16 on the emulator; the types are in oprt_emulator/bfloat16.h.
#pragma once

#include "oprt_emulator/bfloat16.h"
#include "oprt_emulator/device.h"
