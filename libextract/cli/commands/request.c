// SPDX-License-Identifier: MIT
// cli: `ringside start`, `stop`, `clear`, and `filter show|set|add|sub`.
//
// A request is a few words that are written to the control block of a live target's ring. The
// target's recorder carries it out at its next trace point, which this file waits for.
#include "base/now.h"
#include "cli/cli.h"
#include "cli/control/control.h"
#include "report/kv_writer.h"
#include <extract/filter.h>
#include <string.h>
#include <time.h>

enum { WAIT = 2000000000, NAP = 10 * 1000 * 1000 }; // ns

struct outcome {
    const char *command;
    const struct extract_request *request;
    bool filter;
    bool changes; // else it is only shown
    bool done;
};

// Waits until the target says that it is done. A target that is only read while it stands runs
// between the looks.
static enum extract_code await(const struct extract_request *request, struct extract_memory *memory,
                               bool *done, struct extract_error *error)
{
    const struct timespec nap = {0, NAP};
    uint64_t until = extract_now() + WAIT;
    enum extract_code code = EXTRACT_OK;

    *done = false;
    while (!code && !*done) {
        code = extract_live_halt(memory, error);
        if (!code)
            code = extract_request_is_done(request, memory, done, error);
        if (code || *done || extract_now() >= until)
            break;
        code = extract_live_resume(memory, error);
        nanosleep(&nap, NULL);
    }
    return code;
}

static void put_filter(struct kv_writer *facts, const char *key,
                       const struct extract_request *request, bool changed)
{
    struct extract_text shown;

    extract_text_init(&shown, NULL, NULL);
    extract_request_show(request, changed, &shown);
    if (!shown.code && shown.used)
        shown.data[shown.used - 1] = '\0'; // the end of its line
    kv_put_string(facts, key, shown.code || !shown.used ? "" : shown.data);
    if (shown.code)
        facts->text->code = shown.code;
    extract_text_free(&shown);
}

// The outcome in JSON: of a filter what it was and is, of a request whether the target has acted.
static void put_json(const struct outcome *o, struct extract_text *text)
{
    struct kv_writer facts;

    kv_open(&facts, text, true);
    kv_put_string(&facts, "verb", o->command);
    if (o->filter)
        put_filter(&facts, o->changes ? "before" : "filter", o->request, false);
    if (o->filter && o->changes)
        put_filter(&facts, "after", o->request, true);
    if (o->changes)
        kv_put_bool(&facts, "done", o->done);
    kv_close(&facts);
}

static void put_change(const struct outcome *o, struct extract_text *text)
{
    if (o->changes)
        extract_text_puts(text, "before: ");
    extract_request_show(o->request, false, text);
    if (!o->changes)
        return;
    extract_text_puts(text, "after: ");
    extract_request_show(o->request, true, text);
}

static void put_text(const struct outcome *o, struct extract_text *text)
{
    if (o->filter)
        put_change(o, text);
    if (!o->changes)
        return;
    if (o->done)
        extract_text_printf(text, "%s: done\n", o->command);
    else if (extract_request_takes_effect_at_once(o->request))
        extract_text_printf(text, "%s: written, but the target has since changed the word\n",
                            o->command);
    else
        extract_text_printf(
            text, "%s: requested; done when the target passes its next trace point\n", o->command);
}

void cli_request_show(const struct extract_request *request, bool json, struct extract_text *text)
{
    const struct outcome o = {.command = "filter", .request = request, .filter = true};

    (json ? put_json : put_text)(&o, text);
}

static enum extract_code work(const char *command, const char *const *words, size_t count,
                              bool json, struct cli_snapshot *snapshot, struct extract_text *text,
                              struct extract_error *error)
{
    struct outcome o = {.command = command, .filter = strcmp(command, "filter") == 0};
    struct extract_request *request = NULL;
    struct extract_word word;
    enum extract_code code = extract_request_new(&request, extract_session_trace(snapshot->session),
                                                 snapshot->memory, command, words, count, error);

