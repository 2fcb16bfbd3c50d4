// SPDX-License-Identifier: MIT
// cli: the options of `ringside templates`.
//
// The arguments after that word come in, and struct templates_options goes out. The first argument
// is the subcommand. The table below is the only list of the options of all subcommands; a row
// names the subcommands that take it.
#include "cli/option_table.h"
#include "cli/templates/templates_commands.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const templates_subcommands[] = {"run", "check", "list", "update", NULL};

// ---- setters ----

static bool set_bits(void *context, const struct option_use *use)
{
    struct templates_options *options = context;
    uint64_t number;

    if (!extract_number_parse(use->value, &number) || (number != 32 && number != 64))
        return option_refuse_value(use, "use 32 or 64");
    options->bits = (unsigned)number;
    return true;
}

// Checks a time without storing it, because no template can print the time of an entry.
static bool check_time(void *context, const struct option_use *use)
{
    char *end = NULL;

    (void)context;
    if (*use->value && strspn(use->value, "0123456789.") == strlen(use->value))
        strtod(use->value, &end);
    return (end && !*end) || option_refuse_value(use, "use seconds as a decimal number");
}

static bool set_cpu(void *context, const struct option_use *use)
{
    struct templates_options *options = context;
    uint64_t number;

    if (!extract_number_parse(use->value, &number) || number > UINT8_MAX)
        return option_refuse_value(use, "use a decimal or 0x-prefixed number up to 255");
    options->cpu = (uint8_t)number;
    return true;
}

static bool add_process(void *context, const struct option_use *use)
{
    struct templates_options *options = context;
    struct templates_process *process = &options->processes[options->process_count++];
    const char *equals = strchr(use->value, '=');
    char pid[32];

    if (!equals || !equals[1] || (size_t)(equals - use->value) >= sizeof pid)
        return option_refuse_value(use, "use PID=PATH");
    memcpy(pid, use->value, (size_t)(equals - use->value));
    pid[equals - use->value] = 0;
    process->path = equals + 1;
    return extract_number_parse(pid, &process->pid) ||
           option_refuse_value(use, "use a decimal or 0x-prefixed number as PID");
}

static bool set_dialect(void *context, const struct option_use *use)
{
    struct templates_options *options = context;
    struct extract_error error;

    return !extract_dialect_parse(&options->dialect, use->value, &error) || !cli_complain(&error);
}

// Stores an argument that is not an option.
static bool add_file(void *context, char *file)
{
    struct templates_options *options = context;

    options->files[options->file_count++] = file;
    return true;
}

// ---- the table ----

enum option_group { RUN, CHECK, LIST, UPDATE, SEVERAL, GROUPS };

static const char *const headings[GROUPS] = {"Options of run", "Options of check",
                                             "Options of list", "Options of update",
                                             "Options of several subcommands"};

enum {
    NOT_UPDATE = SUBCOMMAND_RUN | SUBCOMMAND_CHECK | SUBCOMMAND_LIST,
    COUNTING = SUBCOMMAND_CHECK | SUBCOMMAND_UPDATE
};

#define FIELD(name)  offsetof(struct templates_options, name)
#define TEXT(name)   .set = option_set_text, .offset = FIELD(name)
#define FLAG(name)   .set = option_set_flag, .offset = FIELD(name)
#define NUMBER(name) .set = option_set_number, .offset = FIELD(name)

// clang-format off
static const struct option_row rows[] = {
    {RUN, SUBCOMMAND_RUN, 0, "entry", "HEX", "Print this entry: hook word and data, big-endian.",
     TEXT(entry)},
    {RUN, SUBCOMMAND_RUN, 0, "bits", "32|64", "Set the width of its words (32).", .set = set_bits},
    {RUN, SUBCOMMAND_RUN, 0, "generic", NULL,
     "Read a buffer after the hook word, even if the hook\nword does not announce one.",
     FLAG(generic)},
    {RUN, SUBCOMMAND_RUN, 0, "little", NULL, "Read numbers in its buffer as little-endian.",
     FLAG(little)},
    {RUN, SUBCOMMAND_RUN, 0, "pid", "PID", "Set its process.", NUMBER(pid)},
    {RUN, SUBCOMMAND_RUN, 0, "tid", "TID", "Set its thread.", NUMBER(tid)},
    {RUN, SUBCOMMAND_RUN, 0, "process", "PID=PATH", "Set the name of a process; may be repeated.",
     .set = add_process},
    {RUN, SUBCOMMAND_RUN, 0, "cpu", "N", "Set its processor.", .set = set_cpu},
    {RUN, SUBCOMMAND_RUN, 0, "time", "SECONDS", "Set its time, which no template can print.",
     .set = check_time},
    {RUN, SUBCOMMAND_RUN, 0, "expand", NULL, "Print blanks for tabs.", FLAG(expand)},
    {CHECK, SUBCOMMAND_CHECK, 0, "strict", NULL, "Treat warnings as errors.", FLAG(is_strict)},
    {LIST, SUBCOMMAND_LIST, 0, "format", "NAME",
     "Without files, list the templates of this format\n(threadx).", TEXT(format)},
    {LIST, SUBCOMMAND_LIST, 0, "json", NULL, "Print one JSON object per line.", FLAG(json)},
    {UPDATE, SUBCOMMAND_UPDATE, 'o', "any-version", NULL,
     "Let an older version replace a newer one, too.", FLAG(any_version)},
    {UPDATE, SUBCOMMAND_UPDATE, 0, "undo", "FILE",
     "Write what reverts the update to FILE (UPDATE-FILE\nwith .undo.trc for .trc).", TEXT(undo)},
    {UPDATE, SUBCOMMAND_UPDATE, 'x', "extract", "ID,...",
     "Print templates of TARGET as an update file.", TEXT(ids)},
    {SEVERAL, COUNTING, 'v', "verbose", NULL,
     "Count the templates (check), or the changes (update).", FLAG(verbose)},
    {SEVERAL, NOT_UPDATE, 0, "dialect", "SETTINGS",
     "Choose how templates are read (run, check, list).", .set = set_dialect},
    {SEVERAL, 0, 'q', "quiet", NULL, "Leave out warnings.", FLAG(quiet)},
    {SEVERAL, 0, 'h', "help", NULL, "Print this text.", FLAG(help)},
};
// clang-format on

