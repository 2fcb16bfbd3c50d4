// SPDX-License-Identifier: MIT
// A snapshot: a consistent copy of a ring's bytes, with one verdict per entry.
//
// The target may write to the ring while it is copied, and entries in memory may be half-written.
// The verdict of an entry is how much of it can be relied on; only GOOD and PROVISIONAL ones are
// printed. Verdicts depend only on the copied bytes, so a saved dump gives the same report as the
// live target.
//
// Ownership: extract_snapshot_take allocates `bytes`, `verdict` and `index`. The caller owns them
// and frees all three with extract_snapshot_free. A failed extract_snapshot_take has freed them
// already. struct extract_snapshot itself is the caller's. An assignment makes no second owner: of
// two copies, only one may be freed. It keeps no pointer to the memory or ring that it was taken
// from.
#ifndef EXTRACT_SNAPSHOT_H
#define EXTRACT_SNAPSHOT_H

#include <extract/ring.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum extract_verdict {
    EXTRACT_GOOD = 0,         // complete and final
    EXTRACT_PROVISIONAL,      // not proven complete and final: a service may still patch the newest
                              // entries, and the oldest may be in the process of being overwritten
    EXTRACT_TORN,             // read while the target was writing it: a mix of two entries
    EXTRACT_UNUSED,           // never written
    EXTRACT_OVERWRITTEN,      // the writer passed it during the copy
    EXTRACT_UNREADABLE_ENTRY, // memory could not be read there
    EXTRACT_INVALID,          // written, but not an entry of this format
    EXTRACT_BAD_CHECKSUM,     // invalid because of its checksum
    EXTRACT_BAD_LENGTH,       // invalid because its length does not fit its event
    EXTRACT_UNKNOWN_ID,       // invalid because it has the id of no event
    EXTRACT_VERDICTS          // number of verdicts
};

// Returns the name of a verdict as JSON has it: "good"; never NULL.
const char *extract_verdict_name(enum extract_verdict verdict);

// An entry of a ring whose entries differ in length.
struct extract_extent {
    uint32_t at;            // where it begins: bytes from the buffer's start
    uint32_t length;        // bytes that it takes there; it may pass the buffer's end
    uint32_t offset;        // where it is contiguous: bytes from the start of snapshot->bytes
    uint16_t whole;         // its bytes at `offset`, if they are not `length`
    uint8_t lost;           // number of entries missing before it, modulo 256
    unsigned layout : 7;    // private to the format
    unsigned restarted : 1; // its timestamp is unrelated to those before it
    uint64_t stamp;         // raw timestamp; entries without one have that of a neighbor
};

// See above for who owns the pointers.
struct extract_snapshot {
    struct extract_ring ring; // as it was found, with what the copy showed
    uint8_t *bytes;           // ring.length bytes from ring.address; may be followed by joined
                              // entries that `index` refers to
    uint8_t *verdict;         // one enum extract_verdict per entry: ring.entries.count of them
    uint32_t counts[EXTRACT_VERDICTS]; // entries by verdict
    uint32_t current;                  // slot that is written next; the oldest entry if `wrapped`
    bool wrapped;                      // every slot was written at least once
    bool stale_pointer;     // the header's write position is older than the entries behind it
    bool moved;             // the write position changed during the copy
    uint32_t moved_entries; // by this many slots; all of them after a full lap or if not known
    // For entries that differ in length: ring.entries.count extents, oldest first. NULL for slots.
    struct extract_extent *index;
    uint32_t index_capacity; // allocated elements of `index`
    bool is_part;            // the file has more of the trace, or had it
    bool lost_known;         // `lost` is exact; modulo 256 if entries have only 8-bit numbers
    uint64_t lost;           // events that are missing: overwritten, or never written
    uint64_t unwritten;      // those of them that the ring never contained, as far as that is known
    bool full, overrun;      // status of the stream, as posix_trace_get_status defines them
    uint64_t registry_missing;       // bytes of the registry that could not be read
    struct extract_memory_cost cost; // of the memory since it was opened: finding and copying
};

// Copies the ring: registry and entries in one read, because they are contiguous, and then the
// write position again. Then gives every entry a verdict. If the target runs, the newest entry is
// read before and after the copy: if it has changed, the writer has lapped the reader, and nothing
// is known to be complete. Unreadable parts of the ring are marked in the verdicts; they are not an
// error. Errors: UNREADABLE (no entry could be read), NOMEM, BAD (no layout fits the entries).
enum extract_code extract_snapshot_take(struct extract_snapshot *snapshot,
                                        struct extract_memory *memory,
                                        const struct extract_ring *ring,
                                        struct extract_error *error);

// Frees what the snapshot owns and sets it to zero. A zero snapshot may be freed.
void extract_snapshot_free(struct extract_snapshot *snapshot);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
