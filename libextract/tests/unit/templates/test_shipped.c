// SPDX-License-Identifier: MIT
// unit: the built-in templates: there is one for every id of the event table, and each prints the
// expected text.
//
// Truth: the table libextract/reading/formats/threadx-events.tsv, and a table by hand of how each
// of its kinds is printed.
#include "report/columns/entry_builder.h"
#include "formats/format.h"
#include "tests/unit/log_builder.h"
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"

#define CATALOGUE "libextract/reading/formats/threadx-events.tsv"

enum { COLUMNS = 8, LINE = 1024, MAIN = 0x20004000, OBJECTS = 0x20006000, USER_EVENT = 4096 };

static struct ring_image image;
static struct look look;
static struct extract_error error;
static struct extract_templates *templates;
static struct entry_builder *builder;
static struct extract_formatter *formatter;

// ---- what all cases use ----

static void open_templates(const char *format, const char *users)
{
    const struct extract_diagnostic *list;
    assert_int_equal(extract_templates_open(&templates, 0, &error), EXTRACT_OK);
    if (users)
        assert_int_equal(
            extract_templates_add(templates, "users.fmt", users, strlen(users), false, &error),
            EXTRACT_OK);
    assert_int_equal(extract_templates_add_builtin(templates, format, &error), EXTRACT_OK);
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    if (extract_templates_diagnostics(templates, &list))
        fail_msg("%s:%u:%u: %s: %s", list->file, list->line, list->column, list->name, list->what);
}

static void open_entry_builder(const struct extract_trace *trace)
{
    assert_int_equal(entry_builder_open(&builder, trace, templates, &error), EXTRACT_OK);
    assert_int_equal(extract_formatter_open(&formatter, templates, &builder->host, &error),
                     EXTRACT_OK);
}

static void close_entry_builder(void)
{
    assert_false(builder->failed);
    extract_formatter_close(formatter);
    entry_builder_close(builder);
}

static void begin(unsigned word_bytes, const char *users)
{
    static const struct ring_entry entry = {MAIN, 0x80070007, 6, 1000, {0}};
    static const struct ring_object objects[] = {{0, 1, 0x80, 7, MAIN, 0x20005000, 512, "main"},
                                                 {0, 3, 0, 0, OBJECTS, 64, 1, "first"},
                                                 {0, 4, 0, 0, OBJECTS + 1, 0, 0, "second"},
                                                 {0, 5, 0, 0, OBJECTS + 2, 0, 0, "third"},
                                                 {0, 9, 0, 0, OBJECTS + 3, 0, 0, "fourth"}};
    struct ring_spec spec = ring_plain;
    spec.word_bytes = word_bytes;
    spec.objects = 5;
    ring_build(&image, &spec);
    ring_fill(&image, objects, 5, &entry, 1);
    look_open(&look, &image);
    open_templates("threadx", users);
    open_entry_builder(look.trace);
}

static void end(void)
{
    close_entry_builder();
    extract_templates_close(templates);
    look_close(&look);
}

// Returns what is printed for an event, which must have a template. It is valid until the next
// call.
static const char *text_of(const struct extract_event *event)
{
    static char text[LINE];
    const struct extract_template *chosen;
    struct extract_outcome outcome;
    const struct extract_entry *entry = entry_builder_build(builder, event, &chosen);
    if (!chosen)
        fail_msg("there is no template for %u", event->id);
    extract_formatter_run(formatter, chosen, entry, 0, false, &outcome);
    assert_int_equal(outcome.ending, EXTRACT_ENDS_WELL);
    assert_true(outcome.length < sizeof text);
    memcpy(text, outcome.text, outcome.length);
    text[outcome.length] = 0;
    return text;
}

// ---- the event table ----

struct row {
    uint32_t id;
    char text[LINE];
    char *cell[COLUMNS]; // id, symbol, name, class, four fields
};

static FILE *catalogue;

static bool next_row(struct row *row)
{
    if (!catalogue) {
        catalogue = fopen(CATALOGUE, "r");
        assert_non_null(catalogue);
        assert_non_null(fgets(row->text, sizeof row->text, catalogue)); // the header
    }
    if (!fgets(row->text, sizeof row->text, catalogue)) {
        fclose(catalogue);
        catalogue = NULL;
        return false;
    }
    row->text[strcspn(row->text, "\n")] = 0;
    char *rest = row->text;
    for (unsigned i = 0; i < COLUMNS; i++) {
        row->cell[i] = rest ? strsep(&rest, "\t") : row->text + strlen(row->text);
        assert_non_null(row->cell[i]);
    }
    row->id = (uint32_t)strtoul(row->cell[0], NULL, 10);
    return true;
}

