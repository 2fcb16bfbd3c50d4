// SPDX-License-Identifier: MIT
// cli: `ringside list` lists the programs of this host that are traced, or were when they were
// killed.
#include "cli/cli.h"
#include <extract/posix/traced.h>
#include <extract/report.h>
#include <stdlib.h>

static int run_list(const struct cli_options *options)
{
    const struct extract_report_options report = {.size = sizeof report,
                                                  .json = options->session.json,
                                                  .no_header = options->session.no_header,
                                                  .color = options->session.color};
    struct extract_traced *list;
    struct extract_error error;
    struct cli_output output;
    size_t count;

    if (options->input_count || cli_is_live(options))
        return cli_refuse("list", "use `ringside list`, then report --pid PID",
                          "list takes no input");
    if (extract_traced_list(&list, &count, &error))
        return cli_complain(&error);
    if (!count && !options->quiet)
        cli_print_note("list", "no program on this host that you may read is traced");
    cli_output_open(&output);
    if (count)
        (void)extract_report_traced(&output.text, list, count, &report);
    free(list);
    return cli_output_close(&output, CLI_SUCCESS);
}

const struct cli_command cli_list = {
    .group = CLI_EXAMINE,
    .name = "list",
    .arguments = "",
    .summary = "list traced programs of this host",
    .help =
        "Each stream of a POSIX trace, also those of programs that were killed: report --pid PID "
        "prints\nwhat they did last. \"in core\": whether a core of the program would contain "
        "the stream.\n",
    .takes = CLI_NO_INPUT,
    .run = run_list,
};
