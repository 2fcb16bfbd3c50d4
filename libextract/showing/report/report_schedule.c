// SPDX-License-Identifier: MIT
// report: the schedule of a trace, one line per interval, state, wake-up and time of ownership, in
// the order in which the schedule completes them. Text is for people; JSON has one object per line.
// A condition on threads leaves out what concerns others only.
#include "events/event_filter.h"
#include "report/report_room.h"
#include <extract/schedule.h>
#include <string.h>

enum {
    OTHER_CHECKS = 1 << EXTRACT_FILTER_EVENT | 1 << EXTRACT_FILTER_OBJECT |
                   1 << EXTRACT_FILTER_CLASS | 1 << EXTRACT_FILTER_WHERE | 1 << EXTRACT_FILTER_CORE
};

struct schedule_report {
    struct extract_text *text;
    const struct extract_view *view;
    const struct extract_trace *trace;
    const struct extract_schedule_sink *lines; // of the wanted format
};

// ---- JSON ----

static void put_json_number(struct extract_text *text, const char *key, bool is_known,
                            uint64_t value)
{
    extract_text_puts(text, ",\"");
    extract_text_puts(text, key);
    extract_text_puts(text, "\":");
    if (is_known)
        extract_text_dec(text, value);
    else
        extract_text_puts(text, "null");
}

static void put_json_string(struct extract_text *text, const char *key, const char *string)
{
    extract_text_puts(text, ",\"");
    extract_text_puts(text, key);
    extract_text_puts(text, "\":");
    if (string)
        extract_text_json(text, string);
    else
        extract_text_puts(text, "null");
}

static void put_json_bool(struct extract_text *text, const char *key, bool value)
{
    extract_text_puts(text, ",\"");
    extract_text_puts(text, key);
    extract_text_puts(text, value ? "\":true" : "\":false");
}

static void put_json_span(struct extract_text *text, uint64_t from, uint64_t to)
{
    put_json_number(text, "from", true, from);
    put_json_number(text, "to", true, to);
}

static void put_json_interval(void *context, const struct extract_interval *interval)
{
    struct extract_text *text = ((struct schedule_report *)context)->text;

    extract_text_puts(text, "{\"type\":\"interval\"");
    put_json_number(text, "core", true, interval->core);
    put_json_span(text, interval->from, interval->to);
    put_json_string(text, "kind", extract_runner_name(interval->runner));
    put_json_number(text, "thread", interval->thread != 0, interval->thread);
    put_json_number(text, "isr", interval->isr_known, interval->isr);
    if (interval->lock)
        put_json_number(text, "lock", true, interval->lock);
    put_json_bool(text, "unsure", interval->is_unsure);
    extract_text_puts(text, "}\n");
}

static void put_json_state(void *context, const struct extract_state *state)
{
    struct extract_text *text = ((struct schedule_report *)context)->text;

    extract_text_puts(text, "{\"type\":\"state\"");
    put_json_number(text, "thread", true, state->thread);
    put_json_span(text, state->from, state->to);
    put_json_string(text, "state", extract_thread_state_name(state->state));
    put_json_string(text, "service", state->wait);
    put_json_number(text, "object", state->object != 0, state->object);
    put_json_number(text, "timeout", state->timeout_known, state->timeout);
    put_json_number(text, "core", state->state == EXTRACT_STATE_RUNNING, state->core);
    put_json_bool(text, "unsure", state->is_unsure);
    extract_text_puts(text, "}\n");
}

static void put_json_wake(void *context, const struct extract_wake *wake)
{
    struct extract_text *text = ((struct schedule_report *)context)->text;

    extract_text_puts(text, "{\"type\":\"wake\"");
    put_json_number(text, "at", true, wake->at);
    put_json_number(text, "event", true, wake->seq);
    put_json_number(text, "cause", wake->reason == EXTRACT_WAKE_SERVICE, wake->cause);
    put_json_number(text, "thread", true, wake->thread);
    put_json_number(text, "by", wake->by != 0, wake->by);
    put_json_bool(text, "isr", wake->in_isr);
    put_json_string(text, "reason", extract_wake_reason_name(wake->reason));
    put_json_bool(text, "likely", wake->is_likely);
    put_json_number(text, "object", wake->object != 0, wake->object);
    put_json_string(text, "reached",
                    wake->is_suspended ? "suspended"
                    : wake->is_unsure  ? "unknown"
                                       : "ready");
    extract_text_puts(text, "}\n");
}

