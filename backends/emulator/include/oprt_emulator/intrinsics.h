// What a kernel says to its block, warp and memory: threadIdx and its kin, barriers, warp collectives, fences, caching
// hints, clock, sleep and trap, under the vendors' names. The work is done by the engine. Every call that can go wrong
// takes its source position by default arguments, which the reports show. Masks and ballots have the vendor's width: 32
// bits, 64 on MetaX.
#pragma once

#include <cassert>
#include <chrono>
#include <cstdio>
#include <type_traits>

#include "oprt_emulator/engine.h"
#include "oprt_emulator/vector_types.h"

namespace oprt_emulator {

using warp_mask = std::conditional<warp_size == 64, unsigned long long, unsigned int>::type;

OPRT_EMULATOR_INLINE uint3 vector_of(index3 index) { return uint3{index.x, index.y, index.z}; }

// Not constexpr, because warpSize is no constant expression for the vendors' compilers.
inline int width_of_warp() { return warp_size; }

// The type itself, in a place from which no template argument is deduced.
template <typename T>
struct same {
    using type = T;
};

}  // namespace oprt_emulator

#define threadIdx (::oprt_emulator::vector_of(::oprt_emulator::thread_index()))
#define blockIdx (::oprt_emulator::vector_of(::oprt_emulator::block_index()))
// The extents of the one grid that runs in this module at a time. Objects and no macros, because host code likes to
// call its own variables and fields by these names. Written between kernels only (runtime_api_kernels.cc), so const for
// all who see them here.
extern const dim3 gridDim __attribute__((visibility("hidden")));
extern const dim3 blockDim __attribute__((visibility("hidden")));
[[maybe_unused]] static const int warpSize = ::oprt_emulator::width_of_warp();

// Start of the block's dynamic shared memory; OPRT_DYNAMIC_SHARED and rewrite.py stand on it.
OPRT_EMULATOR_INLINE void *oprt_emulator_dynamic_shared() { return ::oprt_emulator::dynamic_shared(); }

// The last parameters of every function that reports where it was called.
#define OPRT_EMULATOR_POSITION const char *file = __builtin_FILE(), int line = __builtin_LINE()

// Barriers of the block. The predicate forms give every thread the number of true predicates, or whether all or any
// are.
inline void __syncthreads(OPRT_EMULATOR_POSITION) { oprt_emulator::syncthreads(file, line); }
inline int __syncthreads_count(int predicate, OPRT_EMULATOR_POSITION) {
    return oprt_emulator::syncthreads_count(predicate != 0, file, line);
}
inline int __syncthreads_and(int predicate, OPRT_EMULATOR_POSITION) {
    return oprt_emulator::syncthreads_and(predicate != 0, file, line);
}
inline int __syncthreads_or(int predicate, OPRT_EMULATOR_POSITION) {
    return oprt_emulator::syncthreads_or(predicate != 0, file, line);
}
inline void __syncwarp(oprt_emulator::warp_mask mask = static_cast<oprt_emulator::warp_mask>(oprt_emulator::all_lanes),
                       OPRT_EMULATOR_POSITION) {
    oprt_emulator::syncwarp(mask, file, line);
}

// Votes.
inline oprt_emulator::warp_mask __ballot_sync(oprt_emulator::warp_mask mask, int predicate, OPRT_EMULATOR_POSITION) {
    return static_cast<oprt_emulator::warp_mask>(oprt_emulator::ballot(mask, predicate != 0, file, line));
}
inline int __all_sync(oprt_emulator::warp_mask mask, int predicate, OPRT_EMULATOR_POSITION) {
    return oprt_emulator::all(mask, predicate != 0, file, line);
}
inline int __any_sync(oprt_emulator::warp_mask mask, int predicate, OPRT_EMULATOR_POSITION) {
    return oprt_emulator::any(mask, predicate != 0, file, line);
}
inline oprt_emulator::warp_mask __activemask(OPRT_EMULATOR_POSITION) {
    return static_cast<oprt_emulator::warp_mask>(oprt_emulator::active_mask(file, line));
}

