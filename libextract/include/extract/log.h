// SPDX-License-Identifier: MIT
// The trace log: a file that a stream is flushed to, with a full policy (IEEE Std 1003.1-2008,
// 2.11, trace log). One format for every kind of ring.
//
// The file is a row of equal sections; a section is a row of blocks and starts with a block of
// type SECTION, followed by the RING and OBJECTS that hold at that time, so that each section can
// be read alone. With the policy LOOP the oldest section is written over; with the others sections
// are added at the end. Every block carries a checksum, the number of its section and its own
// number; a block that was being written when its writer died is not taken for one, nor is one
// that is left over from an earlier turn. Entries are stored as the target's raw bytes. The
// layout, byte by byte, stands in docs/formats/log.md and ringside-log(5).
#ifndef EXTRACT_LOG_H
#define EXTRACT_LOG_H

#include <extract/ring.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum extract_log_policy {
    EXTRACT_LOG_LOOP = 0,   // keeps the newest within the size limit
    EXTRACT_LOG_UNTIL_FULL, // stops at the limit, with a STOP mark
    EXTRACT_LOG_APPEND      // grows; an existing log is continued
};

enum extract_log_type {
    EXTRACT_LOG_SECTION = 1, // what the log is: layout, policy, sizes, times
    EXTRACT_LOG_RING,        // the ring's control header and where it lies
    EXTRACT_LOG_OBJECTS,     // the registry's bytes
    EXTRACT_LOG_ENTRIES,     // entries of the ring, oldest first, whole slots
    EXTRACT_LOG_LOSS,        // entries that could not be had, and why
    EXTRACT_LOG_MARK,        // start, stop, reset …
    EXTRACT_LOG_STATUS,      // the last block of a log that was closed in order
    EXTRACT_LOG_ATTRIBUTES,  // stream and log attributes (POSIX trace)
    EXTRACT_LOG_NAMES,       // event type names (POSIX trace)
    EXTRACT_LOG_BYTES        // a stretch of a byte stream (RKH)
};

enum extract_log_loss {      // why entries are missing
    EXTRACT_LOSS_LAPPED = 1, // the writer came round before they were read
    EXTRACT_LOSS_TORN,       // they were being overwritten while they were read
    EXTRACT_LOSS_UNREADABLE, // the target or the probe did not answer
    EXTRACT_LOSS_LOG_FULL    // the log had no room (disk full)
};

enum extract_log_mark {
    EXTRACT_MARK_START = 1, // recording began
    EXTRACT_MARK_STOP,      // it ended on request
    EXTRACT_MARK_FULL,      // it ended at the size limit (an automatic stop)
    EXTRACT_MARK_RESET,     // the target started anew: entry numbers and stamps begin again
    EXTRACT_MARK_GONE,      // the target or the probe no longer answered
    EXTRACT_MARK_BACK,      // it answered again
    EXTRACT_MARK_DISABLED,  // the target switched its trace off
    EXTRACT_MARK_ENABLED,   // and on
    EXTRACT_MARK_FILTER,    // the target's own filter was changed; `value` is its word
    EXTRACT_MARK_ERROR      // the text says what went wrong
};

enum {                           // extract_log_block.flags
    EXTRACT_LOG_LOSS_EXACT = 1,  // `lost` is the number of missing entries
    EXTRACT_LOG_LOSS_MODULO = 2, // the number is known modulo `modulo`; `lost` is an estimate
    EXTRACT_LOG_PROVISIONAL = 4, // ENTRIES: the last `provisional` may not be final
    EXTRACT_LOG_STAMPS = 8       // first_stamp and last_stamp are given
};

// A block without its payload. Its meaning by type:
//   ENTRIES  count entries from number `first`; stamps of the first and last as stored
//   LOSS     lost entries before number `first`; kind is enum extract_log_loss
//   MARK     kind is enum extract_log_mark; the payload is a text (UTF-8, not NUL-ended)
struct extract_log_block {
    uint16_t type; // enum extract_log_type
    uint16_t kind; // LOSS, MARK: why
    uint32_t flags;
    uint32_t length;      // bytes of the payload
    uint32_t count;       // ENTRIES: how many
    uint32_t provisional; // ENTRIES: so many at the end may not be final
    uint64_t first; // number of the entry, from 0 at the start of the recording, lost ones too
    uint64_t first_stamp, last_stamp; // raw, as the target stored them
    uint64_t lost;                    // LOSS: how many; unknown when no flag is set
    uint64_t modulo;                  // LOSS: known modulo so many
    uint64_t value;                   // MARK: a number that belongs to it
    uint64_t wall;                    // host's time of the read, nanoseconds since 1970 (UTC)
    // Set by the library:
    uint64_t number;  // of the block, from 0 at the start of the log
    uint64_t section; // number of its section, from 0
    uint64_t offset;  // of the block in the file
};

// ---- writing ----

struct extract_log_writer;

