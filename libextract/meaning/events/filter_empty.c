// SPDX-License-Identifier: MIT
// events: explains why a view lets nothing through, so that no empty report answers a filter that
// fits nothing.
//
// Usually one event that passes is found early and proves that the output is not empty. Only for
// an explanation is the whole trace walked: for the span of its times, for how many events each
// word fits alone, and for the threads and objects of its events.
#include "events/event_filter.h"
#include "events/where.h"
#include "formats/format.h"
#include <stdio.h>
#include <string.h>

enum {
    TIMES = 1 << EXTRACT_FILTER_FROM | 1 << EXTRACT_FILTER_TO,
    LAST = 1 << EXTRACT_FILTER_LAST,
    MAX_LISTED = 64 // names; more do not fit in a message
};

// What a walk finds out.
struct facts {
    const struct extract_view *view;
    unsigned word; // of the names to list; FILTER_WORDS: none
    uint64_t timed;
    uint64_t lowest, highest; // ticks of the first and the last event
    uint64_t before, after;   // ticks of the nearest events before and after the range
    bool has_before, has_after;
    const struct extract_object *listed[MAX_LISTED];
    size_t count;
};

static bool stop_at_once(void *context, const struct extract_event *events, size_t count)
{
    (void)context;
    (void)events;
    (void)count;
    return false;
}

// Returns whether any event passes the words in `checks` of a view.
static bool passes_any(const struct extract_view *view, unsigned checks)
{
    const struct extract_sink sink = {.events = stop_at_once};
    struct extract_view some = *view;

    some.checks &= checks;
    return extract_view_run(&some, &sink) != 0;
}

static uint64_t count_passing(const struct extract_view *view, unsigned checks)
{
    struct extract_view some = *view;

    some.checks &= checks;
    return extract_view_run(&some, NULL);
}

static void note_name(struct facts *facts, bool is_thread, uint64_t key, uint64_t seq)
{
    const struct extract_object *object =
        extract_names_find(facts->view->trace, is_thread, key, seq);

    for (size_t i = 0; i < facts->count && object; i++)
        if (facts->listed[i] == object)
            return;
    if (object && facts->count < MAX_LISTED)
        facts->listed[facts->count++] = object;
}

static void note_names(struct facts *facts, const struct extract_event *event)
{
    const struct extract_event_type *type = event->type;

    if (facts->word == EXTRACT_FILTER_THREAD && event->context == EXTRACT_THREAD)
        note_name(facts, true, event->thread, event->seq);
    for (unsigned i = 0;
         facts->word == EXTRACT_FILTER_OBJECT && i < event->fields && i < type->fields; i++) {
        uint64_t key;
        if (extract_value_key(type->field[i].kind, event->field[i], &key))
            note_name(facts, false, key, event->seq);
    }
}

static void note_time(struct facts *facts, uint64_t ticks)
{
    const struct extract_view *view = facts->view;

    facts->lowest = facts->timed && facts->lowest < ticks ? facts->lowest : ticks;
    facts->highest = facts->highest > ticks ? facts->highest : ticks;
    facts->timed++;
    if (view->checks & 1u << EXTRACT_FILTER_FROM && ticks < view->from) {
        facts->before = facts->has_before && facts->before > ticks ? facts->before : ticks;
        facts->has_before = true;
    }
    if (view->checks & 1u << EXTRACT_FILTER_TO && ticks > view->to) {
        facts->after = facts->has_after && facts->after < ticks ? facts->after : ticks;
        facts->has_after = true;
    }
}

static bool note_events(void *context, const struct extract_event *events, size_t count)
{
    struct facts *facts = context;

    for (size_t i = 0; i < count; i++) {
        if (!(events[i].flags & EXTRACT_FLAG_UNTIMED))
            note_time(facts, events[i].ticks);
        note_names(facts, &events[i]);
    }
    return true;
}

static void find_facts(struct facts *facts, const struct extract_view *view, unsigned word)
{
    const struct extract_view all = {.trace = view->trace};
    const struct extract_sink sink = {.events = note_events, .context = facts};

    *facts = (struct facts){.view = view, .word = word};
    extract_view_run(&all, &sink);
}

// ---- times ----

