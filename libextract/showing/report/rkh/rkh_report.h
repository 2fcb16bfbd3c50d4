// SPDX-License-Identifier: MIT
// report/rkh: what the files of the statistics of an RKH stream share.
//
// analysis/rkh computes the statistics; rkh_stats.c prints them with the help of text_tables.c and
// rkh_timeline.c (text) or rkh_json.c.
#ifndef EXTRACT_REPORT_RKH_REPORT_H
#define EXTRACT_REPORT_RKH_REPORT_H

#include "analysis/rkh/analysis.h"
#include "report/report_room.h"
#include "report/text_table.h"

// rkh_stats.c: prints the statistics of an RKH trace. Errors: NOMEM.
enum extract_code rkh_report_stats(struct extract_text *text, const struct extract_view *view,
                                   const struct extract_trace *trace,
                                   const struct extract_report_options *options,
                                   struct extract_error *error);

// A report of statistics that is being printed.
struct rkh_report {
    struct extract_text *text;
    const struct rkh_analysis *analysis;
    const struct extract_stats *stats;
    const struct extract_report_options *options;
    struct value_names names;
};

// text_tables.c: prints one table per kind of object.
void rkh_put_text_tables(struct rkh_report *report);
// rkh_timeline.c: prints the states over time, as strips of letters.
void rkh_put_timeline(struct rkh_report *report);
// rkh_json.c: prints the whole report as one object.
void rkh_put_json(struct rkh_report *report);

// rkh_stats.c: writes the mean of times with three decimals.
void rkh_put_mean(struct extract_text *text, const struct rkh_spread *spread);

// Returns the name of the module of the i-th assertion.
static inline const char *rkh_module(const struct rkh_analysis *analysis, size_t i)
{
    return analysis->modules.data + analysis->assertions[i].module;
}

#endif
