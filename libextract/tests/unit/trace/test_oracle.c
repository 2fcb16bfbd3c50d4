// SPDX-License-Identifier: MIT
// unit: compares every event, object and statistic of the sample traces with raw text dumps. TraceX
// 6.2.1.0 wrote these dumps of them: the oracle. Without the data directory, the cases are skipped.
#include "memory/memory_hooks.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <extract/stats.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, MAX_EVENTS = 2000 };

struct opened {
    struct extract_memory *memory;
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
    struct extract_view *view;
    struct extract_stats *stats;
    FILE *oracle;
};

static const char *data_dir(void)
{
    const char *dir = getenv("RINGSIDE_DATA");
    return dir ? dir : "../shared/data";
}

static void open_trace(struct opened *o, const char *name)
{
    char path[512];
    struct extract_error error = {0};
    struct extract_ring ring;
    struct extract_region region;
    struct extract_ring_options options = {.size = sizeof options, .address_known = true};
    struct extract_filter *filter;
    memset(o, 0, sizeof *o);
    snprintf(path, sizeof path, "%s/threadx/%s.trx", data_dir(), name);
    FILE *probe = fopen(path, "rb");
    if (!probe)
        skip();
    fclose(probe);
    assert_int_equal(extract_memory_open_trx(&o->memory, path, &error), EXTRACT_OK);
    assert_true(extract_memory_region(o->memory, 0, &region));
    options.address = region.address;
    assert_int_equal(extract_ring_find(&ring, o->memory, NULL, &options, &error), EXTRACT_OK);
    assert_int_equal(extract_snapshot_take(&o->snapshot, o->memory, &ring, &error), EXTRACT_OK);
    assert_int_equal(extract_trace_open(&o->trace, &o->snapshot, NULL, &error), EXTRACT_OK);
    assert_int_equal(extract_filter_new(&filter, &error), EXTRACT_OK);
    assert_int_equal(extract_view_new(&o->view, filter, o->trace, 0, &error), EXTRACT_OK);
    extract_filter_free(filter);
    assert_int_equal(extract_stats_new(&o->stats, o->view, o->trace, &error), EXTRACT_OK);
    snprintf(path, sizeof path, "%s/threadx/%s.tracex.txt", data_dir(), name);
    o->oracle = fopen(path, "r");
}

static void close_trace(struct opened *o)
{
    if (o->oracle)
        fclose(o->oracle);
    extract_stats_free(o->stats);
    extract_view_free(o->view);
    extract_trace_close(o->trace);
    extract_snapshot_free(&o->snapshot);
    extract_memory_close(o->memory);
}

// Returns what follows `text` in the next line of the oracle that contains it. Fails at the
// oracle's end.
static const char *line_with(FILE *oracle, const char *text, char line[LINE])
{
    while (fgets(line, LINE, oracle))
        if (strstr(line, text))
            return strstr(line, text) + strlen(text);
    fail_msg("the oracle has no line with %s", text);
    return NULL;
}

// Returns the first hexadecimal number after `mark`.
static uint64_t hex_after(const char *line, const char *mark)
{
    const char *at = strstr(line, mark);
    assert_non_null(at);
    return strtoull(at + strlen(mark), NULL, 16);
}

// Checks an event against its line: number, ticks, name (id), context (address) …, I1 … I4, stamp,
// …, raw event, raw priority.
static void check_event(const struct opened *o, const char *line, const struct extract_event *event,
                        uint64_t mask)
{
    unsigned long long seq, ticks, id, raw_event, raw_priority, stamp;
    const char *paren = strchr(line, '('), *context;
    char inversion[32], *end;
    assert_int_equal(sscanf(line, "%llu %llu", &seq, &ticks), 2);
    id = strtoull(paren + 1, &end, 10);
    context = end + 1;
    while (*context == ' ')
        context++;
    assert_int_equal(event->seq, seq);
    assert_int_equal(event->ticks, ticks);
    assert_int_equal(event->id, id);
    if (!strncmp(context, "Interrupt", 9)) {
        assert_int_equal(event->context, EXTRACT_ISR);
    } else {
        assert_int_equal(event->context, EXTRACT_THREAD);
        assert_int_equal(event->thread, hex_after(context, "("));
    }
    assert_int_equal(extract_trace_address(o->trace, event->field[0]), hex_after(line, "I1: "));
    assert_int_equal(extract_trace_address(o->trace, event->field[1]), hex_after(line, "I2: "));
    assert_int_equal(extract_trace_address(o->trace, event->field[2]), hex_after(line, "I3: "));
    assert_int_equal(extract_trace_address(o->trace, event->field[3]), hex_after(line, "I4: "));
    const char *rest = strstr(line, "I4: ") + 12;
    assert_int_equal(
        sscanf(rest, "%llx %31s %llx %llx", &stamp, inversion, &raw_event, &raw_priority), 4);
    assert_int_equal(event->raw_stamp & mask, stamp); // TraceX prints the masked stamp
    assert_int_equal(event->priority_word, raw_priority);
}

