// SPDX-License-Identifier: MIT
// unit: the conformance cases of the report language, and Ringside's own. A table lists a template,
// an entry and the expected text per case. Each case runs as compiled and as optimized.
#include "templates/program.h"
#include "tests/unit/scratch.h"
#include <extract/templates.h>
#include <stdio.h>

enum { COLUMNS = 8, MAX_LINE = 1 << 16 };

enum { ID, ORIGIN, BITS, GENERIC, ENTRY, TEMPLATE, EXPECTED, NOTE };

static bool leave_out; // skips the optimizer
void __real_template_optimize(struct extract_templates *templates);
void __wrap_template_optimize(struct extract_templates *templates);

void __wrap_template_optimize(struct extract_templates *templates)
{
    if (!leave_out)
        __real_template_optimize(templates);
}

// Returns the name of the only process in the cases.
static const char *process_name(void *context, const struct extract_entry *entry, uint64_t value,
                                unsigned word, size_t *length)
{
    (void)context, (void)entry, (void)word;
    if (value != 42)
        return NULL;
    *length = strlen("/usr/bin/ksh");
    return "/usr/bin/ksh";
}

// Splits a line at its tabs. Returns the number of columns.
static unsigned cut(char *line, char *columns[COLUMNS])
{
    unsigned count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && count < COLUMNS; count++) {
        columns[count] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = 0;
    }
    return count;
}

// Copies `text` to `to` and replaces each `from` with `by`.
static void replace(char *to, const char *text, const char *from, const char *by)
{
    for (const char *hit; (hit = strstr(text, from)); text = hit + strlen(from))
        to += sprintf(to, "%.*s%s", (int)(hit - text), text, by);
    strcpy(to, text);
}

static size_t parse_hex(uint8_t *bytes, const char *digits)
{
    size_t count = 0;
    for (unsigned byte; sscanf(digits + count * 2, "%2x", &byte) == 1; count++)
        bytes[count] = (uint8_t)byte;
    return count;
}

// Writes the text in the notation of the cases: \n and \t for line ends and tabs, then how the
// event ended.
static void render(char *to, const struct extract_outcome *outcome)
{
    static const char *const endings[] = {"", "  [BREAK]", "  [SKIP]", "  [STOP]", "  [ERROR]", ""};
    for (size_t i = 0; i < outcome->length; i++) {
        if (outcome->text[i] == '\n' || outcome->text[i] == '\t')
            to += sprintf(to, "\\%c", outcome->text[i] == '\n' ? 'n' : 't');
        else
            *to++ = outcome->text[i];
    }
    strcpy(to, endings[outcome->ending]);
}

static void run_entry(struct extract_templates *templates, char *columns[COLUMNS], char *got)
{
    static const struct extract_template_host host = {
        .name = process_name, .cpus_total = 8, .cpus_traced = 4, .cpus_reported = 2};
    uint8_t bytes[4096];
    size_t length = parse_hex(bytes, columns[ENTRY]);
    struct extract_entry entry;
    struct extract_outcome outcome;
    struct extract_formatter *formatter;
    unsigned bits = strcmp(columns[BITS], "64") == 0 ? 64 : 32;
    assert_int_equal(
        extract_entry_parse(&entry, bytes, length, bits, *columns[GENERIC] == '1', NULL),
        EXTRACT_OK);
    assert_int_equal(extract_formatter_open(&formatter, templates, &host, NULL), EXTRACT_OK);
    entry.pid = 42;
    entry.tid = 0x1234;
    entry.cpu = 3;
    entry.priority = 60;
    entry.log_offset = 0x100;
    entry.exec = "/usr/bin/ksh";
    entry.svc = "kwrite";
    extract_formatter_run(formatter,
                          extract_templates_find(templates, EXTRACT_HOOKS_16, entry.hook), &entry,
                          0, false, &outcome);
    render(got, &outcome);
    extract_formatter_close(formatter);
}

