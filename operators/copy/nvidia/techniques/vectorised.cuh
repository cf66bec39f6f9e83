// copy, vectorised, on NVIDIA: the kernel that all vendors share.
// A version tuned for NVIDIA alone would stand here instead of the include.
#pragma once

#include "copy/techniques/vectorised.h"
