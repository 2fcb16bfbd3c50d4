// SPDX-License-Identifier: MIT
// Tests the filters of older targets, whose tables have a different layout. Truth: worked out by
// hand from docs/formats/rkh.md, "Ids" and "Filters".
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include <extract/filter.h>

enum { EVENT_BYTES = 17 };

static struct extract_error error;

// A target: the text of its rkh_version ("": it has none), its own map, and the bytes of its table.
struct target {
    const char *version, *map;
    unsigned bytes;
    struct extract_symbols *symbols;
    struct extract_memory *memory;
    uint64_t groups_at, events_at;
};

static uint64_t add(struct target *target, const char *name, uint8_t byte)
{
    struct extract_symbol symbol;
    uint8_t bytes[EVENT_BYTES];
    memset(bytes, byte, sizeof bytes);
    assert_true(extract_symbols_by_name(target->symbols, name, &symbol));
    assert_int_equal(extract_memory_add_bytes(target->memory, name, bytes, (size_t)symbol.size,
                                              symbol.address, &error),
                     EXTRACT_OK);
    return symbol.address;
}

static struct extract_control *open_target(struct target *target, const char *words)
{
    char source[1024];
    struct extract_control *control;
    struct extract_rkh rkh = {.view = 0};
    snprintf(source, sizeof source,
             "%s%s%s\n%s%s%s\nunsigned char trcgfilter, trceftbl[%u];\n"
             "int main(void) { return trcgfilter + trceftbl[0]; }\n",
             *target->version ? "const char rkh_version[] = \"" : "", target->version,
             *target->version ? "\";" : "",
             *target->map ? "const unsigned char trcgmtbl[] = {" : "", target->map,
             *target->map ? "};" : "", target->bytes);
    scratch_puts("fw.c", source);
    if (!scratch_run("gcc -O0 -no-pie -o fw.elf fw.c") ||
        extract_symbols_open(&target->symbols, scratch_path("fw.elf"), &error))
        skip();
    assert_int_equal(extract_memory_new_images(&target->memory, &error), EXTRACT_OK);
    target->groups_at = add(target, "trcgfilter", 0);
    target->events_at = add(target, "trceftbl", 0);
    if (words)
        assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_OK);
    assert_int_equal(
        extract_control_read(&control, target->memory, target->symbols, NULL, &rkh, &error),
        EXTRACT_OK);
    return control;
}

static void close_target(struct target *target, struct extract_control *control)
{
    extract_control_free(control);
    extract_memory_close(target->memory);
    extract_symbols_close(target->symbols);
}

static enum extract_code turn_on(struct extract_control *control, const char *what)
{
    const char *words[] = {"on", what};
    return extract_control_change(control, words, 2, &error);
}

struct bit {
    const char *what;
    uint8_t group, at, bit; // byte and bit in the table of events
};

static void expect(struct target target, const char *words, const struct bit *bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct extract_control *control = open_target(&target, words);
        struct extract_edit edit;
        enum extract_code code = turn_on(control, bits[i].what);
        if (code)
            print_error("%s: %s\n", bits[i].what, error.why);
        assert_int_equal(code, EXTRACT_OK);
        assert_true(extract_control_edit(control, 0, &edit));
        assert_int_equal(edit.address, target.groups_at);
        assert_int_equal(edit.after, 1u << bits[i].group);
        assert_true(extract_control_edit(control, 1, &edit));
        assert_int_equal(edit.address, target.events_at + bits[i].at);
        assert_int_equal(edit.after, 1u << bits[i].bit);
        assert_false(extract_control_edit(control, 2, &edit));
        close_target(&target, control);
    }
}

