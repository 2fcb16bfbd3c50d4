// SPDX-License-Identifier: MIT
// gdb-reader: the user's own templates, which determine the text of events.
#ifndef RINGSIDE_GDB_TEMPLATES_H
#define RINGSIDE_GDB_TEMPLATES_H

#include "gdb_commands.h"
#include <extract/templates.h>

enum { TEMPLATES_MAX_MESSAGES = 100 }; // errors and warnings that one command prints

// Run `ringside set templates [FILE...]` and `ringside set dialect SETTINGS`. Templates are
// compiled at once. If they have errors, these are in the answer, and the earlier setting remains.
enum extract_code templates_set_files(struct call *call);
enum extract_code templates_set_dialect(struct call *call, const char *settings);

// Checks that the files can be read without blocking GDB. Errors: IO, USAGE.
enum extract_code templates_are_files(const struct template_files *files,
                                      struct extract_error *error);

#endif
