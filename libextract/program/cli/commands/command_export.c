// SPDX-License-Identifier: MIT
// cli: `ringside export` writes a trace in a format of another tool.
#include "base/now.h"
#include "cli/cli.h"
#include <extract/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PAUSE_MS = 250, // between two progress lines
    MOST_INPUTS = 2
};

struct export_progress {
    const char *path;
    uint64_t printed_ns;
    bool is_shown; // there is a terminal for it
    bool has_line;
};

static bool print_progress(void *context, uint64_t done, uint64_t total)
{
    struct export_progress *progress = context;
    uint64_t now = extract_now();

    if (cli_ending_signal())
        return false;
    if (!progress->is_shown || now - progress->printed_ns < PAUSE_MS * UINT64_C(1000000))
        return true;
    progress->printed_ns = now;
    progress->has_line = true;
    fprintf(stderr, "\r\033[Kringside: %llu of %llu events (%u %%)", (unsigned long long)done,
            (unsigned long long)total, (unsigned)(total ? done * 100 / total : 100));
    return true;
}

static const char *kind_name_at(const void *context, size_t i)
{
    const struct extract_export_kind *kind = extract_export_kind_at(i);

    (void)context;
    return kind ? kind->name : NULL;
}

// Takes the name of a format out of the conditions, where --to also is the end of the time: a time
// begins with a digit. Returns NULL if there is none.
static const char *take_name(struct cli_options *options)
{
    struct extract_condition *conditions = (struct extract_condition *)options->session.conditions;
    const char *name = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < options->session.condition_count; i++) {
        const char *value = conditions[i].value;
        if (conditions[i].word == EXTRACT_FILTER_TO && (*value < '0' || *value > '9'))
            name = value;
        else
            conditions[kept++] = conditions[i];
    }
    options->session.condition_count = kept;
    return name;
}

// Finds the format: the one that is named, or that of the output's ending. Returns NULL after a
// message.
static const struct extract_export_kind *find_kind(const char *name, const char *output)
{
    const struct extract_export_kind *kind =
        name ? extract_export_kind_find(name) : extract_export_kind_guess(output);

    if (!kind && name)
        cli_refuse_unknown(name, "format of exports", cli_nearest(name, kind_name_at, NULL),
                           "see ringside export --help");
    else if (!kind)
        cli_refuse(output, "use --to NAME; see ringside export --help",
                   "the name shows no format of exports");
    return kind;
}

// Returns whether the input is a dump file of which no event is left out, and the format is that of
// the file.
static bool is_same_dump(const struct cli_snapshot *snapshot, const struct cli_options *options,
                         const struct extract_export_kind *kind)
{
    const struct extract_trace *trace = extract_session_trace(snapshot->session);

    return strcmp(kind->name, "trx") == 0 && !extract_trace_info(trace)->log &&
           extract_trace_snapshot(trace)->ring.origin == EXTRACT_FROM_FILE &&
           strcmp(extract_trace_info(trace)->format, "threadx") == 0 && options->input_count == 1 &&
           strcmp(options->inputs[0], "-") != 0 && !options->session.condition_count;
}

// Writes a file as it is, also with what follows its ring.
static enum extract_code copy_file(const char *path, struct extract_text *text,
                                   struct extract_error *error)
{
    uint8_t *bytes;
    size_t length;
    enum extract_code code = extract_file_read(path, EXTRACT_FILE_LIMIT, &bytes, &length, error);

    if (code)
        return code;
    extract_text_put(text, (const char *)bytes, length);
    free(bytes);
    return text->code;
}

// The snapshots of an export: one, or two that are shown one above the other.
struct export_inputs {
    struct cli_snapshot snapshots[MOST_INPUTS];
    struct cli_options sides[MOST_INPUTS];
    int count;
};

static int open_inputs(struct export_inputs *inputs, const struct cli_options *options,
                       const struct extract_export_kind *kind)
{
    bool may_be_two = strcmp(kind->name, "html") == 0;
    bool are_two = cli_inputs_are_two(options);
    int status = CLI_SUCCESS, wanted = are_two ? 2 : 1;

    inputs->count = 0;
    if (are_two && !may_be_two)
        return cli_refuse(kind->name, "use --to html for both, or merge them with ringside merge",
                          "holds one trace only");
    if (options->elf_b && !are_two)
        return cli_refuse("--elf-b", "use --elf for the names of one trace",
                          "only for two traces in a page of html");
    for (inputs->count = 0; inputs->count < wanted && !status; inputs->count++) {
        struct cli_options *side = &inputs->sides[inputs->count];
        *side = *options;
        if (are_two) {
            side->inputs = options->inputs + inputs->count;
            side->input_count = 1;
        }
        if (inputs->count && options->elf_b)
            side->elf = options->elf_b;
        status = cli_snapshot_open(&inputs->snapshots[inputs->count], side);
    }
    return status;
}

