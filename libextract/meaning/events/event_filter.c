// SPDX-License-Identifier: MIT
// events: parses conditions as users write them (`--event`, `--thread`, `--from` and so on) into a
// filter.
//
// This file turns the text after an option into items, splits it at commas, and checks what can be
// checked without a trace: classes, times and numbers. Names are only stored. They are looked up
// when the filter is compiled for a trace (filter_view.c).
#include "events/event_filter.h"
#include "events/where.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TIME_DIGITS = 18 }; // digits of a time with a unit: multiplied by hz, it fits in 128 bits

static const char *const word_names[FILTER_WORDS] = {
    [EXTRACT_FILTER_EVENT] = "event",   [EXTRACT_FILTER_THREAD] = "thread",
    [EXTRACT_FILTER_OBJECT] = "object", [EXTRACT_FILTER_CLASS] = "class",
    [EXTRACT_FILTER_FROM] = "from",     [EXTRACT_FILTER_TO] = "to",
    [EXTRACT_FILTER_LAST] = "last",     [EXTRACT_FILTER_WHERE] = "where",
    [EXTRACT_FILTER_SIGNAL] = "signal", [EXTRACT_FILTER_CORE] = "core"};

const char *extract_filter_word_name(enum extract_filter_word word)
{
    return (unsigned)word < FILTER_WORDS ? word_names[word] : "unknown";
}

enum extract_code extract_filter_new(struct extract_filter **filter, struct extract_error *error)
{
    *filter = calloc(1, sizeof **filter);
    if (!*filter)
        return extract_error_set(error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
    return EXTRACT_OK;
}

void extract_filter_free(struct extract_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        free(filter->items[i].value);
    free(filter->items);
    free(filter);
}

bool extract_filter_is_empty(const struct extract_filter *filter)
{
    return !filter || filter->count == 0;
}

// ---- classes and times ----

enum extract_class filter_class_parse(const char *string)
{
    unsigned c = 0;
    while (c < EXTRACT_CLASSES &&
           strcasecmp(string, extract_class_name((enum extract_class)c)) != 0)
        c++;
    return (enum extract_class)c;
}

bool filter_time_parse(const char *string, struct filter_time *time)
{
    static const struct {
        const char *name;
        uint64_t per_second;
    } units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};
    unsigned digits = 0;
    bool has_point = false;
    const char *at = string;

    *time = (struct filter_time){0, 0, 0};
    if (extract_number_parse(string, &time->digits))
        return true;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        time->digits = time->digits * 10 + (unsigned)(*at - '0');
        time->decimals += has_point;
        if (++digits > TIME_DIGITS)
            return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(at, units[i].name) == 0)
            time->per_second = units[i].per_second;
    return digits && time->per_second;
}

uint64_t filter_time_ticks(const struct filter_time *time, uint64_t hz, bool up)
{
    unsigned __int128 ticks = time->digits, divisor = time->per_second;

    if (!time->per_second)
        return time->digits;
    for (unsigned i = 0; i < time->decimals; i++)
        divisor *= 10;
    ticks = (ticks * hz + (up ? divisor - 1 : 0)) / divisor;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

// ---- items ----

// Returns why an item's value is not valid, and sets *hint; NULL if it is valid.
static const char *item_fault(const struct filter_item *item, const char **hint)
{
    struct filter_time time;
    uint64_t number;

    *hint = "use names, patterns or numbers, separated by commas";
    if (!item->value[0])
        return "empty name";
    if (item->negative && item->word >= EXTRACT_FILTER_FROM &&
        item->word != EXTRACT_FILTER_SIGNAL) {
        *hint = "remove the !";
        return "cannot be negated";
    }
    switch (item->word) {
    case EXTRACT_FILTER_CLASS:
        *hint = "use APPL, SVC, KERN or INT";
        return filter_class_parse(item->value) == EXTRACT_CLASSES ? "unknown class" : NULL;
    case EXTRACT_FILTER_FROM:
    case EXTRACT_FILTER_TO:
        *hint = "use ticks, or a time with a unit, such as 1.5s, 20ms, 7us or 9ns";
        return filter_time_parse(item->value, &time) ? NULL : "not a time";
    case EXTRACT_FILTER_CORE:
        *hint = "use numbers of cores, separated by commas";
        return extract_number_parse(item->value, &number) ? NULL : "not a number";
    case EXTRACT_FILTER_LAST:
        *hint = "use a decimal or 0x-prefixed number of events";
        return extract_number_parse(item->value, &number) ? NULL : "not a number";
    default:
        return NULL;
    }
}

static enum extract_code add_item(struct extract_filter *filter, enum extract_filter_word word,
                                  bool negative, const char *value, size_t length,
                                  struct extract_error *error)
{
    const char *hint = NULL, *fault;
    struct filter_item item = {word, negative, malloc(length + 1)};
    struct filter_item *items =
        extract_grow(filter->items, &filter->capacity, filter->count, sizeof *items);

    if (items)
        filter->items = items;
    if (!item.value || !items) {
        free(item.value);
        return extract_error_set(error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
    }
    memcpy(item.value, value, length);
    item.value[length] = 0;
    fault = item_fault(&item, &hint);
    if (fault) {
        extract_error_set(error, EXTRACT_USAGE, extract_filter_word_name(word), hint, "\"%s\": %s",
                          item.value, fault);
        free(item.value);
        return EXTRACT_USAGE;
    }
    filter->items[filter->count++] = item;
    return EXTRACT_OK;
}

enum extract_code filter_add_literal(struct extract_filter *filter, enum extract_filter_word word,
                                     const char *value, struct extract_error *error)
{
    return add_item(filter, word, false, value, strlen(value), error);
}

enum extract_code extract_filter_add(struct extract_filter *filter, enum extract_filter_word word,
                                     const char *value, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if ((unsigned)word >= FILTER_WORDS)
        return extract_error_set(error, EXTRACT_USAGE, "filter", NULL, "unknown word %d", word);
    if (word == EXTRACT_FILTER_WHERE) {
        code = where_check(value, error);
        return code ? code : filter_add_literal(filter, word, value, error);
    }
    for (size_t length; !code; value += length + 1) {
        // An item ends at a comma. As in the patterns that items are, a backslash escapes a comma.
        for (length = 0; value[length] && value[length] != ',';)
            length += value[length] == '\\' && value[length + 1] ? 2 : 1;
        bool negative = length && value[0] == '!';
        code = add_item(filter, word, negative, value + negative, length - negative, error);
        if (!value[length])
            break;
    }
    return code;
}
