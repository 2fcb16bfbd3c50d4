// SPDX-License-Identifier: MIT
// cli: tables of options, and what is made of them.
//
// A row of a table contains everything about one option: its names, its argument, its commands, its
// help, and how its value is stored. Parsing, error messages, help, suggestions and completion all
// read the rows, so a new option is one new row. The program has two tables: the common one
// (cli_options.c), and that of `templates`, whose subcommands have options of their own
// (templates/options.c).
#ifndef RINGSIDE_OPTION_TABLE_H
#define RINGSIDE_OPTION_TABLE_H

#include <extract/text.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    OPTION_MAX = 96,       // rows of a table
    OPTION_NAME_BYTES = 40 // "--NAME", with its end
};

// How an option was written on the command line, so that messages name it in the same way.
enum option_form { OPTION_ABSENT, OPTION_LETTER, OPTION_LONG };

struct option_row;

// An option as it was found among the arguments.
struct option_use {
    const struct option_row *row;
    enum option_form form;
    const char *value; // NULL: none
    char *argument;    // the whole argument that ends with the value
};

struct option_row {
    unsigned group;       // index of its heading in the help
    unsigned takes;       // a command takes it if it has one of these bits; 0: every command does
    char letter;          // 0: no short name
    const char *name;     // without "--"; NULL: no long name
    const char *argument; // as the help prints it; "[=...": may be missing; NULL: none
    const char *help;     // lines, each ending in "\n" but the last; NULL: the help omits the row
    // Stores the value in `options`. Returns false after printing a message.
    bool (*set)(void *options, const struct option_use *use);
    size_t offset;   // of the field for the value; for the setters below
    int parameter;   // for setters that several rows share
    bool needs_live; // the input must be a live target
};

struct option_table {
    const struct option_row *rows;
    size_t count;
    const char *const *headings; // of the groups
    size_t group_count;
    const char *hint; // of messages on unknown options
    // Stores an argument that is not an option. Returns false after printing a message.
    bool (*add_argument)(void *options, char *argument);
};

// Parses arguments in any order, argv[0] excepted (IEEE Std 1003.1-2017, 12.2, with long options
// and permutation as getopt_long does them). Notes in given[i] how row i was used. Returns false
// after printing a message.
bool option_table_parse(const struct option_table *table, void *options, enum option_form *given,
                        int argc, char **argv);
// Returns the first row that was given although a command that has the bits `takes` does not take
// it; NULL: there is none.
const struct option_row *option_table_misplaced(const struct option_table *table,
                                                const enum option_form *given, unsigned takes);
// Writes the help of the options that a command with the bits `takes` takes.
void option_table_help(const struct option_table *table, struct extract_text *text, unsigned takes);
// Writes the long names of these options, each after a blank.
void option_table_names(const struct option_table *table, struct extract_text *text,
                        unsigned takes);

// Returns the option as messages name it: "--NAME" or "-L".
const char *option_name(const struct option_row *row, enum option_form form,
                        char name[OPTION_NAME_BYTES]);
// Prints that the value is not allowed, with a hint. Returns false.
bool option_refuse_value(const struct option_use *use, const char *hint);

// Setters of fields at `offset`.
bool option_set_text(void *options, const struct option_use *use);   // const char *
bool option_set_once(void *options, const struct option_use *use);   // the same; not given twice
bool option_set_flag(void *options, const struct option_use *use);   // bool
bool option_set_number(void *options, const struct option_use *use); // uint64_t
bool option_set_count(void *options, const struct option_use *use);  // uint64_t, above 0

#endif
