// The tables of owned objects, with a small cache a thread in front, and the refusals that rest on them.
#include "runtime/src/ownership.h"

#include <mutex>

namespace oprt {
namespace {

struct cached_answer {
    uint64_t version;  // of the table when it was asked; 0: no answer here
    uintptr_t address;
    owned_object object;
    device_binding let_through;  // the device for which the vendor had nothing against an object unknown here
};

constexpr int32_t sort_count = 3;
constexpr int32_t cache_bits = 5;
thread_local cached_answer cached_answers[sort_count][1 << cache_bits];

// Multiplication by 2^64 divided by the golden ratio spreads addresses that differ in any bit.
cached_answer &cached_answer_at(owner_table::sort sort, uintptr_t address) {
    const size_t place = (address * uint64_t{0x9E3779B97F4A7C15}) >> (64 - cache_bits);
    return cached_answers[static_cast<int32_t>(sort)][place];
}

bool is_emulated(const device_binding &device) { return device.module->kind == OPRT_DEVICE_EMULATOR; }

[[noreturn]] void refuse_memory_of(const std::string &owner, const device_binding &device, const char *what,
                                   const char *name, const void *pointer) {
    fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) is memory of %s, wanted %s", what, name, pointer, owner.c_str(),
         device_text(device).c_str());
}

// Memory that was not allocated here, on a GPU, right after memory_owners().find. The vendor is asked once for an
// address, and again when allocations have changed; a refusal is never kept, since the address may be given away anew.
void require_foreign_memory(const device_binding &device, const char *what, const char *name, const void *pointer) {
    cached_answer &cached = cached_answer_at(owner_table::sort::memory, reinterpret_cast<uintptr_t>(pointer));
    if (cached.let_through == device) return;
    int32_t owner = any_device;
    call_module(device, what, device.module->table->pointer_device, &owner, pointer);
    if (owner == no_device) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) is ordinary host memory, wanted memory of %s", what, name, pointer,
             device_text(device).c_str());
    }
    if (owner >= 0 && owner != device.index) {
        refuse_memory_of(device_text({device.module, owner}), device, what, name, pointer);
    }
    cached.let_through = device;
}

// Streams and events: an address is the whole object.
void require_owner(const device_binding &device, const char *what, const char *noun, const owned_object &found,
                   const void *handle) {
    if (found.is_known() && found.device != device) {
        fail(OPRT_ERR_INVALID_HANDLE, "%s: the %s belongs to %s, wanted one of %s", what, noun,
             device_text(found.device).c_str(), device_text(device).c_str());
    }
    if (!found.is_known() && (handle == nullptr || is_emulated(device))) {
        fail(OPRT_ERR_INVALID_HANDLE, "%s: %p is no living %s of %s", what, handle, noun, device_text(device).c_str());
    }
}

}  // namespace

void owner_table::add(const owned_object &object) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    objects_[object.begin] = object;
    version_.fetch_add(1, std::memory_order_release);
}

owned_object owner_table::remove(const void *begin) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto place = objects_.find(reinterpret_cast<uintptr_t>(begin));
    if (place == objects_.end()) return {};
    const owned_object object = place->second;
    objects_.erase(place);
    version_.fetch_add(1, std::memory_order_release);
    return object;
}

owned_object owner_table::search(uintptr_t address) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    auto place = objects_.upper_bound(address);
    if (place == objects_.begin()) return {};
    const owned_object &object = (--place)->second;
    return address < object.end ? object : owned_object{};
}

owned_object owner_table::find(const void *pointer) const {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const uint64_t version = version_.load(std::memory_order_acquire);
    cached_answer &cached = cached_answer_at(sort_, address);
    if (cached.version != version || cached.address != address) cached = {version, address, search(address), {}};
    return cached.object;
}

owner_table &memory_owners() {
    static owner_table &table = *new owner_table(owner_table::sort::memory);
    return table;
}

owner_table &stream_owners() {
    static owner_table &table = *new owner_table(owner_table::sort::stream);
    return table;
}

owner_table &event_owners() {
    static owner_table &table = *new owner_table(owner_table::sort::event);
    return table;
}

void require_memory_of(const device_binding &device, const char *what, const char *name, const void *pointer,
                       uintptr_t begin, uintptr_t end) {
    const owned_object found = memory_owners().find(pointer);
    if (!found.is_known()) {
        if (!is_emulated(device)) return require_foreign_memory(device, what, name, pointer);
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) is no device memory of %s; oprt_allocate_memory gives some", what,
             name, pointer, device_text(device).c_str());
    }
    if (found.device != device) {
        refuse_memory_of(device_text(found.device), device, what, name, pointer);
    }
    if (begin < found.begin || end > found.end) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s covers bytes %lld to %lld of an allocation of %zu bytes", what, name,
             static_cast<long long>(begin - found.begin), static_cast<long long>(end - found.begin),
             found.end - found.begin);
    }
}

void require_stream_of(const device_binding &device, const char *what, oprt_stream_t stream) {
    if (stream != nullptr) require_owner(device, what, "stream", stream_owners().find(stream), stream);
}

void require_event_of(const device_binding &device, const char *what, oprt_event_t event) {
    require_owner(device, what, "event", event_owners().find(event), event);
}

}  // namespace oprt
