// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands of `ringside` in GDB.
//
// A subcommand parses its arguments, opens a query (query.h), lets the library print into the
// answer, and sets the numbers of the convenience variables. The library's report is the one that
// the program `ringside` prints for the same ring. The table `commands` lists the subcommands with
// their help. command_definitions turns it into GDB commands.
#include "base/file.h"
#include "gdb_commands.h"
#include "query.h"
#include "stops/stops.h"
#include "gdb_templates.h"
#include <extract/record.h>
#include <extract/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum extract_code refuse_usage(struct call *call, const char *why)
{
    return extract_error_set(&call->answer->error, EXTRACT_USAGE, call->request->command,
                             "run `help ringside` for a list of commands", "%s", why);
}

// Returns the index of the filter that "--event" and the like name, or STATE_FILTERS.
static size_t find_filter(const char *key)
{
    size_t filter = 0;

    while (filter < STATE_FILTERS &&
           (strncmp(key, "--", 2) != 0 || strcmp(key + 2, state_filter_name(filter)) != 0))
        filter++;
    return filter;
}

// Returns where the value of the argument `key` is stored; NULL for an unknown argument. A filter
// overrides that of `ringside set`. A repeated filter adds values, but of several --last, only
// the last one applies.
static const char **find_option(struct query_options *options, const char *key)
{
    const size_t filter = find_filter(key);

    if (filter == EXTRACT_FILTER_LAST || (filter < STATE_FILTERS && !options->is_given[filter])) {
        options->is_given[filter] = true;
        return &options->filter[filter];
    }
    if (filter < STATE_FILTERS) {
        struct extract_condition *repeated = &options->repeated[options->repeated_count++];
        repeated->word = (enum extract_filter_word)filter;
        return &repeated->value;
    }
    if (strcmp(key, "-O") == 0)
        return &options->columns[options->column_count++];
    if (strcmp(key, "--span") == 0)
        return &options->spans[options->span_count++];
    return strcmp(key, "--rkh") == 0    ? &options->rkh
           : strcmp(key, "--view") == 0 ? &options->view
                                        : NULL;
}

// Parses the arguments from number `at` on. They override the options of `ringside set`.
static enum extract_code parse_options(struct call *call, size_t at, struct query_options *options)
{
    const struct request *request = call->request;

    *options = query_options_of(call->state);
    for (; at < request->argument_count; at += 2) {
        const char *key = request->arguments[at];
        const char **value = find_option(options, key);
        if (!value && at >= 2 && strcmp(request->arguments[at - 2], "--where") == 0)
            return extract_error_set(&call->answer->error, EXTRACT_USAGE, key,
                                     "put the expression in quotes: --where 'info1 == 5'",
                                     "unknown option after --where");
        if (!value || at + 1 == request->argument_count)
            return extract_error_set(&call->answer->error, EXTRACT_USAGE, key,
                                     "use --event NAME, --thread NAME, --object NAME, "
                                     "--signal NAME, --class NAME, --from TIME, --to TIME, "
                                     "--last N, --where EXPRESSION, "
                                     "--rkh SETTINGS, --view VIEW or -O SETTINGS",
                                     value ? "value missing" : "unknown option");
        *value = request->arguments[at + 1];
    }
    if (options->span_count && strcmp(request->command, "stats") != 0)
        return refuse_usage(call, "--span is only for stats and why");
    return EXTRACT_OK;
}

static enum extract_code open_query(struct call *call, const struct query_options *options,
                                    struct query *query)
{
    return query_open(query, call->state, call->request, options, call->target,
                      &call->answer->error);
}

// Appends the losses and damage to the text, sets the numbers of the convenience variables, and
// closes the query.
static enum extract_code finish_query(struct call *call, struct query *query, uint64_t events,
                                      enum extract_code code)
{
    struct answer *answer = call->answer;
    const struct extract_info *info = extract_trace_info(extract_session_trace(query->session));

