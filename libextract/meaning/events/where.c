// SPDX-License-Identifier: MIT
// events: binds expressions to the events of a trace.
//
// A name of an expression becomes an index: one of enum value_name, or NAMES plus the number of a
// label. A comparison of a name with a text becomes a test:
//
//   event, thread, object, class   a view with that one condition, so that the text means the same
//                                  as after --event, --thread, --object and --class
//   context                        a set of contexts
//   label of a field               the same objects as --object, or the words that reports print
//
// `dt` and `blocked_for` depend on earlier events. Their values are computed for every event of a
// walk, before the expressions run.
#include "events/where.h"
#include "base/expression.h"
#include "events/values.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NO_OBJECT[] = "none"; // as reports print the address 0

// Before this prefix, the name of a label that every trace has as a name of its own.
static const char field_prefix[] = "fields.";

// A text that a name is compared with.
struct test {
    unsigned name;             // as in the expression
    char *text;                // of a label: a pattern for words
    struct extract_view *view; // NULL: the text names no objects
    unsigned contexts;         // bit 1 << context
};

// When a thread was suspended. It counts only if `walk` is that of the history.
struct suspension {
    uint64_t ticks;
    uint64_t walk;
    bool is_of_lock; // the thread may record once more that it waits
};

struct where {
    const struct extract_trace *trace;
    struct expression **expressions;
    size_t count;
    struct value_label *labels;
    size_t label_count, label_capacity;
    struct test *tests;
    size_t test_count, test_capacity;
    struct extract_error unmatched;    // code OK: every text matches something
    struct extract_text scratch;       // the text of a field
    const struct extract_event *event; // that the expressions run on
    // The history:
    bool has_dt, has_blocked_for;   // expressions use these names
    struct extract_map threads;     // address of a thread: its suspension
    struct suspension *suspensions; // of all threads of the trace
    size_t suspension_count, suspension_capacity;
    uint64_t walk;     // changes whenever all suspensions become invalid
    bool has_previous; // previous_ticks is valid
    uint64_t previous_ticks;
    bool is_dt_known, is_blocked_for_known; // for the current event
    expression_number dt, blocked_for;
};

static enum extract_code out_of_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "where", NULL, "out of memory");
}

// Returns a copy to be freed by the caller; NULL if memory ran out.
static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);

    return copy ? memcpy(copy, text, bytes) : NULL;
}

// ---- names ----

static enum extract_code add_label(struct where *where, const char *name, unsigned *index,
                                   struct extract_error *error)
{
    struct value_label label = {.text = NULL};
    size_t i = 0;

    while (i < where->label_count && strcmp(where->labels[i].text, name) != 0)
        i++;
    *index = NAMES + (unsigned)i;
    if (i < where->label_count)
        return EXTRACT_OK;
    label.text = copy_text(name);
    if (!label.text)
        return out_of_memory(error);
    if (!value_label_find(&label, where->trace)) {
        free(label.text);
        return value_refuse_name(where->trace, name, error);
    }
    struct value_label *labels =
        extract_grow(where->labels, &where->label_capacity, where->label_count, sizeof *labels);
    if (!labels) {
        free(label.text);
        return out_of_memory(error);
    }
    where->labels = labels;
    labels[where->label_count++] = label;
    return EXTRACT_OK;
}

static enum extract_code find_name(void *context, const char *text, struct expression_name *found,
                                   struct extract_error *error)
{
    struct where *where = context;
    const struct value_known *known = value_known_find(text);
    size_t prefix = strlen(field_prefix);

    if (known) {
        *found = (struct expression_name){.index = known->name,
                                          .has_numbers = known->has_numbers,
                                          .has_texts = !known->has_numbers};
        where->has_dt |= known->name == NAME_DT;
        where->has_blocked_for |= known->name == NAME_BLOCKED_FOR;
        return EXTRACT_OK;
    }
    if (strncmp(text, field_prefix, prefix) == 0)
        text += prefix;
    enum extract_code code = add_label(where, text, &found->index, error);
    if (code)
        return code;
    const struct value_label *label = &where->labels[found->index - NAMES];
    found->has_numbers = true;
    found->has_texts = label->has_objects || label->has_words;
    return EXTRACT_OK;
}

