// The C API on a real device: threads with own streams and workspaces, order on a stream, graphs, exhausted memory.
// TEST_BACKEND and TEST_DEVICE (emulator or gpu:N) say which; test_programs.py runs this on each target of the run.
#include <cmath>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr oprt_dtype_t f32 = OPRT_DTYPE_FLOAT32;

const char *variable(const char *name) {
    const char *value = std::getenv(name);
    CHECK(value != nullptr);
    return value;
}

bool is_emulated() { return std::strcmp(variable("TEST_DEVICE"), "emulator") == 0; }

// For the calling thread.
void use_device() {
    const bool is_metax = std::strcmp(variable("TEST_BACKEND"), "metax") == 0;
    OK(oprt_set_backend(is_metax ? OPRT_BACKEND_METAX : OPRT_BACKEND_NVIDIA));
    const char *index = std::strchr(variable("TEST_DEVICE"), ':');
    OK(oprt_set_device(is_emulated() ? OPRT_DEVICE_EMULATOR : OPRT_DEVICE_GPU,
                       index == nullptr ? 0 : std::atoi(index + 1)));
}

size_t bytes_of(size_t elements) { return elements * sizeof(float); }

// The values must live until the stream has passed.
void upload(void *destination, const std::vector<float> &values, oprt_stream_t stream) {
    OK(oprt_copy_memory(destination, values.data(), bytes_of(values.size()), stream));
}

std::vector<float> download(const void *source, size_t elements, oprt_stream_t stream) {
    std::vector<float> values(elements);
    OK(oprt_copy_memory(values.data(), source, bytes_of(elements), stream));
    OK(oprt_synchronize_stream(stream));
    return values;
}

// A row that rises by `step` from column to column, and its softmax in double precision.
std::vector<float> rising_row(int64_t columns, float step) {
    std::vector<float> row;
    for (int64_t i = 0; i < columns; ++i) row.push_back(static_cast<float>(i % 97) * step);
    return row;
}

void check_softmax(const std::vector<float> &y, const std::vector<float> &x) {
    double sum = 0;
    double largest = x[0];
    for (const float value : x) largest = std::fmax(largest, value);
    for (const float value : x) sum += std::exp(value - largest);
    for (size_t i = 0; i < x.size(); ++i) {
        const double wanted = std::exp(x[i] - largest) / sum;
        CHECK(std::fabs(y[i] - wanted) <= 1e-5 * wanted);
    }
}

// A softmax of one row with everything that one thread needs for it.
class prepared_softmax {
public:
    prepared_softmax(oprt_descriptor_t descriptor, int64_t columns)
        : descriptor_(descriptor),
          columns_(static_cast<size_t>(columns)),
          x_(bytes_of(columns_)),
          y_(bytes_of(columns_)) {
        OK(oprt_get_softmax_workspace_size(descriptor, &workspace_bytes_));
        OK(oprt_allocate_memory(&workspace_, workspace_bytes_));
        OK(oprt_create_stream(&stream_));
    }
    ~prepared_softmax() {
        OK(oprt_destroy_stream(stream_));
        OK(oprt_free_memory(workspace_));
    }
    prepared_softmax(const prepared_softmax &) = delete;
    prepared_softmax &operator=(const prepared_softmax &) = delete;

    void run(const std::vector<float> &x) {
        upload(x_.at(), x, stream_);
        OK(oprt_execute_softmax(descriptor_, workspace_, workspace_bytes_, y_.at(), x_.at(), stream_));
        check_softmax(download(y_.at(), columns_, stream_), x);
    }

    size_t workspace_bytes() const { return workspace_bytes_; }

private:
    oprt_descriptor_t descriptor_;
    size_t columns_;
    memory x_, y_;
    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0;
    oprt_stream_t stream_ = nullptr;
};

oprt_descriptor_t softmax_of_row(int64_t columns) {
    const oprt_tensor_t t = tensor(f32, {1, columns});
    oprt_descriptor_t descriptor = nullptr;
    OK(oprt_create_softmax_descriptor(&descriptor, &t, &t, -1));
    return descriptor;
}

}  // namespace