// In 2.4.5 the groups' offsets are 0 1 2 3 6 7 10 14. DEFER is the sixth event of FWK, DCH is the
// seventh of SMA, and TUSR has the id 173.
static const struct bit bits_245[] = {
    {"event=SMA_FIFO", 2, 2, 3},    {"event=SMA_DEFER", 5, 7, 6}, {"event=FWK_DEFER", 5, 7, 6},
    {"event=SM_DCH", 2, 2, 7},      {"event=SMA_DCH", 2, 2, 7},   {"event=SM_EXE_ACT", 3, 5, 0},
    {"event=FWK_TUSR", 5, 8, 5},    {"event=TMR_TOUT", 4, 6, 3},  {"event=TIM_TOUT", 4, 6, 3},
    {"event=RQ_GET_LAST", 1, 1, 6}, {"event=USER9", 6, 11, 1},    {"event=UT_INIT", 7, 14, 0},
};

// In 2.4.4, TUSR has the id 172 and EXE_FUN the id 171.
static const struct bit bits_244[] = {
    {"event=SMA_RCALL", 5, 7, 7}, {"event=FWK_EXE_FUN", 5, 8, 3}, {"event=FWK_TUSR", 5, 8, 4},
    {"event=SM_DCH", 2, 2, 7},    {"event=USER31", 6, 13, 7},     {"event=FWK_QUEUE", 5, 9, 4},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_245_by_size(void **state)
{
    (void)state;
    expect((struct target){"", "", 16, NULL, NULL, 0, 0}, NULL, bits_245, COUNT(bits_245));
}

static void test_245_by_version(void **state)
{
    (void)state;
    expect((struct target){"2.4.6", "0,1,1,1,2,1,3,3,6,1,7,3,10,4,14,2", 16, NULL, NULL, 0, 0},
           NULL, bits_245, 3);
}

static void test_244(void **state)
{
    (void)state;
    expect((struct target){"2.4.04", "", 14, NULL, NULL, 0, 0}, NULL, bits_244, COUNT(bits_244));
    // The user states the version, and the target has its own map. In the map, one byte holds both
    // numbers of a group.
    expect((struct target){"", "0x01,0x11,0x21,0x33,0x61,0x73,0xA4", 14, NULL, NULL, 0, 0},
           "version=2.4.4", bits_244, COUNT(bits_244));
}

// In 2.3, SM_DCH has the id 98, and the ids of the events after it are higher by one.
static void test_older_with_map(void **state)
{
    static const struct bit bits[] = {{"event=SM_DCH", 3, 3, 2}, {"event=SM_TRN", 3, 3, 3}};
    (void)state;
    expect((struct target){"2.3.0", "0x01,0x11,0x21,0x33,0x61,0x73,0xA4", 14, NULL, NULL, 0, 0},
           NULL, bits, COUNT(bits));
}

// Checks that a filter for an event is refused and writes nothing. A filter for a group still
// works, since its bits never move.
static void expect_refused(struct target target, enum extract_code code)
{
    struct extract_control *control = open_target(&target, NULL);
    struct extract_edit edit;
    struct extract_text text;
    assert_int_equal(turn_on(control, "event=SMA_FIFO"), code);
    assert_true(*error.hint);
    assert_false(extract_control_edit(control, 0, &edit));
    extract_text_init(&text, NULL, NULL);
    extract_control_show(control, false, &text);
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, "groups: none\nevents: unknown ("));
    extract_text_free(&text);
    assert_int_equal(turn_on(control, "group=FWK"), EXTRACT_OK);
    assert_true(extract_control_edit(control, 0, &edit));
    assert_int_equal(edit.address, target.groups_at);
    assert_int_equal(edit.after, 0x20);
    close_target(&target, control);
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused((struct target){"", "", 14, NULL, NULL, 0, 0}, EXTRACT_UNSUPPORTED);
    expect_refused((struct target){"2.3.0", "", 14, NULL, NULL, 0, 0}, EXTRACT_UNSUPPORTED);
    expect_refused((struct target){"3.4.00", "", 16, NULL, NULL, 0, 0}, EXTRACT_BAD);
    expect_refused(
        (struct target){"3.4.00", "0,1,1,1,2,2,4,3,7,1,8,3,11,4,200,2", 17, NULL, NULL, 0, 0},
        EXTRACT_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_245_by_size), cmocka_unit_test(test_245_by_version),
        cmocka_unit_test(test_244),         cmocka_unit_test(test_older_with_map),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