static void check_events(struct opened *o)
{
    static struct extract_event events[MAX_EVENTS];
    struct extract_reader reader;
    char line[LINE];
    size_t next = 0;
    extract_reader_init(&reader, o->trace);
    size_t count = extract_reader_next(&reader, events, MAX_EVENTS);
    line_with(o->oracle, "Event Number", line);
    while (fgets(line, LINE, o->oracle)) {
        if (!strstr(line, "I4: "))
            continue;
        assert_true(next < count);
        check_event(o, line, &events[next++], extract_trace_info(o->trace)->clock.mask);
    }
    assert_int_equal(next, count);
    assert_int_equal(count, extract_trace_info(o->trace)->entries_valid);
}

// Checks the rows between a section's title and the next blank line: address, type, name, reserved
// words.
static void check_objects(struct opened *o)
{
    const struct extract_object *objects;
    char line[LINE], name[64];
    size_t count = extract_trace_objects(o->trace, &objects), next = 0;
    line_with(o->oracle, "Address       Type", line);
    assert_non_null(fgets(line, LINE, o->oracle));
    while (fgets(line, LINE, o->oracle) && strspn(line, " \r\n") < strlen(line)) {
        const struct extract_object *object = &objects[next++];
        assert_true(next <= count);
        assert_int_equal(object->address, strtoull(line, NULL, 16));
        // The two reserved bytes follow the name.
        snprintf(name, sizeof name, " %s         00", object->name);
        assert_non_null(strstr(line, name));
        const char *first = strstr(line, "Stack Start:");
        if (first)
            assert_int_equal(object->param1, hex_after(line, "Stack Start:"));
        if (strstr(line, "Stack Size:"))
            assert_int_equal(object->param2, strtoull(strstr(line, "Stack Size:") + 11, NULL, 10));
        if (strstr(line, "Total Size:"))
            assert_int_equal(object->param1, strtoull(strstr(line, "Total Size:") + 11, NULL, 10));
        if (strstr(line, "Queue Size:"))
            assert_int_equal(object->param1, strtoull(strstr(line, "Queue Size:") + 11, NULL, 10));
    }
    // The others are known from events: of an address that is used again, one for each object.
    for (; next < count; next++)
        assert_false(objects[next].registered);
}

static void check_number(struct opened *o, const char *label, uint64_t value)
{
    char line[LINE];
    assert_int_equal(strtoull(line_with(o->oracle, label, line), NULL, 10), value);
}

static void check_statistics(struct opened *o)
{
    const struct extract_stats *s = o->stats;
    char line[LINE], inversions[64];
    check_number(o, "Context Switches:", s->tracex.context_switches);
    check_number(o, "Thread Preemptions:", s->tracex.preemptions);
    check_number(o, "Time Slices:", s->tracex.time_slices);
    check_number(o, "Thread Suspensions:", s->suspends);
    check_number(o, "Thread Resumptions:", s->resumes);
    check_number(o, "Interrupts:", s->interrupts);
    check_number(o, "Nested Interrupts:", s->nested_interrupts);
    snprintf(inversions, sizeof inversions, "%" PRIu64 "/%" PRIu64, s->inversions_deterministic,
             s->inversions_undeterministic);
    assert_non_null(strstr(line_with(o->oracle, "Priority Inversions:", line), inversions));
}

// Checks the figures of a library: those of the oracle come in the same order, one per line.
static void check_figures(struct opened *o, const char *family, const char *heading, size_t count)
{
    char line[LINE];
    size_t seen = 0;
    line_with(o->oracle, heading, line);
    for (size_t i = 0; i < o->stats->figure_count; i++) {
        const struct extract_figure_stats *figure = &o->stats->figures[i];
        char *value = NULL;
        if (strcmp(figure->family, family) != 0)
            continue;
        while (!value || value[1] == '\n' || value[1] == '\r') { // titles of groups have no value
            assert_non_null(fgets(line, LINE, o->oracle));
            value = strchr(line, ':');
        }
        assert_int_equal(strtoull(value + 1, NULL, 10), figure->value);
        seen++;
    }
    assert_int_equal(seen, count);
}

