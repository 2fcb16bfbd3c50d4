// SPDX-License-Identifier: MIT
// analysis: calls of services that failed: those whose wait ended without success, and those that
// may not wait, and found nothing or no room.
#ifndef EXTRACT_ANALYSIS_FAILED_H
#define EXTRACT_ANALYSIS_FAILED_H

#include "base/map.h"
#include <extract/trace.h>

enum { CALL_FAILED = 1, CALL_MAY_HAVE_FAILED };

// Zero-initialize.
struct failed_calls {
    struct extract_map seqs; // by sequence numbers of their events: CALL_FAILED …
    bool is_known;           // the trace has been searched
};

// Searches a trace, unless it has been searched before. Errors: NOMEM.
enum extract_code failed_calls_find(struct failed_calls *failed, const struct extract_trace *trace,
                                    struct extract_error *error);
// Returns the number of messages that fit in the queue that was at an address when the event number
// `seq` happened; 0: not known.
uint64_t failed_calls_room(const struct extract_trace *trace, uint64_t seq, uint64_t address);
void failed_calls_free(struct failed_calls *failed);

#endif