    if (!extract_session_is_whole(query->session))
        answer->status = ANSWER_LOSSES;
    if (!code)
        code = extract_session_run(query->session, "damage", &answer->text, &answer->error);
    answer->is_counted = true;
    answer->events = events;
    answer->is_lost_known = info->lost_known;
    answer->lost = info->events_lost;
    query_close(query);
    return code;
}

static enum extract_code run_library_command(struct call *call, const char *command,
                                             const struct query_options *options)
{
    struct answer *answer = call->answer;
    struct query query;
    enum extract_code code = open_query(call, options, &query);

    if (code)
        return code;
    code = query_run(&query, command, &answer->text, &answer->error);
    if (code == EXTRACT_NOTFOUND)
        code = EXTRACT_USAGE; // a filter matches no name in this trace
    uint64_t events = strcmp(command, "report") == 0
                          ? extract_session_shown(query.session)
                          : extract_trace_info(extract_session_trace(query.session))->entries_valid;
    return finish_query(call, &query, events, code);
}

// Runs info, objects, schedule or stats, which the library knows by the same names.
static enum extract_code run_same_command(struct call *call)
{
    struct query_options options;
    enum extract_code code = parse_options(call, 0, &options);

    if (!code && options.column_count > (call->state->options.columns != NULL))
        return refuse_usage(call, "-O is only for dump, report, last and diff");
    return code ? code : run_library_command(call, call->request->command, &options);
}

static enum extract_code run_objects(struct call *call)
{
    const struct request *request = call->request;
    bool is_kernel = request->argument_count && strcmp(request->arguments[0], "--kernel") == 0;

    return is_kernel ? command_kernel_objects(call) : run_same_command(call);
}

// Parses the arguments of `why`, in which --worst, --at, --from, --to and --span choose what to
// explain. The thread may come before or after them. With --span, it may be omitted.
static enum extract_code parse_why(struct call *call, struct extract_why_options *why,
                                   struct query_options *options)
{
    const struct request *request = call->request;

    *why = (struct extract_why_options){.size = sizeof *why};
    for (size_t i = 0; i < request->argument_count; i++) {
        const char *key = request->arguments[i], *value = NULL;
        if (strncmp(key, "--", 2) != 0 && !why->thread) {
            why->thread = key;
            continue;
        }
        if (i + 1 < request->argument_count)
            value = request->arguments[++i];
        const char **text = strcmp(key, "--at") == 0     ? &why->at
                            : strcmp(key, "--from") == 0 ? &why->from
                            : strcmp(key, "--to") == 0   ? &why->to
                            : strcmp(key, "--span") == 0 ? &options->spans[options->span_count++]
                                                         : NULL;
        bool is_worst = strcmp(key, "--worst") == 0;
        if (text)
            *text = value;
        if (!value || (!text && !is_worst) ||
            (is_worst && (!extract_number_parse(value, &why->worst) || !why->worst)))
            return extract_error_set(&call->answer->error, EXTRACT_USAGE, key,
                                     "use --worst N, --at TIME, --from TIME, --to TIME or "
                                     "--span DEFINITION; put a name with blanks in quotes",
                                     !text && !is_worst ? "unknown option"
                                     : value            ? "not a number"
                                                        : "value missing");
    }
    if (!why->thread && !options->span_count)
        return refuse_usage(call, "name of a thread missing");
    return EXTRACT_OK;
}

static enum extract_code run_why(struct call *call)
{
    struct answer *answer = call->answer;
    struct query_options options = query_options_of(call->state);
    struct extract_why_options why;
    struct query query;
    enum extract_code code = parse_why(call, &why, &options);

    code = code ? code : open_query(call, &options, &query);
    if (code)
        return code;
    code = extract_session_why(query.session, &why, &answer->text, &answer->error);
    if (code == EXTRACT_NOTFOUND)
        code = EXTRACT_USAGE; // no such thread, or no response at that time
    return finish_query(call, &query,
                        extract_trace_info(extract_session_trace(query.session))->entries_valid,
                        code);
}

static enum extract_code run_report(struct call *call)
{
    struct query_options options;
    enum extract_code code = parse_options(call, 0, &options);

