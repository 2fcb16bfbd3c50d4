// SPDX-License-Identifier: MIT
// analysis: assertions about a trace. In: conditions (base/expression.h), whose names are calls
// such as `load(idle)`. Out: whether they hold.
//
// Each call becomes a figure: what the trace shows, and between which bounds the true value is. In
// a complete trace, both bounds are the value. If events are missing, a count or a largest value
// can only be higher, a smallest one only be lower, and anything else is not known.
#include "analysis/failed.h"
#include "analysis/analysis_room.h"
#include "base/percent.h"
#include "base/expression.h"
#include "base/grow.h"
#include "events/event_filter.h"
#include <extract/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIGURE_NAMES = 32, MAX_ARGUMENTS = 8, MAX_CALL = 256 };

// How a missing event can change a value.
enum change { ONLY_HIGHER, ONLY_LOWER, EITHER_WAY };

struct assert_figure {
    char name[MAX_CALL]; // the call
    bool has_value;
    const char *lacks; // why it has no value
    const char *doubt; // why the value is not certain although no event is missing; NULL: it is
    enum expression_quantity quantity;
    bool is_likely; // of spans that are likely, not certain
    double shown;   // of a TRUTH that is_events, the number of events
    bool is_events;
    char order[64]; // of an order, what is printed instead of a number; "": a number is printed
    expression_number value, low, high;
};

struct extract_assertions {
    const struct extract_trace *trace;
    const struct extract_spans *spans; // NULL: none
    struct extract_stats *stats;
    struct failed_calls failed;
    uint64_t hz;
    bool is_whole;
    struct assert_figure figures[MAX_FIGURE_NAMES];
    size_t count;
};

// A call, taken apart.
struct call {
    char text[MAX_CALL]; // with NULs between its parts
    const char *name, *member;
    char *argument[MAX_ARGUMENTS];
    size_t count;
};

// ---- calls ----

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r\n");
    length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = 0;
    bool is_quoted = length >= 2 && (*text == '"' || *text == '\'') && text[length - 1] == *text;
    if (is_quoted) {
        text[length - 1] = 0;
        text++;
    }
    return text;
}

// Takes "name(argument, argument).member" apart.
static enum extract_code parse_call(const char *text, struct call *call,
                                    struct extract_error *error)
{
    char *open = NULL, quote = 0;

    memset(call, 0, sizeof *call);
    snprintf(call->text, sizeof call->text, "%s", text);
    call->name = call->text;
    call->member = "";
    open = strchr(call->text, '(');
    char *close = strrchr(call->text, ')');
    if (strlen(text) >= sizeof call->text || !open || !close)
        return extract_error_set(error, EXTRACT_USAGE, text,
                                 "use latency(T).p99, load(T), span(S).p99, count(E), never(E) or "
                                 "order(A, B)",
                                 "not a figure of a trace");
    if (close[1] == '.')
        call->member = close + 2;
    *open = *close = 0;
    char *start = open + 1;
    for (char *at = start;; at++) {
        if (quote)
            quote = *at == quote || !*at ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        if (*at && (*at != ',' || quote))
            continue;
        bool is_last = !*at;
        *at = 0;
        if (call->count == MAX_ARGUMENTS)
            return extract_error_set(error, EXTRACT_USAGE, text, NULL, "more than %d arguments",
                                     MAX_ARGUMENTS);
        call->argument[call->count++] = trim(start);
        start = at + 1;
        if (is_last)
            return EXTRACT_OK;
    }
}

// ---- values ----

static const expression_number FAR = (expression_number)1 << 100;

static void set_value(const struct extract_assertions *assertions, struct assert_figure *figure,
                      expression_number value, double shown, enum change change)
{
    figure->has_value = true;
    figure->value = figure->low = figure->high = value;
    figure->shown = shown;
    if (assertions->is_whole)
        return;
    if (change != ONLY_HIGHER)
        figure->low = 0;
    if (change != ONLY_LOWER)
        figure->high = FAR;
}

