// SPDX-License-Identifier: MIT
// cli: loads the files of the subcommands of `ringside templates` as one set of templates, and
// prints the diagnostics on standard error.
#include "cli/templates/templates_commands.h"
#include <stdio.h>
#include <string.h>

bool templates_diagnose(const struct extract_templates *templates, bool quiet)
{
    const struct extract_diagnostic *list;
    size_t count = extract_templates_diagnostics(templates, &list);
    bool has_error = false;
    struct extract_text text;

    extract_text_init(&text, NULL, NULL);
    extract_templates_print_diagnostics(templates, !quiet, SIZE_MAX, &text);
    if (text.used)
        fwrite(text.data, 1, text.used, stderr);
    extract_text_free(&text);
    for (size_t i = 0; i < count; i++)
        has_error |= !list[i].warning;
    return has_error;
}

// Adds all files, even if one cannot be read, so that the errors of all are printed.
static int add_files(struct extract_templates *templates, const struct templates_options *options)
{
    struct extract_error error;
    int status = CLI_SUCCESS, stdin_count = 0;

    for (int i = 0; i < options->file_count; i++)
        if (strcmp(options->files[i], "-") == 0 && stdin_count++)
            return cli_refuse("-", "use it once", "standard input can be read only once");
        else if (extract_templates_add_file(templates, options->files[i], &error))
            status = cli_complain(&error);
    return status;
}

int templates_load(struct extract_templates **templates, const struct templates_options *options)
{
    struct extract_error error;

    *templates = NULL;
    if (extract_templates_open(templates, options->dialect, &error))
        return cli_complain(&error);
    int status = add_files(*templates, options);
    enum extract_code code = extract_templates_link(*templates, &error);
    templates_diagnose(*templates, options->quiet && !options->is_strict);
    if (code == EXTRACT_BAD) // the error is among the diagnostics
        return CLI_UNREADABLE;
    return code ? cli_complain(&error) : status;
}
