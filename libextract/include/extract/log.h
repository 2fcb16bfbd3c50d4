// SPDX-License-Identifier: MIT
// The trace log: a file that a recorder appends a trace to, and that survives its writer. It has a
// full policy as in IEEE Std 1003.1-2008, 2.11. One file format serves every kind of ring.
//
// The file is a sequence of sections of equal size. A section is a sequence of blocks. It starts
// with a SECTION block, followed by the RING, OBJECTS, ATTRIBUTES, NAMES and PROGRAM blocks that
// are valid at that time, so that each section can be read on its own. Each of these has a copy, so
// that a damaged block costs no more than its own content:
//
//   ┌─────────┬──────┬──────┬─────────┬─ ─┬────────┬─────────┬──────┬─────────┬─ ─┬─────────┬─ ─
//   │ SECTION │ copy │ RING │ OBJECTS │   │ copies │ ENTRIES │ LOSS │ ENTRIES │   │ SECTION │
//   └─────────┴──────┴──────┴─────────┴─ ─┴────────┴─────────┴──────┴─────────┴─ ─┴─────────┴─ ─
//
// With the policy LOOP, a new section replaces the oldest one; with the others, it is added at the
// end. Every block contains a checksum, its section's number and its own number. They identify a
// block that was being written when its writer died, and blocks that are left from a section that
// was replaced. Entries are stored as the target's raw bytes.
//
// docs/formats/log.md and ringside-log(5) specify the layout byte by byte.
#ifndef EXTRACT_LOG_H
#define EXTRACT_LOG_H

#include <extract/ring.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum extract_log_policy {
    EXTRACT_LOG_LOOP = 0,   // keep the newest within the size limit
    EXTRACT_LOG_UNTIL_FULL, // stop at the limit, with the marker FULL
    EXTRACT_LOG_APPEND      // grow; an existing log is continued
};

enum extract_log_type {
    EXTRACT_LOG_GONE = 0,    // never in a file: a block that the writer dropped after the index of
                             // the log was read
    EXTRACT_LOG_SECTION = 1, // the log's layout, policy, sizes and times
    EXTRACT_LOG_RING,        // the ring's control header and its address
    EXTRACT_LOG_OBJECTS,     // the registry's bytes
    EXTRACT_LOG_ENTRIES,     // entries of a slot ring, oldest first, complete slots
    EXTRACT_LOG_LOSS,        // how many entries were lost, and why
    EXTRACT_LOG_MARK,        // a marker: start, stop, reset …
    EXTRACT_LOG_STATUS,      // the last block of a log that was closed in order
    EXTRACT_LOG_ATTRIBUTES,  // stream and log attributes (POSIX trace)
    EXTRACT_LOG_NAMES,       // event type names (POSIX trace)
    EXTRACT_LOG_BYTES,       // consecutive bytes of a byte ring, oldest first
    EXTRACT_LOG_PROGRAM,     // the load address of the traced program
    EXTRACT_LOG_TYPES        // number of types
};

// Why entries were lost.
enum extract_log_loss {
    EXTRACT_LOSS_LAPPED = 1, // they were overwritten before they were read
    EXTRACT_LOSS_TORN,       // they were being overwritten while they were read
    EXTRACT_LOSS_UNREADABLE, // the target or the probe did not respond
    EXTRACT_LOSS_LOG_FULL,   // the log had no space (disk full)
    EXTRACT_LOSS_REFUSED,    // the target itself had no space for them
    EXTRACT_LOSS_NUMBERS,    // never in logs: the numbers of a ring's entries have a gap
    // Not a gap: the gaps before it lost this many more, because they stated only the least number.
    // If it is exact, the losses of all gaps up to here add up to the target's own count.
    EXTRACT_LOSS_EARLIER,
    EXTRACT_LOSS_RESET,  // they were not read before the trace restarted
    EXTRACT_LOSS_BETWEEN // between two buffers; whether any event was lost is not known
};

enum extract_log_mark {
    EXTRACT_MARK_START = 1, // recording began
    EXTRACT_MARK_STOP,      // recording ended on request
    EXTRACT_MARK_FULL,      // recording ended at the size limit (an automatic stop)
    EXTRACT_MARK_RESET,     // the target was reset, or its trace enabled again: timestamps restart,
                            // entry numbers continue
    EXTRACT_MARK_GONE,      // the target or the probe stopped responding
    EXTRACT_MARK_BACK,      // it responded again
    EXTRACT_MARK_DISABLED,  // the target disabled its trace
    EXTRACT_MARK_ENABLED,   // the target enabled its trace
    EXTRACT_MARK_FILTER,    // the target's own filter was changed; `value` is its word
    EXTRACT_MARK_ERROR,     // an error; the text describes it
    EXTRACT_MARK_CLOCK      // the target's clock went back across a gap: a reset, or a wrap
};

