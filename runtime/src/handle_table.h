// Handles that are recognised, never followed: sort, slot and generation packed in one number. Any value may be given
// to acquire. acquire and release take no lock; an object that is retired while others hold it lives until the last of
// them lets go.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace oprt {

template <typename T>
class handle_table {
    struct alignas(64) slot {
        // Upper half: generation, odd while the object is living. Lower half: how many hold the object.
        std::atomic<uint64_t> word{0};
        T *object = nullptr;
        uint32_t index = 0;
        slot *next_free = nullptr;
    };

public:
    // A hold on a living object; false when the handle was not one of this table's living ones.
    class hold {
    public:
        hold(hold &&other) noexcept : table_(other.table_), slot_(other.slot_), object_(other.object_) {
            other.slot_ = nullptr;
        }
        hold(const hold &) = delete;
        hold &operator=(const hold &) = delete;
        hold &operator=(hold &&) = delete;
        ~hold() {
            if (slot_ != nullptr) table_->release(*slot_);
        }

        explicit operator bool() const { return slot_ != nullptr; }
        T &operator*() const { return *object_; }
        T *operator->() const { return object_; }

    private:
        friend class handle_table;
        hold(handle_table *table, slot *held)
            : table_(table), slot_(held), object_(held == nullptr ? nullptr : held->object) {}

        handle_table *table_;
        slot *slot_;
        T *object_;
    };

    // sort tells the tables of a process apart.
    explicit handle_table(uint8_t sort) : sort_(sort) {}
    handle_table(const handle_table &) = delete;
    handle_table &operator=(const handle_table &) = delete;

    uintptr_t add(std::unique_ptr<T> object) {
        slot &taken = take_free_slot();
        taken.object = object.release();
        const uint64_t generation = (taken.word.load(std::memory_order_relaxed) >> 32) + 1;
        taken.word.store(generation << 32, std::memory_order_release);
        return static_cast<uintptr_t>(generation << 32 | uint64_t{sort_} << index_bits | taken.index);
    }

    hold acquire(uintptr_t handle) noexcept {
        slot *found = slot_of(handle);
        if (found == nullptr) return {this, nullptr};
        uint64_t word = found->word.load(std::memory_order_acquire);
        do {
            if (word >> 32 != handle >> 32) return {this, nullptr};
        } while (!found->word.compare_exchange_weak(word, word + 1, std::memory_order_acquire));
        return {this, found};
    }

    // End the life of a held object: from now on its handle is unknown. False when another thread did it first.
    bool retire(const hold &held, uintptr_t handle) noexcept {
        uint64_t word = held.slot_->word.load(std::memory_order_relaxed);
        do {
            if (word >> 32 != handle >> 32) return false;
        } while (!held.slot_->word.compare_exchange_weak(word, word + generation_step, std::memory_order_acq_rel));
        return true;
    }

private:
    static_assert(sizeof(uintptr_t) == 8, "a handle needs 64 bits");
    static constexpr int index_bits = 24;
    static constexpr uint32_t block_slots = 512;
    static constexpr uint32_t block_count = (1u << index_bits) / block_slots;
    static constexpr uint64_t generation_step = uint64_t{1} << 32;
    static constexpr uint64_t last_generation = 0xFFFFFFFE;  // even; a slot that reaches it is never used again

    slot *slot_of(uintptr_t handle) const noexcept {
        if ((handle >> index_bits & 0xFF) != sort_ || (handle >> 32 & 1) == 0) return nullptr;
        const uint32_t index = handle & ((1u << index_bits) - 1);
        slot *block = blocks_[index / block_slots].load(std::memory_order_acquire);
        return block == nullptr ? nullptr : block + index % block_slots;
    }

    void release(slot &held) noexcept {
        const uint64_t word = held.word.fetch_sub(1, std::memory_order_acq_rel) - 1;
        const bool last_of_retired = (word >> 32 & 1) == 0 && (word & 0xFFFFFFFF) == 0;
        if (!last_of_retired) return;
        delete held.object;
        held.object = nullptr;
        if (word >> 32 == last_generation) return;
        const std::lock_guard<std::mutex> lock(mutex_);
        held.next_free = free_;
        free_ = &held;
    }

    slot &take_free_slot() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (free_ == nullptr) add_block();
        slot &taken = *free_;
        free_ = taken.next_free;
        return taken;
    }

    void add_block() {
        if (used_blocks_ == block_count) throw std::bad_alloc();
        slot *block = new slot[block_slots];
        for (uint32_t i = block_slots; i-- > 0;) {
            block[i].index = used_blocks_ * block_slots + i;
            block[i].next_free = free_;
            free_ = &block[i];
        }
        blocks_[used_blocks_++].store(block, std::memory_order_release);
    }

    const uint8_t sort_;
    std::atomic<slot *> blocks_[block_count] = {};
    std::mutex mutex_;  // guards what follows
    slot *free_ = nullptr;
    uint32_t used_blocks_ = 0;
};

}  // namespace oprt
