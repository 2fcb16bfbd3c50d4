// SPDX-License-Identifier: MIT
// gdb-reader: what is kept from one command to the next.
//
// Every option of `ringside set` is checked when it is set, so that an error appears there and not
// at the next snapshot. The symbols of the ELF file that GDB uses stay open until the file changes.
#define _GNU_SOURCE // asprintf
#include "state.h"
#include "stops/stops.h"
#include "base/file.h"
#include <extract/report.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const filter_names[STATE_FILTERS] = {
    [EXTRACT_FILTER_EVENT] = "event",   [EXTRACT_FILTER_THREAD] = "thread",
    [EXTRACT_FILTER_OBJECT] = "object", [EXTRACT_FILTER_CLASS] = "class",
    [EXTRACT_FILTER_FROM] = "from",     [EXTRACT_FILTER_TO] = "to",
    [EXTRACT_FILTER_LAST] = "last",     [EXTRACT_FILTER_WHERE] = "where",
    [EXTRACT_FILTER_SIGNAL] = "signal",
};

const char *state_filter_name(size_t filter)
{
    return filter_names[filter];
}

char *state_expand_home(const char *path)
{
    const char *home = getenv("HOME");
    char *expanded = NULL;

    if (strncmp(path, "~/", 2) != 0 || !home)
        return strdup(path);
    return asprintf(&expanded, "%s%s", home, path + 1) < 0 ? NULL : expanded;
}

void template_files_clear(struct template_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->path[i]);
    files->count = 0;
}