static void name_of(const struct row *row, char *name, size_t size)
{
    bool number = row->id >= USER_EVENT;
    snprintf(name, size, number ? "%s %u" : "%s", row->cell[2], (unsigned)row->id);
}

static void test_every_id_has_its_template(void **state)
{
    static struct row row;
    size_t count = 0, ours = 0;
    (void)state;
    open_templates("threadx", NULL);
    for (; next_row(&row); count++) {
        char name[128], id[8];
        const struct extract_template *found =
            extract_templates_find(templates, EXTRACT_HOOKS_PLAIN, row.id);
        if (!found)
            fail_msg("there is no template for %u", row.id);
        name_of(&row, name, sizeof name);
        snprintf(id, sizeof id, "%03X", (unsigned)row.id);
        assert_string_equal(found->label, name);
        assert_string_equal(found->id, id);
        assert_string_equal(extract_class_name(found->level), row.cell[3]);
        assert_true(found->level_given);
        assert_false(found->muted);
        assert_int_equal(found->version, 1);
        assert_int_equal(found->release, 0);
    }
    assert_true(count > 600);
    for (size_t i = 0; extract_templates_at(templates, i); i++)
        ours += strstr(extract_templates_at(templates, i)->file, "threadx.fmt") != NULL;
    assert_int_equal(ours, count); // and none that the event table lacks
    extract_templates_close(templates);
}

// ---- what is printed, by kind ----

// The rounds use values that differ between the fields, zeros, and unusual values.
enum { ROUND_FIELDS, ROUND_ZEROS, ROUND_ODD, ROUNDS };

static const struct kind {
    const char *word; // word of the event table
    uint64_t first;   // value of field 0; each next field has one more
    const char *at[4];
    const char *zero;
    uint64_t odd_value;
    const char *odd;
} kinds[] = {
    {"ptr-object", OBJECTS, {"first", "second", "third", "fourth"}, "none", 0xF00C, "0xF00C"},
    {"hex", 0x12A9, {"0x12A9", "0x12AA", "0x12AB", "0x12AC"}, "0x0000", 0xFFFFFFFF, "0xFFFFFFFF"},
    {"hex-attributes",
     0x12A9,
     {"0x12A9", "0x12AA", "0x12AB", "0x12AC"},
     "0x0000",
     0xFFFFFFFF,
     "0xFFFFFFFF"},
    {"ptr-stack",
     0x20001FFC,
     {"0x20001FFC", "0x20001FFD", "0x20001FFE", "0x20001FFF"},
     "0x0000",
     0x12,
     "0x0012"},
    {"ptr-data",
     0x2000EFFC,
     {"0x2000EFFC", "0x2000EFFD", "0x2000EFFE", "0x2000EFFF"},
     "0x0000",
     0xFFFFFFFF,
     "0xFFFFFFFF"},
    {"ptr-code",
     0x08000100,
     {"0x08000100", "0x08000101", "0x08000102", "0x08000103"},
     "none",
     9,
     "0x0009"},
    {"ptr-string",
     0x08000200,
     {"0x08000200", "0x08000201", "0x08000202", "0x08000203"},
     "0x0000",
     9,
     "0x0009"},
    {"dec", 1099, {"1099", "1100", "1101", "1102"}, "0", 0xFFFFFFFF, "4294967295"},
    {"ticks", 250, {"250", "251", "252", "253"}, "0", 0xFFFFFFFF, "4294967295"},
    {"wait", 250, {"250", "251", "252", "253"}, "none", 0xFFFFFFFF, "forever"},
    {"bool", 1, {"yes", "yes", "yes", "yes"}, "no", 0xFFFFFFFF, "yes"},
    {"ipv4",
     0xC0A801FE,
     {"192.168.1.254", "192.168.1.255", "192.168.2.0", "192.168.2.1"},
     "0.0.0.0",
     0xFFFFFFFF,
     "255.255.255.255"},
    {"enum-thread-state",
     5,
     {"queue", "semaphore", "event flags", "block pool"},
     "ready",
     15,
     "15"},
    {"enum-tcp-state", 5, {"established", "close wait", "fin wait 1", "fin wait 2"}, "0", 12, "12"},
    {"enum-flags-get", 0, {"or", "or clear", "and", "and clear"}, "or", 4, "4"},
    {"enum-flags-set", 0, {"or", "1", "and", "3"}, "or", 1, "1"},
};

static const struct kind *kind_of(const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return &kinds[i];
    fail_msg("the kind %s is not in the table", word);
    return NULL;
}

// FAT attributes, in the third field, are also printed as words: those of 0x12AB, 0 and 0xFFFFFFFF.
static const char *const attributes[ROUNDS] = {" read-only hidden volume archive", "",
                                               " read-only hidden system volume directory archive"};

