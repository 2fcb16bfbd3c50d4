// SPDX-License-Identifier: MIT
// export: a ring as a dump file of its format. In: a trace. Out: the bytes of the file.
#ifndef EXTRACT_EXPORT_EXPORT_H
#define EXTRACT_EXPORT_EXPORT_H

#include "events/internal.h"
#include "formats/format.h"

// One writer for each format appends the file to `text`. Errors: NOMEM.
enum extract_code export_threadx(struct extract_text *text, const struct extract_trace *trace,
                                 struct extract_error *error);
enum extract_code export_hook(struct extract_text *text, const struct extract_trace *trace,
                              struct extract_error *error);
enum extract_code export_rkh(struct extract_text *text, const struct extract_trace *trace,
                             struct extract_error *error);
enum extract_code export_posix(struct extract_text *text, const struct extract_trace *trace,
                               struct extract_error *error);

// A snapshot that holds nothing but the entries of a log and the names of their types.
enum extract_code export_posix_recording(struct extract_text *text,
                                         const struct extract_snapshot *snapshot,
                                         struct extract_error *error);

#endif