// ---- tests ----

// Compiles a view with one condition. A text that matches nothing is noted; the view then lets
// nothing through.
static enum extract_code make_view(struct where *where, enum extract_filter_word word,
                                   const char *text, struct extract_view **view,
                                   struct extract_error *error)
{
    struct extract_filter *filter;
    struct extract_error unmatched;
    enum extract_code code = extract_filter_new(&filter, error);

    if (!code)
        code = filter_add_literal(filter, word, text, error);
    if (!code)
        code = extract_view_new(view, filter, where->trace, 0, &unmatched);
    extract_filter_free(filter);
    if (code == EXTRACT_NOTFOUND) {
        where->unmatched = where->unmatched.code ? where->unmatched : unmatched;
        return EXTRACT_OK;
    }
    if (code && !error->code)
        *error = unmatched;
    return code;
}

static enum extract_code match_contexts(const char *text, unsigned *contexts,
                                        struct extract_error *error)
{
    static const struct {
        const char *word;
        enum extract_context context;
    } words[] = {{"thread", EXTRACT_THREAD}, {"isr", EXTRACT_ISR},
                 {"interrupt", EXTRACT_ISR}, {"init", EXTRACT_INIT},
                 {"start-up", EXTRACT_INIT}, {"recorder", EXTRACT_RECORDER}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (filter_matches(text, words[i].word, 0))
            *contexts |= 1u << words[i].context;
    if (*contexts)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, NULL, "use thread, isr, init or recorder",
                             "\"%.40s\": unknown context", text);
}

// Prepares the test of a label. If words may match the text, it need not name an object.
static enum extract_code match_label(struct where *where, struct test *test, const char *text,
                                     struct extract_error *error)
{
    const struct value_label *label = &where->labels[test->name - NAMES];
    const struct extract_error before = where->unmatched;

    test->text = copy_text(text);
    if (!test->text)
        return out_of_memory(error);
    if (!label->has_objects)
        return EXTRACT_OK;
    enum extract_code code = make_view(where, EXTRACT_FILTER_OBJECT, text, &test->view, error);
    if (label->has_words || filter_matches(text, NO_OBJECT, 0))
        where->unmatched = before;
    return code;
}

static enum extract_code match_text(void *context, unsigned name, const char *text, unsigned *index,
                                    struct extract_error *error)
{
    static const enum extract_filter_word words[NAMES] = {[NAME_EVENT] = EXTRACT_FILTER_EVENT,
                                                          [NAME_THREAD] = EXTRACT_FILTER_THREAD,
                                                          [NAME_OBJECT] = EXTRACT_FILTER_OBJECT,
                                                          [NAME_CLASS] = EXTRACT_FILTER_CLASS};
    struct where *where = context;
    struct test *tests =
        extract_grow(where->tests, &where->test_capacity, where->test_count, sizeof *tests);

    if (!tests)
        return out_of_memory(error);
    where->tests = tests;
    struct test *test = &tests[where->test_count];
    *test = (struct test){.name = name};
    *index = (unsigned)where->test_count++;
    if (name == NAME_CONTEXT)
        return match_contexts(text, &test->contexts, error);
    if (name >= NAMES)
        return match_label(where, test, text, error);
    return make_view(where, words[name], text, &test->view, error);
}

// ---- values ----

static bool get_number(void *context, unsigned name, expression_number *number)
{
    struct where *where = context;
    const struct extract_event *event = where->event;
    uint64_t value = 0;

    if (name == NAME_DT) {
        *number = where->dt;
        return where->is_dt_known;
    }
    if (name == NAME_BLOCKED_FOR) {
        *number = where->blocked_for;
        return where->is_blocked_for_known;
    }
    bool is_known = name < NAMES ? value_of_name(event, name, &value)
                                 : value_of_label(&where->labels[name - NAMES], event, &value);
    *number = expression_integer(value);
    return is_known;
}