static void set_number(const struct extract_assertions *assertions, struct assert_figure *figure,
                       uint64_t value, enum change change)
{
    set_value(assertions, figure, expression_integer(value), (double)value, change);
}

static void set_percent(const struct extract_assertions *assertions, struct assert_figure *figure,
                        uint64_t part, uint64_t whole)
{
    figure->quantity = EXPRESSION_PERCENT;
    if (!whole)
        return;
    set_value(assertions, figure, (expression_integer(part) * 100) / whole,
              (double)part * 100 / (double)whole, EITHER_WAY);
}

// ---- threads ----

static enum extract_code find_stats(const struct extract_assertions *assertions, const char *name,
                                    const struct extract_thread_stats **thread,
                                    struct extract_error *error)
{
    uint64_t address;
    enum extract_code code = why_find_thread(assertions->trace, name, &address, error);

    for (size_t i = 0; !code && i < assertions->stats->thread_count; i++) {
        *thread = &assertions->stats->threads[i];
        if ((*thread)->thread->key == address)
            return EXTRACT_OK;
    }
    return code ? code
                : extract_error_set(error, EXTRACT_NOTFOUND, name, NULL, "no thread has this name");
}

// Sets a figure to a member of a distribution. Without values, only the count is known. Returns
// false if there is no such member.
static bool set_member(const struct extract_assertions *assertions, struct assert_figure *figure,
                       const struct extract_distribution *d, const char *member)
{
    const struct {
        const char *name;
        uint64_t value;
        enum change change;
    } members[] = {{"count", d->count, ONLY_HIGHER},
                   {"min", d->min, ONLY_LOWER},
                   {"median", d->median, EITHER_WAY},
                   {"p99", d->p99, EITHER_WAY},
                   {"max", d->max, ONLY_HIGHER}};

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(member, members[i].name) != 0)
            continue;
        figure->quantity = i ? EXPRESSION_TIME : EXPRESSION_COUNT;
        if (d->count || !i)
            set_number(assertions, figure, members[i].value, members[i].change);
        return true;
    }
    return false;
}

static enum extract_code refuse_member(const struct call *call, const char *hint,
                                       struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, call->name, hint, "\"%s\" is not a figure of it",
                             call->member);
}

static enum extract_code find_distribution(const struct extract_assertions *assertions,
                                           const struct call *call, struct assert_figure *figure,
                                           struct extract_error *error)
{
    const struct extract_thread_stats *thread = NULL;
    enum extract_code code = find_stats(assertions, call->argument[0], &thread, error);

    if (code)
        return code;
    bool is_period = strcmp(call->name, "period") == 0;
    bool is_latency = strcmp(call->name, "latency") == 0;
    const struct extract_distribution *d = is_period    ? &thread->period
                                           : is_latency ? &thread->latency
                                                        : &thread->response;
    figure->lacks = !assertions->stats->has_waits
                        ? "the events of this trace do not show when threads wait"
                    : is_period  ? "fewer than two responses of this thread begin in the trace"
                    : is_latency ? "no wake-up after which this thread ran is in the trace"
                                 : "no response of this thread is in the trace";
    if (is_period && strcmp(call->member, "jitter") == 0) {
        uint64_t jitter;
        bool is_known = extract_period_jitter(d, &jitter);
        if (d->count >= EXTRACT_MIN_PERIODS)
            figure->lacks = "the median of the periods is 0";
        else if (d->count)
            figure->lacks = "the trace has fewer than three periods of this thread";
        set_percent(assertions, figure, jitter, is_known ? d->median : 0);
        return EXTRACT_OK;
    }
    if (set_member(assertions, figure, d, call->member))
        return EXTRACT_OK;
    return refuse_member(call,
                         is_period ? "use .min, .median, .p99, .max, .count or .jitter"
                                   : "use .min, .median, .p99, .max or .count",
                         error);
}

// ---- spans ----

static enum extract_code find_span(const struct extract_assertions *assertions,
                                   const struct call *call, struct assert_figure *figure,
                                   struct extract_error *error)
{
    size_t count = assertions->spans ? extract_spans_count(assertions->spans) : 0, i = 0;

