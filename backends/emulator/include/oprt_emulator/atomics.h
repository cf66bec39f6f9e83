// Atomic functions on device memory, with the overloads that CUDA has (MACA has the same): relaxed order, the old value
// comes back. The _block and _system forms are the same here. An operation that changes nothing is what a spin loop
// does, so it lets other threads of the block run now and then; a loop on a plain or volatile read meets the time limit
// instead.
#pragma once

#include "oprt_emulator/bits.h"
#include "oprt_emulator/qualifiers.h"

namespace oprt_emulator {

// Called after an atomic operation that left memory as it was; lets the block's other threads run on every 16th call.
void spin_hint();

template <size_t size>
struct word;
template <>
struct word<2> {
    using type = uint16_t;
};
template <>
struct word<4> {
    using type = uint32_t;
};
template <>
struct word<8> {
    using type = uint64_t;
};

// May alias anything: the word is only a view of the T that is there.
template <typename T>
using word_of __attribute__((may_alias)) = typename word<sizeof(T)>::type;

// Replace *address by compute(old) and give old back.
template <typename T, typename function>
inline T atomic_update(T *address, function compute) {
    using bits = typename word<sizeof(T)>::type;
    auto *const target = reinterpret_cast<word_of<T> *>(address);
    bits old = __atomic_load_n(target, __ATOMIC_RELAXED);
    bits wanted;
    do {
        wanted = bit_cast<bits>(compute(bit_cast<T>(old)));
    } while (!__atomic_compare_exchange_n(target, &old, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (old == wanted) spin_hint();
    return bit_cast<T>(old);
}

template <typename T>
inline T atomic_exchange(T *address, T value) {
    using bits = typename word<sizeof(T)>::type;
    const bits old =
        __atomic_exchange_n(reinterpret_cast<word_of<T> *>(address), bit_cast<bits>(value), __ATOMIC_RELAXED);
    if (old == bit_cast<bits>(value)) spin_hint();
    return bit_cast<T>(old);
}

template <typename T>
inline T atomic_compare_and_swap(T *address, T compare, T value) {
    T expected = compare;
    if (!__atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) spin_hint();
    return expected;
}

// The operations that the processor has itself.
template <typename T>
inline T atomic_add(T *address, T value) {
    if (value == 0) spin_hint();
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
template <typename T>
inline T atomic_subtract(T *address, T value) {
    if (value == 0) spin_hint();
    return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
template <typename T>
inline T atomic_and(T *address, T value) {
    const T old = __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
    if ((old & value) == old) spin_hint();
    return old;
}
template <typename T>
inline T atomic_or(T *address, T value) {
    const T old = __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
    if ((old | value) == old) spin_hint();
    return old;
}
template <typename T>
inline T atomic_xor(T *address, T value) {
    if (value == 0) spin_hint();
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
// Never a reason to yield: a minimum that is already lower is the usual case, not a wait.
template <typename T, typename function>
inline T atomic_select(T *address, T value, function better) {
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (better(value, old) &&
           !__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
template <typename T>
inline T atomic_minimum(T *address, T value) {
    return atomic_select(address, value, [](T a, T b) { return a < b; });
}
template <typename T>
inline T atomic_maximum(T *address, T value) {
    return atomic_select(address, value, [](T a, T b) { return a > b; });
}
template <typename T>
inline T atomic_add_floating(T *address, T value) {
    return atomic_update(address, [value](T old) { return old + value; });
}
inline unsigned int atomic_increment(unsigned int *address, unsigned int limit) {
    return atomic_update(address, [limit](unsigned int old) { return old >= limit ? 0u : old + 1; });
}
inline unsigned int atomic_decrement(unsigned int *address, unsigned int limit) {
    return atomic_update(address, [limit](unsigned int old) { return old == 0 || old > limit ? limit : old - 1; });
}

}  // namespace oprt_emulator

// name(type *, type) and its _block and _system forms over a function above.
#define OPRT_EMULATOR_ATOMIC(name, type, function)                                                          \
    inline type name(type *address, type value) { return oprt_emulator::function(address, value); }         \
    inline type name##_block(type *address, type value) { return oprt_emulator::function(address, value); } \
    inline type name##_system(type *address, type value) { return oprt_emulator::function(address, value); }
#define OPRT_EMULATOR_ATOMIC_CAS(type)                                          \
    inline type atomicCAS(type *address, type compare, type value) {            \
        return oprt_emulator::atomic_compare_and_swap(address, compare, value); \
    }                                                                           \
    inline type atomicCAS_block(type *address, type compare, type value) {      \
        return oprt_emulator::atomic_compare_and_swap(address, compare, value); \
    }                                                                           \
    inline type atomicCAS_system(type *address, type compare, type value) {     \
        return oprt_emulator::atomic_compare_and_swap(address, compare, value); \
    }
// Integers of 64 bits with a sign have minimum, maximum and the bit operations only.
#define OPRT_EMULATOR_ATOMIC_ALL(type)                    \
    OPRT_EMULATOR_ATOMIC(atomicMin, type, atomic_minimum) \
    OPRT_EMULATOR_ATOMIC(atomicMax, type, atomic_maximum) \
    OPRT_EMULATOR_ATOMIC(atomicAnd, type, atomic_and)     \
    OPRT_EMULATOR_ATOMIC(atomicOr, type, atomic_or)       \
    OPRT_EMULATOR_ATOMIC(atomicXor, type, atomic_xor)

OPRT_EMULATOR_ATOMIC_ALL(int)
OPRT_EMULATOR_ATOMIC_ALL(unsigned int)
OPRT_EMULATOR_ATOMIC_ALL(long long)
OPRT_EMULATOR_ATOMIC_ALL(unsigned long long)
OPRT_EMULATOR_ATOMIC(atomicAdd, int, atomic_add)
OPRT_EMULATOR_ATOMIC(atomicAdd, unsigned int, atomic_add)
OPRT_EMULATOR_ATOMIC(atomicAdd, unsigned long long, atomic_add)
OPRT_EMULATOR_ATOMIC(atomicAdd, float, atomic_add_floating)
OPRT_EMULATOR_ATOMIC(atomicAdd, double, atomic_add_floating)
OPRT_EMULATOR_ATOMIC(atomicSub, int, atomic_subtract)
OPRT_EMULATOR_ATOMIC(atomicSub, unsigned int, atomic_subtract)
OPRT_EMULATOR_ATOMIC(atomicExch, int, atomic_exchange)
OPRT_EMULATOR_ATOMIC(atomicExch, unsigned int, atomic_exchange)
OPRT_EMULATOR_ATOMIC(atomicExch, unsigned long long, atomic_exchange)
OPRT_EMULATOR_ATOMIC(atomicExch, float, atomic_exchange)
OPRT_EMULATOR_ATOMIC(atomicInc, unsigned int, atomic_increment)
OPRT_EMULATOR_ATOMIC(atomicDec, unsigned int, atomic_decrement)
OPRT_EMULATOR_ATOMIC_CAS(int)
OPRT_EMULATOR_ATOMIC_CAS(unsigned int)
OPRT_EMULATOR_ATOMIC_CAS(unsigned long long)
OPRT_EMULATOR_ATOMIC_CAS(unsigned short)

#undef OPRT_EMULATOR_ATOMIC_ALL
#undef OPRT_EMULATOR_ATOMIC_CAS
#undef OPRT_EMULATOR_ATOMIC
