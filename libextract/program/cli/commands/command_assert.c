// SPDX-License-Identifier: MIT
// cli: `ringside assert` checks assertions about a trace, and prints the results as TAP (Test
// Anything Protocol) or JUnit XML.
#include "base/file.h"
#include "base/xml.h"
#include "cli/cli.h"
#include <extract/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 20, FAILED = 4, UNDECIDED = 3 };

// An assertion, and its result.
struct check {
    char *text; // owned
    struct extract_assertion_result result;
};

struct checks {
    struct check *list;
    size_t count;
    unsigned failed, undecided;
    const char **spans; // definitions: those of --span, then those of a file, which are owned
    size_t span_count, given_spans;
};

static void checks_free(struct checks *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        free(checks->list[i].text);
    for (size_t i = checks->given_spans; i < checks->span_count; i++)
        free((char *)checks->spans[i]);
    free(checks->spans);
    free(checks->list);
}

static bool add_check(struct checks *checks, const char *text, size_t length)
{
    struct check *grown = realloc(checks->list, (checks->count + 1) * sizeof *grown);

    if (!grown)
        return false;
    checks->list = grown;
    grown[checks->count] = (struct check){.text = strndup(text, length)};
    return grown[checks->count].text && ++checks->count;
}

// Adds a definition of a span from a file. Takes ownership of the text.
static bool add_span(struct checks *checks, char *text)
{
    const char **grown = realloc(checks->spans, (checks->span_count + 1) * sizeof *grown);

    if (grown)
        checks->spans = grown;
    if (!grown || !text) {
        free(text);
        return false;
    }
    grown[checks->span_count++] = text;
    return true;
}

// Adds a line of a file: "span DEFINITION", or an assertion.
static bool add_line(struct checks *checks, const char *line, size_t length)
{
    static const char word[] = "span";
    size_t bytes = sizeof word - 1;

    if (length > bytes && strncmp(line, word, bytes) == 0 && strchr(" \t", line[bytes]))
        return add_span(checks, strndup(line + bytes, length - bytes));
    return add_check(checks, line, length);
}

static int no_memory(void)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_NOMEM, "assert", NULL, "out of memory");
    return cli_complain(&error);
}

// Adds the assertions and spans of a file: one per line, except for blank lines and comments (#).
static int add_file(struct checks *checks, const char *path)
{
    struct extract_error error;
    uint8_t *bytes_of_file = NULL;
    size_t length = 0;

    if (extract_file_read(path, MAX_FILE, &bytes_of_file, &length, &error))
        return cli_complain(&error);
    char *text = strndup((const char *)bytes_of_file, length);
    bool is_added = text != NULL;
    free(bytes_of_file);
    for (char *line = text; is_added && *line;) {
        size_t bytes = strcspn(line, "\n");
        size_t blank = strspn(line, " \t\r");
        size_t end = bytes - (bytes && line[bytes - 1] == '\r');
        if (blank < end && line[blank] != '#')
            is_added = add_line(checks, line + blank, end - blank);
        line += bytes + (line[bytes] != 0);
    }
    free(text);
    return is_added ? CLI_SUCCESS : no_memory();
}

// Takes the assertions from the front of the arguments: those with "(", and a file as the first.
static int take_checks(struct checks *checks, struct cli_options *options)
{
    int taken = 0, status = CLI_SUCCESS;

    checks->spans = calloc(options->session.span_count + 1, sizeof *checks->spans);
    if (!checks->spans)
        return no_memory();
    for (; checks->given_spans < options->session.span_count; checks->given_spans++)
        checks->spans[checks->given_spans] = options->session.spans[checks->given_spans];
    checks->span_count = checks->given_spans;
    for (; taken < options->input_count && !status; taken++) {
        const char *text = options->inputs[taken];
        if (strchr(text, '('))
            status = add_check(checks, text, strlen(text)) ? CLI_SUCCESS : no_memory();
        else if (!taken)
            status = add_file(checks, text);
        else
            break;
    }
    options->session.spans = checks->spans;
    options->session.span_count = checks->span_count;
    options->inputs += taken;
    options->input_count -= taken;
    if (!status && !checks->count)
        return cli_refuse("assert", "use ringside assert 'load(idle) > 20%' INPUT",
                          "no assertion is given");
    return status;
}

static int run_checks(struct checks *checks, struct extract_session *session)
{
    struct extract_assertions *assertions;
    struct extract_error error;
    enum extract_code code = extract_session_assertions(session, &assertions, &error);

    for (size_t i = 0; i < checks->count && !code; i++) {
        struct check *check = &checks->list[i];
        code = extract_assertions_check(assertions, check->text, &check->result, &error);
        if (code)
            extract_error_rename(&error, check->text);
        checks->failed += check->result.result == EXTRACT_ASSERTION_FAILS;
        checks->undecided += check->result.result == EXTRACT_ASSERTION_UNKNOWN;
    }
    extract_assertions_free(assertions);
    if (!code)
        return CLI_SUCCESS;
    int status = cli_complain(&error);
    return code == EXTRACT_NOTFOUND ? CLI_USAGE : status;
}

