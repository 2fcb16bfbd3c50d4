// SPDX-License-Identifier: MIT
// Which events are wanted: a set of event types, as posix_trace_eventset, plus threads, objects,
// classes, times and a newest few.
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
    EXTRACT_FILTER_FROM,   // ticks, or seconds with a unit: 1.5s 20ms 7us 9ns
    EXTRACT_FILTER_TO,
    EXTRACT_FILTER_LAST // the newest N of what the others leave
};

const char *extract_filter_word_name(enum extract_filter_word word); // "event" …; never NULL

// A number as users write it: decimal, or hexadecimal behind 0x. False, with *number untouched, for
// anything else: signs, spaces, trailing text, more than 64 bits.
bool extract_number_parse(const char *string, uint64_t *number);

// An empty filter: everything passes.
enum extract_code extract_filter_new(struct extract_filter **filter, struct extract_error *error);
void extract_filter_free(struct extract_filter *filter);

// Adds a condition. Several of one word widen it (any of them), different words narrow it (all of
// them); a comma separates several in one value. A leading "!" turns one around: what matches is
// left out. A backslash in front takes the meaning of a comma, a "!" and of the characters of
// patterns away. Errors: USAGE (not a number, unknown class), NOMEM.
enum extract_code extract_filter_add(struct extract_filter *filter, enum extract_filter_word word,
                                     const char *value, struct extract_error *error);

bool extract_filter_is_empty(const struct extract_filter *filter);

// The filter (NULL: everything passes) made ready for one trace: names are looked up once. `hz` is
// for times in seconds, 0 when unknown (then a time with a unit is USAGE). A name that matches
// nothing is NOTFOUND, with the filter usable all the same (it lets nothing through).
struct extract_view;
enum extract_code extract_view_new(struct extract_view **view, const struct extract_filter *filter,
                                   const struct extract_trace *trace, uint64_t hz,
                                   struct extract_error *error);
void extract_view_free(struct extract_view *view);

// What a view makes of an event. The stretch of a view is the part of the trace between its times
// FROM and TO; where a view has no conditions but times and LAST, it begins with the first of the
// newest N.
enum extract_standing {
    EXTRACT_OUTSIDE = 0, // before or after the stretch
    EXTRACT_LEFT_OUT,    // in the stretch, where another condition does not hold
    EXTRACT_LET_THROUGH
};

// What takes events. With `events`, it gets those that the view lets through, 1 or more at a time,
// in order of time. With `all` instead, it gets every event of the trace, and how each of them
// stands to the view (enum extract_standing): for what must know the whole to judge a part. False
// stops.
struct extract_sink {
    bool (*events)(void *context, const struct extract_event *events, size_t count);
    void *context;
    bool (*all)(void *context, const struct extract_event *events, const uint8_t *standing,
                size_t count);
};

// Sends the view's events into the sink. Returns how many it let through.
uint64_t extract_view_run(const struct extract_view *view, const struct extract_sink *sink);

// ---- a target's own filters ----

// Which events an RKH target emits: its tables, as they were read and as they are changed in hand.
// Nothing is written here.
struct extract_control;

// A byte of target memory that a change asks for.
struct extract_edit {
    uint64_t address;
    uint8_t before, after;
};

// Reads the tables by their symbols. `trace` knows names of active objects and signals, as the ELF
// knows active objects; it may be NULL, and must outlive the control. `rkh` (may be NULL) is what a
// user says, the version of the framework among it. Errors: NOTFOUND (the firmware has no such
// filters), UNREADABLE, NOMEM.
enum extract_code extract_control_read(struct extract_control **control,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_trace *trace,
                                       const struct extract_rkh *rkh, struct extract_error *error);
void extract_control_free(struct extract_control *control);

// A change: "on" or "off", then words KIND=NAME. Kinds: group (its bit alone), event (on: the bit
// of its group, too), ao and signal; names may be patterns with * ? [], or numbers: of a group, the
// id of an event, a priority, a signal; the word "all" is everything. Nothing to do for no words.
// Errors: USAGE, NOTFOUND (nothing has that name), UNSUPPORTED or BAD (where the bits of events lie
// is not known); then nothing is changed.
enum extract_code extract_control_change(struct extract_control *control, const char *const *words,
                                         size_t count, struct extract_error *error);

// Lines that say what is emitted: as it was read, or as it is changed.
void extract_control_show(const struct extract_control *control, bool changed,
                          struct extract_text *text);

// The i-th byte to write; false behind the last.
bool extract_control_edit(const struct extract_control *control, size_t i,
                          struct extract_edit *edit);

// ---- what a target that records is asked for ----

// A request to start, to stop, to clear, or for another filter: words that are written to the
// ring's control block, which the target's recorder looks at.
struct extract_request;

// A 32-bit word of target memory to be written, as a number.
struct extract_word {
    uint64_t address;
    uint32_t value;
};

// What `verb` asks for, by the ring's words as they stand in memory now; nothing is written.
// "start", "stop" and "clear" take no words. "filter" takes "show", or "set", "add" or "sub" and
// names of event types: those of the trace, which may be patterns with * ? [], or ids, or "all",
// "system", "user", "none". What is in the filter is NOT recorded (posix_trace_set_filter). Of
// ThreadX they are classes that ARE recorded, as "mutex" or "all". `trace` must outlive the
// request. Errors: USAGE, NOTFOUND (nothing has that name), UNSUPPORTED (rings of this format
// cannot; why, and a way out), BAD, UNREADABLE, NOMEM.
enum extract_code extract_request_new(struct extract_request **request,
                                      const struct extract_trace *trace,
                                      struct extract_memory *memory, const char *verb,
                                      const char *const *words, size_t count,
                                      struct extract_error *error);
void extract_request_free(struct extract_request *request);

// The i-th word to write, in the order that they must be written in; false behind the last.
bool extract_request_word(const struct extract_request *request, size_t i,
                          struct extract_word *word);
// Writes all of them. Errors: those of extract_memory_write.
enum extract_code extract_request_send(const struct extract_request *request,
                                       struct extract_memory *memory, struct extract_error *error);
// Whether a request is carried out by being written (ThreadX's filter word). False: the target's
// recorder carries it out when it passes its next trace point.
bool extract_request_takes_effect_at_once(const struct extract_request *request);
// Whether the target has carried it out. Errors: UNREADABLE, BAD.
enum extract_code extract_request_is_done(const struct extract_request *request,
                                          struct extract_memory *memory, bool *done,
                                          struct extract_error *error);

// Of a filter: which event types are not recorded, as it was and, with `changed`, as it is asked
// for. A line.
void extract_request_show(const struct extract_request *request, bool changed,
                          struct extract_text *text);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
