// SPDX-License-Identifier: MIT
// gdb-reader: one command's access to the trace ring.
//
// A query opens a session of the library. It uses the ELF file that GDB uses, GDB's access to
// target memory, and the options of `ringside set`. The session's commands print what the program
// `ringside` prints, so that GDB and the command line show the same text.
#include "query.h"
#include "base/now.h"
#include "gdb_templates.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEMPLATE_SECONDS = 10 };

static const char entry_point[] = "\n\tEntry point: 0x";

void query_relocate(struct extract_symbols *symbols, const struct request *request)
{
    const char *start = strstr(request->files, entry_point);
    uint64_t entry = start ? strtoull(start + strlen(entry_point), NULL, 16) : 0;

    if (symbols && entry)
        extract_symbols_move(symbols, entry);
}

// Fails if the program is position-independent and GDB does not know its load address, because it
// has not loaded the program itself. All addresses of symbols would be wrong.
static enum extract_code check_load_address(const struct extract_symbols *symbols,
                                            const struct request *request,
                                            struct extract_error *error)
{
    uint64_t entry;

    if (!symbols || strstr(request->files, entry_point) ||
        !extract_symbols_is_position_independent(symbols) || extract_symbols_entry(symbols, &entry))
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                             "start GDB with the program itself: `gdb PROGRAM CORE`",
                             "position-independent, and GDB does not know where it was loaded");
}

size_t query_conditions(const struct query_options *options,
                        struct extract_condition conditions[QUERY_MAX_CONDITIONS])
{
    size_t count = 0;

    for (size_t i = 0; i < STATE_FILTERS; i++)
        if (options->filter[i])
            conditions[count++] =
                (struct extract_condition){(enum extract_filter_word)i, options->filter[i]};
    for (size_t i = 0; i < options->repeated_count; i++)
        conditions[count++] = options->repeated[i];
    return count;
}

struct query_options query_options_of(const struct state *state)
{
    const struct options *set = &state->options;
    struct query_options options = {.rkh = set->rkh, .view = set->view};

    for (size_t i = 0; i < STATE_FILTERS; i++)
        options.filter[i] = set->filter[i];
    if (set->columns)
        options.columns[options.column_count++] = set->columns;
    return options;
}

// Returns whether templates may continue to run. GDB notices a Ctrl-C only while it reads memory,
// so one byte is read every quarter of a second.
static bool templates_may_continue(void *context)
{
    struct query *query = context;
    const uint64_t now_ns = extract_now();

    if (!query->format_start_ns)
        query->format_start_ns = query->last_gdb_check_ns = now_ns;
    query->templates_timed_out =
        now_ns - query->format_start_ns > MAX_TEMPLATE_SECONDS * EXTRACT_SECOND;
    if (now_ns - query->last_gdb_check_ns < EXTRACT_SECOND / 4)
        return !query->templates_timed_out;
    query->last_gdb_check_ns = now_ns;
    return !query->templates_timed_out && target_may_continue(query->target);
}

// Returns how many columns a picture has; 0: the default. It leaves the last column of a line free:
// after a full line, GDB's TUI shows an empty one, because curses has already begun the next line.
static unsigned picture_width(const struct query *query)
{
    const unsigned width = query->width ? query->width : extract_report_terminal_width();

    return width > 1 ? width - 1 : width;
}

enum extract_code query_open_session(struct query *query, const struct query_options *options,
                                     struct extract_error *error)
{
    const struct options *set = &query->state->options;
    struct extract_condition conditions[QUERY_MAX_CONDITIONS];
    struct extract_session_options session = {
        .size = sizeof session,
        .format = set->format,
        .ring_known = set->has_ring,
        .ring = set->ring,
        .stream = state_stream(set),
        .hz = set->hz,
        .rkh = &query->rkh,
        .conditions = conditions,
        .condition_count = query_conditions(options, conditions),
        .template_files = (const char *const *)set->templates.path,
        .template_count = set->templates.count,
        .columns = &query->columns,
        .spans = options->spans,
        .span_count = options->span_count,
        .no_header = options->no_header,
        .width = picture_width(query),
        .ascii = extract_report_needs_ascii(),
        .may_continue = templates_may_continue,
        .context = query,
    };
    enum extract_code code = EXTRACT_OK;

    extract_columns_init(&query->columns, false);
    for (size_t i = 0; i < options->column_count && !code; i++)
        code = extract_columns_set(&query->columns, options->columns[i], NULL, NULL, error);
    if (!code && set->dialect)
        code = extract_dialect_parse(&session.dialect, set->dialect, error);
    if (!code && set->roles)
        code = state_open_roles(&query->roles, set->roles, error);
    session.hook_roles = query->roles;
    if (code)
        return code;
    code = extract_session_open(&query->session, query->memory, query->state->symbols, &session,
                                error);
    if (code != EXTRACT_NOTFOUND || set->has_ring ||
        !query_find_process(query->files, query->memory, &session.ring))
        return code;
    session.ring_known = true;
    session.format = session.format ? session.format : "posix";
    *error = (struct extract_error){.code = EXTRACT_OK};
    return extract_session_open(&query->session, query->memory, query->state->symbols, &session,
                                error);
}

