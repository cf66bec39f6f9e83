// Stand-in for MACA's header of half on the emulator; the types are in oprt_emulator/half.h.
#pragma once

#include "oprt_emulator/device.h"
#include "oprt_emulator/half.h"
