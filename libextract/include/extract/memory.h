// SPDX-License-Identifier: MIT
// Target memory: reads the target's address space, whatever its bytes come from.
//
// A memory is opened from files (images, dumps, ELF cores), a live target, or callbacks of the
// caller, such as a debugger. All of them are read with extract_memory_read, which counts and times
// its reads. Memories do not interpret traces. Only a dump of a ring also states where the ring
// was, and a later search for a ring starts there.
//
//     extract_memory_open_core(&memory, "core", &error);
//     extract_memory_read(memory, address, buffer, sizeof buffer, &got, &error);
//     extract_memory_close(memory);
//
// A function that fails to open a memory does not leave one to close.
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

// ---- memories and sources ----

enum extract_byte_order { EXTRACT_ORDER_UNKNOWN = 0, EXTRACT_LITTLE, EXTRACT_BIG };

// A half-open range of target addresses, [address, address + length). It is not empty and does not
// exceed 2^64.
struct extract_region {
    uint64_t address;
    uint64_t length; // bytes
};

// What all reads of a memory have cost so far.
struct extract_memory_cost {
    uint64_t reads;       // calls of the source's read function
    uint64_t bytes;       // bytes that these calls read
    uint64_t failed;      // calls that read fewer bytes than requested
    uint64_t nanoseconds; // time spent in these calls (CLOCK_MONOTONIC)
};

// A source of bytes that the caller implements. Initialize with zeros, then set what is needed: all
// members except `read` are optional.
struct extract_memory_source {
    // Copies up to `length` bytes from `address` to `buffer`. Returns how many bytes from the start
    // of the range were read, 0 to `length`. Must not write past buffer + length.
    size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
    // Frees `context`. Called once, when the memory is closed.
    void (*close)(void *context);
    void *context;                      // first argument of all functions of the source
    enum extract_byte_order byte_order; // UNKNOWN: the trace format detects it
    bool running;                       // the target may write while it is read
    const char *name;                   // for messages; copied; NULL: "target memory"

    // Writes up to `length` bytes at `address`. Returns how many bytes from the start of the range
    // were written.
    size_t (*write)(void *context, uint64_t address, const void *bytes, size_t length);
    // Stores the i-th readable region, counted from 0, in *region. Returns false after the last.
    bool (*region)(void *context, size_t i, struct extract_region *region);
    // Returns whether the target runs now. Replaces `running`.
    bool (*is_running)(void *context);
    // Returns whether the target has ended for good, as a traced process does. A halted target has
    // not: it may run again.
    bool (*has_ended)(void *context);
    // Explains why the last read or write ended at `address`: fills in what, why and hint of
    // *error. Returns false if the reason is not known.
    bool (*explain)(void *context, uint64_t address, struct extract_error *error);
    bool starts;    // the control header of a ring is at `start`
    uint64_t start; // target address
};

// Opens a memory that reads from the caller's source. The source is copied. On success, *memory
// owns source->context, and extract_memory_close closes it. On failure, the caller still owns it.
// Errors: NOMEM.
enum extract_code extract_memory_new(struct extract_memory **memory,
                                     const struct extract_memory_source *source,
                                     struct extract_error *error);

// ---- images: several files that form one address space ----

// Opens an empty memory. The functions below add images to it, which must not overlap. Each of them
// leaves the memory as it was if it fails. Errors: NOMEM.
enum extract_code extract_memory_new_images(struct extract_memory **memory,
                                            struct extract_error *error);

// Adds the raw bytes of the file `path` at target address `address`. "-" is standard input. A
// regular file may have any length: it stays open until the memory is closed, and each read reads
// from it. If it is truncated in the meantime, the bytes that were cut off become unreadable.
// Errors: IO; NOMEM; BAD (the image overlaps another one, exceeds 2^64, or is empty); LIMIT (more
// than 1 GiB from standard input, a pipe or a device); USAGE (`memory` is not one of images).
enum extract_code extract_memory_add_image(struct extract_memory *memory, const char *path,
                                           uint64_t address, struct extract_error *error);

