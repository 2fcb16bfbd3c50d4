// SPDX-License-Identifier: MIT
// cli: the options of all commands but `templates`.
//
// Arguments come in, in any order, and struct cli_options goes out. The table below is the only
// list of these options. To add one, add its row, and a field of struct cli_options for its value.
// A value that is more than a text, a flag or a number has a setter of its own here.
#define _GNU_SOURCE // asprintf
#include "cli/cli.h"
#include "cli/option_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MORE_CONDITIONS = 6, // that are not arguments: the N of `last`, times of -O, dates, cores
    MAX_BAUD = 100000000
};

// ---- setters ----

static bool set_baud(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    return option_set_count(options, use) &&
           (options->feeding.baud <= MAX_BAUD || option_refuse_value(use, "use bits per second"));
}

static bool set_width(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    uint64_t width;

    if (!extract_number_parse(use->value, &width) || width < 20 || width > 1000)
        return option_refuse_value(use, "use a number of columns from 20 to 1000");
    options->session.width = (unsigned)width;
    return true;
}

static bool set_pid(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    return (extract_number_parse(use->value, &options->pid) && options->pid) ||
           option_refuse_value(use, "use the number of a process");
}

// Stores seconds as milliseconds.
static bool set_seconds(void *context, const struct option_use *use)
{
    return cli_timeout_parse(use->value, (unsigned *)((char *)context + use->row->offset)) ||
           option_refuse_value(use, "use seconds, from 0.001 to 3600");
}

// Stores a decimal number of units as nanoseconds. The row's parameter is the unit in nanoseconds.
static bool set_duration(void *context, const struct option_use *use)
{
    double number = 0, unit = use->row->parameter;
    char *end = NULL;

    if (strspn(use->value, "0123456789.") == strlen(use->value))
        number = strtod(use->value, &end);
    if (!end || *end || !(number * unit >= 1) || number * unit > 1e18)
        return option_refuse_value(use, "use a decimal number above 0");
    *(uint64_t *)((char *)context + use->row->offset) = (uint64_t)(number * unit);
    return true;
}

static bool set_size(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    return extract_log_size_parse(use->value, &options->recording.size_bytes) ||
           option_refuse_value(use, "use bytes, or a number followed by k, M or G");
}

static bool set_policy(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    return extract_log_policy_parse(use->value, &options->recording.policy) ||
           option_refuse_value(use, "use loop, until_full or append");
}

static bool set_color(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const char *when = use->value ? use->value : "always";
    bool is_plain = (no_color && *no_color) || !term || strcmp(term, "dumb") == 0;
    bool is_auto = strcmp(when, "auto") == 0, is_always = strcmp(when, "always") == 0;

    if (!is_auto && !is_always && strcmp(when, "never") != 0)
        return option_refuse_value(use, "use auto, always or never");
    options->session.color = is_always || (is_auto && !is_plain && isatty(STDOUT_FILENO));
    options->color_is_fixed = !is_auto;
    return true;
}

static bool set_rkh(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    const char *key = use->row->parameter ? "view=" : "";
    char name[OPTION_NAME_BYTES];
    struct extract_error error;
    char *settings;

    if (asprintf(&settings, "%s%s", key, use->value) < 0)
        return !cli_refuse(use->value, NULL, "out of memory");
    enum extract_code code = extract_rkh_parse(&options->rkh, settings, &error);
    free(settings);
    if (code && strcmp(error.what, "settings of RKH") == 0)
        extract_error_rename(&error, option_name(use->row, use->form, name));
    options->session.rkh = &options->rkh;
    return code ? !cli_complain(&error) : true;
}

static bool set_ring(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    options->session.ring_known = true;
    return option_set_number(options, use);
}

static bool set_stream(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    uint64_t number;

    if (!extract_number_parse(use->value, &number) || number >= UINT32_MAX)
        return option_refuse_value(use, "use a number from 0 on");
    options->session.stream = (uint32_t)number + 1;
    return true;
}

static bool set_listen(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    options->feeding.listen = use->value ? use->value : "";
    return true;
}

