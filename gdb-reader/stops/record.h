// SPDX-License-Identifier: MIT
// gdb-reader: `ringside record`: a log that gets at every stop what is new in the ring.
#ifndef RINGSIDE_RECORD_H
#define RINGSIDE_RECORD_H

#include "../transport/answer.h"

struct recording;
struct call;

// A stop: what is new goes to the log. Says what was lost, and what happened to the target.
enum extract_code recording_stop(struct call *call);

// Without a further look at the target: the log is closed where the last stop came to. NULL is
// allowed.
void recording_close_offline(struct recording *recording);

// "off", or how far it has come.
void recording_show(const struct recording *recording, struct extract_text *text);

#endif
