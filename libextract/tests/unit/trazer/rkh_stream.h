// SPDX-License-Identifier: MIT
// tests: RKH streams. A test passes ids and arguments, and the functions make a file of frames by
// docs/formats/rkh.md, "Frames". Further functions return what a command prints for it.
#ifndef TESTS_RKH_STREAM_H
#define TESTS_RKH_STREAM_H

#include "tests/unit/scratch.h"
#include <extract/session.h>

enum { STREAM_ROOM = 1 << 16, FRAME_ROOM = 1024, TCFG = 172 };

struct stream {
    uint8_t bytes[STREAM_ROOM];
    size_t used;
    unsigned nseq, ts; // their bytes, which the records must state
    bool chk;
    uint8_t next;
    uint32_t stamp; // timestamp of the next frame
    uint8_t tcfg;   // id of the record without number and timestamp
};

static inline void stream_init(struct stream *s, unsigned nseq, unsigned ts, bool chk)
{
    *s = (struct stream){
        .bytes[0] = 0x7E, .used = 1, .nseq = nseq, .ts = ts, .chk = chk, .tcfg = TCFG};
}

static inline void stream_raw(struct stream *s, uint8_t byte)
{
    assert_true(s->used < STREAM_ROOM);
    s->bytes[s->used++] = byte;
}

static inline void stream_stuffed(struct stream *s, uint8_t byte)
{
    if (byte == 0x7E || byte == 0x7D) {
        stream_raw(s, 0x7D);
        byte ^= 0x20;
    }
    stream_raw(s, byte);
}

// Converts "28 0B00 'text'": bytes in hexadecimal, and texts, which get a NUL.
static inline size_t stream_read(const char *words, uint8_t bytes[static FRAME_ROOM])
{
    size_t used = 0;
    while (*words) {
        assert_true(used < FRAME_ROOM - 64);
        if (*words == '\'') {
            size_t length = strcspn(++words, "'");
            memcpy(bytes + used, words, length);
            used += length;
            bytes[used++] = 0;
            words += length + 1;
        } else if (*words == ' ') {
            words++;
        } else {
            unsigned byte;
            assert_int_equal(sscanf(words, "%2x", &byte), 1);
            bytes[used++] = (uint8_t)byte;
            words += 2;
        }
    }
    return used;
}

static inline void stream_put(struct stream *s, uint8_t id, const char *words)
{
    uint8_t bytes[FRAME_ROOM], sum = 0;
    size_t head = 1, length;
    bytes[0] = id;
    if (id != s->tcfg && s->nseq)
        bytes[head++] = s->next++;
    for (unsigned i = 0; id != s->tcfg && i < s->ts; i++)
        bytes[head++] = (uint8_t)(s->stamp >> 8 * i);
    uint8_t arguments[FRAME_ROOM];
    length = stream_read(words, arguments);
    memcpy(bytes + head, arguments, length);
    length += head;
    for (size_t i = 0; i < length; i++) {
        stream_stuffed(s, bytes[i]);
        sum = (uint8_t)(sum + bytes[i]);
    }
    if (s->chk)
        stream_stuffed(s, (uint8_t)-sum);
    stream_raw(s, 0x7E);
    s->stamp += 10;
}

// The configuration record of a stream of 3.4.00. All options are on, addresses and timestamps have
// 32 bits, and there are 1000 ticks per second.
static const char all_on[] = "0034 FFFF0300 14 42 11 02 14 E803";

static inline void stream_begin(struct stream *s)
{
    stream_init(s, 1, 4, true);
    stream_put(s, TCFG, all_on);
}

// Runs a command on "stream.bin".
static inline enum extract_code stream_run(const char *verb,
                                           const struct extract_session_options *options,
                                           struct extract_text *text)
{
    struct extract_memory *memory = NULL;
    struct extract_session *session = NULL;
    struct extract_error error = {0};
    enum extract_code code = extract_rkh_stream_open(&memory, scratch_path("stream.bin"), &error);
    if (!code)
        code = extract_session_open(&session, memory, NULL, options, &error);
    if (!code)
        code = extract_session_run(session, verb, text, &error);
    extract_session_close(session);
    extract_memory_close(memory);
    return code;
}

// Returns what a command prints for the stream, with a terminating NUL. Free it with
// extract_text_free.
static inline struct extract_text stream_answer(const struct stream *s, const char *verb,
                                                const struct extract_session_options *options)
{
    struct extract_text text;
    scratch_write("stream.bin", s->bytes, s->used);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(stream_run(verb, options, &text), EXTRACT_OK);
    extract_text_putc(&text, 0);
    assert_int_equal(text.code, EXTRACT_OK);
    return text;
}

static inline struct extract_text stream_say(const struct stream *s, const char *verb, bool trazer,
                                             bool json)
{
    struct extract_columns columns;
    extract_columns_init(&columns, false);
    columns.trazer = trazer;
    struct extract_session_options options = {.size = sizeof options,
                                              .format = "rkh",
                                              .columns = &columns,
                                              .no_header = true,
                                              .json = json};
    return stream_answer(s, verb, &options);
}

// Asserts that the text contains each of the pieces. NULL ends their list.
static inline void assert_pieces(const char *text, const char *const *pieces)
{
    for (; *pieces; pieces++)
        if (!strstr(text, *pieces))
            fail_msg("%s\nis not in\n%s", *pieces, text);
}

// Copies the line that starts at `at` to `line`, without its end. Returns the start of the next
// one.
static inline const char *stream_line(const char *at, char line[static FRAME_ROOM])
{
    size_t length = strcspn(at, "\n");
    assert_true(length < FRAME_ROOM);
    memcpy(line, at, length);
    line[length] = 0;
    return at + length + (at[length] == '\n');
}

#endif
