// SPDX-License-Identifier: MIT
// gdb-reader: `ringside record`, which appends new entries to a log at every stop.
//
// The library's recorder is kept from stop to stop. At each stop it polls the target, which GDB has
// halted, and writes blocks to the log. A sink sees the same blocks, and collects losses and
// markers for the answer. The target is halted between polls, so the host's clock does not measure
// its time, and the recorder ignores it.
#include "../gdb_commands.h"
#include "../query.h"
#include "stops.h"
#include <extract/record.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the blocks of one poll report.
struct poll_report {
    struct extract_text *text; // gets the texts of markers; or NULL
    uint64_t lost;             // events; a minimum if gaps_not_exact is not 0
    uint64_t gaps, gaps_not_exact;
};

struct recording {
    char *path;
    pid_t process; // the one that started the recording
    struct extract_rkh rkh;
    struct extract_symbols *symbols; // owned: other commands may replace those of the state
    struct extract_memory *memory;
    struct target *target; // of the current request; NULL: target memory is not available
    struct extract_log_writer *log;
    struct extract_recorder *recorder;
    struct poll_report report;
    bool log_is_full; // the policy ends the recording there
};

// ---- The recorder's callbacks ----

static size_t read_target(void *context, uint64_t address, void *buffer, size_t length)
{
    struct recording *r = context;

    return r->target ? target_read(r->target, address, buffer, length) : 0;
}

// The recorder's sink: notes losses, and prints markers except that of the start.
static enum extract_code note_block(void *context, const struct extract_log_block *block,
                                    const void *payload, struct extract_error *error)
{
    struct recording *r = context;
    struct poll_report *report = &r->report;

    (void)error;
    if (block->type == EXTRACT_LOG_LOSS) {
        bool is_gap = block->kind != EXTRACT_LOSS_EARLIER;
        report->lost += block->lost;
        report->gaps += is_gap;
        report->gaps_not_exact += is_gap && block->modulo;
    }
    if (block->type == EXTRACT_LOG_MARK && block->length && block->kind != EXTRACT_MARK_START &&
        report->text) {
        extract_text_puts(report->text, "record: ");
        extract_text_put(report->text, payload, block->length);
        extract_text_putc(report->text, '\n');
    }
    return EXTRACT_OK;
}

// Gives the recorder access to the target, and starts a new report.
static void prepare_poll(struct recording *r, struct call *call)
{
    r->target = call->target;
    query_relocate(r->symbols, call->request);
    r->report = (struct poll_report){.text = &call->answer->text};
}

static void put_losses(const struct poll_report *report, struct answer *answer)
{
    if (!report->gaps)
        return;
    answer->status = ANSWER_LOSSES;
    if (report->lost)
        extract_text_printf(&answer->text, "record: %s%llu event%s lost\n",
                            report->gaps_not_exact ? "at least " : "",
                            (unsigned long long)report->lost, report->lost == 1 ? "" : "s");
    else
        extract_text_puts(&answer->text, "record: an unknown number of events was lost\n");
}

static void set_counts(const struct extract_record_status *status, struct answer *answer)
{
    answer->is_counted = true;
    answer->events = status->entries;
    answer->is_lost_known = status->lost_is_exact;
    answer->lost = status->lost;
}

static void put_totals(const struct recording *r, const struct extract_record_status *status,
                       struct extract_text *text)
{
    extract_text_printf(text, "%llu events in ", (unsigned long long)status->entries);
    extract_text_escaped(text, r->path);
    extract_text_printf(text, ", %s%llu lost, %llu resets; %llu KB read in %llu reads\n",
                        status->lost_is_exact ? "" : "at least ", (unsigned long long)status->lost,
                        (unsigned long long)status->resets,
                        (unsigned long long)status->cost.bytes / 1000,
                        (unsigned long long)status->cost.reads);
}

void recording_show(const struct recording *recording, struct extract_text *text)
{
    extract_text_puts(text, "record: ");
    if (!recording) {
        extract_text_puts(text, "off\n");
        return;
    }
    extract_text_puts(text, recording->log_is_full ? "the log is full; " : "");
    put_totals(recording, extract_recorder_status(recording->recorder), text);
}

