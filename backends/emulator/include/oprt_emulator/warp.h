// Warp collectives at 32 or 64 lanes, masks of 64 bits. Every call takes the source position for the reports. A value
// read from a lane that takes no part (outside the mask, exited, not there) is poison: all bits set. A lane that its
// own mask does not name is a fault, and so are different collectives that meet under one mask. Lanes that exited count
// as arrived.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "oprt_emulator/context.h"

namespace oprt_emulator {

enum class collective : unsigned char {
    none,
    syncwarp,
    shuffle,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    ballot,
    all,
    any,
    active_mask,
    match_any,
    match_all,
    reduce_add,
    reduce_min,
    reduce_max,
    reduce_and,
    reduce_or,
    reduce_xor
};

// What the lanes of one collective brought, by lane; valid until the lane's next collective.
struct lane_values {
    std::uint64_t low[warp_size];
    std::uint64_t high[warp_size];  // of 16-byte values
    lane_mask taking_part;
    lane_mask predicates;  // lanes that brought a low other than 0 to a vote
};

// Come to the meeting of the lanes of a mask; the caller then puts what it brings into the values and finishes the
// meeting, which waits for the other lanes.
lane_values *join_meeting(collective kind, lane_mask mask, const char *file, int line);
void finish_meeting();

void syncwarp(lane_mask mask, const char *file, int line);

// The lanes that run together with the caller: those that arrive at this source line before every other lane of the
// warp waits or has exited.
lane_mask active_mask(const char *file, int line);

// Bring a value, wait for the lanes of the mask, get everybody's.
template <typename T>
OPRT_EMULATOR_INLINE const lane_values *exchange(collective kind, lane_mask mask, const T &value, const char *file,
                                                 int line) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16,
                  "a collective carries plain values up to 16 bytes");
    lane_values *values = join_meeting(kind, mask, file, line);
    const unsigned lane = lane_index();
    if constexpr (sizeof(T) <= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, &value, sizeof(T));
        values->low[lane] = word;
    } else {
        std::uint64_t words[2] = {0, 0};
        std::memcpy(words, &value, sizeof(T));
        values->low[lane] = words[0];
        values->high[lane] = words[1];
    }
    finish_meeting();
    return values;
}

OPRT_EMULATOR_INLINE const lane_values *vote(collective kind, lane_mask mask, bool predicate, const char *file,
                                             int line) {
    lane_values *values = join_meeting(kind, mask, file, line);
    values->predicates |= lane_mask{predicate} << lane_index();
    finish_meeting();
    return values;
}