static bool set_compat(void *context, const struct option_use *use)
{
    struct cli_reporting *reporting = &((struct cli_options *)context)->reporting;

    reporting->compat = strcmp(use->value, "trcrpt") == 0;
    reporting->trazer = strcmp(use->value, "trazer") == 0;
    return reporting->compat || reporting->trazer ||
           option_refuse_value(use, "use trcrpt or trazer");
}

// With --compat trcrpt, which may come later, -h has the meaning that it has there.
static bool set_help(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    *(use->form == OPTION_LETTER ? &options->reporting.short_help : &options->help) = true;
    return true;
}

// Events are always printed in the order of their times, which -m of trcrpt asks for.
static bool accept_order(void *context, const struct option_use *use)
{
    (void)context;
    (void)use;
    return true;
}

// Options of trcrpt that cannot mean anything here.
static const struct {
    char letter;
    const char *hint, *why;
} foreign[] = {
    {'D', "use -d with the ids of the hooks", "templates have no groups of hooks"},
    {'K', "use -k with the ids of the hooks", "templates have no groups of hooks"},
    {'G', "use -j for the hooks and their labels", "templates have no groups of hooks"},
    {'M', "leave it out", "there are no lightweight memory traces"},
    {'l', "leave it out", "there are no traces of components"},
};

static bool refuse_foreign(void *context, const struct option_use *use)
{
    char name[OPTION_NAME_BYTES];
    size_t i = 0;

    (void)context;
    while (foreign[i].letter != use->row->letter)
        i++;
    return !cli_refuse(option_name(use->row, use->form, name), foreign[i].hint, foreign[i].why);
}

static bool set_dialect(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    struct extract_error error;

    return !extract_dialect_parse(&options->session.dialect, use->value, &error) ||
           !cli_complain(&error);
}

static bool add_template(void *context, const struct option_use *use)
{
    struct cli_reporting *reporting = &((struct cli_options *)context)->reporting;

    reporting->templates[reporting->template_count++] = use->value;
    return true;
}

static bool add_role_file(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    options->roles[options->role_count++] = use->value;
    return true;
}

static bool add_offset(void *context, const struct option_use *use)
{
    struct cli_merging *merging = &((struct cli_options *)context)->merging;

    merging->offsets[merging->offset_count++] = use->value;
    return true;
}

static bool add_setting(void *context, const struct option_use *use)
{
    struct cli_reporting *reporting = &((struct cli_options *)context)->reporting;

    reporting->settings[reporting->setting_count++] = use->value;
    return true;
}

// Adds a condition. Their array has capacity for one per argument and MORE_CONDITIONS.
static bool add_condition(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    struct extract_condition *conditions = (struct extract_condition *)options->session.conditions;

    conditions[options->session.condition_count++] =
        (struct extract_condition){(enum extract_filter_word)use->row->parameter, use->value};
    return true;
}

// Adds a definition of a span. Their array has capacity for one per argument.
static bool add_span(void *context, const struct option_use *use)
{
    struct cli_options *options = context;
    const char **spans = (const char **)options->session.spans;

    spans[options->session.span_count++] = use->value;
    return true;
}

// Adds "-@ADDRESS", which is standard input at an address, although getopt finds an option there.
static bool add_standard_input(void *context, const struct option_use *use)
{
    struct cli_options *options = context;

    if (use->value != use->argument + 2)
        return option_refuse_value(use, "use -@ADDRESS without a blank; there are no workload "
                                        "partitions, which trcrpt means");
    options->inputs[options->input_count++] = use->argument;
    return true;
}

// Stores an argument that is not an option: first the command, then its inputs.
static bool add_argument(void *context, char *argument)
{
    struct cli_options *options = context;

    if (!options->command)
        options->command = argument;
    else
        options->inputs[options->input_count++] = argument;
    return true;
}

// ---- the table ----

enum option_group { GENERAL, RUNNING, REPORT, WHY, MERGE, FILTER, GROUPS };

static const char *const headings[GROUPS] = {
    "Options",
    "Options of top, record and periodic",
    "Options of report, last, export and view",
    "Options of stats, why, diff and assert",
    "Options of merge",
    "Filters (a comma separates several values, a leading ! leaves out what matches)"};

