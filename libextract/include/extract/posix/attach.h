// SPDX-License-Identifier: MIT
// POSIX trace (<trace.h>) of a target behind any memory: firmware under a debugger, an image, a
// core. An attached target has a process id like a program's, and the same calls control and read
// it.
#ifndef EXTRACT_POSIX_ATTACH_H
#define EXTRACT_POSIX_ATTACH_H

#include <extract/memory.h>
#include <extract/symbols.h>
#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// Binds the process id `pid` (> 0) to the traced process whose block lies in `memory`: at `address`
// (of the process block, or of a stream block of it); 0: where the firmware's symbols say
// (ringside_posix; `symbols` may be NULL), else by a scan of the regions that the memory knows
// (extract_memory_region). From then on posix_trace_create with this pid, which may hide a
// program's, makes streams of the target. `memory` must live, and be left alone by other threads,
// until extract_posix_detach (or the process' end, which shuts the streams down).
//
// A target that is read while it stands only (extract_live_halt) is halted for the reads of a call
// that finds it running. One that is found standing runs while a call waits for it, and stands
// again when that returns.
//
// What a target cannot do as a program does:
// - A request (create, start, stop, clear, filter) takes effect at the target's next trace point.
//   Status and filter tell what was asked for until then; create gives a stream that is not in use,
//   else takes one that the firmware itself started (which stops it; EAGAIN: the target did not let
//   go of it within a second).
// - create on memory that cannot be written gives EPERM; a broken link gives EIO.
// - The ring has the size that it was compiled with: create with an explicit stream size above that
//   gives ENOMEM. Data are cut to what its records hold, which posix_trace_get_attr tells.
// - After a reset, which loses what was not read, it is asked again for what was asked for last.
// - Unless its clock is CLOCK_REALTIME, times begin with the first event that a stream reads,
//   which gets the time when it was read; a clock without a known rate counts nanoseconds.
// - TRACE_SYS_MAX, TRACE_USER_EVENT_MAX and the length of names are what it was compiled with, and
//   no stream is inherited.
// - A stream with a log and the policy POSIX_TRACE_FLUSH reads the memory in a thread of its own,
//   one call at a time; where only one thread may read it, give the stream another policy and call
//   posix_trace_flush.
// Errors: USAGE (pid, or it is attached already), NOTFOUND, BAD, UNREADABLE, NOMEM.
enum extract_code extract_posix_attach(pid_t pid, struct extract_memory *memory,
                                       struct extract_symbols *symbols, uint64_t address,
                                       struct extract_error *error);

// Shuts the target's streams down, as posix_trace_shutdown does, waits for calls of other threads
// on it, and forgets it. The memory is the caller's again. Errors: NOTFOUND (it is not attached).
enum extract_code extract_posix_detach(pid_t pid, struct extract_error *error);

// Opens stream number `stream` (-1: the first that is bound, else the first; where `address` is of
// a stream block: that one) of what lies in `memory` as a pre-recorded stream:
// posix_trace_getnext_event, _get_attr, _get_status, _eventid_get_name, _eventtypelist_…, _rewind
// and _close work on it. Memory and address as above, until posix_trace_close. Nothing is written.
// Records that were being written are passed over. Times of a clock that is not CLOCK_REALTIME
// count from its zero. Errors: USAGE (no such stream), NOTFOUND, BAD, UNREADABLE, NOMEM, LIMIT (too
// many streams).
enum extract_code extract_posix_open_memory(struct extract_memory *memory,
                                            struct extract_symbols *symbols, uint64_t address,
                                            int stream, trace_id_t *trid,
                                            struct extract_error *error);

// sysconf for _SC_TRACE, _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT, _SC_TRACE_LOG,
// _SC_TRACE_EVENT_NAME_MAX, _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX and _SC_TRACE_USER_EVENT_MAX, for
// which the system's own may say -1, since its library has no trace. Other names go to sysconf.
long extract_posix_sysconf(int name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