// Zero-initialize, then set what is wanted.
struct extract_log_options {
    size_t size; // sizeof the struct
    enum extract_log_policy policy;
    uint64_t limit;         // bytes of the file, 0: 64 MiB (APPEND: no limit)
    uint32_t section_bytes; // 0: chosen from the limit
    bool sync;              // each block is on the disk (fdatasync) before the next
    const char *creator;    // "ringside 0.1.0"; NULL: that
};

// Creates the log `path`, or continues an APPEND log that is there. An existing file that is no log
// of this policy is never overwritten (BAD); another writer's is refused (a lock: LIMIT, "is being
// written by process N"). What an earlier writer left half-written at the end is cut off first.
// Errors: IO, NOMEM, USAGE (limit too small for four sections), BAD, LIMIT.
enum extract_code extract_log_create(struct extract_log_writer **writer, const char *path,
                                     const struct extract_log_options *options,
                                     struct extract_error *error);

// Says what is recorded: the ring's facts, again at the head of every section from now on. To be
// called before the first ENTRIES, and when they change.
enum extract_code extract_log_put_ring(struct extract_log_writer *writer,
                                       const struct extract_ring *ring,
                                       struct extract_error *error);

// The registry's raw bytes, as they lie at target address `address`; again at the head of every
// section from now on. Nothing is written when they did not change.
enum extract_code extract_log_put_objects(struct extract_log_writer *writer, uint64_t address,
                                          const void *bytes, size_t length,
                                          struct extract_error *error);

// Adds a block. `block` says type, kind, flags, count, first, stamps, lost, wall; length is that of
// the payload. ENTRIES that are longer than a section's rest are split at slot borders. After a
// return of OK the block survives the end of this process at any instant. Errors: LIMIT
// (UNTIL_FULL: the log is full; the FULL mark has been written, and the log can be closed), IO (the
// disk is full: the text says so; the log is whole up to the block before, and may be tried again).
enum extract_code extract_log_put(struct extract_log_writer *writer,
                                  const struct extract_log_block *block, const void *payload,
                                  struct extract_error *error);

// Bytes written so far, and bytes that the limit leaves (UINT64_MAX: no limit).
uint64_t extract_log_written(const struct extract_log_writer *writer);
uint64_t extract_log_room(const struct extract_log_writer *writer);

// Writes the STATUS block and closes. The writer is freed in any case. NULL is allowed.
enum extract_code extract_log_close(struct extract_log_writer *writer, struct extract_error *error);

// ---- reading ----

struct extract_log;

// What is known of a log as a whole.
struct extract_log_status {
    enum extract_log_policy policy;
    uint64_t limit; // 0: none
    uint64_t section_bytes;
    enum extract_byte_order byte_order; // of the target; UNKNOWN before a RING was written
    bool closed;                        // it ends with STATUS
    bool writing;                       // a writer holds its lock now
    uint64_t created;                   // wall clock, nanoseconds since 1970
    uint64_t blocks;                    // that are whole
    uint64_t entries;                   // in them
    uint64_t lost;                      // entries named lost by LOSS blocks (estimates included)
    bool lost_known;                    // all of these numbers are exact
    uint64_t dropped;                   // blocks that LOOP has written over
    uint64_t damaged;                   // places where a block should be and its checksum is wrong
    uint64_t damaged_bytes;             // bytes passed over there
    uint64_t missing; // blocks that must have been there, by the numbers of the others
    bool cut;         // it ends in the middle of a block (its writer was killed, or it was cut)
    char creator[64]; // escaped
};

// Opens a log for reading; it may be being written. Reads the heads of blocks only; checksums are
// verified when a block is read. Damage is no error: it is counted, and reading goes on at the next
// whole block. Errors: IO, NOMEM, BAD (no section of it is whole; or it is no log), UNSUPPORTED (a
// later layout), LIMIT.
enum extract_code extract_log_open(struct extract_log **log, const char *path,
                                   struct extract_error *error);
void extract_log_free(struct extract_log *log);

// Whether `length` bytes of a file's start are a log's.
bool extract_log_is(const uint8_t *bytes, size_t length);

const struct extract_log_status *extract_log_status(const struct extract_log *log);

// The i-th block in the order of writing; NULL behind the last. Repeats of RING and OBJECTS at the
// heads of sections are left out but for the oldest section's.
const struct extract_log_block *extract_log_block_at(const struct extract_log *log, size_t i);

// Reads a block's payload to `buffer`, which holds block->length bytes, and verifies the checksum
// over head and payload. Errors: IO, BAD (damaged, or overwritten by its writer meanwhile).
enum extract_code extract_log_read(struct extract_log *log, size_t i, void *buffer,
                                   struct extract_error *error);

// The first block that was read from the target at `wall` or later. O(log blocks).
size_t extract_log_seek(const struct extract_log *log, uint64_t wall);

// The ring as block i (type RING) tells it, with header bytes; addresses are the target's.
// `payload` is what extract_log_read gave. Errors: BAD.
enum extract_code extract_log_ring(struct extract_ring *ring, const void *payload, size_t length,
                                   struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
