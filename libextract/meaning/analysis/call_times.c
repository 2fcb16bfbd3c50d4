// SPDX-License-Identifier: MIT
// analysis: measures the schedule. In: what had a core after each event, states, and responses.
// Out: loads of cores and threads, the load over time, and the distributions of latencies,
// responses and periods.
#include "analysis/analysis_room.h"

// ---- loads ----

// Doubles the length of the parts of the load, so that there is space for as much time again.
static void double_load_parts(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;
    uint64_t *load = stats->load;

    for (size_t i = 0; i < EXTRACT_LOAD_PARTS; i++)
        load[i] = i < EXTRACT_LOAD_PARTS / 2 ? load[2 * i] + load[2 * i + 1] : 0;
    stats->load_part_count = (stats->load_part_count + 1) / 2;
    analysis->load_part_log2++;
}

// Adds a time, during which a core was busy or not, to the load over time. A part is a power of two
// of ticks long.
static void add_load(struct analysis *analysis, uint64_t from, uint64_t to, bool is_busy)
{
    struct extract_stats *stats = analysis->stats;

    if (!analysis->has_load)
        stats->load_from = from;
    analysis->has_load = true;
    if (from < stats->load_from) // cores may store their events a little out of order
        from = stats->load_from;
    if (from >= to)
        return;
    from -= stats->load_from;
    to -= stats->load_from;
    while ((to - 1) >> analysis->load_part_log2 >= EXTRACT_LOAD_PARTS)
        double_load_parts(analysis);
    unsigned log2 = analysis->load_part_log2;
    size_t first = from >> log2, last = (to - 1) >> log2;
    stats->load_part_count = last >= stats->load_part_count ? last + 1 : stats->load_part_count;
    if (!is_busy)
        return;
    if (first == last) { // as for most
        stats->load[first] += to - from;
        return;
    }
    for (size_t i = first; i <= last; i++) {
        uint64_t part = (uint64_t)i << log2, begin = from > part ? from : part;
        uint64_t rest = (UINT64_C(1) << log2) - (begin - part); // the end may be above 64 bits
        stats->load[i] += to - begin < rest ? to - begin : rest;
    }
}

void times_flush(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;
    const struct extract_interval *interval = &analysis->added;
    enum extract_runner runner = interval->runner;
    uint64_t ticks = interval->to - interval->from;

    if (!ticks)
        return;
    stats->unsure_ticks += interval->is_unsure ? ticks : 0;
    if (runner == EXTRACT_RUNNER_THREAD) {
        size_t i = analysis_thread(analysis, interval->thread);
        if (i == SIZE_MAX)
            runner = EXTRACT_RUNNER_UNKNOWN;
        else
            stats->cores[interval->core].thread_ticks[i] += ticks;
    }
    analysis->cores[interval->core].ticks[runner] += ticks;
    add_load(analysis, interval->from, interval->to,
             runner != EXTRACT_RUNNER_IDLE && runner != EXTRACT_RUNNER_UNKNOWN);
    analysis->added = (struct extract_interval){.from = 0};
}

// Fills in the sums of what the cores did.
static void end_cores(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;
    bool names_idle = stats->has_loads && analysis->format->kernel->idle_threads;

    for (size_t i = 0; i < stats->core_count; i++) {
        struct extract_core_stats *core = &stats->cores[i];
        const uint64_t *ticks = analysis->cores[i].ticks;
        core->idle_ticks = ticks[EXTRACT_RUNNER_IDLE];
        core->interrupt_ticks = ticks[EXTRACT_RUNNER_ISR];
        core->init_ticks = ticks[EXTRACT_RUNNER_INIT];
        core->unknown_ticks = ticks[EXTRACT_RUNNER_UNKNOWN];
        core->span_ticks = ticks[EXTRACT_RUNNER_THREAD] + core->idle_ticks + core->interrupt_ticks +
                           core->init_ticks + core->unknown_ticks;
        for (size_t k = 0; k < stats->thread_count; k++)
            stats->threads[k].ticks += core->thread_ticks[k];
        stats->idle_ticks += core->idle_ticks;
        stats->interrupt_ticks += core->interrupt_ticks;
        stats->init_ticks += core->init_ticks;
        stats->unknown_ticks += core->unknown_ticks;
    }
    for (size_t k = 0; names_idle && k < stats->thread_count; k++)
        if (!stats->threads[k].thread->name[0])
            stats->maybe_idle_ticks += stats->threads[k].ticks;
}

// ---- states and responses ----

static void add_state(void *context, const struct extract_state *state)
{
    struct analysis *analysis = context;
    size_t i = analysis_thread(analysis, state->thread);

    if (state->state == EXTRACT_STATE_BLOCKED)
        lists_add_wait(analysis, state);
    if (i != SIZE_MAX)
        analysis->times[i].state_ticks[state->state] += state->to - state->from;
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
    bool has_period =
        times->has_wake && !response->follows_unknown && response->from >= times->last_wake;
    if (is_added && has_period)
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
    times_flush(analysis);
    analysis->stats->load_part_ticks = UINT64_C(1) << analysis->load_part_log2;
    end_cores(analysis);
    for (size_t i = 0; i < analysis->stats->thread_count; i++) {
        struct extract_thread_stats *thread = &analysis->stats->threads[i];
        struct thread_times *times = &analysis->times[i];
        thread->ready_ticks = times->state_ticks[EXTRACT_STATE_READY];
        thread->blocked_ticks = times->state_ticks[EXTRACT_STATE_BLOCKED];
        thread->sleeping_ticks = times->state_ticks[EXTRACT_STATE_SLEEPING];
        thread->suspended_ticks = times->state_ticks[EXTRACT_STATE_SUSPENDED];
        for (unsigned k = EXTRACT_STATE_UNKNOWN + 1; k <= EXTRACT_STATE_TERMINATED; k++)
            thread->has_states |= times->state_ticks[k] != 0;
        thread->unknown_ticks = thread->has_states ? times->state_ticks[EXTRACT_STATE_UNKNOWN]
                                                   : analysis->stats->span_ticks;
        thread->latency = distribution_result(&times->latency);
        thread->response = distribution_result(&times->response);
        thread->period = distribution_result(&times->period);
    }
}
