// SPDX-License-Identifier: MIT
// analysis: measures the schedule. In: what had a core after each event, states, and responses.
// Out: loads of cores and threads, the load over time, and the distributions of latencies,
// responses and periods.
#include "analysis/internal.h"

// ---- loads ----

// Doubles the length of the parts of the load, so that there is space for as much time again.
static void double_load_parts(struct extract_stats *stats)
{
    for (size_t i = 0; i < EXTRACT_LOAD_PARTS; i++)
        stats->load[i] =
            i < EXTRACT_LOAD_PARTS / 2 ? stats->load[2 * i] + stats->load[2 * i + 1] : 0;
    stats->load_part_ticks *= 2;
}

// Adds a time, during which a core was busy or not, to the load over time.
static void add_load(struct extract_stats *stats, uint64_t from, uint64_t to, bool is_busy)
{
    if (!stats->load_part_ticks) {
        stats->load_part_ticks = 1;
        stats->load_from = from;
    }
    if (from < stats->load_from) // cores may store their events a little out of order
        from = stats->load_from;
    if (from >= to)
        return;
    while ((to - stats->load_from - 1) / stats->load_part_ticks >= EXTRACT_LOAD_PARTS)
        double_load_parts(stats);
    size_t last = (to - stats->load_from - 1) / stats->load_part_ticks;
    stats->load_part_count = last >= stats->load_part_count ? last + 1 : stats->load_part_count;
    for (size_t i = (from - stats->load_from) / stats->load_part_ticks; is_busy && i <= last; i++) {
        uint64_t begin = stats->load_from + i * stats->load_part_ticks;
        uint64_t end = begin + stats->load_part_ticks;
        stats->load[i] += (to < end ? to : end) - (from > begin ? from : begin);
    }
}

void times_add_step(struct analysis *analysis, const struct schedule_step *step)
{
    struct extract_stats *stats = analysis->stats;
    const struct extract_interval *interval = &step->interval;
    struct extract_core_stats *core = &stats->cores[interval->core];
    uint64_t ticks = interval->to - interval->from;
    size_t i;

    core->span_ticks += ticks;
    stats->unsure_ticks += interval->is_unsure ? ticks : 0;
    switch (interval->runner) {
    case EXTRACT_RUNNER_THREAD:
        i = analysis_thread(analysis, interval->thread);
        if (i != SIZE_MAX) {
            stats->threads[i].ticks += ticks;
            core->thread_ticks[i] += ticks;
            break;
        }
        core->unknown_ticks += ticks;
        stats->unknown_ticks += ticks;
        break;
    case EXTRACT_RUNNER_ISR:
        core->interrupt_ticks += ticks;
        stats->interrupt_ticks += ticks;
        break;
    case EXTRACT_RUNNER_IDLE:
        core->idle_ticks += ticks;
        stats->idle_ticks += ticks;
        break;
    case EXTRACT_RUNNER_INIT:
        core->init_ticks += ticks;
        stats->init_ticks += ticks;
        break;
    case EXTRACT_RUNNER_UNKNOWN:
        core->unknown_ticks += ticks;
        stats->unknown_ticks += ticks;
        break;
    }
    add_load(stats, interval->from, interval->to,
             interval->runner != EXTRACT_RUNNER_IDLE && interval->runner != EXTRACT_RUNNER_UNKNOWN);
}

// ---- states and responses ----

static void add_state(void *context, const struct extract_state *state)
{
    struct analysis *analysis = context;
    size_t i = analysis_thread(analysis, state->thread);
    uint64_t ticks = state->to - state->from;

    if (state->state == EXTRACT_STATE_BLOCKED)
        lists_add_wait(analysis, state);
    if (i == SIZE_MAX)
        return;
    struct extract_thread_stats *thread = &analysis->stats->threads[i];
    switch (state->state) {
    case EXTRACT_STATE_READY:
        thread->ready_ticks += ticks;
        break;
    case EXTRACT_STATE_BLOCKED:
        thread->blocked_ticks += ticks;
        break;
    case EXTRACT_STATE_SLEEPING:
        thread->sleeping_ticks += ticks;
        break;
    case EXTRACT_STATE_SUSPENDED:
        thread->suspended_ticks += ticks;
        break;
    case EXTRACT_STATE_UNKNOWN:
        thread->unknown_ticks += ticks;
        break;
    default:
        break;
    }
}

static void add_response(void *context, const struct extract_response *response)
{
    struct analysis *analysis = context;
    size_t i = analysis_thread(analysis, response->thread);

    if (i == SIZE_MAX)
        return;
    struct thread_times *times = &analysis->times[i];
    bool is_added = distribution_add(&times->response, response->to - response->from);
    if (is_added && response->has_ran)
        is_added = distribution_add(&times->latency, response->ran_at - response->from);
    if (is_added && times->has_wake)
        is_added = distribution_add(&times->period, response->from - times->last_wake);
    times->last_wake = response->from;
    times->has_wake = true;
    analysis->failed |= !is_added;
}

const struct extract_schedule_sink analysis_sink = {.state = add_state, .response = add_response};

void times_add_gap(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->stats->thread_count; i++)
        analysis->times[i].has_wake = false;
}

void times_end(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->stats->thread_count; i++) {
        struct extract_thread_stats *thread = &analysis->stats->threads[i];
        thread->latency = distribution_result(&analysis->times[i].latency);
        thread->response = distribution_result(&analysis->times[i].response);
        thread->period = distribution_result(&analysis->times[i].period);
    }
}
