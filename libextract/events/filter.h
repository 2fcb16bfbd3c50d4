// SPDX-License-Identifier: MIT
// events: the inside of a filter, shared by the files that build, compile and run it.
//
// A filter is a list of items as the user wrote them. A view is the same made ready for one trace:
// bitmaps, sorted address arrays and numbers, so that an event is judged by comparisons only.
#ifndef EXTRACT_EVENTS_FILTER_H
#define EXTRACT_EVENTS_FILTER_H

#include "events/internal.h"
#include <extract/filter.h>

enum { FILTER_WORDS = EXTRACT_FILTER_LAST + 1 };

struct filter_item {
    enum extract_filter_word word;
    bool negative; // what matches is left out
    char *value;   // without the "!"; owned
};

struct extract_filter {
    struct filter_item *items;
    size_t count;
    size_t room;
};

// A time as written: `digits` / 10^`decimals` units, of which `per_second` make a second; 0: ticks.
struct filter_time {
    uint64_t digits;
    unsigned decimals;
    uint64_t per_second;
};

bool filter_time_parse(const char *string, struct filter_time *time);
// In ticks, rounded up or down; saturates. `hz` is not 0 when the time has a unit.
uint64_t filter_time_ticks(const struct filter_time *time, uint64_t hz, bool up);

// A class by its name in any case; EXTRACT_CLASSES when there is none.
enum extract_class filter_class_parse(const char *string);

// Addresses, sorted and each once after filter_set_close.
struct filter_set {
    uint64_t *at;
    size_t count;
    size_t room;
};

bool filter_set_add(struct filter_set *set, uint64_t address); // false: no memory
void filter_set_close(struct filter_set *set);
bool filter_set_has(const struct filter_set *set, uint64_t address);

// What one word asks of an address: one of `in` (when `narrows`), and none of `out`.
struct filter_addresses {
    bool narrows;
    struct filter_set in, out;
    struct filter_set in_objects, out_objects; // of a log: indices, as addresses change hands
    bool in_context[3], out_context[3];        // by enum extract_context: "isr", "init"
};

struct extract_view {
    const struct extract_trace *trace;
    unsigned checks;  // bit 1 << word: this word has conditions
    unsigned classes; // bit 1 << class: wanted
    uint64_t from, to, last;
    struct filter_addresses threads, objects;
    struct filter_set rare_ids;          // wanted ids from EXTRACT_COMMON_IDS on
    uint8_t ids[EXTRACT_COMMON_IDS / 8]; // bit an id: wanted
};

#endif
