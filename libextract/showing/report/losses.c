// SPDX-License-Identifier: MIT
// report: what a report does not show, and what reading the trace cost.
//
// extract_report_damage prints one line per kind of loss or damage: entries of a ring that are not
// valid, or the gaps and damaged blocks of a log. A complete trace gives no line.
// extract_report_cost prints one line with the number of reads, their bytes and their time.
#include "report/report_room.h"
#include "log/log_block.h"
#include <stdio.h>
#include <string.h>

enum { MAX_NAMED_SLOTS = 8 };

static void put_count(struct extract_text *text, uint64_t count, const char *one, const char *many)
{
    extract_text_printf(text, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

// ---- entries of a ring ----

// Names the bytes of an entry. They may pass the end of the buffer, which is a circle.
static void put_bytes(struct extract_text *text, const struct extract_extent *extent, uint64_t size)
{
    uint64_t last = (uint64_t)extent->at + extent->length - 1;

    extract_text_printf(text, "%u-%llu", extent->at,
                        (unsigned long long)(last < size ? last : size - 1));
    if (last >= size)
        extract_text_printf(text, " and 0-%llu", (unsigned long long)(last - size));
}

// Names the slots of a ring that have this verdict, or the byte ranges in a byte ring.
static void put_slots(struct extract_text *text, const struct extract_snapshot *snapshot,
                      enum extract_verdict verdict)
{
    const struct extract_slots *buffer = &snapshot->ring.entries;
    uint32_t named = 0;

    if (snapshot->index)
        extract_text_puts(text, "bytes ");
    else
        extract_text_puts(text, snapshot->counts[verdict] == 1 ? "slot " : "slots ");
    for (uint32_t slot = 0; slot < buffer->count && named < MAX_NAMED_SLOTS; slot++) {
        if (snapshot->verdict[slot] != verdict)
            continue;
        extract_text_puts(text, named++ ? ", " : "");
        if (!snapshot->index) {
            extract_text_dec(text, slot);
            continue;
        }
        put_bytes(text, &snapshot->index[slot], buffer->end - buffer->start);
    }
    if (snapshot->counts[verdict] > named)
        extract_text_puts(text, ", ...");
}

// Reports the entries of a ring that are not valid, by verdict. "Torn" has one wording for slot
// rings and another for byte rings.
static void put_verdicts(struct extract_text *text, const struct extract_snapshot *snapshot)
{
    static const struct {
        enum extract_verdict verdict;
        const char *one, *many;
    } kinds[] = {
        {EXTRACT_TORN, "is torn", "are torn"},
        {EXTRACT_TORN, "was being written when it was read", "were being written when read"},
        {EXTRACT_OVERWRITTEN, "was overwritten while it was read", "were overwritten while read"},
        {EXTRACT_UNREADABLE_ENTRY, "could not be read", "could not be read"},
        {EXTRACT_INVALID, "holds no valid event", "hold no valid event"},
        {EXTRACT_BAD_CHECKSUM, "has a wrong checksum", "have wrong checksums"},
        {EXTRACT_BAD_LENGTH, "has a length that its event cannot have",
         "have lengths that their events cannot have"},
        {EXTRACT_UNKNOWN_ID, "has an unknown id", "have unknown ids"},
    };
    const size_t unused_wording = snapshot->index ? 1 : 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t count = snapshot->counts[kinds[i].verdict];
        if (!count || i == unused_wording)
            continue;
        // What was not read of a byte ring may be any number of entries.
        if (snapshot->index && kinds[i].verdict == EXTRACT_UNREADABLE_ENTRY)
            put_count(text, count, "range", "ranges");
        else
            put_count(text, count, "entry", "entries");
        extract_text_printf(text, " %s (", count == 1 ? kinds[i].one : kinds[i].many);
        put_slots(text, snapshot, kinds[i].verdict);
        extract_text_puts(text, count == 1 ? "); it is not shown\n" : "); they are not shown\n");
    }
}

// Reports the events that a ring lost. A ring that has overwritten its oldest entries works as
// intended, so these are counted only if other events were lost, too.
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

// ---- logs ----

// Reports what a recorder could not read, by reason. Only what is certain is printed here; the
// estimates for single gaps are in the report of events. EXTRACT_LOSS_EARLIER has no gaps of its
// own: it counts further losses in gaps that are reported already.
static void put_losses(struct extract_text *text, const struct extract_log_info *log)
{
    static const char *const reasons[EXTRACT_LOSS_REASONS] = {
        "the recorder gives no reason",
        "the target overwrote them before they were read",
        "the target was writing them while they were read",
        "the target did not respond",
        "the log had no space for them",
        "the target had no space for them",
        "the entries' own numbers skip some",
        NULL,
        "they were not read before the trace restarted",
        "what was recorded between the buffers that were merged is in none of them"};

    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        const struct extract_loss_info *loss = &log->losses[i];
        if (!loss->gaps)
            continue;
        if (!loss->is_exact && !loss->at_least) {
            extract_text_puts(text, i == EXTRACT_LOSS_BETWEEN
                                        ? "events may have been lost"
                                        : "an unknown number of events was lost");
        } else {
            extract_text_puts(text, loss->is_exact ? "" : "at least ");
            put_count(text, loss->at_least, "event was lost", "events were lost");
        }
        extract_text_puts(text, " in ");
        put_count(text, loss->gaps, "gap", "gaps");
        if (loss->not_exact && loss->not_exact < loss->gaps)
            extract_text_printf(text, " (%llu not exact)", (unsigned long long)loss->not_exact);
        extract_text_printf(text, ": %s\n", reasons[i]);
    }
}

