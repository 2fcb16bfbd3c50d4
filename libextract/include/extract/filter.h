// SPDX-License-Identifier: MIT
// Which events are wanted, and which events a target records.
//
// A filter holds conditions as users write them: event types (as posix_trace_eventset), threads,
// objects, classes, times and a number of newest events. extract_view_new compiles it for a trace,
// and extract_view_run sends the events that pass to a sink.
//
// The second half is about the target's own filters: extract_control for RKH's tables,
// extract_request for ThreadX and the recorders of POSIX trace and hook words.
#ifndef EXTRACT_FILTER_H
#define EXTRACT_FILTER_H

#include <extract/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_filter;

enum extract_filter_word {
    EXTRACT_FILTER_EVENT,  // id, symbol or name; shell patterns (* ? [])
    EXTRACT_FILTER_THREAD, // address, name or pattern; "isr", "init"
    EXTRACT_FILTER_OBJECT, // address, name or pattern: events with a field that points to it
    EXTRACT_FILTER_CLASS,  // APPL, SVC, KERN, INT
    EXTRACT_FILTER_FROM,   // ticks, or a time with a unit: 1.5s 20ms 7us 9ns
    EXTRACT_FILTER_TO,     // likewise
    EXTRACT_FILTER_LAST,   // the newest N events that meet the other conditions
    EXTRACT_FILTER_WHERE,  // an expression, as in "info1 == 0x5dc && dt > 1ms" (ringside(1),
                           // EXPRESSIONS)
    EXTRACT_FILTER_SIGNAL, // number, name or pattern of a signal of RKH
    EXTRACT_FILTER_CORE    // number of the core that recorded the event
};

// Returns the name of a word, "event" …; never NULL.
const char *extract_filter_word_name(enum extract_filter_word word);

// Reads a number as users write it: decimal, or hexadecimal after 0x. Returns false, and leaves
// *number unchanged, for anything else: signs, spaces, trailing text, more than 64 bits.
bool extract_number_parse(const char *string, uint64_t *number);

// Makes an empty filter, which every event passes. Errors: NOMEM.
enum extract_code extract_filter_new(struct extract_filter **filter, struct extract_error *error);
void extract_filter_free(struct extract_filter *filter);

// Adds a condition. Conditions of the same word widen the filter (any of them), those of different
// words narrow it (all of them). A comma separates several in one value. A leading "!" negates one:
// matching events are left out. A backslash takes the special meaning from a comma, a "!" and the
// characters of patterns. A value of WHERE is one expression, and each one narrows the filter.
// Errors: USAGE (not a number, unknown class, an error in an expression), NOMEM.
enum extract_code extract_filter_add(struct extract_filter *filter, enum extract_filter_word word,
                                     const char *value, struct extract_error *error);

// Compiles a filter for one trace; NULL passes every event. Names are looked up once. `hz` is
// needed for times with a unit; 0 if unknown, which makes such a time an error (USAGE). For a name
// that matches nothing, returns NOTFOUND with a view that is usable and lets nothing through for
// that name. A type that the format defines, a class or a core need not occur in the trace;
// sessions treat that as an error, too, unless entries of the trace are missing, and likewise a
// view that no event passes. Errors: USAGE, NOTFOUND, NOMEM.
struct extract_view;
enum extract_code extract_view_new(struct extract_view **view, const struct extract_filter *filter,
                                   const struct extract_trace *trace, uint64_t hz,
                                   struct extract_error *error);
void extract_view_free(struct extract_view *view);

// How an event relates to a view. The range of a view is the part of the trace between its times
// FROM and TO. If a view has no conditions except times and LAST, the range begins with the first
// of the newest N events.
enum extract_standing {
    EXTRACT_OUTSIDE = 0, // before or after the range
    EXTRACT_LEFT_OUT,    // in the range, but another condition is not met
    EXTRACT_LET_THROUGH  // in the range, and all conditions are met
};

// A receiver of events. `events` gets those that the view lets through, one or more at a time, in
// order of time. `all`, if it is set, is called instead and gets every event of the trace with its
// standing: some sinks need the whole trace. Returning false stops the walk.
struct extract_sink {
    bool (*events)(void *context, const struct extract_event *events, size_t count);
    void *context;
    bool (*all)(void *context, const struct extract_event *events, const uint8_t *standing,
                size_t count);
};

