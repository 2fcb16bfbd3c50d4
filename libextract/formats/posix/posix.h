// SPDX-License-Identifier: MIT
// formats/posix: the layout of POSIX trace rings, taken apart: process block, stream block,
// records.
//
// Source: docs/formats/posix-ring.md; what is in it: IEEE Std 1003.1-2008, 2.11 (Tracing).
#ifndef EXTRACT_FORMATS_POSIX_H
#define EXTRACT_FORMATS_POSIX_H

#include "base/cursor.h"
#include "formats/format.h"

#define POSIX_PROCESS_MAGIC 0x43525450u // "PTRC"
#define POSIX_STREAM_MAGIC  0x53525450u // "PTRS"

enum { POSIX_HEADER = 128, POSIX_VERSION = 1 }; // of both blocks

// Offsets of words of a process block.
enum posix_block_word {
    POSIX_BLOCK_AT_TOTAL_BYTES = 12,
    POSIX_BLOCK_AT_GENERATION = 16,
    POSIX_BLOCK_AT_ACTIVE = 20,
    POSIX_BLOCK_AT_STREAMS = 24,
    POSIX_BLOCK_AT_STREAMS_AT = 32,
    POSIX_BLOCK_AT_NAMES_AT = 36,
    POSIX_BLOCK_AT_NAMES_ROOM = 44,
    POSIX_BLOCK_AT_NAMES_USED = 48,
    POSIX_BLOCK_AT_NAMES_CLAIMED = 52,
    POSIX_BLOCK_AT_LOCK = 80,    // of a process: its thread in the critical section, or 0
    POSIX_BLOCK_AT_ADDRESS = 88, // in files only: two words, low first
    POSIX_BLOCK_AT_STREAM = 96   // likewise: the stream's number
};

// Offsets of words of a stream block.
enum posix_stream_word {
    POSIX_STREAM_AT_BACK = 12,
    POSIX_STREAM_AT_RING_AT = 16,
    POSIX_STREAM_AT_GENERATION = 32,
    POSIX_STREAM_AT_STATE = 36,
    POSIX_STREAM_AT_HEAD = 48,
    POSIX_STREAM_AT_TAIL = 52,
    POSIX_STREAM_AT_REQUEST_DONE = 84,
    POSIX_STREAM_AT_READ_POS = 88,
    POSIX_STREAM_AT_REQUEST = 92,
    POSIX_STREAM_AT_WANTED = 96,
    POSIX_STREAM_AT_WANTED_CLEARS = 108,
    POSIX_STREAM_AT_CLEARS_DONE = 112,
    POSIX_STREAM_AT_NAME = 128,
    POSIX_STREAM_AT_FILTER = 144
};

enum {
    POSIX_MAX_STREAMS = 32,
    POSIX_RING_LEAST = 64, // words
    POSIX_MAX_RING = 1 << 24,
    POSIX_MAX_IDS = 65536,
    POSIX_MAX_NAME = 1024,  // bytes of a slot for a name
    POSIX_STREAM_NAME = 16, // of a stream, with its zero
    POSIX_USER = 32,        // id of user event type 0
    POSIX_MAX_RECORD = 4095 * 4
};

enum { POSIX_STATE_BOUND = 1, POSIX_STATE_RUNNING = 2, POSIX_STATE_STOPPED_FULL = 4 };
enum { POSIX_POLICY_LOOP = 1, POSIX_POLICY_UNTIL_FULL = 2, POSIX_POLICY_FLUSH = 3 };
enum { POSIX_FLAG_INHERIT = 1 };

// Event types of the system.
enum posix_id {
    POSIX_ID_ERROR = 1,
    POSIX_ID_START = 2,
    POSIX_ID_STOP = 3,
    POSIX_ID_OVERFLOW = 4,
    POSIX_ID_RESUME = 5,
    POSIX_ID_FILTER = 6,
    POSIX_ID_FLUSH_START = 7,
    POSIX_ID_FLUSH_STOP = 8
};

// How a record lies in memory.
struct posix_layout {
    enum extract_byte_order order;
    uint8_t address_bytes; // 4 or 8
    uint8_t stamp_bits;    // that count: 16 to 64
    bool pids;             // records tell a process id
    bool realtime;         // stamps are nanoseconds of CLOCK_REALTIME
    bool shared;           // controllers share the memory and its lock
};

// A process block.
struct posix_block {
    struct posix_layout layout;
    uint32_t version, header_bytes, total_bytes, generation, active;
    uint32_t streams, stream_bytes, streams_at;
    uint32_t names_at, name_bytes, names_room, names_used, names_claimed;
    uint32_t layout_word, clock_hz, ids, pid;
    uint64_t birth;
    uint32_t lock;
};

// A stream block, without its name and its filters, which lie behind it.
struct posix_stream {
    struct posix_layout layout;
    uint32_t version, header_bytes, back, ring_at, ring_words, layout_word, clock_hz;
    uint32_t generation, state, policy, max_data;
    uint32_t head, tail, recorded, overwritten, refused, episodes; // positions count words
    uint64_t lost_stamp;
    uint32_t episode_read, request_done;
    uint32_t read_pos, request, wanted, wanted_policy, wanted_max_data, wanted_clears;
    uint32_t clears_done, pid, controller, flags;
};

