// SPDX-License-Identifier: MIT
// The target's address space: where bytes come from.
//
// One interface over raw images, .trx files, ELF cores, live targets and callbacks (a debugger).
// Memories know nothing of trace formats; the only exception is that a .trx file says itself where
// it lay.
#ifndef EXTRACT_MEMORY_H
#define EXTRACT_MEMORY_H

#include <extract/error.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_memory;

enum extract_byte_order { EXTRACT_ORDER_UNKNOWN = 0, EXTRACT_LITTLE, EXTRACT_BIG };

// A half-open span of target addresses [address, address + length). length > 0 and the span does
// not run past 2^64.
struct extract_region {
    uint64_t address;
    uint64_t length; // bytes
};

// What reading has cost so far.
struct extract_memory_cost {
    uint64_t reads;       // calls of the source's read function
    uint64_t bytes;       // bytes that it delivered
    uint64_t failed;      // calls that delivered less than was asked for
    uint64_t nanoseconds; // wall time spent inside it (CLOCK_MONOTONIC)
};

// A source of bytes. `read` copies up to `length` bytes from `address` to `buffer` and returns how
// many bytes from the start of the span could be read (0 … length). It must not write past
// buffer + length. `close` may be NULL.
struct extract_memory_source {
    size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
    void (*close)(void *context);
    void *context;
    enum extract_byte_order byte_order; // UNKNOWN: the format finds out
    bool running;                       // the target may write while it is read
    const char *name;                   // for messages; copied

    // What a source may offer beside that; NULL where it does not.
    // As `read`, the other way: how many bytes from the start of the span were written.
    size_t (*write)(void *context, uint64_t address, const void *bytes, size_t length);
    // The i-th readable region, as extract_memory_region gives it.
    bool (*region)(void *context, size_t i, struct extract_region *region);
    bool (*is_running)(void *context); // asked each time, in the place of `running`
    // Whether nothing will be written any more: a traced process has ended. Not where a target is
    // halted, which may run again.
    bool (*has_ended)(void *context);
    // Why the last call fell short at `address`: fills what, why and hint. False: it does not know.
    bool (*explain)(void *context, uint64_t address, struct extract_error *error);
    bool starts; // a ring's control header lies at `start`
    uint64_t start;
};

// Makes a memory over caller-supplied callbacks. On success *memory owns `source->context` (close
// is called once, by extract_memory_close). Errors: NOMEM (context is not closed then).
enum extract_code extract_memory_new(struct extract_memory **memory,
                                     const struct extract_memory_source *source,
                                     struct extract_error *error);

// An empty memory to which images are added: several files make one address space.
// A later image does not overlap an earlier one (error BAD, naming both).
enum extract_code extract_memory_new_images(struct extract_memory **memory,
                                            struct extract_error *error);

// Adds the raw bytes of the file `path` at target address `address` ("-" reads standard input).
// The memory must come from extract_memory_new_images. Regular files of any length are read where
// the memory is, and stay open until it is closed; what is cut off from one in the meantime cannot
// be read. Errors: IO, NOMEM, BAD (overlap, or the span runs past 2^64, or the file is empty),
// LIMIT (more than 1 GiB from standard input, a pipe or a device), USAGE (wrong kind of memory). A
// failure leaves the memory as it was.
enum extract_code extract_memory_add_image(struct extract_memory *memory, const char *path,
                                           uint64_t address, struct extract_error *error);

// As above from `length` bytes in the caller's hands, which are copied. `name` is for messages.
enum extract_code extract_memory_add_bytes(struct extract_memory *memory, const char *name,
                                           const void *bytes, size_t length, uint64_t address,
                                           struct extract_error *error);

// Adds the data of an Intel HEX file ("-" reads standard input) at the addresses that its records
// name. Checksums are verified; adjacent records make one region, gaps are holes, records may
// come in any order and may repeat the same data. Errors: as for extract_memory_add_image; BAD
// names the line (malformed or unknown record, bad checksum, different data for one address);
// TRUNCATED (no end record).
enum extract_code extract_memory_add_hex(struct extract_memory *memory, const char *path,
                                         struct extract_error *error);

// The same for a Motorola S-record file (S1, S2, S3 data; S5, S6 counts are verified).
enum extract_code extract_memory_add_srec(struct extract_memory *memory, const char *path,
                                          struct extract_error *error);

