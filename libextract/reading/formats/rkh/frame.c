// SPDX-License-Identifier: MIT
// formats/rkh: scans frames on the wire: where a frame ends, its sum, and its bytes without
// stuffing.
//
// Source: docs/formats/rkh.md, "Frames". It scans eight bytes at a time, because nearly all frames
// have no escapes.
#include "formats/rkh/rkh.h"

#define EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))
#define EVEN        UINT64_C(0x00FF00FF00FF00FF)

enum { WORD = 8, FOLD = 64 }; // FOLD: number of words whose sums fit into 16 bits

// Returns a word with the highest bit of each byte that equals `byte`, and no other bits.
static inline uint64_t find_byte(uint64_t word, uint8_t byte)
{
    uint64_t x = word ^ EVERY(byte);

    return ~(((x & EVERY(0x7F)) + EVERY(0x7F)) | x | EVERY(0x7F));
}

static inline uint64_t load_word(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return EXTRACT_HOST_BIG ? __builtin_bswap64(word) : word;
}

// Adds up four 16-bit sums.
static inline uint16_t fold(uint64_t sums)
{
    return (uint16_t)(sums + (sums >> 16) + (sums >> 32) + (sums >> 48));
}

// Computes sum and length of a frame with escapes.
static void scan_escaped(struct rkh_frame *frame, const uint8_t *bytes)
{
    uint32_t at = frame->at, end = at + frame->length;

    frame->sum = 0;
    frame->whole = 0;
    for (; at < end; at++, frame->whole++) {
        uint8_t byte = bytes[at];
        if (byte == RKH_ESCAPE) {
            byte = ++at < end ? bytes[at] ^ RKH_XOR : 0;
            frame->torn |= byte != RKH_FLAG && byte != RKH_ESCAPE;
        }
        frame->sum = (uint8_t)(frame->sum + byte);
    }
}

void rkh_frame_scan(struct rkh_frame *frame, const uint8_t *bytes, uint32_t at, uint32_t end)
{
    uint64_t sums = 0, flags = 0;
    uint32_t start = at;
    uint8_t sum = 0;

    *frame = (struct rkh_frame){.at = start};
    for (unsigned n = 1; end - at >= WORD && !flags; n++) {
        uint64_t word = load_word(bytes + at), escapes = find_byte(word, RKH_ESCAPE);
        flags = find_byte(word, RKH_FLAG);
        unsigned bits = flags ? (unsigned)__builtin_ctzll(flags) & ~7u : 64;
        uint64_t keep = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        word &= keep;
        frame->escaped |= (escapes & keep) != 0;
        sums += (word & EVEN) + (word >> 8 & EVEN);
        at += bits / 8;
        if (n % FOLD == 0) {
            sum = (uint8_t)(sum + fold(sums));
            sums = 0;
        }
    }
    sum = (uint8_t)(sum + fold(sums));
    for (; !flags && at < end && bytes[at] != RKH_FLAG; at++) {
        frame->escaped |= bytes[at] == RKH_ESCAPE;
        sum = (uint8_t)(sum + bytes[at]);
    }
    frame->ended = at < end;
    frame->length = frame->whole = at - start;
    frame->sum = sum;
    if (frame->escaped)
        scan_escaped(frame, bytes);
}

uint32_t rkh_frame_count(const uint8_t *bytes, uint32_t length)
{
    uint32_t count = 0, at = 0;
    bool empty = true; // the previous byte is a flag, or there is none

    while (length - at >= WORD) {
        uint32_t words = (length - at) / WORD;
        uint64_t sums = 0;
        for (words = words < FOLD ? words : FOLD; words; words--, at += WORD) {
            uint64_t flags = find_byte(load_word(bytes + at), RKH_FLAG) >> 7;
            sums += flags & ~(flags << 8 | empty);
            empty = flags >> 56 != 0;
        }
        count += fold((sums & EVEN) + (sums >> 8 & EVEN));
    }
    for (; at < length; at++) {
        count += bytes[at] == RKH_FLAG && !empty;
        empty = bytes[at] == RKH_FLAG;
    }
    return count;
}

void rkh_frame_unstuff(const struct rkh_frame *frame, const uint8_t *bytes, uint8_t *to)
{
    uint32_t end = frame->at + frame->length;

    for (uint32_t at = frame->at; at < end; at++, to++) {
        bool escape = bytes[at] == RKH_ESCAPE && at + 1 < end;
        at += escape;
        *to = escape ? bytes[at] ^ RKH_XOR : bytes[at];
    }
}
