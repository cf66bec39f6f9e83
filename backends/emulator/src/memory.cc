// The arena of the device memory. An allocation is whole pages, its data right-aligned before a guard page as far as
// the 256-byte alignment lets it; the rest of the pages is canary. Address space is used up from the bottom and reused
// only when the arena is full.
#include "oprt_emulator/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include "memory_checks.h"
#include "pages.h"

namespace oprt_emulator {
namespace {

constexpr unsigned char canary_byte = 0xCA;
// Of the front slack, which may be most of a page, only what an index just below 0 hits is looked at after each kernel.
constexpr std::size_t front_check_bytes = 64;
// All allocations are looked at after each kernel up to this number; beyond it, a different part of them after each.
constexpr std::size_t allocations_to_check = 256;

struct allocation {
    char *data;
    std::size_t size_bytes;
    std::size_t mapped_bytes;  // from the start of its pages, without the guard page
    std::uint64_t serial;
    bool reported;  // its broken canary was told
};

class arena {
public:
    arena() noexcept {
        page_ = page_size_bytes();
        for (size_ = std::size_t{1} << 36; size_ >= std::size_t{1} << 30; size_ /= 2) {
            void *place = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (place == MAP_FAILED) continue;
            begin_ = static_cast<char *>(place);
            break;
        }
        const auto physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_;
        total_ = begin_ == nullptr ? 0 : physical < size_ ? physical : size_;
    }

    std::mutex mutex;

    bool contains(const void *address) const noexcept {
        return begin_ != nullptr && address >= begin_ && address < begin_ + size_;
    }

    std::size_t used_bytes() const noexcept { return used_; }
    std::size_t total_bytes() const noexcept { return total_; }

    void *allocate(std::size_t size_bytes) {
        if (size_bytes == 0 || size_bytes > total_ - used_) return nullptr;
        const std::size_t data_bytes = round_up(size_bytes, allocation_alignment_bytes);
        const std::size_t mapped = round_up(data_bytes, page_);
        char *pages = take_pages(mapped + page_);
        if (pages == nullptr) return nullptr;
        if (mprotect(pages, mapped, PROT_READ | PROT_WRITE) != 0) {
            give_pages(pages, mapped + page_);
            return nullptr;
        }
        char *data = pages + mapped - data_bytes;
        std::memset(pages, canary_byte, static_cast<std::size_t>(data - pages));
        std::memset(data, poison_byte, size_bytes);
        std::memset(data + size_bytes, canary_byte, data_bytes - size_bytes);
        live_.emplace(data, allocation{data, size_bytes, mapped, ++serial_, false});
        used_ += size_bytes;
        if (!accessible()) mprotect(pages, mapped, PROT_NONE);
        return data;
    }

