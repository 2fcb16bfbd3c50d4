// SPDX-License-Identifier: MIT
// Tests recordings of RKH rings. The writer continues byte by byte while the ring is read, and the
// log is checked. Truth: every frame contains its own number, and the test keeps the written bytes.
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include <extract/record.h>
#include <extract/report.h>

enum { SIZE = 500, FRAMES = 20000, POOL = 32 * FRAMES, AHEAD = 1 << 20 };

static const char known[] = "chk=1,nseq=1,ts=4,ptr=4,sig=1";

// `pool` holds all bytes that the target ever writes. `target` tells how far it has come.
static uint8_t pool[POOL];
static uint32_t pool_bytes, frame_end[FRAMES];

static struct target {
    struct rkh_places at;
    // Bytes of the pool, counted from its start: where the target's run began, and how many it has
    // written.
    uint64_t from, written;
    // `pace` is the number of bytes written for each 64 that are read. `due` is what is not yet
    // written.
    uint32_t pace, due;
    uint64_t now; // ns
    bool dead;
} target;
static struct extract_error error;
static uint32_t chance;

static uint32_t random_below(uint32_t n)
{
    chance = chance * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(chance >> 8) * n >> 24);
}

// Makes frames of user events. Each has 14 to 20 bytes, and more where bytes are stuffed.
static void fill_pool(void)
{
    static struct rkh_bytes one;
    for (uint32_t i = 0; i < FRAMES; i++) {
        uint8_t bytes[32] = {0xC0, (uint8_t)i}, *to = bytes + 2;
        uint32_t stamp = 1000 + 37 * i, number = i ^ 0x7E0000;
        for (unsigned k = 0; k < 4; k++)
            *to++ = (uint8_t)(stamp >> 8 * k);
        *to++ = 5;
        for (unsigned k = 0; k < 4; k++)
            *to++ = (uint8_t)(number >> 8 * k);
        for (unsigned k = 0; k < i % 4; k++, to += 2)
            to[0] = 1, to[1] = (uint8_t)(i * 5);
        rkh_begin(&one, true);
        rkh_frame_of(&one, bytes, (size_t)(to - bytes));
        size_t skip = i ? 1 : 0; // the flag that begins the stream
        memcpy(pool + pool_bytes, one.bytes + skip, one.length - skip);
        pool_bytes += (uint32_t)(one.length - skip);
        frame_end[i] = pool_bytes;
    }
}

// ---- the target ----

static void go_on(uint32_t bytes)
{
    target.written += bytes;
    assert_true(target.written < pool_bytes);
}

// Returns the byte at index `i` of the array: the last one that was written there.
static uint8_t array_at(uint64_t i)
{
    uint64_t made = target.written - target.from;
    if (i >= made)
        return 0;
    return pool[target.from + i + (made - 1 - i) / SIZE * SIZE];
}

static uint8_t byte_at(uint64_t address)
{
    uint64_t place = target.at.array + (target.written - target.from) % SIZE;
    uint8_t byte = 0;
    if (address >= target.at.array && address < target.at.array + SIZE)
        return array_at(address - target.at.array);
    if (!rkh_byte_of(target.at.in_at, place, 8, address, &byte) &&
        !rkh_byte_of(target.at.out_at, place, 8, address, &byte))
        rkh_byte_of(target.at.qty_at, SIZE, 2, address, &byte);
    return byte;
}

// Reads the target's memory. The writer continues between the bytes that are read.
static size_t read_target(void *context, uint64_t address, void *buffer, size_t length)
{
    (void)context;
    target.now += 100000 + 1000 * length;
    if (target.dead)
        return 0;
    // Bytes outside the array belong to words, which are read at once.
    bool word = address < target.at.array || address >= target.at.array + SIZE;
    target.due += word ? target.pace * (uint32_t)length : 0;
    for (size_t i = 0; i < length; i++) {
        target.due += word ? 0 : target.pace;
        if (target.due >= 64 && (!word || !i)) {
            go_on(random_below(2 * (target.due / 64) + 1));
            target.due %= 64;
        }
        ((uint8_t *)buffer)[i] = byte_at(address + i);
    }
    return length;
}