#define FIELD(name)  offsetof(struct cli_options, name)
#define TEXT(name)   .set = option_set_text, .offset = FIELD(name)
#define ONCE(name)   .set = option_set_once, .offset = FIELD(name)
#define FLAG(name)   .set = option_set_flag, .offset = FIELD(name)
#define NUMBER(name) .set = option_set_number, .offset = FIELD(name)
#define COUNT(name)  .set = option_set_count, .offset = FIELD(name)
#define MATCH(what)  .set = add_condition, .parameter = EXTRACT_FILTER_##what

// clang-format off
static const struct option_row rows[] = {
    {GENERAL, 0, 'n', "elf", "FILE", "Read names and the ring's address from the firmware.",
     TEXT(elf)},
    {GENERAL, 0, 0, "openocd", "SERVER", "Read a live target through OpenOCD's Tcl port.",
     TEXT(openocd)},
    {GENERAL, 0, 0, "remote", "SERVER", "Read a live target through a GDB server.", TEXT(remote)},
    {GENERAL, 0, 0, "pid", "PID", "Read a traced process on this host (POSIX trace).",
     .set = set_pid},
    {GENERAL, 0, 0, "target", "NAME", "Choose one of several targets of OpenOCD.", TEXT(target),
     .needs_live = true},
    {GENERAL, 0, 0, "timeout", "SECONDS", "Wait at most SECONDS for an answer of a live target.",
     .set = set_seconds, .offset = FIELD(timeout_ms), .needs_live = true},
    {GENERAL, 0, 0, "format", "NAME", "Read this format only: threadx, hook, rkh or posix.",
     TEXT(session.format)},
    {GENERAL, 0, 0, "hook", "LAYOUT",
     "Read the input as a raw stream of hook words:\n"
     "bits=32,order=big,tid=4,stamp=4,stamps=typed,hz=N", TEXT(hook)},
    {GENERAL, 0, 0, "rkh", "SETTINGS",
     "Set what an RKH stream does not contain: fun=4,\nts_hz=1000000,...,trazer.cfg=FILE",
     .set = set_rkh},
    {GENERAL, 0, 0, "view", "VIEW",
     "Show all that an RKH ring holds (history), or what\nwas not sent yet (pending).",
     .set = set_rkh,
     .parameter = 1},
    {GENERAL, 0, 0, "ring", "ADDRESS", "Use the ring whose control header is at ADDRESS.",
     .set = set_ring,
     .offset = FIELD(session.ring)},
    {GENERAL, 0, 0, "stream", "N", "Choose one of several POSIX trace streams, from 0 on.",
     .set = set_stream},
    {GENERAL, 0, 0, "hz", "N", "Set the ticks per second of the trace's clock.",
     COUNT(session.hz)},
    {GENERAL, 0, 0, "modulus", "N", "Set the number of ticks after which the clock wraps.",
     COUNT(session.modulus)},
    {GENERAL, 0, 0, "user-events", "FILE", "Read names of user events from FILE (.trxc).",
     TEXT(user_events)},
    {GENERAL, CLI_ROLES, 0, "roles", "FILE",
     "Read what hook words mean from FILE, or from the\nbuilt-in file \"aix\"; may be repeated.",
     .set = add_role_file},
    {GENERAL, CLI_REGISTERS, 0, "registers", "FILE",
     "Read the registers of the core from FILE, one per\n"
     "line, as GDB's \"info registers\" prints. A line\n"
     "\"core N\" comes before those of another core.",
     TEXT(registers)},
    {GENERAL, CLI_KERNEL, 0, "kernel", NULL, "List what the control blocks of the kernel show.",
     FLAG(kernel)},
    {GENERAL, 0, 0, "json", NULL, "Print JSON instead of text.", FLAG(session.json)},
    {GENERAL, CLI_HTML, 0, "html", NULL, "Print a page of HTML instead of text.", FLAG(html)},
    {GENERAL, CLI_TIMELINE, 0, "width", "N", "Draw at most N columns.", .set = set_width},
    {GENERAL, CLI_TIMELINE, 0, "ascii", NULL, "Draw with ASCII characters only.",
     FLAG(session.ascii)},
    {GENERAL, 0, 0, "no-header", NULL, "Print text without column headings.",
     FLAG(session.no_header)},
    {GENERAL, 0, 0, "color", "[=WHEN]", "Color the text: auto (default), always or never.",
     .set = set_color},
    {GENERAL, 0, 0, "cost", NULL, "Print how much reading the target cost.", FLAG(cost)},
    {GENERAL, CLI_OUTPUT, 'o', "output", "FILE", "Write to FILE.", TEXT(output)},
    {GENERAL, 0, 'q', "quiet", NULL, "Do not report losses; the exit status still does.",
     FLAG(quiet)},
    {GENERAL, 0, 'h', "help", NULL, "Print this text.", .set = set_help},
    {GENERAL, 0, 'V', "version", NULL, "Print the version.", FLAG(version)},
    {GENERAL, 0, '@', NULL, "ADDRESS", NULL, .set = add_standard_input},

    {RUNNING, CLI_REFRESH, 0, "delay", "SECONDS", "Refresh the screen every SECONDS (1).",
     .set = set_seconds, .offset = FIELD(delay_ms)},
    {RUNNING, CLI_REFRESH, 0, "batch", NULL, "Print text, without a screen.", FLAG(batch)},
    {RUNNING, CLI_COUNT, 0, "count", "N", "Stop after N refreshes or files (no limit).",
     COUNT(count)},
    {RUNNING, CLI_RECORD, 0, "policy", "POLICY",
     "Choose the log's policy: loop (default), until_full\nor append.", .set = set_policy},
    {RUNNING, CLI_RECORD, 0, "size", "N[k|M|G]", "Limit the log to N bytes (64M).",
     .set = set_size},
    {RUNNING, CLI_TIMED, 0, "every", "MS",
     "Poll every MS milliseconds; by default, record adapts\nto the load.",
     .set = set_duration, .offset = FIELD(recording.every_ns),
     .parameter = 1000000},
    {RUNNING, CLI_TIMED, 0, "for", "SECONDS", "Stop after SECONDS.",
     .set = set_duration, .offset = FIELD(recording.duration_ns),
     .parameter = 1000000000},
    {RUNNING, CLI_RECORD, 0, "until", "EVENT", "Stop after this event.", TEXT(recording.until)},
    {RUNNING, CLI_KEEP, 0, "keep", "N", "Keep the newest N files (all).", COUNT(recording.keep)},
    {RUNNING, CLI_RECORD, 0, "sync", NULL, "Flush each block to disk before reading the next.",
     FLAG(recording.sync)},

    {REPORT, CLI_TEMPLATES, 't', "templates", "FILE",
     "Print events by these templates; may be repeated.", .set = add_template},
    {REPORT, CLI_TEMPLATES, 0, "templates-only", NULL, "Leave out the templates of Ringside.",
     FLAG(session.only_templates)},
    {REPORT, CLI_TEMPLATES, 0, "dialect", "SETTINGS", "Choose how templates are read.",
     .set = set_dialect},
    {REPORT, CLI_REPORT, 'O', NULL, "KEY[=VALUE],...", "Choose columns and layout.",
     .set = add_setting},
    {REPORT, CLI_REPORT, 0, "compat", "LAYOUT",
     "Print in the layout of AIX's trcrpt (trcrpt), or the\nlines of RKH's Trazer (trazer).",
     .set = set_compat},
    {REPORT, CLI_REPORT, 'd', NULL, "LIST", "Print these hook ids only.",
     ONCE(session.only_hooks)},
    {REPORT, CLI_REPORT, 'k', NULL, "LIST", "Leave out these hook ids.",
     ONCE(session.not_hooks)},
    {REPORT, CLI_REPORT, 'C', NULL, "LIST", "Print the events of these cores only.",
     ONCE(reporting.cores)},
    {REPORT, CLI_REPORT, 's', NULL, "DATE", "Begin at mmddhhmmssyy (of a log).",
     ONCE(reporting.start_date)},
    {REPORT, CLI_REPORT, 'e', NULL, "DATE", "End at mmddhhmmssyy (of a log).",
     ONCE(reporting.end_date)},
    {REPORT, CLI_REPORT, 'x', NULL, NULL, "Print columns of the thread and the system call.",
     FLAG(reporting.calls)},
    {REPORT, CLI_REPORT, 'c', NULL, NULL, "Check the templates, and print no report.",
     FLAG(reporting.check)},
    {REPORT, CLI_REPORT, 'j', NULL, NULL, "List hook ids with their labels, and no report.",
     FLAG(reporting.list)},
    {REPORT, CLI_REPORT, 'r', NULL, NULL, "Write the events as raw hook entries.",
     FLAG(reporting.raw)},
    {REPORT, CLI_REPORT, 'm', NULL, NULL, NULL, .set = accept_order},
    {REPORT, CLI_REPORT, 'D', NULL, "LIST", NULL, .set = refuse_foreign},
    {REPORT, CLI_REPORT, 'K', NULL, "LIST", NULL, .set = refuse_foreign},
    {REPORT, CLI_REPORT, 'G', NULL, NULL, NULL, .set = refuse_foreign},
    {REPORT, CLI_REPORT, 'M', NULL, "LIST", NULL, .set = refuse_foreign},
    {REPORT, CLI_REPORT, 'l', NULL, "LIST", NULL, .set = refuse_foreign},
    {REPORT, CLI_REPORT | CLI_SERVE, 0, "listen", "[=SERVER]",
     "Listen at unix:PATH, or on a TCP port: print what\n"
     "is received (127.0.0.1:6602), or serve GDB (:3333).",
     .set = set_listen},
    {REPORT, CLI_REPORT, 0, "baud", "N", "Set the speed of a serial port (115200).",
     .set = set_baud,
     .offset = FIELD(feeding.baud)},
    {REPORT, CLI_REPORT, 0, "follow", NULL, "Print what is appended to a file.",
     FLAG(feeding.follow)},
    {REPORT, CLI_REPORT, 0, "save", "FILE", "Keep the bytes of such a source in FILE.",
     TEXT(feeding.save)},
    {REPORT, CLI_REPORT, 'v', NULL, NULL, "Print the names of the files that are opened.",
     FLAG(reporting.verbose)},
    {REPORT, CLI_REPORT, 0, "pager", NULL, "Print through $PAGER, or less.",
     FLAG(reporting.pager)},

    {WHY, CLI_SPANS, 0, "span", "DEFINITION",
     "Measure spans between two events, as in\n'request: 4096 .. 4097 by info1'; may be repeated.",
     .set = add_span},
    {WHY, CLI_WHY, 0, "worst", "N", "Explain the N longest responses or spans (1).",
     COUNT(why.worst)},
    {WHY, CLI_WHY, 0, "at", "T", "Explain the response at T.", TEXT(why.at)},

    {WHY, CLI_DIFF, 0, "elf-b", "FILE", "Read names of B from another build of the firmware.",
     TEXT(elf_b)},
    {WHY, CLI_ASSERT, 0, "junit", NULL, "Print JUnit XML.", FLAG(junit)},

    {MERGE, CLI_MERGE, 0, "cores", NULL, "The inputs are the rings of one target's cores.",
     FLAG(merging.cores)},
    {MERGE, CLI_MERGE, 0, "alternate", NULL,
     "The inputs are buffers that one core uses in turn.", FLAG(merging.alternate)},
    {MERGE, CLI_MERGE, 0, "offset", "FILE=T",
     "Add T, which may be negative, to the timestamps of FILE,\nwhich is of another board; may be "
     "repeated.", .set = add_offset},
    {MERGE, CLI_MERGE, 0, "align", "EVENTS",
     "Align the clocks of boards by events that both have, as\nin 'sync:info1' or "
     "'4096:info1 .. 4097:info1'.", ONCE(merging.align)},

    {FILTER, CLI_EVENTS, 0, "event", "E",
     "Match an id, symbol, name or pattern; for RKH also\n"
     "group=NAME, ao=NAME, signal=NAME, all.", MATCH(EVENT)},
    {FILTER, CLI_PARTS, 0, "thread", "T",
     "Match an address, name or pattern; isr, init; for RKH\na priority.", MATCH(THREAD)},
    {FILTER, CLI_PARTS, 'p', NULL, "T", "Do the same as --thread.", MATCH(THREAD)},
    {FILTER, CLI_PARTS, 'T', NULL, "T", "Do the same as --thread.", MATCH(THREAD)},
    {FILTER, CLI_EVENTS, 0, "object", "O",
     "Match an address, name or pattern; for RKH a signal's\nnumber.", MATCH(OBJECT)},
    {FILTER, CLI_EVENTS, 0, "signal", "S", "Match a number, name or pattern of a signal (RKH).",
     MATCH(SIGNAL)},
    {FILTER, CLI_EVENTS, 0, "class", "C", "Match APPL, SVC, KERN or INT.", MATCH(CLASS)},
    {FILTER, CLI_PARTS | CLI_WHY, 0, "from", "T",
     "Begin at T: ticks, or a time with its unit, as 1.5s,\n20ms or 7us.", MATCH(FROM)},
    {FILTER, CLI_PARTS | CLI_WHY, 0, "to", "T", "End at T.", MATCH(TO)},
    {FILTER, CLI_EVENTS, 0, "where", "EXPRESSION",
     "Match an expression, as in\n'info1 == 0x5dc && object == \"queue 0\"'.", MATCH(WHERE)},
    {FILTER, CLI_PARTS, 0, "last", "N", "Take the newest N of what the other filters leave.",
     MATCH(LAST)},
};
// clang-format on

