// SPDX-License-Identifier: MIT
// analysis: definitions of spans: "NAME: EVENT .. EVENT [by FIELD]".
//
// Only these parts are parsed here. Names of events mean what they mean after --event, and
// expressions are those of --where. Text in quotes is never taken apart, and an event in quotes is
// a name as a whole.
#include "analysis/analysis_room.h"
#include "analysis/spans.h"
#include "base/cursor.h"
#include "events/where.h"
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 64, MAX_DEFINITION = 4096 };

static const char form_hint[] = "use 'NAME: EVENT .. EVENT [by FIELD]', as in "
                                "'request: 4096 .. 4097 by info1'";

static enum extract_code out_of_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "span", NULL, "out of memory");
}

// Adds the span and its part to the subject of an error.
static enum extract_code fail_in(const struct span_definition *definition, const char *part,
                                 enum extract_code code, struct extract_error *error)
{
    char what[sizeof error->what + MAX_NAME + 32];

    if (!error)
        return code;
    struct extract_error inner = *error;
    snprintf(what, sizeof what, "%s of span %s%s%s", part, definition->name,
             *inner.what ? ": " : "", inner.what);
    extract_error_set(error, code, what, inner.hint, "%s", inner.why);
    error->where = inner.where;
    return code;
}

// ---- text ----

// Returns the first place of any of the words outside of quotes and, if `is_flat`, of parentheses;
// NULL if there is none. The words are separated by blanks.
static char *find_word(char *text, const char *words, bool is_flat)
{
    char quote = 0;
    int depth = 0;

    for (char *at = text; *at; at++) {
        if (quote) {
            quote = *at == quote ? 0 : quote;
            continue;
        }
        if (*at == '"' || *at == '\'') {
            quote = *at;
            continue;
        }
        depth += (*at == '(') - (*at == ')');
        for (const char *word = words; *word && !(is_flat && depth); word += *word == ' ') {
            size_t length = strcspn(word, " ");
            if (strncmp(at, word, length) == 0)
                return at;
            word += length;
        }
    }
    return NULL;
}

// Cuts blanks off both ends.
static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = 0;
    return text;
}

// Returns whether a text is one word in quotes.
static bool is_quoted(const char *text)
{
    size_t length = strlen(text);

    return length > 2 && (*text == '"' || *text == '\'') &&
           strchr(text + 1, *text) == text + length - 1;
}

// Cuts "by FIELD" off the end of a text. Returns the field; NULL if there is none.
static char *cut_field(char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    size_t length = strlen(text), start = length;

    while (start && strchr(letters, text[start - 1]))
        start--;
    size_t end = start;
    while (end && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    if (start == length || end == start || end < 3 || strncmp(text + end - 2, "by", 2) != 0 ||
        (text[end - 3] != ' ' && text[end - 3] != '\t'))
        return NULL;
    text[end - 2] = 0;
    return text + start;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);

    return length && length <= MAX_NAME &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. ") ==
               length;
}

// ---- parsing ----

// Stores a copy. Returns false if memory is short.
static bool copy_text(char **copy, const char *text)
{
    size_t bytes = strlen(text) + 1;

    *copy = malloc(bytes);
    return *copy && memcpy(*copy, text, bytes);
}

// Parses NAME, or EXPRESSION, or NAME && EXPRESSION. A name contains no comparison.
static enum extract_code parse_event(const struct span_definition *definition, const char *part,
                                     struct span_event *event, char *text,
                                     struct extract_error *error)
{
    static const char comparisons[] = "== != < >";
    char *name = text, *expression = NULL, *also;

    if (is_quoted(text)) {
        text[strlen(text) - 1] = 0;
        name = text + 1;
    } else if (!find_word(text, "||", true) && (also = find_word(text, "&&", true))) {
        *also = 0;
        expression = find_word(text, comparisons, false) || *text == '(' ? text : also + 2;
        name = expression == text ? NULL : trim(text);
        *also = expression == text ? '&' : 0;
        if (name && is_quoted(name)) {
            name[strlen(name) - 1] = 0;
            name++;
        }
    } else if (find_word(text, comparisons, false) || find_word(text, "||", false) ||
               *text == '(') {
        name = NULL;
        expression = text;
    }
    if ((name && !*name) || (expression && !*trim(expression)))
        return extract_error_set(error, EXTRACT_USAGE, definition->name, form_hint,
                                 "the %s of the span names no event", part);
    if ((name && !copy_text(&event->name, name)) ||
        (expression && !copy_text(&event->expression, trim(expression))))
        return out_of_memory(error);
    enum extract_code code = expression ? where_check(event->expression, error) : EXTRACT_OK;
    return code ? fail_in(definition, part, code, error) : EXTRACT_OK;
}

// Takes a copy of the text apart.
static enum extract_code parse_text(struct span_definition *definition, char *text,
                                    struct extract_error *error)
{
    char *colon = strchr(text, ':'), *end;

    if (!colon)
        return extract_error_set(error, EXTRACT_USAGE, text, form_hint, "the span has no name");
    *colon = 0;
    if (!is_name(trim(text)))
        return extract_error_set(error, EXTRACT_USAGE, text,
                                 "use letters, digits, blanks and _ - . as the name",
                                 "not a name of a span of at most %d characters", MAX_NAME);
    if (!copy_text(&definition->name, trim(text)))
        return out_of_memory(error);
    text = colon + 1;
    end = find_word(text, "..", false);
    if (!end)
        return extract_error_set(error, EXTRACT_USAGE, definition->name, form_hint,
                                 "\"..\" is missing between the events of the span");
    *end = 0;
    end = trim(end + 2);
    char *field = cut_field(end);
    if (field && !copy_text(&definition->by, field))
        return out_of_memory(error);
    enum extract_code code =
        parse_event(definition, "begin", &definition->begin, trim(text), error);
    return code ? code : parse_event(definition, "end", &definition->end, trim(end), error);
}

