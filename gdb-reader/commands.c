// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands of `ringside` in GDB.
//
// In: a request. Out: its answer. What is printed comes from the library's report room, so that it
// is the same text as the program `ringside` prints for the same ring.
#include "base/file.h"
#include "commands.h"
#include "query.h"
#include "stops/record.h"
#include "templates.h"
#include <extract/record.h>
#include <extract/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum extract_code usage(struct call *call, const char *why)
{
    return extract_error_set(&call->answer->error, EXTRACT_USAGE, call->request->command,
                             "run `help ringside`", "%s", why);
}

// "--event" …: which word of the filter; STATE_WORDS: none.
static size_t filter_word(const char *key)
{
    size_t word = 0;

    while (word < STATE_WORDS &&
           (strncmp(key, "--", 2) != 0 || strcmp(key + 2, state_word_name(word)) != 0))
        word++;
    return word;
}

// The first takes the place of what is set, others widen it; of --last the newest holds.
static const char **place_of_word(struct query_options *choice, size_t word)
{
    struct extract_condition *more = &choice->more[choice->more_count];

    if (word == EXTRACT_FILTER_LAST || !choice->told[word]) {
        choice->told[word] = true;
        return &choice->word[word];
    }
    choice->more_count++;
    more->word = (enum extract_filter_word)word;
    return &more->value;
}

// Where a value of an argument goes: "--event NAME" and the like, settings of RKH, words of -O on
// top of the columns that are set. NULL: there is no such argument.
static const char **place_of(struct query_options *choice, const char *key)
{
    const size_t word = filter_word(key);

    if (word < STATE_WORDS)
        return place_of_word(choice, word);
    if (strcmp(key, "-O") == 0)
        return &choice->columns[choice->column_count++];
    return strcmp(key, "--rkh") == 0    ? &choice->rkh
           : strcmp(key, "--view") == 0 ? &choice->view
                                        : NULL;
}

// What `ringside set` has set, and in its place what the command's arguments from `at` on say.
static enum extract_code read_choice(struct call *call, size_t at, struct query_options *choice)
{
    const struct request *request = call->request;

    *choice = choice_of(call->state);
    for (; at < request->arguments; at += 2) {
        const char *key = request->argument[at];
        const char **place = place_of(choice, key);
        if (!place || at + 1 == request->arguments)
            return extract_error_set(&call->answer->error, EXTRACT_USAGE, key,
                                     "use --event NAME, --thread NAME, --object NAME, "
                                     "--class NAME, --from TIME, --to TIME, --last N, --rkh WORDS, "
                                     "--view VIEW or -O WORDS",
                                     place ? "its value is missing" : "unknown argument");
        *place = request->argument[at + 1];
    }
    return EXTRACT_OK;
}

static enum extract_code open_look(struct call *call, const struct query_options *choice,
                                   struct query *query)
{
    return query_open(query, call->state, call->request, choice, call->target,
                      &call->answer->error);
}

// Ends a look: its losses go to the text, its numbers to the convenience variables.
static enum extract_code end_look(struct call *call, struct query *query, uint64_t events,
                                  enum extract_code code)
{
    struct answer *answer = call->answer;
    const struct extract_info *info = extract_trace_info(extract_session_trace(query->session));

    if (!extract_session_is_whole(query->session))
        answer->status = ANSWER_LOSSES;
    if (!code)
        code = extract_session_run(query->session, "damage", &answer->text, &answer->error);
    answer->counted = true;
    answer->events = events;
    answer->lost_known = info->lost_known;
    answer->lost = info->events_lost;
    query_close(query);
    return code;
}

static enum extract_code run_query(struct call *call, const char *command,
                                   const struct query_options *choice)
{
    struct answer *answer = call->answer;
    struct query query;
    enum extract_code code = open_look(call, choice, &query);

    if (code)
        return code;
    code = query_run(&query, command, &answer->text, &answer->error);
    if (code == EXTRACT_NOTFOUND)
        code = EXTRACT_USAGE; // a filter names nothing of this trace
    uint64_t events = strcmp(command, "report") == 0
                          ? extract_session_shown(query.session)
                          : extract_trace_info(extract_session_trace(query.session))->entries_valid;
    return end_look(call, &query, events, code);
}

