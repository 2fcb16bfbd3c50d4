// SPDX-License-Identifier: MIT
// export: writes the packets of a CTF trace, and the part of its metadata that all traces share.
#include "export/ctf_stream.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    MAGIC_BYTES = 4,
    PACKET_HEADER = MAGIC_BYTES + CTF_UUID_BYTES + 4 + 6 * 8 + 4,
    PACKET_BYTES = 1 << 16, // a packet that has as many takes no further event
    LOST_BYTES = CTF_EVENT_HEADER + CTF_CONTEXT_BYTES + 8,
    CAPACITY = PACKET_BYTES + LOST_BYTES
};

#define NANO UINT64_C(1000000000) // ticks per second if the rate is unknown

static const uint32_t magic = 0xC1FC1FC1;

// Reports errno by the name that the user gave, since the directory has that only at the end.
static void fail_to_write(struct export_run *run)
{
    if (!run->code)
        run->code = extract_file_error(run->options->path, NULL, run->error);
}

// Opens a new file of the trace.
static int open_file(struct ctf_trace *trace, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", trace->directory, name);

    errno = ENAMETOOLONG;
    int fd = length < (int)sizeof path
                 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666)
                 : -1; // with errno
    if (fd < 0)
        fail_to_write(trace->run);
    return fd;
}

static bool write_all(struct ctf_trace *trace, int fd, const void *bytes, size_t length)
{
    for (const char *at = bytes; length && !trace->run->code;) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail_to_write(trace->run);
        at += written;
        length -= written > 0 ? (size_t)written : 0;
    }
    return !trace->run->code;
}

void ctf_open(struct ctf_trace *trace, struct export_run *run, const char *directory,
              const char *stream_name)
{
    *trace = (struct ctf_trace){.run = run, .stream_name = stream_name};
    trace->directory = strdup(directory);
    if (!trace->directory)
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
    if (getrandom(trace->uuid, CTF_UUID_BYTES, 0) != CTF_UUID_BYTES)
        fail_to_write(run);
    // RFC 4122, 4.4: a UUID of random numbers.
    trace->uuid[6] = (uint8_t)((trace->uuid[6] & 0x0f) | 0x40);
    trace->uuid[8] = (uint8_t)((trace->uuid[8] & 0x3f) | 0x80);
    trace->lost_before = export_lost_sometime(run);
    // Readers convert times to nanoseconds in 63 bits. Sorted changes need some bits of a time,
    // too.
    unsigned __int128 most = (unsigned __int128)INT64_MAX * (run->hz ? run->hz : NANO) / NANO;
    trace->most = most < UINT64_MAX / 8 ? (uint64_t)most : UINT64_MAX / 8;
}

bool ctf_can_hold(struct ctf_trace *trace, uint64_t ticks)
{
    if (ticks <= trace->most)
        return true;
    export_fail(trace->run, EXTRACT_LIMIT, trace->run->options->to,
                "the trace is longer than 292 years; check --hz, or use --from and --to");
    return false;
}

// ---- packets ----

static bool has_events(const struct ctf_stream *stream)
{
    return stream->at != stream->packet + PACKET_HEADER;
}

// Writes the packet, which ends at `end`, and begins the next one there.
static void write_packet(struct ctf_trace *trace, unsigned core, uint64_t end)
{
    struct ctf_stream *stream = trace->streams[core];
    size_t length = (size_t)(stream->at - stream->packet);

    stream->at = stream->packet;
    ctf_put32(stream, magic);
    ctf_put_bytes(stream, trace->uuid, CTF_UUID_BYTES);
    ctf_put32(stream, 0);
    ctf_put64(stream, stream->begin);
    ctf_put64(stream, end);
    ctf_put64(stream, length * 8);
    ctf_put64(stream, length * 8);
    ctf_put64(stream, stream->packets);
    ctf_put64(stream, stream->discarded);
    ctf_put32(stream, core);
    write_all(trace, stream->fd, stream->packet, length);
    stream->packets++;
    stream->begin = end;
    stream->at = stream->packet + PACKET_HEADER;
}

