// Kernels that show what a device can do: what the benchmark calls the limit of copying, of reading and of launching.
// Vendor-neutral; compiled once for each module. They stand on their own, so that a slow operator cannot lower the limit
// that it is compared with. Which variant is the fastest is left to who measures.
#include "backends/probes.h"

#include <oprt_device.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "shared/index.h"
#include "shared/pack.h"

namespace oprt {
namespace {

using words = pack<uint32_t>;

// How a kernel lays its work on the device. A block takes tiles of threads * packs packs; consecutive threads take
// consecutive packs.
struct probe_shape {
    int threads;
    int packs;                      // loads that a thread has under way at once
    int blocks_per_multiprocessor;  // 0: a block for each tile; else that many blocks, which loop
};

constexpr probe_shape shapes[] = {
    {256, 1, 0}, {512, 1, 0}, {256, 2, 0}, {256, 4, 0}, {256, 8, 0}, {256, 1, 32}, {256, 4, 8},
};
constexpr int32_t shape_count = static_cast<int32_t>(std::size(shapes));
constexpr int32_t memcpy_variant = shape_count;  // of the copy alone: the vendor's own

__global__ void probe_empty() {}

// Packs number first, first + threads, ... of source: [packs_in_all]; zeros beyond its end. A whole tile is told apart
// so that its loads start without a branch between them.
template <int threads, int packs>
__device__ __forceinline__ void load_tile(words (&values)[packs], const words *__restrict__ source, int64_t first,
                                          int64_t packs_in_all) {
    if (first + (packs - 1) * threads < packs_in_all) {
#pragma unroll
        for (int i = 0; i < packs; ++i) values[i] = source[first + i * threads];
        return;
    }
#pragma unroll
    for (int i = 0; i < packs; ++i) {
        const int64_t place = first + i * threads;
        values[i] = place < packs_in_all ? source[place] : words{};
    }
}

// destination, source: [packs_in_all]
template <int shape>
__global__ void __launch_bounds__(shapes[shape].threads)
    probe_copy(words *__restrict__ destination, const words *__restrict__ source, int64_t packs_in_all) {
    constexpr int threads = shapes[shape].threads;
    constexpr int packs = shapes[shape].packs;
    int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * packs) + threadIdx.x;
    do {
        words values[packs];
        load_tile<threads>(values, source, first, packs_in_all);
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            const int64_t place = first + i * threads;
            if (place < packs_in_all) destination[place] = values[i];
        }
        first += static_cast<int64_t>(gridDim.x) * (threads * packs);
    } while (shapes[shape].blocks_per_multiprocessor > 0 && first < packs_in_all);
}

// keep: 0, which the compiler cannot know: all loads have to happen, no store ever does.
// destination: [1]; source: [packs_in_all]
template <int shape>
__global__ void __launch_bounds__(shapes[shape].threads)
    probe_read(words *__restrict__ destination, const words *__restrict__ source, int64_t packs_in_all, uint32_t keep) {
    constexpr int threads = shapes[shape].threads;
    constexpr int packs = shapes[shape].packs;
    int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * packs) + threadIdx.x;
    words seen = {};
    do {
        words values[packs];
        load_tile<threads>(values, source, first, packs_in_all);
#pragma unroll
        for (int i = 0; i < packs; ++i) {
#pragma unroll
            for (int w = 0; w < words::size; ++w) seen.values[w] ^= values[i].values[w];
        }
        first += static_cast<int64_t>(gridDim.x) * (threads * packs);
    } while (shapes[shape].blocks_per_multiprocessor > 0 && first < packs_in_all);
    const uint32_t any = seen.values[0] | seen.values[1] | seen.values[2] | seen.values[3];
    if ((any & keep) != 0) *destination = seen;
}

// What one run works on.
struct probe_run {
    words *destination;
    const words *source;
    int64_t packs;
    stream_t stream;
};

template <int shape>
launch_config config_of(const probe_run &run) {
    constexpr probe_shape chosen = shapes[shape];
    const int64_t tiles = ceil_divide(run.packs, chosen.threads * chosen.packs);
    const int64_t most = chosen.blocks_per_multiprocessor > 0
                             ? int64_t{chosen.blocks_per_multiprocessor} * multiprocessor_count()
                             : tiles;
    return {dim3(static_cast<unsigned>(std::min(tiles, most))), chosen.threads, 0, run.stream};
}

