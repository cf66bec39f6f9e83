/*
 * Everything of Operator Runtime in one include. operator_runtime/ops.h is made by the build: it includes each header of ops/.
 *
 * How a call runs: oprt_create_<op>_descriptor checks shapes once; oprt_get_<op>_workspace_size says how much scratch memory
 * to bring; oprt_execute_<op> queues the kernel on a stream, as often as wanted; oprt_destroy_<op>_descriptor ends it.
 */
#ifndef OPERATOR_RUNTIME_OPERATOR_RUNTIME_H
#define OPERATOR_RUNTIME_OPERATOR_RUNTIME_H

#include "operator_runtime/device.h"
#include "operator_runtime/graph.h"
#include "operator_runtime/ops.h"
#include "operator_runtime/probe.h"
#include "operator_runtime/types.h"

#endif