_Static_assert(sizeof rows / sizeof *rows <= OPTION_MAX, "the parser has capacity for each row");

const struct option_table cli_option_table = {
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .headings = headings,
    .group_count = GROUPS,
    .hint = "see ringside --help",
    .add_argument = add_argument,
};

// ---- names in messages ----

// Errors of the library name the field of its options that is wrong. Most options have the field's
// name; these have another one, and apply if no option of that name was given.
static const struct {
    const char *field;
    const char *name; // without "-" or "--"
} other_names[] = {
    {"thread", "p"},
    {"thread", "T"},
    {"core", "C"},
    {"only_hooks", "d"},
    {"not_hooks", "k"},
    {"event", "d"},
    {"event", "k"},
    {"from", "s"},
    {"from", "O"},
    {"to", "e"},
    {"to", "O"},
    {"layout of Trazer", "compat"},
    {"stream of hook words", "hook"},
};

// Writes the option of a name as it was given. Returns false if it was not given.
static bool find_given(const struct cli_options *options, const char *wanted,
                       char name[OPTION_NAME_BYTES])
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char letter[] = {rows[i].letter, 0};
        bool is = rows[i].name ? strcmp(rows[i].name, wanted) == 0 : strcmp(letter, wanted) == 0;
        if (is && options->given[i]) {
            option_name(&rows[i], options->given[i], name);
            return true;
        }
    }
    return false;
}