static void put_json_owner(void *context, const struct extract_ownership *owner)
{
    struct extract_text *text = ((struct schedule_report *)context)->text;

    extract_text_puts(text, "{\"type\":\"owner\"");
    put_json_number(text, "mutex", true, owner->mutex);
    put_json_span(text, owner->from, owner->to);
    put_json_number(text, "thread", owner->thread != 0, owner->thread);
    put_json_number(text, "isr", owner->isr_known, owner->isr);
    put_json_number(text, "core", owner->in_isr, owner->core);
    extract_text_puts(text, "}\n");
}

// ---- text ----

// Writes the name of a thread or object, or its address if the trace has no name for it.
static void put_name(struct schedule_report *report, bool is_thread, uint64_t address)
{
    const struct extract_object *object =
        is_thread ? extract_trace_thread(report->trace, address) : NULL;

    if (!object) // what sends messages to active objects need not be one
        object = extract_trace_object(report->trace, address);
    if (object)
        extract_text_puts(report->text, object->shown);
    else
        extract_text_printf(report->text, "0x%llx", (unsigned long long)address);
}

static void put_span(struct schedule_report *report, uint64_t from, uint64_t to)
{
    extract_text_printf(report->text, "%14llu %14llu %12llu  ", (unsigned long long)from,
                        (unsigned long long)to, (unsigned long long)(to - from));
}

static void put_interval(void *context, const struct extract_interval *interval)
{
    struct schedule_report *report = context;

    put_span(report, interval->from, interval->to);
    extract_text_printf(report->text, "core %u: ", interval->core);
    if (interval->runner == EXTRACT_RUNNER_ISR && interval->isr_known)
        extract_text_printf(report->text, "interrupt %llu", (unsigned long long)interval->isr);
    else if (interval->runner == EXTRACT_RUNNER_ISR)
        extract_text_puts(report->text, "interrupt");
    else if (interval->runner == EXTRACT_RUNNER_THREAD)
        put_name(report, true, interval->thread);
    else if (interval->runner == EXTRACT_RUNNER_INIT)
        extract_text_puts(report->text, "start-up");
    else
        extract_text_puts(report->text, extract_runner_name(interval->runner));
    if (interval->lock) {
        extract_text_puts(report->text, ", spins on lock ");
        put_name(report, false, interval->lock);
    }
    extract_text_puts(report->text, interval->is_unsure ? " (likely)\n" : "\n");
}

static void put_state(void *context, const struct extract_state *state)
{
    struct schedule_report *report = context;

    put_span(report, state->from, state->to);
    put_name(report, true, state->thread);
    extract_text_printf(report->text, ": %s", extract_thread_state_name(state->state));
    bool spins = state->state == EXTRACT_STATE_RUNNING && state->wait;
    if (state->wait)
        extract_text_printf(report->text, "%s on %s", spins ? ", spins" : "", state->wait);
    if (state->object) {
        extract_text_putc(report->text, ' ');
        put_name(report, false, state->object);
    }
    if (state->timeout_known && state->timeout >= UINT32_MAX)
        extract_text_puts(report->text, ", forever");
    else if (state->timeout_known)
        extract_text_printf(report->text, ", for at most %llu timer ticks",
                            (unsigned long long)state->timeout);
    extract_text_puts(report->text, state->is_unsure ? " (likely)\n" : "\n");
}

