// The C API on a fake backend: handles, shapes, pointers, workspace, memory, streams, graphs, and every status.
// The fakes are nvidia gpu:0 and gpu:1 and the metax emulator (see test_programs.py).
#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "copy/copy.h"
#include "elementwise/relu/relu.h"
#include "fake_module.h"
#include "reduce_sum/reduce_sum.h"
#include "softmax/softmax.h"
#include "vector_add/vector_add.h"

namespace {

constexpr oprt_dtype_t f32 = OPRT_DTYPE_FLOAT32;

fake_state &fake() {
    const char *path = nullptr;
    OK(oprt_get_module_path(&path));
    return state_of(path);
}

oprt_descriptor_t copy_of(const oprt_tensor_t &y, const oprt_tensor_t &x) {
    oprt_descriptor_t made = nullptr;
    OK(oprt_create_copy_descriptor(&made, &y, &x));
    CHECK(made != nullptr);
    return made;
}

oprt_descriptor_t small_copy() { return copy_of(tensor(f32, {4}), tensor(f32, {4})); }

oprt_status_t create_copy(const oprt_tensor_t &y, const oprt_tensor_t &x) {
    auto made = reinterpret_cast<oprt_descriptor_t>(1);
    const oprt_status_t status = oprt_create_copy_descriptor(&made, &y, &x);
    if (status == OPRT_SUCCESS)
        OK(oprt_destroy_copy_descriptor(made));
    else
        CHECK(made == nullptr);
    return status;
}

oprt_status_t create_softmax(const oprt_tensor_t &y, const oprt_tensor_t &x, int32_t axis) {
    auto made = reinterpret_cast<oprt_descriptor_t>(1);
    const oprt_status_t status = oprt_create_softmax_descriptor(&made, &y, &x, axis);
    if (status == OPRT_SUCCESS)
        OK(oprt_destroy_softmax_descriptor(made));
    else
        CHECK(made == nullptr);
    return status;
}

oprt_status_t create_sum(const oprt_tensor_t &y, const oprt_tensor_t &x, std::vector<int32_t> axes,
                         int32_t count = -9) {
    auto made = reinterpret_cast<oprt_descriptor_t>(1);
    const int32_t axis_count = count == -9 ? static_cast<int32_t>(axes.size()) : count;
    const oprt_status_t status = oprt_create_reduce_sum_descriptor(&made, &y, &x, axes.data(), axis_count);
    if (status == OPRT_SUCCESS)
        OK(oprt_destroy_reduce_sum_descriptor(made));
    else
        CHECK(made == nullptr);
    return status;
}

// The plan that a copy of these tensors gives to its launcher.
oprt::layout<2> copy_layout(const oprt_tensor_t &y, const oprt_tensor_t &x) {
    const memory buffers(1 << 20);
    const oprt_descriptor_t descriptor = copy_of(y, x);
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(1 << 16), buffers.at(1 << 18), nullptr));
    OK(oprt_destroy_copy_descriptor(descriptor));
    return last_plan<oprt::copy_plan>(fake()).elements;
}

}  // namespace

// Handles.

TEST(a_descriptor_lives_from_create_to_destroy) {
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    size_t size_bytes = 1;
    OK(oprt_get_copy_workspace_size(descriptor, &size_bytes));
    CHECK(size_bytes == 0);
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), nullptr));
    CHECK(fake().launches == 1 && std::strcmp(fake().op, "copy") == 0);
    CHECK(fake().pointers[0] == buffers.at(0) && fake().pointers[1] == buffers.at(256));
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(a_destroyed_descriptor_is_refused_for_ever) {
    const memory buffers(1024);
    const oprt_descriptor_t old = small_copy();
    OK(oprt_destroy_copy_descriptor(old));
    for (int i = 0; i < 1000; ++i) {
        const oprt_descriptor_t next = small_copy();  // takes the same slot
        CHECK(next != old);
        size_t size_bytes;
        REFUSED(oprt_destroy_copy_descriptor(old), OPRT_ERR_INVALID_HANDLE, "copy: ");
        REFUSED(oprt_execute_copy(old, nullptr, 0, buffers.at(0), buffers.at(256), nullptr), OPRT_ERR_INVALID_HANDLE,
                "no living descriptor");
        REFUSED(oprt_get_copy_workspace_size(old, &size_bytes), OPRT_ERR_INVALID_HANDLE, "no living descriptor");
        OK(oprt_destroy_copy_descriptor(next));
    }
    CHECK(fake().launches == 0);
}

TEST(null_and_foreign_descriptors_are_refused) {
    const memory buffers(1024);
    const oprt_descriptor_t copy = small_copy();
    size_t size_bytes;
    OK(oprt_destroy_copy_descriptor(nullptr));
    REFUSED(oprt_execute_copy(nullptr, nullptr, 0, buffers.at(0), buffers.at(256), nullptr), OPRT_ERR_INVALID_HANDLE,
            "copy: ");
    REFUSED(oprt_execute_softmax(copy, nullptr, 0, buffers.at(0), buffers.at(256), nullptr), OPRT_ERR_INVALID_HANDLE,
            "softmax: the descriptor belongs to copy");
    REFUSED(oprt_destroy_relu_descriptor(copy), OPRT_ERR_INVALID_HANDLE, "relu: the descriptor belongs to copy");
    REFUSED(oprt_get_reduce_sum_workspace_size(copy, &size_bytes), OPRT_ERR_INVALID_HANDLE,
            "reduce_sum: the descriptor belongs to copy");
    REFUSED(oprt_launch_graph(reinterpret_cast<oprt_graph_t>(copy), nullptr), OPRT_ERR_INVALID_HANDLE,
            "no living graph");
    OK(oprt_destroy_copy_descriptor(copy));
}

TEST(made_up_handles_are_refused) {
    const memory buffers(1024);
    const oprt_descriptor_t living = small_copy();
    std::mt19937_64 random(20);
    for (int i = 0; i < 50000; ++i) {
        uint64_t value = random();
        if (i % 4 == 1) value = reinterpret_cast<uint64_t>(living) ^ uint64_t { 1 } << (i / 4 % 64);
        if (i % 4 == 2) value = reinterpret_cast<uint64_t>(&value);
        if (i % 4 == 3) value >>= i / 4 % 64;
        if (value == reinterpret_cast<uint64_t>(living)) continue;
        const auto handle = reinterpret_cast<oprt_descriptor_t>(value);
        size_t size_bytes;
        CHECK(oprt_execute_copy(handle, nullptr, 0, buffers.at(0), buffers.at(256), nullptr) ==
              OPRT_ERR_INVALID_HANDLE);
        CHECK(oprt_get_copy_workspace_size(handle, &size_bytes) == OPRT_ERR_INVALID_HANDLE);
        CHECK(value == 0 || oprt_destroy_copy_descriptor(handle) == OPRT_ERR_INVALID_HANDLE);
        CHECK(value == 0 || oprt_destroy_graph(reinterpret_cast<oprt_graph_t>(value)) == OPRT_ERR_INVALID_HANDLE);
    }
    OK(oprt_execute_copy(living, nullptr, 0, buffers.at(0), buffers.at(256), nullptr));
    OK(oprt_destroy_copy_descriptor(living));
}

