// Votes, match, reductions and the active mask, with masks as wide as the warp.
#include "engine_test.h"

static void votes(lane_mask *ballots, int *anys, int *alls, lane_mask pattern) {
    const unsigned t = thread_index().x, lane = lane_index();
    const bool predicate = (pattern >> lane & 1) != 0;
    ballots[t] = ballot(all_lanes, predicate, HERE);
    anys[t] = any(all_lanes, predicate, HERE);
    alls[t] = all(all_lanes, predicate, HERE);
}

// The halves of a warp vote apart at the same time.
static void halves(lane_mask *ballots) {
    const unsigned lane = lane_index();
    const lane_mask low = (lane_mask{1} << (warp_size / 2)) - 1;
    if (lane < static_cast<unsigned>(warp_size) / 2) {
        ballots[thread_index().x] = ballot(low, lane % 2 == 0, HERE);
    } else {
        ballots[thread_index().x] = ballot(all_lanes & ~low, lane % 2 == 1, HERE);
    }
}

// As many masks as lanes, again and again: more meetings than slots.
static void many_masks(int *sums, unsigned rounds) {
    const unsigned lane = lane_index(), t = thread_index().x;
    int sum = 0;
    for (unsigned round = 1; round <= rounds; ++round) {
        // Partners at a distance that changes, so that each round makes other masks of two lanes.
        const unsigned distance = 1u << (round % (warp_size == 64 ? 6 : 5));
        const unsigned partner = lane ^ distance;
        const lane_mask pair = lane_mask{1} << lane | lane_mask{1} << partner;
        sum += shfl(pair, static_cast<int>(lane * round), static_cast<int>(partner), warp_size, HERE);
        sum += shfl(all_lanes, static_cast<int>(lane), static_cast<int>(round % warp_size), warp_size, HERE);
    }
    sums[t] = sum;
}

static void matches(lane_mask *anys, lane_mask *alls, int *flags) {
    const unsigned t = thread_index().x;
    anys[t] = match_any(all_lanes, t % 5, HERE);
    alls[2 * t] = match_all(all_lanes, 1.5, &flags[2 * t], HERE);
    alls[2 * t + 1] = match_all(all_lanes, static_cast<long long>(t), &flags[2 * t + 1], HERE);
}

static void reductions(int *signed_results, unsigned *unsigned_results, lane_mask mask) {
    const unsigned t = thread_index().x;
    if ((mask >> lane_index() & 1) == 0) return;
    const int value = static_cast<int>(t * 37 % 101) - 50;
    signed_results[t * 3] = reduce_add(mask, value, HERE);
    signed_results[t * 3 + 1] = reduce_min(mask, value, HERE);
    signed_results[t * 3 + 2] = reduce_max(mask, value, HERE);
    const unsigned bits = t * 2654435761u;
    unsigned_results[t * 3] = reduce_and(mask, bits, HERE);
    unsigned_results[t * 3 + 1] = reduce_or(mask, bits, HERE);
    unsigned_results[t * 3 + 2] = reduce_xor(mask, bits, HERE);
}

static void active(lane_mask *masks, unsigned limit) {
    const unsigned lane = lane_index();
    if (lane < limit) {
        masks[thread_index().x] = active_mask(HERE);
    } else if (lane % 2 == 0) {
        masks[thread_index().x] = active_mask(HERE);
    }
    syncwarp(all_lanes, HERE);
}

static lane_mask mask_of_block(unsigned threads, unsigned warp) {
    const unsigned left = threads - warp * warp_size;
    return left >= static_cast<unsigned>(warp_size) ? all_lanes : (lane_mask{1} << left) - 1;
}

