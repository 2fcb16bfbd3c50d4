// SPDX-License-Identifier: MIT
// events: building a filter. In: conditions as users write them. Out: a list of checked items.
#include "events/filter.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const word_names[FILTER_WORDS] = {
    [EXTRACT_FILTER_EVENT] = "event",   [EXTRACT_FILTER_THREAD] = "thread",
    [EXTRACT_FILTER_OBJECT] = "object", [EXTRACT_FILTER_CLASS] = "class",
    [EXTRACT_FILTER_FROM] = "from",     [EXTRACT_FILTER_TO] = "to",
    [EXTRACT_FILTER_LAST] = "last"};

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

enum extract_class filter_class_parse(const char *string)
{
    unsigned c = 0;
    while (c < EXTRACT_CLASSES && strcasecmp(string, extract_class_name((enum extract_class)c)))
        c++;
    return (enum extract_class)c;
}

// Why an item's value makes no sense, with a way out in *hint; NULL when it does.
static const char *item_fault(const struct filter_item *item, const char **hint)
{
    struct filter_time time;
    uint64_t number;

    *hint = "write names, patterns or numbers, separated by commas";
    if (!item->value[0])
        return "it names nothing";
    if (item->negative && item->word >= EXTRACT_FILTER_FROM) {
        *hint = "leave the ! out";
        return "it cannot be turned around";
    }
    switch (item->word) {
    case EXTRACT_FILTER_CLASS:
        *hint = "the classes are APPL, SVC, KERN and INT";
        return filter_class_parse(item->value) == EXTRACT_CLASSES ? "there is no such class" : NULL;
    case EXTRACT_FILTER_FROM:
    case EXTRACT_FILTER_TO:
        *hint = "write ticks, or seconds with a unit: 1.5s 20ms 7us 9ns";
        return filter_time_parse(item->value, &time) ? NULL : "it is not a time";
    case EXTRACT_FILTER_LAST:
        *hint = "write a decimal or 0x hexadecimal number of events";
        return extract_number_parse(item->value, &number) ? NULL : "it is not a number";
    default:
        return NULL;
    }
}

static enum extract_code add_item(struct extract_filter *filter, enum extract_filter_word word,
                                  const char *value, size_t length, struct extract_error *error)
{
    const char *hint = NULL, *fault;
    bool negative = length && value[0] == '!';
    struct filter_item item = {word, negative, malloc(length + 1)};

    struct filter_item *items =
        extract_grow(filter->items, &filter->room, filter->count, sizeof *items);
    if (items)
        filter->items = items;
    if (!item.value || !items) {
        free(item.value);
        return extract_error_set(error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
    }
    memcpy(item.value, value + negative, length - negative);
    item.value[length - negative] = 0;
    filter->items[filter->count++] = item;
    fault = item_fault(&item, &hint);
    if (!fault)
        return EXTRACT_OK;
    filter->count--;
    extract_error_set(error, EXTRACT_USAGE, extract_filter_word_name(word), hint, "\"%s\": %s",
                      item.value, fault);
    free(item.value);
    return EXTRACT_USAGE;
}

// Bytes up to the next comma or the end. A backslash takes a comma's meaning away, here as in the
// patterns that the items are.
static size_t item_length(const char *value)
{
    size_t length = 0;
    while (value[length] && value[length] != ',')
        length += value[length] == '\\' && value[length + 1] ? 2 : 1;
    return length;
}

enum extract_code extract_filter_add(struct extract_filter *filter, enum extract_filter_word word,
                                     const char *value, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    if ((unsigned)word >= FILTER_WORDS)
        return extract_error_set(error, EXTRACT_USAGE, "filter", NULL, "unknown word %d", word);
    for (size_t length; !code; value += length + 1) {
        length = item_length(value);
        code = add_item(filter, word, value, length, error);
        if (!value[length])
            break;
    }
    return code;
}