// Adds an event ringside_lost, at the time of the newest event.
static void put_lost(struct ctf_trace *trace, struct ctf_stream *stream, uint64_t count)
{
    ctf_put32(stream, CTF_LOST_ID);
    ctf_put64(stream, stream->last);
    ctf_put_bytes(stream, trace->lost_context, trace->lost_context_bytes);
    ctf_put64(stream, count);
}

// Writes a packet for the events that are missing before `ticks`. A reader compares its count with
// that of the packet before it, so there must be one.
static void write_gap(struct ctf_trace *trace, unsigned core, uint64_t ticks)
{
    struct ctf_stream *stream = trace->streams[core];

    if (!has_events(stream) && !stream->packets)
        put_lost(trace, stream, 0);
    if (has_events(stream))
        write_packet(trace, core, stream->last);
    put_lost(trace, stream, stream->lost);
    stream->discarded += stream->to_discard;
    stream->to_discard = stream->lost = 0;
    stream->has_gap = false;
    write_packet(trace, core, ticks);
}

static struct ctf_stream *add_stream(struct ctf_trace *trace, unsigned core)
{
    struct ctf_stream *stream = calloc(1, sizeof *stream);
    char name[64];

    trace->streams[core] = stream;
    if (stream)
        stream->packet = malloc(CAPACITY);
    if (!stream || !stream->packet) {
        export_fail(trace->run, EXTRACT_NOMEM, "export", "out of memory");
        free(stream);
        return trace->streams[core] = NULL;
    }
    snprintf(name, sizeof name, "%s%u", trace->stream_name, core);
    stream->end = stream->packet + CAPACITY;
    stream->at = stream->packet + PACKET_HEADER;
    stream->begin = stream->last = trace->first;
    stream->fd = open_file(trace, name);
    stream->to_discard = stream->lost = trace->lost_before;
    stream->has_gap = trace->lost_before != 0;
    trace->lost_before = 0;
    if (stream->has_gap && stream->fd >= 0)
        write_gap(trace, core, stream->begin);
    return stream;
}

// Returns the stream of a core, which is added if it does not exist; NULL after a failure. `ticks`
// is the time of what is added to it.
static struct ctf_stream *find_stream(struct ctf_trace *trace, unsigned core, uint64_t ticks)
{
    if (trace->run->code)
        return NULL;
    if (!trace->has_time || ticks < trace->first)
        trace->first = ticks;
    trace->has_time = true;
    return trace->streams[core] ? trace->streams[core] : add_stream(trace, core);
}

bool ctf_enlarge(struct ctf_trace *trace, struct ctf_stream *stream, size_t bytes)
{
    size_t used = (size_t)(stream->at - stream->packet);
    size_t capacity = 2 * (used + bytes);
    uint8_t *packet = realloc(stream->packet, capacity);

    if (!packet) {
        export_fail(trace->run, EXTRACT_NOMEM, "export", "out of memory");
        return false;
    }
    stream->packet = packet;
    stream->at = packet + used;
    stream->end = packet + capacity;
    return true;
}

struct ctf_stream *ctf_event_open(struct ctf_trace *trace, unsigned core, uint64_t ticks,
                                  uint32_t class_id)
{
    struct ctf_stream *stream = find_stream(trace, core, ticks);

    if (!stream)
        return NULL;
    if (ticks < stream->last)
        ticks = stream->last;
    if (ticks > trace->last && !ctf_can_hold(trace, ticks))
        return NULL;
    if (ticks > trace->last)
        trace->last = ticks;
    if (stream->has_gap)
        write_gap(trace, core, ticks);
    if ((size_t)(stream->at - stream->packet) >= PACKET_BYTES)
        write_packet(trace, core, stream->last);
    stream->last = ticks;
    ctf_put32(stream, class_id);
    ctf_put64(stream, ticks);
    return stream;
}

static uint64_t add_counts(uint64_t a, uint64_t b)
{
    return b < UINT64_MAX - a ? a + b : UINT64_MAX;
}

