// SPDX-License-Identifier: MIT
// gdb-reader: the subcommands of `ringside` in GDB.
#ifndef RINGSIDE_GDB_COMMANDS_H
#define RINGSIDE_GDB_COMMANDS_H

#include "transport/answer.h"
#include "transport/channel.h"
#include "state.h"
#include "transport/gdb_target.h"

// One invocation of a subcommand: what it reads, and the answer that it fills. Nothing is owned.
struct call {
    struct state *state;
    const struct request *request;
    struct target *target;
    struct answer *answer;
};

// What else a request must hold.
enum command_extra {
    EXTRA_NOTHING,
    EXTRA_HOOKS,     // GDB's user-defined commands
    EXTRA_REGISTERS, // the registers of the selected thread
    EXTRA_FPU,       // ... and those of its FPU
    EXTRA_WIDTH      // GDB's setting `width`
};

struct command {
    const char *name;
    const char *usage;   // its arguments
    const char *summary; // one line, which GDB shows in lists
    const char *detail;  // further lines of help; may be empty
    enum command_extra extra;
    // Runs the subcommand. Errors are also stored in call->answer->error, with a message.
    enum extract_code (*run)(struct call *call);
};

// Ends with a NULL name. The last entry before it, at-stop, is not a subcommand: it runs at stops.
extern const struct command commands[];

// Runs the command that the request names. Errors are stored in call->answer.
void command_run(struct call *call);

// Appends the GDB script that defines and documents the subcommands, and sets the descriptors of
// the request and answer files.
void command_definitions(const struct channel *channel, struct extract_text *script);

// Subcommands in stops/.
enum extract_code command_auto(struct call *call);
enum extract_code command_record(struct call *call);

// Subcommands in kernel.c: threads; and objects --kernel.
enum extract_code command_threads(struct call *call);
enum extract_code command_kernel_objects(struct call *call);

// Subcommands in post_mortem.c.
enum extract_code command_crash(struct call *call);
enum extract_code command_core(struct call *call);

// Subcommands in gdb_filter.c: filter; and start, stop and clear.
enum extract_code command_filter(struct call *call);
enum extract_code command_request(struct call *call);

#endif
