// SPDX-License-Identifier: MIT
// gdb-reader: `ringside record`: a log that gets at every stop what is new in the ring.
//
// In: a recorder of the library, which is kept from stop to stop, and polls the target that GDB
// holds. Out: the log; in the answers, losses and what happened to the target.
#include "record.h"
#include "../commands.h"
#include "../query.h"
#include "stops.h"
#include <extract/record.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the blocks of one stop tell.
struct news {
    struct extract_text *text;     // where marks are told; NULL: nowhere
    uint64_t lost;                 // at least
    uint64_t gaps, gaps_not_exact; // of these, `lost` is not all
};

struct recording {
    char *path;
    pid_t process; // that began it
    struct extract_rkh rkh;
    struct extract_symbols *symbols; // its own: those of other commands may be read again
    struct extract_memory *memory;
    struct target *target; // of the request that runs; NULL: none
    struct extract_log_writer *log;
    struct extract_recorder *recorder;
    struct news news;
    bool full; // the log, as its policy has it
};

// ---- the recorder's ends ----

static size_t read_held(void *context, uint64_t address, void *buffer, size_t length)
{
    struct recording *r = context;

    return r->target ? target_read(r->target, address, buffer, length) : 0;
}

static bool is_told(const struct extract_log_block *block)
{
    return block->type == EXTRACT_LOG_MARK && block->length && block->kind != EXTRACT_MARK_START;
}

static enum extract_code note(void *context, const struct extract_log_block *block,
                              const void *payload, struct extract_error *error)
{
    struct recording *r = context;
    struct news *news = &r->news;

    (void)error;
    if (block->type == EXTRACT_LOG_LOSS) {
        bool is_gap = block->kind != EXTRACT_LOSS_EARLIER;
        news->lost += block->lost;
        news->gaps += is_gap;
        news->gaps_not_exact += is_gap && block->modulo;
    }
    if (is_told(block) && news->text) {
        extract_text_puts(news->text, "record: ");
        extract_text_put(news->text, payload, block->length);
        extract_text_putc(news->text, '\n');
    }
    return EXTRACT_OK;
}

// Begins to note what a look brings.
static void hear(struct recording *r, struct call *call)
{
    r->target = call->target;
    query_move(r->symbols, call->request);
    r->news = (struct news){.text = &call->answer->text};
}

static void tell_losses(const struct news *news, struct answer *answer)
{
    if (!news->gaps)
        return;
    answer->status = ANSWER_LOSSES;
    if (news->lost)
        extract_text_printf(&answer->text, "record: %s%llu event%s lost\n",
                            news->gaps_not_exact ? "at least " : "", (unsigned long long)news->lost,
                            news->lost == 1 ? "" : "s");
    else
        extract_text_puts(&answer->text, "record: an unknown number of events was lost\n");
}

static void count(const struct extract_record_status *status, struct answer *answer)
{
    answer->counted = true;
    answer->events = status->entries;
    answer->lost_known = status->lost_is_exact;
    answer->lost = status->lost;
}

static void put_sum(const struct recording *r, const struct extract_record_status *status,
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
    extract_text_puts(text, recording->full ? "the log is full; " : "");
    put_sum(recording, extract_recorder_status(recording->recorder), text);
}

// ---- beginning ----

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
    // A child of GDB's has a copy, and ends with it; the log and its locks are the parent's.
    if (!recording || recording->process != getpid())
        return;
    recording->target = NULL;
    recording->news = (struct news){.text = NULL};
    extract_recorder_close_offline(recording->recorder, NULL);
    recording_free(recording);
}

// As state_symbols has them; and the memory that the recorder will read.
static enum extract_code open_target(struct recording *r, const struct call *call,
                                     struct extract_error *error)
{
    struct extract_symbols *symbols = call->state->symbols;
    const struct extract_memory_source source = {
        .read = read_held,
        .context = r,
        .byte_order = symbols ? extract_symbols_byte_order(symbols) : EXTRACT_ORDER_UNKNOWN,
        .name = "target memory",
    };
    enum extract_code code = EXTRACT_OK;

    if (symbols)
        code = extract_symbols_open(&r->symbols, extract_symbols_path(symbols), error);
    if (!code)
        query_move(r->symbols, call->request);
    return code ? code : extract_memory_new(&r->memory, &source, error);
}

static enum extract_code open_recorder(struct recording *r, const struct call *call,
                                       const struct extract_log_options *log,
                                       struct extract_error *error)
{
    const struct options *options = &call->state->options;
    struct extract_record_options record = {.size = sizeof record,
                                            .format = options->format,
                                            .ring_known = options->ring_known,
                                            .ring = options->ring,
                                            .rkh = &r->rkh,
                                            .stream = state_stream(options),
                                            .sink = note,
                                            .context = r,
                                            .held = true};
    struct extract_ring ring;
    enum extract_code code = open_target(r, call, error);

    // Before a log is made: a wrong firmware leaves no file behind.
    code = code ? code : extract_record_find(&ring, r->memory, r->symbols, &record, error);
    if (code && code != EXTRACT_ABSENT)
        return code;
    error->code = EXTRACT_OK; // a trace that is not there yet is waited for
    code = extract_log_create(&r->log, r->path, log, error);
    record.log = r->log;
    return code ? code : extract_recorder_open(&r->recorder, r->memory, r->symbols, &record, error);
}

