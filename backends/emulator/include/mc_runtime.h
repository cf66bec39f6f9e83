// Stand-in for MACA's runtime header by its bare name, which mxcc finds too.
#pragma once

#include "mcr/mc_runtime.h"
