// SPDX-License-Identifier: MIT
// posix/log: the payload of ATTRIBUTES: the attributes and status of a stream, as bytes of the log.
//
// Words and 64-bit numbers are stored little-endian in the order of the table in
// docs/formats/log.md, "ATTRIBUTES". A payload that is read is not trusted. It also states the byte
// order and the size of addresses of the machine that wrote it: posix_trace_open refuses the log of
// another kind of machine.
#include "posix/log/posix_log.h"
#include "base/now.h"
#include "log/log_block.h"

enum { VERSION = 1, FINAL = 1, STATUS_WORDS = 7 };

static const uint32_t host_order = EXTRACT_HOST_BIG ? EXTRACT_BIG : EXTRACT_LITTLE;

// A full file system and a full quota are the same to a caller: ENOSPC.
int posix_log_errno(enum extract_code code)
{
    int reason = errno;

    switch (code) {
    case EXTRACT_OK:
        return 0;
    case EXTRACT_NOMEM:
        return ENOMEM;
    case EXTRACT_IO:
        return reason == EDQUOT ? ENOSPC : reason ? reason : EIO;
    default:
        return EINVAL;
    }
}

static uint64_t to_nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * EXTRACT_SECOND + (uint64_t)time->tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / EXTRACT_SECOND), (long)(ns % EXTRACT_SECOND)};
}

// Stores a number and returns where the next one goes.
static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned bytes)
{
    extract_log_store(to, value, bytes);
    return to + bytes;
}

void posix_log_settings_encode(uint8_t payload[LOG_ATTRIBUTES],
                               const struct posix_log_settings *settings)
{
    const struct posix_attr *a = &settings->attr;
    const struct posix_trace_status_info *s = &settings->status;
    const uint32_t words[] = {VERSION,
                              host_order,
                              sizeof(void *),
                              settings->is_final ? FINAL : 0,
                              (uint32_t)a->stream_policy,
                              (uint32_t)a->log_policy,
                              (uint32_t)a->inherited,
                              a->head_bytes,
                              a->set_bytes,
                              (uint32_t)s->posix_stream_status,
                              (uint32_t)s->posix_stream_full_status,
                              (uint32_t)s->posix_stream_overrun_status,
                              (uint32_t)s->posix_stream_flush_status,
                              (uint32_t)s->posix_stream_flush_error,
                              (uint32_t)s->posix_log_overrun_status,
                              (uint32_t)s->posix_log_full_status};
    const uint64_t numbers[] = {a->stream_size, a->log_size, a->max_data,
                                to_nanoseconds(&a->resolution), to_nanoseconds(&a->created)};
    uint8_t *to = payload;

    memset(payload, 0, LOG_ATTRIBUTES);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        to = put_number(to, words[i], 4);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        to = put_number(to, numbers[i], 8);
    memcpy(to, a->name, strnlen(a->name, sizeof a->name));
    memcpy(to + sizeof a->name, a->version, strnlen(a->version, sizeof a->version));
}

static void read_status(struct extract_cursor *c, struct posix_trace_status_info *s)
{
    int *const members[STATUS_WORDS] = {
        &s->posix_stream_status,         &s->posix_stream_full_status,
        &s->posix_stream_overrun_status, &s->posix_stream_flush_status,
        &s->posix_stream_flush_error,    &s->posix_log_overrun_status,
        &s->posix_log_full_status};

    for (unsigned i = 0; i < STATUS_WORDS; i++)
        *members[i] = (int)extract_cursor_u32(c);
}

// Reads a text of TRACE_NAME_MAX bytes, of which the last is always zero.
static void read_text(struct extract_cursor *c, char text[TRACE_NAME_MAX])
{
    const uint8_t *bytes = extract_cursor_span(c, TRACE_NAME_MAX);

    if (bytes)
        memcpy(text, bytes, TRACE_NAME_MAX - 1);
}

bool posix_log_settings_decode(struct posix_log_settings *settings, const uint8_t *payload,
                               size_t length)
{
    struct extract_cursor c = extract_cursor_make(payload, length, EXTRACT_LITTLE);
    struct posix_attr *a = &settings->attr;

    *settings = (struct posix_log_settings){0};
    posix_attr_defaults(a);
    uint32_t version = extract_cursor_u32(&c);
    uint32_t order = extract_cursor_u32(&c), address = extract_cursor_u32(&c);
    settings->is_foreign = order != host_order || address != sizeof(void *);
    settings->is_final = extract_cursor_u32(&c) & FINAL;
    a->stream_policy = (int32_t)extract_cursor_u32(&c);
    a->log_policy = (int32_t)extract_cursor_u32(&c);
    a->inherited = (int32_t)extract_cursor_u32(&c);
    a->head_bytes = extract_cursor_u32(&c);
    a->set_bytes = extract_cursor_u32(&c);
    read_status(&c, &settings->status);
    a->stream_size = extract_cursor_u64(&c);
    a->log_size = extract_cursor_u64(&c);
    a->max_data = extract_cursor_u64(&c);
    a->resolution = to_timespec(extract_cursor_u64(&c));
    a->created = to_timespec(extract_cursor_u64(&c));
    memset(a->name, 0, sizeof a->name);
    memset(a->version, 0, sizeof a->version);
    read_text(&c, a->name);
    read_text(&c, a->version);
    return !c.failed && version == VERSION;
}
