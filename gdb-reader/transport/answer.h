// SPDX-License-Identifier: MIT
// gdb-reader: the answer of a command, and the GDB script that delivers it.
#ifndef RINGSIDE_ANSWER_H
#define RINGSIDE_ANSWER_H

#include <extract/text.h>
#include <stdint.h>

// $ringside_status: the values of the exit status of ringside(1).
enum answer_status {
    ANSWER_SUCCESS = 0,
    ANSWER_USAGE = 1,
    ANSWER_UNREADABLE = 2,
    ANSWER_LOSSES = 3
};

struct answer {
    struct extract_text text;   // what the command prints
    struct extract_text script; // GDB commands to run after the text is printed
    struct extract_error error; // code OK: the command succeeded
    enum answer_status status;
    bool is_counted;    // `events` and `lost` are valid
    bool is_lost_known; // false: the ring does not count lost events
    uint64_t events;
    uint64_t lost;
};

void answer_init(struct answer *answer);
void answer_free(struct answer *answer);

// Appends the GDB script that prints the text, sets $ringside_status, _events, _lost and _error,
// and makes the calling command fail if there is an error. `chunks` is the number of calls to
// _ringside-print, each of which prints the next chunk of the text; 0: the script holds the text.
// Errors: NOMEM.
enum extract_code answer_script(const struct answer *answer, size_t chunks,
                                struct extract_text *script);

#endif
