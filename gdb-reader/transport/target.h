// SPDX-License-Identifier: MIT
// gdb-reader: the target's memory as GDB reads it, and the work that needs it.
#ifndef RINGSIDE_TARGET_H
#define RINGSIDE_TARGET_H

#include <extract/memory.h>
#include <gdb/jit-reader.h>

struct target;

// Runs work(context, target) with access to the target's memory through `read`; `read` may leave
// by an exception of GDB's (the user pressed Ctrl-C, the connection broke). Then all further reads
// fail, the work is run to its end, and the exception goes on. False: no memory for it; the work
// was not run.
bool target_run(gdb_target_read *read, void (*work)(void *context, struct target *target),
                void *context);

// False: the work was started with no `read`, because GDB has nothing to read from.
bool target_is_there(const struct target *target);

// Gives GDB a chance to end the command, as it does while it reads memory: the user may have
// pressed Ctrl-C. False: it has, or had already.
bool target_goes_on(struct target *target);

// How many bytes from `address` on could be read; as an extract_memory_source has it, `target` is a
// struct target.
size_t target_read(void *target, uint64_t address, void *buffer, size_t length);

// The memory of the running work's target. Errors: NOMEM.
enum extract_code target_memory(struct target *target, enum extract_byte_order order,
                                struct extract_memory **memory, struct extract_error *error);

#endif
