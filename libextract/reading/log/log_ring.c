// SPDX-License-Identifier: MIT
// log: encodes and decodes the payloads of RING, OBJECTS, ATTRIBUTES and NAMES blocks. Payloads are
// untrusted. A ring is decoded by its own format: its read_header reads a memory that contains only
// the header from the payload.
#include "base/cursor.h"
#include "formats/format.h"
#include "log/log_block.h"
#include <stdio.h>

uint32_t extract_log_ring_encode(uint8_t p[LOG_MAX_RING], const struct extract_ring *ring)
{
    const char *name = extract_ring_format(ring);
    const struct extract_stream *stream = ring->format->stream;
    uint8_t header[EXTRACT_DESCRIPTION_MAX];
    uint32_t bytes =
        ring->header_bytes < EXTRACT_HEADER_MAX ? ring->header_bytes : EXTRACT_HEADER_MAX;
    uint32_t described_bytes = stream ? stream->describe(ring, header) : 0;

    if (described_bytes)
        bytes = described_bytes;
    else
        memcpy(header, ring->header, bytes);
    memset(p, 0, LOG_RING_PAYLOAD);
    memcpy(p, name, strnlen(name, LOG_FORMAT_NAME));
    extract_log_store(p + 16, ring->address, 8);
    extract_log_store(p + 24, ring->current_symbol, 8);
    extract_log_store(p + 32, ring->near, 8);
    extract_log_store(p + 40, bytes, 4);
    extract_log_store(p + 44, ring->byte_order, 4);
    extract_log_store(p + 48, ring->word_bytes, 4);
    extract_log_store(p + 52, ring->pointer_bytes, 4);
    memcpy(p + LOG_RING_PAYLOAD, header, bytes);
    return LOG_RING_PAYLOAD + bytes;
}

uint16_t extract_log_ring_key(const void *payload, size_t length)
{
    struct log_sums sums = {0, 0};
    uint8_t tail[8] = {0};
    size_t whole = length / 8 * 8;

    if (length > whole)
        memcpy(tail, (const uint8_t *)payload + whole, length - whole);
    extract_log_sum(&sums, payload, whole);
    extract_log_sum(&sums, tail, length > whole ? sizeof tail : 0);
    uint16_t key = (uint16_t)(sums.two ^ sums.two >> 16 ^ sums.two >> 32 ^ sums.two >> 48);
    return key ? key : 1;
}

struct ring_description {
    char format[LOG_FORMAT_NAME + 1];
    uint64_t address, pointer, near;
    uint32_t header_bytes, byte_order, word_bytes, pointer_bytes;
    const uint8_t *header;
};

static enum extract_code bad(struct extract_error *error, const char *why)
{
    return extract_error_set(error, EXTRACT_BAD, "RING block of the log",
                             "check which program wrote the log", "%s", why);
}

static bool read_description(struct ring_description *described, const void *payload, size_t length)
{
    struct extract_cursor c = extract_cursor_make(payload, length, EXTRACT_LITTLE);
    const uint8_t *format = extract_cursor_span(&c, LOG_FORMAT_NAME);

    described->address = extract_cursor_u64(&c);
    described->pointer = extract_cursor_u64(&c);
    described->near = extract_cursor_u64(&c);
    described->header_bytes = extract_cursor_u32(&c);
    described->byte_order = extract_cursor_u32(&c);
    described->word_bytes = extract_cursor_u32(&c);
    described->pointer_bytes = extract_cursor_u32(&c);
    described->header = extract_cursor_span(&c, described->header_bytes);
    if (c.failed)
        return false;
    memcpy(described->format, format, LOG_FORMAT_NAME);
    described->format[LOG_FORMAT_NAME] = 0;
    return described->header_bytes && described->pointer_bytes <= 8;
}

// Lets the format find the ring in the described header.
static enum extract_code find(struct extract_ring *ring, const struct ring_description *described,
                              struct extract_error *error)
{
    struct extract_memory *memory;
    struct extract_ring_options options = {.size = sizeof options,
                                           .format = described->format,
                                           .address_known = true,
                                           .address = described->address};
    enum extract_code code = extract_memory_new_images(&memory, error);

