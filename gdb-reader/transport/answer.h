// SPDX-License-Identifier: MIT
// gdb-reader: what a command has to say, and the GDB script that says it.
#ifndef RINGSIDE_ANSWER_H
#define RINGSIDE_ANSWER_H

#include <extract/text.h>
#include <stdint.h>

// As the exit status of the command line.
enum answer_status { ANSWER_WHOLE = 0, ANSWER_USAGE = 1, ANSWER_UNREADABLE = 2, ANSWER_LOSSES = 3 };

struct answer {
    struct extract_text text;   // what the command prints
    struct extract_text script; // GDB commands to run behind it
    struct extract_error error; // code OK: none
    enum answer_status status;
    bool counted;    // events and lost are set
    bool lost_known; // false: the ring keeps no count
    uint64_t events;
    uint64_t lost;
};

void answer_init(struct answer *answer);
void answer_free(struct answer *answer);

// Writes the GDB script that prints the text, sets $ringside_status, _events, _lost and _error,
// and tells the calling command whether to fail. `pieces` says how often the script calls
// _ringside-print, which prints the next piece of the text; 0 when the script itself holds it.
enum extract_code answer_script(const struct answer *answer, size_t pieces,
                                struct extract_text *script);

#endif
