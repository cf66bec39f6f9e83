// Everything that device code of either vendor may use without a further include: the umbrella of this folder's device
// side. half.h and bfloat16.h come with the vendors' own headers of them; host functions are in runtime_api.h.
#pragma once

#include "oprt_emulator/atomics.h"
#include "oprt_emulator/integers.h"
#include "oprt_emulator/intrinsics.h"
#include "oprt_emulator/launch_syntax.h"
#include "oprt_emulator/math.h"
#include "oprt_emulator/qualifiers.h"
#include "oprt_emulator/vector_types.h"
