// SPDX-License-Identifier: MIT
// cli: what the files of the program `ringside` share.
//
// The program parses its arguments (cli_options.c), finds the command that they name
// (command_table.c) and runs it. A command opens its input (cli_snapshot.c, cli_input.c,
// cli_live.c), prints text on standard output (cli_output.c), and names errors and losses on
// standard error. It returns the exit status of the program.
#ifndef RINGSIDE_CLI_H
#define RINGSIDE_CLI_H

#include "base/file.h"
#include "cli/option_table.h"
#include <extract/kernel.h>
#include <extract/log.h>
#include <extract/session.h>

enum cli_status {
    CLI_SUCCESS = 0,    // everything was read and printed
    CLI_USAGE = 1,      // the arguments contain an error
    CLI_UNREADABLE = 2, // an input or output failed
    CLI_LOSSES = 3      // the input was read, but events were lost or damaged
};

// Options of `record` and `periodic`.
struct cli_recording {
    enum extract_log_policy policy;
    uint64_t size_bytes;  // limit of the log; 0: the default
    uint64_t every_ns;    // time between polls; 0: the recorder chooses
    uint64_t duration_ns; // 0: until interrupted
    uint64_t keep;        // files that `periodic` keeps; 0: all
    const char *until;    // the event that ends a recording; NULL: none
    bool sync;
};

// Options of `report` and `last`.
struct cli_reporting {
    struct extract_columns columns;
    const char **templates; // owned
    size_t template_count;
    const char **settings; // of -O; owned
    size_t setting_count;
    const char *start_date, *end_date; // NULL: none
    char start_time[32], end_time[32]; // seconds with their unit; "": none
    const char *cores;                 // of -C; NULL: none
    char core_list[512];               // the same with commas only; "": all
    bool calls;                        // -x: columns of the thread and the system call
    bool compat, trazer;               // layouts of --compat
    bool check, list, raw, pager;
    bool verbose;    // names the files that are opened
    bool short_help; // -h, which in trcrpt means that there is no heading
};

// Options of `report` for streams that are read as they arrive.
struct cli_feeding {
    const char *listen; // address of a TCP port, "" for the default; NULL: none
    const char *save;   // file for the bytes; NULL: none
    uint64_t baud;      // bits per second; 0: the default
    bool follow;
};

// Options of `merge`.
struct cli_merging {
    const char **offsets; // FILE=OFFSET; owned
    size_t offset_count;
    const char *align; // NULL: none
    bool cores;        // the inputs are the rings of a target's cores
    bool alternate;    // they are buffers that one core uses in turn
};

struct cli_options {
    struct extract_session_options session; // `conditions` and `spans` are owned
    const char *elf;                        // NULL: none
    const char *user_events;                // NULL: none
    const char **roles;                     // role files of hook words; owned
    size_t role_count;                      // number of them
    const char *hook;                       // layout of a raw stream; NULL: the input is not one
    struct extract_rkh rkh;                 // settings of --rkh and --view
    const char *output;                     // NULL: none
    const char *command;                    // NULL: none
    const char *openocd, *remote;           // server of a live target; NULL: none
    uint64_t pid;                           // traced process on this host; 0: none
    const char *target;                     // name in OpenOCD; NULL: its current target
    unsigned timeout_ms;                    // for an answer of a live target; 0: the default
    const char **inputs;                    // owned
    int input_count;
    unsigned delay_ms; // time between refreshes of top; 0: the default
    uint64_t count;    // limit of refreshes, or of files of periodic; 0: none
    bool batch;        // top prints text without a screen
    struct cli_recording recording;
    struct cli_reporting reporting;
    struct cli_feeding feeding;
    struct extract_why_options why; // of `why`
    bool junit;                     // of `assert`
    const char *elf_b;              // of `diff`: the ELF of B; NULL: that of --elf
    struct cli_merging merging;     // of `merge`
    const char *registers;          // file of --registers; NULL: none
    bool html;                      // of `crash`
    bool kernel;                    // of `objects`: the control blocks instead of the trace
    bool color_is_fixed;            // --color=always or --color=never was given
    bool quiet, cost, help, version;
    enum option_form given[OPTION_MAX]; // by rows of cli_option_table
};

