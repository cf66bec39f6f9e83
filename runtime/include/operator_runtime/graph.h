/*
 * Capture of a stream's work into a graph that can be launched again.
 */
#ifndef OPERATOR_RUNTIME_GRAPH_H
#define OPERATOR_RUNTIME_GRAPH_H

#include "operator_runtime/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From now on work given to the stream is recorded, not run. The default stream cannot be captured (OPRT_ERR_INVALID_ARGUMENT). */
OPRT_API oprt_status_t oprt_begin_capture(oprt_stream_t stream);

/** End the capture and make a graph of it. Pointers given to the captured calls must stay valid as long as the graph is launched. */
OPRT_API oprt_status_t oprt_end_capture(oprt_graph_t *graph, oprt_stream_t stream);

/** Run the captured work in the order of the stream. One graph may not run twice at the same time. */
OPRT_API oprt_status_t oprt_launch_graph(oprt_graph_t graph, oprt_stream_t stream);

/** Free a graph. Null succeeds. */
OPRT_API oprt_status_t oprt_destroy_graph(oprt_graph_t graph);

#ifdef __cplusplus
}
#endif

#endif
