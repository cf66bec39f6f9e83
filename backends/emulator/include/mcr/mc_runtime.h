// Stand-in for <mcr/mc_runtime.h>: lets a MACA source compile as plain C++ and run on the emulator. Device side and
// host functions are in oprt_emulator/; half and bfloat16 have their own headers, as with MACA.
#pragma once

#include "mcr/mc_runtime_api.h"
#include "oprt_emulator/device.h"
