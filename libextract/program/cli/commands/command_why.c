// SPDX-License-Identifier: MIT
// cli: `ringside why` explains why a response of a thread, or a span, took as long as it did.
#include "cli/cli.h"
#include <string.h>
#include <unistd.h>

// Returns whether the first argument names a thread. With --span, it may be an input: a file that
// exists, an image at an address, or the only argument of a command without a live target.
static bool has_thread(const struct cli_options *options)
{
    if (!options->session.span_count)
        return true;
    if (!options->input_count || options->input_count + cli_is_live(options) < 2)
        return false;
    return !strchr(options->inputs[0], '@') && strcmp(options->inputs[0], "-") != 0 &&
           access(options->inputs[0], F_OK) != 0;
}

static int run_why(const struct cli_options *options)
{
    struct cli_snapshot snapshot;
    struct cli_output output;
    struct extract_error error;
    struct cli_options rest = *options;
    struct extract_why_options why = options->why;

    // The time is not a filter: all events are needed to know who ran.
    for (size_t i = 0; i < options->session.condition_count; i++) {
        const struct extract_condition *condition = &options->session.conditions[i];
        if (condition->word == EXTRACT_FILTER_FROM)
            why.from = condition->value;
        else if (condition->word == EXTRACT_FILTER_TO)
            why.to = condition->value;
    }
    rest.session.condition_count = 0;

    bool is_thread_given = has_thread(options);
    if (rest.input_count + cli_is_live(options) < 1 + is_thread_given)
        return cli_refuse("why", "use ringside why THREAD INPUT", "no input is given");
    if ((why.at != NULL) + (why.worst != 0) + (why.from || why.to) > 1)
        return cli_refuse("why", "use one of them",
                          "--at, --worst and --from with --to each choose another time");
    why.hz = options->session.hz;
    if (is_thread_given) {
        why.thread = rest.inputs[0];
        rest.inputs++;
        rest.input_count--;
    }
    int status = cli_snapshot_open(&snapshot, &rest);
    if (!status)
        status = cli_output_open_as(&output, &rest);
    if (!status) {
        enum extract_code code = extract_session_why(snapshot.session, &why, &output.text, &error);
        if (code && !output.fault)
            status = cli_complain(&error);
        if (code == EXTRACT_NOTFOUND)
            status = CLI_USAGE;
        status = cli_output_close(&output, status);
    }
    return cli_snapshot_close(&snapshot, &rest, status);
}

const struct cli_command cli_why = {
    .group = CLI_EXAMINE,
    .name = "why",
    .arguments = "[THREAD] [OPTION...] INPUT...",
    .summary = "explain why a thread was late",
    .help = "Explain the longest response of THREAD, a name or an address: from when it became\n"
            "ready to its next wait for work. Each line is a part of that time, and the parts add\n"
            "up to all of it. A thread that waits at the end of the trace is explained too. With\n"
            "--span, explain the longest span instead, for the thread that began it or THREAD.\n",
    .takes = CLI_WHY | CLI_SPANS | CLI_ROLES,
    .run = run_why,
};
