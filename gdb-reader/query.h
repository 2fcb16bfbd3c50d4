// SPDX-License-Identifier: MIT
// gdb-reader: one command's access to the trace ring.
//
// A query goes from the target's memory to a trace: query_open does all of it. A command that must
// work although the ring cannot be read calls its two halves, query_open_memory and
// query_open_session.
#ifndef RINGSIDE_QUERY_H
#define RINGSIDE_QUERY_H

#include "transport/channel.h"
#include "state.h"
#include "transport/gdb_target.h"
#include <extract/session.h>

enum { QUERY_MAX_CONDITIONS = STATE_FILTERS + CHANNEL_MAX_ARGUMENTS / 2 };

// Filters and settings of one command: those of `ringside set`, replaced by the command's own.
// Strings belong to the state or to the request.
struct query_options {
    const char *rkh, *view;            // settings of an RKH stream, its view
    const char *filter[STATE_FILTERS]; // by enum extract_filter_word; or NULL
    bool is_given[STATE_FILTERS];      // the command has this filter
    // Second and later values of a filter.
    struct extract_condition repeated[CHANNEL_MAX_ARGUMENTS / 2];
    size_t repeated_count;
    const char *columns[1 + CHANNEL_MAX_ARGUMENTS / 2]; // -O; later ones override earlier ones
    size_t column_count;
    const char *spans[CHANNEL_MAX_ARGUMENTS / 2]; // --span
    size_t span_count;
    bool no_header;
};

struct query {
    struct state *state;
    const char *files;                // output of GDB's `info files`, of the request
    struct extract_memory *memory;    // owned
    struct extract_hook_roles *roles; // owned; NULL: none
    struct extract_session *session;  // owned; NULL until query_open_session succeeds
    struct target *target;
    struct extract_columns columns;
    struct extract_rkh rkh;
    uint64_t format_start_ns;   // when formatting began; 0: not yet
    uint64_t last_gdb_check_ns; // when GDB last had the chance to see a Ctrl-C
    bool templates_timed_out;
    unsigned width; // columns of a line in GDB; 0: those of the terminal
};

// Returns the options of a command without arguments: those of `ringside set`.
struct query_options query_options_of(const struct state *state);

// Writes the conditions that the options make to `conditions`. Returns their number.
size_t query_conditions(const struct query_options *options,
                        struct extract_condition conditions[QUERY_MAX_CONDITIONS]);

// Opens the ELF's symbols and the target's memory. After an error, nothing needs to be closed.
// Errors: as state_open_symbols; UNREADABLE if GDB has no target.
enum extract_code query_open_memory(struct query *query, struct state *state,
                                    const struct request *request,
                                    const struct query_options *options, struct target *target,
                                    struct extract_error *error);

// Finds the shared memory with the POSIX trace of a program on this host. Returns false if there is
// none.
bool query_find_process(const char *files, struct extract_memory *memory, uint64_t *address);

// Reads the trace from the memory that is open. After an error, the memory remains open. Errors: as
// extract_session_open.
enum extract_code query_open_session(struct query *query, const struct query_options *options,
                                     struct extract_error *error);

// Opens symbols and memory, and reads the trace. After an error, nothing needs to be closed.
// Errors: as query_open_memory and query_open_session.
enum extract_code query_open(struct query *query, struct state *state,
                             const struct request *request, const struct query_options *options,
                             struct target *target, struct extract_error *error);

// Appends the output of a command of the library to `text`, then the errors in templates and the
// losses that they caused. Errors: as extract_session_run; LIMIT: the templates ran too long.
enum extract_code query_run(struct query *query, const char *command, struct extract_text *text,
                            struct extract_error *error);

// Does the same as query_run with the command "report", for the events of `view`.
enum extract_code query_report(struct query *query, const struct extract_view *view,
                               struct extract_text *text, struct extract_error *error);

// Remembers the cost and the newest event of the snapshot, and frees the query.
void query_close(struct query *query);

// Frees the query. The snapshot that is remembered remains the previous one.
void query_discard(struct query *query);

// Appends the events that are newer than the last snapshot to `text`: at most `max_events` (0:
// all). Reports if there are none, or if some were lost. *printed: their number. Errors: as
// extract_session_run.
enum extract_code query_print_new_events(struct query *query, const struct query_options *options,
                                         uint64_t max_events, struct extract_text *text,
                                         uint64_t *printed, struct extract_error *error);

// Moves symbols to the load address that follows from the entry point in GDB's `info files`.
// `symbols` may be NULL.
void query_relocate(struct extract_symbols *symbols, const struct request *request);

#endif