static uint64_t clock_of(void *context)
{
    (void)context;
    return target.now;
}

static int compile(void **state)
{
    if (scratch_make(state))
        return -1;
    fill_pool();
    scratch_puts(
        "fw.c", "static unsigned char trcstm[500], *trcin, *trcout;\n"
                "static unsigned short trcqty;\nstatic unsigned char chk;\n"
                "void put(int b) { *trcin++ = b; chk += b; if (++trcqty >= 500) trcout = trcin; }\n"
                "int main(void) { return trcin - trcstm; }\n");
    if (scratch_run("gcc -O0 -no-pie -o fw.elf fw.c"))
        rkh_places_read(&target.at, scratch_path("fw.elf"));
    return 0;
}

static int release(void **state)
{
    extract_symbols_close(target.at.symbols);
    return scratch_remove(state);
}

// ---- a recording ----

struct recording {
    struct extract_memory *memory;
    struct extract_recorder *recorder;
    struct extract_log_writer *log;
    struct extract_rkh rkh;
};

// Begins a recording. The target has written `written` bytes, and continues at `pace` while the
// recording begins.
static void begin_while(uint32_t pace, struct recording *r, uint64_t written)
{
    struct extract_memory_source source = {.read = read_target, .running = true};
    struct extract_log_options log = {.size = sizeof log, .limit = 8 << 20};
    struct extract_record_options options = {
        .size = sizeof options, .rkh = &r->rkh, .now = clock_of};
    if (!target.at.symbols)
        skip();
    memset(r, 0, sizeof *r);
    target.from = target.due = 0;
    target.pace = pace;
    target.written = written;
    target.dead = false;
    chance = 7;
    unlink(scratch_path("a.log"));
    assert_int_equal(extract_rkh_parse(&r->rkh, known, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_new(&r->memory, &source, &error), EXTRACT_OK);
    assert_int_equal(extract_log_create(&r->log, scratch_path("a.log"), &log, &error), EXTRACT_OK);
    options.log = r->log;
    enum extract_code code =
        extract_recorder_open(&r->recorder, r->memory, target.at.symbols, &options, &error);
    if (code)
        print_error("%s: %s\n", error.what, error.why);
    assert_int_equal(code, EXTRACT_OK);
}

static void begin(struct recording *r, uint64_t written)
{
    begin_while(0, r, written);
}

static void poll_once(struct recording *r)
{
    assert_int_equal(extract_recorder_poll(r->recorder, &error), EXTRACT_OK);
}

static struct extract_record_status end(struct recording *r)
{
    struct extract_record_status status;
    target.pace = 0;
    assert_int_equal(extract_recorder_finish(r->recorder, &status, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(r->log, &error), EXTRACT_OK);
    extract_memory_close(r->memory);
    return status;
}

// ---- what the log contains ----

struct replay {
    struct extract_log *log;
    struct extract_trace *trace;
    uint32_t numbers[FRAMES]; // numbers of the frames
    uint32_t frames;
    uint64_t lost, torn; // events lost by markers; damaged entries
    unsigned losses, resets, unknown;
};

static uint32_t number_of(const struct extract_event *event)
{
    assert_true(event->data_bytes >= 5 && event->data[0] == 5);
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++)
        number |= (uint32_t)event->data[1 + i] << 8 * i;
    return number ^ 0x7E0000;
}

static void note(struct replay *replay, const struct extract_event *event)
{
    if (event->id == EXTRACT_ID_LOST) {
        replay->losses++;
        replay->unknown += event->fields == 1;
        replay->lost += event->fields > 1 ? event->field[1] : 0;
    } else if (event->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET) {
        replay->resets++;
    } else if (!extract_event_is_mark(event)) {
        assert_true(replay->frames < FRAMES);
        replay->numbers[replay->frames++] = number_of(event);
    }
}

static struct replay *play(void)
{
    static struct replay replay;
    struct extract_rkh rkh = {0};
    struct extract_trace_options options = {.size = sizeof options, .rkh = &rkh};
    struct extract_event events[64];
    struct extract_reader reader;
    size_t count;
    memset(&replay, 0, sizeof replay);
    assert_int_equal(extract_rkh_parse(&rkh, known, &error), EXTRACT_OK);
    assert_int_equal(extract_log_open(&replay.log, scratch_path("a.log"), &error), EXTRACT_OK);
    enum extract_code code = extract_trace_open_log(&replay.trace, replay.log, &options, &error);
    if (code)
        print_error("%s: %s\n", error.what, error.why);
    assert_int_equal(code, EXTRACT_OK);
    extract_reader_init(&reader, replay.trace);
    while ((count = extract_reader_next(&reader, events, 64)))
        for (size_t i = 0; i < count; i++)
            note(&replay, &events[i]);
    replay.torn = extract_trace_info(replay.trace)->entries_damaged;
    return &replay;
}

static void close_replay(struct replay *replay)
{
    extract_trace_close(replay->trace);
    extract_log_free(replay->log);
}

// Returns how many frames end in the first `bytes` bytes of the pool.
static uint32_t frames_in(uint64_t bytes)
{
    uint32_t count = 0;
    while (count < FRAMES && frame_end[count] <= bytes)
        count++;
    return count;
}

// ---- the tests ----

// Polls after every distance, so blocks end at every place of a frame, also after an escape.
static void test_whole(void **state)
{
    struct recording r;
    (void)state;
    begin(&r, 1);
    for (unsigned i = 0; i < 3000; i++) {
        go_on(1 + random_below(i % 100 == 99 ? SIZE - 40 : 30));
        poll_once(&r);
    }
    struct extract_record_status status = end(&r);
    assert_int_equal(status.gaps_not_exact, 0);
    assert_int_equal(status.lost, 0);
    struct replay *replay = play();
    assert_int_equal(replay->frames, frames_in(target.written));
    for (uint32_t i = 0; i < replay->frames; i++)
        assert_int_equal(replay->numbers[i], i);
    assert_int_equal(replay->losses, 0);
    assert_int_equal(replay->torn, 0);
    assert_int_equal(extract_trace_info(replay->trace)->span_ticks, 37 * (replay->frames - 1));

    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, replay->trace, &error), EXTRACT_OK);
    assert_int_equal(text.used, frame_end[replay->frames - 1]);
    assert_memory_equal(text.data, pool, text.used);
    extract_text_free(&text);
    close_replay(replay);
}

