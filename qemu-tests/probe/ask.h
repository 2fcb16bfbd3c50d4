// SPDX-License-Identifier: MIT
// probe: a client of the control socket, for scripts. In: words. Out: the answer on standard
// output.
#ifndef PROBE_ASK_H
#define PROBE_ASK_H

#include <extract/error.h>
#include <stddef.h>

// Sends the words as one line and prints the answer without its "ok". Errors: IO; BAD with the
// text of an answer that is an error.
enum extract_code ask(const char *path, char *const *words, size_t count,
                      struct extract_error *error);

#endif
