// SPDX-License-Identifier: MIT
// formats/hook: the layout of rings of hook words, and what the files of this directory share.
// header.c finds and checks the ring, walk.c finds its records, record.c takes one apart, hook.c
// decodes, encode.c encodes, and stream.c converts a raw stream to a ring.
// Source: docs/formats/hook.md. Hook words: IBM AIX documentation, "Trace facility", "trchook",
// "trcgen", "trc_read"; the words of 64 bits likewise.
#ifndef EXTRACT_FORMATS_HOOK_H
#define EXTRACT_FORMATS_HOOK_H

#include "base/cursor.h"
#include "memory/memory_hooks.h"
#include "formats/format.h"

enum {
    HOOK_FLAG_RUNS = 1, // flags of the control block
    HOOK_FLAG_KEEPS_OLDEST = 2,
    HOOK_FLAG_CPUS_SEEN = 4, // there may be more processors than `cpus`
    HOOK_FLAG_BOARDS = 8,    // only in merged logs: records may contain the number of a board
    HOOK_MIN_BUFFER = 64,    // bytes
    HOOK_MAX_WORDS = 5,      // data words of an entry with a 32-bit hook word
    HOOK_MAX_FIELDS = 8,     // with a 64-bit one: reports store events of all formats in such
    HOOK_MAX_FRAME = 65532,  // bytes of a record whose frame contains its length
    HOOK_MAX_RECORD = 65580  // bytes of a record with its length in a word after the frame
};

// Bits of a record's frame, above its length.
enum {
    HOOK_FRAME_WIDE = 1 << 16,
    HOOK_FRAME_TID = 1 << 17,
    HOOK_FRAME_STAMP = 1 << 18,
    HOOK_FRAME_TID_8 = 1 << 19,
    HOOK_FRAME_STAMP_8 = 1 << 20,
    HOOK_FRAME_ISR = 1 << 21,
    HOOK_FRAME_INIT = 1 << 22,
    HOOK_FRAME_NONE = 1 << 23, // only in files, and only with a length: that many damaged bytes
    HOOK_FRAME_BOARD = 1 << 23 // only in merged logs, and only with a timestamp: a board's number
};

// Flags of a 64-bit hook word, and types of a 32-bit one.
enum {
    HOOK_WIDE_STAMP = 0x8000,
    HOOK_WIDE_GENERIC = 0x4000,
    HOOK_WIDE_NARROW_DATA = 0x2000, // its data are 32-bit words
    HOOK_TYPE_GENERIC = 0,
    HOOK_TYPE_NONE = 1,
    HOOK_TYPE_ONE = 2,
    HOOK_TYPE_FIVE = 6,
    HOOK_TYPE_STAMP = 8 // added to the others
};

// A hook word, decoded.
struct hook_word {
    bool wide;     // 64 bits
    bool generic;  // followed by a length and a buffer instead of data words
    uint16_t id;   // ids of three digits: hhh0
    uint16_t type; // 0 to 0xE, or the flags of a 64-bit hook word
    uint16_t data; // hook data, or the subhook
    uint16_t size; // 64 bits: bytes of the data words, or of a generic entry's buffer
};

// Reads a hook word.
void hook_word_read(struct hook_word *word, struct extract_cursor *c, bool wide);
// Returns the hook word as AIX stores it.
uint64_t hook_word_value(const struct hook_word *word);
// Returns the bytes of a generic entry's buffer; 0 for other entries.
uint32_t hook_word_buffer(const struct hook_word *word);

// A record, decoded.
struct hook_record {
    uint32_t frame;
    uint32_t length; // in bytes, as the record states it; may be wrong
    uint32_t board;  // bits 32 to 63 of its addresses, by exclusive or; 0: the first board
    uint32_t head;   // bytes before the hook word
    struct hook_word word;
    uint32_t words;  // number of data words
    uint32_t buffer; // bytes of the buffer, without padding
    uint64_t tid, stamp;
};

// Returns the bytes of the hook word, which are also those of a data word.
static inline uint32_t hook_unit(const struct hook_word *word)
{
    return word->wide ? 8 : 4;
}

// Returns the bytes of hook word, data words and buffer.
static inline uint32_t hook_record_payload(const struct hook_record *record)
{
    return (1 + record->words) * hook_unit(&record->word) + record->buffer;
}

// What the control block states of the records.
struct hook_limits {
    uint32_t cpus;   // number of processors that write to the ring
    bool has_boards; // records may contain the number of a board
};

// Reads the record at the start of `bytes`, of which `length` are available. Returns false if there
// is no valid record; frame and length are then set all the same.
bool hook_record_read(struct hook_record *record, const uint8_t *bytes, uint32_t length,
                      enum extract_byte_order order, struct hook_limits limits);

// Returns whether a frame marks bytes that are known not to be a record.
static inline bool hook_frame_is_blank(uint32_t frame)
{
    return frame >> 16 == HOOK_FRAME_NONE >> 16 && (frame & 0xFFFF) >= 4 && frame % 4 == 0;
}

// header.c
enum extract_code hook_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                 struct extract_symbols *symbols, struct extract_error *error);
enum extract_code hook_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                 struct extract_symbols *symbols, uint64_t address,
                                 struct extract_error *error);
void hook_apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols);
bool hook_is_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                    uint64_t address);
// Fills in a ring that the control block in ring->header describes, in ring->byte_order. Errors:
// BAD.
enum extract_code hook_make_ring(struct extract_ring *ring, uint64_t address,
                                 struct extract_error *error);
bool hook_read_counters(const struct extract_ring *ring, const uint8_t *header,
                        struct extract_ring_counters *counters);
enum extract_code hook_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                               struct extract_error *error);
struct hook_limits hook_limits_of(const struct extract_ring *ring);

// rebuild.c: members of extract_format.
bool hook_contradicts(const struct extract_ring *ring, struct extract_memory *memory);
bool hook_rebuild(struct extract_ring *ring, struct extract_memory *memory,
                  struct extract_symbols *symbols, const struct extract_rebuild *where);

// walk.c
uint64_t hook_slack_bytes(const struct extract_ring *ring);
bool hook_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary);
void hook_fill_stamps(struct extract_snapshot *snapshot, uint32_t from);
bool hook_is_untimed(const struct extract_ring *ring, unsigned layout);
uint32_t hook_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);

extern const struct extract_encoder hook_encoder; // encode.c

// Returns the board's number of a decoded event, as in struct hook_record.
static inline uint32_t hook_board_of(const struct extract_event *event)
{
    return (uint32_t)(event->priority_word >> 32);
}

#endif
