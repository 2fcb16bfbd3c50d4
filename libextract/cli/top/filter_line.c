// SPDX-License-Identifier: MIT
// cli/top: filter lines. In: a line as a user types it: words of the filter language with their
// values, "event=queue* thread='idle task'" or "--event queue*". Out: a filter.
#include "cli/top/top.h"
#include <stdio.h>
#include <string.h>

// Takes the next piece off a line: up to a blank, and up to `stop` when that is not 0. Quotes keep
// both in. False at the end of the line.
static bool next_piece(const char **line, char stop, char *piece)
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
            *piece++ = *at;
    }
    *piece = 0;
    *line = at + (stop && *at == stop);
    return true;
}

static bool find_word(const char *name, enum extract_filter_word *word)
{
    name += strncmp(name, "--", 2) ? 0 : 2;
    for (int i = EXTRACT_FILTER_EVENT; i <= EXTRACT_FILTER_LAST; i++) {
        *word = (enum extract_filter_word)i;
        if (strcmp(name, extract_filter_word_name(*word)) == 0)
            return true;
    }
    return false;
}

// `last` bounds the list of events, which the room on the screen bounds, too: the smaller holds.
static enum extract_code add_last(const char *value, uint64_t *most, struct extract_error *error)
{
    uint64_t last;

    if (!extract_number_parse(value, &last))
        return extract_error_set(error, EXTRACT_USAGE, "last", NULL, "\"%s\" is not a number",
                                 value);
    *most = last < *most ? last : *most;
    return EXTRACT_OK;
}

static enum extract_code add_words(struct extract_filter *filter, const char *line, uint64_t *most,
                                   struct extract_error *error)
{
    char name[TOP_LINE], value[TOP_LINE];
    enum extract_filter_word word;
    enum extract_code code = EXTRACT_OK;

    while (!code && next_piece(&line, '=', name)) {
        if (!find_word(name, &word))
            return extract_error_set(error, EXTRACT_USAGE, name,
                                     "use event=, thread=, object=, class=, from=, to= or last=",
                                     "no filter has that name");
        if (!next_piece(&line, 0, value))
            return extract_error_set(error, EXTRACT_USAGE, name, NULL, "its value is missing");
        code = word == EXTRACT_FILTER_LAST ? add_last(value, most, error)
                                           : extract_filter_add(filter, word, value, error);
    }
    return code;
}

enum extract_code top_filter_line_filter(const char *line, uint64_t most,
                                         struct extract_filter **filter,
                                         struct extract_error *error)
{
    char number[24];
    bool bounded = most != 0;
    enum extract_code code = extract_filter_new(filter, error);

    if (!code)
        code = add_words(*filter, line, &most, error);
    if (!code && bounded) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)most);
        code = extract_filter_add(*filter, EXTRACT_FILTER_LAST, number, error);
    }
    if (code) {
        extract_filter_free(*filter);
        *filter = NULL;
    }
    return code;
}

bool top_filter_line_write(char line[TOP_LINE], const struct extract_session_options *options)
{
    size_t used = 0;

    line[0] = 0;
    for (size_t i = 0; i < options->condition_count; i++) {
        const struct extract_condition *c = &options->conditions[i];
        const char *quote = strchr(c->value, '"') ? "'" : "\"";
        if (strchr(c->value, '"') && strchr(c->value, '\''))
            return false;
        int length = snprintf(line + used, TOP_LINE - used, "%s%s=%s%s%s", used ? " " : "",
                              extract_filter_word_name(c->word), quote, c->value, quote);
        if (length < 0 || (size_t)length >= TOP_LINE - used)
            return false;
        used += (size_t)length;
    }
    return true;
}
