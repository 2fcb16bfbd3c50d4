// SPDX-License-Identifier: MIT
// cli: `ringside start`, `stop`, `clear`, and `filter show|set|add|sub`.
//
// A request is written to the control block of a live target's ring. The target's recorder carries
// it out at its next trace point; these commands wait until it is done.
#include "base/now.h"
#include "cli/cli.h"
#include "cli/commands/command_request.h"
#include "report/kv_writer.h"
#include <string.h>
#include <time.h>

enum { MAX_WAIT_NS = 2000000000, POLL_NS = 10 * 1000 * 1000 };

struct outcome {
    const char *command;
    const struct extract_request *request;
    bool is_filter; // otherwise start, stop or clear
    bool changes;   // false: the request only shows the filter
    bool is_done;
};

// Waits until the target has carried out the request. A target that must be halted to be read runs
// between the polls.
static enum extract_code wait_until_done(const struct extract_request *request,
                                         struct extract_memory *memory, bool *is_done,
                                         struct extract_error *error)
{
    const struct timespec pause = {0, POLL_NS};
    uint64_t deadline = extract_now() + MAX_WAIT_NS;
    enum extract_code code = EXTRACT_OK;

    *is_done = false;
    while (!code && !*is_done) {
        code = extract_live_halt(memory, error);
        if (!code)
            code = extract_request_is_done(request, memory, is_done, error);
        if (code || *is_done || extract_now() >= deadline)
            break;
        code = extract_live_resume(memory, error);
        nanosleep(&pause, NULL);
    }
    return code;
}

static void put_filter(struct kv_writer *kv, const char *key, const struct extract_request *request,
                       bool is_changed)
{
    struct extract_text shown;

    extract_text_init(&shown, NULL, NULL);
    extract_request_show(request, is_changed, &shown);
    if (!shown.code && shown.used)
        shown.data[shown.used - 1] = '\0'; // without its line end
    kv_put_string(kv, key, shown.code || !shown.used ? "" : shown.data);
    if (shown.code)
        kv->text->code = shown.code;
    extract_text_free(&shown);
}

// Writes the outcome as JSON: for a filter its settings before and after, and whether the target
// has carried out the request.
static void put_json(const struct outcome *o, struct extract_text *text)
{
    struct kv_writer kv;

    kv_open(&kv, text, true);
    kv_put_string(&kv, "verb", o->command);
    if (o->is_filter)
        put_filter(&kv, o->changes ? "before" : "filter", o->request, false);
    if (o->is_filter && o->changes)
        put_filter(&kv, "after", o->request, true);
    if (o->changes)
        kv_put_bool(&kv, "done", o->is_done);
    kv_close(&kv);
}

static void put_text(const struct outcome *o, struct extract_text *text)
{
    if (o->is_filter && o->changes)
        extract_text_puts(text, "before: ");
    if (o->is_filter)
        extract_request_show(o->request, false, text);
    if (!o->changes)
        return;
    if (o->is_filter) {
        extract_text_puts(text, "after: ");
        extract_request_show(o->request, true, text);
    }
    if (o->is_done)
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
    const struct outcome o = {.command = "filter", .request = request, .is_filter = true};

    (json ? put_json : put_text)(&o, text);
}

static enum extract_code send_request(const char *command, const char *const *words, size_t count,
                                      bool json, struct cli_snapshot *snapshot,
                                      struct extract_text *text, struct extract_error *error)
{
    struct outcome o = {.command = command, .is_filter = strcmp(command, "filter") == 0};
    struct extract_request *request = NULL;
    struct extract_word word;
    enum extract_code code = extract_request_new(&request, extract_session_trace(snapshot->session),
                                                 snapshot->memory, command, words, count, error);

    o.request = request;
    o.changes = !code && extract_request_word(request, 0, &word);
    if (!code && o.changes)
        code = extract_request_send(request, snapshot->memory, error);
    if (!code && o.changes)
        code = wait_until_done(request, snapshot->memory, &o.is_done, error);
    if (!code)
        (json ? put_json : put_text)(&o, text);
    extract_request_free(request);
    return code;
}

// Runs a request of extract_request_new and prints the outcome. Returns the status.
static int run_request(const struct cli_options *options, const char *command,
                       const char *const *words, size_t count)
{
    struct extract_error error;
    struct cli_output output;
    struct cli_snapshot snapshot;
    bool only_shows = strcmp(command, "filter") == 0 && (!count || strcmp(words[0], "show") == 0);

    if (!cli_is_live(options) && !only_shows)
        return cli_refuse(command, "use --pid PID, --openocd SERVER or --remote SERVER",
                          "no live target is given");
    int status = cli_snapshot_open_live(&snapshot, options);
    if (!status && snapshot.log)
        status = cli_refuse(command, "use a live target or a ring", "a log has no recorder");
    if (!status) {
        cli_output_open(&output);
        enum extract_code code = send_request(command, words, count, options->session.json,
                                              &snapshot, &output.text, &error);
        status = code ? cli_complain(&error) : status;
        status = code == EXTRACT_NOTFOUND ? CLI_USAGE : status;
        status = cli_output_close(&output, status);
    }
    cli_live_release(snapshot.memory, options);
    struct cli_options quiet = *options;
    quiet.quiet = true; // a request does not report losses
    int end = cli_snapshot_close(&snapshot, &quiet, status);
    return end == CLI_LOSSES ? status : end;
}

// Runs a request to a live target. The arguments are the words of the request, not inputs.
static int run_live_request(const struct cli_options *options, const char *command)
{
    struct cli_options live = *options;

    live.input_count = 0;
    return run_request(&live, command, options->inputs, (size_t)options->input_count);
}

static int run_start(const struct cli_options *options)
{
    return run_live_request(options, "start");
}

static int run_stop(const struct cli_options *options)
{
    return run_live_request(options, "stop");
}

static int run_clear(const struct cli_options *options)
{
    return run_live_request(options, "clear");
}

bool cli_filter_is_request(const struct cli_options *options)
{
    static const char *const words[] = {"show", "set", "add", "sub"};

    for (size_t i = 0; options->input_count && i < sizeof words / sizeof *words; i++)
        if (strcmp(options->inputs[0], words[i]) == 0)
            return true;
    return false;
}

int cli_filter_request(const struct cli_options *options)
{
    static const char *const show[] = {"show"};

    if (strcmp(options->inputs[0], "show") != 0)
        return run_live_request(options, "filter");
    struct cli_options rest = *options; // a filter can also be shown for a file

    rest.inputs++;
    rest.input_count--;
    if (!cli_is_live(options) && !rest.input_count)
        return cli_refuse("filter", "use --pid PID, --openocd SERVER, --remote SERVER or an input",
                          "no target or input is given");
    return run_request(&rest, "filter", show, 1);
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