// ---- Start ----

static void recording_free(struct recording *r)
{
    extract_log_close(r->log, NULL);
    extract_memory_close(r->memory);
    extract_symbols_close(r->symbols);
    free(r->path);
    free(r);
}

void recording_close_offline(struct recording *recording)
{
    // A forked child of GDB has a copy of the recording: the log and its lock belong to the parent.
    if (!recording || recording->process != getpid())
        return;
    recording->target = NULL;
    recording->report = (struct poll_report){.text = NULL};
    extract_recorder_close_offline(recording->recorder, NULL);
    recording_free(recording);
}

// Opens the symbols that other commands use a second time, and the memory for the recorder.
static enum extract_code open_target(struct recording *r, const struct call *call,
                                     struct extract_error *error)
{
    struct extract_symbols *symbols = call->state->symbols;
    const struct extract_memory_source source = {
        .read = read_target,
        .context = r,
        .byte_order = symbols ? extract_symbols_byte_order(symbols) : EXTRACT_ORDER_UNKNOWN,
        .name = "target memory",
    };
    enum extract_code code = EXTRACT_OK;

    if (symbols)
        code = extract_symbols_open(&r->symbols, extract_symbols_path(symbols), error);
    if (!code)
        query_relocate(r->symbols, call->request);
    return code ? code : extract_memory_new(&r->memory, &source, error);
}

static enum extract_code open_recorder(struct recording *r, const struct call *call,
                                       const struct extract_log_options *log,
                                       struct extract_error *error)
{
    const struct options *options = &call->state->options;
    struct extract_record_options record = {.size = sizeof record,
                                            .format = options->format,
                                            .ring_known = options->has_ring,
                                            .ring = options->ring,
                                            .rkh = &r->rkh,
                                            .stream = state_stream(options),
                                            .sink = note_block,
                                            .context = r,
                                            .ignore_host_clock = true};
    struct extract_ring ring;
    enum extract_code code = open_target(r, call, error);

    // Search for the ring before creating the log: with the wrong ELF, no file is left over.
    code = code ? code : extract_record_find(&ring, r->memory, r->symbols, &record, error);
    if (code && code != EXTRACT_ABSENT)
        return code;
    error->code = EXTRACT_OK; // the recorder waits for a trace that is not enabled yet
    code = extract_log_create(&r->log, r->path, log, error);
    record.log = r->log;
    return code ? code : extract_recorder_open(&r->recorder, r->memory, r->symbols, &record, error);
}

static enum extract_code start_recording(struct call *call, const char *path,
                                         const struct extract_log_options *log)
{
    const struct query_options options = {.rkh = call->state->options.rkh,
                                          .view = call->state->options.view};
    struct extract_error *error = &call->answer->error;
    struct recording *r = calloc(1, sizeof *r);
    struct query query;

    if (!r || !(r->path = state_expand_home(path))) {
        free(r);
        return extract_error_set(error, EXTRACT_NOMEM, "record", NULL, "out of memory");
    }
    enum extract_code code =
        query_open_memory(&query, call->state, call->request, &options, call->target, error);
    if (!code) {
        r->process = getpid();
        r->rkh = query.rkh;
        query_discard(&query);
        prepare_poll(r, call);
        code = open_recorder(r, call, log, error);
        r->target = NULL;
    }
    if (code) {
        recording_free(r);
        return code;
    }
    call->state->recording = r;
    put_losses(&r->report, call->answer);
    recording_show(r, &call->answer->text);
    set_counts(extract_recorder_status(r->recorder), call->answer);
    return EXTRACT_OK;
}

// ---- Polls, and the end ----

enum extract_code recording_poll(struct call *call)
{
    struct recording *r = call->state->recording;
    struct extract_error *error = &call->answer->error;

    if (r->log_is_full)
        return EXTRACT_OK;
    prepare_poll(r, call);
    enum extract_code code = extract_recorder_poll(r->recorder, error);
    r->target = NULL;
    put_losses(&r->report, call->answer);
    set_counts(extract_recorder_status(r->recorder), call->answer);
    r->log_is_full = code == EXTRACT_LIMIT;
    return code;
}

