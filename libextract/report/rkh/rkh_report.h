// SPDX-License-Identifier: MIT
// report/rkh: what its files share: the figures of an RKH stream, and its sequence chart.
#ifndef EXTRACT_REPORT_RKH_REPORT_H
#define EXTRACT_REPORT_RKH_REPORT_H

#include "analysis/rkh/analysis.h"
#include "report/internal.h"
#include "report/text_table.h"

// stats.c: the verb "stats" of an RKH trace. Errors: NOMEM.
enum extract_code rkh_report_stats(struct extract_text *text, const struct extract_view *view,
                                   const struct extract_trace *trace,
                                   const struct extract_report_options *options,
                                   struct extract_error *error);

// What a report of the figures is made of.
struct rkh_figures {
    struct extract_text *text;
    const struct rkh_analysis *study;
    const struct extract_stats *stats;
    const struct extract_report_options *options;
    struct value_names naming;
};

void rkh_put_text_tables(struct rkh_figures *figures);
// timeline.c: the states over time, as strips of letters.
void rkh_put_timeline(struct rkh_figures *figures);
void rkh_put_json(struct rkh_figures *figures);

// A mean with three decimals.
void rkh_put_mean(struct extract_text *text, const struct rkh_spread *spread);
// The name of a module of an assertion.
static inline const char *rkh_module(const struct rkh_analysis *study, size_t i)
{
    return study->modules.data + study->assertions[i].module;
}

#endif
