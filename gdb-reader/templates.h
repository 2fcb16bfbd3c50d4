// SPDX-License-Identifier: MIT
// gdb-reader: the user's own templates, by which reports say what happened.
#ifndef RINGSIDE_TEMPLATES_H
#define RINGSIDE_TEMPLATES_H

#include "commands.h"
#include <extract/templates.h>

enum { TEMPLATES_TOLD = 100 }; // lines on what is wrong

// `ringside set templates [FILE...]` and `ringside set dialect WORDS`: what is set is compiled at
// once; what is wrong with it stands in the answer, and the earlier setting stays.
enum extract_code templates_set_files(struct call *call);
enum extract_code templates_set_dialect(struct call *call, const char *words);

// Whether the files can be read without waiting for anybody. Errors: IO, USAGE.
enum extract_code templates_are_files(const struct template_files *files,
                                      struct extract_error *error);

#endif
