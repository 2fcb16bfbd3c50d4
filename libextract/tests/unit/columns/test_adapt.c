// SPDX-License-Identifier: MIT
// unit: events as entries: the bytes, ids, contexts and names that templates see.
//
// Truth: the layout of hook words (AIX: trchook, "hook word") and docs/formats/threadx.md, "As hook
// entries", by hand.
#include "report/columns/entry_builder.h"
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"

enum { MAIN = 0x20004000, QUEUE = 0x20006000, UNNAMED = 0x20007000 };

#define PRIORITY UINT64_C(0x80050007) // threshold 5, priority 7

static struct ring_image image;
static struct look look;
static struct entry_builder *builder;
static struct extract_error error;

static const struct ring_object objects[] = {
    {0, 1, 0x80, 7, MAIN, 0x20005000, 512, "main"},
    {0, 3, 0, 0, QUEUE, 64, 1, "input"},
};

static void begin(unsigned word_bytes, bool big_endian, const struct ring_entry *entries,
                  size_t count)
{
    struct ring_spec spec = ring_plain;
    spec.word_bytes = word_bytes;
    spec.big_endian = big_endian;
    ring_build(&image, &spec);
    ring_fill(&image, objects, 2, entries, count);
    look_open(&look, &image);
    assert_int_equal(entry_builder_open(&builder, look.trace, NULL, &error), EXTRACT_OK);
}

static void end(void)
{
    assert_false(builder->failed);
    entry_builder_close(builder);
    look_close(&look);
}

static const struct extract_entry *take(size_t i)
{
    const struct extract_template *chosen;
    const struct extract_entry *entry = entry_builder_build(builder, look_event(&look, i), &chosen);
    assert_null(chosen);
    return entry;
}

static const struct ring_entry queue_send = {
    MAIN, PRIORITY, 69, 1000, {QUEUE, 0x2000ABCD, 0xFFFFFFFF, 3}};

static void test_32_bits(void **state)
{
    static const uint8_t bytes[] = {0x04, 0x5E, 0x00, 0x45, 0x20, 0x00, 0x60, 0x00,
                                    0x20, 0x00, 0xAB, 0xCD, 0xFF, 0xFF, 0xFF, 0xFF,
                                    0x00, 0x00, 0x00, 0x03, 0x80, 0x05, 0x00, 0x07};
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        begin(4, big, &queue_send, 1);
        const struct extract_entry *entry = take(0);
        assert_int_equal(entry->length, sizeof bytes);
        assert_memory_equal(entry->bytes, bytes, sizeof bytes);
        assert_int_equal(entry->bits, 32);
        assert_int_equal(entry->type, 0xE);
        assert_int_equal(entry->bytes_of_data, 20);
        assert_int_equal(builder->host.kernel_bits, 32);
        end();
    }
}

static void test_64_bits(void **state)
{
    static const uint8_t bytes[] = {0x80, 0x00, 0x00, 0x28, 0x04, 0x50, 0x00, 0x45, 0x00, 0x00,
                                    0x00, 0x00, 0x20, 0x00, 0x60, 0x00, 0x12, 0x34, 0x56, 0x78,
                                    0x9A, 0xBC, 0xDE, 0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                    0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                                    0x00, 0x00, 0x00, 0x00, 0x80, 0x05, 0x00, 0x07};
    struct ring_entry wide = queue_send;
    (void)state;
    wide.info[1] = UINT64_C(0x123456789ABCDEF0);
    wide.info[2] = UINT64_MAX;
    for (unsigned big = 0; big < 2; big++) {
        begin(8, big, &wide, 1);
        const struct extract_entry *entry = take(0);
        assert_int_equal(entry->length, sizeof bytes);
        assert_memory_equal(entry->bytes, bytes, sizeof bytes);
        assert_int_equal(entry->bits, 64);
        assert_int_equal(entry->type, 0x8000);
        assert_int_equal(entry->bytes_of_data, 40);
        end();
    }
}

static void test_what_else_an_entry_says(void **state)
{
    struct ring_entry entries[2] = {queue_send, queue_send};
    (void)state;
    entries[1].id = 3 << 24 | 1; // a thread resumes on core 3
    entries[1].info[0] = MAIN;
    entries[1].thread = 0x20009990;
    begin(4, false, entries, 2);
    builder->log_file = "board.trx";
    const struct extract_entry *entry = take(0);
    assert_string_equal(entry->log_file, "board.trx");
    assert_int_equal(entry->hook, 0x0450);
    assert_int_equal(entry->data, 0x45);
    assert_false(entry->generic);
    assert_int_equal(entry->cpu, 0);
    assert_int_equal(entry->priority, 7);
    assert_int_equal(entry->pid, MAIN);
    assert_int_equal(entry->tid, MAIN);
    assert_int_equal(entry->log_offset, 0);
    assert_string_equal(entry->exec, "main");
    assert_string_equal(entry->svc, "queue send");
    entry = take(1);
    assert_int_equal(entry->hook, 0x0010);
    assert_int_equal(entry->cpu, 3);
    assert_int_equal(entry->log_offset, 32);
    assert_null(entry->svc); // the scheduler is not a service
    end();
}

