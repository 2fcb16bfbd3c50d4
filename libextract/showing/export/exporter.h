// SPDX-License-Identifier: MIT
// export: the interface of an exporter.
//
//   trace ─► export_run.c ─► begin, then object for each object, then in the order of the walk:
//                       event, loss       in order of time
//                       slice             when it is complete; those of one core in order of time
//                       state             likewise, for each thread
//                       wake, owner, response  when they are known
//                       counter           in order of time, for each counter
//                     end, close
//
// An exporter is one file and one row of the table in export_run.c. It writes to run->text, or to
// run->path. A part that it does not need is NULL in its row. Formats whose parts must be in order
// of time sort them with export_order.h.
#ifndef EXTRACT_EXPORT_EXPORTER_H
#define EXTRACT_EXPORT_EXPORTER_H

#include "base/map.h"
#include "base/text_writer.h"
#include "report/columns/entry_builder.h"
#include "report/open_interrupts.h"
#include "schedule/walk.h"
#include <extract/export.h>

// What a counter counts.
enum export_counter_kind {
    EXPORT_COUNTER_QUEUED = 0, // messages in the queue `object`, as a call finds them
    EXPORT_COUNTER_LEFT,       // blocks or bytes that the pool `object` has left, likewise
    EXPORT_COUNTER_INSTANCES,  // how many times the semaphore `object` can be had, likewise
    EXPORT_COUNTER_STACK,      // bytes of its stack that the thread `object` uses
    EXPORT_COUNTER_LOAD, // per mille of the time from `at` to the next value in which the core
                         // `object` was not idle
    EXPORT_COUNTERS
};

// What is unknown in formats that have numbers only, and in which a counter cannot end. No counter
// has that value.
enum { EXPORT_UNKNOWN = -1 };

struct export_counter {
    enum export_counter_kind kind;
    uint64_t at; // ticks
    uint64_t object;
    uint64_t value;
    bool is_unknown; // from `at` to the next value: what had the core is not known, or events that
                     // are lost may have changed a level
};

struct exporter;

enum { EXPORT_KNOWN_BITS = 6, EXPORT_KNOWN_NAMES = 1 << EXPORT_KNOWN_BITS };

// A run of an exporter.
struct export_run {
    const struct exporter *exporter;
    const struct extract_trace *trace;
    const struct extract_view *view;
    uint64_t hz;               // ticks per second; 0: unknown
    bool has_schedule;         // the trace shows slices
    bool has_waits;            // the trace shows states and wake-ups
    struct extract_text *text; // where a STREAM is written
    const char *path;          // what a FILE or DIRECTORY writes; it does not exist, or is empty
    const char *title;         // of the trace, such as the name of its file; NULL: none
    unsigned part, parts;      // which trace of how many this is: 0 of 1, or 0 and 1 of 2
    void *state;               // of the exporter; zeroed before `begin`
    struct value_names names;
    enum extract_code code;      // the first failure
    struct extract_error *error; // with its text; may be NULL

    // Of export_run.c:
    const struct extract_templates *templates;
    const struct extract_export_options *options;
    struct entry_builder *builder;       // NULL until a text is needed
    struct extract_formatter *formatter; // likewise
    struct export_loads *loads;
    struct export_levels *levels;
    struct open_interrupts *interrupts; // that the present event is in; NULL: no schedule
    uint64_t done;                      // events that were walked
    struct extract_text event_name;     // scratch of export_event_name
    struct export_known_name {
        uint64_t address;
        const char *name; // NULL: none yet
        bool is_thread;
    } known_names[EXPORT_KNOWN_NAMES]; // that export_name has found, by a hash of the address
};

struct exporter {
    struct extract_export_kind kind;
    size_t state_bytes;
    bool takes_two; // writes two traces to one file: begin to close of each, one after the other
    bool is_of_schedule; // refuses a trace whose events show no schedule
    // Unknown slices and states pass also for times of which the trace has no data of a core or
    // thread, as pictures need them.
    bool fills_holes;
    // Returns why it cannot write a trace; NULL: it can. NULL itself: it can write any trace.
    const char *(*refuse)(const struct export_run *run);
    void (*begin)(struct export_run *run);
    void (*object)(struct export_run *run, const struct extract_object *object);
    // An event that the view lets through.
    void (*event)(struct export_run *run, const struct extract_event *event);
    void (*slice)(struct export_run *run, const struct extract_interval *slice);
    void (*state)(struct export_run *run, const struct extract_state *state);
    void (*wake)(struct export_run *run, const struct extract_wake *wake);
    void (*owner)(struct export_run *run, const struct extract_ownership *owner);
    void (*response)(struct export_run *run, const struct extract_response *response);
    void (*counter)(struct export_run *run, const struct export_counter *counter);
    // A marker: entries are lost or damaged, or the recording began, ended or was reset.
    void (*loss)(struct export_run *run, const struct extract_event *marker);
    void (*end)(struct export_run *run);   // not called after a failure
    void (*close)(struct export_run *run); // frees what the state owns; always called
};

extern const struct exporter export_csv, export_jsonl, export_vcd, export_chrome;
extern const struct exporter export_perfetto, export_sqlite, export_svg, export_trx;
extern const struct exporter export_ctf, export_ctf_lttng, export_html;

// Notes a failure, which ends the run. Only the first is kept.
void export_fail(struct export_run *run, enum extract_code code, const char *what, const char *why);
// Returns the nanoseconds of a time: its ticks if the clock's rate is unknown; UINT64_MAX if they
// are more than that.
uint64_t export_ns(const struct export_run *run, uint64_t ticks);
// Returns how many events were lost at a time that is not known, so that no marker reports them.
uint64_t export_lost_sometime(const struct export_run *run);
// Makes a marker of them, which has neither a number nor a time. Returns false if there are none.
bool export_mark_lost_sometime(const struct export_run *run, struct extract_event *marker);
// Returns whether the marker of an id reports that events are missing. The end of a full log does
// if the log states that more were to come.
bool export_is_loss(const struct export_run *run, uint32_t id);
// Returns the name of a thread or object, which is escaped for a terminal; its address, written to
// `buffer`, if it has none.
enum { EXPORT_NAME_BYTES = 24 };
const char *export_name(struct export_run *run, bool is_thread, uint64_t address,
                        char buffer[EXPORT_NAME_BYTES]);
// Returns what a counter counts, such as "messages in".
const char *export_counter_name(enum export_counter_kind kind);
// Returns the text of an event as a report prints it, without control characters; it is valid until
// the next call. "" if memory is short, which is a failure of the run.
const char *export_event_text(struct export_run *run, const struct extract_event *event,
                              size_t *length);
// Returns the name of what an event reports, escaped for a terminal: of a user event its own name,
// such as "temperature", and of a hook word the label of its template, if there is one; otherwise
// that of its type, as event->type->name itself. Valid until the next call.
const char *export_event_name(struct export_run *run, const struct extract_event *event);
// Returns what executed when an event was recorded: a thread's name, "interrupt" and so on. Valid
// until the next call.
struct entry_builder_text export_context_name(struct export_run *run,
                                              const struct extract_event *event);

// Numbers for keys, from 0 on, in the order in which they are first asked for.
struct export_numbers {
    struct extract_map map;
    uint64_t *keys; // by number; owned
    size_t count, capacity;
};
// Returns the number of a key; SIZE_MAX: memory is short, which is a failure of the run.
size_t export_number(struct export_run *run, struct export_numbers *numbers, uint64_t key);
void export_numbers_free(struct export_numbers *numbers);

#endif
