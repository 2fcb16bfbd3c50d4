// SPDX-License-Identifier: MIT
// test_formats.c: tests merging with byte rings of all formats, whose entries are known: boards of
// other byte orders, word sizes and settings, names and numbers of two boards, the offset that
// shared events show, snapshots at random times, and lack of memory.
//
// Truth: the parts from which the builders make the entries, and computation by hand.
#include "events/events_room.h"
#include "merge/merge.h"
#include "tests/unit/hook/roles_builder.h"
#include "tests/unit/posix_format/ptr_builder.h"
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include <extract/session.h>

enum { MAX_INPUTS = 8, MOST_EVENTS = 2048, OFFSET = 70000, SHARED = 40, BOARD = 32 };

static struct extract_error error;
static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * UINT64_C(0x2545F4914F6CDD1D) >> 32) % limit;
}

// ---- a merge, and the log that it writes ----

struct merging {
    struct look looks[MAX_INPUTS];
    struct merge_input inputs[MAX_INPUTS];
    size_t count;
    struct merge merge;
    const char *path;
    struct extract_log *log;
    struct extract_trace *trace;
    struct extract_event events[MOST_EVENTS]; // without markers
    size_t event_count, losses;
};

static struct merging m;

static void begin_merge(void)
{
    memset(&m, 0, sizeof m);
}

static struct look *add_input(void)
{
    static const char *const names[MAX_INPUTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};

    m.inputs[m.count].name = m.inputs[m.count].prefix = names[m.count];
    return &m.looks[m.count++];
}

static enum extract_code plan(enum merge_kind kind, const char *align)
{
    const struct merge_options options = {.kind = kind, .align = align};

    for (size_t i = 0; i < m.count; i++)
        m.inputs[i].trace = m.looks[i].trace;
    return merge_plan(&m.merge, m.inputs, m.count, &options, &error);
}

static void write_and_open(const struct extract_hook_roles *roles)
{
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_APPEND,
                                                .section_bytes = merge_section_bytes(&m.merge)};
    const struct extract_trace_options how = {.size = sizeof how, .hook_roles = roles};
    struct extract_log_writer *writer;
    struct extract_event events[64];
    struct extract_reader reader;
    size_t got;

    m.path = scratch_path("merged.log");
    unlink(m.path); // a test that failed may have left it
    assert_int_equal(extract_log_create(&writer, m.path, &options, &error), EXTRACT_OK);
    assert_int_equal(merge_write(&m.merge, writer, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, &error), EXTRACT_OK);
    assert_int_equal(extract_log_open(&m.log, m.path, &error), EXTRACT_OK);
    assert_int_equal(extract_trace_open_log(&m.trace, m.log, &how, &error), EXTRACT_OK);
    extract_reader_init(&reader, m.trace);
    while ((got = extract_reader_next(&reader, events, 64)))
        for (size_t i = 0; i < got; i++) {
            m.losses += extract_id_is_loss(events[i].id);
            if (extract_event_is_mark(&events[i]))
                continue;
            assert_true(m.event_count < MOST_EVENTS);
            assert_true(!m.event_count || events[i].ticks >= m.events[m.event_count - 1].ticks);
            m.events[m.event_count++] = events[i];
        }
}

static void end_merge(void)
{
    extract_trace_close(m.trace);
    extract_log_free(m.log);
    if (m.path)
        unlink(m.path);
    merge_free(&m.merge);
    for (size_t i = 0; i < m.count; i++)
        look_close(&m.looks[i]);
}

// Merges the inputs as boards, of which the second one is OFFSET ticks later.
static void merge_boards(const struct extract_hook_roles *roles)
{
    m.inputs[1].has_offset = true;
    m.inputs[1].offset = OFFSET;
    assert_int_equal(plan(MERGE_BOARDS, NULL), EXTRACT_OK);
    write_and_open(roles);
}

// Returns the n-th event of a core.
static const struct extract_event *event_of(unsigned core, size_t n)
{
    for (size_t i = 0; i < m.event_count; i++)
        if (m.events[i].core == core && n-- == 0)
            return &m.events[i];
    fail_msg("core %u has too few events", core);
    return NULL;
}

// ---- hook words ----

static struct hooks first, second;

