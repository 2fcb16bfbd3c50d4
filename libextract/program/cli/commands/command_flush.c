// SPDX-License-Identifier: MIT
// cli: `ringside flush` appends the new entries of a ring to a log, in one pass, and prints their
// number.
#include "cli/cli.h"
#include <extract/record.h>
#include <string.h>

struct flushing {
    const struct cli_options *options;
    struct extract_memory *memory;
    struct extract_symbols *symbols;
};

static enum extract_code flush_ring(struct flushing *f, const char *path,
                                    struct extract_record_status *status,
                                    struct extract_error *error)
{
    const struct extract_session_options *session = &f->options->session;
    const struct extract_record_options record = {.size = sizeof record,
                                                  .format = session->format,
                                                  .ring_known = session->ring_known,
                                                  .ring = session->ring,
                                                  .rkh = session->rkh,
                                                  .stream = session->stream};
    struct cli_options rest = *f->options; // without the log, which is not an input

    rest.inputs++;
    rest.input_count--;
    enum extract_code code = cli_symbols_open(&f->symbols, &rest, error);
    code = code ? code : cli_memory_open(&f->memory, &rest, error);
    return code ? code : extract_record_flush(path, f->memory, f->symbols, &record, status, error);
}

static int run_flush(const struct cli_options *options)
{
    struct flushing f = {.options = options};
    struct extract_record_status status;
    struct extract_error error;
    struct cli_output output;

    if (!options->input_count || (options->input_count == 1 && !cli_is_live(options)))
        return cli_refuse(
            "flush", "use LOG, and --pid PID, --openocd SERVER, --remote SERVER or IMAGE@ADDRESS",
            options->input_count ? "no target is given" : "no log is given");
    if (strcmp(options->inputs[0], "-") == 0)
        return cli_refuse("flush", "use a file name for the log",
                          "a log cannot go to standard output");
    cli_output_open(&output);
    enum extract_code code = flush_ring(&f, options->inputs[0], &status, &error);
    int end = code ? cli_complain(&error) : status.gaps ? CLI_LOSSES : CLI_SUCCESS;
    if (!code)
        extract_record_flushed(&status, options->session.json, &output.text);
    end = cli_output_close(&output, end);
    cli_live_release(f.memory, options);
    extract_symbols_close(f.symbols);
    extract_memory_close(f.memory);
    return end;
}

const struct cli_command cli_flush = {
    .group = CLI_FOLLOW,
    .name = "flush",
    .arguments = "LOG --pid PID | --openocd SERVER | --remote SERVER | IMAGE@ADDRESS...",
    .summary = "append new events to a log",
    .help = "Make one pass, as posix_trace_flush does, over any trace that can be recorded. A "
            "missing log\n"
            "is created; an existing one must have the policy append. Nothing is written to the "
            "target.\n"
            "Exit status 3: events after the end of the log are no longer in the ring.\n",
    .takes = 0,
    .run = run_flush,
};
