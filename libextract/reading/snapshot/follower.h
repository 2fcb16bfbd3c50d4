// SPDX-License-Identifier: MIT
// snapshot: the ring follower, which reads the new entries of a live slot ring and proves them
// complete. The recorder calls it (follow/), as often as it polls.
//
// The proof depends on one known entry, the anchor. The writer fills the slots in order. If the
// anchor is unchanged after a span was read, no slot after it had been overwritten by then. If the
// anchor is after the span, the write position is read as well, and shows how far the writer got,
// because it has not lapped the reader. Nothing depends on time.
//
// Entries are numbered from 0. Numbers keep counting when the ring wraps.
#ifndef EXTRACT_SNAPSHOT_FOLLOWER_H
#define EXTRACT_SNAPSHOT_FOLLOWER_H

#include "formats/format.h"

enum { EXTRACT_MAX_ENTRY = 64 }; // bytes of a slot that can be followed

enum extract_follower_result {
    EXTRACT_FOLLOWER_OK = 0,
    EXTRACT_FOLLOWER_NO_RESPONSE,    // the target does not respond
    EXTRACT_FOLLOWER_TRACE_DISABLED, // the target's trace is disabled
    EXTRACT_FOLLOWER_BAD_HEAD,       // the write position is not a position in the ring
    EXTRACT_FOLLOWER_ANCHOR_CHANGED, // the anchor was overwritten: the writer lapped the reader, or
                                     // the target was reset
    EXTRACT_FOLLOWER_READ_FAILED     // the span, or a part of it, could not be read
};

struct extract_follower {
    const struct extract_ring *ring; // not owned; must outlive the follower, as must `context`
    // Reads target memory. Returns false if not all bytes could be read; *got is how many were.
    bool (*read)(void *context, uint64_t address, void *buffer, size_t length, size_t *got);
    void *context;
    uint64_t head;   // number of the entry that is written next, as of the last poll
    uint32_t phase;  // slot of entry 0
    bool placed;     // head and phase are valid
    bool still;      // timestamps do not change: entries are compared completely
    bool stopped;    // the trace is disabled: the header's copy of the write position is used
    bool anchored;   // an anchor is known
    bool proven;     // the anchor is proven complete
    uint64_t number; // number of the anchor
    uint8_t anchor[EXTRACT_MAX_ENTRY];
};

// Entries that were read and proven complete.
struct extract_follower_span {
    uint64_t first;
    uint32_t count;
    uint8_t *entries; // inside the caller's buffer
};

// Starts with a ring, and forgets position and anchor. Numbers continue: the next poll finds the
// write position at `head`, or less than one lap after it.
void extract_follower_start(struct extract_follower *follower, const struct extract_ring *ring,
                            uint64_t head);

// Reads the write position: the live one, or the header's copy if `stopped`. It is assumed to be
// less than one lap after that of the last poll. Returns OK, NO_RESPONSE, TRACE_DISABLED or
// BAD_HEAD.
enum extract_follower_result extract_follower_poll(struct extract_follower *follower);

// Compares the anchor with its slot. Returns OK, ANCHOR_CHANGED or NO_RESPONSE.
enum extract_follower_result extract_follower_verify(struct extract_follower *follower);

// Makes an entry that is known to be complete the anchor. Copies the slot's bytes.
void extract_follower_set_anchor(struct extract_follower *follower, uint64_t number,
                                 const uint8_t *entry);

// Makes the newest entry the anchor. Call it directly after a
// poll. If the old anchor is unchanged, the new one is proven
// (OK). Otherwise the next extract_follower_read proves it
// (ANCHOR_CHANGED: how many entries are between the two is
// unknown, modulo the ring). Also returns NO_RESPONSE or
// READ_FAILED.
enum extract_follower_result extract_follower_anchor_newest(struct extract_follower *follower);

// Reads entries [first, first + count) into `buffer`. They must be
// on one side of the anchor, or begin with it. Sets *span to those
// that are proven complete; to none if the result is neither OK
// nor READ_FAILED. An anchor that is not proven yet becomes so, or
// the result is ANCHOR_CHANGED. Also returns NO_RESPONSE,
// TRACE_DISABLED or BAD_HEAD.
enum extract_follower_result extract_follower_read(struct extract_follower *follower,
                                                   uint64_t first, uint32_t count, uint8_t *buffer,
                                                   struct extract_follower_span *span);

// Verifies a span right after it was read: rereads the anchor, and the write position if the anchor
// comes after the span. `requested` entries were to be read, span->count of them could be. What the
// writer may have touched leaves the span; if the result is not OK, the span is empty. Errors:
// NO_RESPONSE, TRACE_DISABLED, BAD_HEAD, ANCHOR_CHANGED.
enum extract_follower_result extract_follower_verify_span(struct extract_follower *follower,
                                                          uint32_t requested,
                                                          struct extract_follower_span *span);

// Reads the slots of entries without verifying them. Returns how many were read completely.
uint32_t extract_follower_fetch(struct extract_follower *follower, uint64_t first, uint32_t count,
                                uint8_t *buffer);

// Adds `distance`, a multiple of the ring's slots, to all numbers.
void extract_follower_shift(struct extract_follower *follower, uint64_t distance);

#endif
