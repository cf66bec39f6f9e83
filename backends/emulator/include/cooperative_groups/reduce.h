// Stand-in for <cooperative_groups/reduce.h> on the emulator: reduce() over a tile, and its operations.
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

// The operations of reduce().
template <typename T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

// combine() over the values of the tile's threads; every one of them gets the result. Butterfly order, as is common on
// devices; the order of a device is not specified.
template <unsigned int lanes, typename parent, typename T, typename operation>
inline T reduce(const thread_block_tile<lanes, parent> &tile, T value, operation combine, OPRT_EMULATOR_POSITION) {
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2) {
        value = combine(value, tile.shfl_xor(value, distance, file, line));
    }
    return value;
}

}  // namespace cooperative_groups
