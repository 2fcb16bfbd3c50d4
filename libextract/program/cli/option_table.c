// SPDX-License-Identifier: MIT
// cli: reads a table of options, for the parser, the help, suggestions and completion.
#include "cli/option_table.h"
#include "cli/cli.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_LONG = 256 }; // getopt_long returns this plus the index of the row

static bool is_taken(const struct option_row *row, unsigned takes)
{
    return !row->takes || row->takes & takes;
}

const char *option_name(const struct option_row *row, enum option_form form,
                        char name[OPTION_NAME_BYTES])
{
    if (form == OPTION_LONG)
        snprintf(name, OPTION_NAME_BYTES, "--%s", row->name);
    else
        snprintf(name, OPTION_NAME_BYTES, "-%c", row->letter);
    return name;
}

static const char *long_name_at(const void *context, size_t i)
{
    const struct option_table *table = context;

    for (size_t k = 0; k < table->count; k++)
        if (table->rows[k].name && !i--)
            return table->rows[k].name;
    return NULL;
}

// ---- parsing ----

// Fills the two lists of options that getopt_long needs.
static void list_options(const struct option_table *table, struct option list[OPTION_MAX + 1],
                         char letters[2 + 3 * OPTION_MAX + 1])
{
    *letters++ = '-'; // an argument that is not an option is returned in its place, as option 1
    *letters++ = ':'; // a missing value is returned as ':'
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        int argument = !row->argument          ? no_argument
                       : *row->argument == '[' ? optional_argument
                                               : required_argument;
        if (row->name)
            *list++ = (struct option){row->name, argument, NULL, FIRST_LONG + (int)i};
        if (!row->letter)
            continue;
        *letters++ = row->letter;
        for (int colons = argument; colons > 0; colons--) // required: one, optional: two
            *letters++ = ':';
    }
    *list = (struct option){NULL, 0, NULL, 0};
    *letters = '\0';
}

static const struct option_row *row_of(const struct option_table *table, int code)
{
    if (code >= FIRST_LONG)
        return &table->rows[code - FIRST_LONG];
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].letter == code)
            return &table->rows[i];
    return NULL;
}

// Prints why getopt_long refused an argument; `code` is what it returned. Returns false.
static bool refuse_argument(const struct option_table *table, int code, const char *argument)
{
    char letter[3] = {'-', (char)optopt, 0}, nearest[OPTION_NAME_BYTES];
    bool is_short = optopt > ' ' && optopt < 0x7f;
    const char *known = NULL;

    if (code == ':')
        return !cli_refuse(is_short ? letter : argument, table->hint, "the value is missing");
    if (optopt >= FIRST_LONG)
        return !cli_refuse(argument, table->hint, "the option takes no value");
    if (!is_short && strncmp(argument, "--", 2) == 0) {
        snprintf(nearest, sizeof nearest, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
        known = cli_nearest(nearest, long_name_at, table);
    }
    if (known)
        snprintf(nearest, sizeof nearest, "--%s", known);
    return !cli_refuse_unknown(is_short ? letter : argument, "option", known ? nearest : NULL,
                               table->hint);
}

bool option_table_parse(const struct option_table *table, void *options, enum option_form *given,
                        int argc, char **argv)
{
    struct option list[OPTION_MAX + 1];
    char letters[2 + 3 * OPTION_MAX + 1];
    int code;

    list_options(table, list, letters);
    opterr = 0;
    while ((code = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        char *argument = argv[optind - 1];
        if (code == ':' || code == '?')
            return refuse_argument(table, code, argument);
        if (code == 1) {
            if (!table->add_argument(options, optarg))
                return false;
            continue;
        }
        enum option_form form = code >= FIRST_LONG ? OPTION_LONG : OPTION_LETTER;
        const struct option_use use = {row_of(table, code), form, optarg, argument};
        given[use.row - table->rows] = form;
        if (!use.row->set(options, &use))
            return false;
    }
    while (optind < argc)
        if (!table->add_argument(options, argv[optind++]))
            return false;
    return true;
}

const struct option_row *option_table_misplaced(const struct option_table *table,
                                                const enum option_form *given, unsigned takes)
{
    for (size_t i = 0; i < table->count; i++)
        if (given[i] && !is_taken(&table->rows[i], takes))
            return &table->rows[i];
    return NULL;
}

// ---- setters ----

bool option_refuse_value(const struct option_use *use, const char *hint)
{
    struct extract_error error;
    char name[OPTION_NAME_BYTES];

    extract_error_set(&error, EXTRACT_USAGE, option_name(use->row, use->form, name), hint,
                      "\"%.80s\" is not allowed", use->value);
    return !cli_complain(&error);
}

static void *field_of(void *options, const struct option_use *use)
{
    return (char *)options + use->row->offset;
}

bool option_set_text(void *options, const struct option_use *use)
{
    *(const char **)field_of(options, use) = use->value;
    return true;
}

bool option_set_once(void *options, const struct option_use *use)
{
    const char **text = field_of(options, use);
    char name[OPTION_NAME_BYTES];

    if (*text)
        return !cli_refuse(option_name(use->row, use->form, name), "use one list, with commas",
                           "the option is given twice");
    *text = use->value;
    return true;
}

bool option_set_flag(void *options, const struct option_use *use)
{
    *(bool *)field_of(options, use) = true;
    return true;
}

bool option_set_number(void *options, const struct option_use *use)
{
    return extract_number_parse(use->value, field_of(options, use)) ||
           option_refuse_value(use, "use a decimal or 0x-prefixed number");
}

bool option_set_count(void *options, const struct option_use *use)
{
    uint64_t *number = field_of(options, use);

    return (extract_number_parse(use->value, number) && *number) ||
           option_refuse_value(use, "use a decimal or 0x-prefixed number above 0");
}

// ---- help and completion ----

static void put_row(struct extract_text *text, const struct option_row *row)
{
    enum { HELP_COLUMN = 22 };
    char letter[6] = "", name[OPTION_NAME_BYTES] = "";

    if (row->letter)
        snprintf(letter, sizeof letter, "-%c%s", row->letter, row->name ? ", " : "");
    if (row->name)
        option_name(row, OPTION_LONG, name);
    const char *argument = row->argument ? row->argument : "";
    const char *blank = *argument && *argument != '[' ? " " : "";
    extract_text_printf(text, "  %s%s%s%s", letter, name, blank, argument);
    size_t used = 2 + strlen(letter) + strlen(name) + strlen(blank) + strlen(argument);
    for (const char *line = row->help; *line; line += strcspn(line, "\n")) {
        line += *line == '\n';
        extract_text_pad(text, ' ', used < HELP_COLUMN ? HELP_COLUMN - used : 2);
        extract_text_put(text, line, strcspn(line, "\n"));
        extract_text_putc(text, '\n');
        used = 0;
    }
}

void option_table_help(const struct option_table *table, struct extract_text *text, unsigned takes)
{
    bool is_first = true;

    for (unsigned group = 0; group < table->group_count; group++) {
        bool has_heading = false;
        for (size_t i = 0; i < table->count; i++) {
            const struct option_row *row = &table->rows[i];
            if (row->group != group || !row->help || !is_taken(row, takes))
                continue;
            if (!has_heading)
                extract_text_printf(text, "%s%s:\n", is_first ? "" : "\n", table->headings[group]);
            has_heading = true;
            is_first = false;
            put_row(text, row);
        }
    }
}

void option_table_names(const struct option_table *table, struct extract_text *text, unsigned takes)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].name && is_taken(&table->rows[i], takes))
            extract_text_printf(text, " --%s", table->rows[i].name);
}
