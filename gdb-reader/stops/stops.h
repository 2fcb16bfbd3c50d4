// SPDX-License-Identifier: MIT
// gdb-reader: what happens at every stop of the target.
#ifndef RINGSIDE_STOPS_H
#define RINGSIDE_STOPS_H

struct call;

// Makes GDB call the reader at every stop, or not any more, as `auto` and `record` need it. The
// request must have brought GDB's user-defined commands along.
void stops_hook(struct call *call);

#endif