static void put_wake(void *context, const struct extract_wake *wake)
{
    struct schedule_report *report = context;

    extract_text_printf(report->text, "%14llu %14s %12s  ", (unsigned long long)wake->at, "", "");
    put_name(report, true, wake->thread);
    extract_text_puts(report->text, wake->is_suspended ? ": suspended when its wait ended: "
                                    : wake->is_unsure
                                        ? ": woken, or suspended when its wait ended: "
                                        : ": woken: ");
    extract_text_puts(report->text, wake->is_likely ? "likely " : "");
    extract_text_puts(report->text, extract_wake_reason_name(wake->reason));
    if (wake->reason == EXTRACT_WAKE_SERVICE)
        extract_text_printf(report->text, " #%llu", (unsigned long long)wake->cause);
    if (wake->in_isr) {
        extract_text_puts(report->text, " in an interrupt");
    } else if (wake->by) {
        extract_text_puts(report->text, " by ");
        put_name(report, true, wake->by);
    }
    extract_text_printf(report->text, " (#%llu)\n", (unsigned long long)wake->seq);
}

static void put_owner(void *context, const struct extract_ownership *owner)
{
    struct schedule_report *report = context;

    put_span(report, owner->from, owner->to);
    put_name(report, false, owner->mutex);
    if (owner->in_isr && owner->isr_known) {
        extract_text_printf(report->text, ": held by interrupt %llu of core %u",
                            (unsigned long long)owner->isr, owner->core);
    } else if (owner->in_isr) {
        extract_text_printf(report->text, ": held by an interrupt of core %u", owner->core);
    } else if (owner->thread) {
        extract_text_puts(report->text, ": held by ");
        put_name(report, true, owner->thread);
    } else {
        extract_text_puts(report->text, ": free");
    }
    extract_text_putc(report->text, '\n');
}

// ---- choice of threads ----

static void choose_interval(void *context, const struct extract_interval *interval)
{
    struct schedule_report *report = context;
    bool is_isr = interval->runner == EXTRACT_RUNNER_ISR;
    bool is_init = interval->runner == EXTRACT_RUNNER_INIT;

    if (filter_passes_context(report->view,
                              is_isr    ? EXTRACT_ISR
                              : is_init ? EXTRACT_INIT
                                        : EXTRACT_THREAD,
                              interval->thread))
        report->lines->interval(report, interval);
}

static void choose_state(void *context, const struct extract_state *state)
{
    struct schedule_report *report = context;

    if (filter_passes_context(report->view, EXTRACT_THREAD, state->thread))
        report->lines->state(report, state);
}

static void choose_wake(void *context, const struct extract_wake *wake)
{
    struct schedule_report *report = context;
    enum extract_context by = wake->in_isr ? EXTRACT_ISR : EXTRACT_THREAD;

    if (filter_passes_context(report->view, EXTRACT_THREAD, wake->thread) ||
        filter_passes_context(report->view, by, wake->by))
        report->lines->wake(report, wake);
}

static void choose_owner(void *context, const struct extract_ownership *owner)
{
    struct schedule_report *report = context;
    enum extract_context by = owner->in_isr ? EXTRACT_ISR : EXTRACT_THREAD;

    if (filter_passes_context(report->view, by, owner->thread))
        report->lines->owner(report, owner);
}

enum extract_code extract_report_schedule(struct extract_text *text,
                                          const struct extract_view *view,
                                          const struct extract_trace *trace,
                                          const struct extract_report_options *options,
                                          struct extract_error *error)
{
    static const struct extract_schedule_sink lines = {
        .interval = put_interval, .state = put_state, .wake = put_wake, .owner = put_owner};
    static const struct extract_schedule_sink objects = {.interval = put_json_interval,
                                                         .state = put_json_state,
                                                         .wake = put_json_wake,
                                                         .owner = put_json_owner};
    struct schedule_report report = {text, view, trace, options->json ? &objects : &lines};
    const struct extract_schedule_sink chosen = {.context = &report,
                                                 .interval = choose_interval,
                                                 .state = choose_state,
                                                 .wake = choose_wake,
                                                 .owner = choose_owner};

    if (view->checks & OTHER_CHECKS)
        return extract_error_set(error, EXTRACT_USAGE, "schedule",
                                 "use --thread, --from, --to or --last; report filters events",
                                 "the schedule cannot be filtered by events");
    if (!options->json && !options->no_header)
        extract_text_printf(text, "%14s %14s %12s  %s\n", "FROM", "TO", "TICKS", "WHAT");
    enum extract_code code = extract_schedule_run(view, trace, &chosen, error);
    return code ? code : text->code;
}
