// SPDX-License-Identifier: MIT
// cli: what the files of the program `ringside` share.
//
// In: arguments. Out: text on standard output, errors and losses on standard error, a status.
#ifndef RINGSIDE_CLI_H
#define RINGSIDE_CLI_H

#include "base/file.h"
#include <extract/log.h>
#include <extract/session.h>

enum cli_status {
    CLI_WHOLE = 0,      // everything was read and shown
    CLI_USAGE = 1,      // the arguments make no sense
    CLI_UNREADABLE = 2, // an input or output failed
    CLI_LOSSES = 3      // read, with losses or damage
};

// What `record` and `periodic` take.
struct cli_recording {
    bool given; // any of those that are of record alone
    bool timed; // --every or --for
    enum extract_log_policy policy;
    uint64_t size;            // bytes of the log; 0: the usual
    uint64_t every, duration; // ns; 0: chosen; without end
    uint64_t keep;            // files of periodic; 0: all
    const char *until;        // an event; NULL: none
    bool sync;
};

// What `report` and `last` take.
struct cli_reporting {
    const char *given; // one of the options that are theirs alone; NULL: none
    struct extract_columns columns;
    const char **templates; // owned
    size_t template_count;
    const char **words; // of -O; owned
    size_t word_count;
    const char *start_date, *end_date; // NULL: none
    char start_time[32], end_time[32]; // seconds with their unit; "": none
    bool calls;                        // -x
    bool compat, trazer, check, list, raw, pager;
    bool verbose; // say which files are opened
};

// What `report` takes of sources that are read as they come.
struct cli_feeding {
    const char *listen; // a place, "" for the usual one; NULL: none
    const char *save;   // a file for the bytes; NULL: none
    uint64_t baud;      // 0: the usual one
    bool follow;
};

struct cli_options {
    struct extract_session_options session; // `conditions` is owned
    const char *elf;                        // NULL: none
    const char *user_events;                // NULL: none
    const char *hook;                       // how a raw stream is laid out; NULL: none is one
    struct extract_rkh rkh;                 // what --rkh and --view say
    const char *output;                     // NULL: none
    const char *command;                    // NULL: none
    const char *openocd, *remote;           // the place of a live target; NULL: none
    uint64_t pid;                           // of a traced process on this host; 0: none
    const char *target;                     // OpenOCD's; NULL: its current one
    unsigned timeout_ms;                    // of a live target; 0: the usual one
    const char **inputs;                    // owned
    int input_count;
    unsigned delay_ms; // between refreshes of top; 0: the usual one
    uint64_t count;    // of refreshes, or of files of periodic; 0: no limit
    bool batch;        // top: no screen
    struct cli_recording recording;
    struct cli_reporting reporting;
    struct cli_feeding feeding;
    bool color_asked; // --color=always, or never
    bool quiet, cost, help, version;
};

// What a command takes beyond the common options.
enum {
    CLI_FILTERS = 1,
    CLI_OUTPUT = 2,
    CLI_NO_INPUT = 4,
    CLI_REFRESH = 8,
    CLI_RECORD = 16,
    CLI_REPORT = 32,
    CLI_TIMED = 64,
    CLI_KEEP = 128,
    CLI_COUNT = 256
};

struct cli_command {
    const char *name;
    const char *alias; // NULL: none
    const char *arguments;
    const char *summary; // one line
    const char *help;    // lines; what the summary does not say
    unsigned takes;
    int (*run)(const struct cli_options *options);
    // Where not NULL, all words from the name on are for it, when the name stands first.
    int (*run_words)(int argc, char **argv);
};

extern const struct cli_command cli_info, cli_objects, cli_report, cli_last, cli_stats, cli_chart,
    cli_scan, cli_save, cli_periodic, cli_record, cli_flush, cli_filter, cli_status, cli_start,
    cli_stop, cli_clear, cli_top, cli_openocd_config, cli_templates, cli_help, cli_version;

// commands.c: the table. NULL behind the last, and when there is none of that name.
const struct cli_command *cli_command_at(size_t i);
const struct cli_command *cli_command_find(const char *name);
int cli_command_refuse(const char *name); // an unknown one; returns CLI_USAGE

// options.c: parses all arguments. False: a message has been printed.
bool cli_options_parse(struct cli_options *options, int argc, char **argv);
void cli_options_free(struct cli_options *options);
// option_table.c: the options that a command takes; NULL: all of them.
void cli_options_help(struct extract_text *text, const struct cli_command *command);
// The long names of the options that a command takes, each after a blank.
void cli_options_names(struct extract_text *text, const struct cli_command *command);

