// SPDX-License-Identifier: MIT
// A ring's bytes, copied out consistently, with a verdict for every entry.
#ifndef EXTRACT_SNAPSHOT_H
#define EXTRACT_SNAPSHOT_H

#include <extract/ring.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum extract_verdict {
    EXTRACT_GOOD = 0,
    EXTRACT_PROVISIONAL, // not proven whole and final: the newest may be patched by their service,
                         // the oldest may be just being overwritten (see docs/formats)
    EXTRACT_TORN,        // being written when it was read: its words are a mix
    EXTRACT_UNUSED,      // never written
    EXTRACT_OVERWRITTEN, // the writer passed it while it was read
    EXTRACT_UNREADABLE_ENTRY,
    EXTRACT_INVALID, // it was written, but cannot be an entry of this format
    // The same, where more is known of what is wrong:
    EXTRACT_BAD_CHECKSUM,
    EXTRACT_BAD_LENGTH, // not that of its event
    EXTRACT_UNKNOWN_ID, // of no event
    EXTRACT_VERDICTS    // how many there are
};

const char *extract_verdict_name(enum extract_verdict verdict);

// An entry in a ring whose entries differ in length.
struct extract_extent {
    uint32_t at;            // where it begins: bytes from the buffer's start
    uint32_t length;        // of it there; it may pass the buffer's end
    uint32_t offset;        // where all of it lies in one piece, in `bytes`
    uint16_t whole;         // bytes there, where they are others than `length`
    uint8_t lost;           // entries that are missing in front of it, modulo 256
    unsigned layout : 7;    // of the format's own
    unsigned restarted : 1; // its stamp has nothing to do with those in front of it
    uint64_t stamp;         // an entry without one has that of its neighbour
};

struct extract_snapshot {
    struct extract_ring ring;
    uint8_t *bytes;   // ring.length bytes from ring.address, and what `index` asks for; owned
    uint8_t *verdict; // one enum extract_verdict a slot, ring.entries.count of them; owned
    uint32_t counts[EXTRACT_VERDICTS];
    uint32_t current;       // slot that is written next (the oldest entry once wrapped)
    bool wrapped;           // every slot has been written at least once
    bool moved;             // the writer moved while the copy was made
    uint32_t moved_entries; // by how many slots; all when by a whole turn, or unknown
    // Of entries that differ in length: ring.entries.count is how many there are, from the oldest.
    struct extract_extent *index; // as many; owned; NULL: slots of one length
    uint32_t index_capacity;
    bool lost_known;    // `lost` is exact; of entries with numbers of 8 bits, modulo 256
    uint64_t lost;      // events that are not there: overwritten, or not written at all
    uint64_t unwritten; // those of them that the ring itself never had, as far as that is known
    bool full, overrun;
    uint64_t registry_missing;       // bytes of the registry that could not be read
    struct extract_memory_cost cost; // of finding and copying
};

// Copies the ring: its registry and entries in one read (they lie next to each other), then the
// pointer again, and judges every entry. Of a target that runs, the newest entry is read before and
// after as well: when it changed, the writer has lapped the reader and nothing is known to be
// whole. Errors: UNREADABLE (nothing of the entries could be read), NOMEM. Holes inside are marked,
// not errors.
enum extract_code extract_snapshot_take(struct extract_snapshot *snapshot,
                                        struct extract_memory *memory,
                                        const struct extract_ring *ring,
                                        struct extract_error *error);

void extract_snapshot_free(struct extract_snapshot *snapshot);

// Entries that can be shown (good or provisional), and those that were written but cannot be.
uint32_t extract_snapshot_valid(const struct extract_snapshot *snapshot);
uint32_t extract_snapshot_damaged(const struct extract_snapshot *snapshot);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