static bool is_no_object(enum extract_kind kind, uint64_t value)
{
    return !value && (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE);
}

// Returns the word that reports print for a value; NULL if they print a number.
static const char *find_word(struct where *where, enum extract_kind kind, uint64_t value)
{
    struct extract_text *text = &where->scratch;

    text->used = 0;
    if (is_no_object(kind, value))
        return NO_OBJECT;
    if (kind == EXTRACT_KIND_IPV4 && value <= UINT32_MAX)
        extract_text_printf(text, "%u.%u.%u.%u", (unsigned)(value >> 24),
                            (unsigned)(value >> 16 & 255), (unsigned)(value >> 8 & 255),
                            (unsigned)(value & 255));
    else if (kind != EXTRACT_KIND_TEXT || !extract_trace_text(where->trace, value, text))
        return extract_kind_word(kind, value);
    extract_text_putc(text, 0);
    return text->code ? NULL : text->data;
}

static enum expression_answer answer(bool matches)
{
    return matches ? EXPRESSION_MATCHES : EXPRESSION_DIFFERS;
}

static enum expression_answer test_label(struct where *where, const struct test *test)
{
    const struct extract_event *event = where->event;
    unsigned field = value_label_locate(&where->labels[test->name - NAMES], event);
    uint64_t key;

    if (!field)
        return EXPRESSION_NO_VALUE;
    enum extract_kind kind = event->type->field[field - 1].kind;
    uint64_t value = event->field[field - 1];
    if (!is_no_object(kind, value) && extract_value_key(kind, value, &key))
        return answer(test->view && filter_names_address(test->view, key, event->seq));
    const char *word = find_word(where, kind, value);
    return answer(word && filter_matches(test->text, word, 0));
}

// Returns whether an event has a field that may point to an object.
static bool has_object(const struct extract_event *event)
{
    uint64_t key;

    for (unsigned i = 0; i < event->fields && i < event->type->fields; i++)
        if (extract_value_key(event->type->field[i].kind, event->field[i], &key))
            return true;
    return false;
}

static enum expression_answer run_test(void *context, unsigned index)
{
    struct where *where = context;
    const struct extract_event *event = where->event;
    const struct test *test = &where->tests[index];

    if (test->name >= NAMES)
        return test_label(where, test);
    if (test->name == NAME_CONTEXT)
        return answer(test->contexts >> event->context & 1);
    if (test->name == NAME_THREAD && event->context == EXTRACT_RECORDER)
        return EXPRESSION_NO_VALUE;
    if (test->name == NAME_OBJECT && !has_object(event))
        return EXPRESSION_NO_VALUE;
    return answer(filter_passes(test->view, event));
}

// ---- history ----

bool where_has_history(const struct where *where)
{
    return where->has_dt || where->has_blocked_for;
}

void where_begin(struct where *where, const struct extract_reader *reader)
{
    where->walk++;
    where->has_previous = reader->started && !reader->untimed;
    where->previous_ticks = reader->ticks;
}

// Computes the ticks since the previous event. Markers have no time of their own: they have no
// value, and the event after a marker counts from the event before it. If times started again in
// between, the event has no value.
static void note_time(struct where *where, const struct extract_event *event)
{
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);

    where->is_dt_known = false;
    if (extract_event_is_mark(event)) {
        where->has_previous &= extract_id_is_loss(event->id) || !extract_event_is_break(event);
        return;
    }
    if (where->has_previous && is_timed) {
        where->dt = expression_integer(event->ticks) - expression_integer(where->previous_ticks);
        where->is_dt_known = true;
    }
    where->has_previous = is_timed;
    where->previous_ticks = event->ticks;
}

static struct suspension *find_suspension(const struct where *where, uint64_t thread)
{
    uint32_t found = extract_map_get(&where->threads, thread);

    return found ? &where->suspensions[found - 1] : NULL;
}

// Returns the thread that an event of the scheduler is about: if no field states it, the one that
// recorded it. An interrupt does not wait for a lock. 0: none.
static uint64_t subject(const struct extract_event *event, const struct extract_role_fields *role)
{
    bool is_own = role->role == EXTRACT_ROLE_SUSPEND || event->context == EXTRACT_THREAD;

    return role->thread ? extract_role_field(event, role->thread) : is_own ? event->thread : 0;
}

