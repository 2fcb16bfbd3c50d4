// SPDX-License-Identifier: MIT
// events: reads user-defined event types from a TraceX custom event file (.trxc).
//
// Source: TraceX user guide, "Customizing user events". The file is text. Lines before "Start" are
// comments, and "End" ends the file. Each line between them is an event of 13 items, separated by
// commas: number, name, two letters, red, green and blue of the top, the same of the bottom, and
// four labels of fields. There is no way to quote a comma.
#include "base/file.h"
#include "events/events_room.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ITEMS = 13, LABELS = 4, FILE_LIMIT = 1024 * 1024, ID_LAST = 65535 };

struct extract_user_types {
    char *text;                       // contents of the file, into which names and labels point
    struct extract_event_type *types; // sorted by id
    size_t count, capacity;
};

static int compare_ids(const void *a, const void *b)
{
    const struct extract_event_type *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

const struct extract_event_type *extract_user_types_find(const struct extract_user_types *types,
                                                         uint32_t id)
{
    struct extract_event_type key = {.id = id};

    return types->count ? bsearch(&key, types->types, types->count, sizeof key, compare_ids) : NULL;
}

static char *trim_blanks(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        *--end = 0;
    return s;
}

// Splits a line at commas, in place. Returns the number of items; those beyond ITEMS are dropped.
static size_t split_items(char *line, char *items[ITEMS])
{
    size_t count = 0;

    for (char *rest = line; rest; count++) {
        char *item = strsep(&rest, ",");
        if (count < ITEMS)
            items[count] = trim_blanks(item);
    }
    return count;
}

static bool parse_id(const char *text, uint32_t *id)
{
    char *end;

    errno = 0;
    unsigned long value = strtoul(text, &end, 0);
    *id = (uint32_t)value;
    return isdigit((unsigned char)*text) && !*end && !errno && value <= ID_LAST;
}

static bool add_type(struct extract_user_types *types, uint32_t id, char *items[ITEMS])
{
    struct extract_event_type *more =
        extract_grow(types->types, &types->capacity, types->count, sizeof *more);

    if (!more)
        return false;
    types->types = more;
    struct extract_event_type *type = &types->types[types->count++];
    *type = (struct extract_event_type){.id = id, .symbol = items[1], .name = items[1]};
    for (size_t i = 0; i < LABELS; i++) {
        const char *label = items[ITEMS - LABELS + i];
        type->field[i].label = label;
        type->field[i].kind = *label ? EXTRACT_KIND_HEX : EXTRACT_KIND_NONE;
        if (*label)
            type->fields = (uint8_t)(i + 1);
    }
    return true;
}

static enum extract_code set_line_error(const char *path, size_t number, const char *why,
                                        struct extract_error *error)
{
    char what[128];

    snprintf(what, sizeof what, "%.100s:%zu", path, number);
    return extract_error_set(error, EXTRACT_BAD, what,
                             "use number,name,letters,r,g,b,r,g,b,label,label,label,label", "%s",
                             why);
}

static enum extract_code parse_line(struct extract_user_types *types, const char *path,
                                    size_t number, char *line, struct extract_error *error)
{
    char *items[ITEMS];
    uint32_t id;
    size_t count = split_items(line, items);

    if (count != ITEMS)
        return set_line_error(path, number, "not 13 items", error);
    if (!parse_id(items[0], &id))
        return set_line_error(path, number, "event number is not from 0 to 65535", error);
    if (!*items[1])
        return set_line_error(path, number, "event has no name", error);
    if (!add_type(types, id, items))
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    return EXTRACT_OK;
}

static enum extract_code parse_file(struct extract_user_types *types, const char *path,
                                    struct extract_error *error)
{
    bool started = false, ended = false;
    size_t number = 0;
    enum extract_code code = EXTRACT_OK;

    for (char *rest = types->text; rest && !ended && !code;) {
        char *line = trim_blanks(strsep(&rest, "\n"));
        number++;
        if (!started)
            started = strcasecmp(line, "Start") == 0;
        else if (strcasecmp(line, "End") == 0)
            ended = true;
        else if (*line)
            code = parse_line(types, path, number, line, error);
    }
    if (!code && !started)
        code = set_line_error(path, number, "line 'Start' is missing", error);
    return code;
}

static enum extract_code sort_types(struct extract_user_types *types, const char *path,
                                    struct extract_error *error)
{
    if (types->count)
        qsort(types->types, types->count, sizeof *types->types, compare_ids);
    for (size_t i = 1; i < types->count; i++)
        if (types->types[i].id == types->types[i - 1].id)
            return extract_error_set(error, EXTRACT_BAD, path, "remove one of the two lines",
                                     "event %u is defined twice", types->types[i].id);
    return EXTRACT_OK;
}

// Copies the contents of the file as one string.
static enum extract_code copy_text(struct extract_user_types *types, const char *path,
                                   const uint8_t *bytes, size_t length, struct extract_error *error)
{
    if (memchr(bytes, 0, length))
        return extract_error_set(error, EXTRACT_BAD, path, "save the file as plain text",
                                 "not a text file: contains a zero byte");
    types->text = malloc(length + 1);
    if (!types->text)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    memcpy(types->text, bytes, length);
    types->text[length] = 0;
    return EXTRACT_OK;
}

enum extract_code extract_user_types_open(struct extract_user_types **types, const char *path,
                                          struct extract_error *error)
{
    struct extract_user_types *t = calloc(1, sizeof *t);
    uint8_t *bytes = NULL;
    size_t length = 0;

    *types = NULL;
    if (!t)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    enum extract_code code = extract_file_read_in_time(path, FILE_LIMIT, &bytes, &length, error);
    if (!code)
        code = copy_text(t, path, bytes, length, error);
    free(bytes);
    if (!code)
        code = parse_file(t, path, error);
    if (!code)
        code = sort_types(t, path, error);
    if (code)
        extract_user_types_close(t);
    else
        *types = t;
    return code;
}

void extract_user_types_close(struct extract_user_types *types)
{
    if (!types)
        return;
    free(types->text);
    free(types->types);
    free(types);
}