    o.request = request;
    o.changes = !code && extract_request_word(request, 0, &word);
    if (!code && o.changes)
        code = extract_request_send(request, snapshot->memory, error);
    if (!code && o.changes)
        code = await(request, snapshot->memory, &o.done, error);
    if (!code)
        (json ? put_json : put_text)(&o, text);
    extract_request_free(request);
    return code;
}

int cli_request_run(const struct cli_options *options, const char *command,
                    const char *const *words, size_t count)
{
    struct extract_error error;
    struct cli_output output;
    struct cli_snapshot snapshot;
    bool show = strcmp(command, "filter") == 0 && (!count || strcmp(words[0], "show") == 0);

    if (!cli_is_live(options) && !show)
        return cli_refuse(command, "use --pid PID, --openocd SERVER or --remote SERVER",
                          "no live target is given");
    int status = cli_snapshot_open_live(&snapshot, options);
    if (!status && snapshot.log)
        status = cli_refuse(command, "use a live target or a ring", "a log has no recorder");
    if (!status) {
        cli_output_open(&output);
        enum extract_code code =
            work(command, words, count, options->session.json, &snapshot, &output.text, &error);
        status = code ? cli_complain(&error) : status;
        status = code == EXTRACT_NOTFOUND ? CLI_USAGE : status;
        status = cli_output_close(&output, status);
    }
    cli_live_release(snapshot.memory, options);
    struct cli_options quiet = *options;
    quiet.quiet = true; // losses are not what was asked for
    int end = cli_snapshot_close(&snapshot, &quiet, status);
    return end == CLI_LOSSES ? status : end;
}

// The words after the command are the terms of the request, not inputs.
static int run_live(const struct cli_options *options, const char *command)
{
    struct cli_options live = *options;

    live.input_count = 0;
    return cli_request_run(&live, command, options->inputs, (size_t)options->input_count);
}

static int run_start(const struct cli_options *options)
{
    return run_live(options, "start");
}

static int run_stop(const struct cli_options *options)
{
    return run_live(options, "stop");
}

static int run_clear(const struct cli_options *options)
{
    return run_live(options, "clear");
}

bool cli_filter_is_request(const struct cli_options *options)
{
    static const char *const words[] = {"show", "set", "add", "sub"};

    for (size_t i = 0; options->input_count && i < sizeof words / sizeof *words; i++)
        if (strcmp(options->inputs[0], words[i]) == 0)
            return true;
    return false;
}

// What is only shown may be that of a file.
int cli_filter_request(const struct cli_options *options)
{
    static const char *const show[] = {"show"};

    if (strcmp(options->inputs[0], "show") != 0)
        return run_live(options, "filter");
    struct cli_options rest = *options;
    rest.inputs++;
    rest.input_count--;
    if (!cli_is_live(options) && !rest.input_count)
        return cli_refuse("filter", "use --pid PID, --openocd SERVER, --remote SERVER or an input",
                          "no target or input is given");
    return cli_request_run(&rest, "filter", show, 1);
}

const struct cli_command cli_start = {
    .group = CLI_CONTROL,
    .name = "start",
    .arguments = "--pid PID | --openocd SERVER | --remote SERVER [--elf FIRMWARE.elf]",
    .summary = "start recording (POSIX trace, hook words)",
    .help = "The request is written to the ring's control block. The target's recorder carries it\n"
            "out at its next trace point; the command waits for that for at most 2 seconds.\n",
    .takes = CLI_NO_INPUT,
    .run = run_start,
};

const struct cli_command cli_stop = {
    .group = CLI_CONTROL,
    .name = "stop",
    .arguments = "--pid PID | --openocd SERVER | --remote SERVER [--elf FIRMWARE.elf]",
    .summary = "stop recording; the ring keeps its events",
    .help = "The request works as for start.\n",
    .takes = CLI_NO_INPUT,
    .run = run_stop,
};

const struct cli_command cli_clear = {
    .group = CLI_CONTROL,
    .name = "clear",
    .arguments = "--pid PID | --openocd SERVER | --remote SERVER [--elf FIRMWARE.elf]",
    .summary = "discard recorded events (POSIX trace)",
    .help =
        "The request works as for start. Names of event types and the running state are kept.\n",
    .takes = CLI_NO_INPUT,
    .run = run_clear,
};
