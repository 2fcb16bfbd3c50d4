// SPDX-License-Identifier: MIT
// report: what is not shown and what reading cost. In: a snapshot's verdicts and costs. Out: lines.
#include "report/text_table.h"
#include <stdio.h>
#include <string.h>

enum { SLOTS_NAMED = 8 };

// Its number, or the bytes of the buffer that it takes.
static void put_slot(struct extract_text *text, const struct extract_snapshot *snapshot,
                     uint32_t slot)
{
    if (!snapshot->index) {
        extract_text_dec(text, slot);
        return;
    }
    const struct extract_extent *extent = &snapshot->index[slot];
    const struct extract_slots *buffer = &snapshot->ring.entries;
    uint64_t last = (uint64_t)extent->at + extent->length - 1;
    extract_text_printf(text, "%u-%llu", extent->at,
                        (unsigned long long)(last % (buffer->end - buffer->start)));
}

static void put_slots(struct extract_text *text, const struct extract_snapshot *snapshot,
                      enum extract_verdict verdict)
{
    uint32_t named = 0;
    const char *words[] = {"slots ", "slot ", "bytes ", "bytes "};
    bool one = snapshot->counts[verdict] == 1;
    extract_text_puts(text, words[2 * (snapshot->index != NULL) + one]);
    for (uint32_t slot = 0; slot < snapshot->ring.entries.count && named < SLOTS_NAMED; slot++) {
        if (snapshot->verdict[slot] != verdict)
            continue;
        extract_text_puts(text, named++ ? ", " : "");
        put_slot(text, snapshot, slot);
    }
    if (snapshot->counts[verdict] > named)
        extract_text_puts(text, ", ...");
}

// Slots of the ring, by what is wrong with them.
static void put_verdicts(struct extract_text *text, const struct extract_snapshot *snapshot)
{
    static const struct {
        enum extract_verdict verdict;
        const char *one, *many;
    } kinds[] = {
        {EXTRACT_TORN, "is torn", "are torn"}, // of entries that differ in length
        {EXTRACT_TORN, "was being written when it was read", "were being written when read"},
        {EXTRACT_OVERWRITTEN, "was overwritten while it was read", "were overwritten while read"},
        {EXTRACT_UNREADABLE_ENTRY, "could not be read", "could not be read"},
        {EXTRACT_INVALID, "holds no valid event", "hold no valid event"},
        {EXTRACT_BAD_CHECKSUM, "has a wrong checksum", "have wrong checksums"},
        {EXTRACT_BAD_LENGTH, "has another length than its event",
         "have other lengths than their events"},
        {EXTRACT_UNKNOWN_ID, "has an id of no event", "have ids of no event"},
    };

    const size_t other = snapshot->index ? 1 : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t count = snapshot->counts[kinds[i].verdict];
        if (!count || i == other)
            continue;
        extract_text_printf(text, "%u %s %s (", count, count == 1 ? "entry" : "entries",
                            count == 1 ? kinds[i].one : kinds[i].many);
        put_slots(text, snapshot, kinds[i].verdict);
        extract_text_puts(text, count == 1 ? "); it is not shown\n" : "); they are not shown\n");
    }
}

