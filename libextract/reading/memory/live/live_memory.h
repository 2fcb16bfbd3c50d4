// SPDX-License-Identifier: MIT
// memory/live: what the two kinds of live memories share.
//
// A kind (OpenOCD, a GDB server) provides single commands: read, write, halt, resume. live_memory.c
// turns reads and writes of any span into such commands, connects again after the connection
// breaks, and measures how long the target was halted.
#ifndef EXTRACT_LIVE_LIVE_MEMORY_H
#define EXTRACT_LIVE_LIVE_MEMORY_H

#include "base/cursor.h"
#include "memory/live/connection.h"
#include <extract/memory.h>
#include <extract/text.h>

enum live_answer {
    LIVE_GIVEN,
    LIVE_REFUSED, // the server cannot access the span; live->refusal holds the reason
    LIVE_BROKEN   // the connection has a fault
};

// In what language a server takes requests beyond those of this room.
enum live_protocol {
    LIVE_PACKETS, // packets of the GDB remote serial protocol
    LIVE_TCL      // scripts for OpenOCD, with balanced braces
};

struct live;

// The commands of a kind. Functions that return bool return false after a fault of the connection.
struct live_kind {
    // Prepares a new connection: learns the features and the state of the target.
    bool (*greet)(struct live *live);
    // Reads or writes with one command, from the start of the span on. If LIVE_GIVEN, sets *got or
    // *done to 1 to `length` bytes. `length` is at most live->chunk.
    enum live_answer (*fetch)(struct live *live, uint64_t address, uint8_t *buffer, size_t length,
                              size_t *got);
    enum live_answer (*store)(struct live *live, uint64_t address, const uint8_t *bytes,
                              size_t length, size_t *done);
    // Halt and resume the target. NULL if reads need no halted target.
    bool (*halt)(struct live *live);
    bool (*resume)(struct live *live);
    // Lets the target run before the connection is closed. May be NULL.
    bool (*part)(struct live *live);
    // Returns region `i` of RAM; false after the last. May be NULL.
    bool (*region)(const struct live *live, size_t i, struct extract_region *region);
    // Halts the target for its registers, if reads of memory need no halt. `part` resumes it. NULL:
    // `halt` does it.
    bool (*stop)(struct live *live);
    // Sends a request in the language of the server, and appends its answer to a text.
    enum live_answer (*ask)(struct live *live, const char *request, struct extract_text *answer);
    // Returns the way out if the target can perhaps not be read because it runs; otherwise NULL.
    const char *(*running_hint)(const struct live *live);
    enum live_protocol protocol;
};

// The state that all kinds share: the first member of each kind's own struct.
struct live {
    const struct live_kind *kind;
    struct connection connection;
    char *place;  // owned
    size_t chunk; // most bytes of one command
    enum extract_byte_order byte_order;
    bool running;      // the target runs, as far as is known
    bool resumed;      // the caller resumed the target, and a read would halt it again
    bool refused;      // the server refused the last failed access; otherwise the connection failed
    char refusal[160]; // the server's reason for its last refusal
    uint64_t dialled;  // last attempt to connect, in CLOCK_MONOTONIC ns
    uint64_t retry_at; // no attempt to connect before this time, in CLOCK_MONOTONIC ns
    uint64_t patience; // last delay of retry_at, in ns: each failure doubles it; 0 after success
    uint64_t halted_since; // start of the current halt, in CLOCK_MONOTONIC ns
    struct extract_live_halts halts;
};

// Allocates a live memory of a kind, without connecting. `size` is the size of the kind's struct.
// Errors: USAGE (`place`), NOMEM.
enum extract_code live_new(struct live **live, const struct live_kind *kind, size_t size,
                           const char *place, const struct extract_live_options *options,
                           struct extract_error *error);
// Connects and creates the memory, which then owns `live`. Frees `live` on failure.
enum extract_code live_open(struct live *live, struct extract_memory **memory,
                            struct extract_error *error);

// Returns the live memory of a memory, or NULL for memories of other kinds.
struct live *live_of(const struct extract_memory *memory);

// Reads a span, as extract_memory_source.read. Returns the bytes up to the first unreadable one.
size_t live_read(void *context, uint64_t address, void *buffer, size_t length);

// Halts the target until it is released, so that its registers can be read. Returns false after a
// fault of the connection (live->connection.error).
bool live_stop(struct live *live);
// Sends a request in the language of the server (live->kind->protocol), and appends its answer to a
// text. Returns LIVE_REFUSED if the server answers with an error, or does not know the request.
enum live_answer live_ask(struct live *live, const char *request, struct extract_text *answer);

// Records that the target is halted since `since` (CLOCK_MONOTONIC ns).
void live_note_halted(struct live *live, uint64_t since);
// Records that the target runs. Adds a halt that has ended to the statistics.
void live_note_running(struct live *live);
// Takes live_note_halted back: the target has run all the time.
void live_forget_halt(struct live *live);

// Returns the name of the target in OpenOCD.
const char *openocd_target(const struct live *live);

// Records why the server refused. Returns LIVE_REFUSED.
enum live_answer live_refuse(struct live *live, const char *why, ...)
    __attribute__((format(printf, 2, 3)));

// Reads a number and moves the cursor after it. Base 0 means base 16 after "0x", otherwise 10.
// Returns false if no number is at the cursor, or it does not fit.
bool live_number(struct extract_cursor *cursor, unsigned base, uint64_t *value);

// Open a live memory over a connection that `dial` makes. Only tests pass their own `dial`.
typedef int live_dial(struct connection *connection);
enum extract_code openocd_open(struct extract_memory **memory, const char *place,
                               const struct extract_live_options *options, live_dial *dial,
                               void *context, struct extract_error *error);
enum extract_code remote_open(struct extract_memory **memory, const char *place,
                              const struct extract_live_options *options, live_dial *dial,
                              void *context, struct extract_error *error);

#endif