    return code ? code : run_library_command(call, "report", &options);
}

static enum extract_code run_last(struct call *call)
{
    struct query_options options;

    if (!call->request->argument_count)
        return refuse_usage(call, "number of events missing");
    enum extract_code code = parse_options(call, 1, &options);
    options.filter[EXTRACT_FILTER_LAST] = call->request->arguments[0];
    return code ? code : run_library_command(call, "report", &options);
}

static enum extract_code run_diff_query(struct call *call, const struct query_options *options,
                                        uint64_t max_events)
{
    struct answer *answer = call->answer;
    struct query query;
    uint64_t printed = 0;
    enum extract_code code = open_query(call, options, &query);

    if (code)
        return code;
    code = query_print_new_events(&query, options, max_events, &answer->text, &printed,
                                  &answer->error);
    return finish_query(call, &query, printed, code);
}

static enum extract_code run_diff(struct call *call)
{
    struct query_options options;
    enum extract_code code = parse_options(call, 0, &options);

    return code ? code : run_diff_query(call, &options, 0);
}

static enum extract_code print_new_at_stop(struct call *call)
{
    struct query_options options;
    enum extract_code code = parse_options(call, 0, &options);

    return code ? code : run_diff_query(call, &options, call->state->max_events_at_stop);
}

// Runs a command at a stop. An error is printed, but must not end the user's command that stopped
// the target.
static void try_at_stop(struct call *call, enum extract_code (*run)(struct call *call))
{
    struct answer *answer = call->answer;
    char message[sizeof answer->error];

    if (!run(call))
        return;
    extract_text_puts(&answer->text, "ringside: ");
    extract_text_puts(&answer->text, extract_error_format(&answer->error, message, sizeof message));
    extract_text_putc(&answer->text, '\n');
    answer->error.code = EXTRACT_OK;
}

static enum extract_code run_at_stop(struct call *call)
{
    if (call->state->recording)
        try_at_stop(call, recording_poll);
    if (call->state->max_events_at_stop)
        try_at_stop(call, print_new_at_stop);
    return EXTRACT_OK;
}

static enum extract_code save_ring(struct call *call, const struct query *query, const char *path)
{
    struct answer *answer = call->answer;
    struct extract_text ring;

    extract_text_init(&ring, NULL, NULL);
    enum extract_code code =
        extract_export_ring(&ring, extract_session_trace(query->session), &answer->error);
    if (!code)
        code = extract_file_replace(path, ring.data, ring.used, &answer->error);
    if (!code) {
        extract_text_printf(&answer->text, "%zu bytes saved to ", ring.used);
        extract_text_escaped(&answer->text, path);
        extract_text_putc(&answer->text, '\n');
    }
    extract_text_free(&ring);
    return code;
}

static enum extract_code run_save(struct call *call)
{
    const struct query_options options = {.rkh = call->state->options.rkh,
                                          .view = call->state->options.view};
    struct query query;

    if (call->request->argument_count != 1)
        return refuse_usage(call, "pass one file");
    char *path = state_expand_home(call->request->arguments[0]);
    if (!path)
        return EXTRACT_NOMEM;
    enum extract_code code = open_query(call, &options, &query);
    if (!code) {
        code = save_ring(call, &query, path);
        code = finish_query(call, &query,
                            extract_trace_info(extract_session_trace(query.session))->entries_valid,
                            code);
    }
    free(path);
    return code;
}

static enum extract_code flush_ring(struct call *call, const char *path)
{
    const struct options *set = &call->state->options;
    struct answer *answer = call->answer;
    struct extract_record_status status;
    struct query_options options = {.rkh = set->rkh, .view = set->view};
    struct query query;
    enum extract_code code = query_open_memory(&query, call->state, call->request, &options,
                                               call->target, &answer->error);