static bool is_suspension(const struct extract_role_fields *role)
{
    return role->role == EXTRACT_ROLE_SUSPEND || role->role == EXTRACT_ROLE_LOCK_WAIT;
}

// Computes how long the thread that an event makes ready was blocked, and notes suspensions.
static void note_schedule(struct where *where, const struct extract_event *event)
{
    const struct extract_role_fields *role;
    struct extract_event scratch;
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);

    where->is_blocked_for_known = false;
    if (event->flags & EXTRACT_FLAG_GAP || extract_event_is_break(event) || !is_timed)
        where->walk++; // a resumption may be missing
    if (extract_event_is_mark(event))
        return;
    role = extract_trace_role(where->trace, &event, &scratch);
    struct suspension *suspension =
        role->thread || is_suspension(role) ? find_suspension(where, subject(event, role)) : NULL;
    bool is_move = role->state && extract_role_field(event, role->state) == EXTRACT_WAIT_PRIORITY;
    if (!suspension || is_move)
        return;
    switch (role->role) {
    case EXTRACT_ROLE_SUSPEND:
    case EXTRACT_ROLE_LOCK_WAIT:
        if (!suspension->is_of_lock || suspension->walk != where->walk)
            *suspension = (struct suspension){event->ticks, is_timed ? where->walk : 0,
                                              role->role == EXTRACT_ROLE_LOCK_WAIT};
        break;
    case EXTRACT_ROLE_RESUME:
        where->is_blocked_for_known =
            suspension->walk == where->walk && is_timed && event->ticks >= suspension->ticks;
        where->blocked_for = expression_integer(event->ticks - suspension->ticks);
        suspension->walk = 0;
        break;
    case EXTRACT_ROLE_CREATE:
    case EXTRACT_ROLE_RESET:
    case EXTRACT_ROLE_DELETE:
    case EXTRACT_ROLE_TERMINATE:
        suspension->walk = 0;
        break;
    default:
        break;
    }
}

void where_note(struct where *where, const struct extract_event *event)
{
    if (where->has_dt)
        note_time(where, event);
    if (where->has_blocked_for)
        note_schedule(where, event);
}

static bool add_suspension(struct where *where, uint64_t thread)
{
    if (!thread)
        return true;
    uint32_t *index = extract_map_at(&where->threads, thread);
    struct suspension *suspensions = extract_grow(where->suspensions, &where->suspension_capacity,
                                                  where->suspension_count, sizeof *suspensions);

    if (!index || !suspensions)
        return false;
    where->suspensions = suspensions;
    if (*index)
        return true;
    suspensions[where->suspension_count] = (struct suspension){0};
    *index = (uint32_t)++where->suspension_count;
    return true;
}

// Makes room for all threads that the trace suspends, so that no walk can run out of memory.
static enum extract_code make_suspensions(struct where *where, struct extract_error *error)
{
    enum { BATCH = 128 };
    struct extract_event events[BATCH], scratch;
    struct extract_reader reader;
    size_t count;

    if (!extract_map_init(&where->threads, 0))
        return out_of_memory(error);
    if (!where->trace->has_roles)
        return EXTRACT_OK;
    extract_reader_init(&reader, where->trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++) {
            const struct extract_event *event = &events[i];
            const struct extract_role_fields *role =
                extract_trace_role(where->trace, &event, &scratch);
            if (is_suspension(role) && !extract_event_is_mark(event) &&
                !add_suspension(where, subject(event, role)))
                return out_of_memory(error);
        }
    return EXTRACT_OK;
}

// ---- the condition ----

enum { UNITS = 4 };