// Groups of options beyond the common ones, as bits of cli_command.takes; and CLI_NO_INPUT for a
// command that may run without an input.
enum {
    CLI_PARTS = 1, // filters by thread and time
    CLI_OUTPUT = 2,
    CLI_NO_INPUT = 4,
    CLI_REFRESH = 8,
    CLI_RECORD = 16,
    CLI_REPORT = 32,
    CLI_TIMED = 64,
    CLI_KEEP = 128,
    CLI_COUNT = 256,
    CLI_WHY = 512,
    CLI_ASSERT = 1024,
    CLI_SPANS = 2048,
    CLI_ROLES = 4096,
    CLI_DIFF = 8192,
    CLI_MERGE = 16384,
    CLI_KERNEL = 32768,
    CLI_REGISTERS = 65536,
    CLI_SERVE = 131072,
    CLI_HTML = 262144,
    CLI_TIMELINE = 524288,
    CLI_TEMPLATES = 1048576,
    CLI_EVENTS = 2097152, // filters by what an event is
    CLI_FILTERS = CLI_PARTS | CLI_EVENTS
};

// Headings of the overview under which commands are listed.
enum cli_group { CLI_EXAMINE, CLI_FOLLOW, CLI_CONTROL, CLI_SETUP, CLI_GROUPS };

struct cli_command {
    enum cli_group group;
    const char *name;
    const char *alias; // NULL: none
    const char *arguments;
    const char *summary; // an imperative of at most 50 characters
    const char *help;    // further lines
    unsigned takes;      // bits of the groups of options that it takes
    int (*run)(const struct cli_options *options);
    // A command with subcommands gets all arguments from its name on, if its name comes first, and
    // parses them with its own table. Both NULL: it has none.
    int (*run_subcommand)(int argc, char **argv);
    const struct option_table *subcommand_options;
    const char *const *subcommands; // names; NULL after the last
};

extern const struct cli_command cli_info, cli_objects, cli_threads, cli_crash, cli_serve, cli_core,
    cli_report, cli_last, cli_stats, cli_schedule, cli_timeline, cli_why, cli_diff, cli_assert,
    cli_merge, cli_export, cli_view, cli_chart, cli_list, cli_scan, cli_save, cli_periodic,
    cli_record, cli_flush, cli_filter, cli_status, cli_start, cli_stop, cli_clear, cli_top,
    cli_openocd_config, cli_templates, cli_help, cli_version;

// command_table.c: returns the i-th command; NULL after the last.
const struct cli_command *cli_command_at(size_t i);
// Returns the command of a name or alias; NULL if there is none.
const struct cli_command *cli_command_find(const char *name);
// Prints that a command is unknown, and the nearest one. Returns CLI_USAGE.
int cli_command_refuse(const char *name);

// cli_options.c: the options of all commands but `templates`.
extern const struct option_table cli_option_table;
// Parses all arguments. Returns false after printing a message. The caller frees the options in any
// case.
bool cli_options_parse(struct cli_options *options, int argc, char **argv);
void cli_options_free(struct cli_options *options);
// Writes the option that set a field of the library's options, as it was given: "--modulus", or
// "-d". Returns false if none did.
bool cli_options_name(const struct cli_options *options, const char *field,
                      char name[OPTION_NAME_BYTES]);

// reporting.c: completes the options of report and last when all arguments are parsed. Returns
// false after printing a message.
bool cli_reporting_finish(struct cli_options *options);
// Adds the dates to the conditions of a session over a log (NULL: a trace without a time of day).
// The conditions point into `dates`. Errors: USAGE.
struct cli_dates {
    char from[32], to[32];
};
enum extract_code cli_reporting_dates(struct extract_session_options *session,
                                      const struct cli_options *options, struct extract_log *log,
                                      struct cli_dates *dates, struct extract_error *error);