static bool has_diagnostic(const struct extract_templates *templates, const char *name)
{
    const struct extract_diagnostic *list;
    size_t count = extract_templates_diagnostics(templates, &list);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return true;
    return false;
}

// Returns whether the warnings are exactly those that the note lists in brackets.
static bool has_its_warnings(const struct extract_templates *templates, const char *note)
{
    const struct extract_diagnostic *list;
    size_t count = extract_templates_diagnostics(templates, &list);
    char name[32];
    for (const char *at = note; (at = strchr(at, '[')); at++)
        if (sscanf(at, "[%31[-A-Z]]", name) == 1 && !has_diagnostic(templates, name))
            return false;
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "[%s]", list[i].name);
        if (list[i].warning && !strstr(note, name)) {
            print_error("%s: %u:%u %s: %s\n", list[i].file, list[i].line, list[i].column,
                        list[i].name, list[i].what);
            return false;
        }
    }
    return true;
}

static void first_diagnostic(const struct extract_templates *templates, char *got)
{
    const struct extract_diagnostic *list;
    size_t count = extract_templates_diagnostics(templates, &list);
    strcpy(got, "COMPILE:");
    for (size_t i = 0; i < count; i++) {
        if (!list[i].warning) {
            strcat(got, list[i].name);
            break;
        }
    }
}

// Returns the dialect, which follows a colon in the column of the origin.
static unsigned dialect_of(const char *origin)
{
    unsigned dialect = 0;
    const char *words = strchr(origin, ':');
    if (words)
        assert_int_equal(extract_dialect_parse(&dialect, words + 1, NULL), EXTRACT_OK);
    return dialect;
}

// Runs a case. Returns whether its text and warnings are as expected.
static bool run_case(char *columns[COLUMNS])
{
    static char text[MAX_LINE], got[4 * EXTRACT_MAX_OUTPUT];
    struct extract_templates *templates;
    replace(text, columns[TEMPLATE], "<NL>", "\n");
    assert_int_equal(extract_templates_open(&templates, dialect_of(columns[ORIGIN]), NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_templates_add(templates, columns[ID], text, strlen(text), false, NULL),
                     EXTRACT_OK);
    if (extract_templates_link(templates, NULL))
        first_diagnostic(templates, got);
    else if (*columns[ENTRY] == '-')
        strcpy(got, "compiled");
    else
        run_entry(templates, columns, got);
    bool same = strcmp(got, columns[EXPECTED]) == 0 && has_its_warnings(templates, columns[NOTE]);
    if (!same)
        print_error("%s: %s\n  expected \"%s\"\n  got      \"%.200s\"\n", columns[ID],
                    columns[TEMPLATE], columns[EXPECTED], got);
    extract_templates_close(templates);
    return same;
}

static void run_table(const char *path, unsigned at_least)
{
    static char line[MAX_LINE];
    char *columns[COLUMNS];
    unsigned cases = 0, wrong = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (*line == '#')
            continue;
        assert_int_equal(cut(line, columns), COLUMNS);
        wrong += !run_case(columns);
        cases++;
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(cases >= at_least);
}

static void conforms(void **state)
{
    (void)state;
    leave_out = false;
    run_table("libextract/tests/data/trcfmt-cases.tsv", 103);
}

static void conforms_as_compiled(void **state)
{
    (void)state;
    leave_out = true;
    run_table("libextract/tests/data/trcfmt-cases.tsv", 103);
}

static void passes_its_own(void **state)
{
    (void)state;
    leave_out = false;
    run_table("libextract/tests/data/own-cases.tsv", 100);
}

static void passes_its_own_as_compiled(void **state)
{
    (void)state;
    leave_out = true;
    run_table("libextract/tests/data/own-cases.tsv", 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conforms),
        cmocka_unit_test(conforms_as_compiled),
        cmocka_unit_test(passes_its_own),
        cmocka_unit_test(passes_its_own_as_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
