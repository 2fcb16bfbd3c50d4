// SPDX-License-Identifier: MIT
// gdb-reader: the user's own templates, by which reports say what happened.
//
// In: paths of template files and words of a dialect. Out: settings that compile, or every fault
// with its place. The files are read again at each look.
#include "templates.h"
#include "base/file.h"
#include <stdlib.h>
#include <string.h>

static const char way_out[] = "use `ringside set templates none` for the built-in templates";

// Standard input is GDB's own, and a pipe would keep GDB waiting.
enum extract_code templates_are_files(const struct template_files *files,
                                      struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    char byte;
    size_t got;

    for (size_t i = 0; i < files->count && !code; i++)
        code = strcmp(files->path[i], "-") == 0
                   ? extract_error_set(error, EXTRACT_USAGE, "-", "use a file",
                                       "GDB itself reads standard input")
                   : extract_file_peek(files->path[i], &byte, 1, &got, error);
    if (code == EXTRACT_IO)
        strcpy(error->hint, way_out);
    return code;
}

static enum extract_code compile(const struct options *options, const struct template_files *files,
                                 struct extract_templates *templates, struct extract_error *error)
{
    enum extract_code code = templates_are_files(files, error);

    for (size_t i = 0; i < files->count && !code; i++)
        code = extract_templates_add_file(templates, files->path[i], error);
    if (!code)
        code = extract_templates_add_builtin(templates,
                                             options->format ? options->format : "threadx", error);
    return code ? code : extract_templates_link(templates, error);
}

static enum extract_code try_out(struct call *call, const struct template_files *files,
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
    code = compile(&call->state->options, files, templates, error);
    extract_templates_tell(templates, true, TEMPLATES_TOLD, &call->answer->text);
    extract_templates_close(templates);
    return code;
}

// Puts a path on top. Where it lies already, it moves there.
static enum extract_code add_path(struct template_files *files, const char *path,
                                  struct extract_error *error)
{
    char *whole = state_home_path(path);
    size_t kept = 0;

    if (!whole)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->path[i], whole) == 0)
            free(files->path[i]);
        else
            files->path[kept++] = files->path[i];
    }
    files->count = kept;
    if (kept == STATE_FILES) {
        free(whole);
        return extract_error_set(error, EXTRACT_LIMIT, path, way_out, "%d files are set already",
                                 STATE_FILES);
    }
    files->path[files->count++] = whole;
    return EXTRACT_OK;
}

// What is set already and, on top of it, what the command names.
static enum extract_code join(struct call *call, struct template_files *files)
{
    const struct template_files *old = &call->state->options.templates;
    const struct request *request = call->request;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < old->count && !code; i++)
        code = add_path(files, old->path[i], &call->answer->error);
    for (size_t i = 1; i < request->arguments && !code; i++)
        code = add_path(files, request->argument[i], &call->answer->error);
    return code;
}

enum extract_code templates_set_files(struct call *call)
{
    struct options *options = &call->state->options;
    const struct request *request = call->request;
    struct template_files files = {.count = 0};

    if (request->arguments == 1 ||
        (request->arguments == 2 && strcmp(request->argument[1], "none") == 0)) {
        state_forget_files(&options->templates);
        return EXTRACT_OK;
    }
    enum extract_code code = join(call, &files);
    if (!code)
        code = try_out(call, &files, options->dialect);
    if (code) {
        state_forget_files(&files);
        return code;
    }
    state_forget_files(&options->templates);
    options->templates = files;
    return EXTRACT_OK;
}

enum extract_code templates_set_dialect(struct call *call, const char *words)
{
    struct options *options = &call->state->options;

    if (strcmp(words, "none") == 0)
        words = NULL;
    enum extract_code code = try_out(call, &options->templates, words);
    return code ? code : state_set_text(&options->dialect, words, &call->answer->error);
}
