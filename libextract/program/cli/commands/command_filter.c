// SPDX-License-Identifier: MIT
// cli: `ringside filter` shows or changes which events a live target records.
//
// For RKH, the terms after on and off become bytes that are written to the target's filter tables.
// Other formats have the requests show, set, add and sub, which command_request.c sends.
#include "cli/cli.h"
#include "cli/commands/command_request.h"
#include <extract/filter.h>
#include <string.h>

// Prints the settings; if they were changed, those before and after. Returns the status of
// printing.
static int print_settings(const struct extract_control *control, bool was_changed)
{
    struct cli_output output;

    cli_output_open(&output);
    if (was_changed)
        extract_text_puts(&output.text, "before:\n");
    extract_control_show(control, false, &output.text);
    if (was_changed) {
        extract_text_puts(&output.text, "after:\n");
        extract_control_show(control, true, &output.text);
    }
    return cli_output_close(&output, CLI_SUCCESS);
}

static bool is_rkh(const struct extract_session *session)
{
    return strcmp(extract_trace_info(extract_session_trace(session))->format, "rkh") == 0;
}

// For recorders other than RKH's: prints the filter if no terms are given. The terms on and off are
// errors for them.
static enum extract_code run_other_filter(const struct cli_options *options,
                                          struct extract_memory *memory,
                                          const struct extract_session *session, int *printed,
                                          struct extract_error *error)
{
    struct extract_request *request;
    struct cli_output output;
    enum extract_code code =
        extract_request_new(&request, extract_session_trace(session), memory, "filter",
                            options->inputs, (size_t)options->input_count, error);

    if (code)
        return code;
    cli_output_open(&output);
    cli_request_show(request, options->session.json, &output.text);
    *printed = cli_output_close(&output, CLI_SUCCESS);
    extract_request_free(request);
    return code;
}

static enum extract_code run_rkh_filter(const struct cli_options *options,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols,
                                        const struct extract_trace *trace, int *printed,
                                        struct extract_error *error)
{
    struct extract_control *control = NULL;
    struct extract_edit edit;
    enum extract_code code =
        extract_control_read(&control, memory, symbols, trace, options->session.rkh, error);

    if (!code)
        code =
            extract_control_change(control, options->inputs, (size_t)options->input_count, error);
    for (size_t i = 0; !code && extract_control_edit(control, i, &edit); i++)
        code = extract_memory_write(memory, edit.address, &edit.after, 1, error);
    if (!code)
        *printed = print_settings(control, options->input_count > 0);
    extract_control_free(control);
    return code;
}

static enum extract_code run_on_target(const struct cli_options *options,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols, int *printed,
                                       struct extract_error *error)
{
    struct extract_session *session = NULL;

    // A ring may be unreadable because of its filters, so they can be changed without its names.
    bool is_readable = !extract_session_open(&session, memory, symbols, &options->session, NULL);
    const struct extract_trace *trace = is_readable ? extract_session_trace(session) : NULL;
    enum extract_code code = is_readable && !is_rkh(session)
                                 ? run_other_filter(options, memory, session, printed, error)
                                 : run_rkh_filter(options, memory, symbols, trace, printed, error);
    extract_session_close(session);
    return code;
}

static int run_filter(const struct cli_options *options)
{
    struct cli_options live = *options;
    struct extract_memory *memory = NULL;
    struct extract_symbols *symbols = NULL;
    struct extract_error error;
    int printed = CLI_SUCCESS;

    if (cli_filter_is_request(options))
        return cli_filter_request(options);
    if (!cli_is_live(options) || (!options->elf && !options->pid))
        return cli_refuse("filter",
                          "use --pid PID, or --elf FIRMWARE.elf with --openocd SERVER or "
                          "--remote SERVER; for a file, use filter show INPUT",
                          cli_is_live(options) ? "no ELF is given" : "no live target is given");
    live.input_count = 0; // the arguments are terms, not inputs
    enum extract_code code = cli_symbols_open(&symbols, options, &error);
    code = code ? code : cli_live_open(&memory, &live, &error);
    code = code ? code : run_on_target(options, memory, symbols, &printed, &error);
    cli_live_release(memory, options);
    extract_symbols_close(symbols);
    extract_memory_close(memory);
    int status = code ? cli_complain(&error) : printed;
    return code == EXTRACT_NOTFOUND ? CLI_USAGE : status;
}

const struct cli_command cli_filter = {
    .group = CLI_CONTROL,
    .name = "filter",
    .arguments = "--openocd SERVER | --remote SERVER --elf FIRMWARE.elf [on|off WHAT...]",
    .summary = "show or change which events are recorded",
    .help =
        "RKH: WHAT is group=NAME, event=NAME (on: its group, too), ao=NAME, signal=NAME, or all. "
        "Names\n"
        "may be patterns or numbers; active objects are those of the trace and of the ELF. Use "
        "--rkh\n"
        "version=2.4.4 if the version is not known otherwise. Only on and off write to the target; "
        "the\n"
        "settings before and after are printed.\n"
        "POSIX trace: filter show|set|add|sub NAME..., where NAME is an event type, an id, all,\n"
        "system, user or none. Types in the filter are NOT recorded. --elf may be omitted.\n"
        "ThreadX: the same with classes, as mutex, user or all. Classes in the filter ARE "
        "recorded.\n",
    .takes = 0,
    .run = run_filter,
};