// Adds a copy of `length` bytes at target address `address`. `name` is for messages. Errors: NOMEM,
// BAD and USAGE, as above.
enum extract_code extract_memory_add_bytes(struct extract_memory *memory, const char *name,
                                           const void *bytes, size_t length, uint64_t address,
                                           struct extract_error *error);

// Adds the data of an Intel HEX file at the addresses of its records. "-" is standard input.
// Verifies all checksums. Adjacent records form one region, and gaps between records are
// unreadable. Records may come in any order and may repeat the same data. Errors: those of
// extract_memory_add_image; BAD, with the line (a malformed or unknown record, a wrong checksum,
// different data for one address); TRUNCATED (no end record).
enum extract_code extract_memory_add_hex(struct extract_memory *memory, const char *path,
                                         struct extract_error *error);

// Does the same for a Motorola S-record file: reads the data of S1, S2 and S3 records, and verifies
// the counts of S5 and S6 records.
enum extract_code extract_memory_add_srec(struct extract_memory *memory, const char *path,
                                          struct extract_error *error);

// Adds the regions of a dump of CrashCatcher, version 2 or 3: binary, or hexadecimal text among
// other lines. Of several dumps in one text, the last one is read. The registers of the fault are
// those that extract_registers_read returns. What the dump lacks becomes remarks. Errors: those of
// extract_memory_add_image; BAD (no such dump), TRUNCATED (it ends within the registers), USAGE
// (the memory has one already).
enum extract_code extract_memory_add_crashcatcher(struct extract_memory *memory, const char *path,
                                                  struct extract_error *error);

// How a dump as text is read.
struct extract_text_options {
    size_t size;                        // sizeof(struct extract_text_options)
    enum extract_byte_order word_order; // of the target; UNKNOWN: little-endian, with a remark
    bool has_address;                   // the text begins at `address`, whatever it states
    uint64_t address;
};

// Adds the ranges of a dump as text: lines of OpenOCD's mdb, mdh, mdw and mdd, GDB's x in
// hexadecimal, J-Link's mem, xxd, hexdump, od, Eclipse's memory views, or a .dat of TI. Other lines
// are skipped. The byte order of words is the one that a column of characters proves, or else
// `word_order`, or little-endian. What is skipped or assumed becomes remarks. `options` may be
// NULL. Errors: those of extract_memory_add_image; BAD, with the line (a line that begins like one
// of the dump and is none, different data for one address), also if the text has no such dump;
// LIMIT (repeated lines stand for more than 16 MiB); USAGE (bytes without addresses).
enum extract_code extract_memory_add_text(struct extract_memory *memory, const char *path,
                                          const struct extract_text_options *options,
                                          struct extract_error *error);
// Returns whether a file is a text, dump or not.
bool extract_memory_is_text(const char *path);

// Adds the images of a directory that OpenOCD's `ringside crash DIR` has written, as its
// manifest.txt lists them. Errors: those of extract_memory_add_image; BAD (the manifest is not
// valid, or it names a file that is not a regular one), LIMIT (it has more than 1 MiB).
enum extract_code extract_memory_add_folder(struct extract_memory *memory, const char *directory,
                                            struct extract_error *error);
// An image of such a directory that is shorter than the manifest has it.
struct extract_memory_cut {
    char name[64];
    uint64_t found, length; // bytes of the file, and of the memory
};
// Finds the image of index `i` among those. Returns false after the last one.
bool extract_memory_folder_cut(const char *directory, size_t i, struct extract_memory_cut *cut);
// Returns whether a path is a directory.
bool extract_memory_is_folder(const char *path);
// Returns the path of the registers in such a directory, which the caller frees with free(). NULL:
// there are none, or memory is short.
char *extract_memory_folder_registers(const char *directory);

// ---- dumps and cores; for their paths, "-" is standard input ----

// Opens a ThreadX trace dump (.trx). It is one region at the address in its header
// (trace_base_address); the byte order follows from its id word. The region of a truncated file is
// shorter. A later search for a ring starts at the region. Errors: IO; NOMEM; LIMIT; BAD (not a
// .trx file); TRUNCATED (the file ends before the base address).
enum extract_code extract_memory_open_trx(struct extract_memory **memory, const char *path,
                                          struct extract_error *error);