// A record.
struct posix_record {
    uint32_t words; // all of it
    bool done;      // else it is open: only `words` is known
    bool cut;       // its data were
    bool interrupt; // `thread` is the exception's number
    uint32_t id;
    uint32_t data_bytes, data_at; // bytes of data, and where they begin in the record
    uint64_t address, thread, stamp;
    uint32_t pid; // 0 where records do not tell it
};

// block.c: from POSIX_HEADER bytes, in the byte order that their magic tells. False: they
// do not begin with the magic.
bool posix_block_read(struct posix_block *block, const uint8_t *bytes, size_t length);
bool posix_stream_read(struct posix_stream *stream, const uint8_t *bytes, size_t length);
// Everything that must hold for what lies in the object to be found; `address` of the block is for
// messages. A stream's places are checked by posix_stream_places, since they move. Errors: BAD.
enum extract_code posix_block_check(const struct posix_block *block, uint64_t address,
                                    struct extract_error *error);
enum extract_code posix_stream_check(const struct posix_stream *stream, uint64_t address,
                                     struct extract_error *error);
// Whether head and tail fit each other and the ring.
bool posix_stream_places(const struct posix_stream *stream);
// posix_stream_full_status, by the stream's own words.
bool posix_stream_is_full(const struct posix_stream *stream);
// Returns whether an UNTIL_FULL stream has stopped itself and stays full: it is neither read to its
// end nor about to be cleared.
bool posix_stream_stays_full(const struct posix_stream *stream);
// Bytes of a filter of `ids` event types, and where the wanted one begins in the stream block.
static inline uint32_t posix_filter_bytes(uint32_t ids)
{
    return ids / 8;
}

static inline uint32_t posix_wanted_filter_at(uint32_t ids)
{
    return POSIX_STREAM_AT_FILTER + posix_filter_bytes(ids);
}

// record.c: takes apart the record that begins at `position` of the ring (words, counted like
// head), of which `length` bytes lie at `bytes` in one piece. False: it is none.
bool posix_record_read(struct posix_record *record, const uint8_t *bytes, uint32_t length,
                       const struct posix_layout *layout, uint32_t position);
// The length in words of the record whose last word this is and that ends at `position`; 0: it is
// none.
uint32_t posix_trailer_words(uint32_t last, uint32_t position);
// Words of the record whose first word at a position is `first`; 0: it is none.
uint32_t posix_record_words(uint32_t first, uint32_t position);
// Bytes of a record in front of its data.
uint32_t posix_record_head(const struct posix_layout *layout);

// find.c
enum extract_code posix_find(struct extract_ring *ring, struct extract_memory *memory,
                             struct extract_symbols *symbols, struct extract_error *error);
enum extract_code posix_at(struct extract_ring *ring, struct extract_memory *memory,
                           struct extract_symbols *symbols, uint64_t address,
                           struct extract_error *error);
void posix_join(struct extract_ring *ring, struct extract_symbols *symbols);
bool posix_looks(const uint8_t *bytes, size_t length);
bool posix_is(struct extract_ring *ring, const uint8_t *bytes, size_t length, uint64_t address);
bool posix_complete(struct extract_ring *ring, struct extract_memory *memory);
bool posix_read_counters(const struct extract_ring *ring, const uint8_t *header,
                         struct extract_ring_counters *counters);
uint32_t posix_describe(const struct extract_ring *ring, uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);

// copy.c: a copy holds, one behind the other, the stream block's header, the names, the rest of the
// stream block, the process block, the ring; without a process block no names, and of the rest the
// stream's name alone.
uint64_t posix_copy_length(const struct extract_ring *ring);
static inline const uint8_t *posix_copy_names(const struct extract_snapshot *snapshot)
{
    return snapshot->bytes + snapshot->ring.header_bytes;
}

const uint8_t *posix_copy_rest(const struct extract_snapshot *snapshot, uint32_t *length);
const uint8_t *posix_copy_process(const struct extract_snapshot *snapshot);
// Where the ring begins in it.
static inline uint64_t posix_copy_ring(const struct extract_ring *ring)
{
    return ring->length - (ring->entries.end - ring->entries.start);
}

// Copies all but header and ring.
void posix_copy_beside(struct extract_snapshot *snapshot, struct extract_memory *memory);

// walk.c
uint32_t posix_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);
uint32_t posix_finished(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
bool posix_begun(const struct extract_ring *ring, const uint8_t *bytes, uint32_t head);
uint32_t posix_boundary(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                        uint32_t end);
bool posix_named(const struct extract_ring *ring, const uint8_t *record, uint32_t length,
                 uint64_t *number);
uint64_t posix_spill(const struct extract_ring *ring);
bool posix_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary);

// entry.c: events as templates see them.
bool posix_entry(const struct extract_ring *ring, const struct extract_event *event,
                 struct extract_entry *entry, uint8_t *room);

#endif
