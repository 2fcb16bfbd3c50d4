// SPDX-License-Identifier: MIT
// cli: what the files of `ringside templates` share.
//
// In: the arguments behind the word `templates`. Out: text, diagnostics of files, a status.
#ifndef RINGSIDE_TEMPLATES_VERBS_H
#define RINGSIDE_TEMPLATES_VERBS_H

#include "cli/cli.h"
#include <extract/templates.h>

// What a verb is, as a bit: which options go with it.
enum templates_verb { VERB_NONE = 0, VERB_RUN = 1, VERB_CHECK = 2, VERB_LIST = 4, VERB_UPDATE = 8 };

struct templates_process {
    uint64_t pid;
    const char *path;
};

struct templates_options {
    enum templates_verb verb;
    const char **files; // owned
    int file_count;
    const char *entry; // hexadecimal; NULL: none
    unsigned bits;     // 32 or 64
    uint64_t pid, tid;
    struct templates_process *processes; // owned
    size_t process_count;
    unsigned dialect;
    const char *format; // NULL: none
    const char *undo;   // NULL: the usual one
    const char *ids;    // of -x; NULL: none
    uint8_t cpu;
    bool generic, little, expand, json, any_version, verbose, quiet, help;
    bool is_strict; // a warning makes the files bad, and is printed in any case
};

// options.c. False: a message has been printed. Freed by templates_options_free in any case.
bool templates_options_parse(struct templates_options *options, int argc, char **argv);
void templates_options_free(struct templates_options *options);

// Bytes of hexadecimal digits, which may have blanks between them; there is room for half as many
// bytes as `digits` has characters, and one. False: a message has been printed.
bool templates_hex_parse(uint8_t *bytes, size_t *length, const char *option, const char *digits);

// load.c: prints all that there is to say of files, "FILE:LINE:COLUMN: NAME: what; hint". Warnings
// are left out when `quiet`. Returns whether there is an error among it.
bool templates_diagnose(const struct extract_templates *templates, bool quiet);
// Opens a set and adds the files, and links them. CLI_WHOLE, or another status after messages;
// *templates is closed by the caller in any case.
int templates_load(struct extract_templates **templates, const struct templates_options *options);

// The verbs.
int templates_run(const struct templates_options *options);
int templates_check(const struct templates_options *options);
int templates_list(const struct templates_options *options);
int templates_update(const struct templates_options *options);

#endif
