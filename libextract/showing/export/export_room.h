// SPDX-License-Identifier: MIT
// export: writes a ring as a dump file of its format, for `ringside save`. Reading the file again
// gives the same report as the trace.
#ifndef EXTRACT_EXPORT_EXPORT_ROOM_H
#define EXTRACT_EXPORT_EXPORT_ROOM_H

#include "events/events_room.h"
#include "formats/format.h"

// Each writer appends the file of a trace of its format to `text`. Errors: NOMEM and, of
// export_posix, UNSUPPORTED, LIMIT and BAD.
enum extract_code export_threadx(struct extract_text *text, const struct extract_trace *trace,
                                 struct extract_error *error);
enum extract_code export_hook(struct extract_text *text, const struct extract_trace *trace,
                              struct extract_error *error);
enum extract_code export_rkh(struct extract_text *text, const struct extract_trace *trace,
                             struct extract_error *error);
enum extract_code export_posix(struct extract_text *text, const struct extract_trace *trace,
                               struct extract_error *error);

// Writes a snapshot that holds only the entries of a log and the names of their types.
enum extract_code export_posix_recording(struct extract_text *text,
                                         const struct extract_snapshot *snapshot,
                                         struct extract_error *error);

// Returns whether an export of a trace shows what the threads do between its events.
bool export_shows_states(const char *name, const struct extract_trace *trace);

#endif
