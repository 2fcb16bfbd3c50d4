// SPDX-License-Identifier: MIT
// POSIX trace (<trace.h>) for a target in any memory: firmware under a debugger, an image, a core
// file.
//
// extract_posix_attach gives such a target a process id. The functions of <trace.h> then control
// and read it as they do with a program on this host. extract_posix_open_memory reads a stream that
// is over, without a process id, as a pre-recorded stream.
#ifndef EXTRACT_POSIX_ATTACH_H
#define EXTRACT_POSIX_ATTACH_H

#include <extract/memory.h>
#include <extract/symbols.h>
#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// Binds the process id `pid` (> 0) to the traced process in `memory`. `address` is that of its
// process block or of one of its stream blocks. If it is 0, the block is found by the firmware's
// symbol ringside_posix (`symbols` may be NULL), or by a scan of the regions that the memory knows
// (extract_memory_region). From then on, posix_trace_create with this pid makes streams of the
// target, even if a program has the same process id. `memory` must live, and must not be used by
// other threads, until extract_posix_detach or the end of the process, which shuts the streams
// down.
//
// If memory is readable only while the target is halted (extract_live_halt), a call halts a running
// target for its reads. A target that was halted runs while a call waits for it, and is halted
// again when the call returns.
//
// Such a target differs from a program:
// - A request (create, start, stop, clear, filter) takes effect at the target's next trace point.
//   Until then, status and filter are those that were requested. create takes a stream that is not
//   in use; if there is none, one that the firmware started itself, which stops it. It returns
//   EAGAIN if the target does not release that one within a second.
// - create returns EPERM for memory that cannot be written, EIO for a broken link.
// - The size of a ring is compiled in: create with a larger explicit stream size returns ENOMEM.
//   Data are truncated to what the records hold (posix_trace_get_attr).
// - After a reset, which loses what was not read, the last request is made again.
// - Unless the clock is CLOCK_REALTIME, times begin with the first event that a stream reads, which
//   gets the time at which it was read. A clock of unknown rate counts nanoseconds.
// - TRACE_SYS_MAX, TRACE_USER_EVENT_MAX and the length of names are compiled in, and no stream is
//   inherited.
// - A stream with a log and the policy POSIX_TRACE_FLUSH reads the memory in a thread of its own,
//   one call at a time. If only one thread may read it, use another policy and call
//   posix_trace_flush.
// Errors: USAGE (pid, or the pid is attached already), NOTFOUND, BAD, UNREADABLE, NOMEM.
enum extract_code extract_posix_attach(pid_t pid, struct extract_memory *memory,
                                       struct extract_symbols *symbols, uint64_t address,
                                       struct extract_error *error);

// Shuts down the target's streams (posix_trace_shutdown), waits for calls of other threads on it,
// and gives the memory back to the caller. Errors: NOTFOUND (nothing is attached to the pid).
enum extract_code extract_posix_detach(pid_t pid, struct extract_error *error);

// Opens a stream in `memory` as a pre-recorded stream: posix_trace_getnext_event, _get_attr,
// _get_status, _eventid_get_name, _eventtypelist_…, _rewind and _close work on it. `stream` is the
// number of the stream. -1 selects the stream whose block is at `address`; without such a
// block, the first that is bound; if none is bound, the first. Memory and address are as above,
// until posix_trace_close. Nothing is written. Records that were being written are skipped. Times
// of a clock that is not CLOCK_REALTIME count from its zero. Errors: USAGE (no such stream),
// NOTFOUND, BAD, UNREADABLE, NOMEM, LIMIT (too many streams).
enum extract_code extract_posix_open_memory(struct extract_memory *memory,
                                            struct extract_symbols *symbols, uint64_t address,
                                            int stream, trace_id_t *trid,
                                            struct extract_error *error);

// Returns sysconf for _SC_TRACE, _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT, _SC_TRACE_LOG,
// _SC_TRACE_EVENT_NAME_MAX, _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX and _SC_TRACE_USER_EVENT_MAX. The
// system's sysconf may return -1 for these, since the C library has no trace. Other names are
// passed to the system's sysconf.
long extract_posix_sysconf(int name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
