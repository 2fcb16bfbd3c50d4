// SPDX-License-Identifier: MIT
// Tests RKH rings in RAM. A writer and a reader work on an array as the framework does, and are
// stopped in every state. Truth: the frames that were put in, counted here.
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include "events/events_room.h"

enum { SIZE = 500, MAX_ADDRESS = 8 };

// The target's variables, and the addresses that its ELF gives for them.
struct target {
    struct rkh_places at;
    uint8_t bytes[SIZE];
    uint32_t in, out, qty;
    uint8_t chk, seq;
    bool initialized;
    unsigned put; // frames that were written
    int surprise; // bytes that the target writes at the next read of the array
    unsigned reads;
};

static struct target target;
static struct extract_error error;

static void put_byte(uint8_t byte)
{
    target.bytes[target.in] = byte;
    target.in = (target.in + 1) % SIZE;
    if (++target.qty >= SIZE) {
        target.qty = SIZE;
        target.out = target.in;
    }
}

static void take(uint32_t bytes)
{
    bytes = bytes < target.qty ? bytes : target.qty;
    target.out = (target.out + bytes) % SIZE;
    target.qty -= bytes;
}

static void put_bytes(const struct rkh_bytes *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        put_byte(bytes->bytes[i]);
}

// Writes `count` frames of the mix, each of at most 19 bytes.
static void put_frames(unsigned count)
{
    static struct rkh_bytes bytes;
    for (unsigned i = 0; i < count; i++, target.put++, target.seq++) {
        // The mix repeats ten shapes. So this makes frames up to the wanted shape, and writes only
        // the last.
        struct rkh_mix mix = {4, 4, 1, 256 + target.seq - (int)(target.put % 10)};
        rkh_begin(&bytes, true);
        rkh_mixed(&bytes, &mix, target.put % 10 + 1);
        size_t start = bytes.length - 1;
        while (bytes.bytes[start - 1] != 0x7E)
            start--;
        put_bytes(&bytes, start, bytes.length);
    }
}

static void initialize(void)
{
    struct target fresh = {.at = target.at, .initialized = true};
    target = fresh;
    put_byte(0x7E);
}

// ---- the target as memory ----

static uint8_t byte_at(uint64_t address)
{
    uint64_t base = target.initialized ? target.at.array : 0;
    uint8_t byte = 0;
    if (address >= target.at.array && address < target.at.array + SIZE)
        return target.bytes[address - target.at.array];
    if (!rkh_byte_of(target.at.in_at, base + (base ? target.in : 0), 8, address, &byte) &&
        !rkh_byte_of(target.at.out_at, base + (base ? target.out : 0), 8, address, &byte) &&
        !rkh_byte_of(target.at.qty_at, target.qty, 2, address, &byte))
        rkh_byte_of(target.at.chk_at, target.chk, 1, address, &byte);
    return byte;
}

static size_t read_target(void *context, uint64_t address, void *buffer, size_t length)
{
    (void)context;
    bool array = address >= target.at.array && address < target.at.array + SIZE && length > 16;
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)buffer)[i] = byte_at(address + i);
    if (array && target.surprise > 0)
        put_frames((unsigned)target.surprise);
    target.surprise -= array && target.surprise > 0 ? target.surprise : 0;
    target.reads++;
    return length;
}

static enum extract_code look_at(struct look *look, const char *words, bool running)
{
    struct extract_memory_source source = {.read = read_target, .running = running};
    struct extract_rkh rkh = {0};
    struct extract_ring_options options = {.size = sizeof options, .rkh = &rkh};
    memset(look, 0, sizeof *look);
    assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_new(&look->memory, &source, &error), EXTRACT_OK);
    enum extract_code code =
        extract_ring_find(&look->ring, look->memory, target.at.symbols, &options, &error);
    if (!code)
        code = extract_snapshot_take(&look->snapshot, look->memory, &look->ring, &error);
    if (!code)
        code = extract_trace_open(&look->trace, &look->snapshot, NULL, &error);
    if (code)
        look_close(look);
    return code;
}

static const char known[] = "chk=1,nseq=1,ts=4,ptr=4,sig=1";

// Returns how many frames a view shows. Checks that they are the newest ones, one after the other.
static uint64_t shown(const char *words, bool running)
{
    struct look look;
    size_t count;
    enum extract_code code = look_at(&look, words, running);
    if (code)
        print_error("%s\n", error.why);
    assert_int_equal(code, EXTRACT_OK);
    const struct extract_event *events = rkh_events(&look, &count);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(events[i].seq, events[i - 1].seq + 1);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 0);
    look_close(&look);
    return count;
}

