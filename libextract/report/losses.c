// SPDX-License-Identifier: MIT
// report: what is not shown and what reading cost. In: a snapshot's verdicts and costs. Out: lines.
#include "report/sheet.h"
#include <stdio.h>

enum { SLOTS_NAMED = 8 };

static void put_slots(struct extract_text *text, const struct extract_snapshot *snapshot,
                      enum extract_verdict verdict)
{
    uint32_t named = 0;
    extract_text_puts(text, snapshot->counts[verdict] == 1 ? "slot " : "slots ");
    for (uint32_t slot = 0; slot < snapshot->ring.entries.count && named < SLOTS_NAMED; slot++) {
        if (snapshot->verdict[slot] != verdict)
            continue;
        extract_text_printf(text, "%s%u", named++ ? ", " : "", slot);
    }
    if (snapshot->counts[verdict] > named)
        extract_text_puts(text, ", ...");
}

enum extract_code extract_report_damage(struct extract_text *text,
                                        const struct extract_trace *trace)
{
    static const struct {
        enum extract_verdict verdict;
        const char *one, *many;
    } kinds[] = {
        {EXTRACT_TORN, "was being written when it was read", "were being written when read"},
        {EXTRACT_OVERWRITTEN, "was overwritten while it was read", "were overwritten while read"},
        {EXTRACT_UNREADABLE_ENTRY, "could not be read", "could not be read"},
        {EXTRACT_INVALID, "holds no valid event", "hold no valid event"},
    };
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_info *info = extract_trace_info(trace);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t count = snapshot->counts[kinds[i].verdict];
        if (!count)
            continue;
        extract_text_printf(text, "%u %s %s (", count, count == 1 ? "entry" : "entries",
                            count == 1 ? kinds[i].one : kinds[i].many);
        put_slots(text, snapshot, kinds[i].verdict);
        extract_text_puts(text, count == 1 ? "); it is not shown\n" : "); they are not shown\n");
    }
    if (snapshot->ring.doubtful)
        extract_text_puts(text,
                          "the ELF file does not fit this trace; it may be another firmware's, "
                          "and names may be wrong\n");
    if (snapshot->registry_missing)
        extract_text_printf(text,
                            "%llu bytes of the object registry could not be read; names may lack\n",
                            (unsigned long long)snapshot->registry_missing);
    if (info->lost_known && info->events_lost)
        extract_text_printf(text, "%llu event%s lost\n", (unsigned long long)info->events_lost,
                            info->events_lost == 1 ? " was" : "s were");
    return text->code;
}

// A number with commas between its thousands.
static void put_grouped(struct extract_text *text, uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            extract_text_putc(text, ',');
        extract_text_putc(text, digits[i]);
    }
}

enum extract_code extract_report_cost(struct extract_text *text, const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_memory_cost *cost = &snapshot->cost;

    extract_text_puts(text, "read ");
    put_grouped(text, cost->reads);
    extract_text_puts(text, cost->reads == 1 ? " time, " : " times, ");
    put_grouped(text, cost->bytes);
    extract_text_printf(text, " bytes, %llu.%u ms",
                        (unsigned long long)(cost->nanoseconds / 1000000),
                        (unsigned)(cost->nanoseconds / 100000 % 10));
    if (cost->failed)
        extract_text_printf(text, "; %llu of the reads fell short",
                            (unsigned long long)cost->failed);
    if (snapshot->moved)
        extract_text_printf(text, "; the target recorded %u event%s meanwhile",
                            snapshot->moved_entries, snapshot->moved_entries == 1 ? "" : "s");
    extract_text_putc(text, '\n');
    return text->code;
}
