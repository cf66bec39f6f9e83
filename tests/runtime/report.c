/*
 * Answers one line for each line read: "BACKEND DEVICE INDEX" as numbers, or "default" to leave the selection alone.
 * The answer is the status of making a copy descriptor there, then the module's path or the message with its lines
 * joined by " | ". In C99, so that this shows too that the API is C.
 */
#include <stdio.h>
#include <string.h>

#include "operator_runtime/operator_runtime.h"

static oprt_status_t make_copy(void) {
    oprt_tensor_t tensor = {0};
    oprt_descriptor_t descriptor = NULL;
    oprt_status_t status;
    tensor.struct_size = sizeof tensor;
    tensor.dtype = OPRT_DTYPE_FLOAT32;
    status = oprt_create_copy_descriptor(&descriptor, &tensor, &tensor);
    if (status == OPRT_SUCCESS) status = oprt_destroy_copy_descriptor(descriptor);
    return status;
}

static oprt_status_t answer(const char *line) {
    int backend;
    int kind;
    int index;
    if (strncmp(line, "default", 7) != 0) {
        oprt_status_t status;
        if (sscanf(line, "%d %d %d", &backend, &kind, &index) != 3) return OPRT_ERR_RUNTIME;
        status = oprt_set_backend((oprt_backend_t)backend);
        if (status == OPRT_SUCCESS) status = oprt_set_device((oprt_device_kind_t)kind, index);
        if (status != OPRT_SUCCESS) return status;
    }
    return make_copy();
}

static void print_joined(const char *text) {
    for (; *text != '\0'; ++text) {
        if (*text == '\n')
            fputs(" | ", stdout);
        else
            putchar(*text);
    }
}

int main(void) {
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *path = "";
        const oprt_status_t status = answer(line);
        printf("%s ", oprt_status_name(status));
        if (status == OPRT_SUCCESS && oprt_get_module_path(&path) == OPRT_SUCCESS)
            fputs(path, stdout);
        else
            print_joined(oprt_last_error_message());
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}