// Copies the path of the symbol file out of GDB's `info files`, or an empty string if there is
// none. The line reads: Symbols from "PATH".
static void copy_symbol_path(const char *files, char *path, size_t size)
{
    static const char head[] = "Symbols from \"";
    const char *start = strstr(files, head);
    const char *end = start ? strstr(start, "\".\n") : NULL;

    path[0] = 0;
    if (!end)
        return;
    start += strlen(head);
    snprintf(path, size, "%.*s", (int)(end - start), start);
}

enum extract_code query_open_memory(struct query *query, struct state *state,
                                    const struct request *request,
                                    const struct query_options *options, struct target *target,
                                    struct extract_error *error)
{
    char path[4096];

    *query = (struct query){
        .state = state, .target = target, .files = request->files, .width = request->width};
    if (!target_exists(target))
        return extract_error_set(error, EXTRACT_UNREADABLE, "no target memory",
                                 "connect with `target remote`, or load a core with `core-file`",
                                 "GDB has no board, process or core");
    copy_symbol_path(request->files, path, sizeof path);
    enum extract_code code = state_parse_rkh(&query->rkh, options->rkh, options->view, error);
    if (!code)
        code = state_open_symbols(state, state->options.elf ? state->options.elf : path, error);
    if (code)
        return code;
    query_relocate(state->symbols, request);
    code = check_load_address(state->symbols, request, error);
    if (code)
        return code;
    const enum extract_byte_order order =
        state->symbols ? extract_symbols_byte_order(state->symbols) : EXTRACT_ORDER_UNKNOWN;
    return target_open_memory(target, order, &query->memory, error);
}

enum extract_code query_open(struct query *query, struct state *state,
                             const struct request *request, const struct query_options *options,
                             struct target *target, struct extract_error *error)
{
    enum extract_code code = query_open_memory(query, state, request, options, target, error);

    if (code)
        return code;
    code = query_open_session(query, options, error);
    if (code)
        query_discard(query);
    return code;
}

// Remembers the newest event. Markers of the recorder do not count, because they have no slot.
static void remember_newest_event(const struct query *query, struct last_event *last)
{
    const struct extract_trace *trace = extract_session_trace(query->session);
    const uint64_t ring = extract_trace_snapshot(trace)->ring.address;
    struct extract_reader reader;
    struct extract_event event[64];
    size_t count;

    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, event, 64)) > 0) {
        while (count && extract_event_is_mark(&event[count - 1]))
            count--;
        if (!count)
            continue;
        const struct extract_event *newest = &event[count - 1];
        *last = (struct last_event){.is_known = true,
                                    .ring = ring,
                                    .stamp = newest->raw_stamp,
                                    .thread = newest->thread,
                                    .id = newest->id,
                                    .slot = newest->slot};
    }
}

void query_close(struct query *query)
{
    struct state *state = query->state;

    if (query->session)
        remember_newest_event(query, &state->last_event);
    state->has_snapshot = true;
    state->cost = extract_memory_cost(query->memory);
    query_discard(query);
}

void query_discard(struct query *query)
{
    extract_session_close(query->session);
    extract_hook_roles_close(query->roles);
    extract_memory_close(query->memory);
}

// Appends the errors in templates to the text. If the templates were stopped, that is the error.
static enum extract_code report_templates(struct query *query, enum extract_code code,
                                          struct extract_text *text, struct extract_error *error)
{
    if (code == EXTRACT_BAD)
        extract_templates_print_diagnostics(extract_session_templates(query->session), true,
                                            TEMPLATES_MAX_MESSAGES, text);
    if (query->templates_timed_out)
        return extract_error_set(error, EXTRACT_LIMIT, "templates",
                                 "check them for a LOOP that hardly ends, or print fewer events: "
                                 "`ringside last 20`",
                                 "stopped after %d seconds", MAX_TEMPLATE_SECONDS);
    return code;
}

enum extract_code query_run(struct query *query, const char *command, struct extract_text *text,
                            struct extract_error *error)
{
    if (strcmp(command, "report") == 0) {
        enum extract_code code = templates_are_files(&query->state->options.templates, error);
        if (code)
            return code;
    }
    return report_templates(query, extract_session_run(query->session, command, text, error), text,
                            error);
}

enum extract_code query_report(struct query *query, const struct extract_view *view,
                               struct extract_text *text, struct extract_error *error)
{
    enum extract_code code = templates_are_files(&query->state->options.templates, error);

    return code ? code
                : report_templates(query, extract_session_report(query->session, view, text, error),
                                   text, error);
}
