// SPDX-License-Identifier: MIT
// target: the recorder's memory, word by word, as C structs.
//
// docs/formats/posix-ring.md specifies what every word means and which side writes it. The members
// have the names and the order of its tables. Readers use the offsets in the blocks, not these
// structs, so a firmware may be compiled with other sizes than the reader.
//
//   struct ringside_memory, the object ringside_posix
//   ┌───────────────┬──────────┬────────────────┬─────────┬──────────────┬─────────┐
//   │ process       │ names    │ streams[]      │ port's  │ rings[0]     │ rings[] │
//   │ 128 bytes     │          │ one block each │ own     │ power of two │         │
//   └───────────────┴──────────┴────────────────┴─────────┴──────────────┴─────────┘
//   offsets are in    names_at   streams_at, back           ring_at of its stream block
#ifndef RINGSIDE_TRACE_LAYOUT_H
#define RINGSIDE_TRACE_LAYOUT_H

#include "ringside_trace.h"

#define RINGSIDE_IDS ((32 + RINGSIDE_TRACE_USER_EVENTS + 31) / 32 * 32)

enum {
    RINGSIDE_PROCESS_MAGIC = 0x43525450,
    RINGSIDE_STREAM_MAGIC = 0x53525450,
    RINGSIDE_VERSION = 1,
    RINGSIDE_HEADER_BYTES = 128,
    // Bits of `state`; `wanted` has the first two.
    RINGSIDE_BOUND = 1,   // the stream is in use
    RINGSIDE_RUNNING = 2, // it records events
    RINGSIDE_FULL = 4,    // it has stopped by itself
    // The bit of `flags`.
    RINGSIDE_INHERIT = 1 // children of the process inherit the stream
};

// The process block. It is constant once `magic` is stored, except `active`, `names_used`,
// `names_claimed` and `lock`.
struct ringside_process {
    uint32_t magic, version, header_bytes, total_bytes, generation, active;
    uint32_t streams, stream_bytes, streams_at;
    uint32_t names_at, name_bytes, names_room, names_used, names_claimed;
    uint32_t layout, clock_hz, ids, pid, birth[2], lock, unused[5], entry[2];
    char program[16]; // file name, cut, padded with zeros
};

// Members that a port adds to the memory and to each stream's block, and the alignment of rings in
// bytes. Readers do not know of them.
#ifndef RINGSIDE_PORT_MEMORY
#define RINGSIDE_PORT_MEMORY
#endif
#ifndef RINGSIDE_PORT_STREAM
#define RINGSIDE_PORT_STREAM
#endif
#ifndef RINGSIDE_PORT_RING_ALIGN
#define RINGSIDE_PORT_RING_ALIGN 8
#endif

// A stream's block. Words from `generation` to `request_done` and `filter` are written by the
// recorder; from `read_pos` to `wanted_clears` and from `pid` to `wanted_filter` by the controller.
struct ringside_stream {
    _Alignas(8) uint32_t magic;
    uint32_t version, header_bytes, back, ring_at, ring_words, layout, clock_hz;
    uint32_t generation, state, policy, max_data, head, tail;
    uint32_t recorded, overwritten, refused, episodes, lost_stamp[2], episode_read;
    uint32_t request_done, read_pos, request, wanted, wanted_policy, wanted_max_data;
    uint32_t wanted_clears, clears_done, pid, controller, flags;
    char name[16];
    uint32_t filter[RINGSIDE_IDS / 32], wanted_filter[RINGSIDE_IDS / 32];
    // The recorder's own words, after those that the format defines.
    uint32_t limit;     // maximum words in use after an event was recorded
    uint32_t data_end;  // max_data + 1 in bytes while the stream runs, otherwise 0
    uint32_t loop_read; // read_pos when a loop last overwrote an unread record, or another value
    RINGSIDE_PORT_STREAM
};

// The whole object. All offsets in the blocks count from its first byte.
struct ringside_memory {
    struct ringside_process process;
    char names[RINGSIDE_TRACE_USER_EVENTS][RINGSIDE_TRACE_NAME_BYTES];
    struct ringside_stream streams[RINGSIDE_TRACE_STREAMS];
    RINGSIDE_PORT_MEMORY
    _Alignas(RINGSIDE_PORT_RING_ALIGN) uint32_t rings[RINGSIDE_TRACE_STREAMS][RINGSIDE_TRACE_WORDS];
};

_Static_assert(sizeof(struct ringside_process) == RINGSIDE_HEADER_BYTES, "process block");
_Static_assert(offsetof(struct ringside_stream, name) == RINGSIDE_HEADER_BYTES, "stream block");
_Static_assert(sizeof(struct ringside_stream) % 8 == 0, "stream blocks are aligned to 8 bytes");
_Static_assert(RINGSIDE_TRACE_STREAMS >= 1 && RINGSIDE_TRACE_STREAMS <= 32, "streams: 1 to 32");
_Static_assert(RINGSIDE_TRACE_WORDS >= 64 && RINGSIDE_TRACE_WORDS <= 1 << 24 &&
                   (RINGSIDE_TRACE_WORDS & (RINGSIDE_TRACE_WORDS - 1)) == 0,
               "words of a ring: a power of two from 64 to 2^24");
_Static_assert(RINGSIDE_TRACE_USER_EVENTS >= 1 && RINGSIDE_TRACE_USER_EVENTS <= 256,
               "user event types: 1 to 256");
_Static_assert(RINGSIDE_TRACE_NAME_BYTES >= 32 && RINGSIDE_TRACE_NAME_BYTES % 4 == 0,
               "bytes of a name: a multiple of 4, at least 32");

#endif
