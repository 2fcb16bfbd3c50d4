// SPDX-License-Identifier: MIT
// report: what the files of this directory share.
#ifndef EXTRACT_REPORT_REPORT_ROOM_H
#define EXTRACT_REPORT_REPORT_ROOM_H

#include "report/kv_writer.h"
#include "report/text_cache.h"
#include "report/value_names.h"

// Returns the number of fields that a report prints: those that the type describes and the entry
// holds.
static inline unsigned report_fields(const struct extract_event *event)
{
    return event->fields < event->type->fields ? event->fields : event->type->fields;
}

// Returns whether a field of an event is a number that means something: not the pool of an event
// that comes from no pool, nor the number by which a text is found.
static inline bool report_field_is_number(const struct extract_event *event, unsigned i)
{
    enum extract_kind kind =
        i < event->type->fields ? event->type->field[i].kind : EXTRACT_KIND_NONE;

    return kind != EXTRACT_KIND_TEXT &&
           (kind != EXTRACT_KIND_POOL || event->field[i] != EXTRACT_NO_POOL);
}

// Only a thread has a priority and a preemption threshold, and not every format records them.
static inline bool report_has_priority(const struct extract_event *event)
{
    return event->context == EXTRACT_THREAD && event->priority != EXTRACT_NO_PRIORITY;
}

static inline bool report_has_threshold(const struct extract_event *event)
{
    return event->context == EXTRACT_THREAD && event->threshold != EXTRACT_NO_PRIORITY;
}

// info_rkh.c: the lines that `info` adds for an RKH stream: its damage and settings, the enum of
// the ELF that names signals, and the runs of the target (in text only if there are several).
void info_put_rkh(struct kv_writer *kv, const struct extract_rkh *rkh);
void info_put_rkh_signals(struct kv_writer *kv, const struct extract_signals *signals);
void info_put_rkh_runs(struct kv_writer *kv, const struct extract_trace *trace,
                       const struct extract_report_options *options);

// info_rkh.c: warns about clock rates that the stream reports but that cannot be used, one line
// each. For callers whose user has not passed --hz.
void report_rkh_rates(struct extract_text *text, const struct extract_trace *trace);

// report_stats.c: how often each event occurred, as a table and as a member of a JSON object.
void stats_put_services(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options);
void stats_put_services_json(struct kv_writer *kv, const struct extract_service_stats *services,
                             size_t count);
// report_stats.c: the threads, as a table and as a member of a JSON object.
void stats_put_threads(struct extract_text *text, const struct extract_stats *stats,
                       const struct extract_report_options *options);
void stats_put_threads_json(struct kv_writer *kv, const struct extract_stats *stats);
// report_stats.c: notes after a time, in text only, that it includes events that are not counted.
void stats_note_range(struct kv_writer *kv, const struct extract_stats *stats);

// stats_figures.c: the figures of FileX and the like, as lines and as members of a JSON object.
void stats_put_figures(struct kv_writer *kv, const struct extract_stats *stats);
void stats_put_figures_json(struct kv_writer *kv, const struct extract_stats *stats);
// stats_schedule.c: what the schedule adds to the statistics.
void stats_put_schedule(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options);
void stats_put_schedule_json(struct kv_writer *kv, const struct extract_stats *stats);
// stats_schedule.c: the bars of a distribution, as block characters in a cell.
struct text_table;
void stats_put_shape_cell(struct text_table *table, const struct extract_distribution *d);
void stats_put_distribution_json(struct kv_writer *kv, const char *key,
                                 const struct extract_distribution *d);
// stats_spans.c: the spans of options->spans (may be NULL), as a table and as a member of a JSON
// object.
void stats_put_spans(struct extract_text *text, const struct extract_stats *stats,
                     const struct extract_report_options *options);
void stats_put_spans_json(struct kv_writer *kv, const struct extract_stats *stats,
                          const struct extract_spans *spans);

// stats_modes.c: writes what is known of hook words by role files: modes, processes, system calls
// and locks.
void stats_put_modes(struct extract_text *text, const struct extract_stats *stats,
                     const struct extract_report_options *options);
void stats_put_modes_json(struct kv_writer *kv, const struct extract_stats *stats);
// Writes the time in each mode as the member "modes".
void stats_put_mode_ticks_json(struct kv_writer *kv, const uint64_t ticks[EXTRACT_MODES]);
void stats_put_dispatches_json(struct kv_writer *kv, const struct extract_dispatches *dispatches);
void stats_put_switches_json(struct kv_writer *kv, const struct extract_stats *stats,
                             const uint64_t switches[EXTRACT_SWITCHES]);

struct extract_segment;

// report_why.c: writes what a segment of a chain says, as reports do: "blocked on mutex bus, held
// by comms". `is_waiting`: it ends with the trace, at which the thread still waits.
void report_why_segment(struct extract_text *text, const struct extract_trace *trace,
                        const struct extract_segment *segment, bool is_waiting);

struct extract_session;

// session.c: continues the session of an RKH stream with the next chunk of it. Events, times, names
// and reports continue from the previous chunk. `ring` is the ring of the session's snapshot, with
// the addresses of the new bytes; `memory` must outlive the session. If `restarted`, names from
// earlier chunks no longer hold. After an error, the session can only be closed. Errors:
// UNREADABLE, NOMEM, UNSUPPORTED (a framework older than 2.3).
enum extract_code extract_session_continue(struct extract_session *session,
                                           struct extract_memory *memory,
                                           const struct extract_ring *ring, bool restarted,
                                           struct extract_error *error);

#endif