static void test_contexts(void **state)
{
    struct ring_entry entries[4] = {queue_send, queue_send, queue_send, queue_send};
    static const char *const who[] = {"interrupt/main", "interrupt", "start-up", "0x20009990"};
    static const uint64_t tid[] = {MAIN, 0, 0, 0x20009990};
    (void)state;
    entries[0].thread = entries[1].thread = RING_IN_ISR;
    entries[0].priority = MAIN;
    entries[1].priority = 0;
    entries[2].thread = RING_IN_INIT;
    entries[2].priority = 0;
    entries[3].thread = 0x20009990; // in no registry
    begin(4, false, entries, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct extract_entry *entry = take(i);
        assert_string_equal(entry->exec, who[i]);
        assert_int_equal(entry->tid, tid[i]);
        assert_int_equal(entry->pid, tid[i]);
        struct entry_builder_text text = entry_builder_context_name(builder, look_event(&look, i));
        assert_string_equal(text.bytes, who[i]);
        assert_int_equal(text.length, strlen(who[i]));
        assert_int_equal(text.columns, strlen(who[i]));
    }
    end();
}

static void test_ids_of_three_and_of_four_digits(void **state)
{
    static const struct {
        uint64_t id;
        uint16_t hook;
        const char *shown;
        uint8_t word[4];
    } rows[] = {{1, 0x0010, "001", {0x00, 0x1E, 0x00, 0x01}},
                {256, 0x1000, "100", {0x10, 0x0E, 0x01, 0x00}},
                {0xFFF, 0xFFF0, "FFF", {0xFF, 0xFE, 0x0F, 0xFF}},
                {4096, 0x1000, "1000", {0x10, 0x0E, 0x10, 0x00}},
                {0xABCD, 0xABCD, "ABCD", {0xAB, 0xCE, 0xAB, 0xCD}}};
    struct ring_entry entries[5];
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        entries[i] = queue_send;
        entries[i].id = rows[i].id;
    }
    begin(4, false, entries, 5);
    for (size_t i = 0; i < 5; i++) {
        char id[ENTRY_BUILDER_ID_BYTES];
        const struct extract_entry *entry = take(i);
        assert_int_equal(entry->hook, rows[i].hook);
        assert_int_equal(entry->data, rows[i].id);
        assert_memory_equal(entry->bytes, rows[i].word, 4);
        entry_builder_put_id(builder, look_event(&look, i), id);
        assert_string_equal(id, rows[i].shown);
    }
    end();
}

// Asserts a name twice: the first call makes it, and the second one finds it.
static void assert_name(const struct extract_entry *entry, unsigned word, uint64_t value,
                        const char *expected)
{
    for (unsigned i = 0; i < 2; i++) {
        size_t length;
        const char *name = builder->host.name(builder->host.context, entry, value, word, &length);
        assert_string_equal(name, expected);
        assert_int_equal(length, strlen(expected));
    }
}

static void test_names_by_kind(void **state)
{
    static const struct {
        uint32_t id; // an event whose field has the kind
        unsigned word;
        uint64_t value;
        const char *name;
    } rows[] = {
        {69, 1, QUEUE, "input"},        // an object
        {69, 1, MAIN, "main"},          // another kind of object
        {69, 1, 0, "none"},             // none
        {69, 1, UNNAMED, "0x20007000"}, // an unknown one
        {69, 1, 0x77, "0x0077"},        // printed like a macro: at least 4 digits
        {69, 1, UINT64_C(0x123456789), "0x0000000123456789"},
        {69, 3, 0, "none"}, // a waiting time
        {69, 3, 0xFFFFFFFF, "forever"},
        {69, 3, UINT64_MAX, "forever"},
        {69, 3, 250, "250"},
        {69, 4, 12, "12"},          // a count
        {2, 2, 4, "sleep"},         // a thread's state
        {2, 2, 99, "99"},           // no such state
        {323, 4, 5, "established"}, // a TCP state
        {32, 4, 3, "and clear"},    // an option
        {36, 3, 2, "and"},
        {50, 2, 0, "no"}, // a truth value
        {50, 2, 1, "yes"},
        {370, 2, 0xC0A80114, "192.168.1.20"}, // an address of IPv4
        {261, 2, 0x08000101, "0x08000101"},   // code, without symbols
        {222, 2, 0x08000200, "0x08000200"},   // a text that cannot be read
        {112, 1, 30, "30"},                   // a number of ticks
        {28, 1, MAIN, "main"},                // hexadecimal in the event table
        {4096, 1, QUEUE, "input"},            // a user event
        {4096, 1, 5, "0x0005"},
        {69, 0, MAIN, "main"}, // not in a data word
        {69, 5, MAIN, "main"}, // the priority word
    };
    struct extract_event event = {.seq = 0};
    struct extract_entry entry = {.event = &event};
    (void)state;
    begin(4, false, &queue_send, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        event.type = extract_trace_type(look.trace, rows[i].id);
        assert_name(&entry, rows[i].word, rows[i].value, rows[i].name);
    }
    entry.event = NULL;
    assert_name(&entry, 1, MAIN, "main");
    end();
}

