// SPDX-License-Identifier: MIT
// tests: logs as bytes. In: what a block says. Out: its bytes, and whole logs read back.
//
// Source: docs/formats/log.md. Written from that text alone and sharing no code with the library,
// so that the two check each other.
#ifndef TESTS_LOG_BYTES_H
#define TESTS_LOG_BYTES_H

#include "tests/unit/scratch.h"
#include <extract/log.h>

enum {
    HEAD = 96,
    SECTION_PAYLOAD_1 = 112, // in logs of version 1
    SECTION_PAYLOAD = 120,
    SECTION_BLOCK_1 = HEAD + SECTION_PAYLOAD_1,
    SECTION_BLOCK = HEAD + SECTION_PAYLOAD,
    SECTION_HEAD = 2 * SECTION_BLOCK, // the block and its copy
    STATUS_BLOCK = HEAD + 64,
    MAX_BYTES = 512 * 1024,
    WALL = 1000000
};

struct bytes {
    uint8_t data[MAX_BYTES];
    size_t length;
};

static inline void put_number(uint8_t *to, uint64_t value, unsigned count)
{
    while (count--) {
        *to++ = (uint8_t)(value & 255);
        value /= 256;
    }
}

static inline uint64_t get_number(const uint8_t *from, unsigned count)
{
    uint64_t value = 0;
    while (count--)
        value = value * 256 + from[count];
    return value;
}

// "sum1 += w; sum2 += sum1" over words of 32 bits.
static inline void plain_sum(const uint8_t *bytes, size_t length, uint64_t *one, uint64_t *two)
{
    for (size_t i = 0; i + 4 <= length; i += 4) {
        *one += get_number(bytes + i, 4);
        *two += *one;
    }
}

// Adds a block; `a` and `b` are the numbers at 56 and 64. Returns its offset.
static inline size_t bytes_block(struct bytes *log, const struct extract_log_block *block,
                                 uint64_t a, uint64_t b, const void *payload)
{
    uint64_t one = 0, two = 0, ignored = 0, head_sum = 0;
    uint8_t *h = log->data + log->length;
    size_t at = log->length, size = HEAD + (block->length + 7u) / 8 * 8;
    assert_true(at + size <= sizeof log->data);
    memset(h, 0, size);
    memcpy(h, "RLBK", 4);
    put_number(h + 4, block->type, 2);
    put_number(h + 6, block->kind, 2);
    put_number(h + 8, block->flags, 4);
    put_number(h + 12, block->length, 4);
    put_number(h + 16, block->count, 4);
    put_number(h + 20, block->provisional, 4);
    put_number(h + 24, block->number, 8);
    put_number(h + 32, block->section, 8);
    put_number(h + 40, block->wall, 8);
    put_number(h + 48, block->first, 8);
    put_number(h + 56, a, 8);
    put_number(h + 64, b, 8);
    plain_sum(h, 72, &ignored, &head_sum);
    put_number(h + 72, head_sum, 8);
    memcpy(h + HEAD, payload, block->length);
    plain_sum(h, size, &one, &two);
    put_number(h + 80, one, 8);
    put_number(h + 88, two, 8);
    log->length += size;
    return at;
}

// A log of version 1 that is made here: sections begin where they must.
struct maker {
    struct bytes log;
    uint32_t section_bytes, policy, sections;
    uint64_t section, number, next;
};

static inline size_t make_block(struct maker *m, struct extract_log_block block, uint64_t a,
                                uint64_t b, const void *payload)
{
    block.number = m->number++;
    block.section = m->section;
    block.wall = block.wall ? block.wall : WALL + m->number;
    return bytes_block(&m->log, &block, a, b, payload);
}

