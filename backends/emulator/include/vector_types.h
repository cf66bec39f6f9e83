// Stand-in for CUDA's header of the same name on the emulator.
#pragma once

#include "oprt_emulator/vector_types.h"