// How the text of EXTRACT_MARK_START begins in a log that was merged from several inputs.
#define EXTRACT_LOG_MERGED "merged from "

// Bits of extract_log_block.flags.
enum {
    EXTRACT_LOG_LOSS_EXACT = 1,     // LOSS: set by the library when `modulo` is 0
    EXTRACT_LOG_LOSS_ABOUT = 2,     // LOSS, only in logs of version 1: an estimate was stored
    EXTRACT_LOG_PROVISIONAL = 4,    // ENTRIES: the last `provisional` may not be final
    EXTRACT_LOG_STAMPS = 8,         // first_stamp and last_stamp are valid
    EXTRACT_LOG_LOSS_AT_LEAST = 16, // LOSS: set by the library when `modulo` is not 0
    // LOSS: a debugger halted the target for a part of the time since the entry before the gap.
    // Therefore the host's clock does not show how long the gap is.
    EXTRACT_LOG_LOSS_HELD = 32,
    EXTRACT_LOG_TORN = 64 // SECTION: the last block before it was never finished
};

// LOSS: the value of `modulo` if any number of further entries may be lost.

// LOSS, `modulo`: any number of further entries may be missing.
#define EXTRACT_LOG_ANY_MORE 1

// A block without its payload. By type, it means:
//   ENTRIES  `count` entries from number `first`; timestamps of the first and last as stored
//   BYTES    bytes of a stream, which may begin and end in the middle of an entry; `count` entries
//            end in it, by the bytes that end an entry, and `first` ended before it
//   LOSS     lost entries before number `first`; `kind` is enum extract_log_loss
//   MARK     `kind` is enum extract_log_mark; `first` is the number of the next entry; the payload
//            is a text (UTF-8, not NUL-terminated)
struct extract_log_block {
    uint16_t type; // enum extract_log_type
    // LOSS, MARK: the reason. In a log that was read, RING, OBJECTS, NAMES, ENTRIES and BYTES: the
    // key of the ring that the block belongs to; 0: none.
    uint16_t kind;
    uint32_t flags;
    uint32_t length;      // bytes of the payload
    uint32_t count;       // ENTRIES: number of entries
    uint32_t provisional; // ENTRIES: number of entries at the end that may not be final
    uint64_t first; // number of the entry, from 0 at the start of the recording; lost ones count
    uint64_t first_stamp, last_stamp; // raw, as the target stored them
    // LOSS: `lost` + k * `modulo` entries were lost, where k >= 0 is not known. If `modulo` is 0,
    // `lost` is exact. If it is EXTRACT_LOG_ANY_MORE, `lost` is the least number, which may be 0.
    // If the write position is known but the number of laps is not, it is the ring's number of
    // slots.
    uint64_t lost, modulo;
    uint64_t value; // MARK: a number whose meaning depends on the kind; SECTION: see log.md
    uint64_t wall;  // host's time of the read, nanoseconds since 1970 (UTC)

    // ---- Set by the library ----
    uint64_t numbers; // LOSS: entry numbers that it takes: `lost`; in logs of version 1 an estimate
    uint64_t number;  // of the block, from 0 at the start of the log
    uint64_t section; // number of its section, from 0
    uint64_t offset;  // of the block in the file, bytes
    size_t index;     // the i of extract_log_block_at
    uint64_t copy_distance; // number of blocks back to the one that this is a copy of; 0: no copy
};

// Returns whether a block contains entries.

// Whether a block holds entries.
static inline bool extract_log_holds_entries(const struct extract_log_block *block)
{
    return block->type == EXTRACT_LOG_ENTRIES || block->type == EXTRACT_LOG_BYTES;
}

// The totals of a recording, from its last block (STATUS).
struct extract_log_totals {
    uint64_t entries; // number of entries of this recording
    uint64_t lost;    // number of lost entries, at least
    bool lost_exact;  // `lost` is the exact number
    uint64_t polls;   // polls of the target
    uint64_t reads;   // reads of target memory
    uint64_t bytes;   // bytes of target memory that were read
    uint64_t failed;  // reads that failed
    uint64_t resets;  // markers of kind RESET
};

