// SPDX-License-Identifier: MIT
// The trace log: a file that a stream is flushed to, with a full policy (IEEE Std 1003.1-2008,
// 2.11, trace log). One format for every kind of ring.
//
// The file is a row of equal sections; a section is a row of blocks and starts with a block of
// type SECTION, followed by the RING, OBJECTS, ATTRIBUTES, NAMES and PROGRAM that hold at that
// time, so that each section can be read alone. Each of these has a copy, so that a damaged block
// costs no more than its own content. With the policy LOOP the oldest section is written over; with
// the others sections are added at the end. Every block carries a checksum, the number of its
// section and its own number; a block that was being written when its writer died is not taken for
// one, nor is one that is left over from an earlier turn. Entries are stored as the target's raw
// bytes. The layout, byte by byte, stands in docs/formats/log.md and ringside-log(5).
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
    EXTRACT_LOG_GONE = 0,    // never in a file: what a reader gives for a block that is not there
                             // any more, since its writer dropped it
    EXTRACT_LOG_SECTION = 1, // what the log is: layout, policy, sizes, times
    EXTRACT_LOG_RING,        // the ring's control header and where it lies
    EXTRACT_LOG_OBJECTS,     // the registry's bytes
    EXTRACT_LOG_ENTRIES,     // entries of the ring, oldest first, whole slots
    EXTRACT_LOG_LOSS,        // entries that could not be had, and why
    EXTRACT_LOG_MARK,        // start, stop, reset …
    EXTRACT_LOG_STATUS,      // the last block of a log that was closed in order
    EXTRACT_LOG_ATTRIBUTES,  // stream and log attributes (POSIX trace)
    EXTRACT_LOG_NAMES,       // event type names (POSIX trace)
    EXTRACT_LOG_BYTES,       // a stretch of a byte stream (RKH)
    EXTRACT_LOG_PROGRAM,     // where the traced program was loaded
    EXTRACT_LOG_TYPES        // number of these types
};

enum extract_log_loss {      // why entries are missing
    EXTRACT_LOSS_LAPPED = 1, // they were overwritten before they were read
    EXTRACT_LOSS_TORN,       // they were being overwritten while they were read
    EXTRACT_LOSS_UNREADABLE, // the target or the probe did not answer
    EXTRACT_LOSS_LOG_FULL,   // the log had no room (disk full)
    EXTRACT_LOSS_REFUSED,    // the target itself had no room for them
    EXTRACT_LOSS_NUMBERS,    // not in logs: entries of a ring skip numbers
    // No gap: so many more were lost in the gaps before, which stated the least number only. If it
    // is exact, the losses of all gaps up to here add up to the target's own count.
    EXTRACT_LOSS_EARLIER,
    EXTRACT_LOSS_RESET // they were not read before the trace restarted
};

enum extract_log_mark {
    EXTRACT_MARK_START = 1, // recording began
    EXTRACT_MARK_STOP,      // it ended on request
    EXTRACT_MARK_FULL,      // it ended at the size limit (an automatic stop)
    EXTRACT_MARK_RESET,     // the target was reset, or its trace enabled again: stamps begin again,
                            // entry numbers continue
    EXTRACT_MARK_GONE,      // the target or the probe no longer answered
    EXTRACT_MARK_BACK,      // it answered again
    EXTRACT_MARK_DISABLED,  // the target switched its trace off
    EXTRACT_MARK_ENABLED,   // and on
    EXTRACT_MARK_FILTER,    // the target's own filter was changed; `value` is its word
    EXTRACT_MARK_ERROR,     // the text says what went wrong
    EXTRACT_MARK_CLOCK      // the target's clock went back across a gap: a reset, or a wrap
};

enum {                              // extract_log_block.flags
    EXTRACT_LOG_LOSS_EXACT = 1,     // LOSS: set by the library when `modulo` is 0
    EXTRACT_LOG_LOSS_ABOUT = 2,     // LOSS, in logs of version 1 only: an estimate was stored
    EXTRACT_LOG_PROVISIONAL = 4,    // ENTRIES: the last `provisional` may not be final
    EXTRACT_LOG_STAMPS = 8,         // first_stamp and last_stamp are given
    EXTRACT_LOG_LOSS_AT_LEAST = 16, // LOSS: set by the library when `modulo` is not 0
    // LOSS: a debugger held the target for a part of the time since the entry before the gap, so
    // that the host's clock does not say how long the gap is.
    EXTRACT_LOG_LOSS_HELD = 32,
    EXTRACT_LOG_TORN = 64 // SECTION: the last block before it was never finished
};

