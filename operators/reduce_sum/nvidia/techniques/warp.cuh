// reduce_sum, warp, on NVIDIA: the kernel that all vendors share.
// A version tuned for NVIDIA alone would stand here instead of the include.
#pragma once

#include "reduce_sum/techniques/warp.h"
