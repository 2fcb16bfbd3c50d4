// SPDX-License-Identifier: MIT
// tests: see rkh_builder.h.
#include "tests/unit/rkh/rkh_builder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

void rkh_raw(struct rkh_bytes *stream, const void *bytes, size_t length)
{
    assert_true(length <= sizeof stream->bytes - stream->length);
    memcpy(stream->bytes + stream->length, bytes, length);
    stream->length += length;
}

void rkh_begin(struct rkh_bytes *stream, bool chk)
{
    stream->length = 0;
    stream->chk = chk;
    rkh_raw(stream, "\x7e", 1);
}

static void put_stuffed(struct rkh_bytes *stream, uint8_t byte)
{
    uint8_t pair[2] = {0x7D, byte ^ 0x20};
    if (byte == 0x7E || byte == 0x7D)
        rkh_raw(stream, pair, 2);
    else
        rkh_raw(stream, &byte, 1);
}

void rkh_frame_of(struct rkh_bytes *stream, const uint8_t *bytes, size_t length)
{
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++) {
        put_stuffed(stream, bytes[i]);
        sum += bytes[i];
    }
    if (stream->chk)
        put_stuffed(stream, (uint8_t)(256 - sum % 256));
    rkh_raw(stream, "\x7e", 1);
}

void rkh_hex(struct rkh_bytes *stream, const char *hex)
{
    uint8_t bytes[256];
    size_t length = 0;
    while (*hex) {
        char pair[3] = {hex[0], hex[1], 0};
        if (*hex == '"') {
            for (hex++; *hex != '"'; hex++)
                bytes[length++] = (uint8_t)*hex;
            hex++;
        } else if (*hex == ' ') {
            hex++;
        } else {
            bytes[length++] = (uint8_t)strtoul(pair, NULL, 16);
            hex += 2;
        }
    }
    rkh_frame_of(stream, bytes, length);
}

static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

// Each shape has the id, then one letter per argument: p is an address, s a signal, b a byte.
static const char *const mix_shapes[] = {"\x62ppp", "\x63pp", "\x69p", "\x71psp", "\x48ps",
                                         "\x66pbb", "\x6aps", "\x24p", "\x65pp",  "\x83psp"};

void rkh_mixed(struct rkh_bytes *stream, const struct rkh_mix *mix, unsigned frames)
{
    for (unsigned i = 0; i < frames; i++) {
        const char *shape = mix_shapes[i % (sizeof mix_shapes / sizeof *mix_shapes)];
        uint8_t bytes[64], *to = bytes;
        *to++ = (uint8_t)*shape;
        if (mix->seq >= 0)
            *to++ = (uint8_t)(mix->seq + (int)i);
        to = put_number(to, 1000 + UINT64_C(37) * i, mix->ts);
        for (const char *at = shape + 1; *at; at++)
            to = *at == 'b'   ? put_number(to, i, 1)
                 : *at == 's' ? put_number(to, i % 9, mix->sig)
                              : put_number(to, 0x20000000 + 24 * (i % 50), mix->ptr);
        rkh_frame_of(stream, bytes, (size_t)(to - bytes));
    }
}

static void find(struct extract_symbols *symbols, const char *name, uint64_t *address)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    *address = symbol.address;
}

bool rkh_places_read(struct rkh_places *places, const char *elf)
{
    if (extract_symbols_open(&places->symbols, elf, NULL))
        return false;
    find(places->symbols, "trcstm", &places->array);
    find(places->symbols, "trcin", &places->in_at);
    find(places->symbols, "trcout", &places->out_at);
    find(places->symbols, "trcqty", &places->qty_at);
    find(places->symbols, "chk", &places->chk_at);
    return true;
}

bool rkh_byte_of(uint64_t at, uint64_t value, unsigned size, uint64_t address, uint8_t *byte)
{
    if (address < at || address >= at + size)
        return false;
    *byte = (uint8_t)(value >> 8 * (address - at));
    return true;
}

enum extract_code rkh_look(struct look *look, const char *path, const char *words,
                           struct extract_error *error)
{
    struct extract_rkh rkh = {0};
    struct extract_ring_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};
    memset(look, 0, sizeof *look);
    enum extract_code code = extract_rkh_parse(&rkh, words, error);
    if (!code)
        code = extract_rkh_stream_open(&look->memory, path, error);
    if (!code)
        code = extract_ring_find(&look->ring, look->memory, NULL, &options, error);
    if (!code)
        code = extract_snapshot_take(&look->snapshot, look->memory, &look->ring, error);
    if (!code)
        code = extract_trace_open(&look->trace, &look->snapshot, NULL, error);
    if (code)
        look_close(look);
    return code;
}

const struct extract_event *rkh_events(const struct look *look, size_t *count)
{
    static struct extract_event events[RKH_MAX_EVENTS];
    struct extract_reader reader;
    size_t got;
    extract_reader_init(&reader, look->trace);
    for (*count = 0; (got = extract_reader_next(&reader, events + *count, 64)); *count += got)
        assert_true(*count < RKH_MAX_EVENTS - 128);
    return events;
}