// The four shuffles of one type. half.h and bfloat16.h use it for theirs.
#define OPRT_EMULATOR_SHUFFLES(type)                                                                                  \
    inline type __shfl_sync(oprt_emulator::warp_mask mask, type value, int source, int width = warpSize,              \
                            OPRT_EMULATOR_POSITION) {                                                                 \
        return oprt_emulator::shfl<type>(mask, value, source, width, file, line);                                     \
    }                                                                                                                 \
    inline type __shfl_up_sync(oprt_emulator::warp_mask mask, type value, unsigned int delta, int width = warpSize,   \
                               OPRT_EMULATOR_POSITION) {                                                              \
        return oprt_emulator::shfl_up<type>(mask, value, delta, width, file, line);                                   \
    }                                                                                                                 \
    inline type __shfl_down_sync(oprt_emulator::warp_mask mask, type value, unsigned int delta, int width = warpSize, \
                                 OPRT_EMULATOR_POSITION) {                                                            \
        return oprt_emulator::shfl_down<type>(mask, value, delta, width, file, line);                                 \
    }                                                                                                                 \
    inline type __shfl_xor_sync(oprt_emulator::warp_mask mask, type value, int lanes, int width = warpSize,           \
                                OPRT_EMULATOR_POSITION) {                                                             \
        return oprt_emulator::shfl_xor<type>(mask, value, lanes, width, file, line);                                  \
    }
// Lanes with the caller's value; the all form says in *same whether every lane has it.
#define OPRT_EMULATOR_MATCHES(type)                                                                                  \
    inline oprt_emulator::warp_mask __match_any_sync(oprt_emulator::warp_mask mask, type value,                      \
                                                     OPRT_EMULATOR_POSITION) {                                       \
        return static_cast<oprt_emulator::warp_mask>(oprt_emulator::match_any<type>(mask, value, file, line));       \
    }                                                                                                                \
    inline oprt_emulator::warp_mask __match_all_sync(oprt_emulator::warp_mask mask, type value, int *same,           \
                                                     OPRT_EMULATOR_POSITION) {                                       \
        return static_cast<oprt_emulator::warp_mask>(oprt_emulator::match_all<type>(mask, value, same, file, line)); \
    }
#define OPRT_EMULATOR_SHUFFLES_AND_MATCHES(type) \
    OPRT_EMULATOR_SHUFFLES(type)                 \
    OPRT_EMULATOR_MATCHES(type)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(int)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(unsigned int)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(long)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(unsigned long)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(long long)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(unsigned long long)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(float)
OPRT_EMULATOR_SHUFFLES_AND_MATCHES(double)
#undef OPRT_EMULATOR_SHUFFLES_AND_MATCHES
#undef OPRT_EMULATOR_MATCHES

// Reductions over the lanes of the mask; every one of them gets the result.
#define OPRT_EMULATOR_REDUCE(name, type)                                                                    \
    inline type __reduce_##name##_sync(oprt_emulator::warp_mask mask, type value, OPRT_EMULATOR_POSITION) { \
        return oprt_emulator::reduce_##name<type>(mask, value, file, line);                                 \
    }
OPRT_EMULATOR_REDUCE(add, int)
OPRT_EMULATOR_REDUCE(add, unsigned int)
OPRT_EMULATOR_REDUCE(min, int)
OPRT_EMULATOR_REDUCE(min, unsigned int)
OPRT_EMULATOR_REDUCE(max, int)
OPRT_EMULATOR_REDUCE(max, unsigned int)
OPRT_EMULATOR_REDUCE(and, unsigned int)
OPRT_EMULATOR_REDUCE(or, unsigned int)
OPRT_EMULATOR_REDUCE(xor, unsigned int)
#undef OPRT_EMULATOR_REDUCE

// Fences. Blocks run on several host threads, so they are real.
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Loads and stores with a caching hint, which means nothing here.
#define OPRT_EMULATOR_LOAD(name)      \
    template <typename T>             \
    inline T name(const T *address) { \
        return *address;              \
    }
#define OPRT_EMULATOR_STORE(name)                                               \
    template <typename T>                                                       \
    inline void name(T *address, typename oprt_emulator::same<T>::type value) { \
        *address = value;                                                       \
    }
OPRT_EMULATOR_LOAD(__ldg)
OPRT_EMULATOR_LOAD(__ldca)
OPRT_EMULATOR_LOAD(__ldcg)
OPRT_EMULATOR_LOAD(__ldcs)
OPRT_EMULATOR_LOAD(__ldlu)
OPRT_EMULATOR_LOAD(__ldcv)
OPRT_EMULATOR_STORE(__stwb)
OPRT_EMULATOR_STORE(__stcg)
OPRT_EMULATOR_STORE(__stcs)
OPRT_EMULATOR_STORE(__stwt)
#undef OPRT_EMULATOR_STORE
#undef OPRT_EMULATOR_LOAD

// Time in nanoseconds of a clock of the host: it counts, but says nothing about a GPU's cycles.
inline long long clock64() {
    return static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch().count());
}
// Instead of sleeping the thread lets the others of its block run.
inline void __nanosleep(unsigned int) { oprt_emulator::yield(); }

[[noreturn]] inline void __trap(OPRT_EMULATOR_POSITION) { oprt_emulator::device_trap(file, line); }
[[noreturn]] inline void __brkpt(OPRT_EMULATOR_POSITION) { oprt_emulator::device_trap(file, line); }
