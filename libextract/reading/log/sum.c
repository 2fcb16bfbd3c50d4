// SPDX-License-Identifier: MIT
// log: the checksum of a block: two sums modulo 2^64 over its 32-bit little-endian words. The first
// sums up the words, and the second sums up the first sum after each word (docs/formats/log.md,
// "Checksum"). Vectors compute it at the speed of memory.
#include "base/cursor.h"
#include "log/log_block.h"

enum { HALF = 4, LANES = 2 * HALF, STEP = LANES * 4 };

typedef uint32_t words __attribute__((vector_size(HALF * 4)));
typedef uint64_t lanes __attribute__((vector_size(HALF * 8)));

static void sum_words(struct log_sums *sums, const uint8_t *bytes, size_t length)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);

    for (size_t i = 0; i < length / 4; i++) {
        sums->one += extract_cursor_u32(&c);
        sums->two += sums->one;
    }
}

static inline void add(lanes *a, lanes *b, const uint8_t *bytes)
{
    words w;
    memcpy(&w, bytes, sizeof w);
    *a += __builtin_convertvector(w, lanes);
    *b += *a;
}

// Sums up `steps` * LANES words. Each lane j has its own sums: a over its words, and b over a. Word
// k of lane j counts LANES * (steps - k) - j times in the second sum, and (steps - k) times in b.
static void sum_lanes(struct log_sums *sums, const uint8_t *bytes, size_t steps)
{
    lanes a0 = {0}, b0 = {0}, a1 = {0}, b1 = {0};
    for (size_t i = 0; i < steps; i++, bytes += STEP) {
        add(&a0, &b0, bytes);
        add(&a1, &b1, bytes + STEP / 2);
    }
    sums->two += sums->one * LANES * steps;
    for (unsigned j = 0; j < HALF; j++) {
        sums->one += a0[j] + a1[j];
        sums->two += LANES * (b0[j] + b1[j]) - j * a0[j] - (j + HALF) * a1[j];
    }
}

void extract_log_sum(struct log_sums *sums, const void *bytes, size_t length)
{
    size_t steps = EXTRACT_HOST_BIG ? 0 : length / STEP;

    if (steps)
        sum_lanes(sums, bytes, steps);
    sum_words(sums, (const uint8_t *)bytes + steps * STEP, length - steps * STEP);
}