// Parses the name of a policy. Returns false, and leaves *policy unchanged, if there is no such
// policy.
bool extract_log_policy_parse(const char *word, enum extract_log_policy *policy);
// Parses a size in bytes, which may end with k, M or G. Returns false, and leaves *size unchanged,
// if it is not a size or is 0.
bool extract_log_size_parse(const char *string, uint64_t *size);

// ---- writing ----

struct extract_log_writer;

// Zero-initialize; set `size`, and what is needed.
struct extract_log_options {
    size_t size; // sizeof the struct
    enum extract_log_policy policy;
    uint64_t limit;         // maximum bytes of the file; 0: 64 MiB (APPEND: no limit)
    uint32_t section_bytes; // 0: derived from the limit
    bool sync;              // flush each block to disk (fdatasync) before the next
    const char *creator;    // NULL: "ringside" and the version of the library
};

// Creates the log `path`, or continues an existing APPEND log with its own section size. The caller
// ends the writer with extract_log_close.
//
// It never changes an existing file, except an empty one and an APPEND log that it continues (BAD).
// It refuses a log that another writer has locked (LIMIT, "process N is writing it"), and
// everything that is not a regular file, including symbolic links (USAGE). A half-written block at
// the end of a continued log is removed first. Errors: IO, NOMEM, USAGE (also: the limit is too
// small for four sections), BAD, LIMIT.
enum extract_code extract_log_create(struct extract_log_writer **writer, const char *path,
                                     const struct extract_log_options *options,
                                     struct extract_error *error);

// Creates or continues a log in the regular file that `fd` is open for writing in. The file is
// opened again, so O_APPEND, the descriptor's position, and its being closed later do not matter.
// If the file cannot be opened again, the descriptor is duplicated, and O_APPEND is an error. There
// is no lock file; the log itself is locked (flock), and another writer of this library gets LIMIT.
// An APPEND log is continued, and any other log is started from scratch. A file that is not empty
// and not a log is never changed (BAD). Errors: those of extract_log_create (USAGE: the
// descriptor); after IO, errno contains the cause.
enum extract_code extract_log_create_fd(struct extract_log_writer **writer, int fd,
                                        const struct extract_log_options *options,
                                        struct extract_error *error);

// Writes the description of the ring, now and at the start of every section from now on. Call it
// before the first ENTRIES, and whenever the ring changes. Errors: those of extract_log_put.
enum extract_code extract_log_put_ring(struct extract_log_writer *writer,
                                       const struct extract_ring *ring,
                                       struct extract_error *error);

// Writes the registry's raw bytes, which are stored at `address` in the target, now and at the
// start of every section from now on. Writes nothing if they have not changed. Errors: those of
// extract_log_put; LIMIT also if they take more than half of a section (the hint contains the limit
// that would be enough).
enum extract_code extract_log_put_objects(struct extract_log_writer *writer, uint64_t address,
                                          const void *bytes, size_t length,
                                          struct extract_error *error);

// Writes a block of type ENTRIES, LOSS, MARK, ATTRIBUTES, NAMES, BYTES or PROGRAM. The caller sets
// type, kind, flags, length (of the payload), count, provisional, first, stamps, lost, modulo,
// value and wall (0: now). ENTRIES that do not fit into a section are split between slots; the
// parts have no timestamps. ATTRIBUTES, NAMES and PROGRAM are repeated at the start of every
// section from now on, and are not written if they have not changed.
//
// After it returns OK, the block survives the end of this process at any time. After IO, the log is
// complete up to the block before, and the same call may be repeated. Errors: USAGE; LIMIT
// (UNTIL_FULL: the log is full; the marker FULL was written, and the log can be closed; of ENTRIES
// that are larger than a section, those from number `first` of that marker on are missing); IO (if
// the disk is full, the message and errno say so).
enum extract_code extract_log_put(struct extract_log_writer *writer,
                                  const struct extract_log_block *block, const void *payload,
                                  struct extract_error *error);

// Writes the STATUS block and closes the log. Frees the writer and releases its lock even if it
// fails. `writer` may be NULL. Errors: those of extract_log_put.
enum extract_code extract_log_close(struct extract_log_writer *writer, struct extract_error *error);

// ---- reading ----

struct extract_log;