    if (code)
        return code;
    const struct extract_record_options record = {.size = sizeof record,
                                                  .format = set->format,
                                                  .ring_known = set->has_ring,
                                                  .ring = set->ring,
                                                  .rkh = &query.rkh,
                                                  .stream = state_stream(set)};
    code = extract_record_flush(path, query.memory, call->state->symbols, &record, &status,
                                &answer->error);
    if (!code)
        extract_record_flushed(&status, false, &answer->text);
    if (!code && status.gaps)
        answer->status = ANSWER_LOSSES;
    query_close(&query);
    return code;
}

static enum extract_code run_flush(struct call *call)
{
    if (call->request->argument_count != 1)
        return refuse_usage(call, "pass one log");
    char *path = state_expand_home(call->request->arguments[0]);
    if (!path)
        return EXTRACT_NOMEM;
    enum extract_code code = flush_ring(call, path);
    free(path);
    return code;
}

static enum extract_code run_set(struct call *call)
{
    const struct request *request = call->request;

    if (!request->argument_count) {
        state_print_options(call->state, &call->answer->text);
        return EXTRACT_OK;
    }
    if (strcmp(request->arguments[0], "templates") == 0)
        return templates_set_files(call);
    if (request->argument_count != 2)
        return refuse_usage(call, "pass an option and its value");
    if (strcmp(request->arguments[0], "dialect") == 0)
        return templates_set_dialect(call, request->arguments[1]);
    return state_set(call->state, request->arguments[0], request->arguments[1],
                     &call->answer->error);
}

// Appends the status of the trace stream. The query is discarded, so that `diff` still compares
// with the previous snapshot.
static void put_trace_status(struct call *call)
{
    const struct query_options options = {.rkh = call->state->options.rkh,
                                          .view = call->state->options.view};
    struct extract_error error;
    struct query query;
    enum extract_code code =
        query_open(&query, call->state, call->request, &options, call->target, &error);

    if (code) {
        extract_text_puts(&call->answer->text, "stream status: unknown (");
        extract_text_escaped(&call->answer->text, error.why);
        extract_text_puts(&call->answer->text, ")\n");
        return;
    }
    query_run(&query, "status", &call->answer->text, &error);
    query_discard(&query);
}

static enum extract_code run_status(struct call *call)
{
    const struct state *state = call->state;
    struct extract_text *text = &call->answer->text;

    extract_text_printf(text, "reader: version %s, %s output\n", EXTRACT_VERSION,
                        state->has_bulk ? "fast" : "slow");
    extract_text_puts(text, "symbols: ");
    extract_text_escaped(text, state->symbols ? extract_symbols_path(state->symbols) : "none read");
    extract_text_putc(text, '\n');
    if (state->has_snapshot)
        extract_text_printf(text, "last look: %llu reads, %llu bytes, %.3f ms\n",
                            (unsigned long long)state->cost.reads,
                            (unsigned long long)state->cost.bytes,
                            (double)state->cost.nanoseconds / 1e6);
    else
        extract_text_puts(text, "last look: none yet\n");
    if (state->max_events_at_stop)
        extract_text_printf(text, "auto: on, %u events\n", state->max_events_at_stop);
    else
        extract_text_puts(text, "auto: off\n");
    recording_show(state->recording, text);
    state_print_options(state, text);
    put_trace_status(call);
    return EXTRACT_OK;
}

static enum extract_code run_help(struct call *call)
{
    for (const struct command *c = commands; c[1].name; c++)
        extract_text_printf(&call->answer->text, "ringside %s%s%s -- %s\n", c->name,
                            *c->usage ? " " : "", c->usage, c->summary);
    return EXTRACT_OK;
}

#define RKH                                                                                        \
    "--rkh SETTINGS and --view history|pending override the options of `ringside set` for RKH.\n"
#define FILTERS                                                                                    \
    "Filters: --event NAME, --thread NAME, --object NAME, --signal NAME, --class NAME, --from\n"   \
    "TIME, --to TIME, --last N, --where EXPRESSION. An event must match all of them.\n" RKH
#define COLUMNS                                                                                    \
    FILTERS                                                                                        \
    "-O SETTINGS chooses columns: 2line, cpuid, exec, filename, hist, ids, pagesize=N, pid, "      \
    "prio,\n"                                                                                      \
    "removedups, seq, svc, tid, timestamp=0 to 3. Add =on or =off to those without a number.\n"