// Fills the event's fields for a round, and writes the expected text.
static void expect(const struct row *row, unsigned round, struct extract_event *event, char *text,
                   size_t size)
{
    bool attrs = false;
    name_of(row, text, size);
    memset(event->field, 0, sizeof event->field);
    for (unsigned i = 0; i < 4; i++) {
        char *label = row->cell[4 + i], *colon = strrchr(label, ':');
        size_t used = strlen(text);
        if (!colon)
            continue;
        const struct kind *kind = kind_of(colon + 1);
        const uint64_t values[ROUNDS] = {kind->first + i, 0, kind->odd_value};
        const char *const printed[ROUNDS] = {kind->at[i], kind->zero, kind->odd};
        event->field[i] = values[round];
        snprintf(text + used, size - used, " %.*s=%s", (int)(colon - label), label, printed[round]);
        for (char *c = text + used + 1; c < text + used + 1 + (colon - label); c++)
            *c = *c == ' ' ? '_' : *c;
        attrs |= strcmp(kind->word, "hex-attributes") == 0;
    }
    if (attrs)
        snprintf(text + strlen(text), size - strlen(text), "%s", attributes[round]);
}

static void test_what_every_template_prints(void **state)
{
    static struct row row;
    struct extract_event event = {.thread = MAIN, .fields = 4, .priority_word = 0x80070007};
    (void)state;
    for (unsigned word_bytes = 4; word_bytes <= 8; word_bytes += 4) {
        begin(word_bytes, NULL);
        while (next_row(&row))
            for (unsigned round = 0; round < ROUNDS; round++) {
                char expected[LINE];
                event.id = row.id;
                event.type = extract_trace_type(look.trace, row.id);
                expect(&row, round, &event, expected, sizeof expected);
                assert_string_equal(text_of(&event), expected);
            }
        end();
    }
}

static void test_words_of_64_bits(void **state)
{
    struct extract_event event = {.thread = MAIN,
                                  .fields = 4,
                                  .id = 69,
                                  .field = {UINT64_C(0x7FAB12345678), UINT64_C(0xFFFF800000000000),
                                            UINT64_MAX, UINT64_C(5000000000)}};
    (void)state;
    begin(8, NULL);
    event.type = extract_trace_type(look.trace, event.id);
    assert_string_equal(text_of(&event), "queue send queue=0x00007FAB12345678 "
                                         "source=0xFFFF800000000000 wait=forever "
                                         "enqueued=5000000000");
    end();
}

// ---- together with other templates ----

static const struct extract_template *chosen_for(struct extract_event *event)
{
    const struct extract_template *chosen;
    event->type = extract_trace_type(look.trace, event->id);
    entry_builder_build(builder, event, &chosen);
    return chosen;
}

static void test_users_templates_come_first(void **state)
{
    struct extract_event event = {.thread = MAIN, .fields = 4, .id = 69};
    (void)state;
    begin(4, "045 0.1 L=APPL \"mine\" $D1%U4\n1005 1.0 \"door\" which=$D2%U4\n");
    event.field[0] = 77;
    event.field[1] = 3;
    event.type = extract_trace_type(look.trace, 69);
    assert_string_equal(text_of(&event), "mine 77");
    event.id = 0x1005;
    event.type = extract_trace_type(look.trace, 0x1005);
    assert_string_equal(text_of(&event), "door which=3");
    event.id = 0x1006;
    assert_null(chosen_for(&event));
    event.id = 0x100; // not 0x1000, although AIX treats both as one
    assert_string_equal(chosen_for(&event)->label, "media cache invalidate");
    event.id = 0x1000;
    assert_string_equal(chosen_for(&event)->label, "user event 4096");
    end();
}

static void test_types_of_the_users_own_come_before_ours(void **state)
{
    static const struct extract_event_type own = {.id = 4096, .symbol = "own", .name = "own"};
    struct extract_event event = {.thread = MAIN, .fields = 4, .id = 4096, .type = &own};
    const struct extract_template *chosen;
    (void)state;
    begin(4, NULL);
    entry_builder_build(builder, &event, &chosen);
    assert_null(chosen);
    end();
    begin(4, "1000 1.0 L=APPL \"mine\"");
    entry_builder_build(builder, &event, &chosen);
    assert_non_null(chosen);
    assert_string_equal(chosen->label, "mine");
    end();
}

// Templates of markers exist for every format, but they apply to markers only.
static void test_other_formats(void **state)
{
    struct extract_event event = {.thread = MAIN, .fields = 4, .id = 0xF01};
    (void)state;
    open_templates("hook", NULL);
    assert_null(extract_templates_find(templates, EXTRACT_HOOKS_16, 0x0450));
    const struct extract_template *lost =
        extract_templates_find(templates, EXTRACT_HOOKS_16, 0xF010);
    assert_non_null(lost);
    assert_string_equal(lost->label, "events lost");
    extract_templates_close(templates);
    begin(4, NULL);
    assert_null(chosen_for(&event));
    end();
    begin(4, "F01 1.0 \"mine\"");
    assert_string_equal(chosen_for(&event)->label, "mine");
    end();
}

