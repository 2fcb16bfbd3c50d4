// SPDX-License-Identifier: MIT
// target: the recorder on Linux, seen from the controller's side.
// In: a process id. Out: the shared memory object of that process (docs/formats/posix-ring.md),
// read and written, its streams bound, released and kept going. Whatever the process does to its
// object meanwhile, the caller is told by an error, and by no signal: an object that was cut short
// gives EIO, or fewer bytes.
//
// An object is /dev/shm/ringside-posix.PID, mode 0600. A process that fork made shares its parent's
// object; its own name is a hard link to it. The object is larger than what is in it: only the
// blocks and the rings of streams that were bound once have pages. Reading allocates none.
#ifndef RINGSIDE_TARGET_LINUX_OBJECT_H
#define RINGSIDE_TARGET_LINUX_OBJECT_H

#include "target/ringside_trace.h"
#include <stdbool.h>
#include <sys/types.h>

struct ringside_trace_object; // one traced process' shared memory, mapped

// Opens the object of process `pid`; it is made where it is not there and `create` is set. Root may
// open that of any user's process. Returns 0 and *object, to be closed; ESRCH (no such process),
// ENOENT (it has no object), EPERM (the process or the object is another user's), EACCES (others
// than its user may open the object), ENOMEM, EINVAL (what is there is no such object).
int ringside_trace_object_open(pid_t pid, bool create, struct ringside_trace_object **object);

// Opens the object that a dead process has left, to be read only. Returns 0 and *object; ESRCH
// (there is none, or it is another user's), ENOMEM.
int ringside_trace_object_open_left(pid_t pid, struct ringside_trace_object **object);

// Closes it. Streams that it bound are not released here, but count as left by their controller.
void ringside_trace_object_close(struct ringside_trace_object *object);

// Whether the process that it was opened for is still there; a new one may have its number.
bool ringside_trace_object_lives(const struct ringside_trace_object *object);
// Whether that process is still there, or another one that writes to one of these streams (bits),
// as children do that inherited it.
bool ringside_trace_object_is_written(const struct ringside_trace_object *object, uint32_t streams);

// Reads bytes at an offset of the object in the order of their addresses: those behind are no
// older, and words of 32 bits are whole. Returns how many could be read.
size_t ringside_trace_object_read(const struct ringside_trace_object *object, uint64_t at, void *to,
                                  size_t bytes);
// Writes words of 32 bits, one after the other. Returns false when they do not lie in the object,
// or it was cut short.
bool ringside_trace_object_write(struct ringside_trace_object *object, uint64_t at,
                                 const uint32_t *words, size_t count);

struct ringside_trace_bind {
    int policy;          // POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH
    uint32_t ring_words; // a power of two from 64 to 2^22
    uint32_t max_data;   // bytes of data that a record holds; cut to what the ring allows
    bool inherit;        // children that are made later are traced, too
    const char *name;    // of the stream; longer than 15 bytes: cut
};

// Takes a free stream (also one whose controller is gone) for the process that the object was
// opened for, its pages allocated; it is stopped, its filter empty. Returns 0 and *stream, the
// number of its block; EAGAIN (all are in use), ENOMEM (no pages, or ring_words too large), EINVAL,
// EIO.
int ringside_trace_object_bind(struct ringside_trace_object *object,
                               const struct ringside_trace_bind *bind, unsigned *stream);

// Stops the stream and frees it.
void ringside_trace_object_release(struct ringside_trace_object *object, unsigned stream);

// Carries out requests now, under the lock, and closes records whose writer died. Requests that
// have to wait for a writer in the middle of a record are waited for, a second at most:
// request_done tells.
void ringside_trace_object_attend(struct ringside_trace_object *object);

// An object with the name of a process that the caller may read.
struct ringside_traced_object {
    pid_t pid;
    bool is_shared;  // by several processes: it has their names, too
    bool is_in_core; // a core of the process will contain it
    uint64_t bytes;  // of memory
};
// Calls `visit` for each.
void ringside_traced_objects(void (*visit)(void *context,
                                           const struct ringside_traced_object *object),
                             void *context);

// Registers an event type in the traced process. Returns 0, ENAMETOOLONG (above 63 bytes), EIO. A
// full table gives POSIX_TRACE_UNNAMED_USEREVENT.
int ringside_trace_object_name(struct ringside_trace_object *object, const char *name,
                               trace_event_id_t *event);

#endif