#define SPANS                                                                                      \
    "A DEFINITION is 'NAME: EVENT .. EVENT [by FIELD]', as in 'request: 4096 .. 4097 by info1'.\n"

#define WRITE_LATER                                                                                \
    "The request is written to the ring's control block. The target's recorder acts on it when\n"  \
    "the target runs and passes its next trace point.\n"

const struct command commands[] = {
    {"info", "[--rkh SETTINGS] [--view VIEW]",
     "Show the layout, clock, state and losses of the ring.", RKH, EXTRA_NOTHING, run_same_command},
    {"objects", "[--rkh SETTINGS] [--view VIEW] | --kernel",
     "List the kernel objects in the trace.",
     RKH "With --kernel, list what the control blocks of ThreadX or FreeRTOS show now.\n",
     EXTRA_NOTHING, run_objects},
    {"threads", "", "List threads as control blocks show them.",
     "State, what a thread waits for and who holds that, stack, and where it continues. Needs\n"
     "ThreadX or FreeRTOS with debug information (-g), and no trace.\n",
     EXTRA_NOTHING, command_threads},
    {"crash", "", "Explain why the target stopped.",
     "One page: what stopped it and where, in which thread, what else is unusual, all threads and\n"
     "objects, and the newest events. Each statement names its source and how sure it is. See\n"
     "ringside-crash(1).\n",
     EXTRA_REGISTERS, command_crash},
    {"core", "FILE", "Write an ELF core with all threads.",
     "Reads the variables, stacks and control blocks of the program, and the registers that\n"
     "the kernel has saved in stacks. FILE.gdb has the names of the threads. Neither may exist.\n",
     EXTRA_FPU, command_core},
    {"dump", "[FILTER...] [-O SETTINGS]", "Print the events, oldest first.", COLUMNS, EXTRA_NOTHING,
     run_report},
    {"report", "[FILTER...] [-O SETTINGS]", "Print the events, as dump does.", COLUMNS,
     EXTRA_NOTHING, run_report},
    {"last", "N [FILTER...] [-O SETTINGS]", "Print the newest N events.", COLUMNS, EXTRA_NOTHING,
     run_last},
    {"diff", "[FILTER...] [-O SETTINGS]", "Print the events since the last snapshot.", COLUMNS,
     EXTRA_NOTHING, run_diff},
    {"stats", "[FILTER...] [--span DEFINITION]...",
     "Print load, switches, latencies and stack use.", SPANS FILTERS, EXTRA_NOTHING,
     run_same_command},
    {"schedule", "[--from TIME] [--to TIME] [--thread T]",
     "Show who ran, who waited, and who woke whom.",
     "--last has an effect, too. Filters on events are refused, since only all events together\n"
     "show who ran.\n",
     EXTRA_NOTHING, run_same_command},
    {"timeline", "[FILTER...]", "Draw who ran and who waited.",
     "Draws a line for each core, interrupt and thread. A column shows the state that lasts\n"
     "longest in its time. --from, --to and --last choose the time, and --thread the threads.\n"
     "The picture leaves the last column of a line free. `set width` chooses how many columns a\n"
     "line has. If it is unlimited, a line has those of the terminal, or 80.\n",
     EXTRA_WIDTH, run_same_command},
    {"why", "[THREAD] [--worst N | --at TIME | --from TIME --to TIME] [--span DEFINITION]",
     "Explain why a thread was late.",
     "Explains the longest response of the thread: from when it became ready to its next wait for\n"
     "work. A thread that still waits is explained, too: a deadlock shows itself. With --span,\n"
     "explains the longest span, for the thread that began it or for THREAD.\n" SPANS,
     EXTRA_NOTHING, run_why},
    {"save", "FILE", "Save the ring to a dump file.",
     "The format is that of the ring: .trx, .hook, .rkr or .ptr.\n", EXTRA_NOTHING, run_save},
    {"flush", "LOG", "Append new events to a log.",
     "If the log does not exist, it is created. Otherwise its policy must be append. Events that\n"
     "were overwritten since the last flush are reported as lost.\n",
     EXTRA_NOTHING, run_flush},
    {"record", "[LOG [--policy POLICY] [--size N] [--sync] | off]",
     "Record new events to a log at every stop.",
     "`ringside record off` (or stop) ends the recording. Without arguments, show its progress.\n"
     "Each stop reports events that were lost since the previous one, and resets of the target.\n"
     "POLICY is loop (default: keep the newest events within the size), until_full or append.\n"
     "N is bytes, or a number followed by k, M or G (default 64M). --sync waits for the disk.\n"
     "The log never replaces a file. Events that the target overwrites between two stops are\n"
     "lost: to record a running target, use the program, `ringside record --openocd SERVER` or\n"
     "`ringside record --remote SERVER`. A hook-stop of your own runs first. After off, it is\n"
     "restored.\n",
     EXTRA_HOOKS, command_record},
    {"filter", "[on|off TERM...] | show | set|add|sub NAME...",
     "Show or change which events are recorded.",
     "RKH: TERM is group=NAME, event=NAME (on enables its group, too), ao=NAME, signal=NAME or\n"
     "all. POSIX trace: NAME is an event type, an id, all, system, user or none; event types in\n"
     "the filter are NOT recorded. ThreadX: NAME is a class, such as mutex, user or all, that IS\n"
     "recorded. Only on, off, set, add and sub write to the target. They print the filter before\n"
     "and after.\n",
     EXTRA_NOTHING, command_filter},
    {"start", "", "Start recording (POSIX trace, hook words).", WRITE_LATER, EXTRA_NOTHING,
     command_request},
    {"stop", "", "Stop recording; the ring keeps its events.", WRITE_LATER, EXTRA_NOTHING,
     command_request},
    {"clear", "", "Discard the recorded events (POSIX trace).", WRITE_LATER, EXTRA_NOTHING,
     command_request},
    {"auto", "on [N] | off", "Print new events at every stop.",
     "Prints at most the newest N, by default 10. A hook-stop of your own runs first. After off,\n"
     "it is restored.\n",
     EXTRA_HOOKS, command_auto},
    {"set", "[OPTION [VALUE...]]", "Set an option, or list those that are set.",
     "hz N: clock rate of the trace in ticks per second.\n"
     "format threadx|hook|rkh|posix: format of the ring; by default, it is detected.\n"
     "rkh SETTINGS: settings of an RKH stream, such as fun=4,ts_hz=1000000 or trazer.cfg=FILE.\n"
     "view history|pending: read all that an RKH ring holds, or only what was not taken out.\n"
     "roles FILE|aix: role file that says what hook words mean; see ringside-roles(5).\n"
     "elf FILE: read symbols from FILE instead of GDB's symbol file.\n"
     "ring ADDRESS: address of the ring's control header.\n"
     "stream N: number of the POSIX trace stream, from 0.\n"
     "event, thread, object, class, from, to, last: filters for every command.\n"
     "templates FILE...: add templates of your own; without FILE, use only the built-in ones. See\n"
     "ringside-templates(5).\n"
     "dialect SETTINGS: how to read templates: generic-8, octal-flags, blank-equals,\n"
     "show-unmatched, mute-subroutines.\n"
     "columns SETTINGS: as -O of dump.\n"
     "The value none unsets an option.\n",
     EXTRA_NOTHING, run_set},
    {"status", "", "Show the reader, its options and the stream.",
     "The status of the stream is shown for every format, in the terms of\n"
     "posix_trace_get_status.\n",
     EXTRA_NOTHING, run_status},
    {"help", "", "List the subcommands and their arguments.", "", EXTRA_NOTHING, run_help},
    {"at-stop", "", "", "", EXTRA_NOTHING, run_at_stop},
    {NULL, NULL, NULL, NULL, EXTRA_NOTHING, NULL},
};