// ---- markers ----

static void make_log(void)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1000;
    struct log_file file;
    spec.entries = 32;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, MAIN, 0x20005000, 512, "main"});
    ring_run(&image, 32, &stamp, 10);
    log_open(&file, scratch_path("marks.log"), &image);
    log_entries(&file, &image, 0, 4);
    log_mark(&file, EXTRACT_MARK_START, 0, "");
    log_mark(&file, EXTRACT_MARK_STOP, 0, "by \"hand\"");
    log_mark(&file, EXTRACT_MARK_FULL, 7, "");
    log_mark(&file, EXTRACT_MARK_GONE, 0x12345678, "no answer");
    log_mark(&file, EXTRACT_MARK_BACK, 0, "");
    log_mark(&file, EXTRACT_MARK_DISABLED, 0, "");
    log_mark(&file, EXTRACT_MARK_ENABLED, 0, "");
    log_mark(&file, EXTRACT_MARK_FILTER, 0, "");
    log_mark(&file, EXTRACT_MARK_FILTER, 0x20, "by hand");
    log_mark(&file, EXTRACT_MARK_ERROR, 0, "\033[31mred");
    log_mark(&file, (enum extract_log_mark)77, 1, "later");
    log_mark(&file, EXTRACT_MARK_RESET, 0, "");
    log_loss(&file, EXTRACT_LOSS_LAPPED, 12, 0);
    log_loss(&file, EXTRACT_LOSS_TORN, 64, 32);
    log_loss(&file, EXTRACT_LOSS_UNREADABLE, 0, EXTRACT_LOG_ANY_MORE);
    log_entries(&file, &image, 4, 4);
    log_close(&file);
}

static void test_marks(void **state)
{
    static const char *const expected[] = {
        "F11 recording started",
        "F12 recording stopped text=\"by \\\"hand\\\"\"",
        "F13 log full text=\"\" value=0x0007",
        "F15 target gone text=\"no answer\" value=0x12345678",
        "F16 target back",
        "F17 trace disabled",
        "F18 trace enabled",
        "F19 filter set filter=0x0000",
        "F19 filter set filter=0x0020 text=\"by hand\"",
        "F1A recording error text=\"\\u001b[31mred\"",
        "F10 mark text=\"later\" value=0x0001",
        "F14 trace restarted",
        "F01 events lost reason=lapped lost_at_least=12 lost_exact=yes",
        "F01 events lost reason=torn lost_at_least=64 lost_exact=no modulo=32",
        "F01 events lost reason=unreadable lost_at_least=0 lost_exact=no"};
    struct log_look log;
    size_t count, next = 0;
    (void)state;
    make_log();
    log_look_open(&log, scratch_path("marks.log"), NULL);
    open_templates("threadx", NULL);
    open_entry_builder(log.trace);
    const struct extract_event *events = log_events(&log, &count);
    for (size_t i = 0; i < count; i++) {
        char line[LINE], id[ENTRY_BUILDER_ID_BYTES];
        if (!extract_event_is_mark(&events[i]))
            continue;
        assert_true(next < sizeof expected / sizeof *expected);
        entry_builder_put_id(builder, &events[i], id);
        snprintf(line, sizeof line, "%s %s", id, text_of(&events[i]));
        assert_string_equal(line, expected[next++]);
        assert_string_equal(entry_builder_context_name(builder, &events[i]).bytes, "recorder");
    }
    assert_int_equal(next, sizeof expected / sizeof *expected);
    close_entry_builder();
    extract_templates_close(templates);
    log_look_close(&log);
}

static void test_a_damaged_log(void **state)
{
    struct extract_event event = {
        .id = EXTRACT_ID_DAMAGED, .fields = 1, .context = EXTRACT_RECORDER};
    struct log_look log;
    (void)state;
    unlink(scratch_path("marks.log"));
    make_log();
    log_look_open(&log, scratch_path("marks.log"), NULL);
    open_templates("threadx", NULL);
    open_entry_builder(log.trace);
    event.type = extract_trace_type(log.trace, event.id);
    event.field[0] = UINT64_C(5000000000); // too large for a word of the target
    assert_string_equal(text_of(&event), "log damaged entries=5000000000");
    close_entry_builder();
    extract_templates_close(templates);
    log_look_close(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_id_has_its_template),
        cmocka_unit_test(test_what_every_template_prints),
        cmocka_unit_test(test_words_of_64_bits),
        cmocka_unit_test(test_users_templates_come_first),
        cmocka_unit_test(test_types_of_the_users_own_come_before_ours),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_a_damaged_log),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