    while (i < count &&
           strcmp(extract_spans_get(assertions->spans, i)->name, call->argument[0]) != 0)
        i++;
    if (i == count)
        return extract_error_set(error, EXTRACT_USAGE, call->argument[0],
                                 "define it with --span 'NAME: EVENT .. EVENT'",
                                 "no span has this name");
    const struct extract_span_stats *span = extract_spans_get(assertions->spans, i);
    const struct extract_distribution *d = &span->duration;
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {{"open", span->open},
                   {"without_end", span->without_end},
                   {"without_begin", span->without_begin}};
    bool is_found = set_member(assertions, figure, d, call->member);
    figure->lacks = "no complete span of this name is in the trace";
    if (strcmp(call->member, "mean") == 0) {
        is_found = true;
        figure->quantity = EXPRESSION_TIME;
        if (d->count)
            set_value(assertions, figure, expression_integer(d->sum) / d->count,
                      (double)d->sum / (double)d->count, EITHER_WAY);
    }
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        if (strcmp(call->member, members[k].name) == 0) {
            is_found = true;
            figure->quantity = EXPRESSION_COUNT;
            set_number(assertions, figure, members[k].value, EITHER_WAY);
        }
    if (!is_found)
        return refuse_member(call,
                             "use .min, .median, .p99, .max, .mean, .count, .open, .without_end "
                             "or .without_begin",
                             error);
    figure->is_likely = span->likely;
    figure->doubt = span->dropped ? "too many spans were open, and some were dropped" : NULL;
    // With what was dropped or is missing, other begins and ends might belong together.
    if (span->dropped || (span->likely && !assertions->is_whole)) {
        figure->low = 0;
        figure->high = FAR;
    }
    return EXTRACT_OK;
}

// ---- loads ----

// Sets a load. What had a core for an unknown time may be this one, or not; so may what is likely,
// and `other` ticks.
static void set_load(const struct extract_assertions *assertions, struct assert_figure *figure,
                     uint64_t ticks, uint64_t other)
{
    const struct extract_stats *stats = assertions->stats;
    uint64_t less = ticks < stats->unsure_ticks ? ticks : stats->unsure_ticks;
    uint64_t more = stats->unknown_ticks + stats->unsure_ticks + other;

    set_percent(assertions, figure, ticks, stats->span_ticks);
    if (!figure->has_value || !assertions->is_whole || !more)
        return;
    figure->doubt = other ? "a thread without a name may be idle"
                          : "for a part of the time, it is not certain what had a core";
    figure->low = expression_integer(ticks - less) * 100 / stats->span_ticks;
    figure->high = expression_integer(ticks + more) * 100 / stats->span_ticks;
}

static enum extract_code find_load(const struct extract_assertions *assertions,
                                   const struct call *call, struct assert_figure *figure,
                                   struct extract_error *error)
{
    const struct extract_stats *stats = assertions->stats;
    const struct {
        const char *name;
        uint64_t ticks, other;
        bool is_exact;
    } others[] = {{"idle", stats->idle_ticks, stats->maybe_idle_ticks, false},
                  {"interrupts", stats->interrupt_ticks, 0, false},
                  {"init", stats->init_ticks, 0, false},
                  {"unknown", stats->unknown_ticks, 0, true}};
    const struct extract_thread_stats *thread = NULL;

    figure->lacks = "the trace spans no time";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(call->argument[0], others[i].name) == 0) {
            if (others[i].is_exact)
                set_percent(assertions, figure, others[i].ticks, stats->span_ticks);
            else
                set_load(assertions, figure, others[i].ticks, others[i].other);
            return EXTRACT_OK;
        }
    enum extract_code code = find_stats(assertions, call->argument[0], &thread, error);
    if (!code)
        set_load(assertions, figure, thread->ticks, 0);
    return code;
}

// ---- events ----

// If a name ends with " failed", cuts that off and returns true.
static bool cut_failed(char *name)
{
    static const char word[] = "failed";
    size_t length = strlen(name), end = sizeof word - 1;

    if (length <= end || strcmp(name + length - end, word) != 0 ||
        !strchr(" \t", name[length - end - 1]))
        return false;
    name[length - end - 1] = 0;
    trim(name);
    return true;
}