// ---- output ----

// Writes a description. A '#' would begin a directive of TAP.
static void put_description(struct extract_text *text, const char *string)
{
    struct extract_text escaped;

    extract_text_init(&escaped, NULL, NULL);
    extract_text_escaped(&escaped, string);
    for (size_t i = 0; i < escaped.used; i++) {
        if (escaped.data[i] == '#')
            extract_text_putc(text, '\\');
        extract_text_putc(text, escaped.data[i]);
    }
    if (escaped.code)
        text->code = escaped.code;
    extract_text_free(&escaped);
}

static void put_tap(struct extract_text *text, const struct checks *checks)
{
    static const char *const words[] = {"ok", "not ok", "not ok"};

    extract_text_printf(text, "1..%zu\n", checks->count);
    for (size_t i = 0; i < checks->count; i++) {
        const struct check *check = &checks->list[i];
        extract_text_printf(text, "%s %zu - ", words[check->result.result], i + 1);
        put_description(text, check->text);
        if (check->result.result == EXTRACT_ASSERTION_UNKNOWN)
            extract_text_printf(text, " (unknown: %s)", check->result.why);
        extract_text_puts(text, "\n  # ");
        extract_text_escaped(text, check->result.values);
        extract_text_putc(text, '\n');
    }
}

static void put_junit(struct extract_text *text, const struct checks *checks)
{
    extract_text_printf(text,
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<testsuite name=\"ringside assert\" tests=\"%zu\" failures=\"%u\" "
                        "errors=\"%u\">\n",
                        checks->count, checks->failed, checks->undecided);
    for (size_t i = 0; i < checks->count; i++) {
        const struct check *check = &checks->list[i];
        bool is_unknown = check->result.result == EXTRACT_ASSERTION_UNKNOWN;
        extract_text_puts(text, "  <testcase classname=\"ringside\" name=\"");
        extract_xml_escaped(text, check->text);
        if (check->result.result == EXTRACT_ASSERTION_HOLDS) {
            extract_text_puts(text, "\"/>\n");
            continue;
        }
        extract_text_printf(text, "\">\n    <%s message=\"", is_unknown ? "error" : "failure");
        if (is_unknown) {
            extract_text_puts(text, "unknown: ");
            extract_xml_escaped(text, check->result.why);
            extract_text_puts(text, "; ");
        }
        extract_xml_escaped(text, check->result.values);
        extract_text_printf(text, "\"/>\n  </testcase>\n");
    }
    extract_text_puts(text, "</testsuite>\n");
}

static int run_assert(const struct cli_options *options)
{
    struct cli_options rest = *options;
    struct cli_snapshot snapshot;
    struct cli_output output;
    struct checks checks = {.list = NULL};
    int status = take_checks(&checks, &rest);

    if (!status && rest.input_count + cli_is_live(options) < 1)
        status = cli_refuse("assert", "use ringside assert ASSERTION INPUT", "no input is given");
    if (status) {
        checks_free(&checks);
        return status;
    }
    status = cli_snapshot_open(&snapshot, &rest);
    if (!status)
        status = run_checks(&checks, snapshot.session);
    if (!status)
        status = cli_output_open_as(&output, &rest);
    if (!status) {
        if (options->junit)
            put_junit(&output.text, &checks);
        else
            put_tap(&output.text, &checks);
        status = cli_output_close(&output, CLI_SUCCESS);
    }
    status = cli_snapshot_close(&snapshot, &rest, status);
    if (status == CLI_SUCCESS || status == UNDECIDED)
        status = checks.failed ? FAILED : checks.undecided ? UNDECIDED : CLI_SUCCESS;
    checks_free(&checks);
    return status;
}

const struct cli_command cli_assert = {
    .group = CLI_EXAMINE,
    .name = "assert",
    .arguments = "ASSERTION|FILE... INPUT...",
    .summary = "check conditions on a trace, for CI",
    .help =
        "Check assertions such as 'latency(sensor).p99 < 200us' or 'load(idle) > 20%', or those\n"
        "of FILE, one per line. Spans are defined by --span, or by a line of FILE. Print TAP, or\n"
        "JUnit XML with --junit. The exit status is 4 if one fails, and 3 if one is not\n"
        "known, for example because events are missing.\n",
    .takes = CLI_ASSERT | CLI_SPANS | CLI_ROLES,
    .run = run_assert,
};
