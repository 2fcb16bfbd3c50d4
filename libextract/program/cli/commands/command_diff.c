// SPDX-License-Identifier: MIT
// cli: `ringside diff` shows what changed between two traces of the same system.
#include "cli/cli.h"
#include <string.h>

enum { SIDES = 2 };

// Opens one of the traces.
static int open_side(struct cli_snapshot *snapshot, struct cli_options *side,
                     const struct cli_options *options, int i)
{
    *side = *options;
    side->inputs = options->inputs + i;
    side->input_count = 1;
    if (i && options->elf_b)
        side->elf = options->elf_b;
    return cli_snapshot_open(snapshot, side);
}

// Returns whether standard input is to be read for both traces.
static bool shares_stdin(const struct cli_options *options)
{
    bool is_shared = strcmp(options->inputs[0], "-") == 0 && strcmp(options->inputs[1], "-") == 0;

    for (size_t i = 0; i < options->role_count; i++)
        is_shared |= strcmp(options->roles[i], "-") == 0;
    return is_shared || (options->user_events && strcmp(options->user_events, "-") == 0);
}

static int run_diff(const struct cli_options *options)
{
    struct cli_snapshot snapshots[SIDES];
    struct cli_options sides[SIDES];
    struct cli_output output;
    struct extract_error error;
    int status = CLI_SUCCESS, opened = 0;

    if (cli_is_live(options))
        return cli_refuse("diff", "save both with ringside save or record, then compare the files",
                          "it compares files, not live targets");
    if (options->input_count != SIDES)
        return cli_refuse("diff", "use ringside diff A B", "it compares two inputs");
    if (shares_stdin(options))
        return cli_refuse("-", "use a file: both traces need it",
                          "standard input can be read only once");
    while (opened < SIDES && !status) {
        status = open_side(&snapshots[opened], &sides[opened], options, opened);
        opened++;
    }
    if (!status)
        status = cli_output_open_as(&output, options);
    if (!status) {
        if (extract_session_diff(snapshots[0].session, snapshots[1].session, &output.text,
                                 &error) &&
            !output.fault)
            status = cli_complain(&error);
        status = cli_output_close(&output, status);
    }
    for (int i = 0; i < opened; i++)
        status = cli_snapshot_close(&snapshots[i], &sides[i], status);
    return status;
}

const struct cli_command cli_diff = {
    .group = CLI_EXAMINE,
    .name = "diff",
    .arguments = "[OPTION...] A B",
    .summary = "show what changed between two traces",
    .help = "Compare trace B with trace A: priorities, what responses, holds of mutexes and\n"
            "interrupts take, how often they happen, loads, latencies and waits. Changes are\n"
            "ranked by the time that they contribute. The response that got worse is explained.\n",
    .takes = CLI_DIFF | CLI_ROLES,
    .run = run_diff,
};
