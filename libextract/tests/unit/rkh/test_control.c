// SPDX-License-Identifier: MIT
// Tests the filters of a target: the bits in its tables are those that the framework sets. Truth:
// worked out by hand from docs/formats/rkh.md, "Filters".
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include <extract/filter.h>

static struct extract_symbols *symbols;
static struct extract_error error;
static struct extract_memory *memory;
static uint64_t groups_at, events_at, objects_at, signals_at;

static uint64_t address_of(const char *name)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    return symbol.address;
}

static int compile(void **state)
{
    if (scratch_make(state))
        return -1;
    scratch_puts("fw.c", "static unsigned char trcgfilter, trceftbl[17], trcsmaftbl[1], "
                         "trcsigftbl[2];\n"
                         "int main(void) { trcgfilter++; trceftbl[3]++; trcsmaftbl[0]++; "
                         "trcsigftbl[1]++; return 0; }\n");
    if (!scratch_run("gcc -O0 -no-pie -o fw.elf fw.c") ||
        extract_symbols_open(&symbols, scratch_path("fw.elf"), &error))
        return 0;
    groups_at = address_of("trcgfilter");
    events_at = address_of("trceftbl");
    objects_at = address_of("trcsmaftbl");
    signals_at = address_of("trcsigftbl");
    return 0;
}

static int release(void **state)
{
    extract_symbols_close(symbols);
    return scratch_remove(state);
}

// Opens a target whose tables hold the same byte everywhere.
static struct extract_control *tables(uint8_t byte)
{
    struct extract_control *control;
    uint8_t bytes[17];
    memset(bytes, byte, sizeof bytes);
    if (!symbols)
        skip();
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    const uint64_t at[] = {groups_at, events_at, objects_at, signals_at};
    const size_t length[] = {1, 17, 1, 2};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            extract_memory_add_bytes(memory, "tables", bytes, length[i], at[i], &error),
            EXTRACT_OK);
    assert_int_equal(extract_control_read(&control, memory, symbols, NULL, NULL, &error),
                     EXTRACT_OK);
    return control;
}

static void close_tables(struct extract_control *control)
{
    extract_control_free(control);
    extract_memory_close(memory);
}

static enum extract_code change(struct extract_control *control, const char *state,
                                const char *what)
{
    const char *words[] = {state, what};
    return extract_control_change(control, words, 2, &error);
}

// Checks that there are `count` edits, and that the first one is the given edit.
static void expect(const struct extract_control *control, size_t count, uint64_t address,
                   uint8_t before, uint8_t after)
{
    struct extract_edit edit = {0};
    assert_true(extract_control_edit(control, 0, &edit));
    assert_int_equal(edit.address, address);
    assert_int_equal(edit.before, before);
    assert_int_equal(edit.after, after);
    assert_true(extract_control_edit(control, count - 1, &edit));
    assert_false(extract_control_edit(control, count, &edit));
}

static void test_bits(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint8_t group, at, bit; // byte and bit in the table of events
    } events[] = {
        {"event=MP_INIT", 0, 0, 0},    {"event=QUE_GET_LAST", 1, 1, 6},
        {"event=SMA_FIFO", 2, 2, 3},   {"event=RKH_TE_SMA_DEFER", 2, 2, 7},
        {"event=SM_EXE_ACT", 3, 6, 0}, {"event=TMR_TOUT", 4, 7, 3},
        {"event=FWK_EX", 5, 8, 1},     {"event=USER9", 6, 12, 1},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct extract_control *control = tables(0);
        struct extract_edit edit;
        enum extract_code code = change(control, "on", events[i].what);
        if (code)
            print_error("%s: %s\n", events[i].what, error.why);
        assert_int_equal(code, EXTRACT_OK);
        expect(control, 2, groups_at, 0, (uint8_t)(1u << events[i].group));
        assert_true(extract_control_edit(control, 1, &edit));
        assert_int_equal(edit.address, events_at + events[i].at);
        assert_int_equal(edit.after, 1u << events[i].bit);
        close_tables(control);
        control = tables(0xFF);
        assert_int_equal(change(control, "off", events[i].what), EXTRACT_OK);
        expect(control, 1, events_at + events[i].at, 0xFF, (uint8_t) ~(1u << events[i].bit));
        close_tables(control);
    }
}

static void test_others(void **state)
{
    struct extract_control *control = tables(0xFF);
    (void)state;
    assert_int_equal(change(control, "off", "group=SMA"), EXTRACT_OK);
    expect(control, 1, groups_at, 0xFF, 0xFB);
    assert_int_equal(change(control, "on", "group=S*"), EXTRACT_OK);
    assert_int_equal(change(control, "off", "signal=9"), EXTRACT_OK);
    expect(control, 1, signals_at + 1, 0xFF, 0xFD);
    assert_int_equal(change(control, "on", "signal=9"), EXTRACT_OK);
    assert_int_equal(change(control, "off", "ao=1"), EXTRACT_OK);
    expect(control, 1, objects_at, 0xFF, 0xFD);
    assert_int_equal(change(control, "off", "all"), EXTRACT_OK);
    expect(control, 21, groups_at, 0xFF, 0);
    close_tables(control);
}

static void test_refused(void **state)
{
    struct extract_control *control = tables(0xFF);
    struct extract_edit edit;
    const char *half[] = {"off", "event=SMA_*", "event=NOT_ONE"};
    (void)state;
    assert_int_equal(extract_control_change(control, half, 3, &error), EXTRACT_NOTFOUND);
    assert_false(extract_control_edit(control, 0, &edit));
    assert_int_equal(extract_control_change(control, half, 1, &error), EXTRACT_USAGE);
    assert_int_equal(change(control, "of", "all"), EXTRACT_USAGE);
    assert_int_equal(change(control, "on", "thing=1"), EXTRACT_USAGE);
    assert_int_equal(change(control, "on", "signal=16"), EXTRACT_NOTFOUND);
    assert_int_equal(change(control, "on", "ao=8"), EXTRACT_NOTFOUND);
    assert_false(extract_control_edit(control, 0, &edit));
    close_tables(control);
}

static void test_shown(void **state)
{
    struct extract_control *control = tables(0xFF);
    struct extract_text text;
    const char *words[] = {"off", "group=USR", "event=SMA_FIFO", "event=SMA_LIFO", "signal=3"};
    (void)state;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_control_change(control, words, 5, &error), EXTRACT_OK);
    extract_control_show(control, false, &text);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data, "groups: all\nevents: all\nactive objects: all\nsignals: all\n");
    text.used = 0;
    extract_control_show(control, true, &text);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data, "groups: all but USR\nevents: all but SMA_FIFO SMA_LIFO\n"
                                   "active objects: all\nsignals: all but 3\n");
    close_tables(control);
    control = tables(0);
    text.used = 0;
    assert_int_equal(change(control, "on", "event=SMA_GET"), EXTRACT_OK);
    extract_control_show(control, true, &text);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data, "groups: only SMA\nevents: only SMA_GET\n"
                                   "active objects: none\nsignals: none\n");
    extract_text_free(&text);
    close_tables(control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, compile, release);
}
