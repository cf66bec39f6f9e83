// The meeting of a warp's lanes: each brings a value, the last one to come completes the meeting and goes on. See
// rendezvous in worker.h.
#include "oprt_emulator/warp.h"

#include "fault_record.h"
#include "scheduler.h"

namespace oprt_emulator {
namespace {

struct lane_place {
    unsigned warp;
    unsigned lane;
};

lane_place place_of(const worker &self) noexcept {
    return {self.context.linear_thread / static_cast<unsigned>(warp_size),
            self.context.linear_thread % static_cast<unsigned>(warp_size)};
}

void reset(rendezvous &meeting, lane_mask mask, bool open) noexcept {
    meeting.mask = mask;
    meeting.arrived = 0;
    meeting.generation = 0;
    meeting.open = open;
}

// A slot of the warp in which no lane waits and from which no lane still has to fetch its values. There is one: every
// lane but the running one holds one at most.
unsigned unused_slot(const worker &self, lane_place place) noexcept {
    const block_state &block = self.block;
    std::uint64_t held[2] = {0, 0};
    const unsigned first = place.warp * static_cast<unsigned>(warp_size);
    for (lane_mask lanes = block.alive.lanes(place.warp); lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
        const unsigned slot = block.meeting_of[first + lane];
        if (lane != place.lane && slot < rendezvous_per_warp) held[slot / 64] |= std::uint64_t{1} << (slot % 64);
    }
    unsigned slot = 0;
    while ((held[slot / 64] >> (slot % 64) & 1) != 0) ++slot;
    return slot;
}

// The slot where the lanes of a mask meet, found or made. Lanes in active_mask share the open slot of their source line
// instead.
unsigned find_slot(worker &self, lane_place place, lane_mask mask, const source_position *open_at) noexcept {
    block_state &block = self.block;
    const unsigned used = block.rendezvous_used[place.warp];
    for (unsigned slot = 0; slot < used; ++slot) {
        const rendezvous &meeting = self.meetings[slot][place.warp];
        if (open_at != nullptr) {
            if (meeting.open && meeting.arrived != 0 && meeting.position.line == open_at->line &&
                meeting.position.file == open_at->file) {
                return slot;
            }
        } else if (!meeting.open && meeting.mask == mask) {
            return slot;
        }
    }
    unsigned slot = used;
    if (used < rendezvous_per_warp) {
        block.rendezvous_used[place.warp] = static_cast<std::uint8_t>(used + 1);
    } else {
        slot = unused_slot(self, place);
    }
    reset(self.meetings[slot][place.warp], mask, open_at != nullptr);
    return slot;
}

// Everybody has come: hand out the values. ready gets the lanes that wait; running is the lane that goes on by itself.
void complete(block_state &block, rendezvous &meeting, unsigned warp, lane_mask running) noexcept {
    meeting.values[meeting.generation & 1].taking_part = meeting.arrived;
    block.ready.insert_lanes(warp, meeting.arrived & ~running);
    meeting.arrived = 0;
    ++meeting.generation;
    block.idle_yields = 0;
}

[[noreturn]] __attribute__((noinline, cold)) void refuse_mask(worker &self, collective kind, lane_mask mask,
                                                              const source_position &position) {
    raise_mask_fault(self, kind, mask, position);
}

[[noreturn]] __attribute__((noinline, cold)) void refuse_collective(worker &self, const rendezvous &meeting,
                                                                    collective kind, const source_position &position) {
    raise_collective_fault(self, meeting, kind, position);
}

}  // namespace

lane_values *join_meeting(collective kind, lane_mask mask, const char *file, int line) {
    worker &self = this_worker();
    ensure_demoted(self);
    block_state &block = self.block;
    const lane_place place = place_of(self);
    const lane_mask own = lane_mask{1} << place.lane;
    mask &= all_lanes;
    if (__builtin_expect((mask & own) == 0, 0)) refuse_mask(self, kind, mask, {file, line});
    // Most kernels meet under one mask: the first slot's.
    unsigned slot = 0;
    const rendezvous &first = self.meetings[0][place.warp];
    if (__builtin_expect(block.rendezvous_used[place.warp] == 0 || first.mask != mask || first.open, 0)) {
        slot = find_slot(self, place, mask, nullptr);
    }
    rendezvous &meeting = self.meetings[slot][place.warp];
    lane_values &values = meeting.values[meeting.generation & 1];
    if (meeting.arrived == 0) {
        meeting.kind = kind;
        meeting.position = {file, line};
        values.predicates = 0;
    } else if (__builtin_expect(meeting.kind != kind, 0)) {
        refuse_collective(self, meeting, kind, {file, line});
    }
    meeting.arrived |= own;
    // From here on nobody else takes the slot before this lane comes to another meeting.
    block.meeting_of[self.context.linear_thread] = static_cast<std::uint8_t>(slot);
    self.meeting = &meeting;
    return &values;
}

void finish_meeting() {
    worker &self = this_worker();
    rendezvous &meeting = *self.meeting;
    const lane_place place = place_of(self);
    if (meeting.arrived != (meeting.mask & self.block.alive.lanes(place.warp))) return suspend(self);
    complete(self.block, meeting, place.warp, lane_mask{1} << place.lane);
    take_turns(self);
}

void syncwarp(lane_mask mask, const char *file, int line) {
    join_meeting(collective::syncwarp, mask, file, line);
    finish_meeting();
}

lane_mask active_mask(const char *file, int line) {
    worker &self = this_worker();
    ensure_demoted(self);
    const lane_place place = place_of(self);
    const source_position position = {file, line};
    const unsigned slot = find_slot(self, place, 0, &position);
    rendezvous &meeting = self.meetings[slot][place.warp];
    lane_values &values = meeting.values[meeting.generation & 1];
    meeting.kind = collective::active_mask;
    meeting.position = position;
    meeting.arrived |= lane_mask{1} << place.lane;
    self.block.meeting_of[self.context.linear_thread] = static_cast<std::uint8_t>(slot);
    self.block.plain_ring = false;
    self.block.open_warps |= std::uint64_t{1} << place.warp;
    suspend(self);
    return values.taking_part;
}

void complete_meetings(worker &self, unsigned warp) noexcept {
    block_state &block = self.block;
    const lane_mask alive = block.alive.lanes(warp);
    for (unsigned slot = 0; slot < block.rendezvous_used[warp]; ++slot) {
        rendezvous &meeting = self.meetings[slot][warp];
        if (meeting.arrived != 0 && !meeting.open && meeting.arrived == (meeting.mask & alive)) {
            complete(block, meeting, warp, 0);
        }
    }
}

void resolve_open_meetings(worker &self) noexcept {
    block_state &block = self.block;
    for (std::uint64_t warps = block.open_warps; warps != 0; warps &= warps - 1) {
        const auto warp = static_cast<unsigned>(__builtin_ctzll(warps));
        if (block.ready.lanes(warp) != 0) continue;
        for (unsigned slot = 0; slot < block.rendezvous_used[warp]; ++slot) {
            rendezvous &meeting = self.meetings[slot][warp];
            if (meeting.open && meeting.arrived != 0) complete(block, meeting, warp, 0);
        }
        block.open_warps &= ~(std::uint64_t{1} << warp);
    }
}

}  // namespace oprt_emulator