TEST(many_descriptors_live_at_once) {
    std::vector<oprt_descriptor_t> living;
    for (int i = 0; i < 5000; ++i) living.push_back(small_copy());
    for (size_t i = 0; i < living.size(); i += 2) OK(oprt_destroy_copy_descriptor(living[i]));
    for (size_t i = 0; i < living.size(); ++i) {
        size_t size_bytes;
        CHECK(oprt_get_copy_workspace_size(living[i], &size_bytes) ==
              (i % 2 == 0 ? OPRT_ERR_INVALID_HANDLE : OPRT_SUCCESS));
    }
    for (size_t i = 1; i < living.size(); i += 2) OK(oprt_destroy_copy_descriptor(living[i]));
}

// Null outputs and messages.

TEST(null_outputs_are_refused) {
    const oprt_tensor_t t = tensor(f32, {4});
    const oprt_descriptor_t descriptor = small_copy();
    REFUSED(oprt_create_copy_descriptor(nullptr, &t, &t), OPRT_ERR_INVALID_ARGUMENT,
            "copy: output pointer descriptor is null");
    REFUSED(oprt_get_copy_workspace_size(descriptor, nullptr), OPRT_ERR_INVALID_ARGUMENT, "size_bytes is null");
    REFUSED(oprt_allocate_memory(nullptr, 1), OPRT_ERR_INVALID_ARGUMENT,
            "oprt_allocate_memory: output pointer pointer is null");
    REFUSED(oprt_create_stream(nullptr), OPRT_ERR_INVALID_ARGUMENT, "stream is null");
    REFUSED(oprt_create_event(nullptr), OPRT_ERR_INVALID_ARGUMENT, "event is null");
    REFUSED(oprt_end_capture(nullptr, nullptr), OPRT_ERR_INVALID_ARGUMENT, "graph is null");
    REFUSED(oprt_get_backend(nullptr), OPRT_ERR_INVALID_ARGUMENT, "backend is null");
    REFUSED(oprt_get_device(nullptr, nullptr), OPRT_ERR_INVALID_ARGUMENT, "kind is null");
    REFUSED(oprt_get_device_count(nullptr, OPRT_BACKEND_NVIDIA, OPRT_DEVICE_GPU), OPRT_ERR_INVALID_ARGUMENT,
            "count is null");
    REFUSED(oprt_get_device_properties(nullptr), OPRT_ERR_INVALID_ARGUMENT, "properties is null");
    REFUSED(oprt_get_kernel_count(nullptr), OPRT_ERR_INVALID_ARGUMENT, "count is null");
    REFUSED(oprt_get_kernel_info(nullptr, 0), OPRT_ERR_INVALID_ARGUMENT, "info is null");
    REFUSED(oprt_get_module_path(nullptr), OPRT_ERR_INVALID_ARGUMENT, "path is null");
    REFUSED(oprt_elapsed_time(nullptr, nullptr, nullptr), OPRT_ERR_INVALID_ARGUMENT, "time_ms is null");
    REFUSED(oprt_dtype_size(nullptr, f32), OPRT_ERR_INVALID_ARGUMENT, "size_bytes is null");
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(success_does_not_touch_the_message) {
    CHECK(oprt_last_error_message() != nullptr && oprt_last_error_message()[0] == '\0');
    REFUSED(oprt_set_backend(static_cast<oprt_backend_t>(9)), OPRT_ERR_INVALID_ARGUMENT,
            "oprt_set_backend: unknown backend 9, wanted 0 (auto), 1 (nvidia) or 2 (metax)");
    const std::string message = oprt_last_error_message();
    OK(oprt_set_device(OPRT_DEVICE_AUTO, 0));
    const oprt_descriptor_t descriptor = small_copy();  // AUTO: nvidia's gpu is taken
    OK(oprt_destroy_copy_descriptor(descriptor));
    CHECK(message == oprt_last_error_message());
}

TEST(names_of_unknown_values) {
    CHECK(std::strcmp(oprt_version(), "0.1.0") == 0);
    CHECK(std::strstr(oprt_build_information(), "interface hash: ") != nullptr);
    CHECK(std::strcmp(oprt_status_name(OPRT_ERR_RUNTIME), "OPRT_ERR_RUNTIME") == 0);
    CHECK(std::strcmp(oprt_status_name(static_cast<oprt_status_t>(13)), "OPRT_STATUS_UNKNOWN") == 0);
    CHECK(std::strcmp(oprt_status_name(static_cast<oprt_status_t>(-1)), "OPRT_STATUS_UNKNOWN") == 0);
    CHECK(std::strcmp(oprt_backend_name(OPRT_BACKEND_METAX), "metax") == 0);
    CHECK(std::strcmp(oprt_backend_name(static_cast<oprt_backend_t>(3)), "unknown") == 0);
    CHECK(std::strcmp(oprt_dtype_name(OPRT_DTYPE_BITS128), "bits128") == 0);
    CHECK(std::strcmp(oprt_dtype_name(static_cast<oprt_dtype_t>(99)), "unknown") == 0);
    size_t size_bytes = 1;
    OK(oprt_dtype_size(&size_bytes, OPRT_DTYPE_BITS128));
    CHECK(size_bytes == 16);
    REFUSED(oprt_dtype_size(&size_bytes, static_cast<oprt_dtype_t>(99)), OPRT_ERR_UNSUPPORTED_DTYPE,
            "unknown dtype 99");
}

// Tensors.

TEST(tensors_out_of_range_are_refused) {
    const oprt_tensor_t good = tensor(f32, {4});
    oprt_descriptor_t made = nullptr;
    REFUSED(oprt_create_copy_descriptor(&made, nullptr, &good), OPRT_ERR_INVALID_ARGUMENT, "copy: y is null");
    REFUSED(oprt_create_copy_descriptor(&made, &good, nullptr), OPRT_ERR_INVALID_ARGUMENT, "copy: x is null");

    oprt_tensor_t bad = good;
    bad.struct_size = 0;
    REFUSED(create_copy(bad, good), OPRT_ERR_INVALID_ARGUMENT, "copy: y has struct_size 0, wanted");
    bad = good;
    bad.ndim = -1;
    REFUSED(create_copy(good, bad), OPRT_ERR_INVALID_ARGUMENT, "copy: x has -1 dimensions, wanted 0 to 8");
    bad.ndim = 9;
    REFUSED(create_copy(good, bad), OPRT_ERR_INVALID_ARGUMENT, "copy: x has 9 dimensions, wanted 0 to 8");
    bad = good;
    bad.shape[0] = -4;
    REFUSED(create_copy(bad, good), OPRT_ERR_INVALID_ARGUMENT, "copy: y has extent -4 in dimension 0");
    bad = good;
    const int32_t unknown = 99;
    std::memcpy(&bad.dtype, &unknown, sizeof unknown);
    REFUSED(create_copy(good, bad), OPRT_ERR_UNSUPPORTED_DTYPE, "copy: x has unknown dtype 99");
}

TEST(products_and_byte_extents_must_fit) {
    const int64_t half = int64_t{1} << 32;
    REFUSED(create_copy(tensor(f32, {half, half}), tensor(f32, {4})), OPRT_ERR_INVALID_ARGUMENT,
            "does not fit in 63 bits");
    REFUSED(create_copy(tensor(f32, {half, 0, half}), tensor(f32, {4})), OPRT_ERR_INVALID_ARGUMENT,
            "does not fit in 63 bits");
    REFUSED(create_copy(tensor(f32, {4}), tensor(f32, {2, INT64_MAX})), OPRT_ERR_INVALID_ARGUMENT,
            "does not fit in 63 bits");
    // The number of elements fits, the bytes do not.
    REFUSED(create_copy(tensor(OPRT_DTYPE_BITS128, {int64_t{1} << 60}), tensor(f32, {4})), OPRT_ERR_INVALID_ARGUMENT,
            "2^63 - 1 bytes");
    REFUSED(create_copy(tensor(f32, {2}, {INT64_MAX}), tensor(f32, {2})), OPRT_ERR_INVALID_ARGUMENT, "2^63 - 1 bytes");
    REFUSED(create_copy(tensor(f32, {2}, {INT64_MIN}), tensor(f32, {2})), OPRT_ERR_INVALID_ARGUMENT, "2^63 - 1 bytes");
    REFUSED(create_copy(tensor(OPRT_DTYPE_BITS8, {2, 2}, {INT64_MAX - 1, -INT64_MAX}), tensor(f32, {2, 2})),
            OPRT_ERR_INVALID_ARGUMENT, "2^63 - 1 bytes");
    // Strides of an empty tensor and of extents of 1 mean nothing; a broadcast source may be huge.
    OK(create_copy(tensor(f32, {0, 2}, {INT64_MIN, INT64_MAX}), tensor(f32, {0, 2}, {7, INT64_MIN})));
    OK(create_copy(tensor(f32, {1}, {INT64_MIN}), tensor(f32, {1}, {INT64_MAX})));
    OK(create_sum(tensor(f32, {}), tensor(f32, {INT64_MAX}, {0}), {0}));
}

TEST(outputs_with_overlapping_elements_are_refused) {
    const oprt_tensor_t x = tensor(f32, {3, 4});
    REFUSED(create_copy(tensor(f32, {3, 4}, {0, 1}), x), OPRT_ERR_INVALID_ARGUMENT,
            "copy: y has shape [3, 4] and strides [0, 1]: its elements overlap or interleave");
    REFUSED(create_copy(tensor(f32, {3, 4}, {3, 1}), x), OPRT_ERR_INVALID_ARGUMENT, "overlap or interleave");
    REFUSED(create_copy(tensor(f32, {3, 4}, {1, 1}), x), OPRT_ERR_INVALID_ARGUMENT, "overlap or interleave");
    REFUSED(create_copy(tensor(f32, {3, 4}, {-3, 1}), x), OPRT_ERR_INVALID_ARGUMENT, "overlap or interleave");
    OK(create_copy(tensor(f32, {3, 4}, {1, 3}), x));
    OK(create_copy(tensor(f32, {3, 4}, {-4, 1}), x));
    OK(create_copy(tensor(f32, {3, 4}, {100, -7}), x));
    OK(create_copy(tensor(f32, {1, 4}, {0, 1}), tensor(f32, {1, 4})));
    OK(create_copy(tensor(f32, {0, 4}, {0, 0}), tensor(f32, {0, 4})));
    OK(create_copy(x, tensor(f32, {3, 4}, {0, 0})));
}

TEST(shapes_and_dtypes_must_go_together) {
    REFUSED(create_copy(tensor(f32, {4, 8}), tensor(f32, {4, 16})), OPRT_ERR_INVALID_ARGUMENT,
            "copy: y has shape [4, 8], wanted [4, 16]");
    REFUSED(create_copy(tensor(f32, {4}), tensor(OPRT_DTYPE_BITS32, {4})), OPRT_ERR_UNSUPPORTED_DTYPE,
            "copy: y has dtype float32, wanted bits32 as x has");
    REFUSED(create_softmax(tensor(f32, {4, 8}), tensor(f32, {4, 16}), 0), OPRT_ERR_INVALID_ARGUMENT,
            "softmax: y has shape [4, 8], wanted [4, 16]");
    REFUSED(create_softmax(tensor(OPRT_DTYPE_BITS32, {4}), tensor(OPRT_DTYPE_BITS32, {4}), 0),
            OPRT_ERR_UNSUPPORTED_DTYPE, "softmax: x has dtype bits32, wanted float16, bfloat16, float32 or float64");
    REFUSED(create_softmax(tensor(OPRT_DTYPE_FLOAT16, {4}), tensor(f32, {4}), 0), OPRT_ERR_UNSUPPORTED_DTYPE,
            "softmax: y has dtype float16, wanted float32 as x has");
}

TEST(axes_are_checked) {
    const oprt_tensor_t x = tensor(f32, {4, 8});
    OK(create_softmax(x, x, -2));
    OK(create_softmax(x, x, 1));
    REFUSED(create_softmax(x, x, 5), OPRT_ERR_INVALID_ARGUMENT,
            "softmax: axis 5 is out of range, wanted -2 to 1 for 2 dimensions");
    REFUSED(create_softmax(x, x, -3), OPRT_ERR_INVALID_ARGUMENT, "softmax: axis -3 is out of range");
    REFUSED(create_softmax(x, x, INT32_MIN), OPRT_ERR_INVALID_ARGUMENT, "out of range");
    REFUSED(create_softmax(tensor(f32, {}), tensor(f32, {}), 0), OPRT_ERR_INVALID_ARGUMENT, "a scalar has no axis");

    REFUSED(create_sum(tensor(f32, {4}), x, {2}), OPRT_ERR_INVALID_ARGUMENT,
            "reduce_sum: axis 2 is out of range, wanted -2 to 1");
    REFUSED(create_sum(tensor(f32, {4}), x, {1, -1}), OPRT_ERR_INVALID_ARGUMENT, "reduce_sum: axis -1 is given twice");
    REFUSED(create_sum(tensor(f32, {4}), x, {}, -2), OPRT_ERR_INVALID_ARGUMENT, "reduce_sum: axis_count is -2");
    oprt_descriptor_t made = nullptr;
    const oprt_tensor_t y = tensor(f32, {4});
    REFUSED(oprt_create_reduce_sum_descriptor(&made, &y, &x, nullptr, 1), OPRT_ERR_INVALID_ARGUMENT,
            "reduce_sum: axes is null");
}

TEST(reduce_sum_takes_removed_and_kept_axes) {
    const oprt_tensor_t x = tensor(f32, {2, 3, 4});
    OK(create_sum(tensor(f32, {2, 4}), x, {1}));
    OK(create_sum(tensor(f32, {2, 1, 4}), x, {1}));
    OK(create_sum(tensor(f32, {3}), x, {0, 2}));
    OK(create_sum(tensor(f32, {1, 3, 1}), x, {-1, 0}));
    OK(create_sum(tensor(f32, {}), x, {}, -1));
    OK(create_sum(tensor(f32, {1, 1, 1}), x, {}, -1));
    OK(create_sum(x, x, {}));
    OK(create_sum(tensor(f32, {}), tensor(f32, {}), {}));
    REFUSED(create_sum(tensor(f32, {2, 3}), x, {1}), OPRT_ERR_INVALID_ARGUMENT,
            "reduce_sum: y has shape [2, 3], wanted [2, 4] or [2, 1, 4]");
    REFUSED(create_sum(tensor(f32, {2, 3, 4}), x, {1}), OPRT_ERR_INVALID_ARGUMENT, "wanted [2, 4] or [2, 1, 4]");
}

TEST(inputs_broadcast_to_the_output) {
    const oprt_tensor_t y = tensor(f32, {2, 3});
    const oprt_tensor_t row = tensor(f32, {3});
    const oprt_tensor_t column = tensor(f32, {2, 1});
    const oprt_tensor_t scalar = tensor(f32, {});
    const oprt_tensor_t long_row = tensor(f32, {4});
    const oprt_tensor_t deep = tensor(f32, {1, 2, 3});
    oprt_descriptor_t made = nullptr;
    OK(oprt_create_vector_add_descriptor(&made, &y, &row, &column));
    OK(oprt_destroy_vector_add_descriptor(made));
    OK(oprt_create_relu_descriptor(&made, &y, &scalar, NAN));
    OK(oprt_destroy_relu_descriptor(made));
    REFUSED(oprt_create_relu_descriptor(&made, &y, &long_row, 0), OPRT_ERR_INVALID_ARGUMENT,
            "relu: x has shape [4], which does not broadcast to [2, 3] of y");
    REFUSED(oprt_create_vector_add_descriptor(&made, &y, &row, &deep), OPRT_ERR_INVALID_ARGUMENT,
            "vector_add: b has shape [1, 2, 3]");
    REFUSED(oprt_create_vector_add_descriptor(&made, &row, &row, &y), OPRT_ERR_INVALID_ARGUMENT, "does not broadcast");
}

// Layouts and plans.

TEST(contiguous_tensors_become_one_dimension) {
    const auto dense = copy_layout(tensor(f32, {2, 3, 4}), tensor(f32, {2, 3, 4}));
    CHECK(dense.elements == 24 && dense.ndim == 1 && dense.dense == 1 && dense.shape[0] == 24);
    const auto transposed_both = copy_layout(tensor(f32, {3, 4}, {1, 3}), tensor(f32, {3, 4}, {1, 3}));
    CHECK(transposed_both.dense == 1 && transposed_both.shape[0] == 12);
    const auto scalar = copy_layout(tensor(f32, {1, 1}), tensor(f32, {1, 1}, {7, -9}));
    CHECK(scalar.elements == 1 && scalar.ndim == 0 && scalar.dense == 1);
}

TEST(other_layouts_keep_what_they_need) {
    const auto transposed = copy_layout(tensor(f32, {3, 4}), tensor(f32, {3, 4}, {1, 3}));
    CHECK(transposed.ndim == 2 && transposed.dense == 0 && transposed.shape[0] == 3 && transposed.strides[1][1] == 3);
    const auto reversed = copy_layout(tensor(f32, {2, 3}), tensor(f32, {2, 3}, {-3, -1}));
    CHECK(reversed.ndim == 1 && reversed.dense == 0 && reversed.strides[0][0] == 1 && reversed.strides[1][0] == -1);
    const auto rows = copy_layout(tensor(f32, {2, 3, 4}, {48, 4, 1}), tensor(f32, {2, 3, 4}));
    CHECK(rows.ndim == 2 && rows.shape[0] == 2 && rows.shape[1] == 12 && rows.strides[0][0] == 48 &&
          rows.strides[1][0] == 12);
    const auto output_first = copy_layout(tensor(f32, {3, 4}, {1, 3}), tensor(f32, {3, 4}));
    CHECK(output_first.shape[0] == 4 && output_first.strides[0][0] == 3 && output_first.strides[1][0] == 1);
    const auto repeated = copy_layout(tensor(f32, {2, 3, 4}), tensor(f32, {2, 3, 4}, {0, 0, 1}));
    CHECK(repeated.ndim == 2 && repeated.shape[0] == 6 && repeated.strides[1][0] == 0);
}

TEST(copy_is_planned_as_bits) {
    const memory buffers(4096);
    const struct {
        oprt_dtype_t given, planned;
    } pairs[] = {{OPRT_DTYPE_FLOAT16, OPRT_DTYPE_BITS16},
                 {OPRT_DTYPE_BFLOAT16, OPRT_DTYPE_BITS16},
                 {f32, OPRT_DTYPE_BITS32},
                 {OPRT_DTYPE_FLOAT64, OPRT_DTYPE_BITS64},
                 {OPRT_DTYPE_BITS8, OPRT_DTYPE_BITS8},
                 {OPRT_DTYPE_BITS128, OPRT_DTYPE_BITS128}};
    for (const auto &pair : pairs) {
        const oprt_descriptor_t descriptor = copy_of(tensor(pair.given, {4}), tensor(pair.given, {4}));
        OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(2048), nullptr));
        CHECK(last_plan<oprt::copy_plan>(fake()).dtype == pair.planned);
        OK(oprt_destroy_copy_descriptor(descriptor));
    }
}