// The strings of an entry stay valid while any number of names is requested.
static void test_names_leave_the_entry_alone(void **state)
{
    const struct extract_template *chosen;
    (void)state;
    begin(4, false, &queue_send, 1);
    const struct extract_entry *entry = entry_builder_build(builder, look_event(&look, 0), &chosen);
    for (uint64_t i = 0; i < 4 * TEXT_CACHE_SLOTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "0x%08X", (unsigned)(0x30000000 + i * 4));
        assert_name(entry, 1, 0x30000000 + i * 4, name);
    }
    assert_string_equal(entry->exec, "main");
    assert_string_equal(entry->svc, "queue send");
    end();
}

static void assert_described(const struct extract_event *event, const char *expected)
{
    struct extract_outcome outcome = {.fault = "?"};
    assert_true(entry_builder_describe(builder, event, &outcome));
    assert_int_equal(outcome.length, strlen(expected));
    assert_memory_equal(outcome.text, expected, outcome.length);
    assert_int_equal(outcome.ending, EXTRACT_ENDS_WELL);
    assert_null(outcome.fault);
}

static void test_events_without_a_template(void **state)
{
    struct ring_entry entries[4] = {queue_send, queue_send, queue_send, queue_send};
    (void)state;
    entries[1].id = 4099;
    entries[2].id = 150; // an unknown id
    entries[3].id = 6;   // without fields
    begin(4, false, entries, 4);
    assert_described(look_event(&look, 0),
                     "queue send queue=input source=0x2000ABCD wait=forever enqueued=3");
    assert_described(look_event(&look, 1), "user event 4099 info1=0x20006000 info2=0x2000ABCD "
                                           "info3=0xFFFFFFFF info4=0x0003");
    assert_described(look_event(&look, 2),
                     "event 150 info1=0x20006000 info2=0x2000ABCD info3=0xFFFFFFFF info4=0x0003");
    assert_described(look_event(&look, 3), "running");
    end();
}

static void test_types_of_the_users_own(void **state)
{
    static const char file[] = "Start\n"
                               "4096,motor\x01 on,AA,1,2,3,4,5,6,speed now,,x,\n"
                               "69,my send,AA,1,2,3,4,5,6,,,,\n"
                               "End\n";
    struct ring_entry entries[2] = {queue_send, queue_send};
    struct extract_user_types *types;
    struct extract_trace *trace;
    (void)state;
    entries[0].id = 4096;
    begin(4, false, entries, 2);
    entry_builder_close(builder);
    assert_int_equal(extract_user_types_open(&types, scratch_puts("own.trxc", file), &error), 0);
    struct extract_trace_options options = {.size = sizeof options, .user_types = types};
    assert_int_equal(extract_trace_open(&trace, &look.snapshot, &options, &error), EXTRACT_OK);
    assert_int_equal(entry_builder_open(&builder, trace, NULL, &error), EXTRACT_OK);
    struct extract_event event = *look_event(&look, 0);
    event.type = extract_trace_type(trace, 4096);
    assert_described(&event, "motor\\x01 on speed_now=0x20006000 x=0xFFFFFFFF");
    event.id = 69;
    event.type = extract_trace_type(trace, 69);
    assert_described(&event, "my send");
    end();
    extract_trace_close(trace);
    extract_user_types_close(types);
}

// A failed allocation is an error or sets the builder's flag, and no memory leaks.
static void test_without_memory(void **state)
{
    (void)state;
    begin(4, false, &queue_send, 1);
    end();
    ring_build(&image, &ring_plain);
    ring_fill(&image, objects, 2, &queue_send, 1);
    look_open(&look, &image);
    struct extract_event event = *look_event(&look, 0);
    for (long i = 0; i < 8; i++) {
        const struct extract_template *chosen;
        struct extract_outcome outcome;
        long live = alloc_live;
        alloc_countdown = i;
        if (entry_builder_open(&builder, look.trace, NULL, &error) == EXTRACT_OK) {
            entry_builder_build(builder, &event, &chosen);
            entry_builder_describe(builder, &event, &outcome);
            assert_true(builder->failed || alloc_countdown >= 0);
            entry_builder_close(builder);
        } else {
            assert_null(builder);
        }
        alloc_countdown = -1;
        assert_int_equal(alloc_live, live);
    }
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_32_bits),
        cmocka_unit_test(test_64_bits),
        cmocka_unit_test(test_what_else_an_entry_says),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_ids_of_three_and_of_four_digits),
        cmocka_unit_test(test_names_by_kind),
        cmocka_unit_test(test_names_leave_the_entry_alone),
        cmocka_unit_test(test_events_without_a_template),
        cmocka_unit_test(test_types_of_the_users_own),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