// Refuses a start date after the end of a log, once its trace is open: its times show where it
// ends. Errors: USAGE.
enum extract_code cli_reporting_check_dates(const struct cli_options *options,
                                            struct extract_log *log,
                                            const struct extract_trace *trace,
                                            struct extract_error *error);

// cli_input.c: opens the inputs, or the memory of a live target. Sets *log if the only input is a
// log, and *memory otherwise; the other one to NULL. Both are NULL without an input.
enum extract_code cli_input_open(struct extract_memory **memory, struct extract_log **log,
                                 const struct cli_options *options, struct extract_error *error);
// The same for a command that needs a memory.
enum extract_code cli_memory_open(struct extract_memory **memory, const struct cli_options *options,
                                  struct extract_error *error);

// Returns whether there are two inputs that are not parts of one memory: at least one of them holds
// a whole trace.
bool cli_inputs_are_two(const struct cli_options *options);

// Opens the symbols of --elf, or of the process of --pid. Without either, *symbols is
// NULL, which is not an error. Errors: as extract_symbols_open.
enum extract_code cli_symbols_open(struct extract_symbols **symbols,
                                   const struct cli_options *options, struct extract_error *error);

// What is left of a target that has stopped.
// remains.c: opens it. Prints what is damaged. A live target, if it may be one, is halted until
// cli_live_release. The caller calls cli_remains_close, also after an error.
enum extract_code cli_remains_open(struct extract_remains *remains,
                                   const struct cli_options *options, bool may_be_live,
                                   struct extract_error *error);
void cli_remains_close(struct extract_remains *remains);
// Prints what shows that the ELF file is not that of the program that ran.
void cli_remains_check(const struct extract_remains *remains, const struct cli_options *options);
// Prints a note if the images prove that another program ran than the ELF file, whose kernel was
// read.
void cli_kernel_check(struct extract_memory *memory, struct extract_symbols *symbols,
                      struct extract_kernel *kernel, const struct cli_options *options);
// Prints a note if a core shows that another program ran.
void cli_program_check(struct extract_memory *memory, struct extract_symbols *symbols,
                       const struct cli_options *options);

// cli_live.c: returns whether --openocd, --remote or --pid names a live target.
bool cli_is_live(const struct cli_options *options);
// Catches a signal that requests the end of the program, so that the command can end in order. A
// second signal ends the program by default.
void cli_catch_ending(void);
// Returns the signal that was caught; 0: none yet.
int cli_ending_signal(void);
// Returns where it is stored, which cancels the waits of the library.
const volatile sig_atomic_t *cli_ending_flag(void);
// Sleeps at most 100 ms, or until a signal.
void cli_nap(uint64_t ns);
// Parses decimal seconds. Returns false for anything else, and outside of 0.001 to 3600.
bool cli_timeout_parse(const char *seconds, unsigned *ms);
// Opens the live target. Until cli_live_release, a signal that ends the program first resumes a
// halted target, unless another handler was set before this call. Errors: as
// extract_memory_open_openocd and _remote, and USAGE.
enum extract_code cli_live_open(struct extract_memory **memory, const struct cli_options *options,
                                struct extract_error *error);
// Resumes the target after the last read and, unless quiet, prints how long it was halted. Does
// nothing for other memories and for NULL.
void cli_live_release(struct extract_memory *memory, const struct cli_options *options);

// cli_feed.c: sets *is_feed if the input of report is a stream that is read as it arrives. Returns
// CLI_USAGE after printing a message.
int cli_feed_check(const struct cli_options *options, bool *is_feed);
// Prints the events of the stream until it ends or a signal arrives.
int cli_feed_run(const struct cli_options *options);

