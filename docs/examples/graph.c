/*
 * Two operators captured once and launched again and again: y = relu(a + b), on a stream of its own, timed by events.
 * C99.
 *
 *   cc -std=c99 -Iruntime/include -Ibuild-nvidia/generated docs/examples/graph.c \
 *      -Lbuild-nvidia -lcamp_ops -Wl,-rpath,$PWD/build-nvidia -o /tmp/graph
 */
#include <stdio.h>

#include "operator_runtime/operator_runtime.h"

#define ELEMENTS 5
#define LAUNCHES 10

/* Leave the function with a message when a call fails. */
#define TRY(call)                                                                                               \
    do {                                                                                                        \
        const oprt_status_t status = (call);                                                                    \
        if (status != OPRT_SUCCESS) {                                                                           \
            fprintf(stderr, "%s failed: %s: %s\n", #call, oprt_status_name(status), oprt_last_error_message()); \
            return status;                                                                                      \
        }                                                                                                       \
    } while (0)

/* What the program owns; everything null at first. */
struct work {
    oprt_stream_t stream;
    oprt_event_t start, stop;
    oprt_descriptor_t add, relu;
    oprt_graph_t graph;
    void *a, *b, *y; /* each [ELEMENTS] */
};

static oprt_status_t prepare(struct work *work) {
    const size_t size_bytes = sizeof(float) * ELEMENTS;
    oprt_tensor_t vector = {0};
    vector.struct_size = sizeof vector;
    vector.dtype = OPRT_DTYPE_FLOAT32;
    vector.ndim = 1;
    vector.shape[0] = ELEMENTS;
    vector.strides[0] = 1;

    TRY(oprt_create_stream(&work->stream));
    TRY(oprt_create_event(&work->start));
    TRY(oprt_create_event(&work->stop));
    TRY(oprt_create_vector_add_descriptor(&work->add, &vector, &vector, &vector));
    TRY(oprt_create_relu_descriptor(&work->relu, &vector, &vector, 0.0));
    TRY(oprt_allocate_memory(&work->a, size_bytes));
    TRY(oprt_allocate_memory(&work->b, size_bytes));
    TRY(oprt_allocate_memory(&work->y, size_bytes));
    return OPRT_SUCCESS;
}

/* Between begin and end nothing runs: the calls are recorded. Neither operator needs a workspace; relu works in place.
 */
static oprt_status_t capture(struct work *work) {
    TRY(oprt_begin_capture(work->stream));
    TRY(oprt_execute_vector_add(work->add, NULL, 0, work->y, work->a, work->b, work->stream));
    TRY(oprt_execute_relu(work->relu, NULL, 0, work->y, work->y, work->stream));
    TRY(oprt_end_capture(&work->graph, work->stream));
    return OPRT_SUCCESS;
}

static oprt_status_t run(struct work *work, float *result, float *time_ms) {
    static const float a[ELEMENTS] = {-2, -1, 0, 1, 2};
    static const float b[ELEMENTS] = {1, 1, 1, 1, 1};
    int launch;

    TRY(oprt_copy_memory(work->a, a, sizeof a, work->stream));
    TRY(oprt_copy_memory(work->b, b, sizeof b, work->stream));
    TRY(oprt_record_event(work->start, work->stream));
    for (launch = 0; launch < LAUNCHES; ++launch) TRY(oprt_launch_graph(work->graph, work->stream));
    TRY(oprt_record_event(work->stop, work->stream));
    TRY(oprt_copy_memory(result, work->y, sizeof a, work->stream));
    TRY(oprt_synchronize_stream(work->stream));
    TRY(oprt_elapsed_time(time_ms, work->start, work->stop));
    return OPRT_SUCCESS;
}

/* Null is freed and destroyed too, so this is right after any failure. */
static void clear(struct work *work) {
    oprt_destroy_graph(work->graph);
    oprt_free_memory(work->y);
    oprt_free_memory(work->b);
    oprt_free_memory(work->a);
    oprt_destroy_relu_descriptor(work->relu);
    oprt_destroy_vector_add_descriptor(work->add);
    oprt_destroy_event(work->stop);
    oprt_destroy_event(work->start);
    oprt_destroy_stream(work->stream);
}

int main(void) {
    struct work work = {0};
    float result[ELEMENTS];
    float time_ms = 0;
    oprt_status_t status = prepare(&work);
    int i;

    if (status == OPRT_SUCCESS) status = capture(&work);
    if (status == OPRT_SUCCESS) status = run(&work, result, &time_ms);
    clear(&work);
    if (status != OPRT_SUCCESS) return 1;

    printf("relu(a + b) =");
    for (i = 0; i < ELEMENTS; ++i) printf(" %g", result[i]);
    printf("\n%d launches took %.3f ms\n", LAUNCHES, time_ms);
    return 0;
}
