// SPDX-License-Identifier: MIT
// base: how similar two words are, for messages that suggest the word a user probably meant.
#ifndef EXTRACT_BASE_NEAREST_H
#define EXTRACT_BASE_NEAREST_H

#include <stdbool.h>

enum {
    NEAREST_MAX_LETTERS = 24, // longer words are similar to none
    NEAREST_TOO_FAR = 3       // edits that make two words too different for a suggestion
};

// Returns whether fewer than *least edits make `candidate` of `word`, and lowers *least to their
// number. An edit adds, removes or replaces a letter, or exchanges two neighbors. Words of which
// half or more must be edited are too different. *least begins with NEAREST_TOO_FAR.
bool nearest_is_better(const char *word, const char *candidate, unsigned *least);

#endif
