// SPDX-License-Identifier: MIT
// Events, objects, statistics and facts as text and as JSON (keys: docs/man/ringside.1).
#ifndef EXTRACT_REPORT_H
#define EXTRACT_REPORT_H

#include <extract/filter.h>
#include <extract/stats.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_report_options {
    size_t size;    // sizeof the struct
    uint64_t hz;    // ticks a second; 0: times are ticks
    bool json;      // one JSON object a line
    bool no_header; // text: without the column heads
    bool color;     // text: heads in bold, flags in red (ECMA-48, SGR)
};

// Each writes to `text` and returns its sticky code.
enum extract_code extract_report_events(struct extract_text *text, const struct extract_view *view,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options,
                                        uint64_t *shown);
enum extract_code extract_report_objects(struct extract_text *text,
                                         const struct extract_trace *trace,
                                         const struct extract_report_options *options);
enum extract_code extract_report_info(struct extract_text *text, const struct extract_trace *trace,
                                      const struct extract_report_options *options);
enum extract_code extract_report_stats(struct extract_text *text, const struct extract_stats *stats,
                                       const struct extract_report_options *options);
// One line a kind of loss or damage; nothing for a whole trace.
enum extract_code extract_report_damage(struct extract_text *text,
                                        const struct extract_trace *trace);
// What reading has cost: reads, bytes, time, and whether the writer moved.
enum extract_code extract_report_cost(struct extract_text *text, const struct extract_trace *trace);

// Writes the trace's ring to `text` as a dump of its own format (ThreadX: .trx), which gives the
// same report when it is read again with the same symbols: the pointer in its header is the
// writer's true place, threads whose names were read from target memory have a registry slot, and
// entries that were overwritten while they were read, or could not be read, carry the id of no
// event. Of a log: the ring that it leads to (extract_trace_image). Errors: NOMEM.
enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
