// SPDX-License-Identifier: MIT
// P1: the default attributes of a stream.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"

static const char *policy_name(int policy)
{
    switch (policy) {
    case POSIX_TRACE_LOOP:
        return "POSIX_TRACE_LOOP";
    case POSIX_TRACE_UNTIL_FULL:
        return "POSIX_TRACE_UNTIL_FULL";
    case POSIX_TRACE_FLUSH:
        return "POSIX_TRACE_FLUSH";
    case POSIX_TRACE_APPEND:
        return "POSIX_TRACE_APPEND";
    default:
        return "unknown";
    }
}

static void print_texts(const trace_attr_t *attr)
{
    char text[TRACE_NAME_MAX], day[64];
    struct timespec time;
    struct tm parts;
    need(posix_trace_attr_getgenversion(attr, text), "posix_trace_attr_getgenversion");
    printf("version: %s\n", text);
    need(posix_trace_attr_getname(attr, text), "posix_trace_attr_getname");
    printf("name: \"%s\"\n", text);
    need(posix_trace_attr_getcreatetime(attr, &time), "posix_trace_attr_getcreatetime");
    if (!localtime_r(&time.tv_sec, &parts) || !strftime(day, sizeof day, "%c", &parts))
        day[0] = '\0';
    printf("created: %s\n", day);
    need(posix_trace_attr_getclockres(attr, &time), "posix_trace_attr_getclockres");
    printf("clock resolution: %ld ns\n", time.tv_nsec);
}

static void print_policies(const trace_attr_t *attr)
{
    int policy;
    need(posix_trace_attr_getstreamfullpolicy(attr, &policy),
         "posix_trace_attr_getstreamfullpolicy");
    printf("stream policy: %s\n", policy_name(policy));
    need(posix_trace_attr_getlogfullpolicy(attr, &policy), "posix_trace_attr_getlogfullpolicy");
    printf("log policy: %s\n", policy_name(policy));
}

static void print_sizes(const trace_attr_t *attr)
{
    size_t data, event, stream;
    need(posix_trace_attr_getmaxdatasize(attr, &data), "posix_trace_attr_getmaxdatasize");
    printf("max data size: %zu\n", data);
    need(posix_trace_attr_getmaxusereventsize(attr, data, &event),
         "posix_trace_attr_getmaxusereventsize");
    printf("user event size: %zu\n", event);
    need(posix_trace_attr_getstreamsize(attr, &stream), "posix_trace_attr_getstreamsize");
    printf("user events of that size: %zu\n", stream / event);
    need(posix_trace_attr_getmaxsystemeventsize(attr, &event),
         "posix_trace_attr_getmaxsystemeventsize");
    printf("system event size: %zu\nstream size: %zu\n", event, stream);
}

int main(void)
{
    trace_id_t trid;
    trace_attr_t attr;
    need(posix_trace_create(0, NULL, &trid), "posix_trace_create");
    need(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    print_texts(&attr);
    print_policies(&attr);
    print_sizes(&attr);
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