// The value that a lane brought; all bits set when it took no part.
template <typename T>
OPRT_EMULATOR_INLINE T value_of_lane(const lane_values &values, unsigned lane) {
    std::uint64_t words[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
    if (values.taking_part >> lane & 1) {
        words[0] = values.low[lane];
        if constexpr (sizeof(T) > 8) words[1] = values.high[lane];
    }
    T value;
    std::memcpy(&value, words, sizeof(T));
    return value;
}

// width: a power of two up to warp_size; the warp is cut into segments of that many lanes.
template <typename T>
OPRT_EMULATOR_INLINE T shfl(lane_mask mask, T value, int source, int width, const char *file, int line) {
    const lane_values *values = exchange(collective::shuffle, mask, value, file, line);
    const unsigned lane = lane_index();
    const unsigned in_segment = static_cast<unsigned>(width) - 1;
    return value_of_lane<T>(*values, (lane & ~in_segment) | (static_cast<unsigned>(source) & in_segment));
}

template <typename T>
OPRT_EMULATOR_INLINE T shfl_up(lane_mask mask, T value, unsigned delta, int width, const char *file, int line) {
    const lane_values *values = exchange(collective::shuffle_up, mask, value, file, line);
    const unsigned lane = lane_index();
    const unsigned in_segment = static_cast<unsigned>(width) - 1;
    return value_of_lane<T>(*values, (lane & in_segment) < delta ? lane : lane - delta);
}

template <typename T>
OPRT_EMULATOR_INLINE T shfl_down(lane_mask mask, T value, unsigned delta, int width, const char *file, int line) {
    const lane_values *values = exchange(collective::shuffle_down, mask, value, file, line);
    const unsigned lane = lane_index();
    const unsigned in_segment = static_cast<unsigned>(width) - 1;
    return value_of_lane<T>(*values, delta > in_segment - (lane & in_segment) ? lane : lane + delta);
}

// A source in a later segment gives the lane's own value; one in an earlier segment is read, as the hardware does.
template <typename T>
OPRT_EMULATOR_INLINE T shfl_xor(lane_mask mask, T value, int lanes, int width, const char *file, int line) {
    const lane_values *values = exchange(collective::shuffle_xor, mask, value, file, line);
    const unsigned lane = lane_index();
    const unsigned source = lane ^ static_cast<unsigned>(lanes);
    const unsigned last_of_segment = lane | (static_cast<unsigned>(width) - 1);
    return value_of_lane<T>(*values, source > last_of_segment ? lane : source);
}

OPRT_EMULATOR_INLINE lane_mask ballot(lane_mask mask, bool predicate, const char *file, int line) {
    return vote(collective::ballot, mask, predicate, file, line)->predicates;
}

OPRT_EMULATOR_INLINE bool all(lane_mask mask, bool predicate, const char *file, int line) {
    const lane_values *values = vote(collective::all, mask, predicate, file, line);
    return values->predicates == values->taking_part;
}

OPRT_EMULATOR_INLINE bool any(lane_mask mask, bool predicate, const char *file, int line) {
    return vote(collective::any, mask, predicate, file, line)->predicates != 0;
}

// Call body(lane) for every lane that took part, lowest first.
template <typename Body>
void for_each_lane(const lane_values &values, Body body) {
    for (lane_mask left = values.taking_part; left != 0; left &= left - 1) {
        body(static_cast<unsigned>(__builtin_ctzll(left)));
    }
}

// The lanes with the caller's value, compared by bits.
template <typename T>
OPRT_EMULATOR_INLINE lane_mask match_any(lane_mask mask, T value, const char *file, int line) {
    static_assert(sizeof(T) <= 8, "match takes values up to 8 bytes");
    const lane_values *values = exchange(collective::match_any, mask, value, file, line);
    const std::uint64_t own = values->low[lane_index()];
    lane_mask same = 0;
    for_each_lane(*values, [&](unsigned lane) { same |= lane_mask{values->low[lane] == own} << lane; });
    return same;
}

// All lanes that take part when they have one value, else 0. *same says which.
template <typename T>
OPRT_EMULATOR_INLINE lane_mask match_all(lane_mask mask, T value, int *same, const char *file, int line) {
    static_assert(sizeof(T) <= 8, "match takes values up to 8 bytes");
    const lane_values *values = exchange(collective::match_all, mask, value, file, line);
    const std::uint64_t own = values->low[lane_index()];
    bool equal = true;
    for_each_lane(*values, [&](unsigned lane) { equal = equal && values->low[lane] == own; });
    *same = equal ? 1 : 0;
    return equal ? values->taking_part : 0;
}

// combine(a, b) over the values of the lanes that take part, lowest lane first.
template <typename T, typename Combine>
T reduce(collective kind, lane_mask mask, T value, Combine combine, const char *file, int line) {
    const lane_values *values = exchange(kind, mask, value, file, line);
    bool first = true;
    T result = value;
    for_each_lane(*values, [&](unsigned lane) {
        const T next = value_of_lane<T>(*values, lane);
        result = first ? next : static_cast<T>(combine(result, next));
        first = false;
    });
    return result;
}

template <typename T>
T reduce_add(lane_mask mask, T value, const char *file, int line) {
    using bits = std::make_unsigned_t<T>;  // sums wrap
    return reduce(
        collective::reduce_add, mask, value, [](T a, T b) { return static_cast<bits>(a) + static_cast<bits>(b); }, file,
        line);
}

template <typename T>
T reduce_min(lane_mask mask, T value, const char *file, int line) {
    return reduce(
        collective::reduce_min, mask, value, [](T a, T b) { return b < a ? b : a; }, file, line);
}

template <typename T>
T reduce_max(lane_mask mask, T value, const char *file, int line) {
    return reduce(
        collective::reduce_max, mask, value, [](T a, T b) { return a < b ? b : a; }, file, line);
}

template <typename T>
T reduce_and(lane_mask mask, T value, const char *file, int line) {
    return reduce(
        collective::reduce_and, mask, value, [](T a, T b) { return a & b; }, file, line);
}

template <typename T>
T reduce_or(lane_mask mask, T value, const char *file, int line) {
    return reduce(
        collective::reduce_or, mask, value, [](T a, T b) { return a | b; }, file, line);
}

template <typename T>
T reduce_xor(lane_mask mask, T value, const char *file, int line) {
    return reduce(
        collective::reduce_xor, mask, value, [](T a, T b) { return a ^ b; }, file, line);
}

}  // namespace oprt_emulator