static int close_inputs(struct export_inputs *inputs, int status)
{
    for (int i = 0; i < inputs->count; i++)
        status = cli_snapshot_close(&inputs->snapshots[i], &inputs->sides[i], status);
    return status;
}

// Returns what a page calls an input: the name of its file, or of the live target.
static const char *title_of(const struct cli_options *side)
{
    const char *path = side->input_count ? side->inputs[0] : "live target";
    const char *slash = strrchr(path, '/');

    return strcmp(path, "-") == 0 ? "standard input" : slash && slash[1] ? slash + 1 : path;
}

static enum extract_code write_export(struct export_inputs *inputs,
                                      const struct extract_export_kind *kind, const char *path,
                                      struct extract_text *text, struct extract_error *error)
{
    const struct cli_options *options = &inputs->sides[0];
    struct extract_session *session = inputs->snapshots[0].session;
    enum extract_code code;

    if (is_same_dump(&inputs->snapshots[0], options, kind))
        return copy_file(options->inputs[0], text, error);
    const char *term = getenv("TERM");
    struct export_progress progress = {.path = path, .printed_ns = extract_now()};
    struct extract_export_options choice = {.size = sizeof choice,
                                            .to = kind->name,
                                            .path = path,
                                            .title = title_of(options),
                                            .progress = print_progress,
                                            .context = &progress};

    progress.is_shown =
        !options->quiet && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    cli_catch_ending();
    if (inputs->count == 2)
        code = extract_session_export_two(session, inputs->snapshots[1].session,
                                          title_of(&inputs->sides[1]), &choice, text, error);
    else
        code = extract_session_export(session, &choice, text, error);
    if (progress.has_line)
        fputs("\r\033[K", stderr);
    return code;
}

int cli_export_run(const struct cli_options *options, const struct extract_export_kind *kind)
{
    struct cli_options rest = *options;
    struct export_inputs inputs;
    struct cli_output output;
    struct extract_error error;

    bool is_stream = kind->output == EXTRACT_EXPORT_STREAM;
    if (!is_stream || strcmp(options->output, "-") == 0)
        rest.output = NULL;
    int status = open_inputs(&inputs, &rest, kind);
    if (!status)
        status = cli_output_open_as(&output, &rest);
    if (!status) {
        enum extract_code code = write_export(&inputs, kind, options->output, &output.text, &error);
        if (code && !output.fault)
            status = cli_complain(&error);
        if (code == EXTRACT_NOTFOUND)
            status = CLI_USAGE; // a filter matches nothing in this trace
        status = cli_output_close(&output, status);
    }
    return close_inputs(&inputs, status);
}

static int run_export(const struct cli_options *options)
{
    struct cli_options rest = *options;

    if (!options->output || !*options->output)
        return cli_refuse("export", "use -o FILE, or -o - for standard output",
                          "no output file is given");
    if (cli_output_is_input(options))
        return cli_refuse(options->output, "use the name of another file", "is an input");
    if (options->session.json || options->session.no_header || options->color_is_fixed)
        return cli_refuse("--json, --no-header and --color", "use --to jsonl for JSON",
                          "only for commands that print text");
    const struct extract_export_kind *kind = find_kind(take_name(&rest), options->output);
    return kind ? cli_export_run(&rest, kind) : CLI_USAGE;
}

const struct cli_command cli_export = {
    .group = CLI_EXAMINE,
    .name = "export",
    .arguments = "[--to NAME] [FILTER...] INPUT... -o FILE",
    .summary = "write the trace for another tool",
    .help = "Write events and schedule in the format NAME, or in that of FILE's ending:\n"
            "  csv        FILE.csv      a line per event, for spreadsheets\n"
            "  jsonl      FILE.jsonl    a JSON object per event and state, for jq\n"
            "  html       FILE.html     a page for any browser; two INPUTs: both\n"
            "  perfetto   FILE.pftrace  tracks, states and flows, for ui.perfetto.dev\n"
            "  sqlite     FILE.sqlite   tables and views for questions in SQL\n"
            "  svg        FILE.svg      a picture of a time, for documents\n"
            "  trx        FILE.trx      a dump of ThreadX, for TraceX\n"
            "  vcd        FILE.vcd      states and counters as signals, for GTKWave\n"
            "  chrome     FILE.json     Trace Event JSON, for chrome://tracing\n"
            "  ctf        DIRECTORY     Common Trace Format, for babeltrace2\n"
            "  ctf-lttng  DIRECTORY     the schedule as LTTng's events, for Trace Compass\n"
            "FILE appears when it is complete. -o - writes to standard output. See\n"
            "ringside-export(1).\n",
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_TEMPLATES | CLI_ROLES | CLI_DIFF,
    .run = run_export,
};