enum extract_code span_definition_parse(struct span_definition *definition, const char *text,
                                        struct extract_error *error)
{
    char *copy;

    *definition = (struct span_definition){.name = NULL};
    if (strlen(text) > MAX_DEFINITION)
        return extract_error_set(error, EXTRACT_USAGE, "span", NULL,
                                 "the definition has more than %d bytes", MAX_DEFINITION);
    if (!copy_text(&copy, text))
        return out_of_memory(error);
    enum extract_code code = parse_text(definition, copy, error);
    free(copy);
    return code;
}

static void event_free(struct span_event *event)
{
    extract_view_free(event->view);
    free(event->name);
    free(event->expression);
}

void span_definition_free(struct span_definition *definition)
{
    event_free(&definition->begin);
    event_free(&definition->end);
    free(definition->label);
    free(definition->name);
    free(definition->by);
}

// ---- binding ----

static enum extract_code bind_event(const struct span_definition *definition, const char *part,
                                    struct span_event *event, const struct extract_trace *trace,
                                    uint64_t hz, struct extract_error *error)
{
    struct extract_filter *filter;
    enum extract_code code = extract_filter_new(&filter, error);

    extract_view_free(event->view);
    event->view = NULL;
    if (code)
        return code;
    if (event->name)
        code = extract_filter_add(filter, EXTRACT_FILTER_EVENT, event->name, error);
    if (!code && event->expression)
        code = extract_filter_add(filter, EXTRACT_FILTER_WHERE, event->expression, error);
    code = code ? code : extract_view_new(&event->view, filter, trace, hz, error);
    extract_filter_free(filter);
    return code ? fail_in(definition, part, code, error) : EXTRACT_OK;
}

// Finds the field by which events are paired.
static enum extract_code bind_field(struct span_definition *definition,
                                    const struct extract_trace *trace, struct extract_error *error)
{
    static const char prefix[] = "fields.";
    const struct value_known *known = value_known_find(definition->by);

    free(definition->label);
    definition->label = NULL;
    if (known && known->name == NAME_THREAD) {
        definition->field = SPAN_FIELD_THREAD;
        return EXTRACT_OK;
    }
    if (known &&
        (known->name == NAME_CORE || known->name == NAME_PRIORITY || known->name >= NAME_INFO)) {
        definition->field = SPAN_FIELD_NAME;
        definition->value_name = known->name;
        return EXTRACT_OK;
    }
    if (known)
        return extract_error_set(error, EXTRACT_USAGE, definition->by,
                                 "use a field of 'report --json', info1, data or thread",
                                 "begin and end of a span do not have this in common");
    definition->label = calloc(1, sizeof *definition->label);
    if (!definition->label)
        return out_of_memory(error);
    definition->label->text = definition->by;
    if (strncmp(definition->by, prefix, strlen(prefix)) == 0)
        definition->label->text += strlen(prefix);
    definition->field = SPAN_FIELD_LABEL;
    if (value_label_find(definition->label, trace))
        return EXTRACT_OK;
    definition->field = SPAN_FIELD_DATA;
    return strcmp(definition->by, "data") == 0 ? EXTRACT_OK
                                               : value_refuse_name(trace, definition->by, error);
}

enum extract_code span_definition_bind(struct span_definition *definition,
                                       const struct extract_trace *trace, uint64_t hz,
                                       struct extract_error *error)
{
    enum extract_code code = bind_event(definition, "begin", &definition->begin, trace, hz, error);

    if (!code)
        code = bind_event(definition, "end", &definition->end, trace, hz, error);
    if (!code && definition->by) {
        code = bind_field(definition, trace, error);
        code = code ? fail_in(definition, "field", code, error) : EXTRACT_OK;
    }
    return code;
}

// Returns the first bytes of an event's payload, as many as a number has.
static uint64_t data_key(const struct extract_event *event)
{
    struct extract_cursor cursor =
        extract_cursor_make(event->data, event->data_bytes, EXTRACT_LITTLE);
    uint64_t key = 0;

    for (unsigned i = 0; i < sizeof key && extract_cursor_left(&cursor); i++)
        key |= (uint64_t)extract_cursor_u8(&cursor) << 8 * i;
    return key;
}

bool span_definition_key(struct span_definition *definition, const struct extract_event *event,
                         uint64_t *key)
{
    switch (definition->field) {
    case SPAN_FIELD_NAME:
        return value_of_name(event, definition->value_name, key);
    case SPAN_FIELD_LABEL:
        return value_of_label(definition->label, event, key);
    case SPAN_FIELD_DATA:
        *key = data_key(event);
        return event->data_bytes != 0;
    case SPAN_FIELD_THREAD:
        *key = event->thread;
        return event->context == EXTRACT_THREAD && event->thread;
    case SPAN_FIELD_NONE:
        // Contexts other than threads get keys that are no addresses.
        *key = event->context == EXTRACT_THREAD ? event->thread
                                                : ~(uint64_t)(event->context << 8 | event->core);
        return true;
    }
    return false;
}
