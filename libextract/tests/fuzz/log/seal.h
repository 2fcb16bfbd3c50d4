// SPDX-License-Identifier: MIT
// fuzz: corrects the checksums of a log's blocks, so that their contents reach the code after the
// checks. The bytes may or may not be a log. Layout: docs/formats/log.md.
#ifndef FUZZ_LOG_SEAL_H
#define FUZZ_LOG_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HEAD = 96, AT_LENGTH = 12, AT_HEAD_SUM = 72, AT_SUMS = 80 };

static inline uint64_t seal_sum(const uint8_t *bytes, size_t length, uint64_t *one)
{
    uint64_t two = 0;
    uint32_t word;
    for (*one = 0; length >= 4; length -= 4, bytes += 4) {
        memcpy(&word, bytes, 4);
        *one += word;
        two += *one;
    }
    return two;
}

// Gives the block at `h` its right checksums. If the block is truncated, they cover what is left of
// it.
static inline void seal_block(uint8_t *h, size_t left)
{
    uint32_t length;
    uint64_t one, two;
    memcpy(&length, h + AT_LENGTH, 4);
    two = seal_sum(h, AT_HEAD_SUM, &one);
    memcpy(h + AT_HEAD_SUM, &two, 8);
    memset(h + AT_SUMS, 0, 16);
    uint64_t size = HEAD + ((uint64_t)length + 7) / 8 * 8;
    two = seal_sum(h, size < left ? (size_t)size : left, &one);
    memcpy(h + AT_SUMS, &one, 8);
    memcpy(h + AT_SUMS + 8, &two, 8);
}

static inline void seal_blocks(uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + HEAD <= size; at += 8)
        if (!memcmp(bytes + at, "RLBK", 4))
            seal_block(bytes + at, size - at);
}

#endif