TEST(plans_of_row_operators) {
    const memory buffers(1 << 20);
    const oprt_tensor_t x = tensor(f32, {2, 3, 4});
    const oprt_tensor_t y = tensor(f32, {2, 4});
    oprt_descriptor_t descriptor = nullptr;
    OK(oprt_create_softmax_descriptor(&descriptor, &x, &x, 1));
    OK(oprt_execute_softmax(descriptor, nullptr, 0, buffers.at(0), buffers.at(4096), nullptr));
    OK(oprt_destroy_softmax_descriptor(descriptor));
    const auto softmax = last_plan<oprt::softmax_plan>(fake());
    CHECK(softmax.rows == 8 && softmax.columns == 3 && softmax.x_column_stride == 4 && softmax.outer.ndim == 2);

    const int32_t axes[] = {-2};
    OK(oprt_create_reduce_sum_descriptor(&descriptor, &y, &x, axes, 1));
    OK(oprt_execute_reduce_sum(descriptor, nullptr, 0, buffers.at(0), buffers.at(4096), nullptr));
    OK(oprt_destroy_reduce_sum_descriptor(descriptor));
    const auto sum = last_plan<oprt::reduce_sum_plan>(fake());
    CHECK(sum.rows == 8 && sum.columns == 3 && sum.inner.ndim == 1 && sum.inner.strides[0][0] == 4);
    CHECK(sum.outer.ndim == 2 && sum.outer.strides[0][0] == 4 && sum.outer.strides[1][0] == 12);

    OK(oprt_create_relu_descriptor(&descriptor, &y, &y, 0.25));
    OK(oprt_execute_relu(descriptor, nullptr, 0, buffers.at(0), buffers.at(0), nullptr));
    OK(oprt_destroy_relu_descriptor(descriptor));
    CHECK(last_plan<oprt::relu_plan>(fake()).slope() == 0.25);
}

