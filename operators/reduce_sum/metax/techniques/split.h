// reduce_sum, split, on MetaX: the kernel that all vendors share.
// A version tuned for MetaX alone would stand here instead of the include.
#pragma once

#include "reduce_sum/techniques/split.h"