// Returns the condition on time that the message names: the one that excludes the trace.
static const struct filter_item *find_time(const struct extract_filter *filter,
                                           enum extract_filter_word word, uint64_t hz,
                                           uint64_t ticks)
{
    const struct filter_item *found = NULL;

    for (size_t i = 0; i < filter->count; i++) {
        struct filter_time time;
        const struct filter_item *item = &filter->items[i];
        if (item->word != word || !filter_time_parse(item->value, &time))
            continue;
        if (!found || filter_time_ticks(&time, hz, word == EXTRACT_FILTER_FROM) == ticks)
            found = item;
    }
    return found;
}

void filter_format_time(char *text, size_t size, const char *like, uint64_t ticks, uint64_t hz,
                        bool up)
{
    struct filter_time time;
    // The decimals of seconds show microseconds, those of shorter units nanoseconds.
    uint64_t scale = 1;
    unsigned decimals = 0;

    if (!hz || !filter_time_parse(like, &time) || !time.per_second) {
        snprintf(text, size, "%llu", (unsigned long long)ticks);
        return;
    }
    for (; decimals < 6 && time.per_second * scale < 1000000000; decimals += 3)
        scale *= 1000;
    unsigned __int128 value = (unsigned __int128)ticks * time.per_second * scale;
    value = (value + (up ? hz - 1 : 0)) / hz;
    uint64_t whole = (uint64_t)(value / scale), part = (uint64_t)(value % scale);
    const char *unit = like + strspn(like, "0123456789.");
    if (decimals)
        snprintf(text, size, "%llu.%0*llu%s", (unsigned long long)whole, (int)decimals,
                 (unsigned long long)part, unit);
    else
        snprintf(text, size, "%llu%s", (unsigned long long)whole, unit);
}

// Explains a range of times in which no event is.
static enum extract_code explain_times(const struct extract_view *view,
                                       const struct extract_filter *filter, uint64_t hz,
                                       const struct facts *facts, struct extract_error *error)
{
    bool is_before = facts->timed && !facts->has_before && view->checks & 1u << EXTRACT_FILTER_TO &&
                     view->to < facts->lowest;
    enum extract_filter_word word = is_before || !(view->checks & 1u << EXTRACT_FILTER_FROM)
                                        ? EXTRACT_FILTER_TO
                                        : EXTRACT_FILTER_FROM;
    const struct filter_item *item =
        find_time(filter, word, hz, word == EXTRACT_FILTER_TO ? view->to : view->from);
    const char *value = item ? item->value : "", *name = extract_filter_word_name(word);
    char low[48], high[48], hint[160];

    if (!facts->timed)
        return extract_error_set(error, EXTRACT_NOTFOUND, name, "leave it out",
                                 "\"%s\": no event of this trace has a time", value);
    bool is_gap = facts->has_before && facts->has_after;
    filter_format_time(low, sizeof low, value, is_gap ? facts->before : facts->lowest, hz, false);
    filter_format_time(high, sizeof high, value, is_gap ? facts->after : facts->highest, hz, true);
    snprintf(hint, sizeof hint, is_gap ? "the nearest events are at %s and %s%s" : "use %s to %s%s",
             low, high, strspn(low, "0123456789") == strlen(low) ? " ticks" : "");
    return extract_error_set(error, EXTRACT_NOTFOUND, name, hint,
                             is_before ? "\"%s\": before the first event of this trace"
                             : is_gap  ? "\"%s\": no event in this range"
                                       : "\"%s\": after the last event of this trace",
                             value);
}

// ---- other words ----

// Writes a word and what the user wrote for it: the first value, and whether there are more.
// Returns the word as the user wrote it. A term of the target's own filters, such as "ao=server",
// is about another word than it was written for: then there is no value.
static enum extract_filter_word put_values(char *text, size_t size,
                                           const struct extract_filter *filter, unsigned word)
{
    const struct filter_item *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < filter->count; i++) {
        bool is_signal = filter->items[i].word == EXTRACT_FILTER_SIGNAL;
        if (word != (is_signal ? EXTRACT_FILTER_OBJECT : filter->items[i].word))
            continue;
        first = first ? first : &filter->items[i];
        count++;
    }
    if (first)
        snprintf(text, size, "\"%s%.40s\"%s", first->negative ? "!" : "", first->value,
                 count > 1 ? " and others" : "");
    else
        snprintf(text, size, "this filter");
    return first ? first->word : (enum extract_filter_word)word;
}