// Empty tensors.

TEST(empty_tensors_launch_nothing) {
    const oprt_tensor_t none = tensor(f32, {3, 0});
    oprt_descriptor_t descriptor = copy_of(none, none);
    OK(oprt_execute_copy(descriptor, nullptr, 0, nullptr, nullptr, nullptr));
    OK(oprt_execute_copy(descriptor, nullptr, 0, reinterpret_cast<void *>(3), nullptr, nullptr));
    OK(oprt_destroy_copy_descriptor(descriptor));
    OK(oprt_create_softmax_descriptor(&descriptor, &none, &none, 1));
    OK(oprt_execute_softmax(descriptor, nullptr, 0, nullptr, nullptr, nullptr));
    OK(oprt_destroy_softmax_descriptor(descriptor));
    CHECK(fake().launches == 0);
}

TEST(an_empty_sum_writes_zeros) {
    const memory buffers(1024);
    const oprt_tensor_t x = tensor(f32, {3, 0});
    const oprt_tensor_t y = tensor(f32, {3});
    const int32_t axis = 1;
    oprt_descriptor_t descriptor = nullptr;
    OK(oprt_create_reduce_sum_descriptor(&descriptor, &y, &x, &axis, 1));
    REFUSED(oprt_execute_reduce_sum(descriptor, nullptr, 0, nullptr, nullptr, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "reduce_sum: y is null");
    OK(oprt_execute_reduce_sum(descriptor, nullptr, 0, buffers.at(), nullptr, nullptr));
    CHECK(fake().launches == 1);
    const auto plan = last_plan<oprt::reduce_sum_plan>(fake());
    CHECK(plan.rows == 3 && plan.columns == 0);
    OK(oprt_destroy_reduce_sum_descriptor(descriptor));
}

// Pointers.

TEST(pointers_are_checked_before_a_launch) {
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    void *y = buffers.at(0);
    void *x = buffers.at(256);
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, nullptr, x, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "copy: y is null");
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, y, nullptr, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "copy: x is null");
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(2), x, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is not aligned to 4 bytes");
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, reinterpret_cast<void *>(UINTPTR_MAX - 7), x, nullptr),
            OPRT_ERR_INVALID_ARGUMENT, "leaves the address space");
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(1012), x, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "copy: y covers bytes 1012 to 1028 of an allocation of 1024 bytes");
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(1008), x, nullptr));
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(4), x, nullptr));
    CHECK(fake().launches == 2);
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(negative_strides_reach_down_from_the_pointer) {
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = copy_of(tensor(f32, {4}), tensor(f32, {4}, {-1}));
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(512), buffers.at(12), nullptr));
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(512), buffers.at(8), nullptr),
            OPRT_ERR_INVALID_ARGUMENT, "copy: x covers bytes -4 to 12 of an allocation");
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(12), buffers.at(12), nullptr),
            OPRT_ERR_INVALID_ARGUMENT, "copy: y overlaps x");
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(16), buffers.at(12), nullptr));
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(only_the_very_same_view_may_overlap) {
    const memory buffers(4096);
    oprt_descriptor_t descriptor = copy_of(tensor(f32, {4}), tensor(f32, {4}));
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(0), nullptr));
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(4), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "copy: y overlaps x; only the very same view is allowed");
    OK(oprt_destroy_copy_descriptor(descriptor));

    // Interleaved views share no element and are refused all the same.
    descriptor = copy_of(tensor(f32, {4}, {2}), tensor(f32, {4}, {2}));
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(4), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "overlaps");
    OK(oprt_destroy_copy_descriptor(descriptor));

    // The same pointer with other strides is not the same view.
    descriptor = copy_of(tensor(f32, {2, 2}), tensor(f32, {2, 2}, {1, 2}));
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(0), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "copy: y overlaps x");
    OK(oprt_destroy_copy_descriptor(descriptor));

    const oprt_tensor_t t = tensor(f32, {4});
    OK(oprt_create_vector_add_descriptor(&descriptor, &t, &t, &t));
    OK(oprt_execute_vector_add(descriptor, nullptr, 0, buffers.at(0), buffers.at(0), buffers.at(0), nullptr));
    OK(oprt_execute_vector_add(descriptor, nullptr, 0, buffers.at(0), buffers.at(64), buffers.at(68), nullptr));
    REFUSED(oprt_execute_vector_add(descriptor, nullptr, 0, buffers.at(0), buffers.at(64), buffers.at(8), nullptr),
            OPRT_ERR_INVALID_ARGUMENT, "vector_add: y overlaps b");
    OK(oprt_destroy_vector_add_descriptor(descriptor));

    OK(oprt_create_reduce_sum_descriptor(&descriptor, &t, &t, nullptr, 0));
    REFUSED(oprt_execute_reduce_sum(descriptor, nullptr, 0, buffers.at(0), buffers.at(0), nullptr),
            OPRT_ERR_INVALID_ARGUMENT, "reduce_sum: y overlaps x");
    OK(oprt_destroy_reduce_sum_descriptor(descriptor));
}

