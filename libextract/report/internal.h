// SPDX-License-Identifier: MIT
// report: what its files share: names of values, the memo that keeps them, and a report under way.
#ifndef EXTRACT_REPORT_ROOM_H
#define EXTRACT_REPORT_ROOM_H

#include "base/text_writer.h"
#include <extract/report.h>

// Names for values of a trace.
struct value_names {
    const struct extract_trace *trace;
    struct extract_symbols *symbols; // may be NULL
    const struct extract_ring *ring;
    uint64_t seq;            // of the event that speaks of addresses; UINT64_MAX: the newest
    struct extract_text raw; // the name that was found last
};

void value_names_init(struct value_names *naming, const struct extract_trace *trace);
void value_names_free(struct value_names *naming);

// The name of a value, NUL-ended, good until the next call; NULL when it has none (a number says it
// then) or memory is short (naming->raw.code). It may hold any byte but NUL: who prints escapes it.
const char *value_names_find(struct value_names *naming, enum extract_kind kind, uint64_t value);

// The name of an object as scripts should see it; NULL when only its address is known.
const char *value_names_of(const struct extract_object *object);

// The word of a waiting time; NULL: it is a number of ticks.
const char *value_names_wait(uint64_t value);

// Writes a value as reports print it.
void value_names_put(struct value_names *naming, enum extract_kind kind, uint64_t value,
                     struct extract_text *text);

// Pieces of output that were made once and are needed again: a table of bounded size in which a
// newer piece may take the place of an older.
struct text_cache_piece {
    uint64_t key;
    uint32_t tag;     // what the key means; 0: the place is free
    uint32_t length;  // bytes
    uint32_t columns; // on a terminal
    uint32_t room;
    char *bytes; // padded to PEN_BLOCK behind its end
};

enum { MEMO_BITS = 11, MEMO_PLACES = 1 << MEMO_BITS, MEMO_PROBES = 8 };

struct text_cache {
    struct text_cache_piece piece[MEMO_PLACES];
    uint32_t kept; // pieces
    uint32_t next_victim;
};

static inline uint32_t text_cache_hash(uint64_t key, uint32_t tag)
{
    return (uint32_t)((key + tag * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93) >>
                      (64 - MEMO_BITS));
}

// The piece of a key, or NULL.
static inline const struct text_cache_piece *text_cache_find(const struct text_cache *memo,
                                                             uint64_t key, uint32_t tag)
{
    uint32_t at = text_cache_hash(key, tag);
    for (unsigned i = 0; i < MEMO_PROBES; i++) {
        const struct text_cache_piece *piece = &memo->piece[(at + i) % MEMO_PLACES];
        if (__builtin_expect(piece->key == key && piece->tag == tag, 1))
            return piece;
    }
    return NULL;
}

// Keeps a copy of a piece; NULL: out of memory. Earlier results may be invalid afterwards.
const struct text_cache_piece *text_cache_keep(struct text_cache *memo, uint64_t key, uint32_t tag,
                                               const char *bytes, size_t length, size_t columns);
void text_cache_clear(struct text_cache *memo);

// What a memo's keys mean.
enum text_cache_tag {
    MEMO_CONTEXT = 1, // + enum extract_context; key: address of the thread
    MEMO_VALUE = 5,   // + enum extract_kind; key: the value
};

// A piece within a plan; padded as a memo's pieces are.
struct part {
    const char *bytes;
    uint32_t length;
};

// What the events of one type have in common: their name, and the labels of their fields.
struct plan {
    const struct extract_event_type *type; // NULL: the place is free
    uint32_t id;
    struct part head;
    struct part label[EXTRACT_FIELDS_MAX];
    char *bytes; // of all parts; owned
};

enum { PLAN_BITS = 9, PLAN_PLACES = 1 << PLAN_BITS };

// A report of events as JSON under way.
struct report {
    struct text_writer writer;
    struct value_names naming;
    struct extract_report_options options;
    struct extract_text scratch; // for a piece that is being made
    uint64_t shown;
    struct plan plans[PLAN_PLACES];
    struct text_cache memo;
    uint64_t registry; // for which the memo holds
};

// Makes what the memo or the plans do not hold. NULL: the report has failed.
const struct text_cache_piece *report_make_context(struct report *report,
                                                   const struct extract_event *event, uint64_t key);
const struct text_cache_piece *report_make_value(struct report *report, enum extract_kind kind,
                                                 uint64_t value);
const struct plan *report_make_plan(struct report *report, const struct extract_event *event);

static inline const struct text_cache_piece *report_context(struct report *report,
                                                            const struct extract_event *event)
{
    uint64_t key = event->context == EXTRACT_INIT ? 0 : event->thread;
    const struct text_cache_piece *piece =
        text_cache_find(&report->memo, key, MEMO_CONTEXT + event->context);
    return piece ? piece : report_make_context(report, event, key);
}

static inline const struct text_cache_piece *report_value(struct report *report,
                                                          enum extract_kind kind, uint64_t value)
{
    const struct text_cache_piece *piece =
        text_cache_find(&report->memo, value, MEMO_VALUE + (uint32_t)kind);
    return piece ? piece : report_make_value(report, kind, value);
}

static inline struct plan *report_plan_place(struct report *report, uint32_t id)
{
    return &report->plans[id * UINT32_C(0x9E3779B1) >> (32 - PLAN_BITS)];
}

static inline const struct plan *report_plan(struct report *report,
                                             const struct extract_event *event)
{
    const struct plan *plan = report_plan_place(report, event->id);
    if (plan->type == event->type && plan->id == event->id)
        return plan;
    return report_make_plan(report, event);
}

// Fields that an event shows: those its type gives a meaning, as far as they were stored.
static inline unsigned report_fields(const struct extract_event *event)
{
    return event->fields < event->type->fields ? event->fields : event->type->fields;
}

// json.c: its parts, written to `out` or report->scratch; the last is false when the report has
// failed.
void json_context(struct report *report, const struct extract_event *event);
void json_head(struct extract_text *out, const struct extract_event *event);
void json_label(struct extract_text *out, const char *label);
void json_value(struct report *report, enum extract_kind kind, uint64_t value);
bool json_event(struct report *report, const struct extract_event *event);

static inline bool report_has_priority(const struct extract_event *event)
{
    return event->context == EXTRACT_THREAD && event->priority != EXTRACT_NO_PRIORITY;
}

static inline bool report_has_threshold(const struct extract_event *event)
{
    return event->context == EXTRACT_THREAD && event->threshold != EXTRACT_NO_PRIORITY;
}

// rkh.c: a line for each rate that a stream tells and that is of no use, for a user who has not
// said the rate.
void report_rkh_rates(struct extract_text *text, const struct extract_trace *trace);

struct extract_session;

// session.c. Of an RKH stream that is read in stretches: the next one takes the place of the one in
// front, and events, times, names and reports go on. `ring` is that of the session's snapshot, laid
// over the new bytes; `memory` must outlive the session. `restarted`: names that were told in front
// do not hold. After an error the session can only be closed. Errors: UNREADABLE, NOMEM,
// UNSUPPORTED (a framework older than 2.3).
enum extract_code extract_session_go_on(struct extract_session *session,
                                        struct extract_memory *memory,
                                        const struct extract_ring *ring, bool restarted,
                                        struct extract_error *error);

#endif
