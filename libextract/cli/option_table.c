// SPDX-License-Identifier: MIT
// cli: the table of options: what each is called, which commands take it, and its help. An option
// is added here, and in set_option (options.c), which stores its value.
#include "cli/option_table.h"
#include <string.h>

enum option_group { OPTION_INPUT, OPTION_RUNNING, OPTION_REPORT, OPTION_FILTER, OPTION_GROUPS };

static const char *const headings[OPTION_GROUPS] = {
    "Options", "Options of top, record and periodic", "Options of report and last",
    ("Filters of report, last, stats, chart and top (a comma separates several values,\n"
     "a ! in front leaves out what matches)")};

static const struct {
    enum option_group group;
    unsigned takes; // enum of cli_command.takes: a command must take it; 0: all do
    const char *usage, *help;
    const char *name; // long; NULL: it has letters only, which options.c lists
    int argument;     // as getopt_long has it
    int code;
} table[] = {
    {OPTION_INPUT, 0, "--elf FILE", "Read names and the ring's place from the firmware FILE.",
     "elf", required_argument, OPT_ELF},
    {OPTION_INPUT, 0, "--openocd SERVER", "Read a live target through OpenOCD's Tcl port.",
     "openocd", required_argument, OPT_OPENOCD},
    {OPTION_INPUT, 0, "--remote SERVER", "Read a live target through a GDB server.", "remote",
     required_argument, OPT_REMOTE},
    {OPTION_INPUT, 0, "--pid N", "Read a traced process on this host (POSIX trace).", "pid",
     required_argument, OPT_PID},
    {OPTION_INPUT, 0, "--target NAME", "Choose one of several targets of OpenOCD.", "target",
     required_argument, OPT_TARGET},
    {OPTION_INPUT, 0, "--timeout SECONDS", "Wait for an answer that long.", "timeout",
     required_argument, OPT_TIMEOUT},
    {OPTION_INPUT, 0, "--format NAME", "Read this format only: threadx, hook, rkh or posix.",
     "format", required_argument, OPT_FORMAT},
    {OPTION_INPUT, 0, "--hook LAYOUT",
     "Read the input as a raw stream of hook "
     "words:\nbits=32,order=big,tid=4,stamp=4,stamps=typed,hz=N",
     "hook", required_argument, OPT_HOOK},
    {OPTION_INPUT, 0, "--rkh SETTINGS",
     "Set what an RKH stream does not tell: fun=4,\nts_hz=1000000,...,trazer.cfg=FILE", "rkh",
     required_argument, OPT_RKH},
    {OPTION_INPUT, 0, "--view VIEW",
     "Show all that an RKH ring holds (history), or what\nwas not sent yet (pending).", "view",
     required_argument, OPT_VIEW},
    {OPTION_INPUT, 0, "--ring ADDRESS", "Use the ring whose control header is there.", "ring",
     required_argument, OPT_RING},
    {OPTION_INPUT, 0, "--stream N", "Choose one of several POSIX trace streams, from 0 on.",
     "stream", required_argument, OPT_STREAM},
    {OPTION_INPUT, 0, "--hz N", "Set the ticks per second of the trace's clock.", "hz",
     required_argument, OPT_HZ},
    {OPTION_INPUT, 0, "--modulus N", "Set the number of ticks after which the clock wraps.",
     "modulus", required_argument, OPT_MODULUS},
    {OPTION_INPUT, 0, "--user-events FILE", "Read names of user events from FILE (.trxc).",
     "user-events", required_argument, OPT_USER_EVENTS},
    {OPTION_INPUT, 0, "--json", "Print JSON instead of text.", "json", no_argument, OPT_JSON},
    {OPTION_INPUT, 0, "--no-header", "Print text without column heads.", "no-header", no_argument,
     OPT_NO_HEADER},
    {OPTION_INPUT, 0, "--color[=WHEN]", "Color the text: auto (default), always or never.", "color",
     optional_argument, OPT_COLOR},
    {OPTION_INPUT, 0, "--cost", "Print what reading the target has cost.", "cost", no_argument,
     OPT_COST},
    {OPTION_INPUT, CLI_OUTPUT, "-o, --output FILE", "Write to FILE.", "output", required_argument,
     'o'},
    {OPTION_INPUT, 0, "-q, --quiet", "Do not print losses; the exit status tells.", "quiet",
     no_argument, 'q'},
    {OPTION_INPUT, 0, "-h, --help", "Print this text.", "help", no_argument, 'h'},
    {OPTION_INPUT, 0, "-V, --version", "Print the version.", "version", no_argument, 'V'},
    {OPTION_RUNNING, CLI_REFRESH, "--delay SECONDS", "Refresh the screen that often (1).", "delay",
     required_argument, OPT_DELAY},
    {OPTION_RUNNING, CLI_REFRESH, "--batch", "Print text, without a screen.", "batch", no_argument,
     OPT_BATCH},
    {OPTION_RUNNING, CLI_COUNT, "--count N", "Stop after N refreshes or files (no limit).", "count",
     required_argument, OPT_COUNT},
    {OPTION_RUNNING, CLI_RECORD, "--policy POLICY",
     "Choose the log's policy: loop (default), until_full\nor append.", "policy", required_argument,
     OPT_POLICY},
    {OPTION_RUNNING, CLI_RECORD, "--size N[k|M|G]", "Limit the log to N bytes (64M).", "size",
     required_argument, OPT_SIZE},
    {OPTION_RUNNING, CLI_TIMED, "--every MS",
     "Poll every MS milliseconds; by default, record adapts\nto the load.", "every",
     required_argument, OPT_EVERY},
    {OPTION_RUNNING, CLI_TIMED, "--for SECONDS", "Stop after SECONDS.", "for", required_argument,
     OPT_FOR},
    {OPTION_RUNNING, CLI_RECORD, "--until EVENT", "Stop after this event.", "until",
     required_argument, OPT_UNTIL},
    {OPTION_RUNNING, CLI_KEEP, "--keep N", "Keep the newest N files (all).", "keep",
     required_argument, OPT_KEEP},
    {OPTION_RUNNING, CLI_RECORD, "--sync", "Flush each block to disk before reading the next.",
     "sync", no_argument, OPT_SYNC},
    {OPTION_REPORT, CLI_REPORT, "-t, --templates FILE",
     "Print events by these templates; may be repeated.", "templates", required_argument, 't'},
    {OPTION_REPORT, CLI_REPORT, "--templates-only", "Leave out the templates of Ringside.",
     "templates-only", no_argument, CLI_OPT_TEMPLATES_ONLY},
    {OPTION_REPORT, CLI_REPORT, "--dialect SETTINGS", "Choose how templates are read.", "dialect",
     required_argument, CLI_OPT_DIALECT},
    {OPTION_REPORT, CLI_REPORT, "-O WORD[=VALUE],...", "Choose columns and layout.", NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "--compat trcrpt", "Print in the layout of AIX's trcrpt.", "compat",
     required_argument, CLI_OPT_COMPAT},
    {OPTION_REPORT, CLI_REPORT, "--compat trazer", "Print the lines of RKH's Trazer.", NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "-d LIST, -k LIST", "Leave these hook ids out; print these only.",
     NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "-p LIST, -T LIST", "Print events of these threads only.", NULL, 0,
     0},
    {OPTION_REPORT, CLI_REPORT, "-s DATE, -e DATE", "Begin, end at mmddhhmmssyy (of a log).", NULL,
     0, 0},
    {OPTION_REPORT, CLI_REPORT, "-x", "Print columns of the thread and the system call.", NULL, 0,
     0},
    {OPTION_REPORT, CLI_REPORT, "-c", "Check the templates, and print no report.", NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "-j", "List hook ids with their labels, and no report.", NULL, 0,
     0},
    {OPTION_REPORT, CLI_REPORT, "-r", "Write the events as raw hook entries.", NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "--listen[=SERVER]",
     "Print what comes to a TCP port (127.0.0.1:6602).", "listen", optional_argument, OPT_LISTEN},
    {OPTION_REPORT, CLI_REPORT, "--baud N", "Set the speed of a serial port (115200).", "baud",
     required_argument, OPT_BAUD},
    {OPTION_REPORT, CLI_REPORT, "--follow", "Print what is appended to a file.", "follow",
     no_argument, OPT_FOLLOW},
    {OPTION_REPORT, CLI_REPORT, "--save FILE", "Keep the bytes of such a source in FILE.", "save",
     required_argument, OPT_SAVE},
    {OPTION_REPORT, CLI_REPORT, "-n FILE", "Do the same as --elf.", NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "-v", "Print the names of the files that are opened.", NULL, 0, 0},
    {OPTION_REPORT, CLI_REPORT, "--pager", "Print through $PAGER, or less.", "pager", no_argument,
     CLI_OPT_PAGER},
    {OPTION_FILTER, CLI_FILTERS, "--event E",
     "Match an id, symbol, name or pattern; for RKH also\ngroup=NAME, ao=NAME, signal=NAME, all.",
     "event", required_argument, OPT_FILTER + EXTRACT_FILTER_EVENT},
    {OPTION_FILTER, CLI_FILTERS, "--thread T",
     "Match an address, name or pattern; isr, init; for RKH\na priority.", "thread",
     required_argument, OPT_FILTER + EXTRACT_FILTER_THREAD},
    {OPTION_FILTER, CLI_FILTERS, "--object O",
     "Match an address, name or pattern; for RKH a signal's\nnumber.", "object", required_argument,
     OPT_FILTER + EXTRACT_FILTER_OBJECT},
    {OPTION_FILTER, CLI_FILTERS, "--class C", "Match APPL, SVC, KERN or INT.", "class",
     required_argument, OPT_FILTER + EXTRACT_FILTER_CLASS},
    {OPTION_FILTER, CLI_FILTERS, "--from T",
     "Begin at T: ticks, or a time with its unit, as 1.5s,\n20ms or 7us.", "from",
     required_argument, OPT_FILTER + EXTRACT_FILTER_FROM},
    {OPTION_FILTER, CLI_FILTERS, "--to T", "End at T.", "to", required_argument,
     OPT_FILTER + EXTRACT_FILTER_TO},
    {OPTION_FILTER, CLI_FILTERS, "--last N", "Take the newest N of what the other filters leave.",
     "last", required_argument, OPT_FILTER + EXTRACT_FILTER_LAST},
};