// Many events of a log pass through one buffer. The reports must still show the data of each event.
static void test_reports(void **state)
{
    struct recording r;
    struct extract_session_options options = {.size = sizeof options};
    struct extract_session *session = NULL;
    struct extract_log *log;
    struct extract_text text;
    char last[64];
    (void)state;
    begin(&r, 1);
    for (unsigned i = 0; i < 500; i++) {
        go_on(1 + random_below(200));
        poll_once(&r);
    }
    end(&r);
    options.rkh = &r.rkh;
    options.json = true;
    assert_int_equal(extract_log_open(&log, scratch_path("a.log"), &error), EXTRACT_OK);
    assert_int_equal(extract_session_open_log(&session, log, NULL, &options, &error), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, "report", &text, &error), EXTRACT_OK);
    extract_text_putc(&text, 0);
    unsigned lines = 0;
    for (const char *at = text.data; (at = strstr(at, "\"data\":\"05")); at++, lines++) {
        uint32_t number = lines ^ 0x7E0000;
        snprintf(last, sizeof last, "\"data\":\"05%02x%02x%02x%02x", number & 0xFF,
                 number >> 8 & 0xFF, number >> 16 & 0xFF, number >> 24);
        assert_memory_equal(at, last, strlen(last));
    }
    assert_int_equal(lines, frames_in(target.written));
    text.used = 0; // the start of a recording is not a loss
    assert_int_equal(extract_session_run(session, "stats", &text, &error), EXTRACT_OK);
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, "\"losses\":0,"));
    extract_text_free(&text);
    extract_session_close(session);
    extract_log_free(log);
}