// LOSS, `modulo`: any number of further entries may be missing.
#define EXTRACT_LOG_ANY_MORE 1

// A block without its payload. Its meaning by type:
//   ENTRIES  count entries from number `first`; stamps of the first and last as stored
//   BYTES    a stretch of a stream, which may begin and end in the middle of an entry; count
//            entries end in it, by the bytes that end one, and `first` ended in front of it
//   LOSS     lost entries before number `first`; kind is enum extract_log_loss
//   MARK     kind is enum extract_log_mark; `first` is the next entry to come; the payload is a
//            text (UTF-8, not NUL-ended)
struct extract_log_block {
    uint16_t type; // enum extract_log_type
    uint16_t kind; // LOSS, MARK: why; of a log that was read, RING, OBJECTS, NAMES, ENTRIES, BYTES:
                   // the key of their ring, 0: not given
    uint32_t flags;
    uint32_t length;      // bytes of the payload
    uint32_t count;       // ENTRIES: how many
    uint32_t provisional; // ENTRIES: so many at the end may not be final
    uint64_t first; // number of the entry, from 0 at the start of the recording, lost ones too
    uint64_t first_stamp, last_stamp; // raw, as the target stored them
    // LOSS: `lost` + k * `modulo` entries are missing, where k >= 0 is not known. `modulo` 0:
    // `lost` is exact; EXTRACT_LOG_ANY_MORE: `lost` is the least number, which may be 0; of a ring
    // whose write position is known and whose laps are not: its entries.
    uint64_t lost, modulo;
    uint64_t value; // MARK: a number of its own; SECTION: see log.md
    uint64_t wall;  // host's time of the read, nanoseconds since 1970 (UTC)
    // Set by the library:
    uint64_t numbers; // LOSS: entry numbers that it takes: `lost`; in logs of version 1 an estimate
    uint64_t number;  // of the block, from 0 at the start of the log
    uint64_t section; // number of its section, from 0
    uint64_t offset;  // of the block in the file
    size_t index;     // the i of extract_log_block_at
    uint64_t copy_distance; // number of blocks back to the one that this is a copy of, 0: none
};

// Whether a block holds entries.
static inline bool extract_log_holds_entries(const struct extract_log_block *block)
{
    return block->type == EXTRACT_LOG_ENTRIES || block->type == EXTRACT_LOG_BYTES;
}

// What a recording came to, as its last block (STATUS) tells.
struct extract_log_totals {
    uint64_t entries; // of this recording
    uint64_t lost;    // at least
    bool lost_exact;  // `lost` is all
    uint64_t polls;   // of the target
    uint64_t reads;   // of target memory
    uint64_t bytes;   // of target memory that were read
    uint64_t failed;  // reads that failed
    uint64_t resets;  // marks of kind RESET
};

// Returns the name of a type of blocks, "unknown" for what is none; never NULL.
const char *extract_log_type_name(unsigned type);

// "loop", "until_full", "append"; never NULL.
const char *extract_log_policy_name(enum extract_log_policy policy);
// False, with *policy untouched: there is no such policy.
bool extract_log_policy_parse(const char *word, enum extract_log_policy *policy);
// A size as users write it: bytes, or a number with k, M or G behind it. False, with *size
// untouched, for 0, too.
bool extract_log_size_parse(const char *string, uint64_t *size);

// ---- writing ----

struct extract_log_writer;

// Zero-initialize, then set what is wanted.
struct extract_log_options {
    size_t size; // sizeof the struct
    enum extract_log_policy policy;
    uint64_t limit;         // bytes of the file, 0: 64 MiB (APPEND: no limit)
    uint32_t section_bytes; // 0: chosen from the limit
    bool sync;              // each block is on the disk (fdatasync) before the next
    const char *creator;    // NULL: "ringside" and the version of the library
};

// Creates the log `path`, or continues an APPEND log that is there, with the section size that it
// has. An existing file that is not empty and no APPEND log to be continued is never touched (BAD);
// another writer's is refused (a lock: LIMIT, "process N is writing it"), and so is what is no
// regular file (USAGE; symbolic links, too). What an earlier writer left half-written at the end is
// cut off first. Errors: IO, NOMEM, USAGE (limit too small for four sections), BAD, LIMIT.
enum extract_code extract_log_create(struct extract_log_writer **writer, const char *path,
                                     const struct extract_log_options *options,
                                     struct extract_error *error);