static uint64_t history(void)
{
    return shown("chk=1,nseq=1,ts=4,ptr=4,sig=1,view=history", false);
}

static uint64_t pending(void)
{
    return shown("chk=1,nseq=1,ts=4,ptr=4,sig=1,view=pending", false);
}

static int compile(void **state)
{
    if (scratch_make(state))
        return -1;
    scratch_puts("fw.c",
                 "static unsigned char trcstm[500], *trcin, *trcout, *trcend;\n"
                 "static unsigned short trcqty;\nstatic unsigned char nseq, chk;\n"
                 "void put(int b) { trcend = trcstm + 500; *trcin++ = b; chk += b; nseq++;\n"
                 "    if (++trcqty >= 500) trcout = trcin; }\n"
                 "int get(void) { return *trcout++; }\n"
                 "int main(void) { return trcend - trcin; }\n");
    if (scratch_run("gcc -O0 -no-pie -o fw.elf fw.c"))
        rkh_places_read(&target.at, scratch_path("fw.elf"));
    return 0;
}

static int release(void **state)
{
    extract_symbols_close(target.at.symbols);
    return scratch_remove(state);
}

static void need_target(void)
{
    if (!target.at.symbols)
        skip();
    initialize();
}

// ---- the states ----

static void test_not_initialized(void **state)
{
    struct look look;
    (void)state;
    need_target();
    target.initialized = false;
    target.qty = 0;
    assert_int_equal(look_at(&look, "", false), EXTRACT_ABSENT);
    assert_non_null(strstr(error.why, "never initialized"));
}

static void test_not_wrapped(void **state)
{
    struct look look;
    (void)state;
    need_target();
    assert_int_equal(history(), 0);
    put_frames(12);
    assert_int_equal(history(), 12);
    assert_int_equal(pending(), 12);
    assert_int_equal(look_at(&look, known, false), EXTRACT_OK);
    assert_true(extract_trace_info(look.trace)->lost_known);
    assert_false(extract_trace_info(look.trace)->wrapped);
    assert_int_equal(look.snapshot.ring.rkh.view, EXTRACT_RKH_HISTORY);
    assert_int_equal(look.ring.origin, EXTRACT_FROM_SYMBOL);
    look_close(&look);
}

static void test_overrun(void **state)
{
    (void)state;
    need_target();
    for (unsigned i = 0; i < 300; i++) {
        struct look look;
        put_frames(1);
        uint64_t all = history();
        assert_int_equal(pending(), all);
        assert_true(all == target.put || (target.qty == SIZE && all >= 20 && all <= 40));
        assert_int_equal(look_at(&look, known, false), EXTRACT_OK);
        const struct extract_info *info = extract_trace_info(look.trace);
        assert_int_equal(info->overrun, target.qty == SIZE);
        assert_int_equal(info->lost_known, target.qty < SIZE);
        const struct extract_run *runs;
        assert_int_equal(extract_trace_runs(look.trace, &runs), 1);
        assert_int_equal(runs->lost_known, target.qty < SIZE);
        assert_int_equal(runs->entries_valid, info->entries_valid);
        look_close(&look);
    }
}

// Bytes that a reader took out are still in the array. Bytes that were not taken out begin after a
// flag.
static void test_flushed(void **state)
{
    (void)state;
    need_target();
    for (unsigned i = 0; i < 60; i++) {
        put_frames(7);
        take(SIZE);
        assert_int_equal(pending(), 0);
        put_frames(2);
        assert_int_equal(pending(), 2);
        assert_true(history() >= (target.put < 20 ? target.put : 20));
        take(SIZE);
    }
}

// The target's own reader has stopped in the middle of a frame.
static void test_half_taken(void **state)
{
    (void)state;
    need_target();
    put_frames(5);
    take(5);
    assert_int_equal(pending(), 4);
    assert_int_equal(history(), 5);
}

static void check_partial(uint32_t bytes, bool checked)
{
    struct look look;
    assert_int_equal(look_at(&look, known, false), EXTRACT_OK);
    assert_int_equal(look.snapshot.ring.rkh.partial, bytes);
    assert_int_equal(look.snapshot.ring.rkh.partial_checked, checked);
    look_close(&look);
}

