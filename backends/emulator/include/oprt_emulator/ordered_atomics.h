// The __nv_atomic_... functions that nvcc has since CUDA 12.8, for values of 2, 4 and 8 bytes: loads, stores and
// updates in a memory order that the caller names. The scope means nothing here: all threads see one memory.
#pragma once

#include "oprt_emulator/atomics.h"
#include "oprt_emulator/intrinsics.h"

enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};

enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

namespace oprt_emulator {

// A relaxed operation between two fences, which is as strong as any order that can be asked for.
template <typename function>
inline auto in_order(int order, function relaxed) {
    if (order != __NV_ATOMIC_RELAXED) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const auto result = relaxed();
    if (order != __NV_ATOMIC_RELAXED) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return result;
}

}  // namespace oprt_emulator

inline void __nv_atomic_thread_fence(int, int = __NV_THREAD_SCOPE_SYSTEM) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// A load is what a spin loop does, so it lets other threads of the block run now and then.
template <typename T>
inline T __nv_atomic_load_n(const T *address, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
    return oprt_emulator::in_order(order, [&] {
        oprt_emulator::spin_hint();
        const auto *const word = reinterpret_cast<const oprt_emulator::word_of<T> *>(address);
        return oprt_emulator::bit_cast<T>(__atomic_load_n(word, __ATOMIC_RELAXED));
    });
}

template <typename T>
inline T __nv_atomic_exchange_n(T *address, typename oprt_emulator::same<T>::type value, int order,
                                int = __NV_THREAD_SCOPE_SYSTEM) {
    return oprt_emulator::in_order(order, [&] { return oprt_emulator::atomic_exchange(address, value); });
}

template <typename T>
inline void __nv_atomic_store_n(T *address, typename oprt_emulator::same<T>::type value, int order,
                                int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_exchange_n(address, value, order, scope);
}

template <typename T>
inline bool __nv_atomic_compare_exchange_n(T *address, T *expected, typename oprt_emulator::same<T>::type value, bool,
                                           int success, int failure, int = __NV_THREAD_SCOPE_SYSTEM) {
    const T compare = *expected;
    *expected = oprt_emulator::in_order(success | failure, [&] {
        return oprt_emulator::atomic_update(address, [&](T old) { return old == compare ? value : old; });
    });
    return *expected == compare;
}

// __nv_atomic_fetch_name gives the old value back, __nv_atomic_name nothing.
#define OPRT_EMULATOR_ORDERED(name, expression)                                                              \
    template <typename T>                                                                                    \
    inline T __nv_atomic_fetch_##name(T *address, typename oprt_emulator::same<T>::type value, int order,    \
                                      int = __NV_THREAD_SCOPE_SYSTEM) {                                      \
        return oprt_emulator::in_order(order, [&] {                                                          \
            return oprt_emulator::atomic_update(address, [&](T old) { return static_cast<T>(expression); }); \
        });                                                                                                  \
    }                                                                                                        \
    template <typename T>                                                                                    \
    inline void __nv_atomic_##name(T *address, typename oprt_emulator::same<T>::type value, int order,       \
                                   int scope = __NV_THREAD_SCOPE_SYSTEM) {                                   \
        __nv_atomic_fetch_##name(address, value, order, scope);                                              \
    }
OPRT_EMULATOR_ORDERED(add, old + value)
OPRT_EMULATOR_ORDERED(sub, old - value)
OPRT_EMULATOR_ORDERED(and, old &value)
OPRT_EMULATOR_ORDERED(or, old | value)
OPRT_EMULATOR_ORDERED(xor, old ^ value)
OPRT_EMULATOR_ORDERED(min, value < old ? value : old)
OPRT_EMULATOR_ORDERED(max, old < value ? value : old)
#undef OPRT_EMULATOR_ORDERED
