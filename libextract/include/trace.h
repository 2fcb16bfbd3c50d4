// SPDX-License-Identifier: MIT
// <trace.h>: the trace functions of IEEE Std 1003.1-2008, complete (options TRC, TEF, TRL and TRI).
//
// A controller creates a stream of a traced process, starts it, and reads its events; the traced
// process passes trace points. Both may be the same process. The traced process is a program on
// this host, or firmware to which <extract/posix/attach.h> gave a process id.
//
// Functions return 0 or an error number. Every function may be called from any thread. Trace points
// (posix_trace_event) may also be in signal handlers, and a handler that interrupted one may leave
// it with siglongjmp. Each function has a man page in section 3.
//
// Source: IEEE Std 1003.1-2008 (Issue 7), 2.11, <trace.h> and the pages of its functions.
#ifndef RINGSIDE_POSIX_TRACE_H
#define RINGSIDE_POSIX_TRACE_H

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// ---- options and limits of <unistd.h> and <limits.h> ----
// The system's <unistd.h> defines the options as -1, since the C library has no trace. For sysconf,
// use extract_posix_sysconf.
#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE              200809L
#define _POSIX_TRACE_EVENT_FILTER 200809L
#define _POSIX_TRACE_INHERIT      200809L
#define _POSIX_TRACE_LOG          200809L

#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
#define _POSIX_TRACE_NAME_MAX 8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
#define _POSIX_TRACE_SYS_MAX 8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_USER_EVENT_MAX 32
#endif

// An event name has at most TRACE_EVENT_NAME_MAX characters without its terminating zero, so a
// buffer for it needs TRACE_EVENT_NAME_MAX + 1 bytes. A buffer of TRACE_NAME_MAX bytes holds every
// stream name and version with its zero.
#ifndef TRACE_EVENT_NAME_MAX
#define TRACE_EVENT_NAME_MAX 63
#endif
#ifndef TRACE_NAME_MAX
#define TRACE_NAME_MAX 16
#endif
#ifndef TRACE_SYS_MAX
#define TRACE_SYS_MAX 8 // streams per traced process
#endif
#ifndef TRACE_USER_EVENT_MAX
#define TRACE_USER_EVENT_MAX 256 // user event types per process, with the unnamed one
#endif

// ---- types ----
typedef uint32_t trace_event_id_t;
typedef uint32_t trace_id_t; // never 0

// A set of event types. It may be copied; use posix_trace_eventset_ismember to look into it.
typedef struct trace_event_set {
    uint32_t ringside_words[9];
} trace_event_set_t;

// An attributes object. It contains no pointers, and nothing that must be freed.
typedef struct trace_attr {
    uint64_t ringside_words[20];
} trace_attr_t;

// An event as it is read, without its data.
struct posix_trace_event_info {
    trace_event_id_t posix_event_id;
    pid_t posix_pid;
    void *posix_prog_address; // address in the traced process
    pthread_t posix_thread_id;
    struct timespec posix_timestamp;
    int posix_truncation_status;
};

// The status of a stream and of its log. The flush and log members are for streams with a log.
struct posix_trace_status_info {
    int posix_stream_status;
    int posix_stream_full_status;
    int posix_stream_overrun_status;
    int posix_stream_flush_status;
    int posix_stream_flush_error; // error number of the first flush that failed; 0 if none
    int posix_log_overrun_status;
    int posix_log_full_status;
};

// ---- event types of the system; user event types have ids from 32 on ----
#define POSIX_TRACE_ERROR              ((trace_event_id_t)1)
#define POSIX_TRACE_START              ((trace_event_id_t)2)
#define POSIX_TRACE_STOP               ((trace_event_id_t)3)
#define POSIX_TRACE_OVERFLOW           ((trace_event_id_t)4)
#define POSIX_TRACE_RESUME             ((trace_event_id_t)5)
#define POSIX_TRACE_FILTER             ((trace_event_id_t)6)
#define POSIX_TRACE_FLUSH_START        ((trace_event_id_t)7)
#define POSIX_TRACE_FLUSH_STOP         ((trace_event_id_t)8)
#define POSIX_TRACE_UNNAMED_USEREVENT  ((trace_event_id_t)32)
#define POSIX_TRACE_UNNAMED_USER_EVENT POSIX_TRACE_UNNAMED_USEREVENT

// ---- values of status and of posix_truncation_status ----
#define POSIX_TRACE_SUSPENDED    0
#define POSIX_TRACE_RUNNING      1
#define POSIX_TRACE_NOT_FULL     0
#define POSIX_TRACE_FULL         1
#define POSIX_TRACE_NO_OVERRUN   0
#define POSIX_TRACE_OVERRUN      1
#define POSIX_TRACE_NOT_FLUSHING 0
#define POSIX_TRACE_FLUSHING     1

#define POSIX_TRACE_NOT_TRUNCATED    0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ   2

// ---- policies: full streams and logs, children of the traced process ----
#define POSIX_TRACE_LOOP       1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH      3
#define POSIX_TRACE_APPEND     4

#define POSIX_TRACE_CLOSE_FOR_CHILD 0
#define POSIX_TRACE_INHERITED       1