// Puts entries of every kind: all types, buffers, both widths, an interrupt, and start-up code.
static void put_kinds(struct hooks *hooks, uint64_t stamp)
{
    const struct hooks_record records[] = {
        {.frame = HOOKS_INIT | HOOKS_STAMP, .hook = 0x12390000, .stamp = stamp},
        {.frame = HOOKS_TID | HOOKS_STAMP,
         .hook = 0x123A0042,
         .words = 1,
         .data = {0x11223344},
         .tid = 0x20004000,
         .stamp = stamp + 10},
        {.frame = HOOKS_TID | HOOKS_STAMP | HOOKS_ISR,
         .hook = 0x123E0001,
         .words = 5,
         .data = {1, 2, 3, 4, 0xFFFFFFFF},
         .tid = 0x20004000,
         .stamp = stamp + 20},
        {.frame = HOOKS_TID,
         .hook = 0x12300005,
         .words = 1,
         .data = {9},
         .buffer = "hello",
         .buffer_bytes = 5,
         .tid = 7},
        {.frame = HOOKS_WIDE | HOOKS_TID | HOOKS_STAMP | HOOKS_STAMP_8,
         .hook = UINT64_C(0x8000001012345678),
         .words = 2,
         .data = {UINT64_C(0x1122334455667788), 5},
         .tid = 8,
         .stamp = stamp + 30},
        {.frame = HOOKS_STAMP | 1u << 24, .hook = 0x12390000, .stamp = stamp + 40}};

    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        hooks_put(hooks, &records[i]);
}

static void check_kinds(unsigned core, uint64_t ticks, unsigned board)
{
    const uint64_t bits = (uint64_t)board << BOARD;
    const struct extract_event *e = event_of(core, 0);

    assert_int_equal(e->ticks, ticks);
    assert_int_equal(e->context, EXTRACT_INIT);
    assert_int_equal(e->thread, 0);
    e = event_of(core, 1);
    assert_int_equal(e->ticks, ticks + 10);
    assert_int_equal(e->thread, 0x20004000 ^ bits);
    assert_int_equal(e->id, 0x1230);
    assert_int_equal(e->field[0], 0x11223344);
    e = event_of(core, 2);
    assert_int_equal(e->context, EXTRACT_ISR);
    assert_int_equal(e->fields, 5);
    assert_int_equal(e->field[4], 0xFFFFFFFF);
    e = event_of(core, 3);
    assert_int_equal(e->ticks, ticks + 20); // it has no timestamp of its own
    assert_int_equal(e->thread, 7 ^ bits);
    assert_int_equal(e->data_bytes, 4 + 4 + 5);
    assert_memory_equal(e->data + 8, "hello", 5);
    e = event_of(core, 4);
    assert_int_equal(e->ticks, ticks + 30);
    assert_int_equal(e->field[0], UINT64_C(0x1122334455667788));
    assert_int_equal(e->field[1], 5);
    e = event_of(core + 1, 0); // of another processor
    assert_int_equal(e->ticks, ticks + 40);
    assert_int_equal(e->thread, 0);
}

// One board is little-endian, and the other is big-endian.
static void test_hook_boards(void **context)
{
    (void)context;
    for (unsigned big = 0; big < 2; big++) {
        begin_merge();
        hooks_build(&first, big, 4096, 0);
        hooks_build(&second, !big, 8192, 0xFFFFFF00);
        put_kinds(&first, 5000);
        put_kinds(&second, 5500);
        hooks_look(add_input(), &first);
        hooks_look(add_input(), &second);
        merge_boards(NULL);
        assert_int_equal(m.event_count, 12);
        assert_int_equal(extract_trace_info(m.trace)->cores, 4);
        check_kinds(0, 0, 0);
        check_kinds(2, 500 + OFFSET, 1);
        assert_int_equal(m.events[0].raw_stamp, 5000);
        end_merge();
    }
}

