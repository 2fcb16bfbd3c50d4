// SPDX-License-Identifier: MIT
// unit: reports of RKH streams that arrive in pieces.
//
// Truth: the same stream, read as one file, and counts by hand.
#include "tests/unit/trazer/rkh_stream.h"
#include <stdlib.h>

// TCFG of 3.4.00 with all switches on. The bytes give the sizes of timestamps, addresses and so on.
#define TCFG_1BYTE  "0034 FFFF0300 11 42 11 02 14 E803"
#define TCFG_4BYTES "0034 FFFF0300 14 42 11 02 14 E803"
// TCFG with addresses of 2 bytes, and without sender, checksum and low-water marks.
#define TCFG_SHORT "0034 FEE70100 11 22 11 01 14 E803"

enum { AO = 174, SIG = 167, PROCESSED = 105, EXE_ACT = 112, TRN = 98, USER_3 = 195 };

struct report {
    struct extract_running *running;
    struct extract_text text;
    struct extract_columns columns;
    struct extract_error error;
    enum extract_code code;
};

static void report_open(struct report *r, const char *words)
{
    static struct extract_rkh rkh;
    extract_columns_init(&r->columns, false);
    r->columns.trazer = true;
    rkh = (struct extract_rkh){0};
    if (*words)
        assert_int_equal(extract_rkh_parse(&rkh, words, NULL), EXTRACT_OK);
    struct extract_session_options options = {.size = sizeof options,
                                              .columns = &r->columns,
                                              .no_header = true,
                                              .rkh = *words ? &rkh : NULL};
    extract_text_init(&r->text, NULL, NULL);
    r->code = extract_running_open(&r->running, "test", &options, NULL, &r->error);
    assert_int_equal(r->code, EXTRACT_OK);
}

static void report_take(struct report *r, const uint8_t *bytes, size_t length)
{
    r->code = extract_running_take(r->running, bytes, length, &r->text, &r->error);
    assert_int_equal(r->code, EXTRACT_OK);
}

static void report_break(struct report *r)
{
    r->code = extract_running_break(r->running, &r->text, &r->error);
    assert_int_equal(r->code, EXTRACT_OK);
}

static struct extract_running_status report_close(struct report *r)
{
    r->code = extract_running_end(r->running, &r->text, &r->error);
    struct extract_running_status status = extract_running_status(r->running);
    extract_running_close(r->running);
    extract_text_putc(&r->text, 0);
    assert_int_equal(r->text.code, EXTRACT_OK);
    return status;
}

// Frames of the first run have numbers and those of the second have none, so the total loss is
// unknown. The rate in the first record is the part of 1000000 that fits into 16 bits.
static void what_one_run_lacks(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    stream_init(&s, 1, 4, true);
    stream_put(&s, TCFG, "0034 FFFF0300 14 42 11 02 14 4042");
    stream_put(&s, PROCESSED, "00000020");
    s.nseq = s.ts = 0;
    stream_put(&s, TCFG, "0034 FF7F0200 14 42 11 02 14 E803");
    stream_put(&s, PROCESSED, "00000020");
    s.nseq = 1;
    s.ts = 4;
    s.next = 0;
    stream_put(&s, TCFG, TCFG_4BYTES);
    stream_put(&s, PROCESSED, "00000020");
    for (unsigned step = 1; step < s.used; step++) {
        report_open(&r, "");
        for (size_t at = 0; at < s.used; at += step)
            report_take(&r, s.bytes + at, s.used - at < step ? s.used - at : step);
        const char *rates = extract_running_status(r.running).rates;
        assert_non_null(rates);
        assert_non_null(strstr(rates, "use --hz 1000000, or --hz 16960 if that is the rate\n"));
        struct extract_running_status status = report_close(&r);
        assert_int_equal(status.good, 6);
        assert_int_equal(status.lost, 0);
        assert_false(status.lost_known);
        extract_text_free(&r.text);
    }
}

// Writes the stream of a target that starts, names objects, works, and starts again with another
// layout.
static void two_runs(struct stream *s)
{
    stream_init(s, 1, 1, true);
    stream_put(s, TCFG, TCFG_1BYTE);
    stream_put(s, AO, "7E7D0020 'server'");
    stream_put(s, SIG, "05 'PAUSE'");
    stream_put(s, PROCESSED, "7E7D0020");
    stream_put(s, TRN, "7E7D0020 00010020 00000000");
    s->next += 3; // three are lost
    stream_put(s, PROCESSED, "7E7D0020");
    stream_raw(s, PROCESSED); // torn
    stream_raw(s, 0x7E);
    s->next++;
    stream_put(s, PROCESSED, "7E7D0020");
    s->ts = 4;
    s->next = 0;
    stream_put(s, TCFG, TCFG_4BYTES);
    stream_put(s, PROCESSED, "7E7D0020"); // the name is no longer valid
    stream_put(s, USER_3, "07 'text' 0B 05");
    stream_put(s, AO, "7E7D0020 'client'");
    stream_put(s, PROCESSED, "7E7D0020");
}