// The writer laps the reader between polls. The frames' numbers show how many frames are lost.
static void test_laps(void **state)
{
    struct recording r;
    (void)state;
    begin(&r, 1);
    for (unsigned i = 0; i < 100; i++) {
        for (unsigned k = 0; k < 20; k++) {
            go_on(80 + random_below(10));
            target.now += 10000000;
            poll_once(&r);
        }
        go_on(SIZE + random_below(3 * SIZE));
        poll_once(&r);
    }
    struct extract_record_status status = end(&r);
    assert_int_equal(status.laps, 100);
    struct replay *replay = play();
    assert_int_equal(replay->losses, 100);
    assert_int_equal(replay->unknown, 0);
    assert_int_equal(replay->torn, 0);
    for (uint32_t i = 1; i < replay->frames; i++)
        assert_true(replay->numbers[i] > replay->numbers[i - 1]);
    assert_int_equal(replay->frames + replay->lost, frames_in(target.written));
    assert_int_equal(status.lost, replay->lost);
    close_replay(replay);
}

// The ring is written while the bytes are read. No mix of two frames is recorded, and the number of
// lost frames is right modulo 256.
static void race(uint32_t pace)
{
    struct recording r;
    begin(&r, 1);
    target.pace = pace;
    while (target.written < pool_bytes - AHEAD / 8) {
        if (pace < 16)
            go_on(random_below(4 * pace + 2));
        poll_once(&r);
    }
    struct extract_record_status status = end(&r);
    struct replay *replay = play();
    assert_true(replay->frames > (pace < 64 ? 1000 : 20));
    assert_int_equal(replay->torn, 0);
    uint32_t missing = replay->frames ? replay->numbers[0] : 0;
    for (uint32_t i = 1; i < replay->frames; i++) {
        assert_true(replay->numbers[i] > replay->numbers[i - 1]);
        missing += replay->numbers[i] - replay->numbers[i - 1] - 1;
    }
    assert_int_equal((missing - replay->lost) % 256, 0);
    assert_true(missing == 0 || replay->losses);
    assert_int_equal(!status.gaps_not_exact, replay->losses == 0);
    close_replay(replay);
}

static void test_races(void **state)
{
    static const uint32_t paces[] = {1, 4, 16, 30, 64, 100, 200};
    (void)state;
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++)
        race(paces[i]);
}

// The writer overwrites the whole ring while it is read for the first time.
static void test_lapped_before_the_first(void **state)
{
    struct recording r;
    (void)state;
    begin_while(4 * SIZE, &r, 3 * SIZE); // several laps during each read
    target.pace = 0;
    poll_once(&r);
    struct extract_record_status status = end(&r);
    assert_true(status.gaps == 1 && status.gaps_not_exact == 1 && !status.has_all);
    struct replay *replay = play();
    assert_in_range(replay->frames, 1, SIZE / 14);
    assert_int_equal(replay->losses, 1);
    close_replay(replay);
}

// The target is restarted, and its frames count from 0 again.
static void test_reset(void **state)
{
    struct recording r;
    (void)state;
    begin(&r, 1);
    for (unsigned i = 0; i < 50; i++) {
        go_on(90);
        poll_once(&r);
    }
    uint64_t before = target.written;
    target.from = target.written = frame_end[255] - 1; // this frame's flag begins the new stream
    go_on(200);
    poll_once(&r);
    struct extract_record_status status = end(&r);
    assert_int_equal(status.resets, 1);
    assert_false(status.lost_is_exact); // frames between the last poll and the reset are lost
    struct replay *replay = play();
    assert_int_equal(replay->resets, 1);
    assert_int_equal(replay->losses, 1); // the loss between the last poll and the reset
    assert_int_equal(status.gaps_not_exact, 1);
    assert_int_equal(replay->torn, 0);
    uint32_t first = frames_in(before);
    assert_int_equal(replay->numbers[first - 1], first - 1);
    assert_int_equal(replay->numbers[first], 256);
    assert_int_equal(replay->frames, first + frames_in(target.written) - 256);
    close_replay(replay);
}