void ctf_discard(struct ctf_trace *trace, unsigned core, uint64_t ticks, uint64_t count)
{
    struct ctf_stream *stream = find_stream(trace, core, ticks);

    if (!stream)
        return;
    stream->has_gap = true;
    if (count == CTF_LOST_MAYBE)
        return;
    stream->lost = add_counts(stream->lost, count);
    stream->to_discard = add_counts(stream->to_discard, count ? count : 1);
}

uint64_t ctf_lost_events(const struct extract_event *marker)
{
    switch (marker->id) {
    case EXTRACT_ID_LOST:
        return marker->field[EXTRACT_LOST_REASON] == EXTRACT_LOSS_BETWEEN &&
                       !marker->field[EXTRACT_LOST_AT_LEAST]
                   ? CTF_LOST_MAYBE
                   : marker->field[EXTRACT_LOST_AT_LEAST];
    case EXTRACT_ID_DAMAGED:
        return marker->field[0];
    case EXTRACT_ID_BROKEN:
        return marker->field[1];
    default:
        return 1;
    }
}

static bool has_streams(const struct ctf_trace *trace)
{
    for (unsigned core = 0; core < CTF_CORES; core++)
        if (trace->streams[core])
            return true;
    return false;
}

void ctf_finish(struct ctf_trace *trace)
{
    if (!has_streams(trace))
        find_stream(trace, 0, 0);
    for (unsigned core = 0; core < CTF_CORES && !trace->run->code; core++) {
        struct ctf_stream *stream = trace->streams[core];
        if (!stream)
            continue;
        if (stream->has_gap)
            write_gap(trace, core, trace->last);
        if (has_events(stream))
            write_packet(trace, core, trace->last);
    }
}

void ctf_close(struct ctf_trace *trace)
{
    for (unsigned core = 0; core < CTF_CORES; core++) {
        struct ctf_stream *stream = trace->streams[core];
        if (stream && stream->fd >= 0 && close(stream->fd) != 0)
            fail_to_write(trace->run);
        if (stream)
            free(stream->packet);
        free(stream);
        trace->streams[core] = NULL;
    }
    free(trace->directory);
    trace->directory = NULL;
}

// ---- metadata ----

void ctf_put_string(struct extract_text *text, const char *string)
{
    struct extract_text escaped;

    extract_text_init(&escaped, NULL, NULL);
    extract_text_escaped(&escaped, string);
    extract_text_putc(text, '"');
    for (size_t i = 0; i < escaped.used; i++) {
        if (escaped.data[i] == '"' || escaped.data[i] == '\\')
            extract_text_putc(text, '\\');
        extract_text_putc(text, escaped.data[i]);
    }
    extract_text_putc(text, '"');
    if (escaped.code)
        text->code = escaped.code;
    extract_text_free(&escaped);
}

void ctf_put_word(struct extract_text *text, const char *key, const char *word)
{
    extract_text_printf(text, "    %s = ", key);
    ctf_put_string(text, word);
    extract_text_puts(text, ";\n");
}

// Integers of the environment are signed; a larger number is written as a string.
void ctf_put_number(struct extract_text *text, const char *key, uint64_t number)
{
    extract_text_printf(
        text, number <= INT64_MAX ? "    %s = %" PRIu64 ";\n" : "    %s = \"%" PRIu64 "\";\n", key,
        number);
}

static void put_environment(struct ctf_trace *trace, struct extract_text *text)
{
    const struct extract_info *info = extract_trace_info(trace->run->trace);
    const struct extract_ring *ring = &extract_trace_snapshot(trace->run->trace)->ring;
    bool is_big = info->byte_order == EXTRACT_BIG;

    ctf_put_word(text, "ringside_version", EXTRACT_VERSION);
    ctf_put_word(text, "trace_format", info->format);
    if (trace->run->hz)
        ctf_put_number(text, "hz", trace->run->hz);
    else
        ctf_put_word(text, "hz", "unknown: 1 tick is shown as 1 ns");
    ctf_put_word(text, "target_byte_order", is_big ? "big" : "little");
    ctf_put_number(text, "target_word_bytes", info->word_bytes);
    extract_text_printf(text, "    ring_address = \"0x%08" PRIx64 "\";\n", ring->address);
    extract_text_printf(text, "    timer_mask = \"0x%" PRIx64 "\";\n", ring->timer_mask);
    if (info->cores)
        ctf_put_number(text, "cores", info->cores);
    ctf_put_number(text, "events", info->entries_valid);
    ctf_put_number(text, "events_damaged", info->entries_damaged);
    ctf_put_number(text, "events_unread", info->entries_unread);
    if (info->lost_known)
        ctf_put_number(text, "events_lost", info->events_lost);
    else
        ctf_put_word(text, "events_lost", "unknown");
    ctf_put_number(text, "span_ticks", info->span_ticks);
}