// The roles of a role file apply to each board by itself.
static void test_hook_roles(void **context)
{
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_stats *single, *both;
    (void)context;

    begin_merge();
    roles_build_stream(&first);
    roles_build_stream(&second);
    roles_look(add_input(), &first, roles);
    roles_look(add_input(), &second, roles);
    m.inputs[1].has_offset = true; // of 0, so that both end together
    assert_int_equal(plan(MERGE_BOARDS, NULL), EXTRACT_OK);
    write_and_open(roles);
    assert_int_equal(extract_stats_new(&single, NULL, m.looks[0].trace, &error), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&both, NULL, m.trace, &error), EXTRACT_OK);
    const uint64_t threads[] = {A, B, C};
    for (size_t i = 0; i < 3; i++) {
        const struct extract_thread_stats *alone = roles_thread_of(single, threads[i]);
        for (uint64_t board = 0; board < 2; board++) {
            const struct extract_thread_stats *own =
                roles_thread_of(both, threads[i] ^ board << BOARD);
            assert_int_equal(own->ticks, alone->ticks);
            assert_int_equal(own->events, alone->events);
        }
    }
    extract_stats_free(single);
    extract_stats_free(both);
    end_merge();
    extract_hook_roles_close(roles);
}

// Clocks whose rates the rings state.
static void test_rates(void **context)
{
    (void)context;
    begin_merge();
    hooks_build(&first, false, 4096, 0);
    hooks_build(&second, false, 4096, 0);
    hooks_word(&second, HOOKS_CLOCK_HZ, 4000000); // the other one has 1 MHz
    for (unsigned i = 0; i < 8; i++) {
        hooks_put_plain(&first, i, 1000 + 100 * i);
        hooks_put_plain(&second, i, 4200 + 400 * i);
    }
    hooks_look(add_input(), &first);
    hooks_look(add_input(), &second);
    m.inputs[1].has_offset = true;
    assert_int_equal(plan(MERGE_BOARDS, NULL), EXTRACT_OK);
    write_and_open(NULL);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(event_of(0, i)->raw_stamp, 1000 + 100 * i);
        assert_int_equal(event_of(1, i)->raw_stamp, 1050 + 100 * i);
    }
    end_merge();
}

// ---- POSIX trace ----

static struct ptr narrow, wide;

static void set_name(struct ptr *ptr, unsigned slot, const char *name)
{
    char *place = (char *)ptr->bytes + PTR_NAMES_AT + slot * PTR_NAME;

    memset(place, 0, PTR_NAME);
    memcpy(place, name, strlen(name));
    ptr_set(ptr, 48, slot + 1); // names_used
}

static void put_event(struct ptr *ptr, unsigned id, uint64_t stamp, const void *data,
                      unsigned bytes)
{
    const struct ptr_record record = {.id = id,
                                      .data = data,
                                      .data_bytes = bytes,
                                      .address = 0x08000100,
                                      .thread = 0x20004000,
                                      .stamp = stamp,
                                      .pid = 4711};
    ptr_put(ptr, 0, &record);
}

static const char *name_of(const struct extract_event *event)
{
    uint64_t key = extract_number_key(EXTRACT_KIND_USER_EVENT, event->field[0]);
    const struct extract_object *object = extract_trace_object(m.trace, key);

    return object ? object->name : "";
}

// A board of 32 bits and a process of 64 bits with the other byte order. Types have other numbers.
static void test_posix_boards(void **context)
{
    const struct ptr_kind small = {false, false, 4, 32}, large = {true, true, 8, 64};
    const uint8_t filter[] = {0, 0, 0, 0, 0, 0, 0, 0xA}; // of beta and delta: bits 33 and 35
    (void)context;

    begin_merge();
    ptr_build(&narrow, &small, 256, 0);
    ptr_build(&wide, &large, 256, 100);
    set_name(&wide, 1, "beta");
    set_name(&wide, 2, "gamma");
    set_name(&wide, 3, "delta");
    put_event(&narrow, 33, 1000, "abc", 3);
    put_event(&narrow, 34, 1100, NULL, 0);
    put_event(&narrow, 3, 1200, "\1\0\0\0", 4); // stopped by itself
    put_event(&wide, 2, 2000, filter, sizeof filter);
    put_event(&wide, 33, 2100, "hello", 5);
    put_event(&wide, 34, 2200, NULL, 0);
    put_event(&wide, 3, 2300, "\0\0\0\1", 4);
    struct ptr_record interrupt = {
        .id = 35, .address = 1, .thread = 15, .stamp = 2400, .interrupt = true};
    ptr_put(&wide, 0, &interrupt);
    look_open_memory(add_input(), ptr_memory(&narrow), PTR_ADDRESS, NULL);
    look_open_memory(add_input(), ptr_memory(&wide), PTR_ADDRESS, NULL);
    merge_boards(NULL);
    assert_int_equal(m.event_count, 8);
    assert_string_equal(name_of(event_of(0, 0)), "alpha");
    assert_memory_equal(event_of(0, 0)->data, "abc", 3);
    assert_string_equal(name_of(event_of(0, 1)), "beta");
    assert_int_equal(event_of(0, 1)->thread, 0x20004000);
    assert_int_equal(event_of(0, 2)->field[0], 1);
    const struct extract_event *start = event_of(1, 0);
    assert_int_equal(start->ticks, 1000 + OFFSET);
    assert_int_equal(start->field[3], 4711);
    assert_int_equal(start->thread, 0x20004000 ^ UINT64_C(1)
                                                     << 48); // one of the boards has 64 bits
    // In the log, beta is type 34, delta is still 35, and gamma is 36. Words are little-endian.
    assert_int_equal(start->data_bytes, 8);
    assert_memory_equal(start->data, "\0\0\0\0\x0C\0\0\0", 8);
    assert_int_equal(event_of(1, 2)->id, 36);
    assert_string_equal(name_of(event_of(1, 1)), "beta");
    assert_int_equal(event_of(1, 1)->id, event_of(0, 1)->id);
    assert_memory_equal(event_of(1, 1)->data, "hello", 5);
    assert_string_equal(name_of(event_of(1, 2)), "gamma");
    assert_int_equal(event_of(1, 3)->field[0], 1);
    const struct extract_event *last = event_of(1, 4);
    assert_string_equal(name_of(last), "delta");
    assert_int_equal(last->context, EXTRACT_ISR);
    assert_int_equal(last->field[4], 15);
    end_merge();
}

