// SPDX-License-Identifier: MIT
// log: the bytes of a block, encoded and decoded, and its checksums. docs/formats/log.md specifies
// the layout. Functions that decode take untrusted bytes.
#ifndef EXTRACT_LOG_LOG_BLOCK_H
#define EXTRACT_LOG_LOG_BLOCK_H

#include "base/cursor.h"
#include <extract/log.h>

enum {
    LOG_HEAD = 96,               // bytes of a block header
    LOG_SECTION_PAYLOAD_1 = 112, // in logs of version 1
    LOG_SECTION_PAYLOAD = 120,
    LOG_SECTION_BLOCK = LOG_HEAD + LOG_SECTION_PAYLOAD,
    LOG_RING_PAYLOAD = 56, // without the ring's control header, which follows
    LOG_OBJECTS_PAYLOAD = 8,
    LOG_PROGRAM_PAYLOAD = 8,
    LOG_NAME_HEAD = 9, // bytes of an object of a byte ring before its name
    LOG_STATUS_PAYLOAD = 64,
    LOG_CREATOR = 64,
    LOG_FORMAT_NAME = 16,
    LOG_VERSION = 2,         // version of the file format that writers write
    LOG_VERSION_LEAST = 1,   // oldest version that is read
    LOG_SECTION_STEP = 4096, // section sizes are multiples of this
    LOG_MAX_SECTION = 64 * 1024 * 1024
};

#define LOG_MAGIC "RLBK"
#define LOG_NAME  "RINGSIDE"
#define LOG_GIVEN "the log's file" // the name in messages of a log that was opened by descriptor

// Returns the bytes that a block takes in the file.
static inline uint64_t extract_log_size(uint64_t length)
{
    return LOG_HEAD + (length + 7) / 8 * 8;
}

// Stores the low `bytes` bytes of a value, little-endian.
static inline void extract_log_store(uint8_t *to, uint64_t value, unsigned bytes)
{
    extract_store(to, value, bytes, EXTRACT_LITTLE);
}

// The types of blocks that every section begins with, in this order. A section cannot be read
// without them, so each has a copy.
static const uint16_t log_repeated[] = {EXTRACT_LOG_SECTION, EXTRACT_LOG_RING,
                                        EXTRACT_LOG_OBJECTS, EXTRACT_LOG_ATTRIBUTES,
                                        EXTRACT_LOG_NAMES,   EXTRACT_LOG_PROGRAM};

enum { LOG_REPEATED = sizeof log_repeated / sizeof *log_repeated };

// Returns the index of a type in log_repeated, or LOG_REPEATED if it is not one of these.
static inline unsigned extract_log_repeated(uint16_t type)
{
    unsigned i = 0;
    while (i < LOG_REPEATED && log_repeated[i] != type)
        i++;
    return i;
}

// What OBJECTS of a log of a byte ring names.
enum log_name_kind { LOG_NAME_OBJECT = 0, LOG_NAME_THREAD, LOG_NAME_SIGNAL, LOG_NAME_KINDS };

// What is known of the sum of a recording's losses:
//
//   EXACT ─── a gap that is not exact ──► OPEN ─── EARLIER, not exact; or a break ──► AT_LEAST
//   EXACT ◄─────── EARLIER, exact ─────── OPEN
//
// A break is the start of a recording, or a restart of the trace: the counts that the ring had
// before it will never be read.
//
// If a log has dropped its oldest blocks, its first EARLIER loss may belong to gaps among them.
// Callers pass it as not exact. An EARLIER loss without a gap before it is not exact either.
enum log_loss_sum { LOG_LOSS_SUM_EXACT, LOG_LOSS_SUM_OPEN, LOG_LOSS_SUM_AT_LEAST };

static inline enum log_loss_sum extract_log_sum_after_loss(enum log_loss_sum sum, uint64_t kind,
                                                           bool is_exact)
{
    if (kind == EXTRACT_LOSS_EARLIER)
        return is_exact && sum == LOG_LOSS_SUM_OPEN ? LOG_LOSS_SUM_EXACT : LOG_LOSS_SUM_AT_LEAST;
    return sum == LOG_LOSS_SUM_EXACT && !is_exact ? LOG_LOSS_SUM_OPEN : sum;
}

static inline enum log_loss_sum extract_log_sum_after_break(enum log_loss_sum sum)
{
    return sum == LOG_LOSS_SUM_OPEN ? LOG_LOSS_SUM_AT_LEAST : sum;
}

// ---- Checksums ----

struct log_sums {
    uint64_t one, two;
};

// Continues the sums over `length` bytes, which is a multiple of 4.
void extract_log_sum(struct log_sums *sums, const void *bytes, size_t length);

// ---- Headers ----

// Encodes a block header, with the sum over the header but without those over the block.
void extract_log_encode(uint8_t head[LOG_HEAD], const struct extract_log_block *block);

// Stores the sums over the block. `tail` is the rest of the payload after its last multiple of 8
// bytes, padded with zeros.
void extract_log_seal(uint8_t head[LOG_HEAD], const void *payload, const uint8_t tail[8],
                      uint32_t length);