// Writes the UUID as text.
static void put_uuid(const struct ctf_trace *trace, char text[CTF_UUID_TEXT])
{
    for (unsigned i = 0; i < CTF_UUID_BYTES; i++)
        text +=
            sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", trace->uuid[i]);
}

void ctf_head(struct ctf_trace *trace, struct extract_text *text, const char *domain)
{
    char uuid[CTF_UUID_TEXT];
    uint64_t hz = trace->run->hz;

    put_uuid(trace, uuid);
    extract_text_puts(
        text, "/* CTF 1.8 */\n\n"
              "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
              "typealias integer { size = 8; align = 8; signed = false; base = 16; } := hex8_t;\n"
              "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
              "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
              "typealias integer { size = 32; align = 8; signed = false; base = 16; } := hex32_t;\n"
              "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
              "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
              "typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;\n"
              "typealias integer { size = 64; align = 8; signed = false;\n"
              "    map = clock.monotonic.value; } := stamp_t;\n\n");
    extract_text_printf(text,
                        "trace {\n    major = 1;\n    minor = 8;\n    uuid = \"%s\";\n"
                        "    byte_order = le;\n"
                        "    packet.header := struct {\n        uint32_t magic;\n"
                        "        uint8_t uuid[%d];\n        uint32_t stream_id;\n    };\n};\n\n",
                        uuid, CTF_UUID_BYTES);
    extract_text_printf(text, "env {\n%s", domain);
    put_environment(trace, text);
    extract_text_printf(text,
                        "};\n\nclock {\n    name = monotonic;\n    uuid = \"%s\";\n"
                        "    description = \"%s\";\n    freq = %" PRIu64 ";\n"
                        "    offset_s = 0;\n    offset = 0;\n    absolute = FALSE;\n};\n\n",
                        uuid,
                        hz ? "Ticks of the target, 0 for the trace's oldest event"
                           : "Ticks of the target, whose rate is unknown: 1 tick is shown as 1 ns",
                        hz ? hz : NANO);
}

void ctf_begin_stream(struct extract_text *text)
{
    extract_text_puts(text, "stream {\n    id = 0;\n    packet.context := struct {\n"
                            "        stamp_t timestamp_begin;\n        stamp_t timestamp_end;\n"
                            "        uint64_t content_size;\n        uint64_t packet_size;\n"
                            "        uint64_t packet_seq_num;\n        uint64_t events_discarded;\n"
                            "        uint32_t cpu_id;\n    };\n"
                            "    event.header := struct {\n        uint32_t id;\n"
                            "        stamp_t timestamp;\n    };\n");
}

void ctf_put_lost_class(struct extract_text *text)
{
    extract_text_printf(text,
                        "event {\n    name = \"ringside_lost\";\n    id = %d;\n"
                        "    stream_id = 0;\n    fields := struct {\n"
                        "        uint64_t _at_least;\n    };\n};\n\n",
                        CTF_LOST_ID);
}

void ctf_write_metadata(struct ctf_trace *trace, const struct extract_text *text)
{
    if (text->code)
        export_fail(trace->run, EXTRACT_NOMEM, "export", "out of memory");
    if (trace->run->code)
        return;
    int fd = open_file(trace, "metadata");
    if (fd < 0)
        return;
    write_all(trace, fd, text->data, text->used);
    if (close(fd) != 0)
        fail_to_write(trace->run);
}
