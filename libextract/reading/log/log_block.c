// SPDX-License-Identifier: MIT
// log: encodes and decodes block headers, and the payloads of SECTION and STATUS blocks, which the
// log itself defines. Bytes to decode are untrusted. docs/formats/log.md specifies the layout.
#include "log/log_block.h"
#include "base/cursor.h"
#include "formats/format.h"

enum {
    AT_HEAD_SUM = 72,
    AT_SUMS = 80,
    AT_COMPRESSION = 44, // in SECTION
    NUMBERS = LOG_STATUS_PAYLOAD / 8
};

_Static_assert(LOG_MAX_RING == LOG_RING_PAYLOAD + EXTRACT_DESCRIPTION_MAX, "a RING holds any");

// ---- Heads ----

static uint64_t head_sum(const uint8_t head[LOG_HEAD])
{
    struct log_sums sums = {0, 0};

    extract_log_sum(&sums, head, AT_HEAD_SUM);
    return sums.two;
}

// Finds the two members whose meaning depends on the type.
static void find_numbers(struct extract_log_block *b, uint64_t *numbers[2])
{
    bool repeated = extract_log_repeated(b->type) < LOG_REPEATED;
    bool value = repeated || b->type == EXTRACT_LOG_MARK;
    bool loss = b->type == EXTRACT_LOG_LOSS;

    numbers[0] = loss ? &b->lost : value ? &b->value : &b->first_stamp;
    numbers[1] = loss ? &b->modulo : repeated ? &b->copy_distance : &b->last_stamp;
}

// Returns the flags to store. For a LOSS, they follow from `modulo`.
static uint32_t flags_of(const struct extract_log_block *b)
{
    if (b->type != EXTRACT_LOG_LOSS)
        return b->flags;
    return (b->flags & EXTRACT_LOG_LOSS_HELD) |
           (b->modulo ? EXTRACT_LOG_LOSS_AT_LEAST : EXTRACT_LOG_LOSS_EXACT);
}

void extract_log_encode(uint8_t head[LOG_HEAD], const struct extract_log_block *block)
{
    struct extract_log_block copy = *block, *b = &copy;
    uint64_t *numbers[2];

    find_numbers(b, numbers);
    memset(head, 0, LOG_HEAD);
    memcpy(head, LOG_MAGIC, 4);
    extract_log_store(head + 4, b->type, 2);
    extract_log_store(head + 6, b->kind, 2);
    extract_log_store(head + 8, flags_of(b), 4);
    extract_log_store(head + 12, b->length, 4);
    extract_log_store(head + 16, b->count, 4);
    extract_log_store(head + 20, b->provisional, 4);
    extract_log_store(head + 24, b->number, 8);
    extract_log_store(head + 32, b->section, 8);
    extract_log_store(head + 40, b->wall, 8);
    extract_log_store(head + 48, b->first, 8);
    extract_log_store(head + 56, *numbers[0], 8);
    extract_log_store(head + 64, *numbers[1], 8);
    extract_log_store(head + AT_HEAD_SUM, head_sum(head), 8);
}

void extract_log_seal(uint8_t head[LOG_HEAD], const void *payload, const uint8_t tail[8],
                      uint32_t length)
{
    struct log_sums sums = extract_log_sum_head(head);

    if (length >= 8)
        extract_log_sum(&sums, payload, length / 8 * 8);
    if (length % 8)
        extract_log_sum(&sums, tail, 8);
    extract_log_store(head + AT_SUMS, sums.one, 8);
    extract_log_store(head + AT_SUMS + 8, sums.two, 8);
}

// Converts a LOSS of version 1. It stored an estimate, of which only the remainder modulo `modulo`
// is certain; or nothing is certain.
static void adjust_loss(struct extract_log_block *b)
{
    b->numbers = b->lost;
    b->modulo = b->modulo ? b->modulo : EXTRACT_LOG_ANY_MORE;
    if (b->flags & EXTRACT_LOG_LOSS_EXACT)
        b->modulo = 0;
    else if (!(b->flags & EXTRACT_LOG_LOSS_AT_LEAST))
        b->lost = b->flags & EXTRACT_LOG_LOSS_ABOUT ? b->lost % b->modulo : 0;
}

// Returns whether the counts of a header are plausible. Numbers count up from 0, so none comes near
// the end of its range.
static bool counts_fit(const struct extract_log_block *b)
{
    if (!b->type || b->number > INT64_MAX || b->section > INT64_MAX)
        return false;
    if (b->type == EXTRACT_LOG_BYTES)
        return b->count <= b->length && b->first + b->count >= b->first;
    return b->type != EXTRACT_LOG_ENTRIES ||
           (b->count && b->length && b->length % b->count == 0 && b->provisional <= b->count &&
            b->first + b->count >= b->first);
}

bool extract_log_decode(struct extract_log_block *b, const uint8_t head[LOG_HEAD])
{
    struct extract_cursor c = extract_cursor_make(head, LOG_HEAD, EXTRACT_LITTLE);
    const uint8_t *magic = extract_cursor_span(&c, 4);
    uint64_t *numbers[2];

    memset(b, 0, sizeof *b);
    if (!magic || memcmp(magic, LOG_MAGIC, 4) != 0)
        return false;
    b->type = extract_cursor_u16(&c);
    b->kind = extract_cursor_u16(&c);
    b->flags = extract_cursor_u32(&c);
    b->length = extract_cursor_u32(&c);
    b->count = extract_cursor_u32(&c);
    b->provisional = extract_cursor_u32(&c);
    b->number = extract_cursor_u64(&c);
    b->section = extract_cursor_u64(&c);
    b->wall = extract_cursor_u64(&c);
    b->first = extract_cursor_u64(&c);
    find_numbers(b, numbers);
    *numbers[0] = extract_cursor_u64(&c);
    *numbers[1] = extract_cursor_u64(&c);
    if (b->type == EXTRACT_LOG_LOSS)
        adjust_loss(b);
    uint64_t sum = extract_cursor_u64(&c);
    return (!sum || sum == head_sum(head)) && counts_fit(b);
}