    bool release(void *pointer) {
        auto found = live_.find(static_cast<char *>(pointer));
        if (found == live_.end()) return false;
        allocation &gone = found->second;
        if (!accessible()) set_protection(gone, PROT_READ | PROT_WRITE);
        std::string broken = broken_canary(gone, true);
        if (!broken.empty()) release_report_ += (release_report_.empty() ? "" : "\n") + broken;
        // A fresh mapping gives memory and page tables back at once.
        char *pages = pages_of(gone);
        mmap(pages, gone.mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        used_ -= gone.size_bytes;
        remember_released(gone);
        give_pages(pages, gone.mapped_bytes + page_);
        live_.erase(found);
        return true;
    }

    void release_all() {
        while (!live_.empty()) release(live_.begin()->first);
        release_report_.clear();
    }

    // The live allocation whose pages or guard page hold an address; null when there is none.
    const allocation *near(const void *address) const {
        auto after = live_.upper_bound(static_cast<char *>(const_cast<void *>(address)));
        // The address may lie in the slack before the data of the next one.
        if (after != live_.end() && address >= pages_of(after->second)) return &after->second;
        if (after == live_.begin()) return nullptr;
        const allocation &candidate = std::prev(after)->second;
        return address < pages_of(candidate) + candidate.mapped_bytes + page_ ? &candidate : nullptr;
    }

    // The live allocation nearest below an address, or null.
    const allocation *below(const void *address) const {
        auto after = live_.upper_bound(static_cast<char *>(const_cast<void *>(address)));
        return after == live_.begin() ? nullptr : &std::prev(after)->second;
    }

    const allocation *released_near(const void *address) const {
        for (unsigned i = 0; i < released_kept; ++i) {
            const allocation &gone = released_[(released_next_ + released_kept - 1 - i) % released_kept];
            if (gone.data != nullptr && address >= pages_of(gone) && address < pages_of(gone) + gone.mapped_bytes)
                return &gone;
        }
        return nullptr;
    }

    // The first broken canary of those that are looked at now; "" when all are whole.
    std::string check() {
        std::string broken;
        if (live_.empty()) return broken;
        auto next = live_.size() <= allocations_to_check ? live_.begin() : live_.upper_bound(checked_last_);
        for (std::size_t i = 0; i < live_.size() && i < allocations_to_check && broken.empty(); ++i) {
            if (next == live_.end()) next = live_.begin();
            checked_last_ = next->first;
            broken = broken_canary(next->second, false);
            ++next;
        }
        return broken;
    }

    std::string take_release_report() {
        std::string report;
        report.swap(release_report_);
        return report;
    }

    void forbid_host_access(bool forbidden) {
        const bool before = accessible();
        host_forbidden_ = forbidden;
        protect_if_changed(before);
    }

    void change_accesses(int difference) {
        const bool before = accessible();
        accesses_ += difference;
        protect_if_changed(before);
    }

    bool host_forbidden() const noexcept { return host_forbidden_; }

private:
    static constexpr unsigned released_kept = 256;

    char *pages_of(const allocation &owner) const {
        return owner.data + round_up(owner.size_bytes, allocation_alignment_bytes) - owner.mapped_bytes;
    }

    bool accessible() const noexcept { return !host_forbidden_ || accesses_ > 0; }

    void set_protection(const allocation &owner, int protection) const {
        mprotect(pages_of(owner), owner.mapped_bytes, protection);
    }

    void protect_if_changed(bool before) {
        if (accessible() == before) return;
        for (auto &entry : live_) set_protection(entry.second, before ? PROT_NONE : PROT_READ | PROT_WRITE);
    }

    char *take_pages(std::size_t size) {
        if (static_cast<std::size_t>(size_ - next_) >= size) {
            char *pages = begin_ + next_;
            next_ += size;
            return pages;
        }
        for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
            if (hole->second < size) continue;
            char *pages = hole->first;
            const std::size_t rest = hole->second - size;
            holes_.erase(hole);
            if (rest != 0) holes_.emplace(pages + size, rest);
            return pages;
        }
        return nullptr;
    }

    void give_pages(char *pages, std::size_t size) {
        auto after = holes_.lower_bound(pages);
        if (after != holes_.end() && pages + size == after->first) {
            size += after->second;
            after = holes_.erase(after);
        }
        if (after != holes_.begin()) {
            auto before = std::prev(after);
            if (before->first + before->second == pages) {
                before->second += size;
                return;
            }
        }
        holes_.emplace(pages, size);
    }

    void remember_released(const allocation &gone) {
        released_[released_next_] = gone;
        released_next_ = (released_next_ + 1) % released_kept;
    }

    static const char *first_difference(const char *begin, const char *end) {
        while (begin < end && static_cast<unsigned char>(*begin) == canary_byte) ++begin;
        return begin < end ? begin : nullptr;
    }

    std::string broken_canary(allocation &owner, bool whole_front) const {
        if (owner.reported) return "";
        const char *pages = pages_of(owner);
        const auto front = static_cast<std::size_t>(owner.data - pages);
        const std::size_t front_bytes = whole_front || front < front_check_bytes ? front : front_check_bytes;
        const char *end = owner.data + round_up(owner.size_bytes, allocation_alignment_bytes);
        const char *broken = first_difference(owner.data + owner.size_bytes, end);
        if (broken == nullptr) broken = first_difference(owner.data - front_bytes, owner.data);
        if (broken == nullptr) return "";
        owner.reported = true;
        char text[256];
        if (broken >= owner.data) {
            const auto past = static_cast<std::size_t>(broken - owner.data) - owner.size_bytes;
            std::snprintf(text, sizeof text,
                          "byte %zu past the end of allocation %" PRIu64 " (%zu bytes at %p) was overwritten", past,
                          owner.serial, owner.size_bytes, static_cast<const void *>(owner.data));
        } else {
            std::snprintf(text, sizeof text, "byte %zu before allocation %" PRIu64 " (%zu bytes at %p) was overwritten",
                          static_cast<std::size_t>(owner.data - broken), owner.serial, owner.size_bytes,
                          static_cast<const void *>(owner.data));
        }
        return text;
    }

