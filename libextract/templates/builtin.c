// SPDX-License-Identifier: MIT
// templates: those that come with Ringside. In: the .fmt files of this folder, compiled in as
// strings. Out: the ones of a trace format, and those of marks, beneath what is there.
#include "templates/builtin.h"
#include <string.h>

static const char threadx[] =
#include "threadx_fmt.inc"
    ;

static const char rkh[] =
#include "rkh_fmt.inc"
    ;

static const char posix[] =
#include "posix_fmt.inc"
    ;

static const char marks[] =
#include "marks_fmt.inc"
    ;

static const struct {
    const char *format; // NULL: any
    const char *name;   // in diagnostics and lists
    const char *text;
    size_t length;
} shipped[] = {
    {"threadx", "(shipped)/threadx.fmt", threadx, sizeof threadx - 1},
    {"rkh", "(shipped)/rkh.fmt", rkh, sizeof rkh - 1},
    {"posix", "(shipped)/posix.fmt", posix, sizeof posix - 1},
    {NULL, "(shipped)/marks.fmt", marks, sizeof marks - 1},
};

enum extract_code extract_templates_add_builtin(struct extract_templates *templates,
                                                const char *format, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped && !code; i++)
        if (!shipped[i].format || strcmp(shipped[i].format, format) == 0)
            code = extract_templates_add(templates, shipped[i].name, shipped[i].text,
                                         shipped[i].length, true, error);
    return code;
}

bool template_is_builtin(const struct extract_template *chosen)
{
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++)
        if (strcmp(shipped[i].name, chosen->file) == 0)
            return true;
    return false;
}