// Returns OK if a name is that of an event, and NOTFOUND if it is not.
static enum extract_code check_event(const struct extract_trace *trace, uint64_t hz,
                                     const char *name, struct extract_error *error)
{
    struct extract_filter *alone;
    struct extract_view *view = NULL;
    enum extract_code code = extract_filter_new(&alone, error);

    code = code ? code : extract_filter_add(alone, EXTRACT_FILTER_EVENT, name, error);
    code = code ? code : extract_view_new(&view, alone, trace, hz, error);
    extract_view_free(view);
    extract_filter_free(alone);
    return code;
}

// Adds a condition such as "thread=comms". In quotes, a name may contain commas, and begin with
// "!".
static enum extract_code add_argument(struct extract_filter *filter, char *argument,
                                      struct extract_error *error)
{
    static const struct {
        const char *key;
        enum extract_filter_word word;
    } keys[] = {{"thread", EXTRACT_FILTER_THREAD}, {"object", EXTRACT_FILTER_OBJECT},
                {"class", EXTRACT_FILTER_CLASS},   {"from", EXTRACT_FILTER_FROM},
                {"to", EXTRACT_FILTER_TO},         {"where", EXTRACT_FILTER_WHERE}};
    char *equal = strchr(argument, '=');

    for (size_t i = 0; equal && i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(keys[i].key);
        if ((size_t)(equal - argument) != length || strncmp(argument, keys[i].key, length) != 0)
            continue;
        char *value = trim(equal + 1);
        bool is_name = value[-1] == '"' || value[-1] == '\'';
        bool may_be_name =
            keys[i].word == EXTRACT_FILTER_THREAD || keys[i].word == EXTRACT_FILTER_OBJECT;
        return is_name && may_be_name ? filter_add_literal(filter, keys[i].word, value, error)
                                      : extract_filter_add(filter, keys[i].word, value, error);
    }
    return extract_error_set(
        error, EXTRACT_USAGE, argument,
        "use thread=, object=, class=, from=, to= or where=", "not a condition on events");
}

// The events of a call. Markers of losses, which a filter lets through, do not count.
struct matches {
    const struct failed_calls *failed; // only these count; NULL: all
    uint64_t count;
    uint64_t may_count; // these may have failed or not
    bool is_kept;       // `items` has them
    struct match {
        uint64_t seq;
        unsigned index; // of the event in the call
    } * items;
    size_t kept, capacity;
    unsigned index; // of the present event
    bool is_short;  // of memory
};

static bool add_matches(void *context, const struct extract_event *events, size_t count)
{
    struct matches *matches = context;

    for (size_t i = 0; i < count; i++) {
        uint32_t call =
            matches->failed ? extract_map_get(&matches->failed->seqs, events[i].seq) : CALL_FAILED;
        matches->may_count += call == CALL_MAY_HAVE_FAILED;
        if (extract_event_is_mark(&events[i]) || call != CALL_FAILED)
            continue;
        matches->count++;
        if (!matches->is_kept)
            continue;
        struct match *grown =
            extract_grow(matches->items, &matches->capacity, matches->kept, sizeof *grown);
        if (!grown) {
            matches->is_short = true;
            return false;
        }
        matches->items = grown;
        grown[matches->kept++] = (struct match){events[i].seq, matches->index};
    }
    return true;
}

// Adds the events of a name that meet all conditions.
static enum extract_code find_matches(const struct extract_assertions *assertions,
                                      const char *event, char *const *conditions, size_t count,
                                      struct matches *matches, struct extract_error *error)
{
    const struct extract_sink sink = {.events = add_matches, .context = matches};
    struct extract_filter *filter;
    struct extract_view *view = NULL;
    enum extract_code code = extract_filter_new(&filter, error);