// Reports the damaged places of a log, with the types of the blocks. Type 0 stands for unknown
// types and comes last.
static void put_damaged_places(struct extract_text *text, const struct extract_log_status *status)
{
    const char *separator = " (";

    extract_text_puts(text, "the log is damaged in ");
    put_count(text, status->damaged, "place", "places");
    for (unsigned i = 1; i <= EXTRACT_LOG_TYPES; i++) {
        unsigned type = i % EXTRACT_LOG_TYPES;
        if (!status->damaged_of[type])
            continue;
        extract_text_puts(text, separator);
        extract_text_puts(text, extract_log_type_name(type));
        separator = ", ";
    }
    extract_text_puts(text, *separator == ',' ? "): " : ": ");

    put_count(text, status->damaged_bytes, "byte was skipped\n", "bytes were skipped\n");
}

// Reports what is wrong with the log itself.
static void put_log_damage(struct extract_text *text, const struct extract_info *info)
{
    const struct extract_log_info *log = info->log;
    const struct extract_log_status *status = &log->status;

    if (status->converted)
        extract_text_puts(text,
                          "each byte 0x0A follows a 0x0D: line ends were converted on the way "
                          "(likely), so that the log is damaged; transfer it as binary\n");
    if (status->damaged)
        put_damaged_places(text, status);
    if (status->restored)
        put_count(text, status->restored, "damaged block was replaced by its copy\n",
                  "damaged blocks were replaced by their copies\n");
    if (status->missing)
        put_count(text, status->missing, "block of the log is missing\n",
                  "blocks of the log are missing\n");
    if (log->unreadable)
        put_count(text, log->unreadable, "block that describes what was recorded is not valid\n",
                  "blocks that describe what was recorded are not valid\n");
    if (log->missing)
        put_count(text, log->missing, "entry is missing with them, whether recorded or lost\n",
                  "entries are missing with them, whether recorded or lost\n");
    if (info->entries_damaged > log->missing)
        put_count(text, info->entries_damaged - log->missing,
                  "recorded entry is not a valid event and is not shown\n",
                  "recorded entries are not valid events and are not shown\n");
    if (status->cut)
        extract_text_puts(text, "the last block of the log is incomplete: its writer was killed, "
                                "or the file was truncated or damaged\n");
    if (status->writing)
        extract_text_puts(text, "the log is still being written; what was added since is not "
                                "shown\n");
    else if (!status->closed && !status->cut)
        extract_text_puts(text, "the log was not closed: its writer was killed, or its end is "
                                "damaged\n");
}

