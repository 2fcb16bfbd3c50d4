// SPDX-License-Identifier: MIT
// report: names of values for programs that write events themselves. Reports have caches of their
// own, which hold text in the form of each report; this one holds the bare names.
#include "report/report_room.h"
#include "events/events_room.h"
#include <stdlib.h>

struct extract_value_names {
    struct value_names names;
    struct extract_text scratch; // a name that is being made
    struct text_cache cache;     // names with their NUL
    uint64_t registry;           // registry that the cache was filled from
};

enum extract_code extract_value_names_new(struct extract_value_names **names,
                                          const struct extract_trace *trace,
                                          struct extract_error *error)
{
    *names = calloc(1, sizeof **names);
    if (!*names)
        return extract_error_set(error, EXTRACT_NOMEM, "names", NULL, "out of memory");
    value_names_init(&(*names)->names, trace);
    extract_text_init(&(*names)->scratch, NULL, NULL);
    return EXTRACT_OK;
}

void extract_value_names_free(struct extract_value_names *names)
{
    if (!names)
        return;
    value_names_free(&names->names);
    extract_text_free(&names->scratch);
    text_cache_clear(&names->cache);
    free(names);
}

const char *extract_value_name(struct extract_value_names *names, uint64_t seq,
                               enum extract_kind kind, uint64_t value)
{
    const uint32_t tag = TEXT_CACHE_VALUE + (uint32_t)kind;
    const struct text_cache_entry *cached;
    struct extract_text *text = &names->scratch;

    // Timeouts in ticks have no names, and each has another value, so they would fill the cache.
    if (kind == EXTRACT_KIND_WAIT && !value_name_of_wait(value))
        return "";
    uint64_t registry = extract_trace_naming(names->names.trace, seq);
    if (registry != names->registry)
        text_cache_clear(&names->cache);
    names->registry = registry;
    cached = text_cache_find(&names->cache, value, tag);
    if (cached)
        return cached->bytes;
    names->names.seq = seq;
    const char *name = value_names_find(&names->names, kind, value);
    text->used = 0;
    if (name)
        extract_text_escaped(text, name);
    extract_text_putc(text, 0);
    if (text->code || names->names.found.code)
        return NULL;
    cached = text_cache_add(&names->cache, value, tag, text->data, text->used, 0);
    return cached ? cached->bytes : NULL;
}
