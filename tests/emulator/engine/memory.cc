// Device memory: alignment, poison, what is known of an address, reuse, protection from host access.
#include <csetjmp>
#include <csignal>

#include "engine_test.h"

static void copy(const int *input, int *output) { output[global_thread()] = input[global_thread()]; }

static sigjmp_buf back;
static void jump_back(int) { siglongjmp(back, 1); }

static bool host_can_read(const volatile int *pointer) {
    struct sigaction action = {}, before = {};
    action.sa_handler = jump_back;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
    const bool readable = sigsetjmp(back, 1) == 0 && (static_cast<void>(*pointer), true);
    sigaction(SIGSEGV, &before, nullptr);
    return readable;
}

int main(int argc, char **argv) {
    return run_parts(
        argc, argv,
        {
            {"allocate",
             [] {
                 CHECK(allocate(0) == nullptr);
                 CHECK(allocate(memory_total_bytes() + 1) == nullptr);
                 CHECK(!release(nullptr));
                 const std::size_t before = memory_used_bytes();
                 for (std::size_t size : {1u, 3u, 255u, 256u, 257u, 4095u, 4096u, 4097u, 1000000u}) {
                     auto *data = static_cast<unsigned char *>(allocate(size));
                     CHECK(data != nullptr && reinterpret_cast<std::uintptr_t>(data) % 256 == 0);
                     for (std::size_t i = 0; i < size; ++i) CHECK(data[i] == 0xFF);
                     CHECK(memory_used_bytes() == before + size);
                     CHECK(owns(data) && owns(data + size - 1) && !owns(data + size) && !owns(data - 1));
                     CHECK(!release(data + 1));
                     CHECK(release(data));
                     CHECK(!release(data) && !owns(data));
                 }
                 CHECK(memory_used_bytes() == before && take_memory_report().empty());
             }},
            {"owner",
             [] {
                 auto *data = static_cast<char *>(allocate(1000));
                 address_owner owner = owner_of(data + 1004);
                 CHECK(owner.base == data && owner.size_bytes == 1000 && owner.offset == 1004 && owner.live);
                 owner = owner_of(data - 8);
                 CHECK(owner.base == data && owner.offset == -8);
                 release(data);
                 owner = owner_of(data + 5);
                 CHECK(owner.base == data && !owner.live && owner.offset == 5);
                 int on_stack = 0;
                 CHECK(owner_of(&on_stack).base == nullptr);
             }},
            {"canary_at_release",
             [] {
                 auto *data = static_cast<char *>(allocate(1000));
                 data[1000] = 1;
                 CHECK(release(data));
                 const std::string report = take_memory_report();
                 CHECK(report.find("byte 0 past the end of allocation") != std::string::npos &&
                       report.find("1000 bytes") != std::string::npos);
                 CHECK(take_memory_report().empty());
             }},
            {"many",
             [] {
                 std::vector<void *> all;
                 for (int i = 1; i <= 2000; ++i) all.push_back(allocate(static_cast<std::size_t>(i) * 7));
                 for (std::size_t i = 0; i < all.size(); i += 2) CHECK(release(all[i]));
                 for (std::size_t i = 1; i < all.size(); i += 2) CHECK(owns(all[i]));
                 release_all();
                 CHECK(memory_used_bytes() == 0);
             }},
            {"host_access",
             [] {
                 buffer<int> input(64, 7), output(64, 0);
                 CHECK(host_can_read(input));
                 forbid_host_access();
                 CHECK(!host_can_read(input));
                 run(copy, dim3(1), dim3(64), 0, input, output);
                 CHECK(!host_can_read(output));
                 int *fresh = static_cast<int *>(allocate(100));
                 CHECK(!host_can_read(fresh));
                 begin_access();
                 CHECK(host_can_read(fresh) && output[63] == 7);
                 end_access();
                 CHECK(release(fresh));
                 allow_host_access();
                 CHECK(host_can_read(output) && output[0] == 7);
             }},
        });
}
