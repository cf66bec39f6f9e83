// What the runtime itself made - device memory, streams, events - and the device it belongs to. On an emulator that is
// all there is, so anything else is refused; on a GPU other libraries have memory and streams too: the vendor is asked
// whose the memory is, and what it does not know either, such as host memory that the GPU may reach, is let through.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "runtime/src/module_loader.h"

namespace oprt {

struct owned_object {
    uintptr_t begin = 0;
    uintptr_t end = 0;  // begin + 1 for streams and events
    device_binding device;

    bool is_known() const { return device.module != nullptr; }
};

// Objects of one sort by address. find takes no lock when the calling thread asked for the same address since the table
// last changed.
class owner_table {
public:
    enum class sort { memory, stream, event };

    explicit owner_table(sort kept) : sort_(kept) {}
    owner_table(const owner_table &) = delete;
    owner_table &operator=(const owner_table &) = delete;

    void add(const owned_object &object);
    // Take the object that begins at that address out of the table; unknown when there is none.
    owned_object remove(const void *begin);
    // The object that the address lies in; unknown when there is none.
    owned_object find(const void *address) const;

private:
    owned_object search(uintptr_t address) const;

    const sort sort_;
    std::atomic<uint64_t> version_{1};
    mutable std::shared_mutex mutex_;
    std::map<uintptr_t, owned_object> objects_;  // by begin
};

// Live as long as the process, so that finalisers may still free what they hold.
owner_table &memory_owners();
owner_table &stream_owners();
owner_table &event_owners();

// Refuse bytes [begin, end) that are known not to be memory of the device, or to reach over the end of an allocation.
// pointer is the address that the caller gave; what and name go into the message.
void require_memory_of(const device_binding &device, const char *what, const char *name, const void *pointer,
                       uintptr_t begin, uintptr_t end);

// Refuse a stream or event that is known not to belong to the device. The null stream belongs to every device.
void require_stream_of(const device_binding &device, const char *what, oprt_stream_t stream);
void require_event_of(const device_binding &device, const char *what, oprt_event_t event);

}  // namespace oprt