static enum extract_code end_recording(struct call *call)
{
    struct recording *r = call->state->recording;
    struct answer *answer = call->answer;
    struct extract_record_status status = *extract_recorder_status(r->recorder);
    enum extract_code code = EXTRACT_OK;

    prepare_poll(r, call);
    code = extract_recorder_finish(r->recorder, &status, &answer->error);
    call->state->recording = NULL;
    if (code == EXTRACT_LIMIT) { // the log is full: its policy ends it there
        code = EXTRACT_OK;
        answer->error.code = EXTRACT_OK;
    }
    enum extract_code closed = extract_log_close(r->log, code ? NULL : &answer->error);
    r->log = NULL;
    put_losses(&r->report, answer);
    extract_text_puts(&answer->text, "record: ");
    put_totals(r, &status, &answer->text);
    set_counts(&status, answer);
    if (status.gaps || status.gone)
        answer->status = ANSWER_LOSSES;
    recording_free(r);
    return code ? code : closed;
}

// ---- The command ----

static enum extract_code refuse_argument(struct call *call, const char *what, const char *hint,
                                         const char *why)
{
    return extract_error_set(&call->answer->error, EXTRACT_USAGE, what, hint, "%s", why);
}

static enum extract_code parse_value(struct call *call, const char *key, const char *value,
                                     struct extract_log_options *log)
{
    if (strcmp(key, "--policy") == 0)
        return extract_log_policy_parse(value, &log->policy)
                   ? EXTRACT_OK
                   : refuse_argument(call, value, "use loop, until_full or append",
                                     "unknown policy");
    if (strcmp(key, "--size") == 0)
        return extract_log_size_parse(value, &log->limit)
                   ? EXTRACT_OK
                   : refuse_argument(call, value, "use bytes, or a number followed by k, M or G",
                                     "not a size");
    return refuse_argument(call, key, "use --policy POLICY, --size N or --sync", "unknown option");
}

static enum extract_code parse_options(struct call *call, struct extract_log_options *log)
{
    const struct request *request = call->request;
    enum extract_code code = EXTRACT_OK;

    *log = (struct extract_log_options){.size = sizeof *log};
    for (size_t at = 1; !code && at < request->argument_count; at++) {
        const char *key = request->arguments[at];
        if (strcmp(key, "--sync") == 0)
            log->sync = true;
        else if (at + 1 == request->argument_count)
            code = refuse_argument(call, key, "use --policy POLICY, --size N or --sync",
                                   "unknown option, or value missing");
        else
            code = parse_value(call, key, request->arguments[++at], log);
    }
    return code;
}

static enum extract_code run_record(struct call *call)
{
    const struct request *request = call->request;
    const char *first = request->argument_count ? request->arguments[0] : "";
    struct recording *recording = call->state->recording;
    struct extract_log_options log;

    if (!request->argument_count) {
        recording_show(recording, &call->answer->text);
        if (recording)
            set_counts(extract_recorder_status(recording->recorder), call->answer);
        return EXTRACT_OK;
    }
    const bool is_off = strcmp(first, "off") == 0 || strcmp(first, "stop") == 0;
    if (is_off && request->argument_count > 1)
        return refuse_argument(call, "record off", "pass ./off for a log of that name",
                               "more arguments than expected");
    if (is_off)
        return recording
                   ? end_recording(call)
                   : refuse_argument(call, "record off", "use `ringside record LOG` to start one",
                                     "no recording is running");
    if (*first == '-')
        return refuse_argument(call, first, "pass LOG before the options", "log missing");
    if (recording)
        return refuse_argument(call, "record", "use `ringside record off` first",
                               "a recording is running");
    enum extract_code code = parse_options(call, &log);
    return code ? code : start_recording(call, first, &log);
}

enum extract_code command_record(struct call *call)
{
    enum extract_code code = run_record(call);

    stops_update_hook(call);
    return code;
}
