// SPDX-License-Identifier: MIT
// posix: the attributes object (posix_trace_attr_…).
//
// A trace_attr_t holds a `struct posix_attr`. Setters store what a caller wants; posix_trace_create
// copies it; posix_trace_get_attr returns what the stream has. Getters check the object's magic
// number and copy the value.
//
// Source: IEEE Std 1003.1-2008, posix_trace_attr_….
#include "posix/posix_room.h"
#include <stdio.h>
#include <string.h>

#define ATTR_MAGIC UINT64_C(0x7472616365617474)

enum {
    STREAM_SIZE = 256 * 1024 - 1024, // default, in bytes: fits a ring of 256 KiB
    LOG_SIZE = 1024 * 1024,          // default, in bytes
    DATA_SIZE = 256                  // default maximum of an event's data, in bytes
};

// The layout of records of a program on this host.
static const struct posix_layout host_layout = {
    .address_bytes = sizeof(void *), .stamp_bits = 64, .pids = true};

// Returns the bytes of a record on this host without its data.
static uint32_t count_host_head_bytes(void)
{
    return posix_record_head(&host_layout) + 4;
}

const struct posix_attr *posix_attr_of(const trace_attr_t *attr)
{
    const struct posix_attr *a = (const struct posix_attr *)attr;

    return a && a->magic == ATTR_MAGIC ? a : NULL;
}

// Returns the attributes in `attr` to be changed; NULL if they were not initialized.
static struct posix_attr *find_writable(trace_attr_t *attr)
{
    struct posix_attr *a = (struct posix_attr *)attr;

    return a && a->magic == ATTR_MAGIC ? a : NULL;
}

void posix_attr_defaults(struct posix_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->magic = ATTR_MAGIC;
    clock_getres(CLOCK_REALTIME, &attr->resolution);
    attr->stream_size = STREAM_SIZE;
    attr->log_size = LOG_SIZE;
    attr->max_data = DATA_SIZE;
    attr->head_bytes = count_host_head_bytes();
    attr->set_bytes = sizeof(trace_event_set_t);
    attr->log_policy = POSIX_TRACE_LOOP;
    attr->inherited = POSIX_TRACE_CLOSE_FOR_CHILD;
    snprintf(attr->version, sizeof attr->version, "ringside %s", EXTRACT_VERSION);
}

uint32_t posix_attr_event_bytes(const struct posix_attr *attr, uint64_t data)
{
    uint64_t kept = data < attr->max_data ? data : attr->max_data;

    return attr->head_bytes + (uint32_t)((kept + 3) / 4 * 4);
}

uint32_t posix_attr_system_bytes(const struct posix_attr *attr)
{
    return attr->head_bytes + 2 * attr->set_bytes;
}

int posix_trace_attr_init(trace_attr_t *attr)
{
    if (!attr)
        return EINVAL;
    posix_attr_defaults((struct posix_attr *)attr);
    return 0;
}

int posix_trace_attr_destroy(trace_attr_t *attr)
{
    struct posix_attr *a = find_writable(attr);

    if (!a)
        return EINVAL;
    a->magic = 0;
    return 0;
}

// ---- values ----

// Copies a value of `bytes` bytes to the caller. `attr` is NULL for an invalid object.
static int copy_value(const struct posix_attr *attr, void *to, const void *value, size_t bytes)
{
    if (!attr || !to)
        return EINVAL;
    memcpy(to, value, bytes);
    return 0;
}

int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, resolution, a ? &a->resolution : NULL, sizeof *resolution);
}

int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, createtime, a ? &a->created : NULL, sizeof *createtime);
}

int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, genversion, a ? a->version : NULL, sizeof a->version);
}

int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, tracename, a ? a->name : NULL, sizeof a->name);
}

int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename)
{
    struct posix_attr *a = find_writable(attr);

    if (!a || !tracename)
        return EINVAL;
    size_t length = strnlen(tracename, sizeof a->name - 1);
    memset(a->name, 0, sizeof a->name);
    memcpy(a->name, tracename, length);
    return 0;
}

int posix_trace_attr_getinherited(const trace_attr_t *restrict attr,
                                  int *restrict inheritancepolicy)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, inheritancepolicy, a ? &a->inherited : NULL, sizeof(int));
}

// Stores a choice between `min` and `max`. `to` is NULL for an invalid object.
static int set_choice(int32_t *to, int value, int min, int max)
{
    if (!to || value < min || value > max)
        return EINVAL;
    *to = value;
    return 0;
}

int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy)
{
    struct posix_attr *a = find_writable(attr);

    return set_choice(a ? &a->inherited : NULL, inheritancepolicy, POSIX_TRACE_CLOSE_FOR_CHILD,
                      POSIX_TRACE_INHERITED);
}

int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict attr, int *restrict logpolicy)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, logpolicy, a ? &a->log_policy : NULL, sizeof(int));
}

int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy)
{
    struct posix_attr *a = find_writable(attr);

    if (logpolicy == POSIX_TRACE_FLUSH)
        return EINVAL;
    return set_choice(a ? &a->log_policy : NULL, logpolicy, POSIX_TRACE_LOOP, POSIX_TRACE_APPEND);
}

int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict attr,
                                         int *restrict streampolicy)
{
    static const int32_t unset = POSIX_TRACE_LOOP;
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_value(a, streampolicy, a && a->stream_policy ? &a->stream_policy : &unset,
                      sizeof(int));
}

int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy)
{
    struct posix_attr *a = find_writable(attr);

    return set_choice(a ? &a->stream_policy : NULL, streampolicy, POSIX_TRACE_LOOP,
                      POSIX_TRACE_FLUSH);
}

// ---- sizes ----

// Copies a size to the caller. `attr` is NULL for an invalid object.
static int copy_size(const struct posix_attr *attr, size_t *to, uint64_t size)
{
    if (!attr || !to)
        return EINVAL;
    *to = (size_t)size;
    return 0;
}

int posix_trace_attr_getlogsize(const trace_attr_t *restrict attr, size_t *restrict logsize)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_size(a, logsize, a ? a->log_size : 0);
}

int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize)
{
    struct posix_attr *a = find_writable(attr);

    if (!a)
        return EINVAL;
    a->log_size = logsize;
    return 0;
}

int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict attr, size_t *restrict maxdatasize)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_size(a, maxdatasize, a ? a->max_data : 0);
}

int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize)
{
    struct posix_attr *a = find_writable(attr);

    if (!a || maxdatasize > POSIX_MAX_RECORD - count_host_head_bytes())
        return EINVAL;
    a->max_data = maxdatasize;
    a->data_set = true;
    return 0;
}

int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict attr,
                                           size_t *restrict eventsize)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_size(a, eventsize, a ? posix_attr_system_bytes(a) : 0);
}

int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict attr, size_t data_len,
                                         size_t *restrict eventsize)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_size(a, eventsize, a ? posix_attr_event_bytes(a, data_len) : 0);
}

int posix_trace_attr_getstreamsize(const trace_attr_t *restrict attr, size_t *restrict streamsize)
{
    const struct posix_attr *a = posix_attr_of(attr);

    return copy_size(a, streamsize, a ? a->stream_size : 0);
}

int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize)
{
    struct posix_attr *a = find_writable(attr);

    if (!a)
        return EINVAL;
    a->stream_size = streamsize;
    a->size_set = true;
    return 0;
}