    if (code)
        return code;
    code = extract_filter_add(filter, EXTRACT_FILTER_EVENT, event, error);
    for (size_t i = 0; i < count && !code; i++)
        code = add_argument(filter, conditions[i], error);
    code = code ? code : extract_view_new(&view, filter, assertions->trace, assertions->hz, error);
    if (!code)
        extract_view_run(view, &sink);
    extract_view_free(view);
    extract_filter_free(filter);
    if (!code && matches->is_short)
        code = extract_error_set(error, EXTRACT_NOMEM, event, NULL, "out of memory");
    return code;
}

static int compare_matches(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    return (x->seq > y->seq) - (x->seq < y->seq);
}

// Returns the name of the event that reports the failure of another one, as rtos_queue_send_failed
// does. Such a call has no other event if it fails. Returns NULL if the trace has no such event.
// The caller frees the name.
static char *name_failure(const struct extract_assertions *assertions, const char *event)
{
    struct extract_error not_found;
    size_t size = strlen(event) + sizeof "_failed";
    char *name = malloc(size);

    if (!name)
        return NULL;
    snprintf(name, size, "%s_failed", event);
    if (!check_event(assertions->trace, assertions->hz, name, &not_found))
        return name;
    free(name);
    return NULL;
}

// Counts the events of a call such as "count(queue_send failed, thread=comms)".
static enum extract_code count_events(struct extract_assertions *assertions, struct call *call,
                                      struct matches *matches, struct extract_error *error)
{
    const char *event = call->argument[0];
    char *failure = NULL;
    enum extract_code code = check_event(assertions->trace, assertions->hz, event, error);
    bool is_failed = code == EXTRACT_NOTFOUND && cut_failed(call->argument[0]);

    if (is_failed)
        code = check_event(assertions->trace, assertions->hz, event, error);
    if (is_failed && !code)
        failure = name_failure(assertions, event);
    if (is_failed && !code && !failure) {
        if (!assertions->stats->has_loads)
            return extract_error_set(error, EXTRACT_UNSUPPORTED, call->name,
                                     "use the events that report failures",
                                     "the events of this trace do not show which calls failed");
        code = failed_calls_find(&assertions->failed, assertions->trace, error);
        matches->failed = &assertions->failed;
    }
    code = code ? code
                : find_matches(assertions, failure ? failure : event, call->argument + 1,
                               call->count - 1, matches, error);
    free(failure);
    return code;
}

static enum extract_code find_order(const struct extract_assertions *assertions,
                                    const struct call *call, struct assert_figure *figure,
                                    struct extract_error *error)
{
    struct matches matches = {.is_kept = true};
    enum extract_code code = EXTRACT_OK;
    size_t right = 0; // events

    figure->lacks = "none of these events is in the trace";
    for (; matches.index < call->count && !code; matches.index++)
        code = find_matches(assertions, call->argument[matches.index], NULL, 0, &matches, error);
    if (!code && matches.kept)
        qsort(matches.items, matches.kept, sizeof *matches.items, compare_matches);
    while (right < matches.kept &&
           (!right ||
            matches.items[right].index == (matches.items[right - 1].index + 1) % call->count))
        right++;
    bool holds = right == matches.kept;
    if (!code && matches.kept)
        set_number(assertions, figure, holds, EITHER_WAY);
    if (holds)
        snprintf(figure->order, sizeof figure->order, "%zu event%s in order", right,
                 right == 1 ? "" : "s");
    else
        snprintf(figure->order, sizeof figure->order, "#%llu is out of order",
                 (unsigned long long)matches.items[right].seq);
    free(matches.items);
    return code;
}

// ---- names ----

// Returns whether a name is a figure itself: nothing comes after its arguments.
static bool has_no_members(const char *name)
{
    static const char *const names[] = {"load", "count", "never", "order"};
    size_t i = 0;

    while (i < sizeof names / sizeof *names && strcmp(name, names[i]) != 0)
        i++;
    return i < sizeof names / sizeof *names;
}

static enum extract_code find_figure(struct extract_assertions *assertions, struct call *call,
                                     struct assert_figure *figure, struct extract_error *error)
{
    bool is_never = strcmp(call->name, "never") == 0;

