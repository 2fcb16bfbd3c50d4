// SPDX-License-Identifier: MIT
// cli: `ringside export` writes a trace in a format of another tool.
#include "base/now.h"
#include "cli/cli.h"
#include <extract/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAUSE_MS = 250 }; // between two progress lines

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

static enum extract_code write_export(struct cli_snapshot *snapshot,
                                      const struct extract_export_kind *kind,
                                      const struct cli_options *options, const char *path,
                                      struct extract_text *text, struct extract_error *error)
{
    if (is_same_dump(snapshot, options, kind))
        return copy_file(options->inputs[0], text, error);
    const char *term = getenv("TERM");
    struct export_progress progress = {.path = path, .printed_ns = extract_now()};
    struct extract_export_options choice = {.size = sizeof choice,
                                            .to = kind->name,
                                            .path = path,
                                            .progress = print_progress,
                                            .context = &progress};

    progress.is_shown =
        !options->quiet && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    cli_catch_ending();
    enum extract_code code = extract_session_export(snapshot->session, &choice, text, error);
    if (progress.has_line)
        fputs("\r\033[K", stderr);
    return code;
}

static int run_export(const struct cli_options *options)
{
    struct cli_options rest = *options;
    struct cli_snapshot snapshot;
    struct cli_output output;
    struct extract_error error;

    if (!options->output)
        return cli_refuse("export", "use -o FILE, or -o - for standard output",
                          "no output file is given");
    const struct extract_export_kind *kind = find_kind(take_name(&rest), options->output);
    if (!kind)
        return CLI_USAGE;
    bool is_stream = kind->output == EXTRACT_EXPORT_STREAM;
    if (!is_stream || strcmp(options->output, "-") == 0)
        rest.output = NULL;
    int status = cli_snapshot_open(&snapshot, &rest);
    if (!status)
        status = cli_output_open_as(&output, &rest);
    if (!status) {
        enum extract_code code =
            write_export(&snapshot, kind, &rest, options->output, &output.text, &error);
        if (code && !output.fault)
            status = cli_complain(&error);
        if (code == EXTRACT_NOTFOUND)
            status = CLI_USAGE; // a filter matches nothing in this trace
        status = cli_output_close(&output, status);
    }
    return cli_snapshot_close(&snapshot, options, status);
}

const struct cli_command cli_export = {
    .group = CLI_EXAMINE,
    .name = "export",
    .arguments = "[--to NAME] [FILTER...] INPUT... -o FILE",
    .summary = "write the trace for another tool",
    .help = "Write events and schedule in the format NAME, or in that of FILE's ending:\n"
            "  csv     FILE.csv    a line per event, for spreadsheets\n"
            "  jsonl   FILE.jsonl  a JSON object per event and state, for jq\n"
            "  perfetto FILE.pftrace tracks, states and flows, for ui.perfetto.dev\n"
            "  sqlite  FILE.sqlite tables and views for questions in SQL\n"
            "  svg     FILE.svg    a picture of a time, for documents\n"
            "  trx     FILE.trx    a dump of ThreadX, for TraceX\n"
            "  vcd     FILE.vcd    states and counters as signals, for GTKWave\n"
            "  chrome  FILE.json   Trace Event JSON, for chrome://tracing\n"
            "  ctf     DIRECTORY   Common Trace Format, for babeltrace2\n"
            "  ctf-lttng DIRECTORY the schedule as LTTng's events, for Trace Compass\n"
            "FILE appears when it is complete. -o - writes to standard output. See\n"
            "ringside-export(1).\n",
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_ROLES,
    .run = run_export,
};