struct log_sums extract_log_sum_head(const uint8_t head[LOG_HEAD])
{
    static const uint8_t zeros[LOG_HEAD - AT_SUMS];
    struct log_sums sums = {0, 0};
    extract_log_sum(&sums, head, AT_SUMS);
    extract_log_sum(&sums, zeros, sizeof zeros);
    return sums;
}

bool extract_log_sums_are(const struct log_sums *sums, const uint8_t head[LOG_HEAD])
{
    struct extract_cursor c =
        extract_cursor_make(head + AT_SUMS, LOG_HEAD - AT_SUMS, EXTRACT_LITTLE);
    uint64_t one = extract_cursor_u64(&c);

    return one == sums->one && extract_cursor_u64(&c) == sums->two;
}

// ---- SECTION ----

void extract_log_settings_encode(uint8_t p[LOG_SECTION_PAYLOAD],
                                 const struct log_settings *settings)
{
    memset(p, 0, LOG_SECTION_PAYLOAD);
    memcpy(p, LOG_NAME, 8);
    extract_log_store(p + 8, settings->version, 4);
    extract_log_store(p + 12, settings->section_bytes, 4);
    extract_log_store(p + 16, settings->policy, 4);
    extract_log_store(p + 20, settings->byte_order, 4);
    extract_log_store(p + 24, settings->limit, 8);
    extract_log_store(p + 32, settings->created, 8);
    extract_log_store(p + 40, settings->sections, 4);
    extract_log_store(p + AT_COMPRESSION, settings->compression, 4);
    memcpy(p + 48, settings->creator, strnlen(settings->creator, LOG_CREATOR));
}

static bool settings_are_valid(const struct log_settings *settings)
{
    return settings->section_bytes >= LOG_SECTION_STEP &&
           settings->section_bytes <= LOG_MAX_SECTION &&
           settings->section_bytes % LOG_SECTION_STEP == 0 &&
           (unsigned)settings->policy <= EXTRACT_LOG_APPEND &&
           (unsigned)settings->byte_order <= EXTRACT_BIG &&
           (settings->sections != 0) == (settings->policy != EXTRACT_LOG_APPEND);
}

bool extract_log_settings_decode(struct log_settings *settings, const uint8_t *payload,
                                 size_t length)
{
    struct extract_cursor c = extract_cursor_make(payload, length, EXTRACT_LITTLE);
    const uint8_t *name = extract_cursor_span(&c, 8);

    memset(settings, 0, sizeof *settings);
    settings->version = extract_cursor_u32(&c);
    if (c.failed || memcmp(name, LOG_NAME, 8) != 0 || settings->version < LOG_VERSION_LEAST)
        return false;
    if (settings->version > LOG_VERSION)
        return true;
    settings->section_bytes = extract_cursor_u32(&c);
    settings->policy = (enum extract_log_policy)extract_cursor_u32(&c);
    settings->byte_order = (enum extract_byte_order)extract_cursor_u32(&c);
    settings->limit = extract_cursor_u64(&c);
    settings->created = extract_cursor_u64(&c);
    settings->sections = extract_cursor_u32(&c);
    settings->compression = extract_cursor_u32(&c);
    const uint8_t *creator = extract_cursor_span(&c, LOG_CREATOR);
    if (settings->version == 1) // which did not define that number
        settings->compression = 0;
    else
        extract_cursor_u64(&c); // the index, which a reader can do without
    if (c.failed)
        return false;
    memcpy(settings->creator, creator, LOG_CREATOR);
    return settings_are_valid(settings);
}

// Returns whether a file is a log. Either signature is enough: a log whose first block is damaged
// is still a log.
bool extract_log_is(const uint8_t *bytes, size_t length)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    const uint8_t *head = extract_cursor_span(&c, LOG_HEAD);
    const uint8_t *name = extract_cursor_span(&c, 8);

    return head && name && (memcmp(head, LOG_MAGIC, 4) == 0 || memcmp(name, LOG_NAME, 8) == 0);
}

// ---- STATUS ----

void extract_log_totals_encode(uint8_t payload[LOG_STATUS_PAYLOAD],
                               const struct extract_log_totals *t)
{
    const uint64_t numbers[NUMBERS] = {t->entries, t->lost,  t->lost_exact, t->polls,
                                       t->reads,   t->bytes, t->failed,     t->resets};

    for (size_t i = 0; i < NUMBERS; i++)
        extract_log_store(payload + 8 * i, numbers[i], 8);
}

bool extract_log_totals_decode(struct extract_log_totals *t, const uint8_t *payload, size_t length)
{
    struct extract_cursor c = extract_cursor_make(payload, length, EXTRACT_LITTLE);

    t->entries = extract_cursor_u64(&c);
    t->lost = extract_cursor_u64(&c);
    t->lost_exact = extract_cursor_u64(&c) != 0;
    t->polls = extract_cursor_u64(&c);
    t->reads = extract_cursor_u64(&c);
    t->bytes = extract_cursor_u64(&c);
    t->failed = extract_cursor_u64(&c);
    t->resets = extract_cursor_u64(&c);
    return !c.failed;
}
