// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands of `ringside` in GDB.
#ifndef RINGSIDE_COMMANDS_H
#define RINGSIDE_COMMANDS_H

#include "transport/answer.h"
#include "transport/channel.h"
#include "state.h"
#include "transport/target.h"

// All that a command works with.
struct call {
    struct state *state;
    const struct request *request;
    struct target *target;
    struct answer *answer;
};

struct command {
    const char *name;
    const char *usage;   // the arguments
    const char *summary; // one line, as GDB shows it in lists
    const char *detail;  // further lines of help; may be empty
    bool hooks;          // the request brings GDB's user-defined commands along
    // Errors are left in answer->error, in words for the user.
    enum extract_code (*run)(struct call *call);
};

// Ends with a NULL name. The last one is no subcommand: it runs at every stop.
extern const struct command commands[];

// Runs the request's command. What went wrong stands in answer->error.
void command_run(struct call *call);

// Writes the GDB script that defines and documents the subcommands, and says which files the
// channels are.
void command_definitions(const struct channel *channel, struct extract_text *script);

// The commands of stops/ and filter.c.
enum extract_code command_auto(struct call *call);
enum extract_code command_record(struct call *call);
enum extract_code command_filter(struct call *call);
enum extract_code command_request(struct call *call);

#endif