// reporting.c: options of report and last, which have these codes where they have no letter.
enum { CLI_OPT_COMPAT = 128, CLI_OPT_DIALECT, CLI_OPT_TEMPLATES_ONLY, CLI_OPT_PAGER };
#define CLI_REPORT_LETTERS "O:d:k:cjrs:e:t:vx"
bool cli_reporting_has(int option);
// False: a message has been printed.
bool cli_reporting_set(struct cli_options *options, int option, const char *value);
// When all have been set.
bool cli_reporting_finish(struct cli_options *options);
// Dates as conditions of a session over a log (NULL: a trace that tells no time of day). The
// strings last as long as `room`. Errors: USAGE.
struct cli_dates {
    char from[32], to[32];
};
enum extract_code cli_reporting_dates(struct extract_session_options *session,
                                      const struct cli_options *options, struct extract_log *log,
                                      struct cli_dates *room, struct extract_error *error);

// pager.c: from here on, standard output goes to the user's pager, where it is a terminal. False:
// it does not.
bool cli_pager_open(int *child);
// Waits until the user has seen enough. False: the pager could not be run.
bool cli_pager_close(int child);

// input.c: opens the memory that the inputs make together.
enum extract_code cli_memory_open(struct extract_memory **memory, const struct cli_options *options,
                                  struct extract_error *error);

// process.c: the symbols of the ELF that is named, or of the process; none is no error: *symbols is
// NULL then. Errors: those of extract_symbols_open.
enum extract_code cli_symbols_open(struct extract_symbols **symbols,
                                   const struct cli_options *options, struct extract_error *error);

// live.c: targets behind --openocd and --remote, and --pid.
bool cli_is_live(const struct cli_options *options);
// Signals that ask the program to end go to `handler`; a second one ends it as ever.
void cli_catch_ending(void (*handler)(int signal));
// Waits, but not for long; a signal ends it.
void cli_nap(uint64_t ns);
// Seconds as a decimal number. False: none, or out of reason.
bool cli_timeout_parse(const char *seconds, unsigned *ms);
// Signals that end the program let a halted target go on first, where nobody else handles them when
// this is called. Errors: those of extract_memory_open_openocd and _remote, and USAGE.
enum extract_code cli_live_open(struct extract_memory **memory, const struct cli_options *options,
                                struct extract_error *error);
// When the last byte has been read: the target runs, and how long it stood is said, unless quiet.
// Nothing to do for other memories, and for NULL.
void cli_live_release(struct extract_memory *memory, const struct cli_options *options);

// feed.c: an input of report that is read as it comes. CLI_USAGE after a message; *is says whether
// it is one.
int cli_feed_check(const struct cli_options *options, bool *is);
// Prints its events until it ends, or a signal comes.
int cli_feed_run(const struct cli_options *options);

// The log that the only input is; *log is NULL when it is none.
enum extract_code cli_log_open(struct extract_log **log, const struct cli_options *options,
                               struct extract_error *error);

// output.c: standard output as a text, and messages. A write that fails is said once; a reader
// that has gone (EPIPE) is not.
struct cli_output {
    struct extract_text text;
    const char *path; // of the file that is written; NULL: standard output
    struct extract_atomic_file draft;
    int fault; // errno of the write that failed
    int pager; // process that reads standard output; 0: none
};

void cli_output_open(struct cli_output *output);
// To the file of --output if there is one, or through the pager where it was asked for. CLI_WHOLE,
// or another status after a message: then there is nothing to close.
int cli_output_open_as(struct cli_output *output, const struct cli_options *options);
// Flushes and frees; a file is kept when the status is CLI_WHOLE or CLI_LOSSES. Returns
// `status`, or CLI_UNREADABLE when the output failed.
int cli_output_close(struct cli_output *output, int status);
// Prints "ringside: WHAT: WHY; hint" and returns the status that the code stands for.
int cli_complain(const struct extract_error *error);
// As extract_error_set and cli_complain, for faults in the arguments: CLI_USAGE.
int cli_refuse(const char *what, const char *hint, const char *why);
// Returns the word that is nearest to `word` by its letters, of known(0), known(1) … up to NULL, or
// NULL: at most two letters differ, and fewer than half of them.
const char *cli_nearest(const char *word, const char *(*known)(size_t i));
// Prints that a word is an unknown one of its kind ("command"), and the nearest that is known, if
// not NULL. Returns CLI_USAGE.
int cli_refuse_unknown(const char *word, const char *kind, const char *nearest);

// look.c: one trace, opened as the options say.
struct cli_look {
    struct extract_memory *memory; // NULL: a log
    struct extract_log *log;       // NULL: a memory
    struct extract_symbols *symbols;
    struct extract_user_types *types;
    struct extract_session *session;
    struct cli_dates dates;
};

// CLI_WHOLE, or another status after a message. Closed by cli_look_close in any case.
int cli_look_open(struct cli_look *look, const struct cli_options *options);
// The same, and a live target is not released.
int cli_look_open_held(struct cli_look *look, const struct cli_options *options);
// Names losses and cost on standard error, unless quiet; CLI_LOSSES when there are losses.
int cli_look_close(struct cli_look *look, const struct cli_options *options, int status);
// Opens, runs a verb of extract_session_run to standard output (or where cli_output_open_as leads),
// closes.
int cli_look_run(const struct cli_options *options, const char *verb);

#endif