// Reports what the images lack of the ring, so that it can be dumped, and that they are elsewhere.
static void put_missing(struct extract_text *text, const struct extract_ring *ring)
{
    if (ring->missing_end)
        extract_text_printf(
            text,
            "the images do not have all of the ring: dump 0x%llx to 0x%llx, too (%llu "
            "bytes)\n",
            (unsigned long long)ring->missing_start, (unsigned long long)ring->missing_end,
            (unsigned long long)(ring->missing_end - ring->missing_start));
    if (ring->is_moved)
        extract_text_printf(
            text,
            "the ring was at 0x%llx on the target, not at 0x%llx: the image begins at "
            "0x%llx\n",
            (unsigned long long)(ring->address - ring->base_delta),
            (unsigned long long)ring->address, (unsigned long long)ring->image_start);
}

// Reports that timestamps go back in one place, which has several possible reasons, and how to find
// the true one.
static void put_fall(struct extract_text *text, const struct extract_info *info)
{
    extract_text_printf(text,
                        "timestamps go back by %llu in one place: the clock may wrap there, below "
                        "its mask, with a period above %llu, or %s\n",
                        (unsigned long long)info->clock.fall, (unsigned long long)info->clock.above,
                        info->steps_back ? "time steps back, as which it is marked [backwards]"
                                         : "step back, or be silent for most of a period of all "
                                           "bits of its mask, as which it is read");
    extract_text_puts(text,
                      "if the timer has fewer bits, or a reload value, it wraps: look it up in "
                      "the firmware, or record more of its turns, and use --modulus with its "
                      "period\n");
}

// Reports what makes times wrong or doubtful: a clock that is likely to wrap elsewhere, and steps
// back in time. Cores that share a ring may store their events out of order, so that such steps are
// usual there.
static void put_times(struct extract_text *text, const struct extract_info *info,
                      const struct extract_snapshot *snapshot)
{
    const struct extract_clock *clock = &info->clock;

    if (clock->is_still)
        extract_text_puts(text, "times are not known: all timestamps are equal, because the clock "
                                "stands still or is too slow; start it in the firmware\n");
    if (clock->likely_modulus)
        extract_text_printf(text,
                            "times are likely to be wrong: the clock seems to wrap at %llu; use "
                            "--modulus %llu, or its true period\n",
                            (unsigned long long)clock->likely_modulus,
                            (unsigned long long)clock->likely_modulus);
    if (clock->turns)
        extract_text_printf(text,
                            "times are likely to be wrong: the clock seems to wrap in %llu places, "
                            "below its mask; use --modulus with its period, which is above %llu\n",
                            (unsigned long long)clock->turns, (unsigned long long)clock->above);
    if (snapshot->stale_pointer)
        extract_text_printf(text,
                            "the write position in the ring's header is not the end of its events; "
                            "they are in the order of their times, which ends at slot %u. The "
                            "target's data cache may not have been written back\n",
                            (snapshot->current + snapshot->ring.entries.count - 1) %
                                snapshot->ring.entries.count);
    if (clock->fall)
        put_fall(text, info);
    if (info->steps_back && info->cores <= 1 && !clock->likely_modulus && !clock->turns &&
        !clock->fall) {
        extract_text_puts(text, "time steps back in ");
        put_count(text, info->steps_back, "place", "places");
        extract_text_puts(text, ", marked [backwards]: a clock that was read while its parts "
                                "changed or that wraps below its mask (use --modulus), or memory "
                                "behind a data cache that was not written back\n");
    }
}

// Reports that who had a core is not known.
static void put_hidden_cores(struct extract_text *text, const struct extract_info *info)
{
    if (info->hides_cores)
        extract_text_puts(text, "the schedule is not known: switches do not follow each other, "
                                "since the events are likely to be of several cores, which they do "
                                "not name; record what one core does\n");
}