    if (!*call->argument[0])
        return extract_error_set(error, EXTRACT_USAGE, call->name, NULL, "argument missing");
    if (*call->member && has_no_members(call->name))
        return refuse_member(call, "leave it out", error);
    if (strcmp(call->name, "order") == 0) {
        figure->quantity = EXPRESSION_TRUTH;
        return find_order(assertions, call, figure, error);
    }
    if (is_never || strcmp(call->name, "count") == 0) {
        struct matches matches = {.count = 0};
        enum extract_code code = count_events(assertions, call, &matches, error);
        uint64_t events = matches.count;
        figure->quantity = is_never ? EXPRESSION_TRUTH : EXPRESSION_COUNT;
        figure->is_events = is_never;
        if (matches.may_count)
            figure->doubt = "the trace does not show why some waits ended";
        if (is_never)
            set_value(assertions, figure, expression_integer(!events), (double)events, ONLY_LOWER);
        else
            set_number(assertions, figure, events, ONLY_HIGHER);
        if (matches.may_count && is_never)
            figure->low = 0;
        else if (assertions->is_whole)
            figure->high += expression_integer(matches.may_count);
        return code;
    }
    if (call->count == 1 && strcmp(call->name, "span") == 0)
        return find_span(assertions, call, figure, error);
    if (!assertions->stats->has_loads)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, call->name,
                                 "use count, never, order or span",
                                 "the events of this trace do not show who ran");
    if (call->count == 1 && strcmp(call->name, "load") == 0)
        return find_load(assertions, call, figure, error);
    bool is_distribution = strcmp(call->name, "latency") == 0 ||
                           strcmp(call->name, "response") == 0 || strcmp(call->name, "period") == 0;
    if (call->count == 1 && is_distribution)
        return find_distribution(assertions, call, figure, error);
    return extract_error_set(
        error, EXTRACT_USAGE, call->name,
        "use latency(T), response(T), period(T), load(T), span(S), count(E), never(E) or "
        "order(A, B)",
        "not a figure of a trace");
}

static enum extract_code find_name(void *context, const char *name, struct expression_name *found,
                                   struct extract_error *error)
{
    struct extract_assertions *assertions = context;
    struct assert_figure *figure = &assertions->figures[assertions->count];
    struct call call;
    enum extract_code code = parse_call(name, &call, error);

    if (code)
        return code;
    if (assertions->count == MAX_FIGURE_NAMES)
        return extract_error_set(error, EXTRACT_USAGE, name, "split it into several assertions",
                                 "more than %d figures", MAX_FIGURE_NAMES);
    *figure = (struct assert_figure){.low = 0, .high = FAR};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    code = find_figure(assertions, &call, figure, error);
    if (figure->quantity == EXPRESSION_TIME && assertions->stats->clock_is_still) {
        figure->has_value = false;
        figure->lacks = "the clock stands still, or is too slow";
        figure->low = 0;
        figure->high = FAR;
    }
    *found = (struct expression_name){
        .index = (unsigned)assertions->count, .has_numbers = true, .quantity = figure->quantity};
    assertions->count += !code;
    return code;
}

static enum extract_code match_text(void *context, unsigned name, const char *text, unsigned *test,
                                    struct extract_error *error)
{
    (void)context;
    (void)name;
    (void)test;
    return extract_error_set(error, EXTRACT_USAGE, text, "use a number", "figures are numbers");
}

static void get_bounds(void *context, unsigned name, expression_number *low,
                       expression_number *high)
{
    const struct extract_assertions *assertions = context;

    *low = assertions->figures[name].low;
    *high = assertions->figures[name].high;
}

// ---- checking ----

