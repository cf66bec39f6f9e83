// Memory of the runtime interface: device memory over the engine's arena, host memory that the runtime knows of, copies
// and fills with their checks. A copy that would leave an allocation is refused; on a device it would corrupt its
// neighbour or fail later.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "oprt_emulator/memory.h"
#include "runtime_api_state.h"

namespace oprt_emulator::runtime {
namespace {

// Host memory that was allocated or registered here, and the __device__ variables that were asked for, by address.
enum class range_kind { pinned, managed, registered, symbol };
struct range {
    size_t size_bytes;
    range_kind kind;
};
struct range_table {
    std::mutex mutex;
    std::map<uintptr_t, range> ranges;

    // The range that holds an address, or end().
    std::map<uintptr_t, range>::iterator find(const void *pointer) {
        const auto address = reinterpret_cast<uintptr_t>(pointer);
        auto next = ranges.upper_bound(address);
        if (next == ranges.begin()) return ranges.end();
        --next;
        return address - next->first < next->second.size_bytes ? next : ranges.end();
    }
};
range_table &known_ranges() {
    static auto *made = new range_table;
    return *made;
}

// While a stream's worker touches device memory in asynchronous mode, the host's ban on it is lifted.
class device_access {
public:
    device_access() : lifted_(asynchronous()) {
        if (lifted_) begin_access();
    }
    ~device_access() {
        if (lifted_) end_access();
    }
    device_access(const device_access &) = delete;
    device_access &operator=(const device_access &) = delete;

private:
    bool lifted_;
};

void *host_memory(size_t size_bytes) {
    void *memory = nullptr;
    return posix_memalign(&memory, 4096, std::max<size_t>(size_bytes, 1)) == 0 ? memory : nullptr;
}

int remember_range(const void *pointer, size_t size_bytes, range_kind kind) {
    std::lock_guard<std::mutex> lock(known_ranges().mutex);
    known_ranges().ranges[reinterpret_cast<uintptr_t>(pointer)] = {size_bytes, kind};
    return Success;
}

// Take a range out again if it starts there and `fits` its kind.
template <typename predicate>
bool forget_range(const void *pointer, predicate fits) {
    std::lock_guard<std::mutex> lock(known_ranges().mutex);
    const auto found = known_ranges().ranges.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == known_ranges().ranges.end() || !fits(found->second.kind)) return false;
    known_ranges().ranges.erase(found);
    return true;
}

bool is_start_of_released(const void *pointer) {
    const address_owner owner = owner_of(pointer);
    return owner.base == pointer && !owner.live;
}

// Damage is reported although the memory is gone by then, so an owner may come again: with the device broken that is
// no error.
int release_checked(void *pointer) {
    bool released = false;
    {
        const device_access access;
        released = oprt_emulator::release(pointer);
    }
    if (!released) {
        if (is_broken() && is_start_of_released(pointer)) return Success;
        return fail(ErrorInvalidValue, "the pointer is not the start of a live allocation");
    }
    const std::string report = take_memory_report();
    if (report.empty() || is_broken()) return Success;
    set_fault(fault_code::memory_corruption, report);
    return seen_fault();
}

// Bytes from a pointer to the end of the rows.
size_t extent_bytes(size_t pitch, size_t width, size_t height) {
    return height == 0 ? 0 : (height - 1) * pitch + width;
}

// 0 when the bytes lie inside what the pointer points to, as far as that is known; else the failure, with what is
// wrong.
int check_range(const char *role, const void *pointer, size_t size_bytes) {
    const address_owner owner = owner_of(pointer);
    char text[256];
    if (owner.base != nullptr && !owner.live) {
        std::snprintf(text, sizeof text, "the %s lies in device memory that was released", role);
        return fail(ErrorInvalidValue, text);
    }
    if (owner.base == nullptr || !owns(pointer)) return Success;
    const size_t left = owner.size_bytes - static_cast<size_t>(owner.offset);
    if (size_bytes <= left) return Success;
    std::snprintf(text, sizeof text, "%zu bytes from offset %td pass the end of the %s, an allocation of %zu bytes",
                  size_bytes, owner.offset, role, owner.size_bytes);
    return fail(ErrorInvalidValue, text);
}

// Whether a pointer may stand on that side of a copy.
int check_side(const char *role, const void *pointer, bool wants_device) {
    const memory_kind kind = kind_of(pointer);
    const bool fits = kind == memory_kind::managed || (kind == memory_kind::device) == wants_device;
    if (fits) return Success;
    const std::string text =
        std::string("the kind of the copy wants ") + (wants_device ? "device" : "host") + " memory as the " + role;
    return fail(ErrorInvalidValue, text.c_str());
}

void copy_rows(const rectangle_copy &request) {
    const device_access access;
    auto *to = static_cast<char *>(request.destination);
    auto *from = static_cast<const char *>(request.source);
    for (size_t row = 0; row < request.height; ++row) {
        std::memmove(to + row * request.destination_pitch, from + row * request.source_pitch, request.width);
    }
}

void fill_rows(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    const device_access access;
    for (size_t row = 0; row < height; ++row) {
        std::memset(static_cast<char *>(pointer) + row * pitch, static_cast<unsigned char>(value), width);
    }
}

// The end of copy and fill: those without Async wait, for the default stream.
int wait_if(bool wait) {
    if (!wait) return Success;
    if (asynchronous()) {
        completion_pointer tail;
        {
            std::lock_guard<std::mutex> lock(state().mutex);
            tail = state().default_stream.tail;
        }
        wait_for(tail);
    }
    return finish_wait();
}

// The calls without Async stand in the default stream.
int refuse_waiting_copy() {
    const int error = refuse_implicit_order(&state().default_stream);
    return error != Success ? error : refuse_in_capture();
}

int check_copy(const rectangle_copy &request) {
    if (request.kind < 0 || request.kind > 4) return fail(ErrorInvalidMemcpyDirection);
    if (request.destination_pitch < request.width || request.source_pitch < request.width)
        return fail(ErrorInvalidPitchValue);
    if (request.destination == nullptr || request.source == nullptr) return fail(ErrorInvalidValue, "a null pointer");
    const bool to_device = request.kind == 1 || request.kind == 3;
    const bool from_device = request.kind == 2 || request.kind == 3;
    const bool any = request.kind == 4;
    if (const int error = any ? 0 : check_side("destination", request.destination, to_device)) return error;
    if (const int error = any ? 0 : check_side("source", request.source, from_device)) return error;
    const size_t written = extent_bytes(request.destination_pitch, request.width, request.height);
    const size_t read = extent_bytes(request.source_pitch, request.width, request.height);
    if (const int error = check_range("destination", request.destination, written)) return error;
    return check_range("source", request.source, read);
}

}  // namespace

