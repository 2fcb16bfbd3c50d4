// SPDX-License-Identifier: MIT
// memory/live: what the two kinds of live memories share. In: reads of any span. Out: commands that
// a server can answer, over a connection that is made again when it breaks.
#ifndef EXTRACT_LIVE_LIVE_H
#define EXTRACT_LIVE_LIVE_H

#include "base/cursor.h"
#include "memory/live/connection.h"
#include <extract/memory.h>

enum live_answer {
    LIVE_GIVEN,
    LIVE_REFUSED, // the server cannot read or write there: live->refusal says why
    LIVE_BROKEN   // a fault of the connection
};

struct live;

// How a kind of server is talked to. Functions that return bool note a fault of the peer.
struct live_kind {
    // Makes ready what a new connection needs.
    bool (*greet)(struct live *live);
    // One command: from 1 byte of a span up to all of it, at most live->chunk.
    enum live_answer (*fetch)(struct live *live, uint64_t address, uint8_t *buffer, size_t length,
                              size_t *got);
    enum live_answer (*store)(struct live *live, uint64_t address, const uint8_t *bytes,
                              size_t length, size_t *done);
    // Where reads need a halted target; else NULL.
    bool (*halt)(struct live *live);
    bool (*resume)(struct live *live);
    // Lets the target go on, before the connection ends; NULL: nothing to do.
    bool (*part)(struct live *live);
    bool (*region)(const struct live *live, size_t i, struct extract_region *region);
};

// The first member of each kind's own struct.
struct live {
    const struct live_kind *kind;
    struct connection connection;
    char *place; // owned
    size_t chunk;
    enum extract_byte_order byte_order;
    bool running;      // as far as it is known
    bool resumed;      // it was let run on the caller's word: reads would halt it
    bool refused;      // the last failure was the server's refusal, else the connection's fault
    char refusal[160]; // in the server's words
    uint64_t dialled;  // when the connection was asked for
    uint64_t retry_at; // no new connection before
    uint64_t patience; // ns that the next failure moves it by
    uint64_t stands_since;
    struct extract_live_halts halts;
};

// What a kind's open function starts with. `size` is that of the kind's struct.
enum extract_code live_new(struct live **live, const struct live_kind *kind, size_t size,
                           const char *place, const struct extract_live_options *options,
                           struct extract_error *error);
// Connects and makes the memory; frees `live` when it fails.
enum extract_code live_open(struct live *live, struct extract_memory **memory,
                            struct extract_error *error);

// The live memory behind a memory; NULL when it is of another kind.
struct live *live_of(const struct extract_memory *memory);

// The source's read function.
size_t live_read(void *context, uint64_t address, void *buffer, size_t length);

// The target stands since `since` (CLOCK_MONOTONIC ns), or runs.
void live_stands(struct live *live, uint64_t since);
void live_runs(struct live *live);
// It was taken to stand, and has run all the time.
void live_never_stood(struct live *live);

// Notes that the server refused. Returns LIVE_REFUSED.
enum live_answer live_refuse(struct live *live, const char *why, ...)
    __attribute__((format(printf, 2, 3)));

// A number at the cursor, which moves behind it: in base 16 or 10, or by its prefix with base 0.
// False: none stands there, or it does not fit.
bool live_number(struct extract_cursor *cursor, unsigned base, uint64_t *value);

// The live memories with a connection that the caller makes: for tests.
typedef int live_dial(struct connection *connection);
enum extract_code openocd_open(struct extract_memory **memory, const char *place,
                               const struct extract_live_options *options, live_dial *dial,
                               void *context, struct extract_error *error);
enum extract_code remote_open(struct extract_memory **memory, const char *place,
                              const struct extract_live_options *options, live_dial *dial,
                              void *context, struct extract_error *error);

#endif