// Errors of the library name the field of its options that is wrong. Puts the option there as it
// was typed: "--event", or "set event" for one of `ringside set`.
static void name_option(const struct call *call, struct extract_error *error)
{
    const struct request *request = call->request;
    bool is_set = state_is_set(call->state, error->what);
    char name[sizeof error->what + sizeof "set "];

    for (size_t i = 0; i < request->argument_count; i++) {
        if (strncmp(request->arguments[i], "--", 2) != 0 ||
            strcmp(request->arguments[i] + 2, error->what) != 0)
            continue;
        extract_error_rename(error, request->arguments[i]);
        return;
    }
    // The number of `last N`, and what `set` itself refuses, already have the name that was typed.
    if (is_set && strcmp(request->command, "set") != 0 &&
        strcmp(request->command, error->what) != 0) {
        snprintf(name, sizeof name, "set %s", error->what);
        extract_error_rename(error, name);
    }
}

void command_run(struct call *call)
{
    struct answer *answer = call->answer;
    const struct command *command = commands;

    while (command->name && strcmp(command->name, call->request->command) != 0)
        command++;
    enum extract_code code =
        command->name ? command->run(call) : refuse_usage(call, "unknown command");
    if (code && !answer->error.code)
        extract_error_set(&answer->error, code, call->request->command, NULL, "%s",
                          extract_code_name(code));
    if (answer->error.code == EXTRACT_USAGE || answer->error.code == EXTRACT_NOTFOUND)
        name_option(call, &answer->error);
    if (code)
        answer->status = code == EXTRACT_USAGE ? ANSWER_USAGE : ANSWER_UNREADABLE;
}