#define OPTIONS (sizeof table / sizeof *table)

void option_table_list(struct option list[OPTION_LONG_MAX])
{
    size_t count = 0;
    _Static_assert(OPTIONS < OPTION_LONG_MAX, "the list has room for each option, and its end");
    for (size_t i = 0; i < OPTIONS; i++)
        if (table[i].name)
            list[count++] = (struct option){table[i].name, table[i].argument, NULL, table[i].code};
    list[count] = (struct option){NULL, 0, NULL, 0};
}

const char *option_long_name(size_t i)
{
    for (size_t k = 0; k < OPTIONS; k++)
        if (table[k].name && !i--)
            return table[k].name;
    return NULL;
}

static void put_option(struct extract_text *text, size_t i)
{
    enum { HELP_COLUMN = 22 };
    size_t used = strlen(table[i].usage) + 2;
    extract_text_printf(text, "  %s", table[i].usage);
    for (const char *line = table[i].help; *line; line += strcspn(line, "\n")) {
        line += *line == '\n';
        extract_text_pad(text, ' ', used < HELP_COLUMN ? HELP_COLUMN - used : 2);
        extract_text_put(text, line, strcspn(line, "\n"));
        extract_text_putc(text, '\n');
        used = 0;
    }
}

void cli_options_help(struct extract_text *text, const struct cli_command *command)
{
    for (unsigned group = 0; group < OPTION_GROUPS; group++) {
        bool has_heading = false;
        for (size_t i = 0; i < OPTIONS; i++) {
            bool takes = !command || !table[i].takes || command->takes & table[i].takes;
            if (table[i].group != group || !takes)
                continue;
            if (!has_heading)
                extract_text_printf(text, "%s%s:\n", group ? "\n" : "", headings[group]);
            has_heading = true;
            put_option(text, i);
        }
    }
}

void cli_options_names(struct extract_text *text, const struct cli_command *command)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (table[i].name && (!table[i].takes || command->takes & table[i].takes))
            extract_text_printf(text, " --%s", table[i].name);
}
