// SPDX-License-Identifier: MIT
// cli/top: a live target. In: a memory over a debugger's port, and a recorder that polls it. Out:
// what the recorder finds into the window, and into a log when one is wanted.
#include "cli/top/top.h"
#include <extract/memory.h>

enum { TIMEOUT_MS = 3000 }; // a screen must not stand still for longer

static enum extract_code take(void *context, const struct extract_log_block *block,
                              const void *payload, struct extract_error *error)
{
    struct top_source *source = context;

    switch (block->type) {
    case EXTRACT_LOG_RING:
        return top_window_ring(&source->window, payload, error);
    case EXTRACT_LOG_OBJECTS:
        return top_window_objects(&source->window, payload, block->length, error);
    case EXTRACT_LOG_NAMES:
        return top_window_names(&source->window, payload, block->length, error);
    default:
        top_window_take(&source->window, block, payload);
        return EXTRACT_OK;
    }
}

static enum extract_code open_log(struct top_source *source, struct extract_error *error)
{
    const char *path = source->options->output;
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_LOOP};

    return path ? extract_log_create(&source->log, path, &options, error) : EXTRACT_OK;
}

enum extract_code top_live_open(struct top_source *source, struct extract_error *error)
{
    const struct extract_session_options *session = &source->options->session;
    struct extract_record_options options = {.size = sizeof options,
                                             .format = session->format,
                                             .ring_known = session->ring_known,
                                             .ring = session->ring,
                                             .rkh = session->rkh,
                                             .stream = session->stream,
                                             .sink = take,
                                             .context = source};
    struct cli_options live = *source->options;
    live.timeout_ms = live.timeout_ms ? live.timeout_ms : TIMEOUT_MS;
    enum extract_code code = cli_live_open(&source->memory, &live, error);
    if (code)
        return code;
    source->name = extract_memory_name(source->memory);
    code = open_log(source, error);
    options.log = source->log;
    if (!code)
        code = extract_recorder_open(&source->recorder, source->memory, source->symbols, &options,
                                     error);
    return code;
}

// Rates over a time that is long enough to tell; until then those of before hold.
static void measure(struct top_source *source)
{
    struct extract_live_halts halts = extract_live_halts(source->memory);
    struct extract_memory_cost cost = extract_recorder_status(source->recorder)->cost;
    uint64_t now = extract_now(), time = now - source->measured;

    if (time < TOP_MEASURE)
        return;
    uint64_t bytes = cost.bytes - source->bytes, stood = halts.nanoseconds - source->stood;
    bool first = !source->measured; // what opening has cost says nothing
    source->link = (struct top_number){bytes * 1000 / (time / 1000000), !first};
    source->halted = (struct top_number){stood * 1000 / time, !first && halts.count};
    source->bytes = cost.bytes;
    source->stood = halts.nanoseconds;
    source->measured = now;
}

void top_live_facts(struct top_source *source, struct top_facts *facts)
{
    const struct extract_record_status *status = extract_recorder_status(source->recorder);

    measure(source);
    facts->fill = (struct top_number){status->fill, true};
    facts->period = (struct top_number){status->advice.period, true};
    facts->slots = status->advice.slots;
    facts->link = source->link;
    facts->halted = source->halted;
}

// Whatever fails, everything is closed; the first failure is told.
enum extract_code top_live_close(struct top_source *source, struct extract_error *error)
{
    struct extract_error second;
    enum extract_code code = extract_recorder_close(source->recorder, error);
    enum extract_code closed = extract_log_close(source->log, code ? &second : error);
    cli_live_release(source->memory, source->options);
    extract_memory_close(source->memory);
    return code ? code : closed;
}
