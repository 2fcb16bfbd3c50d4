// SPDX-License-Identifier: MIT
// Live memories: a target behind OpenOCD's Tcl port, or behind a server of GDB's remote protocol.
//
// Every wait is bounded and can be ended by the caller. A connection that breaks is made again, a
// bounded number of times; then reads fail at once for a while, and later try again. Whatever the
// server sends, no wrong byte is taken for memory where the protocol has a means to tell.
#ifndef EXTRACT_LIVE_H
#define EXTRACT_LIVE_H

#include <extract/memory.h>
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// Zero-initialize, then set what is wanted.
struct extract_live_options {
    size_t size;         // sizeof the struct
    const char *target;  // OpenOCD: the target's name; NULL: its current one
    unsigned timeout_ms; // for a connection, and for each reply; 0: 10 s

    // Not 0: every wait ends, and reads fail. Set by a signal handler, for example. It is looked at
    // when a signal interrupts the wait, and every 100 ms. NULL: none. What lets a halted target go
    // on is done all the same. Must outlive the memory.
    const volatile sig_atomic_t *cancel;
};

// Opens the memory of a target of OpenOCD through its Tcl port. `place` is "PORT", "HOST:PORT",
// "[HOST]:PORT", or the path of a UNIX socket (it holds a slash). The target is not halted; the
// memory is running (extract_memory_is_running) unless OpenOCD says that its core is halted, which
// every read asks anew. The byte order is the one that OpenOCD is configured with.
// Reads take one command and one round trip for each 64 KiB, and access whole words of 32 bits: of
// a span that is not aligned, the bytes beside it in its first and last word are read as well.
// Errors: USAGE (place or target name), IO (no connection, no answer), BAD (no OpenOCD answers),
// NOTFOUND (no such target), NOMEM.
enum extract_code extract_memory_open_openocd(struct extract_memory **memory, const char *place,
                                              const struct extract_live_options *options,
                                              struct extract_error *error);

// Opens the memory behind a server of the GDB remote serial protocol (QEMU, gdbserver, OpenOCD, a
// probe's own): `place` as above. Such a server halts its target when a client connects, and reads
// memory while it stands only. Closing the memory, or extract_live_release, lets it run.
// Errors: USAGE, IO, BAD (it does not speak the protocol; the program has ended), NOMEM.
enum extract_code extract_memory_open_remote(struct extract_memory **memory, const char *place,
                                             const struct extract_live_options *options,
                                             struct extract_error *error);

// How long the target stood for our sake. From the connection, or from the request to halt, to the
// server's leave to run: an upper bound of the time that the core itself stood.
struct extract_live_halts {
    uint64_t count;       // times that it was halted
    uint64_t nanoseconds; // in all; what is under way counts
    uint64_t longest;     // ns
    bool now;             // it stands
};

struct extract_live_halts extract_live_halts(const struct extract_memory *memory);

// Around a burst of reads. Halting waits until the target stands; reads of a remote memory fail
// while it runs. Both do nothing, and succeed, where reads need no halt (OpenOCD's Tcl port, files)
// and where the target is in that state. Errors: IO (no connection or no answer).
enum extract_code extract_live_halt(struct extract_memory *memory, struct extract_error *error);
enum extract_code extract_live_resume(struct extract_memory *memory, struct extract_error *error);

// Lets the target run and ends the connection. A later read makes it anew (and halts again, where
// the server does). Nothing to do for memories that are not live. Errors: IO (the server did not
// confirm: the target may stand still).
enum extract_code extract_live_release(struct extract_memory *memory, struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