// Decodes a header: all members except index and offset. Returns false if it is not one: the magic
// number, the header sum (if it is present) or the counts are wrong.
bool extract_log_decode(struct extract_log_block *block, const uint8_t head[LOG_HEAD]);

// Starts the sums of a block that was read, with those over its header.
struct log_sums extract_log_sum_head(const uint8_t head[LOG_HEAD]);
// Returns whether the sums over a block are those that its header contains.
bool extract_log_sums_are(const struct log_sums *sums, const uint8_t head[LOG_HEAD]);

// ---- Payloads ----

// The content of a SECTION block.
struct log_settings {
    enum extract_log_policy policy;
    enum extract_byte_order byte_order;
    uint32_t version;
    uint32_t compression; // method by which payloads are compressed; 0: none
    uint32_t section_bytes;
    uint32_t sections; // number of sections of a full file; 0: no limit
    uint64_t limit;
    uint64_t created;
    char creator[LOG_CREATOR]; // raw bytes; ended by a NUL if it is shorter
};

// Encodes the SECTION payload of the current version.
void extract_log_settings_encode(uint8_t payload[LOG_SECTION_PAYLOAD],
                                 const struct log_settings *settings);
// Decodes a SECTION payload. Returns false if it is not one, or contradicts itself. For versions
// later than LOG_VERSION, only the version is set.
bool extract_log_settings_decode(struct log_settings *settings, const uint8_t *payload,
                                 size_t length);

// Encodes and decodes a STATUS payload. Decoding returns false if it is too short.
void extract_log_totals_encode(uint8_t payload[LOG_STATUS_PAYLOAD],
                               const struct extract_log_totals *totals);
bool extract_log_totals_decode(struct extract_log_totals *totals, const uint8_t *payload,
                               size_t length);

// Returns the key of the ring that a RING payload describes: a number other than 0 that is unlikely
// to belong to another ring.
uint16_t extract_log_ring_key(const void *payload, size_t length);

// Encodes a RING payload and returns its length.
enum { LOG_MAX_RING = LOG_RING_PAYLOAD + 144 };
uint32_t extract_log_ring_encode(uint8_t payload[LOG_MAX_RING], const struct extract_ring *ring);

// ---- Writers ----

// Frees a child process's copy of a writer. The log remains the parent's, and is not changed. NULL
// is allowed.
void extract_log_detach(struct extract_log_writer *writer);

// Reads the process's current limit on file sizes (RLIMIT_FSIZE). The writer fails before a write
// beyond it, which would raise a signal that ends the process.
void extract_log_note_limit(struct extract_log_writer *writer);

// Reads the index again from the same file, to see what a writer has appended. Blocks get new
// indices. If it fails, the log is unchanged. Errors: those of extract_log_open.
enum extract_code extract_log_again(struct extract_log *log, struct extract_error *error);

// Returns the name of the file for messages. It is valid as long as the log.
const char *extract_log_name(const struct extract_log *log);

// Decodes a block of type NAMES. Errors: BAD.
enum extract_code extract_log_names(struct extract_log_names *names, const void *payload,
                                    size_t length, struct extract_error *error);

// Returns the number of the entry after the last ENTRIES or LOSS that this writer wrote; 0 before
// the first. If ENTRIES that do not fit into a section could not all be written, those before this
// number were.
uint64_t extract_log_next(const struct extract_log_writer *writer);

// Sets the totals of the STATUS block that the writer does not count itself.
void extract_log_note_cost(struct extract_log_writer *writer, uint64_t polls,
                           const struct extract_memory_cost *cost);

// Returns the number of sections that a LOOP log has dropped since it first wrapped.
uint64_t extract_log_overwritten(const struct extract_log_writer *writer);

// Returns the address of the traced program's entry point in *entry. Returns false if the log does
// not contain it, or contains different ones for different recordings.
bool extract_log_program(const struct extract_log *log, uint64_t *entry);

// Writes the address of the traced program's entry point, now and at the start of every section
// from now on. An ELF file of the program may contain another one. Errors: those of
// extract_log_put.
enum extract_code extract_log_put_program(struct extract_log_writer *writer, uint64_t entry,
                                          struct extract_error *error);

// Returns the number of bytes that an UNTIL_FULL log has left; UINT64_MAX for LOOP and APPEND,
// which are never full.
uint64_t extract_log_space_left(const struct extract_log_writer *writer);

// Starts a new section with the next block, if the policy allows another section.
void extract_log_turn(struct extract_log_writer *writer);

// Returns the number of bytes that this writer wrote.
uint64_t extract_log_written(const struct extract_log_writer *writer);

// Decodes the status in a block of type ATTRIBUTES. Returns false if it contains none.
bool extract_log_ending(struct extract_log_ending *ending, const void *payload, size_t length);

// Returns whether `length` bytes at the start of a file are those of a log.
bool extract_log_is(const uint8_t *bytes, size_t length);

// Returns "loop", "until_full" or "append"; never NULL.
const char *extract_log_policy_name(enum extract_log_policy policy);

// Returns the name of a type of blocks, "unknown" if the type is unknown; never NULL.
const char *extract_log_type_name(unsigned type);

#endif