static void test_halted_inside(void **state)
{
    static const uint8_t frame[] = {0x69, 0x20, 0x7D, 0x5D, 0x01};
    (void)state;
    need_target();
    for (unsigned round = 0; round < 100; round++) {
        put_frames(1);
        uint64_t before = history();
        check_partial(0, false);
        target.chk = 0;
        for (unsigned i = 0; i < sizeof frame; i++) {
            put_byte(frame[i]);
            target.chk = (uint8_t)(target.chk + (i == 2 ? 0 : i == 3 ? 0x7D : frame[i]));
            assert_true(history() >= before - 1);
            check_partial(i + 1, i != 2);
        }
        put_byte((uint8_t)-target.chk);
        take(SIZE);
        initialize();
        put_frames(round);
        target.chk = 1;
    }
}

// The target is halted between the store and the count, and between the count and the reader's
// pointer.
static void test_halted_between(void **state)
{
    (void)state;
    need_target();
    put_frames(3);
    target.qty--;
    assert_int_equal(pending(), 3);
    put_frames(200);
    uint64_t all = history();
    target.out = (target.out + SIZE - 1) % SIZE;
    assert_int_equal(pending(), all);
    target.qty = SIZE - 1; // the store that fills the ring
    target.out = target.in;
    assert_int_equal(pending(), all);
}

static void test_wild(void **state)
{
    struct look look;
    (void)state;
    need_target();
    put_frames(3);
    target.in = 70000;
    assert_int_equal(look_at(&look, known, false), EXTRACT_BAD);
    assert_non_null(strstr(error.why, "trcstm"));
}

// The settings are inferred from all bytes of the array, even if only a part is shown.
static void test_settings(void **state)
{
    struct look look;
    (void)state;
    need_target();
    put_frames(200);
    take(SIZE);
    put_frames(1);
    assert_int_equal(look_at(&look, "view=pending", false), EXTRACT_OK);
    const struct extract_rkh *rkh = &look.snapshot.ring.rkh;
    assert_int_equal(rkh->value[EXTRACT_RKH_PTR], 4);
    assert_int_equal(rkh->value[EXTRACT_RKH_TS], 4);
    assert_int_equal(rkh->from[EXTRACT_RKH_TS], EXTRACT_RKH_INFERENCE);
    assert_int_equal(extract_trace_info(look.trace)->entries_valid, 1);
    look_close(&look);
}

// A running target writes while it is read. Frames that it overwrites in that time are not shown as
// valid.
static void test_running(void **state)
{
    (void)state;
    for (int more = 0; more < 200; more++) {
        struct look look;
        size_t count;
        need_target();
        put_frames(200);
        target.surprise = more;
        assert_int_equal(look_at(&look, "chk=1,nseq=1,ts=4,ptr=4,sig=1,view=history", true),
                         EXTRACT_OK);
        const struct extract_event *events = rkh_events(&look, &count);
        assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 0);
        assert_true(count + (unsigned)more >= 25);
        for (size_t i = 0; i < count; i++)
            assert_false(extract_event_is_mark(&events[i]));
        look_close(&look);
    }
}

static enum extract_code open_short(void)
{
    struct look look;
    struct extract_memory_source source = {.read = read_target};
    struct extract_rkh rkh = {0};
    struct extract_ring_options options = {.size = sizeof options, .rkh = &rkh};
    memset(&look, 0, sizeof look);
    enum extract_code code = extract_memory_new(&look.memory, &source, &error);
    if (!code)
        code = extract_ring_find(&look.ring, look.memory, target.at.symbols, &options, &error);
    if (!code)
        code = extract_snapshot_take(&look.snapshot, look.memory, &look.ring, &error);
    look_close(&look);
    return code;
}

static void test_memory_is_short(void **state)
{
    (void)state;
    need_target();
    put_frames(200);
    each_allocation_fails(open_short);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_initialized), cmocka_unit_test(test_not_wrapped),
        cmocka_unit_test(test_overrun),         cmocka_unit_test(test_flushed),
        cmocka_unit_test(test_half_taken),      cmocka_unit_test(test_halted_inside),
        cmocka_unit_test(test_halted_between),  cmocka_unit_test(test_wild),
        cmocka_unit_test(test_settings),        cmocka_unit_test(test_running),
        cmocka_unit_test(test_memory_is_short),
    };
    return cmocka_run_group_tests(tests, compile, release);
}
