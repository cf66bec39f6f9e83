/*
 * Softmax of a 3 x 4 matrix along its last axis, in C99 with nothing but the umbrella header.
 *
 *   cc -std=c99 -Iruntime/include -Ibuild-nvidia/generated docs/examples/softmax.c \
 *      -Lbuild-nvidia -lcamp_ops -Wl,-rpath,$PWD/build-nvidia -o /tmp/softmax
 *   /tmp/softmax                                the first backend with a GPU, else the first with an emulator
 *   CAMP_DEVICE=emulator /tmp/softmax           the emulator
 */
#include <stdio.h>

#include "operator_runtime/operator_runtime.h"

#define ROWS 3
#define COLUMNS 4

/* Leave the function with a message when a call fails. */
#define TRY(call)                                                                                               \
    do {                                                                                                        \
        const oprt_status_t status = (call);                                                                    \
        if (status != OPRT_SUCCESS) {                                                                           \
            fprintf(stderr, "%s failed: %s: %s\n", #call, oprt_status_name(status), oprt_last_error_message()); \
            return status;                                                                                      \
        }                                                                                                       \
    } while (0)

/* What one softmax owns; everything null or 0 at first. */
struct softmax {
    oprt_descriptor_t descriptor;
    void *workspace;
    void *x; /* [ROWS, COLUMNS] */
    void *y; /* [ROWS, COLUMNS] */
};

/* A contiguous float32 matrix. Strides count elements. */
static oprt_tensor_t matrix(void) {
    oprt_tensor_t tensor = {0};
    tensor.struct_size = sizeof tensor;
    tensor.dtype = OPRT_DTYPE_FLOAT32;
    tensor.ndim = 2;
    tensor.shape[0] = ROWS;
    tensor.shape[1] = COLUMNS;
    tensor.strides[0] = COLUMNS;
    tensor.strides[1] = 1;
    return tensor;
}

static oprt_status_t run(struct softmax *softmax, float (*result)[COLUMNS], const float (*input)[COLUMNS]) {
    const size_t size_bytes = sizeof(float) * ROWS * COLUMNS;
    const oprt_tensor_t tensor = matrix();
    size_t workspace_bytes = 0;

    TRY(oprt_create_softmax_descriptor(&softmax->descriptor, &tensor, &tensor, -1));
    TRY(oprt_get_softmax_workspace_size(softmax->descriptor, &workspace_bytes));
    TRY(oprt_allocate_memory(&softmax->workspace, workspace_bytes));
    TRY(oprt_allocate_memory(&softmax->x, size_bytes));
    TRY(oprt_allocate_memory(&softmax->y, size_bytes));

    /* All of it in the order of the default stream, the null one. */
    TRY(oprt_copy_memory(softmax->x, input, size_bytes, NULL));
    TRY(oprt_execute_softmax(softmax->descriptor, softmax->workspace, workspace_bytes, softmax->y, softmax->x, NULL));
    TRY(oprt_copy_memory(result, softmax->y, size_bytes, NULL));
    TRY(oprt_synchronize_stream(NULL));
    return OPRT_SUCCESS;
}

/* Null is freed and destroyed too, so this is right after any failure. */
static void clear(struct softmax *softmax) {
    oprt_free_memory(softmax->y);
    oprt_free_memory(softmax->x);
    oprt_free_memory(softmax->workspace);
    oprt_destroy_softmax_descriptor(softmax->descriptor);
}

static oprt_status_t print_device(void) {
    oprt_device_properties_t properties = {0};
    oprt_backend_t backend;
    properties.struct_size = sizeof properties;
    TRY(oprt_get_backend(&backend));
    TRY(oprt_get_device_properties(&properties));
    printf("backend %s, device %s\n", oprt_backend_name(backend), properties.name);
    return OPRT_SUCCESS;
}

int main(void) {
    static const float input[ROWS][COLUMNS] = {{1, 2, 3, 4}, {0, 0, 0, 0}, {1000, 1001, 1002, -1000}};
    float result[ROWS][COLUMNS];
    struct softmax softmax = {NULL, NULL, NULL, NULL};
    oprt_status_t status = print_device();
    int row;
    int column;

    if (status == OPRT_SUCCESS) status = run(&softmax, result, input);
    clear(&softmax);
    if (status != OPRT_SUCCESS) return 1;

    for (row = 0; row < ROWS; ++row) {
        float sum = 0;
        for (column = 0; column < COLUMNS; ++column) {
            printf("%8.4f", result[row][column]);
            sum += result[row][column];
        }
        printf("   sum %.4f\n", sum);
    }
    return 0;
}
