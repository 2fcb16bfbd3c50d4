// SPDX-License-Identifier: MIT
// report/columns: the events of a view as a file of hook entries (docs/formats/hook.md).
//
// The file is a control block followed by a buffer of records, in the byte order of the trace. The
// entry builder makes the entry of each event, with big-endian words; here they get a frame, a
// thread and a timestamp. Since the control block holds the totals, all records are made before it
// is written.
#include "report/columns/columns.h"
#include <stdlib.h>

enum {
    CONTROL_WORDS = 16,
    MIN_BUFFER = 64,      // bytes
    MAX_BUFFER = 1 << 28, // bytes
    MAX_FRAME = 0xFFFC,   // bytes of the longest record whose frame holds the length
    MAGIC = 0x4B4F4F48,
    VERSION = 1,
    STAMP_BITS = 64,
    CPUS_SEEN = 1 << 2, // flag: the number of processors is a minimum
    FRAME_WIDE = 1 << 16,
    FRAME_THREAD = 1 << 17,
    FRAME_STAMP = 1 << 18,
    FRAME_WIDE_THREAD = 1 << 19,
    FRAME_WIDE_STAMP = 1 << 20,
    FRAME_INTERRUPT = 1 << 21,
    FRAME_START_UP = 1 << 22,
    FRAME_CPU = 24 // lowest bit of the processor's number
};

struct raw_report {
    struct entry_builder *builder;
    struct extract_text records;
    uint32_t count; // records
    uint32_t lost;  // events that markers report as lost
    uint32_t cpus, flags;
    bool is_little_endian;
    bool is_too_long; // the records do not fit into MAX_BUFFER bytes
};

// Writes a number in the byte order of the trace.
static void put_number(struct raw_report *report, struct extract_text *out, uint64_t value,
                       unsigned bytes)
{
    char stored[8];

    for (unsigned i = 0; i < bytes; i++)
        stored[i] = (char)(value >> 8 * (report->is_little_endian ? i : bytes - 1 - i));
    extract_text_put(out, stored, bytes);
}

// Writes words of an entry, which are big-endian, in the byte order of the trace.
static void put_words(struct raw_report *report, const uint8_t *words, size_t length,
                      unsigned bytes)
{
    for (size_t at = 0; at + bytes <= length; at += bytes) {
        uint64_t value = 0;
        for (unsigned i = 0; i < bytes; i++)
            value = value << 8 | words[at + i];
        put_number(report, &report->records, value, bytes);
    }
}

// Returns the flags of a record's frame, without its length.
static uint32_t frame_flags(const struct extract_event *event, const struct extract_entry *entry)
{
    uint32_t frame = FRAME_THREAD | FRAME_STAMP | FRAME_WIDE_STAMP;

    frame |= entry->bits == 64 ? FRAME_WIDE : 0;
    frame |= entry->tid > UINT32_MAX ? FRAME_WIDE_THREAD : 0;
    frame |= event->context == EXTRACT_ISR ? FRAME_INTERRUPT : 0;
    frame |= event->context == EXTRACT_INIT ? FRAME_START_UP : 0;
    return frame | (uint32_t)entry->cpu << FRAME_CPU;
}

// Writes a record: frame, entry, thread and timestamp. Only the words of an entry depend on the
// byte order; the data of a generic entry follows them as it is.
static bool put_record(struct raw_report *report, const struct extract_event *event)
{
    const struct extract_template *chosen;
    const struct extract_entry *entry = entry_builder_build(report->builder, event, &chosen);
    unsigned word = entry->bits / 8;
    uint32_t frame = frame_flags(event, entry);
    unsigned thread = frame & FRAME_WIDE_THREAD ? 8 : 4;
    size_t words = entry->generic ? 2 * word : entry->length;
    size_t rest = entry->length > words ? entry->length - words : 0, pad = -rest & 3;
    size_t length = 4 + entry->length + pad + thread + 8;
    bool is_long = length > MAX_FRAME;

    length += is_long ? 4 : 0;
    report->is_too_long = report->records.used + length > MAX_BUFFER;
    if (report->is_too_long)
        return false;
    put_number(report, &report->records, is_long ? frame : frame | (uint32_t)length, 4);
    if (is_long)
        put_number(report, &report->records, length, 4);
    put_words(report, entry->bytes, words, word);
    extract_text_put(&report->records, (const char *)entry->bytes + words, rest);
    extract_text_pad(&report->records, 0, pad);
    put_number(report, &report->records, entry->tid, thread);
    put_number(report, &report->records, event->ticks, 8);
    report->count++;
    return !report->records.code && !report->builder->failed;
}