// Workspace.

TEST(workspace_is_checked) {
    const size_t row_bytes = 20000 * sizeof(float);
    const memory buffers(4 * row_bytes);
    const memory scratch(4096);
    const oprt_tensor_t t = tensor(f32, {2, 20000});
    oprt_descriptor_t descriptor = nullptr;
    OK(oprt_create_softmax_descriptor(&descriptor, &t, &t, 1));
    size_t size_bytes = 0;
    OK(oprt_get_softmax_workspace_size(descriptor, &size_bytes));
    CHECK(size_bytes == 256);  // 2 rows of 2 splits, 16 bytes each, rounded up
    void *y = buffers.at(0);
    void *x = buffers.at(static_cast<ptrdiff_t>(2 * row_bytes));
    REFUSED(oprt_execute_softmax(descriptor, scratch.at(), 255, y, x, nullptr), OPRT_ERR_INSUFFICIENT_WORKSPACE,
            "softmax: workspace has 255 bytes, wanted 256");
    REFUSED(oprt_execute_softmax(descriptor, nullptr, 256, y, x, nullptr), OPRT_ERR_INSUFFICIENT_WORKSPACE,
            "softmax: workspace is null");
    REFUSED(oprt_execute_softmax(descriptor, scratch.at(16), 1024, y, x, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is not aligned to 256 bytes");
    REFUSED(oprt_execute_softmax(descriptor, buffers.at(256), 256, y, x, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "workspace overlaps y");
    REFUSED(oprt_execute_softmax(descriptor, x, 256, y, x, nullptr), OPRT_ERR_INVALID_ARGUMENT, "workspace overlaps x");
    OK(oprt_execute_softmax(descriptor, scratch.at(256), 256, y, x, nullptr));
    CHECK(fake().launches == 1 && fake().workspace == scratch.at(256));
    OK(oprt_destroy_softmax_descriptor(descriptor));
}

TEST(workspace_grows_with_the_row_up_to_a_limit) {
    const auto wanted = [](int64_t rows, int64_t columns) {
        const oprt_tensor_t x = tensor(f32, {rows, columns}, {0, 0});
        const oprt_tensor_t y = tensor(f32, {rows});
        const int32_t axis = 1;
        oprt_descriptor_t descriptor = nullptr;
        size_t size_bytes = 1;
        OK(oprt_create_reduce_sum_descriptor(&descriptor, &y, &x, &axis, 1));
        OK(oprt_get_reduce_sum_workspace_size(descriptor, &size_bytes));
        OK(oprt_destroy_reduce_sum_descriptor(descriptor));
        return size_bytes;
    };
    CHECK(wanted(1000, 8192) == 0);
    CHECK(wanted(1, 8193) == 256);
    CHECK(wanted(100, 8193) == 1792);
    CHECK(wanted(1, int64_t{1} << 24) == 16384);
    CHECK(wanted(1, INT64_MAX) == 65536);
    CHECK(wanted(0, INT64_MAX) == 0);
}

// Selection.

TEST(auto_takes_the_first_backend_with_a_gpu) {
    oprt_backend_t backend;
    oprt_device_kind_t kind;
    int32_t index = -1;
    OK(oprt_get_backend(&backend));
    OK(oprt_get_device(&kind, &index));
    CHECK(backend == OPRT_BACKEND_NVIDIA && kind == OPRT_DEVICE_GPU && index == 0);
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
    OK(oprt_get_backend(&backend));
    CHECK(backend == OPRT_BACKEND_METAX);
    OK(oprt_set_device(OPRT_DEVICE_AUTO, 0));
    OK(oprt_set_backend(OPRT_BACKEND_METAX));
    OK(oprt_get_device(&kind, &index));
    CHECK(kind == OPRT_DEVICE_EMULATOR && index == 0);
}

TEST(auto_passes_over_a_gpu_module_without_a_gpu) {
    fake().device_count = 0;
    OK(oprt_set_backend(OPRT_BACKEND_AUTO));  // forget the resolved device
    oprt_backend_t backend;
    OK(oprt_get_backend(&backend));
    CHECK(backend == OPRT_BACKEND_METAX);
    OK(oprt_set_device(OPRT_DEVICE_GPU, 0));
    REFUSED(oprt_get_backend(&backend), OPRT_ERR_DEVICE_UNAVAILABLE, "nvidia gpu:0 is not there: nvidia has 0 of them");
    CHECK(std::strstr(oprt_last_error_message(),
                      "metax gpu:0 is not built; build it: nox -s build-metax -- --device gpu") != nullptr);
}

TEST(selection_values_are_checked) {
    REFUSED(oprt_set_backend(static_cast<oprt_backend_t>(-1)), OPRT_ERR_INVALID_ARGUMENT, "unknown backend -1");
    REFUSED(oprt_set_device(static_cast<oprt_device_kind_t>(3), 0), OPRT_ERR_INVALID_ARGUMENT,
            "unknown device kind 3, wanted 0 (auto), 1 (emulator) or 2 (gpu)");
    REFUSED(oprt_set_device(OPRT_DEVICE_GPU, -1), OPRT_ERR_INVALID_ARGUMENT, "index is -1");
    REFUSED(oprt_set_device(OPRT_DEVICE_EMULATOR, 1), OPRT_ERR_INVALID_ARGUMENT, "index is 1, wanted 0");
    OK(oprt_set_device(OPRT_DEVICE_GPU, 2));
    int32_t count = 0;
    REFUSED(oprt_get_kernel_count(&count), OPRT_ERR_DEVICE_UNAVAILABLE,
            "nvidia gpu:2 is not there: nvidia has 2 of them");
    OK(oprt_get_device_count(&count, OPRT_BACKEND_NVIDIA, OPRT_DEVICE_GPU));
    CHECK(count == 2);
    OK(oprt_get_device_count(&count, OPRT_BACKEND_METAX, OPRT_DEVICE_GPU));
    CHECK(count == 0);
    REFUSED(oprt_get_device_count(&count, OPRT_BACKEND_AUTO, OPRT_DEVICE_GPU), OPRT_ERR_INVALID_ARGUMENT,
            "auto is refused");
    REFUSED(oprt_get_device_count(&count, OPRT_BACKEND_METAX, OPRT_DEVICE_AUTO), OPRT_ERR_INVALID_ARGUMENT,
            "auto is refused");
}

TEST(no_driver_is_no_device) {
    fake().device_status = OPRT_ERR_DEVICE_UNAVAILABLE;
    int32_t count = 5;
    OK(oprt_get_device_count(&count, OPRT_BACKEND_NVIDIA, OPRT_DEVICE_GPU));
    CHECK(count == 0);
    OK(oprt_set_backend(OPRT_BACKEND_NVIDIA));
    OK(oprt_set_device(OPRT_DEVICE_GPU, 0));
    const char *path;
    REFUSED(oprt_get_module_path(&path), OPRT_ERR_DEVICE_UNAVAILABLE,
            "nvidia gpu:0 is not there: fakeGetDeviceCount failed: fakeErrorNoDevice");
}

TEST(a_descriptor_keeps_its_device) {
    OK(oprt_set_backend(OPRT_BACKEND_NVIDIA));
    OK(oprt_set_device(OPRT_DEVICE_GPU, 1));
    fake_state &nvidia = fake();
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    OK(oprt_set_backend(OPRT_BACKEND_METAX));
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), nullptr));
    CHECK(nvidia.launches == 1 && nvidia.device == 1 && fake().launches == 0);
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(techniques_are_found_by_name) {
    const memory buffers(1024);
    OK(oprt_set_technique("naive"));
    oprt_descriptor_t descriptor = small_copy();
    OK(oprt_set_technique("warp"));
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), nullptr));
    CHECK(std::strcmp(fake().technique, "naive") == 0);
    OK(oprt_destroy_copy_descriptor(descriptor));
    const oprt_tensor_t t = tensor(f32, {4});
    REFUSED(oprt_create_copy_descriptor(&descriptor, &t, &t), OPRT_ERR_NOT_SUPPORTED,
            "copy: unknown technique \"warp\"; nvidia gpu has: naive, vectorised");
    REFUSED(oprt_create_relu_descriptor(&descriptor, &t, &t, 0), OPRT_ERR_NOT_SUPPORTED, "nvidia gpu has: none");
    OK(oprt_set_technique(nullptr));
    OK(oprt_create_copy_descriptor(&descriptor, &t, &t));
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(a_descriptor_keeps_its_launch_overlap) {
    const memory buffers(1024);
    int32_t enabled = -1;
    OK(oprt_get_launch_overlap(&enabled));
    CHECK(enabled == 0);
    const oprt_descriptor_t ordinary = small_copy();
    OK(oprt_set_launch_overlap(1));
    OK(oprt_get_launch_overlap(&enabled));
    CHECK(enabled == 1);
    const oprt_descriptor_t overlapped = small_copy();
    OK(oprt_execute_copy(ordinary, nullptr, 0, buffers.at(0), buffers.at(256), nullptr));
    CHECK(!fake().overlap);
    std::thread([] {
        int32_t enabled_there = -1;
        OK(oprt_get_launch_overlap(&enabled_there));
        CHECK(enabled_there == 0);
    }).join();
    OK(oprt_set_launch_overlap(0));
    OK(oprt_execute_copy(overlapped, nullptr, 0, buffers.at(0), buffers.at(256), nullptr));
    CHECK(fake().overlap);
    REFUSED(oprt_set_launch_overlap(2), OPRT_ERR_INVALID_ARGUMENT, "enabled is 2, wanted 0 or 1");
    REFUSED(oprt_get_launch_overlap(nullptr), OPRT_ERR_INVALID_ARGUMENT, "output pointer enabled is null");
    OK(oprt_destroy_copy_descriptor(ordinary));
    OK(oprt_destroy_copy_descriptor(overlapped));
}

