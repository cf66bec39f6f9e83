// What the calling thread has selected - backend, device, technique, launch overlap - and the device that follows from it.
#pragma once

#include "runtime/src/module_loader.h"

namespace oprt {

// The device of the calling thread's next call, AUTO resolved. Loads modules where needed; throws when nothing fits.
device_binding current_device();

// "" for the reference kernel.
const std::string &current_technique();

// Whether launches of the thread's next descriptor may overlap.
bool current_launch_overlap();

}  // namespace oprt
