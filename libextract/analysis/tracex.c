// SPDX-License-Identifier: MIT
// analysis: context switches and preemptions as TraceX counts them, for comparison. Its rules were
// found from its figures for known traces:
//
//   context switches  events after which another thread than the current one, or idle, has the
//                     core; idle does not become the current thread
//   preemptions       resumptions after which another thread than the current one is next, and ends
//                     of time slices after which another thread has the core
//   time slices       none
//
// What is next after a resumption is the thread that it names, if any, or else the first thread
// that has the core after one of the following events. If there is none, it counts as another.
#include "analysis/internal.h"

void tracex_add_step(struct analysis *analysis, const struct schedule_step *step)
{
    struct tracex_count *count = &analysis->tracex;
    enum extract_runner runner = step->interval.runner;
    enum extract_role role = step->role->role;
    bool is_counted = step->standing == EXTRACT_LET_THROUGH;

    if (!count->has_current && step->context == EXTRACT_THREAD) {
        count->current = step->thread;
        count->has_current = true;
    }
    bool has_next = runner == EXTRACT_RUNNER_THREAD || runner == EXTRACT_RUNNER_IDLE;
    bool is_other = has_next && count->has_current && step->interval.thread != count->current;
    analysis->stats->tracex.context_switches += is_counted && is_other;
    if (role == EXTRACT_ROLE_RESUME && step->next)
        count->resumes += is_counted;
    if (runner == EXTRACT_RUNNER_THREAD) {
        if (is_other)
            analysis->stats->tracex.preemptions +=
                count->resumes + (is_counted && role == EXTRACT_ROLE_TIME_SLICE);
        count->resumes = 0;
        count->current = step->interval.thread;
        count->has_current = true;
    }
    if (role == EXTRACT_ROLE_RESUME && !step->next)
        count->resumes += is_counted;
}

void tracex_end(struct analysis *analysis)
{
    analysis->stats->tracex.preemptions += analysis->tracex.resumes;
}
