// SPDX-License-Identifier: MIT
// report: the status of a stream and of its log. In: a trace. Out: the words of struct
// posix_trace_status_info, whatever the trace's format.
//
// Source: IEEE Std 1003.1-2008, <trace.h>, posix_trace_get_status.
#include "report/text_table.h"
#include <extract/trace.h>

static void put_word(struct facts *facts, const char *key, bool is, const char *yes, const char *no)
{
    facts_word(facts, key, is ? yes : no);
}

static bool is_full(const struct extract_log_info *log)
{
    return log->status.full || (log->status.policy == EXTRACT_LOG_LOOP && log->status.dropped);
}

// A log is full when there is something that it has no room for.
static void put_log(struct facts *facts, const struct extract_log_info *log)
{
    bool full = is_full(log);
    struct extract_log_ending now = {.flushing = log->status.writing,
                                     .log_overrun = full || log->losses[EXTRACT_LOSS_LOG_FULL].gaps,
                                     .log_full = full};
    if (log->ended)
        now = log->ending;
    put_word(facts, "flush status", now.flushing, "flushing", "not_flushing");
    facts_number(facts, "flush error", now.flush_error);
    put_word(facts, "log overrun status", now.log_overrun, "overrun", "no_overrun");
    put_word(facts, "log full status", now.log_full, "full", "not_full");
}

enum extract_code extract_report_status(struct extract_text *text,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options)
{
    const struct extract_info *info = extract_trace_info(trace);
    struct facts facts;
    facts_open(&facts, text, options->json);
    if (info->running_known)
        put_word(&facts, "stream status", info->running, "running", "suspended");
    else
        facts_unknown(&facts, "stream status");
    put_word(&facts, "stream full status", info->full, "full", "not_full");
    put_word(&facts, "stream overrun status", info->overrun, "overrun", "no_overrun");
    if (info->log)
        put_log(&facts, info->log);
    facts_close(&facts);
    return text->code;
}
