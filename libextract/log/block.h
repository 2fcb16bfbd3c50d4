// SPDX-License-Identifier: MIT
// log: the bytes of a block. In: a block's facts, or bytes of a file. Out: the other, and
// checksums. Layout: docs/formats/log.md.
#ifndef EXTRACT_LOG_BLOCK_H
#define EXTRACT_LOG_BLOCK_H

#include "base/cursor.h"
#include <extract/log.h>

enum {
    LOG_HEAD = 96,
    LOG_SECTION_PAYLOAD_1 = 112, // in logs of version 1
    LOG_SECTION_PAYLOAD = 120,
    LOG_SECTION_BLOCK = LOG_HEAD + LOG_SECTION_PAYLOAD,
    LOG_RING_PAYLOAD = 56, // and the header
    LOG_OBJECTS_PAYLOAD = 8,
    LOG_PROGRAM_PAYLOAD = 8,
    LOG_STATUS_PAYLOAD = 64,
    LOG_CREATOR = 64,
    LOG_FORMAT_NAME = 16,
    LOG_VERSION = 2,       // of the format that writers write
    LOG_VERSION_LEAST = 1, // the oldest that is read
    LOG_SECTION_STEP = 4096,
    LOG_MAX_SECTION = 64 * 1024 * 1024
};

#define LOG_MAGIC "RLBK"
#define LOG_NAME  "RINGSIDE"
#define LOG_GIVEN "the log's file" // how messages call what was given as a descriptor

// Bytes of a block in the file.
static inline uint64_t extract_log_size(uint64_t length)
{
    return LOG_HEAD + (length + 7) / 8 * 8;
}

// Stores the low `bytes` bytes of a value, little-endian.
static inline void extract_log_store(uint8_t *to, uint64_t value, unsigned bytes)
{
    extract_store(to, value, bytes, EXTRACT_LITTLE);
}

// Types of blocks that every section begins with, in this order. A section cannot be read without
// them, so each has a copy.
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

// What is known of the sum of a recording's losses:
//
//   EXACT --- a gap that is not exact ---> OPEN --- EARLIER, not exact; or a break ---> AT_LEAST
//   EXACT <-------- EARLIER, exact ------- OPEN
//
// A break is the start of a recording or a restart of the trace: the count of the ring before it
// will not be read any more.
//
// Where a log has dropped its oldest blocks, its first EARLIER loss counts gaps among these, too.
// Callers pass it as not exact; one in front of which no gap is left is not exact either.
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

// ---- Checksum ----

struct log_sums {
    uint64_t one, two;
};

// Goes on over `length` bytes, a multiple of 4.
void extract_log_sum(struct log_sums *sums, const void *bytes, size_t length);

// ---- Heads ----

// The head of a block, with its head sum and without sums.
void extract_log_encode(uint8_t head[LOG_HEAD], const struct extract_log_block *block);

// Stores the sums; `tail` is the rest of the payload behind its last whole 8 bytes, with zeros.
void extract_log_seal(uint8_t head[LOG_HEAD], const void *payload, const uint8_t tail[8],
                      uint32_t length);

// Decodes a head, all but index and offset. False when it is none: magic, head sum (where it is
// given), or counts that contradict each other.
bool extract_log_decode(struct extract_log_block *block, const uint8_t head[LOG_HEAD]);

// Begins the sums of a block that was read: over its head.
struct log_sums extract_log_sum_head(const uint8_t head[LOG_HEAD]);
bool extract_log_sums_are(const struct log_sums *sums, const uint8_t head[LOG_HEAD]);

// ---- Payloads ----

struct log_settings { // SECTION
    enum extract_log_policy policy;
    enum extract_byte_order byte_order;
    uint32_t version;
    uint32_t compression; // method by which payloads are compressed; 0: they are not
    uint32_t section_bytes;
    uint32_t sections; // in the file when it is full
    uint64_t limit;
    uint64_t created;
    char creator[LOG_CREATOR]; // as it stands, cut by a NUL
};

// Encodes the SECTION payload of the current version.
void extract_log_facts_encode(uint8_t payload[LOG_SECTION_PAYLOAD],
                              const struct log_settings *facts);
// Decodes a SECTION payload. Returns false if it is not one, or contradicts itself. Of a version
// that is later than LOG_VERSION, only the version is set.
bool extract_log_facts_decode(struct log_settings *facts, const uint8_t *payload, size_t length);

void extract_log_totals_encode(uint8_t payload[LOG_STATUS_PAYLOAD],
                               const struct extract_log_totals *totals);
bool extract_log_totals_decode(struct extract_log_totals *totals, const uint8_t *payload,
                               size_t length);

// Returns the key of the ring that a RING payload describes: a number other than 0 that another
// ring hardly has.
uint16_t extract_log_ring_key(const void *payload, size_t length);

// Encodes a RING payload; returns its length.
enum { LOG_MAX_RING = LOG_RING_PAYLOAD + 144 };
uint32_t extract_log_ring_encode(uint8_t payload[LOG_MAX_RING], const struct extract_ring *ring);

// ---- Writers ----

// Frees the copy of a writer that a child of its process has; the log is the parent's, and nothing
// of it changes. NULL is allowed.
void extract_log_detach(struct extract_log_writer *writer);

// Takes notice of the limit of the size of files that the process has by now (RLIMIT_FSIZE); a
// write beyond it, which is an error, would send a signal that ends the process.
void extract_log_note_limit(struct extract_log_writer *writer);

#endif