TEST(two_threads_with_their_own_operators_and_streams) {
    const auto work = [](int64_t columns, float step) {
        use_device();
        const oprt_descriptor_t descriptor = softmax_of_row(columns);
        prepared_softmax softmax(descriptor, columns);
        for (int round = 0; round < 5; ++round) softmax.run(rising_row(columns, step * static_cast<float>(round + 1)));
        OK(oprt_destroy_softmax_descriptor(descriptor));
    };
    std::thread first(work, 1000, 0.01F);
    std::thread second(work, 257, 0.02F);
    first.join();
    second.join();
}

TEST(one_descriptor_with_two_workspaces) {
    use_device();
    const int64_t columns = 40000;  // more than one block takes a part of the row
    const oprt_descriptor_t descriptor = softmax_of_row(columns);
    const auto work = [descriptor](float step) {
        use_device();
        prepared_softmax softmax(descriptor, columns);
        CHECK(softmax.workspace_bytes() > 0);
        for (int round = 0; round < 3; ++round) softmax.run(rising_row(columns, step));
    };
    std::thread first(work, 0.01F);
    std::thread second(work, 0.03F);
    first.join();
    second.join();
    OK(oprt_destroy_softmax_descriptor(descriptor));
}

TEST(a_stream_keeps_the_order) {
    use_device();
    const int64_t elements = 20000;
    const oprt_tensor_t vector = tensor(f32, {elements});
    const oprt_tensor_t kept = tensor(f32, {1});
    const memory x(bytes_of(elements));
    const memory sum(bytes_of(1));
    oprt_descriptor_t add = nullptr;
    oprt_descriptor_t reduce = nullptr;
    oprt_stream_t side = nullptr;
    size_t workspace_bytes = 0;
    OK(oprt_create_vector_add_descriptor(&add, &vector, &vector, &vector));
    OK(oprt_create_reduce_sum_descriptor(&reduce, &kept, &vector, nullptr, -1));
    OK(oprt_get_reduce_sum_workspace_size(reduce, &workspace_bytes));
    const memory workspace(workspace_bytes);
    OK(oprt_create_stream(&side));
    const auto start = std::vector<float>(elements, 1.0F);
    upload(x.at(), start, side);
    for (int doubling = 0; doubling < 8; ++doubling)
        OK(oprt_execute_vector_add(add, nullptr, 0, x.at(), x.at(), x.at(), side));
    OK(oprt_execute_reduce_sum(reduce, workspace.at(), workspace_bytes, sum.at(), x.at(), side));
    CHECK(download(sum.at(), 1, side)[0] == static_cast<float>(elements) * 256.0F);
    OK(oprt_destroy_vector_add_descriptor(add));
    OK(oprt_destroy_reduce_sum_descriptor(reduce));
    OK(oprt_destroy_stream(side));
}

TEST(an_event_orders_two_streams) {
    use_device();
    const int64_t elements = 4096;
    const oprt_tensor_t vector = tensor(f32, {elements});
    const memory x(bytes_of(elements));
    const memory y(bytes_of(elements));
    oprt_descriptor_t add = nullptr;
    oprt_descriptor_t copy = nullptr;
    oprt_stream_t producer = nullptr;
    oprt_stream_t consumer = nullptr;
    oprt_event_t produced = nullptr;
    OK(oprt_create_vector_add_descriptor(&add, &vector, &vector, &vector));
    OK(oprt_create_copy_descriptor(&copy, &vector, &vector));
    OK(oprt_create_stream(&producer));
    OK(oprt_create_stream(&consumer));
    OK(oprt_create_event(&produced));
    const auto start = std::vector<float>(elements, 3.0F);
    upload(x.at(), start, producer);
    for (int doubling = 0; doubling < 4; ++doubling)
        OK(oprt_execute_vector_add(add, nullptr, 0, x.at(), x.at(), x.at(), producer));
    OK(oprt_record_event(produced, producer));
    OK(oprt_wait_event(consumer, produced));
    OK(oprt_execute_copy(copy, nullptr, 0, y.at(), x.at(), consumer));
    for (const float value : download(y.at(), elements, consumer)) CHECK(value == 48.0F);
    OK(oprt_synchronize_event(produced));
    OK(oprt_query_event(produced));
    OK(oprt_destroy_event(produced));
    OK(oprt_destroy_stream(producer));
    OK(oprt_destroy_stream(consumer));
    OK(oprt_destroy_copy_descriptor(copy));
    OK(oprt_destroy_vector_add_descriptor(add));
}