// Appends the body of a subcommand, each command in it after the prefix `with`. The body must pass
// the arguments one by one itself, because in GDB only the body of a command sees its arguments.
// $argc is replaced by decimal digits. Conditions are subtractions, which each language has:
// Fortran in GDB 10 has no "<".
static void put_body(const struct command *command, const char *with, struct extract_text *script)
{
    extract_text_printf(
        script,
        "%s_ringside-begin %s\n"
        "%swith input-radix 0xa -- set $_ringside_count = $argc\n"
        "while $_ringside_argument - $_ringside_count\n"
        "eval \"maint set test-settings string-noescape $arg%%d\", $_ringside_argument\n"
        "%s_ringside-add\n"
        "end\n",
        with, command->name, with, with);
    if (command->extra == EXTRA_HOOKS)
        extract_text_printf(script, "%s_ringside-add-hooks\n", with);
    if (command->extra == EXTRA_REGISTERS || command->extra == EXTRA_FPU)
        extract_text_printf(script, "%s_ringside-add-registers%s\n", with,
                            command->extra == EXTRA_FPU ? " float vector" : "");
    if (command->extra == EXTRA_WIDTH)
        extract_text_printf(script, "%s_ringside-add-width\n", with);
    extract_text_printf(script, "%s_ringside-run\n", with);
}

// Appends the definition of a subcommand. Its body runs in C, so that expressions mean the same in
// every language. If the current language will do, it is not changed: GDB would warn in a frame of
// another language, such as an assembly routine.
static void put_definition(const struct command *command, struct extract_text *script)
{
    extract_text_printf(script, "define ringside %s\n_ringside-check\nif $_shell_exitcode\n",
                        command->name);
    put_body(command, "with language c -- ", script);
    extract_text_puts(script, "else\n");
    put_body(command, "", script);
    extract_text_puts(script, "end\n_ringside-raise\nend\n");
    extract_text_printf(script, "document ringside %s\n%s\nUsage: ringside %s %s\n%send\n",
                        command->name, command->summary, command->name, command->usage,
                        command->detail);
}

void command_definitions(const struct channel *channel, struct extract_text *script)
{
    extract_text_printf(script, "set $_ringside_request = 0x%x\nset $_ringside_answer = 0x%x\n",
                        channel->request, channel->answer);
    for (const struct command *c = commands; c[1].name; c++)
        put_definition(c, script);
}
