// vector_add, strided, on MetaX: the kernel that all vendors share.
// A version tuned for MetaX alone would stand here instead of the include.
#pragma once

#include "vector_add/techniques/strided.h"
