// SPDX-License-Identifier: MIT
// cli: `ringside save` writes the ring of a trace to a dump file of its own format.
#include "base/file.h"
#include "cli/cli.h"
#include <extract/report.h>
#include <string.h>

static int write_dump(const struct extract_text *ring, const char *path)
{
    struct extract_error error;
    struct cli_output output;

    if (strcmp(path, "-"))
        return extract_file_replace(path, ring->data, ring->used, &error) ? cli_complain(&error)
                                                                          : CLI_SUCCESS;
    cli_output_open(&output);
    extract_text_put(&output.text, ring->data, ring->used);
    return cli_output_close(&output, CLI_SUCCESS);
}

// Warns that a ring cannot hold the loss markers of a log. Losses of reason 0 need no marker: they
// follow from the numbers of the saved entries.
static void warn_of_markers(const struct cli_snapshot *snapshot, const struct cli_options *options)
{
    const struct extract_log_info *log =
        extract_trace_info(extract_session_trace(snapshot->session))->log;
    struct extract_error error;
    uint64_t markers = 0;

    for (unsigned i = 1; log && i < EXTRACT_LOSS_REASONS; i++)
        markers += log->losses[i].gaps;
    if (!markers || options->quiet)
        return;
    const char *to = strcmp(options->output, "-") ? options->output : "standard output";
    extract_error_set(&error, EXTRACT_BAD, to, "keep the log",
                      "a dump has no space for the %llu loss markers of the log",
                      (unsigned long long)markers);
    cli_complain(&error);
}

static int run_save(const struct cli_options *options)
{
    struct extract_error error;
    struct extract_text ring;
    struct cli_snapshot snapshot;

    if (!options->output)
        return cli_refuse("save",
                          "use -o FILE (.trx, .hook, .rkr, .ptr), or -o - for standard output",
                          "no output file is given");
    if (cli_output_is_input(options))
        return cli_refuse(options->output, "use the name of another file", "is an input");
    int status = cli_snapshot_open(&snapshot, options);
    extract_text_init(&ring, NULL, NULL);
    if (!status) {
        const struct extract_trace *trace = extract_session_trace(snapshot.session);
        status = extract_export_ring(&ring, trace, &error) ? cli_complain(&error)
                                                           : write_dump(&ring, options->output);
    }
    if (!status)
        warn_of_markers(&snapshot, options);
    extract_text_free(&ring);
    return cli_snapshot_close(&snapshot, options, status);
}

const struct cli_command cli_save = {
    .group = CLI_SETUP,
    .name = "save",
    .alias = "snapshot",
    .arguments = "INPUT... -o FILE",
    .summary = "save the ring to a dump file",
    .help =
        "The file has the format of the trace: FILE.trx for ThreadX, FILE.hook for hook words, "
        "FILE.rkr\n"
        "for an RKH ring, FILE.ptr for POSIX trace; a stream of RKH frames remains a stream. It "
        "gives\n"
        "the same report. It is replaced in one step. -o - writes to standard output.\n",
    .takes = CLI_OUTPUT,
    .run = run_save,
};