// Makes the units of times. `hz` 0: the rate is not known.
static void make_units(struct expression_unit units[UNITS], uint64_t hz)
{
    static const struct expression_unit per_second[UNITS] = {
        {"s", 0, 1, EXPRESSION_TIME},
        {"ms", 0, 1000, EXPRESSION_TIME},
        {"us", 0, 1000000, EXPRESSION_TIME},
        {"ns", 0, 1000000000, EXPRESSION_TIME}};

    for (size_t i = 0; i < UNITS; i++) {
        units[i] = per_second[i];
        units[i].multiply = hz;
    }
}

static const char unit_hint[] = "set the clock's rate with hz, or use ticks";

static enum extract_code find_any_name(void *context, const char *name,
                                       struct expression_name *found, struct extract_error *error)
{
    const struct value_known *known = value_known_find(name);

    (void)context;
    (void)error;
    *found = (struct expression_name){.has_numbers = true, .has_texts = true};
    if (known)
        *found = (struct expression_name){.has_numbers = known->has_numbers,
                                          .has_texts = !known->has_numbers};
    return EXTRACT_OK;
}

static enum extract_code match_any_text(void *context, unsigned name, const char *text,
                                        unsigned *test, struct extract_error *error)
{
    (void)context;
    (void)name;
    (void)text;
    (void)error;
    *test = 0;
    return EXTRACT_OK;
}

enum extract_code where_check(const char *text, struct extract_error *error)
{
    struct expression_unit units[UNITS];
    struct expression *expression;

    make_units(units, 1);
    const struct expression_binding binding = {.find = find_any_name,
                                               .match = match_any_text,
                                               .units = units,
                                               .unit_count = UNITS,
                                               .unit_hint = unit_hint};
    enum extract_code code = expression_compile(&expression, text, "where", &binding, error);
    if (!code)
        expression_free(expression);
    return code;
}

static enum extract_code compile_expressions(struct where *where,
                                             const struct extract_filter *filter, uint64_t hz,
                                             struct extract_error *error)
{
    struct expression_unit units[UNITS];
    const struct expression_binding binding = {.context = where,
                                               .find = find_name,
                                               .match = match_text,
                                               .units = units,
                                               .unit_count = UNITS,
                                               .unit_hint = unit_hint};
    enum extract_code code = EXTRACT_OK;

    make_units(units, hz);
    for (size_t i = 0; i < filter->count && !code; i++) {
        const struct filter_item *item = &filter->items[i];
        if (item->word != EXTRACT_FILTER_WHERE)
            continue;
        code = expression_compile(&where->expressions[where->count], item->value, "where", &binding,
                                  error);
        where->count += !code;
    }
    return code;
}

enum extract_code where_new(struct where **where, const struct extract_filter *filter,
                            const struct extract_trace *trace, uint64_t hz,
                            struct extract_error *error)
{
    struct where *w = calloc(1, sizeof *w);

    *where = w;
    if (!w)
        return out_of_memory(error);
    w->trace = trace;
    extract_text_init(&w->scratch, NULL, NULL);
    w->expressions = calloc(filter->count, sizeof *w->expressions);
    enum extract_code code =
        w->expressions ? compile_expressions(w, filter, hz, error) : out_of_memory(error);
    if (!code && w->has_blocked_for)
        code = make_suspensions(w, error);
    return code;
}

void where_free(struct where *where)
{
    if (!where)
        return;
    for (size_t i = 0; i < where->count; i++)
        expression_free(where->expressions[i]);
    for (size_t i = 0; i < where->label_count; i++)
        free(where->labels[i].text);
    for (size_t i = 0; i < where->test_count; i++) {
        free(where->tests[i].text);
        extract_view_free(where->tests[i].view);
    }
    free(where->expressions);
    free(where->labels);
    free(where->tests);
    free(where->suspensions);
    extract_map_free(&where->threads);
    extract_text_free(&where->scratch);
    free(where);
}

const struct extract_error *where_unmatched(const struct where *where)
{
    return where->unmatched.code ? &where->unmatched : NULL;
}

bool where_passes(struct where *where, const struct extract_event *event)
{
    const struct expression_source source = {where, get_number, run_test};

    where->event = event;
    for (size_t i = 0; i < where->count; i++)
        if (!expression_is_true(where->expressions[i], &source))
            return false;
    return true;
}
