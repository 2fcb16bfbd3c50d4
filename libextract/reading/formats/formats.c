// SPDX-License-Identifier: MIT
// formats: the table of trace formats, and nothing else.
#include "formats/format.h"
#include <stdio.h>
#include <string.h>

static const struct extract_format *const formats[] = {
    &extract_format_threadx, &extract_format_hook, &extract_format_rkh, &extract_format_posix};

const struct extract_format *extract_format_at(size_t i)
{
    return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

const struct extract_format *extract_format_by_name(const char *name)
{
    const struct extract_format *format;

    for (size_t i = 0; (format = extract_format_at(i)); i++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

enum extract_code extract_format_find(const struct extract_format **format, const char *name,
                                      struct extract_error *error)
{
    enum { COUNT = sizeof formats / sizeof *formats };
    char hint[sizeof error->hint] = "";
    size_t used = 0;

    *format = extract_format_by_name(name);
    if (*format)
        return EXTRACT_OK;
    for (size_t i = 0; i < COUNT && used < sizeof hint; i++)
        used += (size_t)snprintf(hint + used, sizeof hint - used, "%s%s",
                                 !i               ? "use "
                                 : i + 1 == COUNT ? " or "
                                                  : ", ",
                                 formats[i]->name);
    return extract_error_set(error, EXTRACT_USAGE, name, hint, "unknown trace format");
}
