// SPDX-License-Identifier: MIT
// gdb-reader: the user's own templates, which determine the text of events.
//
// `ringside set templates` and `set dialect` compile all templates at once. Every error is reported
// with its file, line and column, and the setting is kept only if there is none. Only the paths are
// kept: each snapshot reads the files again, so that an edited file takes effect without another
// command.
#include "gdb_templates.h"
#include "base/file.h"
#include <stdlib.h>
#include <string.h>

static const char hint[] = "use `ringside set templates none` for the built-in ones";

// Standard input belongs to GDB, and an empty pipe would block GDB.
enum extract_code templates_are_files(const struct template_files *files,
                                      struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    char byte;
    size_t got;

    for (size_t i = 0; i < files->count && !code; i++)
        code = strcmp(files->path[i], "-") == 0
                   ? extract_error_set(error, EXTRACT_USAGE, "-", "pass a file",
                                       "standard input belongs to GDB")
                   : extract_file_peek(files->path[i], &byte, 1, &got, error);
    if (code == EXTRACT_IO)
        strcpy(error->hint, hint);
    return code;
}

static enum extract_code compile_templates(const struct options *options,
                                           const struct template_files *files,
                                           struct extract_templates *templates,
                                           struct extract_error *error)
{
    enum extract_code code = templates_are_files(files, error);

    for (size_t i = 0; i < files->count && !code; i++)
        code = extract_templates_add_file(templates, files->path[i], error);
    if (!code)
        code = extract_templates_add_builtin(templates,
                                             options->format ? options->format : "threadx", error);
    return code ? code : extract_templates_link(templates, error);
}

static enum extract_code check_templates(struct call *call, const struct template_files *files,
                                         const char *dialect)
{
    struct extract_error *error = &call->answer->error;
    struct extract_templates *templates;
    unsigned bits = 0;
    enum extract_code code = dialect ? extract_dialect_parse(&bits, dialect, error) : EXTRACT_OK;

    if (!code)
        code = extract_templates_open(&templates, bits, error);
    if (code)
        return code;
    code = compile_templates(&call->state->options, files, templates, error);
    extract_templates_print_diagnostics(templates, true, TEMPLATES_MAX_MESSAGES,
                                        &call->answer->text);
    extract_templates_close(templates);
    return code;
}

// Adds a path with the highest precedence. If the list has it already, it moves.
static enum extract_code add_path(struct template_files *files, const char *path,
                                  struct extract_error *error)
{
    char *expanded = state_expand_home(path);
    size_t kept = 0;

    if (!expanded)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->path[i], expanded) == 0)
            free(files->path[i]);
        else
            files->path[kept++] = files->path[i];
    }
    files->count = kept;
    if (kept == STATE_MAX_TEMPLATE_FILES) {
        free(expanded);
        return extract_error_set(error, EXTRACT_LIMIT, path, hint, "more than %d files",
                                 STATE_MAX_TEMPLATE_FILES);
    }
    files->path[files->count++] = expanded;
    return EXTRACT_OK;
}

// Lists the files that are set and, after them, those that the command names.
static enum extract_code join_files(struct call *call, struct template_files *files)
{
    const struct template_files *old = &call->state->options.templates;
    const struct request *request = call->request;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < old->count && !code; i++)
        code = add_path(files, old->path[i], &call->answer->error);
    for (size_t i = 1; i < request->argument_count && !code; i++)
        code = add_path(files, request->arguments[i], &call->answer->error);
    return code;
}

enum extract_code templates_set_files(struct call *call)
{
    struct options *options = &call->state->options;
    const struct request *request = call->request;
    struct template_files files = {.count = 0};

    if (request->argument_count == 1 ||
        (request->argument_count == 2 && strcmp(request->arguments[1], "none") == 0)) {
        template_files_clear(&options->templates);
        return EXTRACT_OK;
    }
    enum extract_code code = join_files(call, &files);
    if (!code)
        code = check_templates(call, &files, options->dialect);
    if (code) {
        template_files_clear(&files);
        return code;
    }
    template_files_clear(&options->templates);
    options->templates = files;
    return EXTRACT_OK;
}

enum extract_code templates_set_dialect(struct call *call, const char *settings)
{
    struct options *options = &call->state->options;

    if (strcmp(settings, "none") == 0)
        settings = NULL;
    enum extract_code code = check_templates(call, &options->templates, settings);
    return code ? code : state_set_text(&options->dialect, settings, &call->answer->error);
}