static enum extract_code begin(struct call *call, const char *path,
                               const struct extract_log_options *log)
{
    const struct query_options choice = {.rkh = call->state->options.rkh,
                                         .view = call->state->options.view};
    struct extract_error *error = &call->answer->error;
    struct recording *r = calloc(1, sizeof *r);
    struct query query;

    if (!r || !(r->path = state_home_path(path))) {
        free(r);
        return extract_error_set(error, EXTRACT_NOMEM, "record", NULL, "out of memory");
    }
    enum extract_code code =
        query_begin(&query, call->state, call->request, &choice, call->target, error);
    if (!code) {
        r->process = getpid();
        r->rkh = query.rkh;
        query_forget(&query);
        hear(r, call);
        code = open_recorder(r, call, log, error);
        r->target = NULL;
    }
    if (code) {
        recording_free(r);
        return code;
    }
    call->state->recording = r;
    tell_losses(&r->news, call->answer);
    recording_show(r, &call->answer->text);
    count(extract_recorder_status(r->recorder), call->answer);
    return EXTRACT_OK;
}

// ---- going on, and the end ----

enum extract_code recording_stop(struct call *call)
{
    struct recording *r = call->state->recording;
    struct extract_error *error = &call->answer->error;

    if (r->full)
        return EXTRACT_OK;
    hear(r, call);
    enum extract_code code = extract_recorder_poll(r->recorder, error);
    r->target = NULL;
    tell_losses(&r->news, call->answer);
    count(extract_recorder_status(r->recorder), call->answer);
    r->full = code == EXTRACT_LIMIT;
    return code;
}

static enum extract_code end(struct call *call)
{
    struct recording *r = call->state->recording;
    struct answer *answer = call->answer;
    struct extract_record_status status = *extract_recorder_status(r->recorder);
    enum extract_code code = EXTRACT_OK;

    hear(r, call);
    code = extract_recorder_finish(r->recorder, &status, &answer->error);
    call->state->recording = NULL;
    if (code == EXTRACT_LIMIT) { // as its policy has it
        code = EXTRACT_OK;
        answer->error.code = EXTRACT_OK;
    }
    enum extract_code closed = extract_log_close(r->log, code ? NULL : &answer->error);
    r->log = NULL;
    tell_losses(&r->news, answer);
    extract_text_puts(&answer->text, "record: ");
    put_sum(r, &status, &answer->text);
    count(&status, answer);
    if (status.gaps || status.gone)
        answer->status = ANSWER_LOSSES;
    recording_free(r);
    return code ? code : closed;
}

// ---- the command ----

static enum extract_code refuse(struct call *call, const char *what, const char *hint,
                                const char *why)
{
    return extract_error_set(&call->answer->error, EXTRACT_USAGE, what, hint, "%s", why);
}

static enum extract_code read_value(struct call *call, const char *key, const char *value,
                                    struct extract_log_options *log)
{
    if (strcmp(key, "--policy") == 0)
        return extract_log_policy_parse(value, &log->policy)
                   ? EXTRACT_OK
                   : refuse(call, value, "use loop, until_full or append", "unknown policy");
    if (strcmp(key, "--size") == 0)
        return extract_log_size_parse(value, &log->limit)
                   ? EXTRACT_OK
                   : refuse(call, value, "use bytes, or a number followed by k, M or G",
                            "not a size");
    return refuse(call, key, "use --policy POLICY, --size N or --sync", "unknown argument");
}

static enum extract_code read_options(struct call *call, struct extract_log_options *log)
{
    const struct request *request = call->request;
    enum extract_code code = EXTRACT_OK;

    *log = (struct extract_log_options){.size = sizeof *log};
    for (size_t at = 1; !code && at < request->arguments; at++) {
        const char *key = request->argument[at];
        if (strcmp(key, "--sync") == 0)
            log->sync = true;
        else if (at + 1 == request->arguments)
            code = refuse(call, key, "use --policy POLICY, --size N or --sync",
                          "unknown argument, or its value is missing");
        else
            code = read_value(call, key, request->argument[++at], log);
    }
    return code;
}

static enum extract_code run(struct call *call)
{
    const struct request *request = call->request;
    const char *word = request->arguments ? request->argument[0] : "";
    struct recording *recording = call->state->recording;
    struct extract_log_options log;

    if (!request->arguments) {
        recording_show(recording, &call->answer->text);
        if (recording)
            count(extract_recorder_status(recording->recorder), call->answer);
        return EXTRACT_OK;
    }
    bool off = strcmp(word, "off") == 0 || strcmp(word, "stop") == 0;
    if (off && request->arguments > 1)
        return refuse(call, "record off", "use ./off for a log of that name", "too many arguments");
    if (off)
        return recording
                   ? end(call)
                   : refuse(call, "record off", "use `ringside record LOG` to start a recording",
                            "no recording is running");
    if (*word == '-')
        return refuse(call, word, "use LOG before the options", "no log is given");
    if (recording)
        return refuse(call, "record", "use `ringside record off` to end it",
                      "a recording is running already");
    enum extract_code code = read_options(call, &log);
    return code ? code : begin(call, word, &log);
}

enum extract_code command_record(struct call *call)
{
    enum extract_code code = run(call);

    stops_hook(call);
    return code;
}
