// SPDX-License-Identifier: MIT
// gdb-reader: one look at the ring: from target memory to a trace.
//
// In: the target's memory, what `ringside set` has set, GDB's symbol file. Out: an open session of
// the library, whose verbs print what the program `ringside` prints.
#include "look.h"
#include <stdio.h>
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

size_t choice_conditions(const struct choice *choice,
                         struct extract_condition conditions[STATE_WORDS])
{
    size_t count = 0;

    for (size_t i = 0; i < STATE_WORDS; i++)
        if (choice->word[i])
            conditions[count++] =
                (struct extract_condition){(enum extract_filter_word)i, choice->word[i]};
    return count;
}

static enum extract_code open_session(struct look *look, const struct choice *choice,
                                      struct extract_error *error)
{
    const struct options *options = &look->state->options;
    struct extract_condition conditions[STATE_WORDS];
    const struct extract_session_options wanted = {
        .size = sizeof wanted,
        .format = options->format,
        .ring_known = options->ring_known,
        .ring = options->ring,
        .hz = options->hz,
        .conditions = conditions,
        .condition_count = choice_conditions(choice, conditions),
    };
    return extract_session_open(&look->session, look->memory, look->state->symbols, &wanted, error);
}

static enum extract_byte_order byte_order(const struct state *state)
{
    return state->symbols ? extract_symbols_byte_order(state->symbols) : EXTRACT_ORDER_UNKNOWN;
}

enum extract_code look_open(struct look *look, struct state *state, const struct request *request,
                            const struct choice *choice, struct target *target,
                            struct extract_error *error)
{
    char path[4096];

    *look = (struct look){.state = state};
    if (!target_is_there(target))
        return extract_error_set(error, EXTRACT_UNREADABLE, "no target memory",
                                 "connect with `target remote`, or load a core with `core-file`",
                                 "GDB has no board, process or core");
    symbol_file(request->files, path, sizeof path);
    enum extract_code code =
        state_symbols(state, state->options.elf ? state->options.elf : path, error);
    if (!code)
        code = target_memory(target, byte_order(state), &look->memory, error);
    if (!code)
        code = open_session(look, choice, error);
    if (code)
        extract_memory_close(look->memory);
    return code;
}

static void remember_newest(const struct look *look, struct place *place)
{
    const struct extract_trace *trace = extract_session_trace(look->session);
    const uint64_t ring = extract_trace_snapshot(trace)->ring.address;
    struct extract_reader reader;
    struct extract_event event[64];
    size_t count;

    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, event, 64)) > 0) {
        const struct extract_event *last = &event[count - 1];
        *place = (struct place){.known = true,
                                .ring = ring,
                                .stamp = last->raw_stamp,
                                .thread = last->thread,
                                .id = last->id,
                                .slot = last->slot};
    }
}

void look_close(struct look *look)
{
    struct state *state = look->state;

    remember_newest(look, &state->place);
    state->looked = true;
    state->cost = extract_memory_cost(look->memory);
    extract_session_close(look->session);
    extract_memory_close(look->memory);
}