static size_t store_words(uint8_t *data, const struct ptr_kind *kind, uint64_t one, uint64_t two)
{
    for (unsigned k = 0; k < kind->address_bytes; k++) {
        unsigned shift = 8 * (kind->big ? kind->address_bytes - 1 - k : k);
        data[k] = (uint8_t)(one >> shift);
        data[kind->address_bytes + k] = (uint8_t)(two >> shift);
    }
    return 2 * (size_t)kind->address_bytes;
}

// A kernel's events: their words get the width of the log, and names of objects get a prefix.
static void test_kernels(void **context)
{
    const struct ptr_kind kinds[2] = {{true, false, 4, 32}, {false, false, 4, 16}};
    struct ptr *const boards[2] = {&narrow, &wide};
    (void)context;

    begin_merge();
    for (unsigned i = 0; i < 2; i++) {
        uint8_t data[32];
        ptr_build(boards[i], &kinds[i], 256, 0);
        set_name(boards[i], 1 + i, "rtos_switch");
        set_name(boards[i], 3 + i, "rtos_object_name");
        size_t bytes = store_words(data, &kinds[i], 0x20004000, 0x20004100);
        put_event(boards[i], 33 + i, 100, data, (unsigned)bytes);
        bytes = store_words(data, &kinds[i], 0x20004100, 0) / 2;
        memcpy(data + bytes, "worker", 6);
        put_event(boards[i], 35 + i, 200, data, (unsigned)bytes + 6);
        look_open_memory(add_input(), ptr_memory(boards[i]), PTR_ADDRESS, NULL);
    }
    merge_boards(NULL);
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t bits = (uint64_t)i << BOARD;
        const struct extract_event *e = event_of(i, 0);
        assert_string_equal(e->type->name, "rtos_switch");
        assert_int_equal(e->field[3], 0x20004000 ^ bits);
        assert_int_equal(e->field[4], 0x20004100 ^ bits);
        const struct extract_object *thread =
            extract_trace_thread(m.trace, UINT64_C(0x20004100) ^ bits);
        assert_non_null(thread);
        assert_string_equal(thread->name, i ? "b/worker" : "a/worker");
    }
    end_merge();
}

// ---- RKH ----

static struct rkh_bytes stream;

