// SPDX-License-Identifier: MIT
// formats/hook: the layout of hook-word rings, and their records.
//
// Source: docs/formats/hook.md. Hook words: IBM AIX documentation, "Trace facility", "trchook",
// "trcgen", "trc_read"; the words of 64 bits likewise.
#ifndef EXTRACT_FORMATS_HOOK_H
#define EXTRACT_FORMATS_HOOK_H

#include "base/cursor.h"
#include "memory/hooks.h"
#include "formats/format.h"

enum {
    HOOK_FLAG_RUNS = 1, // of the control block
    HOOK_FLAG_KEEPS_OLDEST = 2,
    HOOK_FLAG_CPUS_SEEN = 4, // there may be more than `cpus`
    HOOK_BUFFER_LEAST = 64,
    HOOK_MAX_WORDS = 5,     // data words of an entry
    HOOK_MAX_FIELDS = 8,    // of one of 64 bits: reports keep events of all formats in such
    HOOK_MAX_FRAME = 65532, // bytes of a record whose frame holds its length
    HOOK_MAX_RECORD = 65576 // of one that holds it in a word behind the frame
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
    HOOK_FRAME_NONE = 1 << 23 // alone with a length, in files: so many bytes that were damaged
};

// Flags of a hook word of 64 bits, and types of one of 32.
enum {
    HOOK_WIDE_STAMP = 0x8000,
    HOOK_WIDE_GENERIC = 0x4000,
    HOOK_WIDE_NARROW_DATA = 0x2000, // its data has 32 bits
    HOOK_TYPE_GENERIC = 0,
    HOOK_TYPE_NONE = 1,
    HOOK_TYPE_ONE = 2,
    HOOK_TYPE_FIVE = 6,
    HOOK_TYPE_STAMP = 8 // added to the others
};

// A hook word, taken apart.
struct hook_word {
    bool wide; // 64 bits
    bool generic;
    uint16_t id;   // hhh0 for three digits
    uint16_t type; // 0 to 0xE, or the flags of 64 bits
    uint16_t data; // hook data, or the subhook
    uint16_t size; // of 64 bits: of the data words, or of a generic entry's buffer
};

void hook_word_read(struct hook_word *word, struct extract_cursor *c, bool wide);
// The hook words as AIX has them.
uint64_t hook_word_value(const struct hook_word *word);
// Bytes of the buffer that a generic entry holds.
uint32_t hook_word_buffer(const struct hook_word *word);

// A record, taken apart.
struct hook_record {
    uint32_t frame;
    uint32_t length; // in bytes; it may be none
    uint32_t head;   // bytes in front of the hook word
    struct hook_word word;
    uint32_t words;  // data words
    uint32_t buffer; // bytes, without what fills them up
    uint64_t tid, stamp;
};

// Bytes of the hook word, and of a data word.
static inline uint32_t hook_unit(const struct hook_word *word)
{
    return word->wide ? 8 : 4;
}

// Bytes of hook word, data words and buffer.
static inline uint32_t hook_record_payload(const struct hook_record *record)
{
    return (1 + record->words) * hook_unit(&record->word) + record->buffer;
}

// Reads the record at the start of `bytes`, of which `length` are there. False: it is none.
bool hook_record_read(struct hook_record *record, const uint8_t *bytes, uint32_t length,
                      enum extract_byte_order order, uint32_t cpus);

// Whether a frame stands for bytes that are no record, and are known to be none.
static inline bool hook_frame_is_blank(uint32_t frame)
{
    return frame >> 16 == HOOK_FRAME_NONE >> 16 && (frame & 0xFFFF) >= 4 && frame % 4 == 0;
}

// header.c
enum extract_code hook_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                 struct extract_symbols *symbols, struct extract_error *error);
enum extract_code hook_ring_at(struct extract_ring *ring, struct extract_memory *memory,
                               struct extract_symbols *symbols, uint64_t address,
                               struct extract_error *error);
void hook_join(struct extract_ring *ring, struct extract_symbols *symbols);
bool hook_looks(const uint8_t *bytes, size_t length);
bool hook_is(struct extract_ring *ring, const uint8_t *bytes, size_t length, uint64_t address);
bool hook_read_counters(const struct extract_ring *ring, const uint8_t *header,
                        struct extract_ring_counters *counters);
enum extract_code hook_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                               struct extract_error *error);
// Processors that write to the ring.
uint32_t hook_cpus(const struct extract_ring *ring);

// walk.c
uint64_t hook_spill(const struct extract_ring *ring);
bool hook_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary);
void hook_stamps(struct extract_snapshot *snapshot, uint32_t from);
uint32_t hook_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);

#endif