bool cli_options_name(const struct cli_options *options, const char *field,
                      char name[OPTION_NAME_BYTES])
{
    bool found = find_given(options, field, name);

    for (size_t i = 0; i < sizeof other_names / sizeof *other_names && !found; i++)
        if (strcmp(other_names[i].field, field) == 0)
            found = find_given(options, other_names[i].name, name);
    return found;
}

// ---- parsing ----

bool cli_options_parse(struct cli_options *options, int argc, char **argv)
{
    const struct option_use automatic = {.row = NULL, .value = "auto"};
    size_t capacity = (size_t)argc + 1;

    memset(options, 0, sizeof *options);
    options->session.size = sizeof options->session;
    options->inputs = calloc(capacity, sizeof *options->inputs);
    options->session.conditions =
        calloc(capacity + MORE_CONDITIONS, sizeof(struct extract_condition));
    options->session.spans = calloc(capacity, sizeof(char *));
    options->reporting.templates = calloc(capacity, sizeof(char *));
    options->reporting.settings = calloc(capacity, sizeof(char *));
    options->roles = calloc(capacity, sizeof(char *));
    options->merging.offsets = calloc(capacity, sizeof(char *));
    if (!options->inputs || !options->session.conditions || !options->session.spans ||
        !options->reporting.templates || !options->reporting.settings || !options->roles ||
        !options->merging.offsets) {
        cli_refuse("arguments", NULL, "out of memory");
        return false;
    }
    set_color(options, &automatic);
    return option_table_parse(&cli_option_table, options, options->given, argc, argv) &&
           cli_reporting_finish(options);
}

void cli_options_free(struct cli_options *options)
{
    free(options->inputs);
    free((struct extract_condition *)options->session.conditions);
    free((const char **)options->session.spans);
    free(options->reporting.templates);
    free(options->reporting.settings);
    free(options->roles);
    free(options->merging.offsets);
}
