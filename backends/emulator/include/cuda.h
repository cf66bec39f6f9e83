// Stand-in for <cuda.h> on the emulator, which sources often include for nothing but its version: it has no driver API.
#pragma once

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION
