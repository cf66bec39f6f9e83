// The probes of operator_runtime/probe.h as entries of the module table. Arguments were checked by runtime/src.
#pragma once

#include "backends/module.h"

namespace oprt {

oprt_status_t probe_variant_count(int32_t *count, oprt_probe_t probe, module_message &message);
oprt_status_t run_probe(oprt_probe_t probe, int32_t variant, void *destination, const void *source, size_t size_bytes,
                        oprt_stream_t stream, module_message &message);
oprt_status_t measure_launches(double *samples_us, int32_t samples, int32_t burst, oprt_stream_t stream,
                               module_message &message);

}  // namespace oprt
