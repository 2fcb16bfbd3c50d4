// SPDX-License-Identifier: MIT
// events: the inside of a filter, shared by the files that parse, compile and run it.
//
//   --event send,receive --thread 'net*' --last 20
//        │
//        ▼
//   event_filter.c extract_filter_add   parses the text of each option into items, and checks it
//        │ struct extract_filter: items as the user wrote them, valid for any trace
//        ▼
//   filter_view.c  extract_view_new     looks the names up in one trace: filter_types.c those of
//        │                              events; filter_unmatched.c says which match nothing
//        │ struct extract_view: bitmaps, sorted sets and numbers
//        ▼
//   filter_run.c   extract_view_run     tests each event by comparisons only; where.c runs the
//        │                              expressions of --where
//        │         filter_empty.c explains why none passes
//        │ events
//        ▼
//   sink (report, statistics, export)
//
// So `--event` becomes a filter in event_filter.c, and the event ids that it means are found in
// filter_types.c.
#ifndef EXTRACT_EVENTS_EVENT_FILTER_H
#define EXTRACT_EVENTS_EVENT_FILTER_H

#include "events/events_room.h"
#include <extract/filter.h>

enum { FILTER_WORDS = EXTRACT_FILTER_CORE + 1 };

struct filter_item {
    enum extract_filter_word word;
    bool negative; // the value began with "!": matching events are left out
    char *value;   // without the "!"; owned by the filter
};

struct extract_filter {
    struct filter_item *items;
    size_t count, capacity;
};

// A time as written: digits / 10^decimals units, with per_second units in a second; 0 for ticks.
struct filter_time {
    uint64_t digits;
    unsigned decimals;
    uint64_t per_second;
};

// Parses a time: ticks, or a number with a unit. Returns false for anything else.
bool filter_time_parse(const char *string, struct filter_time *time);
// Returns a time in ticks, rounded up or down, UINT64_MAX at most. `hz` is not 0 if the time has a
// unit.
uint64_t filter_time_ticks(const struct filter_time *time, uint64_t hz, bool up);

// Returns the class of that name, in any case; EXTRACT_CLASSES if there is none.
enum extract_class filter_class_parse(const char *string);

// A set of addresses: sorted, without duplicates (filter_view.c).
struct filter_set {
    uint64_t *values;
    size_t count, capacity;
};

// Returns false if memory ran out.
bool filter_set_add(struct filter_set *set, uint64_t address);
// Sorts a set and removes duplicates. A set must be sorted before it is asked.
void filter_set_sort(struct filter_set *set);
bool filter_set_has(const struct filter_set *set, uint64_t address);

// The conditions of one word on an address: if has_in, `in` must contain it; `out` must not.
struct filter_addresses {
    bool has_in;
    struct filter_set in, out;
    struct filter_set in_objects, out_objects; // for a log: indices of objects, whose addresses
                                               // other objects may have had at other times
    bool in_context[3], out_context[3];        // by enum extract_context: "isr" and "init"
};

struct extract_view {
    const struct extract_trace *trace;
    unsigned checks;  // bit 1 << word: the word has conditions
    unsigned classes; // bit 1 << class: the class is wanted
    uint64_t from, to, last;
    struct filter_addresses threads, objects;
    bool excludes_all;                   // no name of a word matches, so that no event does
    bool names_losses;                   // a type of losses is among the wanted ones by its name
    struct extract_error absent;         // code OK, or NOTFOUND: all types, classes or cores of a
                                         // word are valid, but none occurs in the trace
    struct where *where;                 // the expressions of WHERE; NULL: none
    struct filter_set cores;             // wanted cores
    struct filter_set rare_ids;          // wanted ids from EXTRACT_COMMON_IDS on
    uint8_t ids[EXTRACT_COMMON_IDS / 8]; // bit per id: the id is wanted
};

// Returns the end of a view's range in ticks; UINT64_MAX: it has none.
static inline uint64_t filter_end(const struct extract_view *view)
{
    return view && view->checks & 1u << EXTRACT_FILTER_TO ? view->to : UINT64_MAX;
}

// Returns whether a filter has no condition.
bool extract_filter_is_empty(const struct extract_filter *filter);

// Adds a condition whose value is one name, pattern or number: commas and "!" mean themselves.
// Errors: as extract_filter_add.
enum extract_code filter_add_literal(struct extract_filter *filter, enum extract_filter_word word,
                                     const char *value, struct extract_error *error);

// Returns whether a name matches a pattern, or is equal to it: "task[1]" may be a name. `flags` are
// those of fnmatch(3).
bool filter_matches(const char *pattern, const char *name, int flags);

// Returns whether a user's ADDRESS#N means an object: the one with this number at its address.
bool filter_is_life(const char *string, const struct extract_object *object);

// Returns NOTFOUND, with the reason and with what exists, if a view lets no event through although
// the trace has some: its conditions would make an empty report. LAST is not considered, nor are
// conditions that name losses, which may well be absent. `filter` is what the view was compiled
// from. `shows_states`: the output shows what had the cores, too, so that it is not empty between
// two events, or for a thread without any.
enum extract_code filter_check_empty(const struct extract_view *view,
                                     const struct extract_filter *filter, uint64_t hz,
                                     bool shows_states, struct extract_error *error);
// Writes a time in the unit of `like`, a time as the user wrote it, rounded up or down; in ticks if
// that has no unit.
void filter_format_time(char *text, size_t size, const char *like, uint64_t ticks, uint64_t hz,
                        bool up);

// Returns whether an event meets all conditions except those on time.
bool filter_passes(const struct extract_view *view, const struct extract_event *event);
// Returns whether the view's conditions on threads let through a context; `thread` is the address
// of EXTRACT_THREAD.
bool filter_passes_context(const struct extract_view *view, enum extract_context context,
                           uint64_t thread);
// Returns whether the view's conditions on objects name an address, or the object that was there at
// the event number `seq`.
bool filter_names_address(const struct extract_view *view, uint64_t address, uint64_t seq);

#endif