    std::size_t page_ = 4096;
    char *begin_ = nullptr;
    std::size_t size_ = 0;
    std::size_t next_ = 0;
    std::size_t total_ = 0;
    std::size_t used_ = 0;
    std::uint64_t serial_ = 0;
    std::map<char *, allocation> live_;
    std::map<char *, std::size_t> holes_;
    allocation released_[released_kept] = {};
    unsigned released_next_ = 0;
    char *checked_last_ = nullptr;
    std::string release_report_;
    bool host_forbidden_ = false;
    int accesses_ = 0;
};

// Made on first use, never destroyed: pointers may be released by destructors that run late.
arena &memory() {
    static arena *made = [] {
        auto *fresh = new arena;
        // Keep the arena whole in a child that is forked while another thread allocates.
        pthread_atfork([] { memory().mutex.lock(); }, [] { memory().mutex.unlock(); }, [] { memory().mutex.unlock(); });
        return fresh;
    }();
    return *made;
}

using memory_lock = std::lock_guard<std::mutex>;

}  // namespace

void *allocate(std::size_t size_bytes) noexcept {
    memory_lock lock(memory().mutex);
    try {
        return memory().allocate(size_bytes);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

bool release(void *pointer) noexcept {
    memory_lock lock(memory().mutex);
    return memory().release(pointer);
}

void release_all() noexcept {
    memory_lock lock(memory().mutex);
    memory().release_all();
}

bool owns(const void *pointer) noexcept {
    if (!memory().contains(pointer)) return false;
    const address_owner owner = owner_of(pointer);
    return owner.live && owner.offset >= 0 && static_cast<std::size_t>(owner.offset) < owner.size_bytes;
}

address_owner owner_of(const void *pointer) noexcept {
    if (!memory().contains(pointer)) return {};
    memory_lock lock(memory().mutex);
    const allocation *live = memory().near(pointer);
    const allocation *owner = live != nullptr ? live : memory().released_near(pointer);
    if (owner == nullptr) owner = live = memory().below(pointer);
    if (owner == nullptr) return {};
    return {owner->data, owner->size_bytes, owner->serial, static_cast<const char *>(pointer) - owner->data,
            live != nullptr};
}

std::size_t memory_used_bytes() noexcept {
    memory_lock lock(memory().mutex);
    return memory().used_bytes();
}

std::size_t memory_total_bytes() noexcept { return memory().total_bytes(); }

std::string take_memory_report() {
    memory_lock lock(memory().mutex);
    return memory().take_release_report();
}

void forbid_host_access() noexcept {
    memory_lock lock(memory().mutex);
    memory().forbid_host_access(true);
}

void allow_host_access() noexcept {
    memory_lock lock(memory().mutex);
    memory().forbid_host_access(false);
}

void begin_access() noexcept {
    memory_lock lock(memory().mutex);
    memory().change_accesses(1);
}

void end_access() noexcept {
    memory_lock lock(memory().mutex);
    memory().change_accesses(-1);
}

void check_memory(grid &running) noexcept {
    std::string broken;
    {
        memory_lock lock(memory().mutex);
        broken = memory().check();
    }
    if (broken.empty()) return;
    broken += "\n  the kernel, or an earlier host copy or fill, wrote outside of it";
    set_grid_fault(running, fault_code::memory_corruption, broken.c_str());
}

std::string describe_device_address(const void *address) {
    const address_owner owner = owner_of(address);
    char text[256];
    if (owner.base == nullptr) return memory().contains(address) ? "device memory that was never allocated" : "";
    const auto offset = static_cast<unsigned long long>(owner.offset < 0 ? -owner.offset : owner.offset);
    char where[96];
    if (owner.offset < 0) {
        std::snprintf(where, sizeof where, "%llu bytes before", offset);
    } else if (offset >= owner.size_bytes) {
        const unsigned long long past = offset - owner.size_bytes;
        std::snprintf(where, sizeof where, past == 0 ? "just past the end of" : "%llu bytes past the end of", past);
    } else {
        std::snprintf(where, sizeof where, "byte %llu of", offset);
    }
    std::snprintf(text, sizeof text, "%s %sallocation %" PRIu64 " (%zu bytes at %p)", where,
                  owner.live ? "" : "the released ", owner.serial, owner.size_bytes, owner.base);
    return text;
}

}  // namespace oprt_emulator
