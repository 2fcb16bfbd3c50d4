// SPDX-License-Identifier: MIT
// gdb-reader: what happens at every stop of the target.
#ifndef RINGSIDE_STOPS_H
#define RINGSIDE_STOPS_H

struct call;

// Makes GDB call the reader at every stop if `auto` or `record` is on, and otherwise no longer. The
// request must hold GDB's user-defined commands (request->hooks).
void stops_update_hook(struct call *call);

#endif