// info, objects and stats are queries of the library, too.
static enum extract_code run_same(struct call *call)
{
    struct query_options choice;
    enum extract_code code = read_choice(call, 0, &choice);

    if (!code && choice.column_count > (call->state->options.columns != NULL))
        return usage(call, "-O goes with dump, report, last and diff");
    return code ? code : run_query(call, call->request->command, &choice);
}

static enum extract_code run_report(struct call *call)
{
    struct query_options choice;
    enum extract_code code = read_choice(call, 0, &choice);

    return code ? code : run_query(call, "report", &choice);
}

static enum extract_code run_last(struct call *call)
{
    struct query_options choice;

    if (!call->request->arguments)
        return usage(call, "no number of events is given");
    enum extract_code code = read_choice(call, 1, &choice);
    choice.word[EXTRACT_FILTER_LAST] = call->request->argument[0];
    return code ? code : run_query(call, "report", &choice);
}

static enum extract_code run_news(struct call *call, const struct query_options *choice,
                                  uint64_t newest)
{
    struct answer *answer = call->answer;
    struct query query;
    uint64_t shown = 0;
    enum extract_code code = open_look(call, choice, &query);

    if (code)
        return code;
    code = query_news(&query, choice, newest, &answer->text, &shown, &answer->error);
    return end_look(call, &query, shown, code);
}

static enum extract_code run_diff(struct call *call)
{
    struct query_options choice;
    enum extract_code code = read_choice(call, 0, &choice);

    return code ? code : run_news(call, &choice, 0);
}

static enum extract_code show_news(struct call *call)
{
    struct query_options choice;
    enum extract_code code = read_choice(call, 0, &choice);

    return code ? code : run_news(call, &choice, call->state->at_stop);
}

// At a stop the user asked for something else: trouble is told, but stops nothing.
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

static enum extract_code run_stop(struct call *call)
{
    if (call->state->recording)
        try_at_stop(call, recording_stop);
    if (call->state->at_stop)
        try_at_stop(call, show_news);
    return EXTRACT_OK;
}

static enum extract_code save(struct call *call, const struct query *query, const char *path)
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
    const struct query_options choice = {.rkh = call->state->options.rkh,
                                         .view = call->state->options.view};
    struct query query;

    if (call->request->arguments != 1)
        return usage(call, "exactly one file is needed");
    char *path = state_home_path(call->request->argument[0]);
    if (!path)
        return EXTRACT_NOMEM;
    enum extract_code code = open_look(call, &choice, &query);
    if (!code) {
        code = save(call, &query, path);
        code =
            end_look(call, &query,
                     extract_trace_info(extract_session_trace(query.session))->entries_valid, code);
    }
    free(path);
    return code;
}

static enum extract_code flush_to(struct call *call, const char *path)
{
    const struct options *options = &call->state->options;
    struct answer *answer = call->answer;
    struct extract_record_status status;
    struct query_options choice = {.rkh = options->rkh, .view = options->view};
    struct query query;
    enum extract_code code =
        query_begin(&query, call->state, call->request, &choice, call->target, &answer->error);

    if (code)
        return code;
    const struct extract_record_options record = {.size = sizeof record,
                                                  .format = options->format,
                                                  .ring_known = options->ring_known,
                                                  .ring = options->ring,
                                                  .rkh = &query.rkh,
                                                  .stream = state_stream(options)};
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
    if (call->request->arguments != 1)
        return usage(call, "exactly one log is needed");
    char *path = state_home_path(call->request->argument[0]);
    if (!path)
        return EXTRACT_NOMEM;
    enum extract_code code = flush_to(call, path);
    free(path);
    return code;
}

static enum extract_code run_set(struct call *call)
{
    const struct request *request = call->request;

    if (!request->arguments) {
        state_show(call->state, &call->answer->text);
        return EXTRACT_OK;
    }
    if (strcmp(request->argument[0], "templates") == 0)
        return templates_set_files(call);
    if (request->arguments != 2)
        return usage(call, "an option and its value are needed");
    if (strcmp(request->argument[0], "dialect") == 0)
        return templates_set_dialect(call, request->argument[1]);
    return state_set(call->state, request->argument[0], request->argument[1], &call->answer->error);
}

