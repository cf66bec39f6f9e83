// Stand-in for MACA's host runtime API by its bare name.
#pragma once

#include "mcr/mc_runtime_api.h"