int check_device(int device) {
    return device == 0 ? Success : fail(ErrorInvalidDevice, "the emulator has one device, 0");
}

int set_device(int device) { return check_device(device); }

int memory_sizes(size_t *free_bytes, size_t *total_bytes) {
    if (const int error = guard()) return error;
    const size_t total = memory_total_bytes();
    if (free_bytes != nullptr) *free_bytes = total - std::min(total, memory_used_bytes());
    if (total_bytes != nullptr) *total_bytes = total;
    return Success;
}

int allocate(void **pointer, size_t size_bytes) {
    if (pointer == nullptr) return fail(ErrorInvalidValue);
    *pointer = nullptr;
    if (const int error = guard()) return error;
    if (const int error = refuse_in_capture()) return error;
    if (size_bytes == 0) return Success;
    const device_access access;
    *pointer = oprt_emulator::allocate(size_bytes);
    return *pointer == nullptr ? fail(ErrorMemoryAllocation) : Success;
}

// This and its kin work after a fault too, so that owners can clean up.
int release(void *pointer) {
    if (const int error = refuse_in_capture()) return error;
    if (pointer == nullptr) return Success;
    if (forget_range(pointer, [](range_kind kind) { return kind == range_kind::managed; })) {
        if (asynchronous()) wait_for_all_streams();
        std::free(pointer);
        return Success;
    }
    if (asynchronous()) wait_for_all_streams();
    return release_checked(pointer);
}

// Memory is there at once, which is earlier than a device promises; giving it back waits for the stream.
int allocate_on_stream(void **pointer, size_t size_bytes, stream *on) {
    if (find_stream(on) == nullptr) return fail(ErrorInvalidResourceHandle);
    if (find_stream(on)->capturing) return fail(ErrorNotSupported, "the emulator does not capture allocations");
    return allocate(pointer, size_bytes);
}