static void check_profile(struct opened *o)
{
    char line[LINE];
    line_with(o->oracle, "Total Ticks      Percentage", line);
    assert_non_null(fgets(line, LINE, o->oracle));
    for (size_t i = 0; i < o->stats->thread_count; i++) {
        assert_non_null(fgets(line, LINE, o->oracle));
        assert_non_null(strstr(line, o->stats->threads[i].thread->name));
        assert_int_equal(strtoull(line, NULL, 10), o->stats->threads[i].ticks);
    }
    assert_non_null(strstr(fgets(line, LINE, o->oracle), "Idle System"));
    assert_int_equal(strtoull(line, NULL, 10), o->stats->idle_ticks);
    assert_non_null(strstr(fgets(line, LINE, o->oracle), "Interrupt"));
    assert_int_equal(strtoull(line, NULL, 10), o->stats->interrupt_ticks);
}

static void check_stacks(struct opened *o)
{
    char line[LINE], free_text[32], event_text[32];
    unsigned long long size;
    line_with(o->oracle, "Stack Size\tMinimum", line);
    assert_non_null(fgets(line, LINE, o->oracle));
    for (size_t i = 0; i < o->stats->thread_count; i++) {
        const struct extract_thread_stats *t = &o->stats->threads[i];
        assert_non_null(fgets(line, LINE, o->oracle));
        assert_int_equal(sscanf(line, "%llu %31s %31s", &size, free_text, event_text), 3);
        assert_int_equal(size, t->stack_size);
        assert_int_equal(!strcmp(free_text, "---"), !t->stack_known);
        if (!t->stack_known)
            continue;
        assert_int_equal(strtoull(free_text, NULL, 10), t->stack_free);
        assert_int_equal(strtoull(event_text, NULL, 10), t->stack_seq);
    }
}

// The list of services is sorted by frequency. Equal counts may come in any order.
static void check_services(struct opened *o)
{
    char line[LINE];
    size_t rows = 0;
    line_with(o->oracle, "Service ID        Count", line);
    assert_non_null(fgets(line, LINE, o->oracle));
    while (fgets(line, LINE, o->oracle) && strchr(line, '(')) {
        uint64_t id = strtoull(strchr(line, '(') + 1, NULL, 10), found = 0;
        for (size_t i = 0; i < o->stats->service_count; i++)
            if (o->stats->services[i].id == id)
                found = o->stats->services[i].count;
        assert_int_equal(found, strtoull(strchr(line, ')') + 1, NULL, 10));
        rows++;
    }
    assert_true(rows > 0);
}

static void check_whole(const char *name)
{
    struct opened o;
    open_trace(&o, name);
    assert_non_null(o.oracle);
    check_objects(&o);
    check_statistics(&o);
    check_profile(&o);
    check_stacks(&o);
    bool has_filex = strcmp(name, "demo_filex") == 0;
    check_figures(&o, "filex", "FileX Performance Statistics", has_filex ? 14 : 0);
    check_services(&o);
    check_events(&o);
    close_trace(&o);
}

static void test_demo_threadx(void **state)
{
    (void)state;
    check_whole("demo_threadx");
}

static void test_demo_filex(void **state)
{
    (void)state;
    check_whole("demo_filex");
}

// TraceX inserts an event of its own into this trace, so that the numbers of later events differ.
static void test_demo_netx_udp(void **state)
{
    struct opened o;
    (void)state;
    open_trace(&o, "demo_netx_udp");
    assert_non_null(o.oracle);
    check_objects(&o);
    check_statistics(&o);
    check_profile(&o);
    check_figures(&o, "netx", "NetX Performance Statistics", 24);
    close_trace(&o);
}

static void test_cm3_slow(void **state)
{
    struct opened o;
    (void)state;
    open_trace(&o, "cm3_slow");
    const struct extract_info *info = extract_trace_info(o.trace);
    assert_int_equal(info->entries_total, 977); // by the format: (size - 48 - 30 * 48) / 32
    assert_int_equal(info->entries_valid, 977);
    assert_int_equal(info->entries_damaged, 0);
    assert_int_equal(info->clock.mask, 0xFFFFFFFF);
    assert_int_equal(info->clock.direction, EXTRACT_CLOCK_UP);
    assert_true(info->span_ticks < UINT32_MAX);
    close_trace(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demo_threadx),
        cmocka_unit_test(test_demo_filex),
        cmocka_unit_test(test_demo_netx_udp),
        cmocka_unit_test(test_cm3_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