// Opens the PT_LOAD segments of an ELF core (ET_CORE, 32 or 64 bits, both byte orders). Bytes that
// the file does not contain (p_filesz < p_memsz, or a truncated file) are unreadable, not 0. If
// segments overlap, the first one that contains a byte defines it. Errors: IO; NOMEM; LIMIT; BAD
// (not an ELF core, or one without memory); TRUNCATED (the file ends before the first byte of
// memory).
enum extract_code extract_memory_open_core(struct extract_memory **memory, const char *path,
                                           struct extract_error *error);

// Opens a dump of a ring of hook words (docs/formats/hook.md). Its control block and buffer are one
// region at the address in the control block, or at 0. The region of a truncated file is shorter. A
// later search for a ring starts at the region. Errors: IO; NOMEM; LIMIT; BAD (not such a dump).
enum extract_code extract_memory_open_hooks(struct extract_memory **memory, const char *path,
                                            struct extract_error *error);

// Detects the kind of a file by its first bytes, and points *kind to its static name: "trx", "hook"
// (a ring of hook words), "hookstream" (a raw stream of 64-bit hook words), "core", "elf" (an ELF
// file that is not a core), "crashcatcher", "log", "ihex", "srec", "text" (a dump as text), or
// "raw" (none of these).
// Errors: IO; USAGE (standard input, a pipe or a device, whose bytes would be lost to the next
// reader).
enum extract_code extract_memory_detect(const char *path, const char **kind,
                                        struct extract_error *error);

// ---- reading and writing ----

// Reads `length` bytes at `address`, and stores in *got (not NULL) how many bytes from the start
// were read. The rest of `buffer` is unspecified. Calls the source once; for images, once per image
// that is read, and once for the gap that ends the read. The source is never asked for bytes
// outside of the range. Errors: UNREADABLE (not all bytes were read; error->where is the address of
// the first one that was not).
enum extract_code extract_memory_read(struct extract_memory *memory, uint64_t address, void *buffer,
                                      size_t length, size_t *got, struct extract_error *error);

// Writes `length` bytes at `address` of a live target. This changes the target, so call it only at
// the explicit request of a user. Errors: UNREADABLE (not all bytes were written; error->where is
// the address of the first one that was not); UNSUPPORTED (the source cannot be written to, such as
// a file).
enum extract_code extract_memory_write(struct extract_memory *memory, uint64_t address,
                                       const void *bytes, size_t length,
                                       struct extract_error *error);

// Returns the byte order of the target; UNKNOWN if the source does not state it.
enum extract_byte_order extract_memory_byte_order(const struct extract_memory *memory);

// Returns whether the target has ended for good, as a traced process does; false if this cannot be
// known.
bool extract_memory_has_ended(const struct extract_memory *memory);

// Returns whether a file has more of a trace than is read, as several dumps of a ring, or has lost
// some of it on the way.
bool extract_memory_is_part(const struct extract_memory *memory);

// Returns what the reader of a file noted for the user, such as that the file is truncated: one
// remark per index from 0. NULL: there are no more. It is valid until the memory is closed.
const char *extract_memory_remark(const struct extract_memory *memory, size_t i);

// Returns the name of the memory for messages. It is valid until the memory is closed or an image
// is added.
const char *extract_memory_name(const struct extract_memory *memory);

// Returns what all reads have cost so far.
struct extract_memory_cost extract_memory_cost(const struct extract_memory *memory);

// Closes the source and frees the memory. NULL is allowed.
void extract_memory_close(struct extract_memory *memory);

// ---- live memories: a target that is reached through OpenOCD or a GDB server ----
//
// Every wait has a time limit, and the caller can cancel it. A broken connection is restored, with
// a limited number of attempts. If they fail, reads fail at once for a while, and later reads try
// again. Wrong bytes from a server are never taken for memory if the protocol can detect them.

// Initialize with zeros, then set what is needed.
struct extract_live_options {
    size_t size;         // sizeof the struct
    const char *target;  // OpenOCD: the target's name; NULL: its current target
    unsigned timeout_ms; // ms, for a connection and for each reply; 0: 10 s

