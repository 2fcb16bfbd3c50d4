// SPDX-License-Identifier: MIT
// templates: the templates that are built into the library. The .fmt files of this directory are
// compiled in as strings. Those of a trace format, and those of markers, are added beneath the
// templates of users.
#include "templates/program.h"
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
} builtin[] = {
    {"threadx", "(built-in)/threadx.fmt", threadx, sizeof threadx - 1},
    {"rkh", "(built-in)/rkh.fmt", rkh, sizeof rkh - 1},
    {"posix", "(built-in)/posix.fmt", posix, sizeof posix - 1},
    {NULL, "(built-in)/marks.fmt", marks, sizeof marks - 1},
};

enum extract_code extract_templates_add_builtin(struct extract_templates *templates,
                                                const char *format, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < sizeof builtin / sizeof *builtin && !code; i++)
        if (!builtin[i].format || strcmp(builtin[i].format, format) == 0)
            code = extract_templates_add(templates, builtin[i].name, builtin[i].text,
                                         builtin[i].length, true, error);
    return code;
}

bool template_is_builtin(const struct extract_template *chosen)
{
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        if (strcmp(builtin[i].name, chosen->file) == 0)
            return true;
    return false;
}