TEST(the_process_default_of_launch_overlap) {
    int32_t enabled = -1;
    setenv("CAMP_LAUNCH_OVERLAP", "yes", 1);
    REFUSED(oprt_get_launch_overlap(&enabled), OPRT_ERR_INVALID_ARGUMENT,
            "CAMP_LAUNCH_OVERLAP is \"yes\", wanted 0 or 1");
    setenv("CAMP_LAUNCH_OVERLAP", "1", 1);
    OK(oprt_get_launch_overlap(&enabled));
    CHECK(enabled == 1);
}

TEST(a_launcher_of_another_plan_is_refused) {
    const oprt_tensor_t t = tensor(f32, {4});
    oprt_descriptor_t descriptor;
    OK(oprt_set_technique("stale"));
    REFUSED(oprt_create_vector_add_descriptor(&descriptor, &t, &t, &t), OPRT_ERR_BACKEND_UNAVAILABLE,
            "was built with another plan than this library's; build it again: nox -s build-nvidia");
}

TEST(kernels_are_listed) {
    int32_t count = 0;
    OK(oprt_get_kernel_count(&count));
    CHECK(count == 9);
    oprt_kernel_info_t info{};
    info.struct_size = sizeof info;
    OK(oprt_get_kernel_info(&info, 1));
    CHECK(std::strcmp(info.op, "copy") == 0 && std::strcmp(info.technique, "naive") == 0 &&
          info.struct_size == sizeof info);
    CHECK(std::strcmp(info.path, "/fake/copy.cuh") == 0 && std::strcmp(info.sha256, "0123") == 0);
    REFUSED(oprt_get_kernel_info(&info, count), OPRT_ERR_INVALID_ARGUMENT, "index is 9, wanted 0 to 8");
    REFUSED(oprt_get_kernel_info(&info, -1), OPRT_ERR_INVALID_ARGUMENT, "index is -1");
    info.struct_size = 1;
    REFUSED(oprt_get_kernel_info(&info, 0), OPRT_ERR_INVALID_ARGUMENT, "info has struct_size 1");
    oprt_device_properties_t properties{};
    REFUSED(oprt_get_device_properties(&properties), OPRT_ERR_INVALID_ARGUMENT, "properties has struct_size 0");
    properties.struct_size = sizeof properties;
    OK(oprt_get_device_properties(&properties));
    CHECK(std::strcmp(properties.name, "fake device 0") == 0 && properties.warp_size == 32);
}

