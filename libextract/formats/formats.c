// SPDX-License-Identifier: MIT
// formats: the table of trace formats, and nothing else.
#include "formats/format.h"
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