static void check_status(const struct extract_running_status *status, const struct stream *s)
{
    assert_int_equal(status->bytes, s->used);
    assert_int_equal(status->good, 12);
    assert_int_equal(status->checksum, 1);
    assert_int_equal(status->torn + status->length + status->id, 0);
    assert_int_equal(status->lost, 3);
    assert_true(status->lost_known && status->resolved && !status->whole);
    assert_int_equal(status->partial, 0);
}

static void pieces_read_as_the_whole(void **state)
{
    static struct stream s;
    (void)state;
    two_runs(&s);
    struct extract_text whole = stream_say(&s, "report", true, false);
    for (size_t split = 0; split <= s.used; split++) {
        struct report r;
        report_open(&r, "");
        report_take(&r, s.bytes, split);
        report_take(&r, s.bytes + split, s.used - split);
        struct extract_running_status status = report_close(&r);
        assert_int_equal(r.code, EXTRACT_OK);
        assert_string_equal(r.text.data, whole.data);
        check_status(&status, &s);
        extract_text_free(&r.text);
    }
    extract_text_free(&whole);
}

static void bytes_read_as_the_whole(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    two_runs(&s);
    struct extract_text whole = stream_say(&s, "report", true, false);
    report_open(&r, "");
    for (size_t i = 0; i < s.used; i++)
        report_take(&r, s.bytes + i, 1);
    struct extract_running_status status = report_close(&r);
    assert_string_equal(r.text.data, whole.data);
    check_status(&status, &s);
    extract_text_free(&r.text);
    extract_text_free(&whole);
}

static void lines_come_with_their_frames(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    stream_init(&s, 1, 1, true);
    stream_put(&s, TCFG, TCFG_1BYTE);
    report_open(&r, "");
    report_take(&r, s.bytes, s.used);
    for (unsigned i = 0; i < 600; i++) {
        size_t from = s.used, before = r.text.used;
        s.used = from < STREAM_ROOM / 2 ? from : 1;
        from = s.used;
        stream_put(&s, PROCESSED, "10000020");
        report_take(&r, s.bytes + from, s.used - from - 1);
        assert_int_equal(r.text.used, before);
        report_take(&r, s.bytes + s.used - 1, 1);
        assert_true(r.text.used > before);
    }
    struct extract_running_status status = report_close(&r);
    assert_int_equal(status.good, 601);
    assert_true(status.whole);
    extract_text_free(&r.text);
}

// The source disappears in the middle of a frame, whose number is then missing once. Trazer's text
// has a line for it.
static void a_break_tears_a_frame(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    stream_init(&s, 1, 1, true);
    stream_put(&s, TCFG, TCFG_1BYTE);
    stream_put(&s, PROCESSED, "10000020");
    report_open(&r, "");
    report_take(&r, s.bytes, s.used);
    size_t from = s.used;
    stream_put(&s, PROCESSED, "10000020");
    report_take(&r, s.bytes + from, 4);
    report_break(&r);
    report_break(&r);
    const char *line = "Stream Checksum Error\n";
    assert_memory_equal(r.text.data + r.text.used - strlen(line), line, strlen(line));
    from = s.used;
    stream_put(&s, PROCESSED, "10000020");
    report_take(&r, s.bytes + from, s.used - from);
    report_break(&r);
    s.next++;
    from = s.used;
    stream_put(&s, PROCESSED, "10000020");
    report_take(&r, s.bytes + from + 3, s.used - from - 3); // without its first bytes
    from = s.used;
    stream_put(&s, PROCESSED, "10000020");
    report_take(&r, s.bytes + from, s.used - from);
    struct extract_running_status status = report_close(&r);
    assert_int_equal(status.good, 4);
    assert_int_equal(status.torn, 1);
    assert_int_equal(status.lost, 2); // one was never sent, one was joined too late
    assert_false(status.whole);
    extract_text_free(&r.text);
}

static void a_frame_without_end(void **state)
{
    static struct stream s;
    static uint8_t noise[70000];
    struct report r;
    (void)state;
    memset(noise, 'x', sizeof noise);
    stream_init(&s, 1, 1, true);
    stream_put(&s, TCFG, TCFG_1BYTE);
    report_open(&r, "");
    report_take(&r, s.bytes, s.used);
    for (unsigned i = 0; i < 100; i++)
        report_take(&r, noise, sizeof noise);
    size_t from = s.used;
    stream_raw(&s, 0x7E);
    stream_put(&s, PROCESSED, "10000020");
    report_take(&r, s.bytes + from, s.used - from);
    struct extract_running_status status = report_close(&r);
    assert_int_equal(status.good, 2);
    assert_int_equal(status.torn + status.checksum + status.length + status.id, 1);
    extract_text_free(&r.text);
}

static void what_the_user_says_is_enough(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    stream_init(&s, 1, 2, true);
    stream_put(&s, PROCESSED, "1000");
    report_open(&r, "chk=1,nseq=1,ts=2,ptr=2,sig=1");
    report_take(&r, s.bytes, s.used);
    assert_true(r.text.used > 0);
    struct extract_running_status status = report_close(&r);
    assert_int_equal(status.good, 1);
    extract_text_free(&r.text);
}

