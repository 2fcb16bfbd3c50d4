// SPDX-License-Identifier: MIT
// unit: hook-word entries through the entry builder: the format's own entries, 16-bit ids, and
// their contexts.
//
// Truth: docs/formats/hook.md and the layout of AIX's hook words, by hand.
#include "report/columns/entry_builder.h"
#include "tests/unit/hook/hook_builder.h"

enum { TID = 0x20004000 };

static struct hooks hooks;
static struct look look;
static struct entry_builder *builder;
static struct extract_templates *templates;
static struct extract_formatter *formatter;
static struct extract_error error;

static const char users[] = "123 1.0 L=INT \"plain\" W1 D4 $TID\n"
                            "1234 1.0 L=APPL \"generic\" G16 A5 n=$HL%U2 t= HT\n";

static void begin(bool big, const struct hooks_record *records, size_t count)
{
    hooks_build(&hooks, big, 1024, 0);
    for (size_t i = 0; i < count; i++)
        hooks_put(&hooks, &records[i]);
    hooks_look(&look, &hooks);
    assert_int_equal(extract_templates_open(&templates, 0, &error), EXTRACT_OK);
    assert_int_equal(
        extract_templates_add(templates, "users.fmt", users, sizeof users - 1, false, &error),
        EXTRACT_OK);
    assert_int_equal(extract_templates_add_builtin(templates, "hook", &error), EXTRACT_OK);
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    assert_int_equal(entry_builder_open(&builder, look.trace, templates, &error), EXTRACT_OK);
    assert_int_equal(extract_formatter_open(&formatter, templates, &builder->host, &error),
                     EXTRACT_OK);
}

static void end(void)
{
    extract_formatter_close(formatter);
    entry_builder_close(builder);
    extract_templates_close(templates);
    look_close(&look);
}

static void assert_printed(size_t i, const char *id, const char *who, const char *text)
{
    const struct extract_event *event = look_event(&look, i);
    const struct extract_template *chosen;
    struct extract_outcome outcome;
    char shown[ENTRY_BUILDER_ID_BYTES];
    const struct extract_entry *entry = entry_builder_build(builder, event, &chosen);
    entry_builder_put_id(builder, event, shown);
    assert_string_equal(shown, id);
    assert_string_equal(entry->exec, who);
    assert_ptr_equal(entry->event, event);
    assert_ptr_equal(entry_builder_find_template(builder, event), chosen);
    assert_true(chosen || !entry_builder_describe(builder, event, &outcome));
    extract_formatter_run(formatter, chosen, entry, 0, false, &outcome);
    assert_int_equal(outcome.length, strlen(text));
    assert_memory_equal(outcome.text, text, outcome.length);
}

static void test_records(void **state)
{
    static const struct hooks_record records[] = {
        {.frame = HOOKS_TID | HOOKS_STAMP,
         .hook = 0x123A0007,
         .words = 1,
         .data = {0xFFFFFFFE},
         .tid = TID,
         .stamp = 1000},
        {.frame = HOOKS_ISR | HOOKS_TID | HOOKS_STAMP,
         .hook = 0x123A0007,
         .words = 1,
         .data = {5},
         .tid = TID,
         .stamp = 1010},
        {.frame = HOOKS_INIT | HOOKS_STAMP | HOOKS_WIDE,
         .hook = UINT64_C(0xC000000512340000),
         .words = 1,
         .data = {1},
         .buffer = "hello",
         .buffer_bytes = 5,
         .stamp = 1020},
        // The id is that of a marker, but the recorder did not make this entry.
        {.frame = HOOKS_STAMP, .hook = 0xF01A0000, .words = 1, .data = {1}, .stamp = 1030},
    };
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        begin(big, records, 4);
        assert_printed(0, "123", "0x20004000", "plain -2 20004000");
        assert_printed(1, "123", "interrupt/0x20004000", "plain 5 20004000");
        assert_printed(2, "1234", "start-up", "generic hello n=5 t=C000");
        const struct extract_template *chosen;
        const struct extract_entry *entry =
            entry_builder_build(builder, look_event(&look, 2), &chosen);
        assert_int_equal(entry->bits, 64);
        assert_int_equal(entry->little, !big);
        entry_builder_build(builder, look_event(&look, 3), &chosen);
        assert_null(chosen);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
