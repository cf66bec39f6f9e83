// The launchers that a module holds, looked up by operator and technique.
#pragma once

#include <string>

#include "runtime/src/module_loader.h"

namespace oprt {

int32_t launcher_count(const loaded_module &module);

// The function that runs the operator with that technique ("" is the reference). Throws, naming those that the module
// has, when there is none, and refuses a launcher that was compiled with another plan than plan_hash.
launcher_function find_launcher(const loaded_module &module, const char *op, const std::string &technique,
                                const char *plan_hash);

}  // namespace oprt