// The target stops responding and then responds again. It may be exactly one lap ahead.
static void test_gone(void **state)
{
    struct recording r;
    (void)state;
    begin(&r, 1);
    go_on(300);
    poll_once(&r);
    target.dead = true;
    poll_once(&r);
    poll_once(&r);
    target.dead = false;
    go_on(SIZE);
    poll_once(&r);
    struct extract_record_status status = end(&r);
    assert_int_equal(status.failed, 2);
    struct replay *replay = play();
    assert_int_equal(replay->losses, 1);
    assert_int_equal(replay->frames + replay->lost, frames_in(target.written));
    close_replay(replay);
}

// A poll without new bytes makes one read, and a poll with new bytes makes three.
static void test_cost(void **state)
{
    struct recording r;
    (void)state;
    begin(&r, 100);
    uint64_t reads = extract_memory_cost(r.memory).reads;
    poll_once(&r);
    assert_int_equal(extract_memory_cost(r.memory).reads, reads + 1);
    go_on(50);
    uint64_t bytes = extract_memory_cost(r.memory).bytes;
    poll_once(&r);
    assert_int_equal(extract_memory_cost(r.memory).reads, reads + 4);
    assert_int_equal(extract_memory_cost(r.memory).bytes, bytes + 8 + 32 + 50 + 32);
    end(&r);
}

// ---- a ring as a file ----

static struct extract_text look_at(struct extract_memory *memory, struct extract_symbols *symbols,
                                   const char *verb)
{
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .rkh = &rkh, .json = true};
    struct extract_session *session = NULL;
    struct extract_text text;
    assert_int_equal(extract_rkh_parse(&rkh, known, &error), EXTRACT_OK);
    assert_int_equal(extract_session_open(&session, memory, symbols, &options, &error), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    if (strcmp(verb, "save"))
        assert_int_equal(extract_session_run(session, verb, &text, &error), EXTRACT_OK);
    else
        assert_int_equal(extract_export_ring(&text, extract_session_trace(session), &error),
                         EXTRACT_OK);
    extract_session_close(session);
    return text;
}

// A dump holds the array as it is in memory, and gives the same report as the ring.
static void check_dump(uint64_t written)
{
    struct extract_memory_source source = {.read = read_target};
    struct extract_memory *ring, *dump;
    target.from = target.pace = target.due = 0;
    target.written = written;
    target.dead = false;
    assert_int_equal(extract_memory_new(&ring, &source, &error), EXTRACT_OK);
    struct extract_text saved = look_at(ring, target.at.symbols, "save");
    assert_int_equal(saved.used, 128 + SIZE);
    for (uint32_t i = 0; i < SIZE; i++)
        assert_int_equal((uint8_t)saved.data[128 + i], array_at(i));
    scratch_write("ring.rkr", saved.data, saved.used);
    assert_int_equal(extract_rkh_dump_open(&dump, scratch_path("ring.rkr"), &error), EXTRACT_OK);
    struct extract_text one = look_at(ring, target.at.symbols, "report");
    struct extract_text two = look_at(dump, target.at.symbols, "report");
    struct extract_text again = look_at(dump, NULL, "save");
    assert_int_equal(one.used, two.used);
    assert_memory_equal(one.data, two.data, one.used);
    assert_int_equal(again.used, saved.used);
    assert_memory_equal(again.data, saved.data, saved.used);
    extract_text_free(&saved);
    extract_text_free(&one);
    extract_text_free(&two);
    extract_text_free(&again);
    extract_memory_close(ring);
    extract_memory_close(dump);
}

