// SPDX-License-Identifier: MIT
// gdb-reader: what happens at every stop of the target: `auto` prints new events, and `record`
// appends new entries to a log.
#ifndef RINGSIDE_STOPS_H
#define RINGSIDE_STOPS_H

#include "../transport/answer.h"

struct call;
struct recording;

// stop_hooks.c: makes GDB call the reader at every stop if `auto` or `record` is on, and otherwise
// no longer. The request must hold GDB's user-defined commands (request->hooks).
void stops_update_hook(struct call *call);

// stop_record.c: records the entries that are new at this stop. The answer reports losses and
// resets.
enum extract_code recording_poll(struct call *call);

// Closes the log without reading the target, and frees the recording. NULL is allowed.
void recording_close_offline(struct recording *recording);

// Appends one line on the progress of the recording, or "off" if it is NULL.
void recording_show(const struct recording *recording, struct extract_text *text);

#endif