// The status of the trace, where there is one to look at: this look is none that is remembered.
static void put_trace_status(struct call *call)
{
    const struct query_options choice = {.rkh = call->state->options.rkh,
                                         .view = call->state->options.view};
    struct extract_error error;
    struct query query;
    enum extract_code code =
        query_open(&query, call->state, call->request, &choice, call->target, &error);

    if (code) {
        extract_text_puts(&call->answer->text, "stream status: unknown (");
        extract_text_escaped(&call->answer->text, error.why);
        extract_text_puts(&call->answer->text, ")\n");
        return;
    }
    query_run(&query, "status", &call->answer->text, &error);
    query_forget(&query);
}

static enum extract_code run_status(struct call *call)
{
    const struct state *state = call->state;
    struct extract_text *text = &call->answer->text;

    extract_text_printf(text, "reader: version %s, %s output\n", EXTRACT_VERSION,
                        state->bulk ? "fast" : "slow");
    extract_text_puts(text, "symbols: ");
    extract_text_escaped(text, state->symbols ? extract_symbols_path(state->symbols) : "none read");
    extract_text_putc(text, '\n');
    if (state->looked)
        extract_text_printf(text, "last look: %llu reads, %llu bytes, %.3f ms\n",
                            (unsigned long long)state->cost.reads,
                            (unsigned long long)state->cost.bytes,
                            (double)state->cost.nanoseconds / 1e6);
    else
        extract_text_puts(text, "last look: none yet\n");
    if (state->at_stop)
        extract_text_printf(text, "auto: on, %u events\n", state->at_stop);
    else
        extract_text_puts(text, "auto: off\n");
    recording_show(state->recording, text);
    state_show(state, text);
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

#define RKH "--rkh WORDS and --view history or pending read an RKH ring otherwise: see set.\n"
#define FILTERS                                                                                    \
    "With --event NAME, --thread NAME, --object NAME, --class NAME, --from TIME, --to TIME\n"      \
    "or --last N only the events that these let through.\n" RKH
#define SHOWN                                                                                      \
    FILTERS                                                                                        \
    "-O WORDS shows other columns: 2line, cpuid, exec, filename, hist, ids, pagesize=N, pid,\n"    \
    "prio, removedups, seq, svc, tid, timestamp=0 to 3; each but the numbers =on or =off.\n"

const struct command commands[] = {
    {"info", "[--rkh WORDS] [--view VIEW]", "Show the trace ring: layout, clock, state and losses.",
     RKH, false, run_same},
    {"objects", "[--rkh WORDS] [--view VIEW]", "List the kernel objects that the trace knows.", RKH,
     false, run_same},
    {"dump", "[FILTER...] [-O WORDS]", "Show the events of the trace.", SHOWN, false, run_report},
    {"report", "[FILTER...] [-O WORDS]", "Show the events of the trace; the same as dump.", SHOWN,
     false, run_report},
    {"last", "N [FILTER...] [-O WORDS]", "Show the newest N events of the trace.", SHOWN, false,
     run_last},
    {"diff", "[FILTER...] [-O WORDS]", "Show the events since the last snapshot.", SHOWN, false,
     run_diff},
    {"stats", "[FILTER...]", "Show load, switches, latencies and stack use.", FILTERS, false,
     run_same},
    {"save", "FILE", "Save the ring to a file of its own kind (.trx, .hook, .rkr, .ptr).", "",
     false, run_save},
    {"flush", "LOG", "Add to a log what is new in the ring.",
     "The log is made where there is none, else it must have the policy append. What was\n"
     "overwritten since it was flushed to last is told there.\n",
     false, run_flush},
    {"record", "[LOG [--policy POLICY] [--size N] [--sync] | off]",
     "Record into a log, at every stop of the target, what is new in the ring.",
     "From now on, until `ringside record off` (or stop). At a stop, what was lost since the one\n"
     "before is told, and resets of the target. Without words: how far the recording has come.\n"
     "POLICY is loop (default: the newest within the size), until_full or append; N is bytes, or\n"
     "has k, M or G behind it (default 64M); --sync waits for the disk. The log never replaces a\n"
     "file. What a ring loses between two stops it loses: to record a target while it runs, use\n"
     "the program, `ringside record --openocd SERVER` or `--remote SERVER`. A hook-stop of your "
     "own\n"
     "runs first, and has its place back after off.\n",
     true, command_record},
    {"filter", "[on|off WHAT...] | show | set|add|sub NAME...",
     "Show or change which events a target emits or records.",
     "Of RKH: WHAT is group=NAME, event=NAME (on: its group, too), ao=NAME, signal=NAME, or all.\n"
     "Of POSIX trace: NAME is an event type's, an id, all, system, user or none; what is in the\n"
     "filter is NOT recorded. Of ThreadX: NAME is a class, as mutex, user or all, that IS "
     "recorded.\n"
     "Only on, off, set, add and sub write to the target; before and "
     "after\n"
     "are shown.\n",
     false, command_filter},
    {"start", "", "Let the target record (POSIX trace, hook words).",
     "It is asked for in the ring's control block, and done when the target runs and passes its\n"
     "next trace point.\n",
     false, command_request},
    {"stop", "", "End what start began; the ring keeps its events.", "As with start.\n", false,
     command_request},
    {"clear", "", "Empty the target's ring (POSIX trace).", "As with start.\n", false,
     command_request},
    {"auto", "on [N] | off", "Show the newest events at every stop.",
     "At most N, of those that are new; 10 when N is not given. A hook-stop of your own runs "
     "first,\n"
     "and has its place back after off.\n",
     true, command_auto},
    {"set", "[OPTION [VALUE...]]", "Set how the trace is found and shown, or list what is set.",
     "hz N: ticks of the trace clock in a second.\n"
     "format threadx, hook, rkh or posix: how the ring is laid out, where that is not found out.\n"
     "rkh WORDS: settings of an RKH stream, as fun=4,ts_hz=1000000 or trazer.cfg=FILE.\n"
     "view history (all that an RKH ring holds) or pending (what was not taken out).\n"
     "elf FILE: the firmware's symbols, in place of GDB's symbol file.\n"
     "ring ADDRESS: where the ring's control header is.\n"
     "stream N: which one of a POSIX trace, from 0 on.\n"
     "event, thread, object, class, from, to, last: which events every command shows.\n"
     "templates FILE...: templates of your own, by which events are shown, on top of those that\n"
     "are set; without FILE, only Ringside's again. See ringside-templates(5).\n"
     "dialect WORDS: how templates are read: generic-8, octal-flags, blank-equals,\n"
     "show-unmatched, mute-subroutines.\n"
     "columns WORDS: as -O of dump.\n"
     "The value none takes an option back.\n",
     false, run_set},
    {"status", "", "Show what the reader works with, and the status of the stream.",
     "The latter in the words of posix_trace_get_status, for every format of trace.\n", false,
     run_status},
    {"help", "", "List the subcommands with their arguments.", "", false, run_help},
    {"at-stop", "", "", "", false, run_stop},
    {NULL, NULL, NULL, NULL, false, NULL},
};

static enum answer_status status_of(enum extract_code code)
{
    return code == EXTRACT_USAGE ? ANSWER_USAGE : ANSWER_UNREADABLE;
}

void command_run(struct call *call)
{
    struct answer *answer = call->answer;
    const struct command *command = commands;

    while (command->name && strcmp(command->name, call->request->command) != 0)
        command++;
    enum extract_code code = command->name ? command->run(call) : usage(call, "unknown command");
    if (code && !answer->error.code)
        extract_error_set(&answer->error, code, call->request->command, NULL, "%s",
                          extract_code_name(code));
    if (code)
        answer->status = status_of(code);
}

// The body of a subcommand. It hands its arguments over one by one: only its own body knows them.
static void define_body(const struct command *command, const char *with,
                        struct extract_text *script)
{
    extract_text_printf(
        script,
        "%s_ringside-begin %s\n"
        "while $_ringside_argument < $argc\n"
        "eval \"maint set test-settings string-noescape $arg%%d\", $_ringside_argument\n"
        "%s_ringside-add\n"
        "end\n",
        with, command->name, with);
    if (command->hooks)
        extract_text_printf(script, "%s_ringside-add-hooks\n", with);
    extract_text_printf(script, "%s_ringside-look\n", with);
}

// Where C is spoken already, GDB is not asked to change the language: it would warn of a frame in
// another one, as in an assembly routine.
static void define(const struct command *command, struct extract_text *script)
{
    extract_text_printf(script, "define ringside %s\n_ringside-check\nif $_shell_exitcode\n",
                        command->name);
    define_body(command, "with language c -- ", script);
    extract_text_puts(script, "else\n");
    define_body(command, "", script);
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
        define(c, script);
}