// Appends frames with names, pools, user events and an expected event, with a checksum, a sequence
// number, 16-bit timestamps and 8-bit signals.
static void put_frames(unsigned user)
{
    char frame[128];

    rkh_begin(&stream, true);
    rkh_hex(&stream, "ae 00 0001 00400020 \"&main\" 00"); // name of an active object
    rkh_hex(&stream, "a7 01 0002 05 \"GO\" 00");          // name of a signal
    rkh_hex(&stream, "b2 02 0003 02 \"big\" 00");         // name of a pool
    snprintf(frame, sizeof frame, "ab 03 0004 %02x \"%s\" 00", user, user == 1 ? "one" : "two");
    rkh_hex(&stream, frame); // name of a user event
    // A post of signal 5 to the object, by 0x20004100, of pool 2.
    rkh_hex(&stream, "43 04 7e05 00400020 05 00410020 03 01 01 01");
    // A user event with a number, an object, a signal, a text and bytes.
    snprintf(frame, sizeof frame,
             "%02x 05 0006 04 2a000000 09 00410020 0b 05 07 \"hi\" 00 08 02 7e7d", 0xC0 + user);
    rkh_hex(&stream, frame);
    // A unit test expects a post first of signal 5.
    rkh_hex(&stream, "e4 06 0007 63000000 44 00400020 05 00410020 00 01 01 01");
    rkh_hex(&stream, "a4 07 0008 05 00 02"); // a reference to a static event
}

static const char settings[] =
    "chk=1,nseq=1,ts=2,ptr=4,fun=4,sig=1,esize=2,nblk=1,bsize=1,nelem=1,ntick=2,sndr=1,qnmin=1,"
    "mpnmin=1,version=3.4,ts_hz=1000";

static void look_at_stream(const char *name)
{
    const char *path = scratch_write(name, stream.bytes, stream.length);

    assert_int_equal(rkh_look(add_input(), path, settings, &error), EXTRACT_OK);
}

struct taken_items {
    uint64_t values[8];
    size_t count;
};

static void take_item(void *context, const struct extract_item *item)
{
    struct taken_items *taken = context;

    taken->values[taken->count++] = item->bytes ? item->length : item->value;
}

static void check_frames(unsigned board, unsigned user, const char *user_name)
{
    const uint64_t bits = (uint64_t)board << BOARD, step = 10 * board;
    const struct extract_format *format = extract_trace_snapshot(m.trace)->ring.format;
    const char *prefix = board ? "b" : "a";
    struct taken_items taken = {.count = 0};
    char name[16];
    uint32_t number;

    const struct extract_event *e = event_of(board, 4);
    assert_int_equal(e->id, 67);
    assert_int_equal(e->thread, 0x20004000 ^ bits);
    const uint64_t fields[] = {0x20004000 ^ bits, 5 + step, 0x20004100 ^ bits, 2 + step, 1, 1, 1};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        assert_int_equal(e->field[i], fields[i]);
    snprintf(name, sizeof name, "%s/main", prefix);
    assert_string_equal(extract_trace_thread(m.trace, e->thread)->name, name);
    snprintf(name, sizeof name, "%s/GO", prefix);
    uint64_t key = extract_number_key(EXTRACT_KIND_SIGNAL, 5 + step);
    assert_string_equal(extract_trace_object(m.trace, key)->name, name);
    key = extract_number_key(EXTRACT_KIND_POOL, 2 + step);
    snprintf(name, sizeof name, "%s/big", prefix);
    assert_string_equal(extract_trace_object(m.trace, key)->name, name);
    key = extract_number_key(EXTRACT_KIND_USER_EVENT, user);
    assert_string_equal(extract_trace_object(m.trace, key)->name, user_name);
    e = event_of(board, 5);
    assert_int_equal(e->id, 192 + user);
    assert_true(format->describing->items(e, take_item, &taken, &number));
    assert_int_equal(number, user);
    assert_int_equal(taken.count, 5);
    const uint64_t items[] = {42, 0x20004100 ^ bits, 5 + step, 2, 2};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(taken.values[i], items[i]);
    e = event_of(board, 6);
    assert_int_equal(e->field[1], 68);
    assert_int_equal(e->field[0], 99);
    struct extract_event inner;
    assert_true(extract_trace_inner(m.trace, e, &inner));
    assert_int_equal(inner.field[0], 0x20004000 ^ bits);
    assert_int_equal(inner.field[1], 5 + step);
    assert_int_equal(inner.field[3], EXTRACT_NO_POOL);
    e = event_of(board, 7);
    assert_int_equal(e->field[0], 5 + step);
    assert_int_equal(e->field[1], EXTRACT_NO_POOL);
}

