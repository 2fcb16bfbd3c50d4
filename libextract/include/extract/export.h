// SPDX-License-Identifier: MIT
// Traces as files of other kinds.
#ifndef EXTRACT_EXPORT_H
#define EXTRACT_EXPORT_H

#include <extract/text.h>
#include <extract/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// Writes the trace's ring to `text` as a dump of its own format (ThreadX: .trx), which gives the
// same report when it is read again with the same symbols: the pointer in its header is the
// writer's true place, threads whose names were read from target memory have a registry slot, and
// entries that were overwritten while they were read, or could not be read, carry the id of no
// event. Errors: NOMEM.
enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