static void put_values(const struct extract_assertions *assertions, char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < assertions->count && used < size; i++) {
        const struct assert_figure *figure = &assertions->figures[i];
        const char *comma = i ? ", " : "";
        bool is_percent = figure->quantity == EXPRESSION_PERCENT;
        const char *unit = is_percent           ? " %"
                           : !figure->is_events ? ""
                           : figure->shown == 1 ? " event"
                                                : " events";
        int length =
            !figure->has_value
                ? snprintf(text + used, size - used, "%s%s has no value", comma, figure->name)
            : *figure->order
                ? snprintf(text + used, size - used, "%s%s: %s", comma, figure->name, figure->order)
                : snprintf(text + used, size - used, "%s%s = %.*f%s%s", comma, figure->name,
                           is_percent ? 3 : 0,
                           is_percent ? percent_cut(figure->shown) : figure->shown, unit,
                           figure->is_likely ? " (likely)" : "");
        used += (size_t)length;
    }
}

// Says why an assertion cannot be decided.
static void put_why(const struct extract_assertions *assertions, char *text, size_t size)
{
    const char *and_missing = assertions->is_whole ? "" : ", from which events are missing";

    for (size_t i = 0; i < assertions->count; i++)
        if (!assertions->figures[i].has_value) {
            snprintf(text, size, "%s%s", assertions->figures[i].lacks, and_missing);
            return;
        }
    const char *why = assertions->is_whole ? "it has too many comparisons"
                                           : "events that are missing could change it";
    for (size_t i = 0; i < assertions->count && assertions->is_whole; i++)
        why = assertions->figures[i].doubt ? assertions->figures[i].doubt : why;
    snprintf(text, size, "%s", why);
}

enum extract_code extract_assertions_check(struct extract_assertions *assertions, const char *text,
                                           struct extract_assertion_result *result,
                                           struct extract_error *error)
{
    uint64_t hz = assertions->hz;
    const struct expression_unit units[] = {{"%", 1, 1, EXPRESSION_PERCENT},
                                            {"s", hz, 1, EXPRESSION_TIME},
                                            {"ms", hz, 1000, EXPRESSION_TIME},
                                            {"us", hz, 1000000, EXPRESSION_TIME},
                                            {"ns", hz, 1000000000, EXPRESSION_TIME}};
    const struct expression_binding binding = {.context = assertions,
                                               .find = find_name,
                                               .match = match_text,
                                               .units = units,
                                               .unit_count = sizeof units / sizeof *units,
                                               .unit_hint = "use ticks, or pass --hz",
                                               .has_calls = true};
    const struct expression_bounds bounds = {assertions, get_bounds};
    struct expression *expression;

    assertions->count = 0;
    enum extract_code code = expression_compile(&expression, text, "assertion", &binding, error);
    if (code)
        return code;
    enum expression_truth truth = expression_decide(expression, &bounds);
    expression_free(expression);
    result->result = truth == EXPRESSION_TRUE    ? EXTRACT_ASSERTION_HOLDS
                     : truth == EXPRESSION_FALSE ? EXTRACT_ASSERTION_FAILS
                                                 : EXTRACT_ASSERTION_UNKNOWN;
    put_values(assertions, result->values, sizeof result->values);
    result->why[0] = 0;
    if (result->result == EXTRACT_ASSERTION_UNKNOWN)
        put_why(assertions, result->why, sizeof result->why);
    return EXTRACT_OK;
}

enum extract_code extract_assertions_new(struct extract_assertions **assertions,
                                         const struct extract_trace *trace,
                                         const struct extract_spans *spans, uint64_t hz,
                                         bool is_whole, struct extract_error *error)
{
    struct extract_assertions *a = calloc(1, sizeof *a);
    struct extract_view *view = NULL;

    *assertions = a;
    if (!a)
        return extract_error_set(error, EXTRACT_NOMEM, "assertions", NULL, "out of memory");
    a->trace = trace;
    a->spans = spans;
    a->hz = hz;
    a->is_whole = is_whole;
    enum extract_code code = extract_view_new(&view, NULL, trace, hz, error);
    code = code ? code : extract_stats_new(&a->stats, view, trace, error);
    extract_view_free(view);
    if (code) {
        extract_assertions_free(a);
        *assertions = NULL;
    }
    return code;
}

void extract_assertions_free(struct extract_assertions *assertions)
{
    if (!assertions)
        return;
    extract_stats_free(assertions->stats);
    failed_calls_free(&assertions->failed);
    free(assertions);
}