void state_free(struct state *state)
{
    recording_close_offline(state->recording);
    extract_symbols_close(state->symbols);
    free(state->options.format);
    free(state->options.elf);
    free(state->options.rkh);
    free(state->options.roles);
    free(state->options.view);
    free(state->options.dialect);
    free(state->options.columns);
    template_files_clear(&state->options.templates);
    for (size_t i = 0; i < STATE_FILTERS; i++)
        free(state->options.filter[i]);
    memset(state, 0, sizeof *state);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

enum extract_code state_open_symbols(struct state *state, const char *path,
                                     struct extract_error *error)
{
    struct stat now;

    if (*path && state->symbols && stat(path, &now) == 0 && is_same_file(&now, &state->identity) &&
        strcmp(path, extract_symbols_path(state->symbols)) == 0)
        return EXTRACT_OK;
    extract_symbols_close(state->symbols);
    state->symbols = NULL;
    if (!*path)
        return EXTRACT_OK;
    if (stat(path, &state->identity))
        return extract_error_set(error, EXTRACT_IO, path, "use `ringside set elf FILE`", "%s",
                                 strerror(errno));
    return extract_symbols_open(&state->symbols, path, error);
}

enum extract_code state_set_text(char **option, const char *value, struct extract_error *error)
{
    char *copy = value ? strdup(value) : NULL;

    if (value && !copy)
        return extract_error_set(error, EXTRACT_NOMEM, value, NULL, "out of memory");
    free(*option);
    *option = copy;
    return EXTRACT_OK;
}

static enum extract_code set_number(uint64_t *option, const char *key, const char *value,
                                    struct extract_error *error)
{
    char *end = NULL;

    errno = 0;
    unsigned long long number = value ? strtoull(value, &end, 0) : 0;
    if (value && (errno || *end || *value < '0' || *value > '9'))
        return extract_error_set(error, EXTRACT_USAGE, value, NULL, "not a number for '%s'", key);
    *option = number;
    return EXTRACT_OK;
}

static enum extract_code set_stream(struct options *options, const char *value,
                                    struct extract_error *error)
{
    uint64_t stream;
    enum extract_code code = set_number(&stream, "stream", value, error);

    if (!code && stream >= UINT32_MAX)
        code = extract_error_set(error, EXTRACT_USAGE, value,
                                 "run `ringside info` for the number of streams",
                                 "number of a stream too large");
    if (code)
        return code;
    options->has_stream = value != NULL;
    options->stream = stream;
    return EXTRACT_OK;
}

static enum extract_code set_filter(struct options *options, size_t which, const char *value,
                                    struct extract_error *error)
{
    struct extract_filter *filter;
    enum extract_code code = extract_filter_new(&filter, error);

    if (code)
        return code;
    if (value)
        code = extract_filter_add(filter, (enum extract_filter_word)which, value, error);
    extract_filter_free(filter);
    return code ? code : state_set_text(&options->filter[which], value, error);
}

static enum extract_code set_columns(struct options *options, const char *value,
                                     struct extract_error *error)
{
    struct extract_columns columns;

    extract_columns_init(&columns, false);
    enum extract_code code =
        value ? extract_columns_set(&columns, value, NULL, NULL, error) : EXTRACT_OK;
    return code ? code : state_set_text(&options->columns, value, error);
}

enum extract_code state_parse_rkh(struct extract_rkh *rkh, const char *settings, const char *view,
                                  struct extract_error *error)
{
    char *setting = NULL;
    enum extract_code code = settings ? extract_rkh_parse(rkh, settings, error) : EXTRACT_OK;

    if (code || !view)
        return code;
    if (asprintf(&setting, "view=%s", view) < 0)
        return extract_error_set(error, EXTRACT_NOMEM, view, NULL, "out of memory");
    code = extract_rkh_parse(rkh, setting, error);
    free(setting);
    return code;
}

static enum extract_code set_rkh(char **option, bool is_view, const char *value,
                                 struct extract_error *error)
{
    struct extract_rkh rkh = {.view = 0};
    enum extract_code code =
        state_parse_rkh(&rkh, is_view ? NULL : value, is_view ? value : NULL, error);

    return code ? code : state_set_text(option, value, error);
}

enum extract_code state_open_roles(struct extract_hook_roles **roles, const char *name,
                                   struct extract_error *error)
{
    char byte;
    size_t got;
    bool is_file = strcmp(name, "aix") != 0;

    *roles = NULL;
    enum extract_code code = is_file ? extract_file_peek(name, &byte, 1, &got, error) : EXTRACT_OK;
    return code ? code : extract_hook_roles_open(roles, &name, 1, error);
}

static enum extract_code set_roles(struct options *options, const char *value,
                                   struct extract_error *error)
{
    struct extract_hook_roles *roles = NULL;
    char *path = value ? state_expand_home(value) : NULL;

    if (value && !path)
        return extract_error_set(error, EXTRACT_NOMEM, value, NULL, "out of memory");
    enum extract_code code = path ? state_open_roles(&roles, path, error) : EXTRACT_OK;
    extract_hook_roles_close(roles);
    if (!code)
        code = state_set_text(&options->roles, path, error);
    free(path);
    return code;
}

enum extract_code state_set(struct state *state, const char *key, const char *value,
                            struct extract_error *error)
{
    struct options *options = &state->options;

    if (strcmp(value, "none") == 0)
        value = NULL;
    if (strcmp(key, "hz") == 0)
        return set_number(&options->hz, key, value, error);
    if (strcmp(key, "format") == 0)
        return state_set_text(&options->format, value, error);
    if (strcmp(key, "elf") == 0)
        return state_set_text(&options->elf, value, error);
    if (strcmp(key, "rkh") == 0)
        return set_rkh(&options->rkh, false, value, error);
    if (strcmp(key, "view") == 0)
        return set_rkh(&options->view, true, value, error);
    if (strcmp(key, "roles") == 0)
        return set_roles(options, value, error);
    if (strcmp(key, "ring") == 0) {
        options->has_ring = value != NULL;
        return set_number(&options->ring, key, value, error);
    }
    if (strcmp(key, "stream") == 0)
        return set_stream(options, value, error);
    if (strcmp(key, "columns") == 0)
        return set_columns(options, value, error);
    for (size_t i = 0; i < STATE_FILTERS; i++)
        if (strcmp(key, filter_names[i]) == 0)
            return set_filter(options, i, value, error);
    return extract_error_set(error, EXTRACT_USAGE, key, "run `help ringside set` for a list",
                             "unknown option");
}

bool state_is_set(const struct state *state, const char *key)
{
    bool is = state->options.has_ring && strcmp(key, "ring") == 0;

    for (size_t i = 0; i < STATE_FILTERS; i++)
        is |= state->options.filter[i] && strcmp(key, filter_names[i]) == 0;
    return is;
}

static void put_quoted(struct extract_text *text, const char *value)
{
    extract_text_puts(text, " \"");
    extract_text_escaped(text, value);
    extract_text_putc(text, '"');
}

static void put_option(struct extract_text *text, const char *key, const char *value)
{
    if (value) {
        extract_text_printf(text, "set %s", key);
        put_quoted(text, value);
        extract_text_putc(text, '\n');
    }
}

static void put_template_files(struct extract_text *text, const struct template_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        extract_text_puts(text, i ? "" : "set templates");
        put_quoted(text, files->path[i]);
    }
    extract_text_puts(text, files->count ? "\n" : "");
}

void state_print_options(const struct state *state, struct extract_text *text)
{
    const struct options *options = &state->options;

    if (options->hz)
        extract_text_printf(text, "set hz %llu\n", (unsigned long long)options->hz);
    if (options->has_ring)
        extract_text_printf(text, "set ring 0x%llx\n", (unsigned long long)options->ring);
    if (options->has_stream)
        extract_text_printf(text, "set stream %llu\n", (unsigned long long)options->stream);
    put_option(text, "format", options->format);
    put_option(text, "elf", options->elf);
    put_option(text, "rkh", options->rkh);
    put_option(text, "view", options->view);
    put_option(text, "roles", options->roles);
    for (size_t i = 0; i < STATE_FILTERS; i++)
        put_option(text, filter_names[i], options->filter[i]);
    put_template_files(text, &options->templates);
    put_option(text, "dialect", options->dialect);
    put_option(text, "columns", options->columns);
}
