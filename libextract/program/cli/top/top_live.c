// SPDX-License-Identifier: MIT
// cli/top: a live target as the source. A recorder polls it and passes each block to the window.
// With -o it also writes them to a log.
#include "cli/top/top.h"
#include <extract/memory.h>

enum { TIMEOUT_MS = 3000 }; // by default, so that a screen never freezes for longer

// The sink of the recorder.
static enum extract_code add_to_window(void *context, const struct extract_log_block *block,
                                       const void *payload, struct extract_error *error)
{
    struct top_source *source = context;

    switch (block->type) {
    case EXTRACT_LOG_RING:
        return top_window_set_ring(&source->window, payload, error);
    case EXTRACT_LOG_OBJECTS:
        return top_window_set_registry(&source->window, payload, block->length, error);
    case EXTRACT_LOG_NAMES:
        return top_window_set_names(&source->window, payload, block->length, error);
    default:
        top_window_add_block(&source->window, block, payload);
        return EXTRACT_OK;
    }
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
                                             .sink = add_to_window,
                                             .context = source};
    const struct extract_log_options log = {.size = sizeof log, .policy = EXTRACT_LOG_LOOP};
    struct cli_options live = *source->options;
    live.timeout_ms = live.timeout_ms ? live.timeout_ms : TIMEOUT_MS;
    enum extract_code code = cli_live_open(&source->memory, &live, error);
    if (code)
        return code;
    source->name = extract_memory_name(source->memory);
    if (live.output)
        code = extract_log_create(&source->log, live.output, &log, error);
    options.log = source->log;
    if (!code)
        code = extract_recorder_open(&source->recorder, source->memory, source->symbols, &options,
                                     error);
    return code;
}

// Measures the link's rate and the time halted, at least TOP_MIN_RATE_NS after the last time.
static void measure_link(struct top_source *source)
{
    struct extract_live_halts halts = extract_live_halts(source->memory);
    struct extract_memory_cost cost = extract_recorder_status(source->recorder)->cost;
    uint64_t now = extract_now(), elapsed_ns = now - source->measured_ns;

    if (elapsed_ns < TOP_MIN_RATE_NS)
        return;
    uint64_t bytes = cost.bytes - source->read_bytes;
    uint64_t halted_ns = halts.nanoseconds - source->halted_ns;
    bool is_first = !source->measured_ns; // the first measurement includes the cost of opening
    source->link_bytes_per_second =
        (struct top_number){bytes * 1000 / (elapsed_ns / 1000000), !is_first};
    source->halted_thousandths =
        (struct top_number){halted_ns * 1000 / elapsed_ns, !is_first && halts.count};
    source->read_bytes = cost.bytes;
    source->halted_ns = halts.nanoseconds;
    source->measured_ns = now;
}

void top_live_read_facts(struct top_source *source, struct top_facts *facts)
{
    const struct extract_record_status *status = extract_recorder_status(source->recorder);

    measure_link(source);
    facts->fill = (struct top_number){status->fill, true};
    facts->poll_period_ns = (struct top_number){status->advice.period, true};
    facts->ring_entries = status->advice.slots;
    facts->link_bytes_per_second = source->link_bytes_per_second;
    facts->halted_thousandths = source->halted_thousandths;
}

// Closes everything, even if a part fails, and returns the first error.
enum extract_code top_live_close(struct top_source *source, struct extract_error *error)
{
    struct extract_error second;
    enum extract_code code = extract_recorder_close(source->recorder, error);
    enum extract_code closed = extract_log_close(source->log, code ? &second : error);
    cli_live_release(source->memory, source->options);
    extract_memory_close(source->memory);
    return code ? code : closed;
}
