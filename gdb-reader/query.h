// SPDX-License-Identifier: MIT
// gdb-reader: one look at the ring: from target memory to a trace.
#ifndef RINGSIDE_LOOK_H
#define RINGSIDE_LOOK_H

#include "transport/channel.h"
#include "state.h"
#include "transport/target.h"
#include <extract/session.h>

// A look takes at most so many conditions.
enum { CHOICE_CONDITIONS = STATE_WORDS + CHANNEL_ARGUMENTS / 2 };

// What the command or else `ringside set` says: the words of the filter, NULL: nothing; and words
// of -O, one on top of the other.
struct query_options {
    const char *rkh, *view;
    const char *word[STATE_WORDS];
    bool told[STATE_WORDS];                               // by the command
    struct extract_condition more[CHANNEL_ARGUMENTS / 2]; // that it told again
    size_t more_count;
    const char *columns[1 + CHANNEL_ARGUMENTS / 2];
    size_t column_count;
};

struct query {
    struct state *state;
    struct extract_memory *memory;
    struct extract_session *session;
    struct target *target;
    struct extract_columns columns;
    struct extract_rkh rkh;
    uint64_t started; // formatting, in nanoseconds; 0: not yet
    uint64_t asked;   // GDB, whether it goes on
    bool too_long;    // templates ran until they were stopped
};

// What `ringside set` has set, for a command without arguments of its own.
struct query_options choice_of(const struct state *state);

// The first half of a look: the ELF's symbols, and memory. After an error there is nothing to
// close. Errors: as state_symbols; UNREADABLE when GDB has no target.
enum extract_code query_begin(struct query *query, struct state *state,
                              const struct request *request, const struct query_options *choice,
                              struct target *target, struct extract_error *error);
// The second: the trace. After an error, memory is still there.
enum extract_code query_trace(struct query *query, const struct query_options *choice,
                              struct extract_error *error);

// Reads the trace. After an error there is nothing to close. Errors: as extract_session_open;
// UNREADABLE when GDB has no target.
enum extract_code query_open(struct query *query, struct state *state,
                             const struct request *request, const struct query_options *choice,
                             struct target *target, struct extract_error *error);

// Answers a query of the library. What is wrong with the templates, and which losses they brought,
// is told in the text. Errors: as extract_session_run; LIMIT: the templates take too long.
enum extract_code query_run(struct query *query, const char *command, struct extract_text *text,
                            struct extract_error *error);
// Answers the query "report", for the events of another view.
enum extract_code query_report(struct query *query, const struct extract_view *view,
                               struct extract_text *text, struct extract_error *error);

// Remembers what the look has cost and where its newest event was, and frees it.
void query_close(struct query *query);

// Frees it; what is remembered is of the look before.
void query_forget(struct query *query);

// Writes the events behind the newest one of the last look to `text`: at most `newest` of them
// (0: all), and what can be said where there are none, or where some are lost. *shown: how many.
// Errors: as extract_session_run.
enum extract_code query_news(struct query *query, const struct query_options *choice,
                             uint64_t newest, struct extract_text *text, uint64_t *shown,
                             struct extract_error *error);

// Moves symbols to where GDB says that the program's entry point lies. NULL is allowed.
void query_move(struct extract_symbols *symbols, const struct request *request);

// The conditions that a choice makes. Returns how many.
size_t choice_conditions(const struct query_options *choice,
                         struct extract_condition conditions[CHOICE_CONDITIONS]);

#endif
