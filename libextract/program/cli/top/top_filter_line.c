// SPDX-License-Identifier: MIT
// cli/top: filter lines, which users type on the screen. A line holds names of conditions with
// their values, as in "event=queue* thread='idle task'" or "--event queue*", and becomes a filter.
#include "cli/top/top.h"
#include <stdio.h>
#include <string.h>

// Copies the next token of a line and moves *line past it. The token ends before a blank and,
// unless it is 0, before `stop`; inside quotes neither ends it. Returns false at the end of the
// line.
static bool next_token(const char **line, char stop, char *token)
{
    const char *at = *line + strspn(*line, " \t");
    char quote = 0;

    *line = at;
    if (!*at)
        return false;
    for (; *at && (quote || !strchr(" \t", *at)); at++) {
        if (!quote && stop && *at == stop)
            break;
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else
            *token++ = *at;
    }
    *token = 0;
    *line = at + (stop && *at == stop);
    return true;
}

static bool find_condition(const char *name, enum extract_filter_word *word)
{
    name += strncmp(name, "--", 2) ? 0 : 2;
    for (int i = EXTRACT_FILTER_EVENT; i <= EXTRACT_FILTER_SIGNAL; i++) {
        *word = (enum extract_filter_word)i;
        if (strcmp(name, extract_filter_word_name(*word)) == 0)
            return true;
    }
    return false;
}

// Lowers *max_events, which the size of the screen may have limited, to the value of `last`.
static enum extract_code add_last(const char *value, uint64_t *max_events,
                                  struct extract_error *error)
{
    uint64_t last;

    if (!extract_number_parse(value, &last))
        return extract_error_set(error, EXTRACT_USAGE, "last", NULL, "\"%s\" is not a number",
                                 value);
    *max_events = last < *max_events ? last : *max_events;
    return EXTRACT_OK;
}

static enum extract_code add_conditions(struct extract_filter *filter, const char *line,
                                        uint64_t *max_events, struct extract_error *error)
{
    char name[TOP_LINE_BYTES], value[TOP_LINE_BYTES];
    enum extract_filter_word word;
    enum extract_code code = EXTRACT_OK;

    while (!code && next_token(&line, '=', name)) {
        if (!find_condition(name, &word))
            return extract_error_set(error, EXTRACT_USAGE, name,
                                     "use event=, thread=, object=, class=, from=, to=, last= or "
                                     "where=",
                                     "no filter has that name");
        if (!next_token(&line, 0, value))
            return extract_error_set(error, EXTRACT_USAGE, name, NULL, "the value is missing");
        code = word == EXTRACT_FILTER_LAST ? add_last(value, max_events, error)
                                           : extract_filter_add(filter, word, value, error);
    }
    return code;
}

enum extract_code top_filter_line_parse(const char *line, uint64_t max_events,
                                        struct extract_filter **filter, struct extract_error *error)
{
    char number[24];
    bool is_limited = max_events != 0;
    enum extract_code code = extract_filter_new(filter, error);

    if (!code)
        code = add_conditions(*filter, line, &max_events, error);
    if (!code && is_limited) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)max_events);
        code = extract_filter_add(*filter, EXTRACT_FILTER_LAST, number, error);
    }
    if (code) {
        extract_filter_free(*filter);
        *filter = NULL;
    }
    return code;
}

// Appends to a line. Returns false if it does not fit.
static bool append(char line[TOP_LINE_BYTES], const char *text, size_t length)
{
    size_t used = strlen(line);

    if (length >= TOP_LINE_BYTES - used)
        return false;
    memcpy(line + used, text, length);
    line[used + length] = 0;
    return true;
}

// Appends a value in quotes. A value with both kinds of quotes becomes several parts, as in
// 'a == "b" && '"c == 'd'", which next_token joins again.
static bool append_quoted(char line[TOP_LINE_BYTES], const char *value)
{
    bool fits = true;

    do {
        size_t to_double = strcspn(value, "\""), to_single = strcspn(value, "'");
        size_t length = to_double >= to_single ? to_double : to_single;
        const char *quote = to_double >= to_single ? "\"" : "'";
        fits = append(line, quote, 1) && append(line, value, length) && append(line, quote, 1);
        value += length;
    } while (fits && *value);
    return fits;
}

bool top_filter_line_write(char line[TOP_LINE_BYTES], const struct extract_session_options *options)
{
    line[0] = 0;
    for (size_t i = 0; i < options->condition_count; i++) {
        const struct extract_condition *c = &options->conditions[i];
        const char *name = extract_filter_word_name(c->word);
        if ((i && !append(line, " ", 1)) || !append(line, name, strlen(name)) ||
            !append(line, "=", 1) || !append_quoted(line, c->value))
            return false;
    }
    return true;
}