// Writes the records of events. Of the markers in a log, only losses and damage become records.
static bool put_records(void *context, const struct extract_event *events, size_t count)
{
    struct raw_report *report = context;

    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event = &events[i];
        if (extract_event_is_mark(event) && !extract_id_is_loss(event->id))
            continue;
        if (!put_record(report, event))
            return false;
        bool has_count = event->id == EXTRACT_ID_LOST && event->fields > EXTRACT_LOST_AT_LEAST;
        report->lost += has_count ? (uint32_t)event->field[EXTRACT_LOST_AT_LEAST] : 0;
    }
    return true;
}

static void put_control(struct raw_report *report, struct extract_text *text, uint32_t buffer_bytes,
                        uint64_t hz, unsigned word_bytes)
{
    const uint32_t words[CONTROL_WORDS] = {
        MAGIC,
        VERSION,
        CONTROL_WORDS * 4,
        buffer_bytes,
        report->flags,
        hz <= UINT32_MAX ? (uint32_t)hz : 0,
        STAMP_BITS,
        (uint32_t)report->records.used,
        0,
        report->count,
        report->lost,
        0,
        word_bytes,
        report->cpus,
    };

    for (unsigned i = 0; i < CONTROL_WORDS; i++)
        put_number(report, text, words[i], 4);
}

// Writes the control block, the records, and zeros up to the size of the buffer, a power of two.
static enum extract_code put_file(struct raw_report *report, struct extract_text *text,
                                  const struct extract_info *info, uint64_t hz,
                                  struct extract_error *error)
{
    uint32_t buffer_bytes = MIN_BUFFER;

    if (report->is_too_long)
        return extract_error_set(error, EXTRACT_LIMIT, "raw entries",
                                 "use --last or -O endtime= to choose fewer events",
                                 "size exceeds %d bytes", MAX_BUFFER);
    if (report->records.code || report->builder->failed)
        return extract_error_set(error, EXTRACT_NOMEM, "raw entries", NULL, "out of memory");
    while (buffer_bytes < report->records.used)
        buffer_bytes *= 2;
    put_control(report, text, buffer_bytes, hz, info->word_bytes == 8 ? 8 : 4);
    extract_text_put(text, report->records.data, report->records.used);
    extract_text_pad(text, 0, buffer_bytes - report->records.used);
    return text->code;
}

enum extract_code extract_export_hooks(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, uint64_t hz,
                                       struct extract_error *error)
{
    const struct extract_info *info = extract_trace_info(trace);
    bool knows_all_cores = info->cores_from > EXTRACT_CORES_SEEN;
    struct raw_report report = {.cpus = info->cores ? info->cores : 1,
                                .flags = knows_all_cores ? 0 : CPUS_SEEN,
                                .is_little_endian = info->byte_order == EXTRACT_LITTLE};
    struct extract_sink sink = {.events = put_records, .context = &report};
    enum extract_code code = entry_builder_open(&report.builder, trace, NULL, error);

    if (code)
        return code;
    extract_text_init(&report.records, NULL, NULL);
    extract_view_run(view, &sink);
    code = put_file(&report, text, info, hz, error);
    extract_text_free(&report.records);
    entry_builder_close(report.builder);
    return code;
}