// The state of a log as a whole. The counts come from block headers. When extract_log_read finds a
// damaged block, the block leaves `blocks`, `entries` and `lost`, and is counted in `damaged`.
struct extract_log_status {
    enum extract_log_policy policy;
    uint64_t limit; // 0: none
    uint64_t section_bytes;
    enum extract_byte_order byte_order; // of the target; UNKNOWN before a RING was written
    bool closed;                        // the log ends with STATUS
    bool writing;                       // a writer holds its lock now
    bool full;                          // the last recording ended at the limit (marker FULL)
    uint64_t created;                   // wall clock, nanoseconds since 1970
    uint64_t blocks;                    // number of valid blocks
    uint64_t entries;                   // number of entries in them
    uint64_t lost;                      // sum of all LOSS blocks, at least
    bool lost_known;                    // all of these numbers are exact
    uint64_t dropped;                   // blocks that the LOOP policy dropped
    uint64_t damaged;                   // places where a block should be but its checksum is wrong
    uint64_t damaged_bytes;             // bytes skipped there
    uint64_t damaged_of[EXTRACT_LOG_TYPES]; // damaged blocks by type; [0]: the type is unknown
    uint64_t restored;                      // damaged blocks that were replaced by their copies
    uint64_t missing; // blocks that must have existed, according to the numbers of the others
    bool cut;         // the last block is truncated (its writer was killed, or the file was cut)
    bool converted;   // it is damaged, probably since line ends were converted: 0x0A to 0x0D 0x0A
    struct extract_log_totals totals; // of the last recording, if `closed`
    char creator[64];                 // control characters are escaped; NUL-terminated
};

// Opens a log for reading; a writer may be appending to it. Reads the headers of all blocks, and
// verifies all blocks except those that contain entries, which extract_log_read verifies. Damage is
// not an error: it is counted, and reading continues at the next valid block. The caller frees the
// log with extract_log_free. Errors: IO, NOMEM, USAGE (not a regular file), BAD (not a log, or none
// of its SECTION blocks is valid), UNSUPPORTED (written by a later version of Ringside, at least in
// part).
enum extract_code extract_log_open(struct extract_log **log, const char *path,
                                   struct extract_error *error);
// Opens the log in the file that `fd` is open for reading in. The descriptor remains the caller's,
// and its position does not change. Errors: those of extract_log_open.
enum extract_code extract_log_open_fd(struct extract_log **log, int fd,
                                      struct extract_error *error);
// Frees a log. NULL is allowed.
void extract_log_free(struct extract_log *log);

// Returns the state of the log. It is valid as long as the log, and follows its changes.
const struct extract_log_status *extract_log_status(const struct extract_log *log);

// Returns the header of the i-th block in the order of writing, without the repeats at the start of
// sections. Returns false after the last. The index takes four bytes per block; headers are read
// from the file through a buffer, so that walking through a log is cheap. A block that was dropped
// in the meantime has the type GONE.
bool extract_log_block_at(struct extract_log *log, size_t i, struct extract_log_block *block);

// Reads the payload of a block that extract_log_block_at returned. `buffer` has a capacity of
// block->length bytes. Verifies that the header has not changed, and the checksum of header and
// payload. Errors: IO, BAD (damaged), ABSENT (the writer of a LOOP log dropped it in the meantime).
enum extract_code extract_log_read(struct extract_log *log, const struct extract_log_block *block,
                                   void *buffer, struct extract_error *error);

// Returns the index of the first block that was read from the target at `wall` or later, by
// bisection; the number of blocks if there is none. Assumes that wall times ascend.
size_t extract_log_seek(struct extract_log *log, uint64_t wall);

// Decodes a block of type RING, whose payload extract_log_read returned. Addresses are the
// target's. Errors: BAD, NOMEM, UNSUPPORTED (unknown format).
enum extract_code extract_log_ring(struct extract_ring *ring, const void *payload, size_t length,
                                   struct extract_error *error);

// Decodes a block of type OBJECTS: the registry's bytes (*bytes, inside the payload), and the
// target address where they were stored. Errors: BAD.
enum extract_code extract_log_objects(uint64_t *address, const uint8_t **bytes, size_t *length,
                                      const void *payload, size_t payload_length,
                                      struct extract_error *error);

// The content of a block of type NAMES: `count` slots of `slot_bytes` bytes each.
struct extract_log_names {
    const uint8_t *bytes; // inside the payload
    uint32_t slot_bytes, count;
    uint32_t first; // number of the event type that the first slot names
};

// The status of a stream at its end, as posix_trace_status_info contains it.
struct extract_log_ending {
    bool running, full, overrun, flushing;
    uint32_t flush_error; // an errno
    bool log_overrun, log_full;
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
