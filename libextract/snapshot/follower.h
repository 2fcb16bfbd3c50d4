// SPDX-License-Identifier: MIT
// snapshot: what is new in a live ring. In: the writer's place and spans of slots, as often as the
// caller asks. Out: entries that are proven whole, under numbers that go on.
//
// The proof stands on one entry that is known, the anchor. The writer goes through the slots in
// order. So when the anchor still stands after a span was read, no slot behind it had been touched
// by then. When the anchor lies behind the span, the writer's place is read as well and tells how
// far it went, for it did not lap the reader. Nothing depends on time.
#ifndef EXTRACT_SNAPSHOT_FOLLOWER_H
#define EXTRACT_SNAPSHOT_FOLLOWER_H

#include "formats/format.h"

enum { EXTRACT_MAX_ENTRY = 64 }; // bytes of a slot that can be followed

enum extract_follower_result {
    EXTRACT_FOLLOWER_OK = 0,
    EXTRACT_FOLLOWER_NO_RESPONSE,    // the target does not answer
    EXTRACT_FOLLOWER_TRACE_DISABLED, // its trace is off
    EXTRACT_FOLLOWER_BAD_HEAD,       // what should be the writer's place is none
    EXTRACT_FOLLOWER_ANCHOR_CHANGED, // the anchor is gone: the writer lapped the reader, or the
                                     // target started again
    EXTRACT_FOLLOWER_READ_FAILED     // the span, or a part of it, could not be read
};

struct extract_follower {
    const struct extract_ring *ring; // outlives the follower, as `context` does
    // Reads target memory; false when not all could be read, *got says how much.
    bool (*read)(void *context, uint64_t address, void *buffer, size_t length, size_t *got);
    void *context;
    uint64_t head;   // number of the entry that is written next, when it was last looked at
    uint32_t phase;  // slot of entry 0
    bool placed;     // head and phase hold
    bool still;      // stamps do not move: entries are compared as a whole
    bool stopped;    // the trace is off: the header's copy of the writer's place holds
    bool anchored;   // an anchor is known
    bool proven;     // and proven whole
    uint64_t number; // its own
    uint8_t anchor[EXTRACT_MAX_ENTRY];
};

// Entries that were read and proven.
struct extract_follower_span {
    uint64_t first;
    uint32_t count;
    uint8_t *entries; // inside the buffer that was given
};

// Forgets place and anchor; the numbers go on: the next look finds its place at `head` or at most a
// turn above.
void extract_follower_start(struct extract_follower *follower, const struct extract_ring *ring,
                            uint64_t head);

// Reads the writer's place: the live one, or the header's copy when the trace is stopped. Less than
// a turn of the ring is taken to lie behind the look before: MUTE, OFF, WILD, OK.
enum extract_follower_result extract_follower_poll(struct extract_follower *follower);

// Whether the anchor still stands: OK, CHANGED, MUTE.
enum extract_follower_result extract_follower_verify(struct extract_follower *follower);

void extract_follower_set_anchor(struct extract_follower *follower, uint64_t number,
                                 const uint8_t *entry);

// Makes the newest entry the anchor, right after a look. It is proven when the old one still stands
// (OK); else it will be by the next extract_follower_read (CHANGED: what lies between is unknown
// modulo the ring). MUTE, UNREAD.
enum extract_follower_result extract_follower_anchor_newest(struct extract_follower *follower);

// Reads entries [first, first + count), which lie on one side of the anchor (or begin with it),
// to `buffer` and says which of them are proven; none when the result is neither OK nor UNREAD. An
// anchor that is not proven yet becomes so, or the result is CHANGED. MUTE, OFF, WILD.
enum extract_follower_result extract_follower_read(struct extract_follower *follower,
                                                   uint64_t first, uint32_t count, uint8_t *buffer,
                                                   struct extract_follower_span *span);

// Verifies a span right after it was read: rereads the anchor, and the writer's place if the anchor
// comes after the span. `asked` entries were to be read, span->count of them could be. What the
// writer may have touched leaves the span. CHANGED, MUTE, OFF, WILD: nothing is left.
enum extract_follower_result extract_follower_verify_span(struct extract_follower *follower,
                                                          uint32_t asked,
                                                          struct extract_follower_span *span);

// Reads the slots of entries without a proof; how many are whole.
uint32_t extract_follower_fetch(struct extract_follower *follower, uint64_t first, uint32_t count,
                                uint8_t *buffer);

// All numbers rise by `distance`, a multiple of the ring's slots.
void extract_follower_shift(struct extract_follower *follower, uint64_t distance);

#endif