static void test_dump(void **state)
{
    (void)state;
    if (!target.at.symbols)
        skip();
    check_dump(frame_end[5]);
    check_dump(frame_end[5] + 7);
    for (uint32_t i = 0; i < 40; i++)
        check_dump(1000 + 13 * i);
    check_dump(2 * SIZE);
}

// The target continues while a dump is written. The dump contains the frames of its snapshot,
// including the first one.
static void test_dump_of_running(void **state)
{
    struct extract_memory_source source = {.read = read_target, .running = true};
    (void)state;
    if (!target.at.symbols)
        skip();
    for (uint32_t i = 0; i < 20; i++) {
        struct extract_rkh rkh = {0};
        struct extract_session_options options = {.size = sizeof options, .rkh = &rkh};
        struct extract_session *ring = NULL, *again = NULL;
        struct extract_memory *memory, *dump;
        struct extract_text saved;
        target.from = target.due = 0;
        target.written = 1000 + 13 * i;
        target.pace = 4;
        target.dead = false;
        assert_int_equal(extract_rkh_parse(&rkh, known, &error), EXTRACT_OK);
        rkh.view = EXTRACT_RKH_HISTORY;
        assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
        assert_int_equal(extract_session_open(&ring, memory, target.at.symbols, &options, &error),
                         EXTRACT_OK);
        const struct extract_trace *trace = extract_session_trace(ring);
        assert_true(extract_trace_snapshot(trace)->moved);
        uint64_t frames = extract_trace_info(trace)->entries_valid;
        assert_true(frames > 3);
        extract_text_init(&saved, NULL, NULL);
        assert_int_equal(extract_export_ring(&saved, trace, &error), EXTRACT_OK);
        scratch_write("running.rkr", saved.data, saved.used);
        assert_int_equal(extract_rkh_dump_open(&dump, scratch_path("running.rkr"), &error),
                         EXTRACT_OK);
        assert_int_equal(extract_session_open(&again, dump, NULL, &options, &error), EXTRACT_OK);
        assert_int_equal(extract_trace_info(extract_session_trace(again))->entries_valid, frames);
        extract_session_close(again);
        extract_session_close(ring);
        extract_memory_close(dump);
        extract_memory_close(memory);
        extract_text_free(&saved);
    }
}

// Changes every byte of a dump, and cuts it at every length. The result is an error or a report.
static void test_dump_damage(void **state)
{
    struct extract_memory_source source = {.read = read_target};
    struct extract_memory *memory;
    (void)state;
    if (!target.at.symbols)
        skip();
    target.from = 0;
    target.written = 1234;
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
    struct extract_text saved = look_at(memory, target.at.symbols, "save");
    extract_memory_close(memory);
    for (uint32_t i = 0; i < 3 * 128 + saved.used; i++) {
        struct extract_ring ring;
        struct extract_snapshot snapshot;
        uint32_t at = i / 3;
        char byte = at < 128 ? saved.data[at] : 0;
        size_t length = at < 128 ? saved.used : i - 3 * 128;
        if (at < 128)
            saved.data[at] = (char)(i % 3 == 0 ? 0 : i % 3 == 1 ? 0xFF : byte ^ 1);
        scratch_write("bad.rkr", saved.data, length);
        if (at < 128)
            saved.data[at] = byte;
        if (extract_rkh_dump_open(&memory, scratch_path("bad.rkr"), &error))
            continue;
        if (!extract_ring_find(&ring, memory, NULL, NULL, &error) &&
            !extract_snapshot_take(&snapshot, memory, &ring, &error))
            extract_snapshot_free(&snapshot);
        extract_memory_close(memory);
    }
    extract_text_free(&saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_laps),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_lapped_before_the_first),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_dump_damage),
        cmocka_unit_test(test_dump_of_running),
    };
    return cmocka_run_group_tests(tests, compile, release);
}