// The same in the regular file that `fd` is open for writing in; that is opened again, so that
// neither O_APPEND nor the position of the descriptor, nor its being closed, matter. (Where it
// cannot be opened again, a copy is made of it, and O_APPEND is an error.) There is no lock beside
// the file, which is itself locked (flock): another writer of this library gets LIMIT. An APPEND
// log is continued, any other is begun again; a file that is not empty and no log is never touched
// (BAD). Errors: those of extract_log_create (USAGE: the descriptor); after IO errno says why.
enum extract_code extract_log_create_fd(struct extract_log_writer **writer, int fd,
                                        const struct extract_log_options *options,
                                        struct extract_error *error);

// Says what is recorded: the ring's facts, again at the head of every section from now on. To be
// called before the first ENTRIES, and when they change. Errors: those of extract_log_put.
enum extract_code extract_log_put_ring(struct extract_log_writer *writer,
                                       const struct extract_ring *ring,
                                       struct extract_error *error);

// The registry's raw bytes, as they lie at target address `address`; again at the head of every
// section from now on. Nothing is written when they did not change. Errors: those of
// extract_log_put; LIMIT, too, when they take more than half of a section (the hint says which
// limit would do).
enum extract_code extract_log_put_objects(struct extract_log_writer *writer, uint64_t address,
                                          const void *bytes, size_t length,
                                          struct extract_error *error);

// Adds a block of type ENTRIES, LOSS, MARK, ATTRIBUTES, NAMES, BYTES or PROGRAM. `block` says type,
// kind, flags, count, provisional, first, stamps, lost, modulo, value and wall (0: now); length is
// that of the payload. ENTRIES that do not fit into a section are split at slot borders (the parts
// have no stamps). After a return of OK the block survives the end of this process at any instant.
// Errors: USAGE; LIMIT (UNTIL_FULL: the log is full; the FULL mark has been written, and the log
// can be closed; of ENTRIES that are larger than a section, those from number `first` of the FULL
// mark on are not there); IO (the disk is full: the text, and errno, say so). After IO the log is
// whole up to the block before, and the same put may be tried again. ATTRIBUTES, NAMES and
// PROGRAM stand again at the head of every section from now on; nothing is written when they did
// not change.
enum extract_code extract_log_put(struct extract_log_writer *writer,
                                  const struct extract_log_block *block, const void *payload,
                                  struct extract_error *error);

// Where the entry point of the traced program lies, which an ELF file of it may have elsewhere;
// again at the head of every section from now on. Errors: those of extract_log_put.
enum extract_code extract_log_put_program(struct extract_log_writer *writer, uint64_t entry,
                                          struct extract_error *error);

// What STATUS will say of the work beside the entries, losses and resets, which the writer counts.
void extract_log_note_cost(struct extract_log_writer *writer, uint64_t polls,
                           const struct extract_memory_cost *cost);

// Number of the entry behind the last ENTRIES or LOSS that this writer has put, 0 before the first.
// When a put of ENTRIES that do not fit into a section failed, those before that number are there.
uint64_t extract_log_next(const struct extract_log_writer *writer);

// What is put next begins a section, where a section may follow this one.
void extract_log_turn(struct extract_log_writer *writer);

// Sections that a LOOP log has written over, from its first wrap on.
uint64_t extract_log_overwritten(const struct extract_log_writer *writer);

// Bytes written so far by this writer, and bytes that an UNTIL_FULL log has left (UINT64_MAX: no
// end; LOOP and APPEND are never full).
uint64_t extract_log_written(const struct extract_log_writer *writer);
uint64_t extract_log_room(const struct extract_log_writer *writer);

// Writes the STATUS block and closes. The writer is freed, and its lock given back, in any case.
// NULL is allowed.
enum extract_code extract_log_close(struct extract_log_writer *writer, struct extract_error *error);

// ---- reading ----

struct extract_log;

// What is known of a log as a whole. Counts come from the heads of blocks; what extract_log_read
// finds to be damaged is taken out of `blocks`, `entries` and `lost` and counted there.
struct extract_log_status {
    enum extract_log_policy policy;
    uint64_t limit; // 0: none
    uint64_t section_bytes;
    enum extract_byte_order byte_order; // of the target; UNKNOWN before a RING was written
    bool closed;                        // it ends with STATUS
    bool writing;                       // a writer holds its lock now
    bool full;                          // its last recording ended at the limit (MARK FULL)
    uint64_t created;                   // wall clock, nanoseconds since 1970
    uint64_t blocks;                    // that are whole
    uint64_t entries;                   // in them
    uint64_t lost;                      // entries that LOSS blocks name, at least
    bool lost_known;                    // all of these numbers are exact
    uint64_t dropped;                   // blocks that LOOP has written over
    uint64_t damaged;                   // places where a block should be and its checksum is wrong
    uint64_t damaged_bytes;             // bytes passed over there
    uint64_t damaged_of[EXTRACT_LOG_TYPES]; // damaged blocks by type; of [0], the type is unknown
    uint64_t restored;                      // damaged blocks whose copy was read in their place
    uint64_t missing; // blocks that must have been there, by the numbers of the others
    bool cut;         // its last block is not whole (its writer was killed, or it was cut)
    struct extract_log_totals totals; // of the last recording, when `closed`
    char creator[64];                 // escaped
};