// Memory, streams, events and graphs.

TEST(memory_is_known_by_its_owner) {
    OK(oprt_set_device(OPRT_DEVICE_GPU, 1));
    const memory second(1024);
    OK(oprt_set_device(OPRT_DEVICE_GPU, 0));
    const memory first(1024);
    const oprt_descriptor_t on_gpu = small_copy();
    REFUSED(oprt_execute_copy(on_gpu, nullptr, 0, first.at(), second.at(), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is memory of nvidia gpu:1, wanted nvidia gpu:0");
    char host[64];
    CHECK(oprt_copy_memory(first.at(), second.at(), 16, nullptr) == OPRT_ERR_INVALID_ARGUMENT);
    OK(oprt_copy_memory(first.at(), host, sizeof host, nullptr));
    REFUSED(oprt_copy_memory(first.at(1000), host, sizeof host, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "destination covers bytes 1000 to 1064 of an allocation of 1024 bytes");
    REFUSED(oprt_copy_memory(first.at(0), first.at(8), 16, nullptr), OPRT_ERR_INVALID_ARGUMENT, "overlaps");
    REFUSED(oprt_copy_memory(nullptr, host, 1, nullptr), OPRT_ERR_INVALID_ARGUMENT, "destination is null with 1 bytes");
    OK(oprt_copy_memory(nullptr, nullptr, 0, nullptr));
    REFUSED(oprt_fill_memory(first.at(), 256, 4, nullptr), OPRT_ERR_INVALID_ARGUMENT, "value is 256, wanted 0 to 255");
    REFUSED(oprt_fill_memory(first.at(1020), 1, 8, nullptr), OPRT_ERR_INVALID_ARGUMENT, "covers bytes 1020 to 1028");
    REFUSED(oprt_fill_memory(first.at(), 1, SIZE_MAX, nullptr), OPRT_ERR_INVALID_ARGUMENT, "leaves the address space");
    OK(oprt_destroy_copy_descriptor(on_gpu));

    // On a GPU, memory of other libraries is unknown here and taken; on an emulator there is none.
    alignas(16) static char unknown[64];
    const oprt_descriptor_t gpu_copy = small_copy();
    OK(oprt_execute_copy(gpu_copy, nullptr, 0, first.at(), unknown, nullptr));
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
    const memory emulated(1024);
    const oprt_descriptor_t emulated_copy = small_copy();
    REFUSED(oprt_execute_copy(emulated_copy, nullptr, 0, emulated.at(), unknown, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is no device memory of metax emulator");
    REFUSED(oprt_execute_copy(emulated_copy, nullptr, 0, emulated.at(), first.at(), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is memory of nvidia gpu:0, wanted metax emulator");
    REFUSED(oprt_execute_copy(gpu_copy, nullptr, 0, first.at(), emulated.at(), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is memory of metax emulator, wanted nvidia gpu:0");
    REFUSED(oprt_fill_memory(unknown, 1, 4, nullptr), OPRT_ERR_INVALID_ARGUMENT, "no device memory");
    OK(oprt_destroy_copy_descriptor(gpu_copy));
    OK(oprt_destroy_copy_descriptor(emulated_copy));
}

TEST(foreign_memory_of_another_gpu_is_refused) {
    alignas(256) static float foreign[64];
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    const auto execute = [&] { return oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), foreign, nullptr); };
    fake().owner = 1;
    for (int i = 0; i < 2; ++i) {  // a refusal is not kept
        REFUSED(execute(), OPRT_ERR_INVALID_ARGUMENT, "is memory of nvidia gpu:1, wanted nvidia gpu");
    }
    REFUSED(oprt_fill_memory(foreign, 0, sizeof foreign, nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "oprt_fill_memory: pointer");
    CHECK(fake().launches == 0 && fake().questions == 3);
    fake().owner = 0;
    OK(execute());
    OK(execute());
    CHECK(fake().launches == 2 && fake().questions == 4);
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(ordinary_host_memory_is_refused_on_a_gpu) {
    alignas(256) static float host[64];
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    const auto execute = [&] { return oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), host, nullptr); };
    fake().owner = oprt::no_device;
    REFUSED(execute(), OPRT_ERR_INVALID_ARGUMENT, "is ordinary host memory, wanted memory of nvidia gpu");
    CHECK(fake().launches == 0);
    fake().owner = oprt::any_device;
    OK(execute());
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(foreign_memory_is_asked_for_again_when_memory_changed) {
    alignas(256) static float foreign[64];
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    const auto execute = [&] { return oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), foreign, nullptr); };
    OK(execute());  // the vendor does not know it: let through
    const memory more(256);
    OK(execute());
    OK(execute());
    CHECK(fake().questions == 2);
    fake().owner = 1;
    OK(execute());
    const memory still_more(256);
    REFUSED(execute(), OPRT_ERR_INVALID_ARGUMENT, "is memory of nvidia gpu:1");
    fake().answer = OPRT_ERR_KERNEL_FAULT;
    REFUSED(execute(), OPRT_ERR_KERNEL_FAULT, "fakeErrorTold");
    fake().answer = OPRT_SUCCESS;
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(memory_is_freed_once) {
    void *pointer = reinterpret_cast<void *>(1);
    OK(oprt_free_memory(nullptr));
    OK(oprt_allocate_memory(&pointer, 0));
    CHECK(pointer == nullptr);
    OK(oprt_allocate_memory(&pointer, 100));
    REFUSED(oprt_free_memory(static_cast<char *>(pointer) + 1), OPRT_ERR_INVALID_ARGUMENT,
            "was not given by oprt_allocate_memory");
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));  // memory of any device may be freed
    OK(oprt_free_memory(pointer));
    REFUSED(oprt_free_memory(pointer), OPRT_ERR_INVALID_ARGUMENT, "or is free already");
    REFUSED(oprt_allocate_memory(&pointer, SIZE_MAX), OPRT_ERR_OUT_OF_MEMORY,
            "oprt_allocate_memory: fakeMalloc failed");
    CHECK(pointer == nullptr);
}

TEST(memory_that_a_broken_device_keeps_can_be_freed_later) {
    void *pointer = nullptr;
    OK(oprt_allocate_memory(&pointer, 100));
    fake().answer = OPRT_ERR_KERNEL_FAULT;
    REFUSED(oprt_free_memory(pointer), OPRT_ERR_KERNEL_FAULT, "oprt_free_memory: fakeCall failed");
    fake().answer = OPRT_SUCCESS;
    OK(oprt_free_memory(pointer));
}

TEST(execute_sees_memory_come_and_go) {
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
    const memory kept(1024);
    const oprt_descriptor_t descriptor = small_copy();
    for (int i = 0; i < 100; ++i) {
        void *pointer = nullptr;
        OK(oprt_allocate_memory(&pointer, 64));
        OK(oprt_execute_copy(descriptor, nullptr, 0, kept.at(), pointer, nullptr));
        OK(oprt_execute_copy(descriptor, nullptr, 0, kept.at(), pointer, nullptr));
        OK(oprt_free_memory(pointer));
        REFUSED(oprt_execute_copy(descriptor, nullptr, 0, kept.at(), pointer, nullptr), OPRT_ERR_INVALID_ARGUMENT,
                "no device memory");
    }
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(streams_and_events_are_known_by_their_owner) {
    OK(oprt_destroy_stream(nullptr));
    OK(oprt_destroy_event(nullptr));
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
    oprt_stream_t emulated = nullptr;
    oprt_event_t emulated_event = nullptr;
    OK(oprt_create_stream(&emulated));
    OK(oprt_create_event(&emulated_event));
    OK(oprt_record_event(emulated_event, emulated));
    OK(oprt_record_event(emulated_event, nullptr));
    OK(oprt_wait_event(emulated, emulated_event));
    OK(oprt_synchronize_stream(emulated));
    OK(oprt_query_stream(emulated));
    const auto made_up_stream = reinterpret_cast<oprt_stream_t>(&emulated);
    const auto made_up_event = reinterpret_cast<oprt_event_t>(&emulated);
    REFUSED(oprt_synchronize_stream(made_up_stream), OPRT_ERR_INVALID_HANDLE, "is no living stream of metax emulator");
    REFUSED(oprt_query_event(made_up_event), OPRT_ERR_INVALID_HANDLE, "is no living event of metax emulator");
    REFUSED(oprt_query_event(nullptr), OPRT_ERR_INVALID_HANDLE, "no living event");
    REFUSED(oprt_destroy_stream(made_up_stream), OPRT_ERR_INVALID_HANDLE, "was not made here, or is destroyed already");

    OK(oprt_set_device(OPRT_DEVICE_GPU, 0));
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), emulated),
            OPRT_ERR_INVALID_HANDLE, "copy: the stream belongs to metax emulator, wanted one of nvidia gpu:0");
    REFUSED(oprt_synchronize_stream(emulated), OPRT_ERR_INVALID_HANDLE, "belongs to metax emulator");
    REFUSED(oprt_record_event(emulated_event, nullptr), OPRT_ERR_INVALID_HANDLE, "belongs to metax emulator");
    OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), made_up_stream));  // another library's
    CHECK(fake().stream == made_up_stream);
    OK(oprt_query_event(emulated_event));  // an event answers from its own device
    float time_ms = 0;
    OK(oprt_elapsed_time(&time_ms, emulated_event, emulated_event));
    CHECK(time_ms == 1.5F);
    OK(oprt_destroy_stream(emulated));
    OK(oprt_destroy_event(emulated_event));
    REFUSED(oprt_destroy_stream(emulated), OPRT_ERR_INVALID_HANDLE, "oprt_destroy_stream");
    REFUSED(oprt_destroy_event(emulated_event), OPRT_ERR_INVALID_HANDLE, "oprt_destroy_event");
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(graphs_are_handles_too) {
    OK(oprt_destroy_graph(nullptr));
    REFUSED(oprt_begin_capture(nullptr), OPRT_ERR_INVALID_ARGUMENT, "the default stream cannot be captured");
    oprt_stream_t stream = nullptr;
    oprt_graph_t graph = nullptr;
    OK(oprt_create_stream(&stream));
    OK(oprt_begin_capture(stream));
    OK(oprt_end_capture(&graph, stream));
    CHECK(fake().live_graphs == 1);
    OK(oprt_launch_graph(graph, stream));
    OK(oprt_launch_graph(graph, nullptr));
    OK(oprt_destroy_graph(graph));
    CHECK(fake().live_graphs == 0);
    REFUSED(oprt_destroy_graph(graph), OPRT_ERR_INVALID_HANDLE, "no living graph");
    REFUSED(oprt_launch_graph(graph, stream), OPRT_ERR_INVALID_HANDLE, "no living graph");
    fake().answer = OPRT_ERR_NOT_SUPPORTED;
    REFUSED(oprt_end_capture(&graph, stream), OPRT_ERR_NOT_SUPPORTED, "oprt_end_capture: fakeCall failed");
    CHECK(graph == nullptr);
    fake().answer = OPRT_SUCCESS;
    OK(oprt_destroy_stream(stream));
}

// What the vendor answers reaches the caller with its text.

TEST(answers_of_the_vendor_pass_through) {
    const memory buffers(1024);
    const oprt_descriptor_t descriptor = small_copy();
    const oprt_status_t answers[] = {OPRT_ERR_LAUNCH_FAILED, OPRT_ERR_KERNEL_FAULT, OPRT_ERR_RUNTIME,
                                     OPRT_ERR_NOT_SUPPORTED};
    for (const oprt_status_t answer : answers) {
        fake().answer = answer;
        REFUSED(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(256), nullptr), answer,
                "copy: fakeLaunchKernel failed: fakeErrorTold");
        REFUSED(oprt_synchronize_stream(nullptr), answer, "oprt_synchronize_stream: fakeCall failed");
        REFUSED(oprt_synchronize_device(), answer, "oprt_synchronize_device: fakeCall failed");
        REFUSED(oprt_device_reset(), answer, "oprt_device_reset: fakeCall failed");
        fake().answer = OPRT_SUCCESS;
    }
    OK(oprt_synchronize_device());
    OK(oprt_device_reset());
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(not_ready_is_no_error) {
    const std::string message = oprt_last_error_message();
    oprt_event_t event = nullptr;
    OK(oprt_create_event(&event));
    fake().answer = OPRT_ERR_NOT_READY;
    float time_ms;
    CHECK(oprt_query_stream(nullptr) == OPRT_ERR_NOT_READY);
    CHECK(oprt_query_event(event) == OPRT_ERR_NOT_READY);
    CHECK(oprt_elapsed_time(&time_ms, event, event) == OPRT_ERR_NOT_READY);
    CHECK(message == oprt_last_error_message());
    fake().answer = OPRT_SUCCESS;
    OK(oprt_destroy_event(event));
}
