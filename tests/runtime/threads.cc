// The C API from several threads at once, on the fake backends of api.cc. Whatever the order, a handle is either living
// or refused.
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "fake_module.h"

namespace {

constexpr int thread_count = 4;

fake_state &fake() {
    const char *path = nullptr;
    OK(oprt_get_module_path(&path));
    return state_of(path);
}

template <typename Body>
void in_threads(Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) threads.emplace_back(body, i);
    for (std::thread &thread : threads) thread.join();
}

oprt_descriptor_t small_copy() {
    const oprt_tensor_t t = tensor(OPRT_DTYPE_FLOAT32, {4});
    oprt_descriptor_t made = nullptr;
    OK(oprt_create_copy_descriptor(&made, &t, &t));
    return made;
}

}  // namespace

TEST(the_first_use_may_come_from_every_thread) {
    std::atomic<int> ready{0};
    std::atomic<const char *> paths[thread_count] = {};
    in_threads([&](int i) {
        for (++ready; ready < thread_count;) std::this_thread::yield();
        const char *path = nullptr;
        OK(oprt_get_module_path(&path));
        paths[i] = path;
        OK(oprt_destroy_copy_descriptor(small_copy()));
    });
    for (const auto &path : paths) CHECK(path == paths[0]);
}

TEST(one_descriptor_runs_in_every_thread) {
    fake().recording = false;
    const memory buffers(4096);
    const oprt_descriptor_t descriptor = small_copy();
    in_threads([&](int i) {
        for (int round = 0; round < 20000; ++round) {
            OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(i * 1024), buffers.at(i * 1024 + 512), nullptr));
        }
    });
    CHECK(fake().launches == thread_count * 20000);
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(create_execute_and_destroy_in_any_order) {
    fake().recording = false;
    const memory buffers(4096);
    std::atomic<oprt_descriptor_t> shared[8] = {};
    std::atomic<int64_t> executed{0};
    in_threads([&](int i) {
        std::mt19937 random(static_cast<unsigned>(i));
        for (int round = 0; round < 20000; ++round) {
            auto &place = shared[random() % 8];
            const oprt_descriptor_t seen = place;
            const unsigned action = random() % 8;
            if (action == 0) {  // a new one takes the place; whoever takes the old one out destroys it
                OK(oprt_destroy_copy_descriptor(place.exchange(small_copy())));
            } else if (action == 1 && seen != nullptr) {  // destroyed behind the others' back
                const oprt_status_t status = oprt_destroy_copy_descriptor(place.exchange(nullptr));
                CHECK(status == OPRT_SUCCESS);
            } else if (seen != nullptr) {
                const oprt_status_t status =
                    oprt_execute_copy(seen, nullptr, 0, buffers.at(0), buffers.at(512), nullptr);
                CHECK(status == OPRT_SUCCESS || status == OPRT_ERR_INVALID_HANDLE);
                if (status == OPRT_SUCCESS) ++executed;
                CHECK(oprt_execute_relu(seen, nullptr, 0, buffers.at(0), buffers.at(512), nullptr) ==
                      OPRT_ERR_INVALID_HANDLE);
            }
        }
    });
    CHECK(fake().launches == executed && executed > 0);
    for (const auto &place : shared) OK(oprt_destroy_copy_descriptor(place));
}

TEST(exactly_one_destroy_succeeds) {
    for (int round = 0; round < 300; ++round) {
        const oprt_descriptor_t descriptor = small_copy();
        std::atomic<int> ready{0};
        std::atomic<int> succeeded{0};
        in_threads([&](int) {
            for (++ready; ready < thread_count;) std::this_thread::yield();
            const oprt_status_t status = oprt_destroy_copy_descriptor(descriptor);
            CHECK(status == OPRT_SUCCESS || status == OPRT_ERR_INVALID_HANDLE);
            if (status == OPRT_SUCCESS) ++succeeded;
        });
        CHECK(succeeded == 1);
    }
}

TEST(destroy_lets_a_running_execute_finish) {
    fake().recording = false;
    fake().slow = true;
    const memory buffers(4096);
    for (int round = 0; round < 20; ++round) {
        const oprt_descriptor_t descriptor = small_copy();
        const int64_t before = fake().launches;
        std::thread runner(
            [&] { OK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(512), nullptr)); });
        while (fake().launches == before) std::this_thread::yield();
        OK(oprt_destroy_copy_descriptor(descriptor));
        OK(oprt_destroy_copy_descriptor(small_copy()));  // the slot of the running one is not given away
        CHECK(oprt_execute_copy(descriptor, nullptr, 0, buffers.at(0), buffers.at(512), nullptr) ==
              OPRT_ERR_INVALID_HANDLE);
        runner.join();
    }
}

TEST(a_graph_is_freed_once) {
    oprt_stream_t stream = nullptr;
    OK(oprt_create_stream(&stream));
    for (int round = 0; round < 200; ++round) {
        oprt_graph_t graph = nullptr;
        OK(oprt_begin_capture(stream));
        OK(oprt_end_capture(&graph, stream));
        in_threads([&](int i) {
            const oprt_status_t status = i == 0 ? oprt_destroy_graph(graph) : oprt_launch_graph(graph, stream);
            CHECK(status == OPRT_SUCCESS || (i != 0 && status == OPRT_ERR_INVALID_HANDLE));
        });
        CHECK(fake().live_graphs == 0);
    }
    OK(oprt_destroy_stream(stream));
}

TEST(memory_and_streams_come_and_go_beside_execute) {
    OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
    fake().recording = false;
    const memory kept(4096);
    const oprt_descriptor_t descriptor = small_copy();
    in_threads([&](int i) {
        OK(oprt_set_device(OPRT_DEVICE_EMULATOR, 0));
        for (int round = 0; round < 3000; ++round) {
            if (i % 2 == 0) {
                OK(oprt_execute_copy(descriptor, nullptr, 0, kept.at(0), kept.at(512), nullptr));
                continue;
            }
            const memory own(64);
            oprt_stream_t stream = nullptr;
            OK(oprt_create_stream(&stream));
            OK(oprt_execute_copy(descriptor, nullptr, 0, own.at(), kept.at(512), stream));
            OK(oprt_destroy_stream(stream));
            CHECK(oprt_query_stream(stream) !=
                  OPRT_ERR_RUNTIME);  // refused, or another thread's new one at that address
        }
    });
    OK(oprt_destroy_copy_descriptor(descriptor));
}

TEST(selection_and_message_belong_to_the_thread) {
    OK(oprt_set_backend(OPRT_BACKEND_METAX));
    REFUSED(oprt_set_device(OPRT_DEVICE_EMULATOR, 7), OPRT_ERR_INVALID_ARGUMENT, "index is 7");
    std::thread([] {
        CHECK(oprt_last_error_message()[0] == '\0');
        oprt_backend_t backend;
        OK(oprt_get_backend(&backend));
        CHECK(backend == OPRT_BACKEND_NVIDIA);  // the process default, not the other thread's choice
        REFUSED(oprt_set_device(OPRT_DEVICE_EMULATOR, 8), OPRT_ERR_INVALID_ARGUMENT, "index is 8");
    }).join();
    CHECK(std::strstr(oprt_last_error_message(), "index is 7") != nullptr);
    oprt_backend_t backend;
    OK(oprt_get_backend(&backend));
    CHECK(backend == OPRT_BACKEND_METAX);
}