// cli_output.c: standard output as a text, and messages. A failed write is reported once. EPIPE is
// not reported: the reader has stopped reading.
struct cli_output {
    struct extract_text text;
    const char *path;                // file that is written; NULL: standard output
    struct extract_atomic_file file; // becomes `path` when it is complete
    int fault;                       // errno of the write that failed; 0: none
    int pager;                       // process that reads standard output; 0: none
};

void cli_output_open(struct cli_output *output);
// Returns whether the file of --output is one that the command reads, which it would replace.
bool cli_output_is_input(const struct cli_options *options);
// Opens the file of --output, or the pager of --pager, or standard output. Returns CLI_SUCCESS, or
// another status after printing a message; then there is nothing to close.
int cli_output_open_as(struct cli_output *output, const struct cli_options *options);
// Flushes and frees the output. A file is kept if the status is CLI_SUCCESS or CLI_LOSSES. Returns
// `status`, or CLI_UNREADABLE if the output failed.
int cli_output_close(struct cli_output *output, int status);
// Sets the options that messages name, until the program ends; NULL: none.
void cli_messages_use(const struct cli_options *options);
// Prints "ringside: WHAT: WHY; HINT". If WHAT is a field of the library's options, the option that
// set it is printed instead. Returns the status for the error's code.
int cli_complain(const struct extract_error *error);
// Prints "ringside: NAME: MESSAGE" on standard error, escaped as an error is. The exit status does
// not depend on it.
void cli_print_note(const char *name, const char *message, ...)
    __attribute__((format(printf, 2, 3)));
// Prints an error in the arguments in the form of cli_complain. Returns CLI_USAGE.
int cli_refuse(const char *what, const char *hint, const char *why);
// cli_nearest.c: returns the known word that is nearest to `word` by its letters; NULL if more than
// two letters differ, or half of them. The known words are known(context, 0) and so on, up to NULL.
const char *cli_nearest(const char *word, const char *(*known)(const void *context, size_t i),
                        const void *context);
// Prints that a word is unknown as a `kind` ("command"), with the nearest known word (NULL: none)
// and a further hint. Returns CLI_USAGE.
int cli_refuse_unknown(const char *word, const char *kind, const char *nearest, const char *hint);

// commands/export.c: writes the input, or two of them, in a format of exports to options->output.
// Returns the exit status.
int cli_export_run(const struct cli_options *options, const struct extract_export_kind *kind);

// commands/threads.c: reads the control blocks of the kernel, and prints its threads, or its other
// objects.
int cli_kernel_run(const struct cli_options *options, bool has_threads);

// cli_snapshot.c: one trace, read once and opened with the options.
struct cli_snapshot {
    struct extract_memory *memory; // NULL: a log
    struct extract_log *log;       // NULL: a memory
    struct extract_symbols *symbols;
    struct extract_user_types *types;
    struct extract_hook_roles *roles;
    struct extract_session *session;
    struct cli_dates dates;
};

// Opens a trace, and releases a live target. Returns CLI_SUCCESS, or another status after printing
// a message. The caller closes the snapshot in any case.
int cli_snapshot_open(struct cli_snapshot *snapshot, const struct cli_options *options);
// Does the same without releasing a live target.
int cli_snapshot_open_live(struct cli_snapshot *snapshot, const struct cli_options *options);
// Closes the snapshot. Prints losses on standard error unless quiet, and the cost with --cost.
// Returns `status`, or CLI_LOSSES if it is CLI_SUCCESS and there are losses.
int cli_snapshot_close(struct cli_snapshot *snapshot, const struct cli_options *options,
                       int status);
// Prints each line of what extract_session_run answers to `query` after "ringside: NAME: ".
void cli_print_lines(struct extract_session *session, const char *name, const char *query);
// Prints what extract_session_run answers to `query` ("info", "report" ...), to the output of
// cli_output_open_as.
int cli_snapshot_run(const struct cli_options *options, const char *query);

#endif