    if (code)
        return code;
    code = extract_memory_add_bytes(memory, "log", described->header, described->header_bytes,
                                    described->address, error);
    if (!code)
        code = extract_ring_find(ring, memory, NULL, &options, error);
    ring->missing_start = ring->missing_end = 0; // the entries are in other blocks
    extract_memory_close(memory);
    return code;
}

enum extract_code extract_log_ring(struct extract_ring *ring, const void *payload, size_t length,
                                   struct extract_error *error)
{
    struct ring_description described;

    if (!read_description(&described, payload, length))
        return bad(error, "too short for the lengths that it contains");
    const struct extract_format *format = extract_format_by_name(described.format);
    bool stream = format && extract_stream_is_recorded(format->stream);
    if (!format || (!format->slots && !stream)) // rings of such a format cannot be recorded
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "the log's ring",
                                 "use a later version of Ringside", "unknown format \"%s\"",
                                 described.format);
    enum extract_code code = find(ring, &described, error);
    if (code == EXTRACT_NOMEM || code == EXTRACT_BAD)
        return code;
    if (code)
        return bad(error, "header is truncated");
    if (ring->byte_order != described.byte_order || ring->word_bytes != described.word_bytes ||
        (!stream && ring->header_bytes != described.header_bytes))
        return bad(error, "header contradicts the byte order, word size or length of the block");
    ring->origin = EXTRACT_FROM_FILE;
    ring->current_symbol = described.pointer;
    ring->near = described.near;
    ring->pointer_bytes = (uint8_t)described.pointer_bytes;
    return EXTRACT_OK;
}

enum extract_code extract_log_objects(uint64_t *address, const uint8_t **bytes, size_t *length,
                                      const void *payload, size_t payload_length,
                                      struct extract_error *error)
{
    struct extract_cursor c = extract_cursor_make(payload, payload_length, EXTRACT_LITTLE);

    *address = extract_cursor_u64(&c);
    if (c.failed)
        return extract_error_set(error, EXTRACT_BAD, "OBJECTS block of the log", NULL,
                                 "too short for an address");
    *length = extract_cursor_left(&c);
    *bytes = extract_cursor_span(&c, *length);
    return EXTRACT_OK;
}

// Source: docs/formats/log.md, "ATTRIBUTES".
bool extract_log_ending(struct extract_log_ending *ending, const void *payload, size_t length)
{
    enum { VERSION = 1, AT_FINAL = 12, AT_STATUS = 36 };
    struct extract_cursor c = extract_cursor_make(payload, length, EXTRACT_LITTLE);
    bool known = extract_cursor_u32(&c) == VERSION;

    extract_cursor_seek(&c, AT_FINAL);
    known &= extract_cursor_u32(&c) & 1;
    extract_cursor_seek(&c, AT_STATUS);
    ending->running = extract_cursor_u32(&c);
    ending->full = extract_cursor_u32(&c);
    ending->overrun = extract_cursor_u32(&c);
    ending->flushing = extract_cursor_u32(&c);
    ending->flush_error = extract_cursor_u32(&c);
    ending->log_overrun = extract_cursor_u32(&c);
    ending->log_full = extract_cursor_u32(&c);
    return known && !c.failed;
}

enum extract_code extract_log_names(struct extract_log_names *names, const void *payload,
                                    size_t length, struct extract_error *error)
{
    struct extract_cursor c = extract_cursor_make(payload, length, EXTRACT_LITTLE);

    names->slot_bytes = extract_cursor_u32(&c);
    names->first = extract_cursor_u32(&c);
    size_t left = extract_cursor_left(&c);
    names->bytes = extract_cursor_span(&c, left);
    if (c.failed || !names->slot_bytes || left % names->slot_bytes || left > UINT32_MAX)
        return extract_error_set(error, EXTRACT_BAD, "NAMES block of the log", NULL,
                                 "not a whole number of names");
    names->count = (uint32_t)(left / names->slot_bytes);
    return EXTRACT_OK;
}