// Opens a log for reading; it may be being written. Reads the headers of all blocks, and verifies
// all but those that hold entries; these are verified when they are read. Damage is not an error:
// it is counted, and reading continues at the next whole block. Errors: IO, NOMEM, USAGE (not a
// regular file), BAD (none of its SECTION blocks is whole; or it is not a log), UNSUPPORTED (a
// later version of Ringside wrote it, or a part of it).
enum extract_code extract_log_open(struct extract_log **log, const char *path,
                                   struct extract_error *error);
// The same of the file that `fd` is open for reading in; the descriptor is the caller's, and is not
// moved.
enum extract_code extract_log_open_fd(struct extract_log **log, int fd,
                                      struct extract_error *error);
void extract_log_free(struct extract_log *log);

// Reads the index again from the same path: the log may be being written, and has gone on. Blocks
// get other indices. When it fails, the log stays as it was. Errors: those of extract_log_open.
enum extract_code extract_log_again(struct extract_log *log, struct extract_error *error);

// Whether `length` bytes of a file's start are a log's.
bool extract_log_is(const uint8_t *bytes, size_t length);

// Returns the name of the file as messages tell it. It is valid as long as the log is.
const char *extract_log_name(const struct extract_log *log);

const struct extract_log_status *extract_log_status(const struct extract_log *log);

// Where the entry point of the traced program lay. False: the log does not say, or it lay in one
// place in one recording and elsewhere in another.
bool extract_log_program(const struct extract_log *log, uint64_t *entry);

// The head of the i-th block in the order of writing; false behind the last. Repeats at the heads
// of sections are left out. Heads are read again from the file (one after the
// other through a buffer, so walking is cheap): the index takes four bytes a block. A block that is
// not there any more has the type GONE.
bool extract_log_block_at(struct extract_log *log, size_t i, struct extract_log_block *block);

// Reads the payload of a block that extract_log_block_at gave to `buffer`, which holds
// block->length bytes, and verifies that the head is still the same and the checksum over head and
// payload. Errors: IO, BAD (damaged), ABSENT (a LOOP log's writer has overwritten it meanwhile).
enum extract_code extract_log_read(struct extract_log *log, const struct extract_log_block *block,
                                   void *buffer, struct extract_error *error);

// The first block that was read from the target at `wall` or later, by bisection; the number of
// blocks when there is none. Walls are taken to rise.
size_t extract_log_seek(struct extract_log *log, uint64_t wall);

// The ring as block i (type RING) tells it, with header bytes; addresses are the target's.
// `payload` is what extract_log_read gave. Errors: BAD, NOMEM, UNSUPPORTED (unknown format).
enum extract_code extract_log_ring(struct extract_ring *ring, const void *payload, size_t length,
                                   struct extract_error *error);

// The registry's bytes that a block of type OBJECTS tells: `*bytes` (inside the payload) lie at
// target address *address. Errors: BAD.
enum extract_code extract_log_objects(uint64_t *address, const uint8_t **bytes, size_t *length,
                                      const void *payload, size_t payload_length,
                                      struct extract_error *error);

// The names that a block of type NAMES tells: `count` slots of `slot_bytes` bytes (inside the
// payload), the first of which is that of event type `first`. Errors: BAD.
struct extract_log_names {
    const uint8_t *bytes;
    uint32_t slot_bytes, count;
    uint32_t first;
};

enum extract_code extract_log_names(struct extract_log_names *names, const void *payload,
                                    size_t length, struct extract_error *error);

// The status of a stream at its end, as posix_trace_status_info has it.
struct extract_log_ending {
    bool running, full, overrun, flushing;
    uint32_t flush_error; // an errno
    bool log_overrun, log_full;
};

// What a block of type ATTRIBUTES tells of that. False: nothing.
bool extract_log_ending(struct extract_log_ending *ending, const void *payload, size_t length);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
