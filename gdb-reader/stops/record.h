// SPDX-License-Identifier: MIT
// gdb-reader: `ringside record`, which appends new entries to a log at every stop.
#ifndef RINGSIDE_RECORD_H
#define RINGSIDE_RECORD_H

#include "../transport/answer.h"

struct recording;
struct call;

// Records the entries that are new at this stop. The answer reports losses and resets.
enum extract_code recording_poll(struct call *call);

// Closes the log without reading the target, and frees the recording. NULL is allowed.
void recording_close_offline(struct recording *recording);

// Appends one line on the progress of the recording, or "off" if it is NULL.
void recording_show(const struct recording *recording, struct extract_text *text);

#endif
