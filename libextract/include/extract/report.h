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

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