static void test_rkh_boards(void **context)
{
    (void)context;
    for (unsigned same = 0; same < 2; same++) {
        begin_merge();
        put_frames(1);
        look_at_stream("a.rkh");
        put_frames(same ? 1 : 3);
        look_at_stream("b.rkh");
        merge_boards(NULL);
        assert_int_equal(m.event_count, 16);
        check_frames(0, 1, "one");
        check_frames(1, same ? 1 : 3, same ? "one" : "two");
        assert_int_equal(event_of(1, 0)->ticks, OFFSET);
        end_merge();
    }
}

// User events of different names that have the same number get other numbers.
static void test_user_events(void **context)
{
    (void)context;
    begin_merge();
    rkh_begin(&stream, true);
    rkh_hex(&stream, "ab 00 0001 01 \"one\" 00");
    rkh_hex(&stream, "c1 01 0002 01 07");
    look_at_stream("a.rkh");
    rkh_begin(&stream, true);
    rkh_hex(&stream, "ab 00 0001 01 \"two\" 00");
    rkh_hex(&stream, "c1 01 0002 01 08");
    rkh_hex(&stream, "ab 02 0003 02 \"one\" 00");
    rkh_hex(&stream, "c2 03 0004 01 09");
    look_at_stream("b.rkh");
    merge_boards(NULL);
    assert_int_equal(event_of(0, 1)->id, 193);
    unsigned two = event_of(1, 1)->id - 192;
    assert_true(two != 1);
    uint64_t key = extract_number_key(EXTRACT_KIND_USER_EVENT, two);
    assert_string_equal(extract_trace_object(m.trace, key)->name, "two");
    assert_int_equal(event_of(1, 3)->id, 193);
    end_merge();
}

// Streams of different settings, also of an old version.
static void test_rkh_settings(void **context)
{
    static const struct {
        struct rkh_mix mix;
        bool chk;
        const char *words;
    } kinds[] = {
        {{4, 4, 1, 0}, true, "chk=1,nseq=1,ts=4,ptr=4,sig=1,sndr=1,qnmin=1,mpnmin=1,version=3.4"},
        {{2, 2, 2, 0}, false, "chk=0,nseq=1,ts=2,ptr=2,sig=2,sndr=0,qnmin=1,mpnmin=1,version=3.4"},
        {{4, 1, 4, -1}, true, "chk=1,nseq=0,ts=1,ptr=4,sig=4,sndr=1,qnmin=0,mpnmin=0,version=3.0"},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds, FRAMES = 90 };
    size_t counts[KINDS], total = 0;
    (void)context;

    begin_merge();
    for (unsigned i = 0; i < KINDS; i++) {
        rkh_begin(&stream, kinds[i].chk);
        rkh_mixed(&stream, &kinds[i].mix, FRAMES);
        const char *path =
            scratch_write(i ? i > 1 ? "c.rkh" : "b.rkh" : "a.rkh", stream.bytes, stream.length);
        assert_int_equal(rkh_look(add_input(), path, kinds[i].words, &error), EXTRACT_OK);
        m.inputs[i].has_offset = i != 0;
        m.inputs[i].offset = 7 * i;
    }
    assert_int_equal(plan(MERGE_BOARDS, NULL), EXTRACT_OK);
    write_and_open(NULL);
    for (unsigned i = 0; i < KINDS; i++) {
        size_t count;
        const struct extract_event *own = rkh_events(&m.looks[i], &count);
        counts[i] = count;
        for (size_t k = 0, n = 0; k < count; k++) {
            if (extract_event_is_mark(&own[k])) {
                counts[i]--;
                continue;
            }
            const struct extract_event *e = event_of(i, n++);
            assert_int_equal(e->id, own[k].id);
            assert_ptr_equal(e->type, own[k].type);
            assert_int_equal(e->fields, own[k].fields);
            for (unsigned f = 0; f < own[k].fields; f++) {
                enum extract_kind kind = own[k].type->field[f].kind;
                uint64_t wanted = own[k].field[f];
                if (kind == EXTRACT_KIND_OBJECT && wanted)
                    wanted ^= (uint64_t)i << BOARD;
                if (kind == EXTRACT_KIND_SIGNAL)
                    wanted += 10 * i;
                assert_int_equal(e->field[f], wanted);
            }
        }
        total += counts[i];
    }
    assert_int_equal(m.event_count, total);
    end_merge();
}