// ---- which event types posix_trace_eventset_fill adds ----
#define POSIX_TRACE_WOPID_EVENTS  1
#define POSIX_TRACE_SYSTEM_EVENTS 2
#define POSIX_TRACE_ALL_EVENTS    3

// ---- how posix_trace_set_filter combines a set with the filter ----
#define POSIX_TRACE_SET_EVENTSET 1
#define POSIX_TRACE_ADD_EVENTSET 2
#define POSIX_TRACE_SUB_EVENTSET 3

// ---- the attributes object: wanted attributes for create, actual ones from get_attr ----
int posix_trace_attr_init(trace_attr_t *attr);
int posix_trace_attr_destroy(trace_attr_t *attr);
int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion);
int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename);
int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename);
int posix_trace_attr_getinherited(const trace_attr_t *__restrict attr,
                                  int *__restrict inheritancepolicy);
int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *__restrict attr,
                                      int *__restrict logpolicy);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *__restrict attr,
                                         int *__restrict streampolicy);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy);
int posix_trace_attr_getlogsize(const trace_attr_t *__restrict attr, size_t *__restrict logsize);
int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *__restrict attr,
                                    size_t *__restrict maxdatasize);
int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *__restrict attr,
                                           size_t *__restrict eventsize);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *__restrict attr, size_t data_len,
                                         size_t *__restrict eventsize);
int posix_trace_attr_getstreamsize(const trace_attr_t *__restrict attr,
                                   size_t *__restrict streamsize);
int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize);

// ---- streams: create, control, status ----
int posix_trace_create(pid_t pid, const trace_attr_t *__restrict attr, trace_id_t *__restrict trid);
int posix_trace_create_withlog(pid_t pid, const trace_attr_t *__restrict attr, int file_desc,
                               trace_id_t *__restrict trid);
int posix_trace_flush(trace_id_t trid);
int posix_trace_shutdown(trace_id_t trid);
int posix_trace_clear(trace_id_t trid);
int posix_trace_start(trace_id_t trid);
int posix_trace_stop(trace_id_t trid);
int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr);
int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo);
int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set);
int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how);

// ---- sets of event types; a filter is the set of types that are not recorded ----
int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_empty(trace_event_set_t *set);
int posix_trace_eventset_fill(trace_event_set_t *set, int what);
int posix_trace_eventset_ismember(trace_event_id_t event_id,
                                  const trace_event_set_t *__restrict set,
                                  int *__restrict ismember);

// ---- trace points ----
void posix_trace_event(trace_event_id_t event_id, const void *__restrict data_ptr, size_t data_len);

// A compiler that optimizes expands a trace point where it is: it tests one word, which is 0 while
// no stream records events of this process, before it calls a function. The place of an expanded
// trace point is that of its call: clang gives it no other, and GCC marks posix_trace_event
// artificial.
extern const volatile uint32_t *volatile posix_trace_active_word;
void posix_trace_record_event(trace_event_id_t event_id, const void *__restrict data_ptr,
                              size_t data_len);
#if defined(__OPTIMIZE__) && !defined(RINGSIDE_TRACE_FUNCTION)
#ifdef __clang__
#define RINGSIDE_TRACE_INLINE __attribute__((gnu_inline, always_inline, nodebug))
#else
#define RINGSIDE_TRACE_INLINE __attribute__((gnu_inline, always_inline, artificial))
#endif
extern __inline RINGSIDE_TRACE_INLINE void
posix_trace_event(trace_event_id_t event_id, const void *__restrict data_ptr, size_t data_len)
{
    if (*posix_trace_active_word)
        posix_trace_record_event(event_id, data_ptr, data_len);
}
#endif

// ---- event types and their names ----
int posix_trace_eventid_open(const char *__restrict event_name,
                             trace_event_id_t *__restrict event_id);
int posix_trace_trid_eventid_open(trace_id_t trid, const char *__restrict event_name,
                                  trace_event_id_t *__restrict event);
int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name);
int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2);
int posix_trace_eventtypelist_getnext_id(trace_id_t trid, trace_event_id_t *__restrict event,
                                         int *__restrict unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t trid);

// ---- reading events: waiting, waiting until a time, and not waiting ----
int posix_trace_getnext_event(trace_id_t trid, struct posix_trace_event_info *__restrict event,
                              void *__restrict data, size_t num_bytes, size_t *__restrict data_len,
                              int *__restrict unavailable);
int posix_trace_timedgetnext_event(trace_id_t trid, struct posix_trace_event_info *__restrict event,
                                   void *__restrict data, size_t num_bytes,
                                   size_t *__restrict data_len, int *__restrict unavailable,
                                   const struct timespec *__restrict abstime);
int posix_trace_trygetnext_event(trace_id_t trid, struct posix_trace_event_info *__restrict event,
                                 void *__restrict data, size_t num_bytes,
                                 size_t *__restrict data_len, int *__restrict unavailable);

// ---- logs: pre-recorded streams ----
int posix_trace_open(int file_desc, trace_id_t *trid);
int posix_trace_rewind(trace_id_t trid);
int posix_trace_close(trace_id_t trid);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