static void put_count(struct extract_text *text, uint64_t count, const char *one, const char *many)
{
    extract_text_printf(text, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

// What a recorder could not read, by reasons. Only what is certain: the likely numbers of single
// gaps are in the report.
static void put_losses(struct extract_text *text, const struct extract_log_info *log)
{
    static const char *const whys[EXTRACT_LOSS_REASONS] = {
        "the recorder does not say why",
        "the target overwrote them before they were read",
        "the target was writing them while they were read",
        "the target did not respond",
        "the log had no room for them",
        "the target had no room for them",
        "the entries' own numbers skip some",
        NULL, // no gap: it is counted with those that the target overwrote
        "they were not read before the trace restarted"};
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        const struct extract_loss_info *loss = &log->losses[i];
        if (!loss->gaps)
            continue;
        if (!loss->is_exact && !loss->at_least)
            extract_text_puts(text, "an unknown number of events was lost");
        else {
            extract_text_puts(text, loss->is_exact ? "" : "at least ");
            put_count(text, loss->at_least, "event was lost", "events were lost");
        }
        extract_text_puts(text, " in ");
        put_count(text, loss->gaps, "gap", "gaps");
        if (loss->not_exact && loss->not_exact < loss->gaps)
            extract_text_printf(text, " (%llu not exact)", (unsigned long long)loss->not_exact);
        extract_text_printf(text, ": %s\n", whys[i]);
    }
}

// Names the types of the damaged blocks, in parentheses.
static void put_types(struct extract_text *text, const struct extract_log_status *status)
{
    const char *before = " (";
    for (unsigned i = 1; i <= EXTRACT_LOG_TYPES; i++) { // the unknown last
        unsigned type = i % EXTRACT_LOG_TYPES;
        if (!status->damaged_of[type])
            continue;
        extract_text_puts(text, before);
        extract_text_puts(text, extract_log_type_name(type));
        before = ", ";
    }
    extract_text_puts(text, *before == ',' ? "): " : ": ");
}

// What the log itself lacks.
static void put_log(struct extract_text *text, const struct extract_info *info)
{
    const struct extract_log_info *log = info->log;
    const struct extract_log_status *status = &log->status;
    if (status->damaged) {
        extract_text_puts(text, "the log is damaged in ");
        put_count(text, status->damaged, "place", "places");
        put_types(text, status);
        put_count(text, status->damaged_bytes, "byte was passed over\n",
                  "bytes were passed over\n");
    }
    if (status->restored)
        put_count(text, status->restored, "damaged block was replaced by its copy\n",
                  "damaged blocks were replaced by their copies\n");
    if (status->missing)
        put_count(text, status->missing, "block of the log is missing\n",
                  "blocks of the log are missing\n");
    if (log->unreadable)
        put_count(text, log->unreadable, "block that tells what was recorded makes no sense\n",
                  "blocks that tell what was recorded make no sense\n");
    if (log->missing)
        put_count(text, log->missing, "entry is missing with them, recorded or lost\n",
                  "entries are missing with them, recorded or lost\n");
    if (info->entries_damaged > log->missing) {
        put_count(text, info->entries_damaged - log->missing, "recorded entry is",
                  "recorded entries are");
        extract_text_puts(text, " no valid event and not shown\n");
    }
    if (status->cut)
        extract_text_puts(text, "the last block of the log is not whole: its writer was killed, or "
                                "the file was cut or damaged\n");
    if (status->writing)
        extract_text_puts(text, "the log is still being written; what was added meanwhile is not "
                                "shown\n");
    else if (!status->closed && !status->cut)
        extract_text_puts(text, "the log was not closed: its writer was killed, or its end is "
                                "damaged\n");
}

// That a ring has overwritten its oldest entries is its nature; they count where others were lost.
static void put_unwritten(struct extract_text *text, const struct extract_info *info,
                          const struct extract_snapshot *snapshot)
{
    uint64_t lost = info->lost_known ? info->events_lost : snapshot->unwritten;
    extract_text_puts(text, info->lost_known ? "" : "at least ");
    put_count(text, lost, "event was lost", "events were lost");
    if (lost > snapshot->unwritten)
        extract_text_printf(text, ", %llu of them overwritten",
                            (unsigned long long)(lost - snapshot->unwritten));
    extract_text_putc(text, '\n');
}

enum extract_code extract_report_damage(struct extract_text *text,
                                        const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_info *info = extract_trace_info(trace);

    if (info->log) {
        put_losses(text, info->log);
        put_log(text, info);
    } else {
        put_verdicts(text, snapshot);
    }
    if (snapshot->ring.doubtful)
        extract_text_puts(text,
                          "the ELF file does not fit this trace; it may be another firmware's, "
                          "and names may be wrong\n");
    if (snapshot->registry_missing)
        extract_text_printf(text,
                            "%llu bytes of the object registry could not be read; names may lack\n",
                            (unsigned long long)snapshot->registry_missing);
    if (!info->log && snapshot->unwritten)
        put_unwritten(text, info, snapshot);
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