// Explains a word that fits no event of the trace.
static enum extract_code explain_word(const struct extract_view *view, unsigned word,
                                      const struct extract_filter *filter,
                                      const struct facts *facts, struct extract_error *error)
{
    struct extract_listing listing = {.used = 0};
    char values[80], hint[sizeof listing.text + 32];

    enum extract_filter_word written = put_values(values, sizeof values, filter, word);
    for (size_t i = 0; i < facts->count; i++)
        extract_listing_put(&listing, facts->listed[i]->shown);
    if (listing.used)
        snprintf(hint, sizeof hint, "events have: %s", listing.text);
    else
        snprintf(hint, sizeof hint, "the trace has %llu event%s",
                 (unsigned long long)view->trace->events, view->trace->events == 1 ? "" : "s");
    return extract_error_set(error, EXTRACT_NOTFOUND, extract_filter_word_name(written), hint,
                             "%s: no event of this trace fits", values);
}

// Explains words that fit events, but none in common.
static enum extract_code explain_conjunction(const struct extract_view *view, unsigned checks,
                                             const struct extract_filter *filter,
                                             struct extract_error *error)
{
    struct extract_text list;
    char values[80];

    extract_text_init(&list, NULL, NULL);
    extract_text_printf(&list, "of %llu events", (unsigned long long)view->trace->events);
    for (unsigned word = 0; word < FILTER_WORDS; word++) {
        unsigned bits = 1u << word & TIMES ? TIMES : 1u << word;
        if (!(checks & 1u << word) || (word == EXTRACT_FILTER_TO && checks & TIMES & ~(1u << word)))
            continue;
        enum extract_filter_word written = put_values(values, sizeof values, filter, word);
        extract_text_printf(&list, ", %s %s", extract_filter_word_name(written), values);
        if (bits == TIMES && word == EXTRACT_FILTER_FROM && checks & 1u << EXTRACT_FILTER_TO) {
            put_values(values, sizeof values, filter, EXTRACT_FILTER_TO);
            extract_text_printf(&list, " to %s", values);
        }
        extract_text_printf(&list, " alone fits %llu",
                            (unsigned long long)count_passing(view, bits));
    }
    extract_text_putc(&list, '\0');
    enum extract_code code =
        extract_error_set(error, EXTRACT_NOTFOUND, "filters", list.code ? NULL : list.data,
                          "no event of this trace fits all of them");
    extract_text_free(&list);
    return code;
}

// ---- the check ----

static enum extract_code explain(const struct extract_view *view, unsigned checks,
                                 const struct extract_filter *filter, uint64_t hz,
                                 struct extract_error *error)
{
    struct facts facts;

    if (checks & TIMES && !passes_any(view, TIMES)) {
        find_facts(&facts, view, FILTER_WORDS);
        return explain_times(view, filter, hz, &facts, error);
    }
    for (unsigned word = 0; word < FILTER_WORDS; word++) {
        if (!(checks & ~(unsigned)TIMES & 1u << word) || passes_any(view, 1u << word))
            continue;
        find_facts(&facts, view, word);
        return explain_word(view, word, filter, &facts, error);
    }
    return explain_conjunction(view, checks, filter, error);
}

// Returns whether the range of a view and the times of the trace have a time in common.
static bool overlaps(const struct extract_view *view)
{
    struct facts facts;

    find_facts(&facts, view, FILTER_WORDS);
    return facts.timed &&
           (!(view->checks & 1u << EXTRACT_FILTER_FROM) || view->from <= facts.highest) &&
           (!(view->checks & 1u << EXTRACT_FILTER_TO) || view->to >= facts.lowest);
}

enum extract_code filter_check_empty(const struct extract_view *view,
                                     const struct extract_filter *filter, uint64_t hz,
                                     bool shows_states, struct extract_error *error)
{
    unsigned checks = view->checks & ~(unsigned)LAST;

    // A trace without events has nothing that a filter could leave out.
    if (!checks || !view->trace->events || view->names_losses || passes_any(view, checks))
        return EXTRACT_OK;
    // States continue between events: those of all threads in a time without events, and those of a
    // thread without any. What chooses events must fit some of them.
    bool chooses = checks & ~(unsigned)(TIMES | 1u << EXTRACT_FILTER_THREAD);
    if (shows_states && (!(checks & TIMES) || overlaps(view)) &&
        (!chooses || passes_any(view, checks & ~(unsigned)TIMES)))
        return EXTRACT_OK;
    return explain(view, checks, filter, hz, error);
}