TEST(a_graph_replays_what_it_captured) {
    use_device();
    const oprt_tensor_t vector = tensor(f32, {100});
    const memory x(bytes_of(100));
    oprt_descriptor_t add = nullptr;
    oprt_stream_t stream = nullptr;
    oprt_graph_t graph = nullptr;
    OK(oprt_create_vector_add_descriptor(&add, &vector, &vector, &vector));
    OK(oprt_create_stream(&stream));
    const auto start = std::vector<float>(100, 1.0F);
    upload(x.at(), start, stream);
    OK(oprt_synchronize_stream(stream));
    OK(oprt_begin_capture(stream));
    OK(oprt_execute_vector_add(add, nullptr, 0, x.at(), x.at(), x.at(), stream));
    OK(oprt_end_capture(&graph, stream));
    CHECK(download(x.at(), 100, stream)[99] == 1.0F);  // nothing ran yet
    for (int launch = 0; launch < 3; ++launch) OK(oprt_launch_graph(graph, stream));
    CHECK(download(x.at(), 100, stream)[99] == 8.0F);
    OK(oprt_destroy_vector_add_descriptor(add));
    OK(oprt_destroy_graph(graph));
    OK(oprt_destroy_stream(stream));
}

TEST(memory_that_does_not_fit) {
    use_device();
    void *pointer = &pointer;
    REFUSED(oprt_allocate_memory(&pointer, size_t{1} << 60), OPRT_ERR_OUT_OF_MEMORY, "oprt_allocate_memory: ");
    CHECK(pointer == nullptr);
    REFUSED(oprt_allocate_memory(&pointer, SIZE_MAX), OPRT_ERR_OUT_OF_MEMORY, "oprt_allocate_memory: ");
    const memory fits(1000);
    CHECK(reinterpret_cast<uintptr_t>(fits.at()) % 256 == 0);
    for (const float value : download(fits.at(), 250, nullptr)) CHECK(!is_emulated() || std::isnan(value));  // poison
}

TEST(an_emulator_refuses_host_memory) {
    use_device();
    if (!is_emulated()) return;  // a GPU may well reach it
    const oprt_tensor_t vector = tensor(f32, {16});
    const memory y(bytes_of(16));
    std::vector<float> host(16);
    oprt_descriptor_t copy = nullptr;
    OK(oprt_create_copy_descriptor(&copy, &vector, &vector));
    REFUSED(oprt_execute_copy(copy, nullptr, 0, y.at(), host.data(), nullptr), OPRT_ERR_INVALID_ARGUMENT,
            "is no device memory of");
    OK(oprt_destroy_copy_descriptor(copy));
}

TEST(an_empty_axis_sums_to_zero) {
    use_device();
    const oprt_tensor_t x = tensor(f32, {3, 0});
    const oprt_tensor_t y = tensor(f32, {3});
    const memory sums(bytes_of(3));
    const int32_t axis = 1;
    oprt_descriptor_t reduce = nullptr;
    OK(oprt_create_reduce_sum_descriptor(&reduce, &y, &x, &axis, 1));
    OK(oprt_execute_reduce_sum(reduce, nullptr, 0, sums.at(), nullptr, nullptr));
    for (const float value : download(sums.at(), 3, nullptr)) CHECK(value == 0.0F);
    OK(oprt_destroy_reduce_sum_descriptor(reduce));
}
