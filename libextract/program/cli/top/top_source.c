// SPDX-License-Identifier: MIT
// cli/top: a source of blocks, which is a live target (top_live.c) or a log that another program
// writes (top_follow.c).
#include "cli/top/top.h"
#include <string.h>

enum extract_code top_source_open(struct top_source *source, const struct cli_options *options,
                                  uint64_t interval_ns, struct extract_error *error)
{
    memset(source, 0, sizeof *source);
    source->options = options;
    source->interval_ns = interval_ns;
    enum extract_code code = cli_symbols_open(&source->symbols, options, error);
    if (!code && options->role_count)
        code = extract_hook_roles_open(&source->roles, options->roles, options->role_count, error);
    if (code)
        return code;
    if (!options->input_count)
        return top_live_open(source, error);
    source->path = source->name = options->inputs[0];
    return top_log_poll(source, error);
}

enum extract_code top_source_poll(struct top_source *source, struct extract_error *error)
{
    if (source->recorder)
        return extract_recorder_poll(source->recorder, error);
    enum extract_code code = top_log_poll(source, error);
    // A log may be unreadable for a while, so that is a state; a lack of memory is an error.
    source->is_unreadable = code != EXTRACT_OK;
    return code == EXTRACT_NOMEM ? code : EXTRACT_OK;
}

uint64_t top_source_due_ns(const struct top_source *source)
{
    if (source->recorder)
        return extract_recorder_due(source->recorder);
    uint64_t now = extract_now(), next = source->polled_ns + source->interval_ns;
    return next > now ? next - now : 0;
}

bool top_source_has_ended(const struct top_source *source)
{
    if (source->recorder) // the process has ended, and all that it recorded was read
        return extract_memory_has_ended(source->memory) &&
               !extract_recorder_status(source->recorder)->enabled;
    return source->path && !source->has_writer && !source->is_unreadable;
}

static const char *describe_state(const struct top_source *source)
{
    const struct top_state *state = &source->window.state;
    if (source->is_unreadable)
        return "unreadable";
    if (source->path && !source->has_writer)
        return source->is_closed || state->has_ended ? "ended" : "abandoned";
    if (state->is_disconnected)
        return "gone";
    if (top_source_has_ended(source))
        return "ended";
    return state->trace_is_disabled ? "disabled" : "running";
}

void top_source_read_facts(struct top_source *source, struct top_facts *facts)
{
    struct top_window *window = &source->window;
    bool ended = top_source_has_ended(source);
    uint64_t newest = top_window_newest_arrival(window), now = ended ? newest : extract_wall();

    memset(facts, 0, sizeof *facts);
    if (window->is_over && !ended)
        top_window_clear(window);
    top_window_drop_old(window, now);
    facts->target = source->name;
    facts->state = describe_state(source);
    facts->counts = window->state;
    facts->ring_entries = window->ring.entries.count;
    facts->in_bytes = window->is_stream;
    facts->events_per_1000_s.is_known =
        top_window_rate(window, now, &facts->events_per_1000_s.value);
    facts->quiet_ns.is_known = newest && !ended && now > newest;
    facts->quiet_ns.value = facts->quiet_ns.is_known ? now - newest : 0;
    if (source->recorder)
        top_live_read_facts(source, facts);
}

enum extract_code top_source_close(struct top_source *source, struct extract_error *error)
{
    enum extract_code code = top_live_close(source, error);
    extract_symbols_close(source->symbols);
    extract_hook_roles_close(source->roles);
    top_window_free(&source->window);
    return code;
}
