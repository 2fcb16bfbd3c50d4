// SPDX-License-Identifier: MIT
// gdb-reader: one look at the ring: from target memory to a trace.
//
// In: the target's memory, what `ringside set` has set, GDB's symbol file. Out: an open session of
// the library, whose queries print what the program `ringside` prints.
#include "query.h"
#include "base/now.h"
#include "templates.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The file in `info files`: Symbols from "PATH".
static void symbol_file(const char *files, char *path, size_t size)
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

// Where the program's entry point lies now, as `info files` tells.
void query_move(struct extract_symbols *symbols, const struct request *request)
{
    static const char head[] = "\n\tEntry point: 0x";
    const char *start = strstr(request->files, head);
    uint64_t entry = start ? strtoull(start + sizeof head - 1, NULL, 16) : 0;

    if (symbols && entry)
        extract_symbols_move(symbols, entry);
}

// Symbols of a program that may be loaded anywhere mean nothing while GDB, which has not loaded the
// program itself, does not know where that was.
static enum extract_code check_place(const struct extract_symbols *symbols,
                                     const struct request *request, struct extract_error *error)
{
    uint64_t entry;

    if (!symbols || strstr(request->files, "\n\tEntry point: 0x") ||
        !extract_symbols_is_position_independent(symbols) || extract_symbols_entry(symbols, &entry))
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                             "run GDB with the program itself: `gdb PROGRAM CORE`",
                             "position-independent, and GDB does not know where it was loaded");
}

size_t choice_conditions(const struct query_options *choice,
                         struct extract_condition conditions[CHOICE_CONDITIONS])
{
    size_t count = 0;

    for (size_t i = 0; i < STATE_WORDS; i++)
        if (choice->word[i])
            conditions[count++] =
                (struct extract_condition){(enum extract_filter_word)i, choice->word[i]};
    for (size_t i = 0; i < choice->more_count; i++)
        conditions[count++] = choice->more[i];
    return count;
}

struct query_options choice_of(const struct state *state)
{
    const struct options *options = &state->options;
    struct query_options choice = {.rkh = options->rkh, .view = options->view};

    for (size_t i = 0; i < STATE_WORDS; i++)
        choice.word[i] = options->word[i];
    if (options->columns)
        choice.columns[choice.column_count++] = options->columns;
    return choice;
}

enum { SECONDS_OF_TEMPLATES = 10 };

// Asked while templates run. Few run for so long that GDB has to be given the chance to see a
// Ctrl-C, which costs a read.
static bool go_on(void *context)
{
    struct query *query = context;
    const uint64_t now = extract_now();

    if (!query->started)
        query->started = query->asked = now;
    query->too_long = now - query->started > SECONDS_OF_TEMPLATES * EXTRACT_SECOND;
    if (now - query->asked < EXTRACT_SECOND / 4)
        return !query->too_long;
    query->asked = now;
    return !query->too_long && target_goes_on(query->target);
}

static enum extract_code set_columns(struct query *query, const struct query_options *choice,
                                     struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    extract_columns_init(&query->columns, false);
    for (size_t i = 0; i < choice->column_count && !code; i++)
        code = extract_columns_set(&query->columns, choice->columns[i], NULL, NULL, error);
    return code;
}

enum extract_code query_trace(struct query *query, const struct query_options *choice,
                              struct extract_error *error)
{
    const struct options *options = &query->state->options;
    struct extract_condition conditions[CHOICE_CONDITIONS];
    struct extract_session_options wanted = {
        .size = sizeof wanted,
        .format = options->format,
        .ring_known = options->ring_known,
        .ring = options->ring,
        .stream = state_stream(options),
        .hz = options->hz,
        .rkh = &query->rkh,
        .conditions = conditions,
        .condition_count = choice_conditions(choice, conditions),
        .template_files = (const char *const *)options->templates.path,
        .template_count = options->templates.count,
        .columns = &query->columns,
        .go_on = go_on,
        .context = query,
    };
    enum extract_code code = set_columns(query, choice, error);
    if (!code && options->dialect)
        code = extract_dialect_parse(&wanted.dialect, options->dialect, error);
    if (code)
        return code;
    return extract_session_open(&query->session, query->memory, query->state->symbols, &wanted,
                                error);
}

static enum extract_byte_order byte_order(const struct state *state)
{
    return state->symbols ? extract_symbols_byte_order(state->symbols) : EXTRACT_ORDER_UNKNOWN;
}

enum extract_code query_begin(struct query *query, struct state *state,
                              const struct request *request, const struct query_options *choice,
                              struct target *target, struct extract_error *error)
{
    char path[4096];

    *query = (struct query){.state = state, .target = target};
    if (!target_is_there(target))
        return extract_error_set(error, EXTRACT_UNREADABLE, "no target memory",
                                 "use `target remote`, or `core-file` for a core",
                                 "GDB has no board, process or core");
    symbol_file(request->files, path, sizeof path);
    enum extract_code code = state_rkh(&query->rkh, choice->rkh, choice->view, error);
    if (!code)
        code = state_symbols(state, state->options.elf ? state->options.elf : path, error);
    if (code)
        return code;
    query_move(state->symbols, request);
    code = check_place(state->symbols, request, error);
    if (code)
        return code;
    return target_memory(target, byte_order(state), &query->memory, error);
}

enum extract_code query_open(struct query *query, struct state *state,
                             const struct request *request, const struct query_options *choice,
                             struct target *target, struct extract_error *error)
{
    enum extract_code code = query_begin(query, state, request, choice, target, error);

    if (code)
        return code;
    code = query_trace(query, choice, error);
    if (code)
        extract_memory_close(query->memory);
    return code;
}

static void remember_newest(const struct query *query, struct place *place)
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
        const struct extract_event *last = &event[count - 1];
        *place = (struct place){.known = true,
                                .ring = ring,
                                .stamp = last->raw_stamp,
                                .thread = last->thread,
                                .id = last->id,
                                .slot = last->slot};
    }
}

void query_close(struct query *query)
{
    struct state *state = query->state;

    if (query->session)
        remember_newest(query, &state->place);
    state->looked = true;
    state->cost = extract_memory_cost(query->memory);
    query_forget(query);
}

void query_forget(struct query *query)
{
    extract_session_close(query->session);
    extract_memory_close(query->memory);
}

static enum extract_code end_run(struct query *query, enum extract_code code,
                                 struct extract_text *text, struct extract_error *error)
{
    if (code == EXTRACT_BAD)
        extract_templates_tell(extract_session_templates(query->session), true, TEMPLATES_TOLD,
                               text);
    if (query->too_long)
        return extract_error_set(error, EXTRACT_LIMIT, "templates",
                                 "check the templates for an endless LOOP, or use fewer "
                                 "events: `ringside last 20`",
                                 "stopped after %d seconds", SECONDS_OF_TEMPLATES);
    return code;
}

enum extract_code query_run(struct query *query, const char *command, struct extract_text *text,
                            struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (strcmp(command, "report") == 0)
        code = templates_are_files(&query->state->options.templates, error);
    return code ? code
                : end_run(query, extract_session_run(query->session, command, text, error), text,
                          error);
}

enum extract_code query_report(struct query *query, const struct extract_view *view,
                               struct extract_text *text, struct extract_error *error)
{
    enum extract_code code = templates_are_files(&query->state->options.templates, error);

    return code ? code
                : end_run(query, extract_session_report(query->session, view, text, error), text,
                          error);
}
