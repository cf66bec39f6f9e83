// A set of the threads of one block, one bit each, so that picking the next thread and releasing a barrier are a few
// word operations.
#pragma once

#include <cstdint>

#include "oprt_emulator/context.h"

namespace oprt_emulator {

class thread_set {
public:
    static constexpr unsigned word_bits = 64;
    static constexpr unsigned max_words = max_block_threads / word_bits;
    static constexpr unsigned nobody = ~0u;

    void insert(unsigned thread) noexcept { words_[thread / word_bits] |= bit(thread); }
    void erase(unsigned thread) noexcept { words_[thread / word_bits] &= ~bit(thread); }
    bool contains(unsigned thread) const noexcept {
        return (words_[thread / word_bits] >> (thread % word_bits) & 1) != 0;
    }

    // Exactly the threads first to last - 1.
    void assign_range(unsigned first, unsigned last) noexcept {
        for (unsigned word = 0; word < max_words; ++word) {
            const unsigned begin = word * word_bits;
            words_[word] = below(last, begin) & ~below(first, begin);
        }
    }

    // Become equal to another set. words: those that the block uses.
    void copy(const thread_set &from, unsigned words) noexcept {
        for (unsigned word = 0; word < words; ++word) words_[word] = from.words_[word];
    }

    // Take out the members of another set.
    void erase_all(const thread_set &others) noexcept {
        for (unsigned word = 0; word < max_words; ++word) words_[word] &= ~others.words_[word];
    }

    // Take a thread out if it is in; whether it was. thread may be one past the last.
    bool take(unsigned thread) noexcept {
        std::uint64_t &word = words_[thread / word_bits];
        const std::uint64_t held = word;
        word = held & ~bit(thread);
        return (held & bit(thread)) != 0;
    }

    // The lanes of a warp, lane 0 in bit 0.
    lane_mask lanes(unsigned warp) const noexcept {
        const unsigned first = warp * static_cast<unsigned>(warp_size);
        return words_[first / word_bits] >> (first % word_bits) & all_lanes;
    }
    void insert_lanes(unsigned warp, lane_mask lanes) noexcept {
        const unsigned first = warp * static_cast<unsigned>(warp_size);
        words_[first / word_bits] |= lanes << (first % word_bits);
    }

    // The first member at or after a thread, going round at the end; nobody when empty.
    unsigned next_from(unsigned thread, unsigned words) const noexcept {
        if (thread >= words * word_bits) thread = 0;
        const unsigned start = thread / word_bits;
        const std::uint64_t first = words_[start] >> (thread % word_bits);
        if (first != 0) return thread + lowest(first);
        for (unsigned step = 1; step <= words; ++step) {
            const unsigned word = (start + step) % words;
            if (words_[word] != 0) return word * word_bits + lowest(words_[word]);
        }
        return nobody;
    }

    // The first member at or before a thread (any number counts as the last thread), going round; nobody when empty.
    unsigned previous_from(unsigned thread, unsigned words) const noexcept {
        if (thread >= words * word_bits) thread = words * word_bits - 1;
        const unsigned start = thread / word_bits;
        const std::uint64_t first = words_[start] << (word_bits - 1 - thread % word_bits);
        if (first != 0) return thread - leading(first);
        for (unsigned step = 1; step <= words; ++step) {
            const unsigned word = (start + words - step) % words;
            if (words_[word] != 0) return word * word_bits + word_bits - 1 - leading(words_[word]);
        }
        return nobody;
    }

    unsigned size(unsigned words) const noexcept {
        unsigned count = 0;
        for (unsigned word = 0; word < words; ++word)
            count += static_cast<unsigned>(__builtin_popcountll(words_[word]));
        return count;
    }

    // The member with that many members before it, which exists.
    unsigned at_rank(unsigned rank) const noexcept {
        for (unsigned word = 0; word < max_words; ++word) {
            const auto here = static_cast<unsigned>(__builtin_popcountll(words_[word]));
            if (rank < here) return word * word_bits + nth_bit(words_[word], rank);
            rank -= here;
        }
        return nobody;
    }

    static unsigned nth_bit(std::uint64_t word, unsigned rank) noexcept {
        for (; rank != 0; --rank) word &= word - 1;
        return lowest(word);
    }

private:
    static std::uint64_t bit(unsigned thread) noexcept { return std::uint64_t{1} << (thread % word_bits); }
    static unsigned lowest(std::uint64_t word) noexcept { return static_cast<unsigned>(__builtin_ctzll(word)); }
    static unsigned leading(std::uint64_t word) noexcept { return static_cast<unsigned>(__builtin_clzll(word)); }
    // The bits of the word that starts at thread begin for threads below a limit.
    static std::uint64_t below(unsigned limit, unsigned begin) noexcept {
        if (limit <= begin) return 0;
        return limit - begin >= word_bits ? ~std::uint64_t{0} : bit(limit - begin) - 1;
    }

    std::uint64_t words_[max_words + 1] = {};  // the last is always 0
};

}  // namespace oprt_emulator