// Sends the view's events to a sink. Returns the number of events that it let through.
uint64_t extract_view_run(const struct extract_view *view, const struct extract_sink *sink);

// ---- a target's own filters ----

// The filter tables of an RKH target: as they were read, and with changes that are not written yet.
// Nothing is written by these functions: the caller writes the edits.
struct extract_control;

// A byte of target memory to be written for a change.
struct extract_edit {
    uint64_t address;
    uint8_t before, after;
};

// Reads the tables by their symbols. Names of active objects and signals come from `trace`, which
// may be NULL and must outlive the control, and those of active objects from the ELF as well. `rkh`
// (may be NULL) holds the user's settings, such as the version of the framework. Errors: NOTFOUND
// (the firmware has no such filters), UNREADABLE, NOMEM.
enum extract_code extract_control_read(struct extract_control **control,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_trace *trace,
                                       const struct extract_rkh *rkh, struct extract_error *error);
void extract_control_free(struct extract_control *control);

// Makes a change: "on" or "off", then terms KIND=NAME. Kinds are group (its own bit only), event
// (on: also the bit of its group), ao and signal. A name may be a pattern with * ? [], or a number:
// of a group, an event, a priority or a signal. The word "all" means everything. Without words,
// does nothing. Errors: USAGE, NOTFOUND (nothing has that name), UNSUPPORTED or BAD (the place of
// the bits is not known); nothing is changed then.
enum extract_code extract_control_change(struct extract_control *control, const char *const *words,
                                         size_t count, struct extract_error *error);

// Appends lines that list what is emitted: as it was read, or with the changes.
void extract_control_show(const struct extract_control *control, bool changed,
                          struct extract_text *text);

// Gets the i-th byte to write. Returns false after the last.
bool extract_control_edit(const struct extract_control *control, size_t i,
                          struct extract_edit *edit);

// ---- requests to a target's recorder ----

// A request to start, to stop, to clear, or to change the filter: words to be written to the ring's
// control block, which the target's recorder reads.
struct extract_request;

// A 32-bit word of target memory to be written, as a number in the host's byte order.
struct extract_word {
    uint64_t address;
    uint32_t value;
};

// Makes the request for an action, from the ring's words as they are in memory now. Nothing is
// written. "start", "stop" and "clear" take no words. "filter" takes "show", or "set", "add" or
// "sub" with names of event types: those of the trace, which may be patterns with * ? [], ids, or
// "all", "system", "user", "none". Types in the filter are NOT recorded (posix_trace_set_filter).
// For ThreadX, the names are classes that ARE recorded, such as "mutex" or "all". `trace` must
// outlive the request. Errors: USAGE, NOTFOUND (nothing has that name), UNSUPPORTED (this format
// has no such request; the message states why and what to do), BAD, UNREADABLE, NOMEM.
enum extract_code extract_request_new(struct extract_request **request,
                                      const struct extract_trace *trace,
                                      struct extract_memory *memory, const char *action,
                                      const char *const *words, size_t count,
                                      struct extract_error *error);
void extract_request_free(struct extract_request *request);

// Gets the i-th word to write, in the order in which they must be written. Returns false after the
// last.
bool extract_request_word(const struct extract_request *request, size_t i,
                          struct extract_word *word);
// Writes all words. Errors: those of extract_memory_write.
enum extract_code extract_request_send(const struct extract_request *request,
                                       struct extract_memory *memory, struct extract_error *error);
// Returns whether writing the request carries it out, as with ThreadX's filter word. Otherwise the
// target's recorder carries it out at its next trace point.
bool extract_request_takes_effect_at_once(const struct extract_request *request);
// Sets *done to whether the target has carried out the request. Errors: UNREADABLE, BAD.
enum extract_code extract_request_is_done(const struct extract_request *request,
                                          struct extract_memory *memory, bool *done,
                                          struct extract_error *error);

// Appends a line with the event types that are not recorded: as it was, or, with `changed`, as it
// is requested.
void extract_request_show(const struct extract_request *request, bool changed,
                          struct extract_text *text);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
