// SPDX-License-Identifier: MIT
// cli: what the files of `ringside templates` share.
//
// The arguments after the word `templates` are parsed to struct templates_options. Then one of the
// subcommands runs: it prints its text and the diagnostics of template files, and returns the exit
// status.
#ifndef RINGSIDE_TEMPLATES_TEMPLATES_COMMANDS_H
#define RINGSIDE_TEMPLATES_TEMPLATES_COMMANDS_H

#include "cli/cli.h"
#include <extract/templates.h>

// The subcommands as bits, in the order of templates_subcommands. Rows of the option table name
// those that take an option.
enum {
    SUBCOMMAND_NONE = 0,
    SUBCOMMAND_RUN = 1,
    SUBCOMMAND_CHECK = 2,
    SUBCOMMAND_LIST = 4,
    SUBCOMMAND_UPDATE = 8
};

struct templates_process {
    uint64_t pid;
    const char *path;
};

struct templates_options {
    unsigned subcommand; // one bit
    const char **files;  // owned
    int file_count;
    const char *entry; // hexadecimal; NULL: none
    unsigned bits;     // of a word of the entry: 32 or 64
    uint64_t pid, tid;
    struct templates_process *processes; // owned
    size_t process_count;
    unsigned dialect;
    const char *format; // NULL: none
    const char *undo;   // NULL: the default
    const char *ids;    // list of -x; NULL: none
    uint8_t cpu;
    bool generic, little, expand, json, any_version, verbose, quiet, help;
    bool is_strict; // warnings are errors, and are printed in any case
};

// templates_options.c: the options of all subcommands, and the names of these (NULL after the
// last).
extern const struct option_table templates_option_table;
extern const char *const templates_subcommands[];
// Parses the arguments. Returns false after printing a message. The caller frees the options in any
// case.
bool templates_options_parse(struct templates_options *options, int argc, char **argv);
void templates_options_free(struct templates_options *options);

// Parses hexadecimal digits, which may have blanks between them, to bytes. `bytes` has capacity for
// strlen(digits) / 2 + 1 bytes. Returns false after printing a message.
bool templates_hex_parse(uint8_t *bytes, size_t *length, const char *option, const char *digits);

// load.c: prints the diagnostics of files, "FILE:LINE:COLUMN: NAME: what; hint", without warnings
// if `quiet`. Returns whether one is an error.
bool templates_diagnose(const struct extract_templates *templates, bool quiet);
// Opens a set of templates, adds the files and links them. Returns CLI_SUCCESS, or another status
// after printing messages. The caller closes *templates in any case.
int templates_load(struct extract_templates **templates, const struct templates_options *options);

// The subcommands. Each returns the exit status.
int templates_run(const struct templates_options *options);
int templates_check(const struct templates_options *options);
int templates_list(const struct templates_options *options);
int templates_update(const struct templates_options *options);

#endif