_Static_assert(sizeof rows / sizeof *rows <= OPTION_MAX, "the parser has capacity for each row");

const struct option_table templates_option_table = {
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .headings = headings,
    .group_count = GROUPS,
    .hint = "see ringside templates --help",
    .add_argument = add_file,
};

// ---- parsing ----

static const char *subcommand_name_at(const void *context, size_t i)
{
    (void)context;
    return templates_subcommands[i];
}

// Returns the bit of a subcommand; SUBCOMMAND_NONE for an unknown name.
static unsigned find_subcommand(const char *name)
{
    for (unsigned i = 0; templates_subcommands[i]; i++)
        if (strcmp(templates_subcommands[i], name) == 0)
            return 1u << i;
    return SUBCOMMAND_NONE;
}

// Parses what follows the subcommand, argv[0]. An option of another subcommand is refused.
static bool parse_options(struct templates_options *options, int argc, char **argv)
{
    enum option_form given[OPTION_MAX] = {OPTION_ABSENT};
    char name[OPTION_NAME_BYTES];

    if (!option_table_parse(&templates_option_table, options, given, argc, argv))
        return false;
    const struct option_row *row =
        option_table_misplaced(&templates_option_table, given, options->subcommand);
    return !row ||
           !cli_refuse(option_name(row, given[row - rows], name), templates_option_table.hint,
                       "this subcommand does not take this option");
}

bool templates_options_parse(struct templates_options *options, int argc, char **argv)
{
    static const char hint[] = "use run, check, list or update";
    const char *name = argc > 1 ? argv[1] : NULL;

    memset(options, 0, sizeof *options);
    options->bits = 32;
    options->help = name && (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0);
    if (options->help)
        return true;
    if (!name)
        return !cli_refuse("templates", hint, "no subcommand is given");
    options->subcommand = find_subcommand(name);
    if (!options->subcommand)
        return !cli_refuse_unknown(name, "subcommand", cli_nearest(name, subcommand_name_at, NULL),
                                   hint);
    options->files = calloc((size_t)argc, sizeof *options->files);
    options->processes = calloc((size_t)argc, sizeof *options->processes);
    if (options->files && options->processes)
        return parse_options(options, argc - 1, argv + 1);
    return !cli_refuse("arguments", NULL, "out of memory");
}

void templates_options_free(struct templates_options *options)
{
    free(options->files);
    free(options->processes);
}

// ---- entries in hexadecimal ----

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

static bool refuse_hex(const char *option, const char *why, size_t position)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_USAGE, option,
                      "use pairs of hexadecimal digits, as in 010A00050000002A",
                      "%s at character %zu", why, position);
    cli_complain(&error);
    return false;
}

bool templates_hex_parse(uint8_t *bytes, size_t *length, const char *option, const char *digits)
{
    size_t count = 0, at = 0;

    for (; digits[at]; at++) {
        unsigned digit = digit_of(digits[at]);
        if (isspace((unsigned char)digits[at]))
            continue;
        if (digit > 15)
            return refuse_hex(option, "not a hexadecimal digit", at + 1);
        unsigned high_digit = count % 2 ? bytes[count / 2] : 0u;
        bytes[count / 2] = (uint8_t)(high_digit << 4 | digit);
        count++;
    }
    if (!count || count % 2)
        return refuse_hex(option, count ? "half a byte" : "no digit", at + !at);
    *length = count / 2;
    return true;
}
