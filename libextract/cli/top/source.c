// SPDX-License-Identifier: MIT
// cli/top: a source of blocks: a live target that is recorded, or a log that another program
// writes. In: the options. Out: blocks into the window, and facts.
#include "cli/top/top.h"
#include <string.h>

enum extract_code top_source_open(struct top_source *source, const struct cli_options *options,
                                  uint64_t interval, struct extract_error *error)
{
    memset(source, 0, sizeof *source);
    source->options = options;
    source->interval = interval;
    enum extract_code code = cli_symbols_open(&source->symbols, options, error);
    if (code)
        return code;
    if (!options->input_count)
        return top_live_open(source, error);
    source->path = source->name = options->inputs[0];
    return top_follow_log(source, error);
}

enum extract_code top_source_poll(struct top_source *source, struct extract_error *error)
{
    if (source->recorder)
        return extract_recorder_poll(source->recorder, error);
    enum extract_code code = top_follow_log(source, error);
    // A log may be moved away or be hard to read for a while; memory does not come back.
    source->unreadable = code != EXTRACT_OK;
    return code == EXTRACT_NOMEM ? code : EXTRACT_OK;
}

uint64_t top_source_due(const struct top_source *source)
{
    if (source->recorder)
        return extract_recorder_due(source->recorder);
    uint64_t now = extract_now(), next = source->polled + source->interval;
    return next > now ? next - now : 0;
}

bool top_source_ended(const struct top_source *source)
{
    if (source->recorder) // the process has ended, and all that it recorded was read
        return extract_memory_has_ended(source->memory) &&
               !extract_recorder_status(source->recorder)->enabled;
    return source->path && !source->writing && !source->unreadable;
}

static const char *state_of(const struct top_source *source)
{
    const struct top_state *state = &source->window.state;
    if (source->unreadable)
        return "unreadable";
    if (source->path && !source->writing)
        return source->closed || state->ended ? "ended" : "abandoned";
    if (state->gone)
        return "gone";
    if (top_source_ended(source))
        return "ended";
    return state->disabled ? "disabled" : "running";
}

void top_source_facts(struct top_source *source, struct top_facts *facts)
{
    struct top_window *window = &source->window;
    bool ended = top_source_ended(source);
    uint64_t newest = top_window_newest(window), now = ended ? newest : extract_wall();

    memset(facts, 0, sizeof *facts);
    top_window_age(window, now);
    facts->target = source->name;
    facts->state = state_of(source);
    facts->counts = window->state;
    facts->slots = window->ring.entries.count;
    facts->bytes = window->streams;
    facts->rate.known = top_window_rate(window, now, &facts->rate.value);
    facts->quiet.known = newest && !ended && now > newest;
    facts->quiet.value = facts->quiet.known ? now - newest : 0;
    if (source->recorder)
        top_live_facts(source, facts);
}

enum extract_code top_source_close(struct top_source *source, struct extract_error *error)
{
    enum extract_code code = top_live_close(source, error);
    extract_symbols_close(source->symbols);
    top_window_free(&source->window);
    return code;
}