static inline size_t make_section(struct maker *m)
{
    uint8_t p[SECTION_PAYLOAD_1] = "RINGSIDE";
    put_number(p + 8, 1, 4);
    put_number(p + 12, m->section_bytes, 4);
    put_number(p + 16, m->policy, 4);
    put_number(p + 24, m->sections * m->section_bytes, 8);
    put_number(p + 32, 77, 8);
    put_number(p + 40, m->sections, 4);
    strcpy((char *)p + 48, "by hand");
    if (m->log.length) {
        size_t start = (m->log.length + m->section_bytes - 1) / m->section_bytes * m->section_bytes;
        memset(m->log.data + m->log.length, 0, start - m->log.length);
        m->log.length = start;
        m->section++;
    }
    return make_block(
        m, (struct extract_log_block){.type = EXTRACT_LOG_SECTION, .length = sizeof p}, 0, 0, p);
}

static inline void make_begin(struct maker *m, uint32_t policy)
{
    m->log.length = 0;
    m->section = m->number = m->next = 0;
    m->section_bytes = 4096;
    m->policy = policy;
    m->sections = policy == EXTRACT_LOG_APPEND ? 0 : 4;
    make_section(m);
}

// Adds `count` entries of 8 bytes, each of which holds its number.
static inline size_t make_entries(struct maker *m, uint32_t count)
{
    uint8_t slots[4096];
    for (uint32_t i = 0; i < count; i++)
        put_number(slots + 8 * i, m->next + i, 8);
    struct extract_log_block block = {
        .type = EXTRACT_LOG_ENTRIES, .length = 8 * count, .count = count, .first = m->next};
    m->next += count;
    return make_block(m, block, 0, 0, slots);
}

static inline const char *make_file(const struct maker *m, const char *name)
{
    return scratch_write(name, m->log.data, m->log.length);
}

// ---- Reading back ----

static inline struct extract_log *open_log(const char *path)
{
    struct extract_log *log = NULL;
    struct extract_error error = {0};
    if (extract_log_open(&log, path, &error))
        fail_msg("%s: %s", error.what, error.why);
    return log;
}

// Reads the i-th block and its payload, which must be whole.
static inline struct extract_log_block read_whole(struct extract_log *log, size_t i, void *payload,
                                                  size_t size)
{
    struct extract_log_block block;
    assert_true(extract_log_block_at(log, i, &block));
    assert_true(block.length <= size);
    assert_int_equal(extract_log_read(log, &block, payload, NULL), EXTRACT_OK);
    return block;
}

// Checks that a block of ENTRIES is one that make_entries made.
static inline void check_entries(const struct extract_log_block *block, const uint8_t *payload)
{
    assert_int_equal(block->length, 8 * block->count);
    for (uint32_t i = 0; i < block->count; i++)
        assert_int_equal(get_number(payload + 8 * i, 8), block->first + i);
}

// Puts `count` entries of 8 bytes from number `first` on.
static inline enum extract_code put_entries(struct extract_log_writer *writer, uint64_t first,
                                            uint32_t count, struct extract_error *error)
{
    uint8_t *slots = malloc(8 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        put_number(slots + 8 * i, first + i, 8);
    struct extract_log_block block = {
        .type = EXTRACT_LOG_ENTRIES, .length = 8 * count, .count = count, .first = first};
    enum extract_code code = extract_log_put(writer, &block, slots, error);
    free(slots);
    return code;
}

static inline struct extract_log_writer *create_log(const char *path,
                                                    enum extract_log_policy policy, uint64_t limit)
{
    struct extract_log_options options = {.size = sizeof options, .policy = policy, .limit = limit};
    struct extract_log_writer *writer = NULL;
    struct extract_error error = {0};
    if (extract_log_create(&writer, path, &options, &error))
        fail_msg("%s: %s", error.what, error.why);
    return writer;
}

// Checks that the code is `code`, and that the error's text contains `what` and `why`.
static inline void assert_error(enum extract_code got, enum extract_code code,
                                const struct extract_error *error, const char *what,
                                const char *why)
{
    assert_int_equal(got, code);
    assert_int_equal(error->code, code);
    if (!strstr(error->what, what) || !strstr(error->why, why))
        fail_msg("\"%s: %s\" has no \"%s\" or \"%s\"", error->what, error->why, what, why);
}

#endif
