// SPDX-License-Identifier: MIT
// fuzz: bytes that may be the log of a POSIX trace, through <trace.h>. The log is opened and read
// to its end, and asked for its attributes, status and names. The bytes are read unchanged, and
// again with corrected checksums.
//
// Nothing may crash, leak or hang. In addition, reading again gives the same events. What a
// function returns is within the limits of the standard. Functions that do not apply to logs fail.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/log/seal.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <trace.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA = 64, ROUNDS = 3, SECOND = 1000000000 };

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

// ---- events ----

struct got {
    struct posix_trace_event_info info;
    uint8_t data[DATA];
    size_t length;
    int unavailable;
};

static uint64_t mix(uint64_t sum, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    while (length--)
        sum = (sum ^ *at++) * UINT64_C(0x100000001B3);
    return sum;
}

static void check_event(const struct got *got)
{
    const struct timespec *time = &got->info.posix_timestamp;
    check(got->length <= DATA);
    check(time->tv_nsec >= 0 && time->tv_nsec < SECOND);
    check(got->info.posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED ||
          got->info.posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD ||
          (got->info.posix_truncation_status == POSIX_TRACE_TRUNCATED_READ && got->length == DATA));
}

// Returns a checksum of all events up to the end of the log. No event follows the end.
static uint64_t read_all(trace_id_t trid)
{
    struct got got;
    uint64_t sum = 0;
    for (;;) {
        memset(&got, 0, sizeof got);
        check(!posix_trace_getnext_event(trid, &got.info, got.data, DATA, &got.length,
                                         &got.unavailable));
        if (got.unavailable)
            break;
        check_event(&got);
        sum = mix(sum, &got, sizeof got);
    }
    check(!posix_trace_getnext_event(trid, &got.info, NULL, 0, &got.length, &got.unavailable));
    check(got.unavailable);
    return sum;
}

// ---- the log as a whole ----

static void check_attributes(trace_id_t trid)
{
    char name[TRACE_NAME_MAX], version[TRACE_NAME_MAX];
    struct timespec created, resolution;
    trace_attr_t attr;
    size_t size;
    int policy;
    check(!posix_trace_get_attr(trid, &attr));
    check(!posix_trace_attr_getname(&attr, name) && memchr(name, 0, sizeof name));
    check(!posix_trace_attr_getgenversion(&attr, version) && memchr(version, 0, sizeof version));
    check(!posix_trace_attr_getcreatetime(&attr, &created) && created.tv_nsec < SECOND);
    check(!posix_trace_attr_getclockres(&attr, &resolution) && resolution.tv_nsec < SECOND);
    check(!posix_trace_attr_getlogfullpolicy(&attr, &policy));
    check(!posix_trace_attr_getstreamfullpolicy(&attr, &policy));
    check(!posix_trace_attr_getmaxdatasize(&attr, &size));
    posix_trace_attr_getmaxusereventsize(&attr, size, &size);
    posix_trace_attr_getmaxsystemeventsize(&attr, &size);
}

static void check_status(trace_id_t trid)
{
    struct posix_trace_status_info once, again;
    memset(&once, 0, sizeof once);
    memset(&again, 0, sizeof again);
    check(!posix_trace_get_status(trid, &once) && !posix_trace_get_status(trid, &again));
    check(!memcmp(&once, &again, sizeof once));
}

// Checks that each type is listed once and has a name.
static unsigned check_names(trace_id_t trid)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id, last = 0;
    int unavailable;
    unsigned count = 0;
    check(!posix_trace_eventtypelist_rewind(trid));
    while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable) {
        check(id > last && !posix_trace_eventid_get_name(trid, id, name));
        check(name[0] && memchr(name, 0, sizeof name));
        last = id;
        count++;
    }
    check(unavailable && count >= 8);
    return count;
}

static void check_refusals(trace_id_t trid)
{
    struct got got;
    trace_event_set_t set;
    trace_event_id_t id;
    check(!posix_trace_eventset_empty(&set));
    check(posix_trace_start(trid) == EINVAL && posix_trace_stop(trid) == EINVAL);
    check(posix_trace_clear(trid) == EINVAL && posix_trace_flush(trid) == EINVAL);
    check(posix_trace_shutdown(trid) == EINVAL);
    check(posix_trace_trid_eventid_open(trid, "name", &id) == EINVAL);
    check(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) == EINVAL);
    check(posix_trace_trygetnext_event(trid, &got.info, got.data, DATA, &got.length,
                                       &got.unavailable) == EINVAL);
}

static void check_log(const uint8_t *data, size_t size)
{
    trace_id_t trid;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    int error = posix_trace_open(fd, &trid);
    check(!error || error == EINVAL);
    close(fd);
    if (error)
        return;
    check_attributes(trid);
    unsigned names = check_names(trid);
    uint64_t sum = read_all(trid);
    for (unsigned i = 1; i < ROUNDS; i++) {
        check(!posix_trace_rewind(trid));
        check(read_all(trid) == sum);
    }
    check(check_names(trid) == names);
    check_status(trid);
    check_refusals(trid);
    check(!posix_trace_close(trid) && posix_trace_rewind(trid) == EINVAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    check(copy != NULL);
    check_log(data, size);
    if (size)
        memcpy(copy, data, size);
    seal_blocks(copy, size);
    check_log(copy, size);
    free(copy);
    return 0;
}
