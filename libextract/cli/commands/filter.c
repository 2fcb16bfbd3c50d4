// SPDX-License-Identifier: MIT
// cli: `ringside filter` shows or changes which events a live target records.
//
// For RKH, the terms after on and off become bytes that are written to the target's filter tables.
// Other formats have the requests show, set, add and sub, which control/request.c sends.
#include "cli/cli.h"
#include "cli/control/control.h"
#include <extract/filter.h>
#include <string.h>

static enum extract_code write_back(struct extract_memory *memory,
                                    const struct extract_control *control,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    struct extract_edit edit;

    for (size_t i = 0; !code && extract_control_edit(control, i, &edit); i++)
        code = extract_memory_write(memory, edit.address, &edit.after, 1, error);
    return code;
}

// Returns the status of printing it.
static int show(const struct extract_control *control, bool changed)
{
    struct cli_output output;

    cli_output_open(&output);
    if (changed)
        extract_text_puts(&output.text, "before:\n");
    extract_control_show(control, false, &output.text);
    if (changed) {
        extract_text_puts(&output.text, "after:\n");
        extract_control_show(control, true, &output.text);
    }
    return cli_output_close(&output, CLI_SUCCESS);
}

static bool is_rkh(const struct extract_session *session)
{
    return strcmp(extract_trace_info(extract_session_trace(session))->format, "rkh") == 0;
}

// Of other recorders than RKH's: without words what is recorded is shown; on and off are no words
// of theirs.
static enum extract_code ask_other(const struct cli_options *options, struct extract_memory *memory,
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

static enum extract_code ask_rkh(const struct cli_options *options, struct extract_memory *memory,
                                 struct extract_symbols *symbols, const struct extract_trace *trace,
                                 int *printed, struct extract_error *error)
{
    struct extract_control *control = NULL;
    enum extract_code code =
        extract_control_read(&control, memory, symbols, trace, options->session.rkh, error);

    if (!code)
        code =
            extract_control_change(control, options->inputs, (size_t)options->input_count, error);
    if (!code)
        code = write_back(memory, control, error);
    if (!code)
        *printed = show(control, options->input_count > 0);
    extract_control_free(control);
    return code;
}

static enum extract_code work(const struct cli_options *options, struct extract_memory *memory,
                              struct extract_symbols *symbols, int *printed,
                              struct extract_error *error)
{
    struct extract_session *session = NULL;

    // A ring that cannot be read has no names, and its filters may be why.
    bool named = !extract_session_open(&session, memory, symbols, &options->session, NULL);
    const struct extract_trace *trace = named ? extract_session_trace(session) : NULL;
    enum extract_code code = named && !is_rkh(session)
                                 ? ask_other(options, memory, session, printed, error)
                                 : ask_rkh(options, memory, symbols, trace, printed, error);
    extract_session_close(session);
    return code;
}

static int run(const struct cli_options *options)
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
                          "write --pid N, or --openocd PORT or --remote PORT and --elf "
                          "FIRMWARE.elf; filter show INPUT shows that of a file",
                          cli_is_live(options) ? "no ELF is given" : "no live target is given");
    live.input_count = 0; // the words are no inputs
    enum extract_code code = cli_symbols_open(&symbols, options, &error);
    code = code ? code : cli_live_open(&memory, &live, &error);
    code = code ? code : work(options, memory, symbols, &printed, &error);
    cli_live_release(memory, options);
    extract_symbols_close(symbols);
    extract_memory_close(memory);
    int status = code ? cli_complain(&error) : printed;
    return code == EXTRACT_NOTFOUND ? CLI_USAGE : status;
}

const struct cli_command cli_filter = {
    .group = CLI_CONTROL,
    .name = "filter",
    .arguments = "--openocd SERVER --elf FIRMWARE.elf [on|off WHAT...]",
    .summary = "show or change which events are recorded",
    .help =
        "RKH: WHAT is group=NAME, event=NAME (on: its group, too), ao=NAME, signal=NAME, or all. "
        "Names\n"
        "may be patterns or numbers; active objects are those of the trace and of the ELF. Use "
        "--rkh\n"
        "version=2.4.4 if nothing else tells the version. Only on and off write to the target; "
        "the\n"
        "settings before and after are printed.\n"
        "POSIX trace: filter show|set|add|sub NAME..., where NAME is an event type, an id, all,\n"
        "system, user or none. What is in the filter is NOT recorded. --elf may be missing.\n"
        "ThreadX: the same with classes, as mutex, user or all: those that ARE recorded.\n",
    .takes = 0,
    .run = run,
};