// Without a configuration record, the report collects frames until they reveal the layout.
static void the_layout_is_inferred(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    stream_init(&s, 1, 4, true);
    for (unsigned i = 0; i < 20; i++) {
        stream_put(&s, PROCESSED, "10000020");
        stream_put(&s, 106, "10000020 05");
    }
    report_open(&r, "");
    report_take(&r, s.bytes, s.used);
    assert_int_equal(r.text.used, 0);
    struct extract_running_status status = report_close(&r);
    assert_int_equal(r.code, EXTRACT_OK);
    assert_int_equal(status.good, 40);
    extract_text_free(&r.text);
}

// The record does not specify the size of function addresses. A frame with such an address reveals
// it.
static void functions_are_as_long_as_they_come(void **state)
{
    static struct stream s;
    struct report r;
    (void)state;
    stream_init(&s, 1, 1, false);
    stream_put(&s, TCFG, TCFG_SHORT);
    report_open(&r, "");
    report_take(&r, s.bytes, s.used);
    size_t from = s.used;
    stream_put(&s, EXE_ACT, "00 1000 2000 51190000");
    report_take(&r, s.bytes + from, s.used - from);
    struct extract_running_status status = report_close(&r);
    assert_int_equal(status.good, 2);
    assert_non_null(strstr(r.text.data, "fn=0X1951"));
    extract_text_free(&r.text);
}

// Bytes that form no frames are skipped in the end, and the memory that they need is bounded.
static void frames_that_are_none(void **state)
{
    static uint8_t noise[3 << 20];
    struct report r;
    uint32_t random = 1;
    (void)state;
    for (size_t i = 0; i < sizeof noise; i++) {
        random = random * 1664525 + 1013904223;
        noise[i] = i % 40 ? (uint8_t)(random >> 24) | 0x80 : 0x7E;
    }
    report_open(&r, "");
    report_take(&r, noise, sizeof noise);
    struct extract_running_status status = report_close(&r);
    assert_int_equal(r.code, EXTRACT_BAD);
    assert_int_equal(r.error.code, EXTRACT_BAD);
    assert_false(status.resolved || status.whole);
    assert_true(status.passed > 50000);
    assert_int_equal(r.text.used, 1);
    extract_text_free(&r.text);
}

// Makes a report in pieces. It ends with an error, or frees all of its memory.
static enum extract_code report_in_pieces(void)
{
    static struct stream s;
    struct extract_session_options options = {.size = sizeof options};
    struct extract_error error = {0};
    struct extract_text text;
    struct extract_running *running;
    two_runs(&s);
    extract_text_init(&text, NULL, NULL);
    enum extract_code code = extract_running_open(&running, "test", &options, NULL, &error);
    for (size_t at = 0; at < s.used && !code; at += 40)
        code = extract_running_take(running, s.bytes + at, s.used - at < 40 ? s.used - at : 40,
                                    &text, &error);
    assert_true(!code || (error.code == code && *error.why));
    extract_running_close(running);
    extract_text_free(&text);
    return code;
}

static unsigned inferred; // how many times

enum extract_code __real_rkh_infer(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length,
                                   struct extract_error *error);
enum extract_code __wrap_rkh_infer(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length,
                                   struct extract_error *error);

enum extract_code __wrap_rkh_infer(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length,
                                   struct extract_error *error)
{
    inferred++;
    return __real_rkh_infer(rkh, bytes, length, error);
}

// Queues have a length and a low-water mark of one byte each, or a length of two bytes. No number
// of such frames decides which. New frames must not make the library test all of them again.
static void frames_that_never_tell(void **state)
{
    enum { FRAMES = 2048, PIECE = 4, TRIES = 100 };
    struct report r;
    (void)state;
    inferred = 0;
    report_open(&r, "chk=1,nseq=1,ts=1,ptr=4,sig=1");
    for (unsigned i = 0; i < FRAMES; i += PIECE) {
        struct stream s;
        stream_init(&s, 1, 1, true);
        s.used -= i != 0; // without the flag at the start
        s.next = (uint8_t)i;
        for (unsigned k = 0; k < PIECE; k++)
            stream_put(&s, 34, "00000020 01 00");
        report_take(&r, s.bytes, s.used);
    }
    assert_int_equal(extract_running_status(r.running).resolved, false);
    assert_in_range(inferred, 2, TRIES);
    report_close(&r);
    assert_int_equal(r.code, EXTRACT_BAD);
    extract_text_free(&r.text);
}

static void memory_runs_out(void **state)
{
    (void)state;
    each_allocation_fails(report_in_pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_read_as_the_whole),
        cmocka_unit_test(bytes_read_as_the_whole),
        cmocka_unit_test(lines_come_with_their_frames),
        cmocka_unit_test(a_break_tears_a_frame),
        cmocka_unit_test(a_frame_without_end),
        cmocka_unit_test(what_the_user_says_is_enough),
        cmocka_unit_test(the_layout_is_inferred),
        cmocka_unit_test(functions_are_as_long_as_they_come),
        cmocka_unit_test(frames_that_are_none),
        cmocka_unit_test(frames_that_never_tell),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(what_one_run_lacks),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
