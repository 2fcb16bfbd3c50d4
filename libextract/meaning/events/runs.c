// SPDX-License-Identifier: MIT
// events: the runs of the target in an RKH stream, each with its own losses and its own clock.
//
// A run begins with a TCFG record, and, in a log, with a recording or a reset of the target. The
// first walk over all events passes each of them to extract_runs_note, in order.
//
//              first event                       TCFG, START, RESET
//   (no run) ─────────────► RUN ◄──────────────────────────────────────┐
//                            │  if an entry of the run was valid: next │
//                            └─────────────────────────────────────────┘
#include "events/events_room.h"

enum { MAX_RUNS = 1 << 12 }; // runs beyond this number are counted with the last one

static bool begin_run(struct extract_trace *trace, const struct extract_event *event)
{
    if (trace->run_count == MAX_RUNS) {
        trace->runs[MAX_RUNS - 1].further++;
        return true;
    }
    struct extract_run *runs =
        extract_grow(trace->runs, &trace->run_capacity, trace->run_count, sizeof *runs);
    if (!runs)
        return false;
    trace->runs = runs;
    runs[trace->run_count++] = (struct extract_run){.first = event->seq};
    trace->run_start = event->ticks;
    return true;
}

static void note_mark(struct extract_trace *trace, struct extract_run *run,
                      const struct extract_event *mark)
{
    bool is_exact = mark->field[EXTRACT_LOST_EXACT];

    switch (mark->id) {
    case EXTRACT_ID_LOST:
        run->gaps++;
        run->gaps_not_exact += !is_exact;
        run->lost_at_least += mark->field[EXTRACT_LOST_AT_LEAST];
        break;
    case EXTRACT_ID_DAMAGED:
        run->entries_damaged += mark->field[0];
        break;
    case EXTRACT_ID_BROKEN:
        run->entries_damaged += mark->field[1];
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_START:
    case EXTRACT_ID_MARK + EXTRACT_MARK_RESET:
        trace->run_ends = true;
        break;
    default:
        break;
    }
}

// Entries before the first valid one belong to the run of that entry.
bool extract_runs_note(struct extract_trace *trace, const struct extract_event *event, bool begins)
{
    bool is_mark = extract_event_is_mark(event);

    if (!trace->snapshot->ring.rkh.layouts) // not a trace of RKH
        return true;
    struct extract_run *run = trace->run_count ? &trace->runs[trace->run_count - 1] : NULL;
    bool is_new = !is_mark && (begins || trace->run_ends) && run && run->entries_valid;
    if ((!run || is_new) && !begin_run(trace, event))
        return false;
    run = &trace->runs[trace->run_count - 1];
    if (is_mark) {
        note_mark(trace, run, event);
        return true;
    }
    trace->run_ends = false;
    run->entries_valid++;
    run->span_ticks = event->ticks > trace->run_start ? event->ticks - trace->run_start : 0;
    run->layout = &trace->snapshot->ring.rkh.layout[event->priority_word >> 32];
    return true;
}

// A recorder knows what it has not read. Without one, only the numbers of frames show what is lost,
// and these do not show what is lost before the first frame of a ring that has wrapped.
void extract_runs_end(struct extract_trace *trace)
{
    for (size_t i = 0; i < trace->run_count; i++) {
        struct extract_run *run = &trace->runs[i];
        bool has_numbers = run->layout && run->layout->value[EXTRACT_RKH_NSEQ];
        bool lost_start = !i && trace->snapshot->full;
        run->lost_known = !run->gaps_not_exact && !run->further &&
                          (trace->snapshots || (has_numbers && !lost_start));
        run->events_lost = run->lost_known ? run->lost_at_least : 0;
        run->lost_at_most = run->lost_known ? run->lost_at_least : UINT64_MAX;
    }
}

size_t extract_trace_runs(const struct extract_trace *trace, const struct extract_run **runs)
{
    *runs = trace->runs;
    return trace->run_count;
}