int release_on_stream(void *pointer, stream *on) {
    if (find_stream(on) == nullptr) return fail(ErrorInvalidResourceHandle);
    if (find_stream(on)->capturing) return fail(ErrorNotSupported, "the emulator does not capture allocations");
    if (pointer == nullptr) return Success;
    const address_owner owner = owner_of(pointer);
    if (!owner.live || owner.offset != 0)
        return fail(ErrorInvalidValue, "the pointer is not the start of a live allocation");
    if (!asynchronous()) return release_checked(pointer);
    if (is_broken()) {  // the stream drops its work
        wait_for_all_streams();
        return release_checked(pointer);
    }
    return submit(on, 5, [pointer] { release_checked(pointer); });
}

int allocate_host(void **pointer, size_t size_bytes, bool managed) {
    if (pointer == nullptr) return fail(ErrorInvalidValue);
    *pointer = nullptr;
    if (const int error = guard()) return error;
    if (const int error = refuse_in_capture()) return error;
    if (size_bytes == 0) return Success;
    *pointer = host_memory(size_bytes);
    if (*pointer == nullptr) return fail(ErrorMemoryAllocation);
    if (managed) std::memset(*pointer, 0xFF, size_bytes);
    return remember_range(*pointer, size_bytes, managed ? range_kind::managed : range_kind::pinned);
}

int release_host(void *pointer) {
    if (pointer == nullptr) return Success;
    if (const int error = refuse_in_capture()) return error;
    if (!forget_range(pointer, [](range_kind kind) { return kind == range_kind::pinned; })) {
        return fail(ErrorInvalidValue, "the pointer is not the start of host memory of this runtime");
    }
    if (asynchronous()) wait_for_all_streams();
    std::free(pointer);
    return Success;
}

int register_host(void *pointer, size_t size_bytes) {
    if (const int error = guard()) return error;
    if (pointer == nullptr || size_bytes == 0) return fail(ErrorInvalidValue);
    if (kind_of(pointer) != memory_kind::unregistered) return fail(ErrorHostMemoryAlreadyRegistered);
    return remember_range(pointer, size_bytes, range_kind::registered);
}

int unregister_host(void *pointer) {
    const bool known = forget_range(pointer, [](range_kind kind) { return kind == range_kind::registered; });
    return known ? Success : fail(ErrorHostMemoryNotRegistered);
}

int register_symbol(const void *address, size_t size_bytes) {
    if (const int error = guard()) return error;
    return remember_range(address, size_bytes, range_kind::symbol);
}

memory_kind kind_of(const void *pointer) {
    if (owns(pointer)) return memory_kind::device;
    std::lock_guard<std::mutex> lock(known_ranges().mutex);
    const auto found = known_ranges().find(pointer);
    if (found == known_ranges().ranges.end()) return memory_kind::unregistered;
    switch (found->second.kind) {
        case range_kind::pinned:
        case range_kind::registered: return memory_kind::host;
        case range_kind::managed: return memory_kind::managed;
        case range_kind::symbol: return memory_kind::device;
    }
    return memory_kind::unregistered;
}

int copy(const rectangle_copy &request, stream *on, bool wait) {
    if (const int error = guard()) return error;
    if (const int error = wait ? refuse_waiting_copy() : Success) return error;
    if (request.width != 0 && request.height != 0) {
        if (const int error = check_copy(request)) return error;
        if (const int error = submit(on, 1, [request] { copy_rows(request); })) return error;
    }
    return wait_if(wait);
}

int fill(void *pointer, size_t pitch, int value, size_t width, size_t height, stream *on, bool wait) {
    if (const int error = guard()) return error;
    if (const int error = wait ? refuse_waiting_copy() : Success) return error;
    if (width != 0 && height != 0) {
        if (pitch < width) return fail(ErrorInvalidPitchValue);
        const bool known = kind_of(pointer) == memory_kind::device || kind_of(pointer) == memory_kind::managed;
        if (!known) return fail(ErrorInvalidValue, "memset of memory that is not the device's");
        if (const int error = check_range("destination", pointer, extent_bytes(pitch, width, height))) return error;
        const auto run = [pointer, pitch, value, width, height] { fill_rows(pointer, pitch, value, width, height); };
        if (const int error = submit(on, 2, run)) return error;
    }
    return wait_if(wait);
}

}  // namespace oprt_emulator::runtime
