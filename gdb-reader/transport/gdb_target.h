// SPDX-License-Identifier: MIT
// gdb-reader: access to target memory through GDB, safe against GDB's exceptions.
#ifndef RINGSIDE_GDB_TARGET_H
#define RINGSIDE_GDB_TARGET_H

#include <extract/memory.h>
#include <gdb/jit-reader.h>

struct target;

// Runs work(context, target), which can read the target's memory through `read`. `read` may throw
// an exception of GDB's: the user pressed Ctrl-C, or the connection broke. Then all further reads
// fail, the work runs to its end, and the exception continues. Returns false if memory is short:
// the work was not run.
bool target_run(gdb_target_read *read, void (*work)(void *context, struct target *target),
                void *context);

// Returns whether GDB has a target to read from: `read` was not NULL.
bool target_exists(const struct target *target);

// Reads one byte, so that GDB can end the command if the user pressed Ctrl-C. Returns false if GDB
// has ended it, now or before.
bool target_may_continue(struct target *target);

// Reads up to `length` bytes from `address` on. Returns the number of bytes read. This is the read
// callback of an extract_memory_source; `target` is a struct target.
size_t target_read(void *target, uint64_t address, void *buffer, size_t length);

// Makes a memory over the target of the running work, which the caller closes. Errors: NOMEM.
enum extract_code target_open_memory(struct target *target, enum extract_byte_order order,
                                     struct extract_memory **memory, struct extract_error *error);

#endif