// Reports how the top bytes of ids are read, unless it is proven.
static void put_core_ids(struct extract_text *text, const struct extract_info *info)
{
    static const char way_out[] = "; use --elf with the firmware, which shows how many cores its "
                                  "kernel is for\n";
    const char *words = NULL;

    if (info->core_ids == EXTRACT_CORE_IDS_LIKELY_USER)
        words = "event ids from 16777216 on are likely to be those of user events on one core, and "
                "are read as such";
    if (info->core_ids == EXTRACT_CORE_IDS_LIKELY_CORES)
        words = "event ids from 16777216 on are likely to contain the number of another core, and "
                "are read as such";
    if (info->core_ids == EXTRACT_CORE_IDS_UNSURE)
        words = "it is not known whether event ids from 16777216 on are of other cores or of user "
                "events: they are read as of other cores if their low 24 bits are below 65536";
    if (words)
        extract_text_puts(text, words);
    if (words)
        extract_text_puts(text, way_out);
}

// Reports that the target has sent all that its ring holds, so that there is nothing to show.
static void put_all_sent(struct extract_text *text, const struct extract_info *info,
                         const struct extract_ring *ring)
{
    if (ring->rkh.view == EXTRACT_RKH_PENDING && !info->log && !info->entries_total)
        extract_text_puts(text,
                          "no bytes of the ring wait to be sent; use --view history for those "
                          "that were sent and are still in it\n");
}

// Reports the bytes after the last frame of a file of RKH: a frame that is not complete, or
// something else. In a ring, a frame is often not complete yet.
static void put_rest(struct extract_text *text, const struct extract_ring *ring)
{
    uint32_t rest = ring->rkh.partial;

    if (rest && ring->origin == EXTRACT_FROM_FILE)
        extract_text_printf(text, "the last %u %s no complete entry and %s not shown\n", rest,
                            rest == 1 ? "byte is" : "bytes are", rest == 1 ? "is" : "are");
}

enum extract_code extract_report_damage(struct extract_text *text,
                                        const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_info *info = extract_trace_info(trace);

    if (info->log) {
        put_losses(text, info->log);
        put_log_damage(text, info);
    } else {
        put_verdicts(text, snapshot);
        put_rest(text, &snapshot->ring);
    }
    put_times(text, info, snapshot);
    put_core_ids(text, info);
    put_all_sent(text, info, &snapshot->ring);
    put_hidden_cores(text, info);
    if (snapshot->ring.doubtful)
        extract_text_puts(text,
                          "the ELF file does not fit this trace; it may be another firmware's, "
                          "and names may be wrong\n");
    put_missing(text, &snapshot->ring);
    if (snapshot->ring.origin == EXTRACT_FROM_REBUILT)
        extract_text_puts(text, "the header of the ring is damaged; its layout was rebuilt from "
                                "consistent words and entries in the memory\n");
    if (snapshot->ring.origin == EXTRACT_FROM_EARLIER)
        extract_text_puts(text,
                          "the program has not enabled a trace; this ring was found by a scan, "
                          "and may be from before a reset\n");
    if (snapshot->registry_missing)
        extract_text_printf(text,
                            "%llu bytes of the object registry could not be read; names may be "
                            "missing\n",
                            (unsigned long long)snapshot->registry_missing);
    if (!info->log && snapshot->unwritten)
        put_unwritten(text, info, snapshot);
    return text->code;
}

// ---- cost ----

// Writes a number with a comma between thousands: 1,234,567.
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
        extract_text_printf(text, "; %llu of the reads were incomplete",
                            (unsigned long long)cost->failed);
    if (snapshot->moved)
        extract_text_printf(text, "; the target recorded %u event%s in the meantime",
                            snapshot->moved_entries, snapshot->moved_entries == 1 ? "" : "s");
    extract_text_putc(text, '\n');
    return text->code;
}
