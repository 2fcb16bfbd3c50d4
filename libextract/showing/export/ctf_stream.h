// SPDX-License-Identifier: MIT
// export: a trace of the Common Trace Format: a directory with `metadata` and a stream per core.
//
//     ctf_open ─► for each event: ctf_event_open, ctf_put_… , ctf_event_close
//                 for each loss:  ctf_discard
//              ─► ctf_finish ─► ctf_head, classes of events, ctf_write_metadata ─► ctf_close
//
// A stream consists of packets. The packets of a stream follow each other without a gap, from the
// time of the trace's first event to that of its last one:
//
//     ┌────────────────────┬────────────────────┬────────────────────┬──────
//     │ header, events …   │ ringside_lost      │ header, events …   │
//     │ events_discarded 0 │ events_discarded 7 │ events_discarded 7 │
//     └────────────────────┴────────────────────┴────────────────────┴──────
//                       t0                      t1
//
// For a loss, a packet counts the events that are missing between t0 and t1. It has one event,
// which states the same: Trace Compass does not read on after a packet without events. All numbers
// are little-endian, and nothing is aligned. Standard: Common Trace Format 1.8.3 (DiaMon).
#ifndef EXTRACT_EXPORT_CTF_STREAM_H
#define EXTRACT_EXPORT_CTF_STREAM_H

#include "export/exporter.h"
#include <endian.h>

enum {
    CTF_CORES = 256,
    CTF_UUID_BYTES = 16,
    CTF_UUID_TEXT = 37, // capacity for its text, with the NUL
    CTF_EVENT_HEADER = 12,
    CTF_LOST_ID = 0, // of the class ringside_lost; other classes begin after it
    CTF_CONTEXT_BYTES = 64
};

struct ctf_stream {
    int fd;
    uint8_t *packet;     // header and events of the present packet; owned
    uint8_t *at;         // where the next event begins
    uint8_t *end;        // of the packet's buffer
    uint64_t begin;      // time at which the packet begins
    uint64_t last;       // time of the newest event
    uint64_t discarded;  // events that are missing before the packet
    uint64_t to_discard; // those between the newest event and the next one
    uint64_t lost;       // of these, the number that is certain, as reports have it
    bool has_gap;        // events may be missing there
    uint64_t packets;    // that were written
};

struct ctf_trace {
    struct export_run *run;
    char *directory; // owned
    const char *stream_name;
    uint8_t uuid[CTF_UUID_BYTES];
    uint64_t first, last; // times of the trace's first and newest event
    bool has_time;
    uint64_t most;        // the largest time that can be written
    uint64_t lost_before; // events that the target did not record, at a time that is not known
    uint8_t lost_context[CTF_CONTEXT_BYTES]; // of the events ringside_lost
    size_t lost_context_bytes;
    struct ctf_stream *streams[CTF_CORES]; // NULL: the core has no stream; owned
};

// Opens a trace in `directory`, which exists. The names of its streams are `stream_name` and the
// number of the core. Failures of all functions are those of the run.
void ctf_open(struct ctf_trace *trace, struct export_run *run, const char *directory,
              const char *stream_name);
// Returns whether a time can be written. If not, that is a failure of the run.
bool ctf_can_hold(struct ctf_trace *trace, uint64_t ticks);
// Begins an event, and writes its header. A time before the core's newest one is replaced by that.
// The caller reserves space (ctf_reserve) and appends the values. Returns NULL after a failure.
struct ctf_stream *ctf_event_open(struct ctf_trace *trace, unsigned core, uint64_t ticks,
                                  uint32_t class_id);
// The number of events after the marker of a loss that may have lost none.
#define CTF_LOST_MAYBE UINT64_MAX

// Counts events that are missing between the core's newest event and its next one. `ticks` is the
// time of the newest event. Of an unknown number, 0, at least one is missing.
void ctf_discard(struct ctf_trace *trace, unsigned core, uint64_t ticks, uint64_t count);
// Returns how many events are missing after the marker of a loss, at least, or CTF_LOST_MAYBE.
uint64_t ctf_lost_events(const struct extract_event *marker);
// Writes all packets. The last one of each stream ends at the time of the trace's last event. A
// trace without events has a stream of core 0 without packets.
void ctf_finish(struct ctf_trace *trace);
// Writes the file `metadata`.
void ctf_write_metadata(struct ctf_trace *trace, const struct extract_text *text);
void ctf_close(struct ctf_trace *trace);

// Appends the first part of the metadata: types, trace, environment and clock. `domain` is text
// that is added to the environment. The caller appends the description of the stream's events.
void ctf_head(struct ctf_trace *trace, struct extract_text *text, const char *domain);
// Begins the description of the streams. The caller appends the context of events, if they have
// one, and "};".
void ctf_begin_stream(struct extract_text *text);
// Appends the class ringside_lost.
void ctf_put_lost_class(struct extract_text *text);
// Appends a string in quotes. Control characters and invalid UTF-8 are written as \xNN, as in
// reports.
void ctf_put_string(struct extract_text *text, const char *string);
// Appends a setting of the environment.
void ctf_put_word(struct extract_text *text, const char *key, const char *word);
void ctf_put_number(struct extract_text *text, const char *key, uint64_t number);

// ---- the values of an event ----

// Enlarges the buffer by `bytes` bytes. Returns false after a failure.
bool ctf_enlarge(struct ctf_trace *trace, struct ctf_stream *stream, size_t bytes);

// Ensures that there is space for `bytes` bytes. Returns false after a failure. The functions below
// do not check it.
static inline bool ctf_reserve(struct ctf_trace *trace, struct ctf_stream *stream, size_t bytes)
{
    return (size_t)(stream->end - stream->at) >= bytes || ctf_enlarge(trace, stream, bytes);
}

static inline void ctf_put8(struct ctf_stream *stream, uint8_t value)
{
    *stream->at++ = value;
}

static inline void ctf_put32(struct ctf_stream *stream, uint32_t value)
{
    value = htole32(value);
    memcpy(stream->at, &value, sizeof value);
    stream->at += sizeof value;
}

static inline void ctf_put64(struct ctf_stream *stream, uint64_t value)
{
    value = htole64(value);
    memcpy(stream->at, &value, sizeof value);
    stream->at += sizeof value;
}

static inline void ctf_put_bytes(struct ctf_stream *stream, const void *bytes, size_t length)
{
    memcpy(stream->at, bytes, length);
    stream->at += length;
}

#endif