// Events without timestamps have an order only.
static void test_untimed(void **context)
{
    const struct rkh_mix mix = {4, 0, 1, 0};
    (void)context;

    for (unsigned boards = 0; boards < 2; boards++) {
        begin_merge();
        rkh_begin(&stream, true);
        rkh_mixed(&stream, &mix, 100);
        static const char words[] = "chk=1,nseq=1,ts=0,ptr=4,sig=1,sndr=1";
        size_t cut = 0, flags = 0;
        for (size_t i = 0; i < stream.length; i++) // after frame 60
            if (stream.bytes[i] == 0x7E && ++flags == 61)
                cut = i + 1;
        const char *path = scratch_write("a.rkh", stream.bytes, cut);
        assert_int_equal(rkh_look(add_input(), path, words, &error), EXTRACT_OK);
        flags = 0;
        for (size_t i = 0; i < stream.length; i++) // from frame 40 on
            if (stream.bytes[i] == 0x7E && ++flags == 41)
                cut = i;
        path = scratch_write("b.rkh", stream.bytes + cut, stream.length - cut);
        assert_int_equal(rkh_look(add_input(), path, words, &error), EXTRACT_OK);
        m.inputs[1].has_offset = boards;
        if (boards) {
            assert_int_equal(plan(MERGE_BOARDS, NULL), EXTRACT_USAGE);
            assert_non_null(strstr(error.why, "no timestamps"));
            assert_true(error.hint[0]);
        } else {
            assert_int_equal(plan(MERGE_SNAPSHOTS, NULL), EXTRACT_OK);
            write_and_open(NULL);
            assert_int_equal(m.event_count, 100);
            for (unsigned i = 0; i < 100; i++) { // the frames name objects by their numbers
                assert_int_equal(m.events[i].raw_stamp, 0);
                assert_int_equal(m.events[i].field[0],
                                 m.events[i].id == 102 || m.events[i].field[0] >= 0x20000000
                                     ? 0x20000000 + 24 * (i % 50)
                                     : 0);
            }
        }
        end_merge();
    }
}

// ---- shared events ----

static void put_shared(unsigned format, unsigned board, unsigned n, uint64_t stamp)
{
    uint8_t number[4] = {(uint8_t)n, 0, 0, 0};
    char frame[64];

    if (format == 0) {
        hooks_put_plain(board ? &second : &first, n, stamp);
    } else if (format == 1) {
        put_event(board ? &wide : &narrow, 33, stamp, number, 4);
    } else {
        snprintf(frame, sizeof frame, "a4 %02x %02x%02x 05 00 %02x", n, (unsigned)stamp & 0xFF,
                 (unsigned)stamp >> 8 & 0xFF, n);
        rkh_hex(&stream, frame);
    }
}

static void open_shared(unsigned format, unsigned board)
{
    if (format == 0)
        hooks_look(add_input(), board ? &second : &first);
    else if (format == 1)
        look_open_memory(add_input(), ptr_memory(board ? &wide : &narrow), PTR_ADDRESS, NULL);
    else
        look_at_stream(board ? "b.rkh" : "a.rkh");
}

// The clock of the second board is 3000 ticks ahead, and shared events are recorded up to 3 ticks
// later.
static void test_align(void **context)
{
    static const char *const align[] = {"0x1230:D1", "alpha", "RKH_TE_FWK_GC:refc"};
    const struct ptr_kind kind = {false, false, 4, 32};
    (void)context;

    for (unsigned format = 0; format < 3; format++) {
        begin_merge();
        state = 11 + format;
        hooks_build(&first, false, 4096, 0);
        hooks_build(&second, true, 4096, 0);
        ptr_build(&narrow, &kind, 512, 0);
        ptr_build(&wide, &kind, 512, 0);
        for (unsigned board = 0; board < 2; board++) {
            rkh_begin(&stream, true);
            for (unsigned i = 0; i < SHARED; i++)
                put_shared(format, board, i, 100 + 50 * i + (board ? 3000 + random_below(4) : 0));
            open_shared(format, board);
        }
        assert_int_equal(plan(MERGE_BOARDS, align[format]), EXTRACT_OK);
        assert_int_equal(m.inputs[1].shared, SHARED);
        assert_int_equal(m.inputs[1].clock.certainty, MERGE_LIKELY);
        double away = m.inputs[1].shift + 3000;
        assert_true(away >= -4 && away <= 4);
        assert_true(m.inputs[1].clock.uncertainty <= 8);
        write_and_open(NULL);
        assert_int_equal(m.event_count, 2 * SHARED);
        for (unsigned i = 0; i < SHARED; i++) {
            int64_t apart = (int64_t)(event_of(1, i)->ticks - event_of(0, i)->ticks);
            assert_true(apart >= -8 && apart <= 8);
        }
        end_merge();
    }
}