template <int shape>
void launch_copy_of_shape(const probe_run &run) {
    launch(probe_copy<shape>, config_of<shape>(run), run.destination, run.source, run.packs);
}

template <int shape>
void launch_read_of_shape(const probe_run &run) {
    launch(probe_read<shape>, config_of<shape>(run), run.destination, run.source, run.packs, 0u);
}

// The two launches of each shape, by its number.
struct shape_launches {
    void (*copy)(const probe_run &run);
    void (*read)(const probe_run &run);
};

template <int... shape>
const shape_launches &launches_of(std::integer_sequence<int, shape...>, int32_t variant) {
    static constexpr shape_launches all[] = {{launch_copy_of_shape<shape>, launch_read_of_shape<shape>}...};
    return all[variant];
}

const shape_launches &launches_of(int32_t variant) {
    return launches_of(std::make_integer_sequence<int, shape_count>(), variant);
}

void launch_empty(stream_t stream) { launch(probe_empty, launch_config{dim3(1), dim3(warp_size), 0, stream}); }

void launch_memcpy(const probe_run &run) {
    const size_t size_bytes = static_cast<size_t>(run.packs) * pack_bytes;
    record_if_failed("MemcpyAsync", OPRT_VENDOR(MemcpyAsync)(run.destination, run.source, size_bytes,
                                                             OPRT_VENDOR(MemcpyDefault), run.stream));
}

void launch_probe(oprt_probe_t probe, int32_t variant, const probe_run &run) {
    switch (probe) {
        case OPRT_PROBE_EMPTY: return launch_empty(run.stream);
        case OPRT_PROBE_COPY: return variant == memcpy_variant ? launch_memcpy(run) : launches_of(variant).copy(run);
        case OPRT_PROBE_READ: return launches_of(variant).read(run);
        case OPRT_PROBE_READ_TWICE: launches_of(variant).read(run); return launches_of(variant).copy(run);
    }
}

void synchronize(stream_t stream) { record_if_failed("StreamSynchronize", OPRT_VENDOR(StreamSynchronize)(stream)); }

double launch_burst_us(int32_t burst, stream_t stream) {
    using clock = std::chrono::steady_clock;
    const clock::time_point start = clock::now();
    for (int32_t i = 0; i < burst; ++i) launch_empty(stream);
    return std::chrono::duration<double, std::micro>(clock::now() - start).count() / burst;
}

}  // namespace

oprt_status_t probe_variant_count(int32_t *count, oprt_probe_t probe, module_message &) {
    switch (probe) {
        case OPRT_PROBE_EMPTY: *count = 1; break;
        case OPRT_PROBE_COPY: *count = shape_count + 1; break;
        case OPRT_PROBE_READ:
        case OPRT_PROBE_READ_TWICE: *count = shape_count; break;
    }
    return OPRT_SUCCESS;
}

oprt_status_t run_probe(oprt_probe_t probe, int32_t variant, void *destination, const void *source, size_t size_bytes,
                        oprt_stream_t stream, module_message &message) {
    if (const oprt_status_t status = begin_launch(false, message); status != OPRT_SUCCESS) return status;
    launch_probe(probe, variant,
                 {static_cast<words *>(destination), static_cast<const words *>(source),
                  static_cast<int64_t>(size_bytes / pack_bytes), reinterpret_cast<stream_t>(stream)});
    return end_launch(message);
}

oprt_status_t measure_launches(double *samples_us, int32_t samples, int32_t burst, oprt_stream_t stream,
                               module_message &message) {
    if (const oprt_status_t status = begin_launch(false, message); status != OPRT_SUCCESS) return status;
    const auto native = reinterpret_cast<stream_t>(stream);
    launch_empty(native);  // the first launch of a kernel loads it
    for (int32_t i = 0; i < samples; ++i) {
        synchronize(native);
        samples_us[i] = launch_burst_us(burst, native);
    }
    synchronize(native);
    return end_launch(message);
}

}  // namespace oprt