// Opens a ThreadX trace dump (.trx): one region at the address that its header names
// (trace_base_address), byte order from its id word. A truncated file gives a shorter region.
// A later ring search starts where that region starts. Errors: IO, NOMEM, LIMIT, BAD (not a .trx),
// TRUNCATED (it ends before the base address).
enum extract_code extract_memory_open_trx(struct extract_memory **memory, const char *path,
                                          struct extract_error *error);

// Opens an ELF core (ET_CORE; 32/64 bit, both byte orders): its PT_LOAD segments. Bytes that the
// file does not hold (p_filesz < p_memsz, or a truncated file) are holes, not zeros. Where
// segments overlap, the first that holds a byte gives it. Errors: IO, NOMEM, LIMIT, BAD (not an
// ELF core, or one without memory), TRUNCATED (cut off before the first byte of memory).
enum extract_code extract_memory_open_core(struct extract_memory **memory, const char *path,
                                           struct extract_error *error);

// Opens a dump of a ring of hook words (docs/formats/hook.md): control block and buffer, one region
// at the address that the control block names, or at 0. A later ring search starts there. A
// truncated file gives a shorter region. Errors: IO, NOMEM, LIMIT, BAD (no such dump).
enum extract_code extract_memory_open_hooks(struct extract_memory **memory, const char *path,
                                            struct extract_error *error);

// What a file is, by its first bytes: "trx", "hook" (a ring of hook words), "hookstream" (a raw
// stream of 64-bit hook words), "core", "elf" (an ELF that is no core), "log", "ihex", "srec", or
// "raw". Errors: IO. Standard input ("-"), pipes and devices cannot be looked at: USAGE.
enum extract_code extract_memory_detect(const char *path, const char **kind,
                                        struct extract_error *error);

// Reads `length` bytes at `address`. Stores how many bytes from the start were read in *got (not
// NULL); the rest of buffer is unspecified. Returns OK when all were, else UNREADABLE with the
// first unreadable address in error->where. One call of the source a region that is touched, and
// one for the hole that ends the read; a source is never asked for more than was asked here.
enum extract_code extract_memory_read(struct extract_memory *memory, uint64_t address, void *buffer,
                                      size_t length, size_t *got, struct extract_error *error);

// Writes `length` bytes at `address` of a live target. Returns OK when all were written, else
// UNREADABLE with the first address that was not in error->where; UNSUPPORTED where the source
// cannot be written to (files). Writing changes the target: only a user's own word asks for it.
enum extract_code extract_memory_write(struct extract_memory *memory, uint64_t address,
                                       const void *bytes, size_t length,
                                       struct extract_error *error);

enum extract_byte_order extract_memory_byte_order(const struct extract_memory *memory);
// Returns whether the target has ended for good, as a traced process does; false where that cannot
// be known.
bool extract_memory_has_ended(const struct extract_memory *memory);
const char *extract_memory_name(const struct extract_memory *memory);
struct extract_memory_cost extract_memory_cost(const struct extract_memory *memory);

// Frees the memory and closes its source. NULL is allowed.
void extract_memory_close(struct extract_memory *memory);

// Live memories: a target behind OpenOCD's Tcl port, or behind a server of GDB's remote protocol.
//
// Every wait is bounded and can be ended by the caller. A connection that breaks is made again, a
// bounded number of times; then reads fail at once for a while, and later try again. Whatever the
// server sends, no wrong byte is taken for memory where the protocol has a means to tell.

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
// every read asks again. The byte order is the one that OpenOCD is configured with.
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

// Opens the memory of the traced process `pid` on this host: its shared memory object (see
// docs/formats/posix-ring.md), which lies at address 0. What is written there, one word of 32 bits
// at a time, is carried out at once. Reading allocates no page of it, and whatever the process does
// to it, no signal comes of that; where memory is written, SIGBUS is caught (posix_trace(7)). Root
// may open that of any user's process. Errors: NOTFOUND (no such process, or it has no object), IO
// (another user's, or others may open the object), BAD (what is there is no such object), NOMEM.
enum extract_code extract_memory_open_process(struct extract_memory **memory, uint64_t pid,
                                              struct extract_error *error);

// Where the entry point of the program that process `pid` on this host runs was loaded;
// `pointer_bytes` (4 or 8) are those of its pointers. False: it cannot be seen.
bool extract_process_entry(uint64_t pid, unsigned pointer_bytes, uint64_t *entry);

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

// Lets the target run and ends the connection. A later read makes it again (and halts again, where
// the server does). Nothing to do for memories that are not live. Errors: IO (the server did not
// confirm: the target may stand still).
enum extract_code extract_live_release(struct extract_memory *memory, struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