int main(int argc, char **argv) {
    return run_parts(
        argc, argv,
        {
            {"votes",
             [] {
                 for (unsigned threads : {1u, 17u, static_cast<unsigned>(warp_size), 3u * warp_size + 5}) {
                     for (lane_mask pattern : {lane_mask{0}, ~lane_mask{0}, lane_mask{1} << (warp_size - 1),
                                               lane_mask{0x5A5A5A5AF0F0F0F0}}) {
                         buffer<lane_mask> ballots(threads);
                         buffer<int> anys(threads), alls(threads);
                         run(votes, dim3(1), dim3(threads), 0, ballots, anys, alls, pattern);
                         for (unsigned t = 0; t < threads; ++t) {
                             const lane_mask present = mask_of_block(threads, t / warp_size);
                             CHECK(ballots[t] == (pattern & present));
                             CHECK(anys[t] == ((pattern & present) != 0));
                             CHECK(alls[t] == ((pattern & present) == present));
                         }
                     }
                 }
             }},
            {"halves",
             [] {
                 buffer<lane_mask> ballots(warp_size);
                 run(halves, dim3(1), dim3(warp_size), 0, ballots);
                 const lane_mask low = (lane_mask{1} << (warp_size / 2)) - 1;
                 for (unsigned t = 0; t < static_cast<unsigned>(warp_size); ++t) {
                     const bool is_low = t < static_cast<unsigned>(warp_size) / 2;
                     CHECK(ballots[t] == (is_low ? lane_mask{0x5555555555555555} & low
                                                 : lane_mask{0xAAAAAAAAAAAAAAAA} & all_lanes & ~low));
                 }
             }},
            {"many_masks",
             [] {
                 const unsigned rounds = 200, threads = 2 * warp_size;
                 buffer<int> sums(threads);
                 run(many_masks, dim3(1), dim3(threads), 0, sums, rounds);
                 for (unsigned t = 0; t < threads; ++t) {
                     int sum = 0;
                     for (unsigned round = 1; round <= rounds; ++round) {
                         const unsigned partner = t % warp_size ^ 1u << (round % (warp_size == 64 ? 6 : 5));
                         sum += static_cast<int>(partner * round) + static_cast<int>(round % warp_size);
                     }
                     CHECK(sums[t] == sum);
                 }
             }},
            {"matches",
             [] {
                 const unsigned threads = 2 * warp_size;
                 buffer<lane_mask> anys(threads), alls(2 * threads);
                 buffer<int> flags(2 * threads);
                 run(matches, dim3(1), dim3(threads), 0, anys, alls, flags);
                 for (unsigned t = 0; t < threads; ++t) {
                     lane_mask same = 0;
                     for (unsigned lane = 0; lane < static_cast<unsigned>(warp_size); ++lane) {
                         if ((t / warp_size * warp_size + lane) % 5 == t % 5) same |= lane_mask{1} << lane;
                     }
                     CHECK(anys[t] == same);
                     CHECK(alls[2 * t] == all_lanes && flags[2 * t] == 1);
                     CHECK(alls[2 * t + 1] == 0 && flags[2 * t + 1] == 0);
                 }
             }},
            {"reductions",
             [] {
                 for (lane_mask mask : {all_lanes, lane_mask{1}, lane_mask{0xF0F0F0F0F0F0F0F0} & all_lanes}) {
                     buffer<int> results(warp_size * 3, 0);
                     buffer<unsigned> bit_results(warp_size * 3, 0);
                     run(reductions, dim3(1), dim3(warp_size), 0, results, bit_results, mask);
                     int sum = 0, low = 1000, high = -1000;
                     unsigned both = ~0u, either = 0, odd = 0;
                     for (unsigned t = 0; t < static_cast<unsigned>(warp_size); ++t) {
                         if ((mask >> t & 1) == 0) continue;
                         const int value = static_cast<int>(t * 37 % 101) - 50;
                         sum += value;
                         low = value < low ? value : low;
                         high = value > high ? value : high;
                         const unsigned bits = t * 2654435761u;
                         both &= bits;
                         either |= bits;
                         odd ^= bits;
                     }
                     for (unsigned t = 0; t < static_cast<unsigned>(warp_size); ++t) {
                         if ((mask >> t & 1) == 0) continue;
                         CHECK(results[t * 3] == sum && results[t * 3 + 1] == low && results[t * 3 + 2] == high);
                         CHECK(bit_results[t * 3] == both && bit_results[t * 3 + 1] == either &&
                               bit_results[t * 3 + 2] == odd);
                     }
                 }
             }},
            {"active",
             [] {
                 buffer<lane_mask> masks(warp_size, 0);
                 run(active, dim3(1), dim3(warp_size), 0, masks, 5u);
                 const lane_mask first = 0x1F, second = lane_mask{0x5555555555555555} & all_lanes & ~lane_mask{0x1F};
                 for (unsigned t = 0; t < static_cast<unsigned>(warp_size); ++t) {
                     CHECK(masks[t] == (t < 5 ? first : t % 2 == 0 ? second : 0));
                 }
             }},
        });
}