// ---- snapshots ----

// Snapshots of a ring that overwrites its oldest entries, at random times.
static void test_snapshots(void **context)
{
    const struct ptr_kind kind = {true, true, 8, 64};
    (void)context;

    for (unsigned seed = 1; seed <= 60; seed++) {
        bool is_hook = seed % 2;
        uint32_t oldest = 0, n = 0;
        state = UINT64_C(0x9E3779B97F4A7C15) * seed;
        begin_merge();
        hooks_build(&first, seed % 3, 512, random_below(1u << 20) * 4);
        ptr_build(&wide, &kind, 256, random_below(1u << 20));
        for (unsigned i = 0; i < MAX_INPUTS; i++) {
            for (uint32_t more = 1 + random_below(12); more; more--, n++) {
                uint32_t stamp = 1000 + n / 2 * 10; // two entries at each time
                if (is_hook)
                    hooks_put_plain(&first, n, stamp);
                else
                    put_event(&wide, 33, stamp, &n, sizeof n);
            }
            if (is_hook)
                hooks_look(add_input(), &first);
            else
                look_open_memory(add_input(), ptr_memory(&wide), PTR_ADDRESS, NULL);
            size_t count;
            const struct extract_event *events = look_events(&m.looks[i], &count);
            oldest = i ? oldest : is_hook ? (uint32_t)events[0].field[0] : n - (uint32_t)count;
        }
        assert_int_equal(plan(MERGE_SNAPSHOTS, NULL), EXTRACT_OK);
        write_and_open(NULL);
        assert_int_equal(m.event_count, n - oldest);
        for (uint32_t i = 0; i < m.event_count; i++) {
            uint32_t number = (uint32_t)m.events[i].field[0];
            if (!is_hook)
                memcpy(&number, m.events[i].data, sizeof number);
            assert_int_equal(number, oldest + i);
            assert_int_equal(m.events[i].raw_stamp, 1000 + (oldest + i) / 2 * 10);
        }
        end_merge();
    }
}

// ---- memory ----

static enum extract_code attempt(void)
{
    const struct merge_options options = {.kind = MERGE_BOARDS};
    const struct extract_log_options how = {.size = sizeof how, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer = NULL;
    struct merge merge;

    enum extract_code code = merge_plan(&merge, m.inputs, m.count, &options, &error);
    if (!code)
        code = extract_log_create(&writer, scratch_path("memory.log"), &how, &error);
    if (!code)
        code = merge_write(&merge, writer, &error);
    enum extract_code closed = extract_log_close(writer, NULL);
    merge_free(&merge);
    unlink(scratch_path("memory.log"));
    return code ? code : closed;
}

static void test_memory(void **context)
{
    const struct ptr_kind kind = {false, false, 4, 32};
    (void)context;

    for (unsigned format = 0; format < 3; format++) {
        begin_merge();
        hooks_build(&first, false, 4096, 0);
        hooks_build(&second, true, 4096, 0);
        ptr_build(&narrow, &kind, 512, 0);
        ptr_build(&wide, &kind, 512, 0);
        for (unsigned board = 0; board < 2; board++) {
            rkh_begin(&stream, true);
            for (unsigned i = 0; i < SHARED; i++)
                put_shared(format, board, i, 100 + 50 * i);
            open_shared(format, board);
            m.inputs[board].trace = m.looks[board].trace;
            m.inputs[board].has_offset = board;
        }
        each_allocation_fails(attempt);
        end_merge();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hook_boards), cmocka_unit_test(test_hook_roles),
        cmocka_unit_test(test_rates),       cmocka_unit_test(test_posix_boards),
        cmocka_unit_test(test_kernels),     cmocka_unit_test(test_rkh_boards),
        cmocka_unit_test(test_user_events), cmocka_unit_test(test_rkh_settings),
        cmocka_unit_test(test_untimed),     cmocka_unit_test(test_align),
        cmocka_unit_test(test_snapshots),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