    // Cancels the waits: if the value is not 0, every wait ends and reads fail. A signal handler
    // may set it. It is checked when a signal interrupts a wait, and every 100 ms. A halted target
    // is resumed nevertheless. Must outlive the memory; NULL: none.
    const volatile sig_atomic_t *cancel;
};

// Opens the memory of a target through the Tcl port of OpenOCD. `place` is "PORT", "HOST:PORT",
// "[HOST]:PORT", or the path of a UNIX socket, which contains a slash. The target is not halted. It
// is taken to be running unless OpenOCD reports that its core is halted; every read updates this
// state. The byte order is the one in the configuration of OpenOCD.
//
// A read takes one command and one round trip per 64 KiB. It accesses whole words of 32 bits, so an
// unaligned range also reads the other bytes of its first and last word. `options` may be NULL.
// Errors: USAGE (the place or the target's name is invalid); IO (no connection, or no response);
// BAD (the server is not OpenOCD); NOTFOUND (no such target); NOMEM.
enum extract_code extract_memory_open_openocd(struct extract_memory **memory, const char *place,
                                              const struct extract_live_options *options,
                                              struct extract_error *error);

// Opens the memory of a target through a server of the GDB remote serial protocol: QEMU, gdbserver,
// OpenOCD, or the server of a debug probe. `place` and `options` are as above. Such a server halts
// its target when a client connects, and reads memory only while the target is halted. Closing the
// memory, or extract_live_release, lets the target run. Errors: USAGE; IO; BAD (the server does not
// use the protocol, or the program has ended); NOMEM.
enum extract_code extract_memory_open_remote(struct extract_memory **memory, const char *place,
                                             const struct extract_live_options *options,
                                             struct extract_error *error);

// Opens the shared memory object of the traced process `pid` on this host, at address 0 (see
// docs/formats/posix-ring.md). It is written one word of 32 bits at a time, and a write takes
// effect at once. Reading does not allocate pages of the object. Whatever the process does to the
// object, it does not cause a signal here; during writes, SIGBUS is caught (posix_trace(7)). Root
// may open the object of any user. Errors: NOTFOUND (no such process, or it has no object); IO (the
// process belongs to another user, or others may open the object); BAD (not such an object); NOMEM.
enum extract_code extract_memory_open_process(struct extract_memory **memory, uint64_t pid,
                                              struct extract_error *error);

// Stores in *entry the address at which the entry point of the program of process `pid` on this
// host was loaded. `pointer_bytes` is the size of its pointers, 4 or 8. Returns false if the
// address cannot be read.
bool extract_process_entry(uint64_t pid, unsigned pointer_bytes, uint64_t *entry);

// ---- halts of a live target ----

// How long the target was halted for reads. A halt is counted from the connection, or from the
// request to halt, until the server confirms that the target runs. The time is thus an upper bound
// of the time that the core itself was halted.
struct extract_live_halts {
    uint64_t count;       // times that it was halted
    uint64_t nanoseconds; // total, including the present halt
    uint64_t longest;     // ns of the longest halt
    bool now;             // the target is halted
};

// Returns the halts so far; zeros for a memory that is not live.
struct extract_live_halts extract_live_halts(const struct extract_memory *memory);

// Halts the target before a series of reads, and waits until it is halted. Reads through a GDB
// server fail while the target runs. Does nothing, and succeeds, if the target is already halted or
// reads need no halt (OpenOCD's Tcl port, files). Errors: IO (no connection, or no response).
enum extract_code extract_live_halt(struct extract_memory *memory, struct extract_error *error);

// Lets the target run after a series of reads. Does nothing, and succeeds, if the target already
// runs or reads need no halt. Errors: as above.
enum extract_code extract_live_resume(struct extract_memory *memory, struct extract_error *error);

// Lets the target run and closes the connection. A later read connects again, which halts the
// target if the server does so. Does nothing for a memory that is not live. Errors: IO (the server
// did not confirm; the target may still be halted).
enum extract_code extract_live_release(struct extract_memory *memory, struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
