// SPDX-License-Identifier: MIT
// formats/posix: the layout of POSIX trace rings, and what the files of this directory share.
// block.c and record.c decode, find.c finds the ring, copy.c copies what is stored apart from it,
// walk.c finds its records, posix.c and entry.c make events of them, posix_file.c opens saved
// streams, and encode.c makes the records of merged logs.
//
// Sources: docs/formats/posix-ring.md for the layout; IEEE Std 1003.1-2008, 2.11 (Tracing), for
// what it contains.
#ifndef EXTRACT_FORMATS_POSIX_H
#define EXTRACT_FORMATS_POSIX_H

#include "base/cursor.h"
#include "formats/format.h"

#define POSIX_PROCESS_MAGIC 0x43525450u // "PTRC"
#define POSIX_STREAM_MAGIC  0x53525450u // "PTRS"

enum { POSIX_HEADER = 128, POSIX_VERSION = 1 }; // bytes and version of both blocks

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
    POSIX_BLOCK_AT_LOCK = 80,    // in a process: its thread in the critical section, or 0
    POSIX_BLOCK_AT_ADDRESS = 88, // in files only: two words, the lower one first
    POSIX_BLOCK_AT_STREAM = 96   // in files only: the stream's number
};

// Offsets of words of a stream block.
enum posix_stream_word {
    POSIX_STREAM_AT_BACK = 12,
    POSIX_STREAM_AT_RING_AT = 16,
    POSIX_STREAM_AT_LAYOUT = 24,
    POSIX_STREAM_AT_CLOCK_HZ = 28,
    POSIX_STREAM_AT_GENERATION = 32,
    POSIX_STREAM_AT_STATE = 36,
    POSIX_STREAM_AT_POLICY = 40,
    POSIX_STREAM_AT_HEAD = 48,
    POSIX_STREAM_AT_TAIL = 52,
    POSIX_STREAM_AT_REQUEST_DONE = 84,
    POSIX_STREAM_AT_READ_POS = 88,
    POSIX_STREAM_AT_REQUEST = 92,
    POSIX_STREAM_AT_WANTED = 96,
    POSIX_STREAM_AT_WANTED_CLEARS = 108,
    POSIX_STREAM_AT_CLEARS_DONE = 112,
    POSIX_STREAM_AT_PID = 116,
    POSIX_STREAM_AT_NAME = 128,
    POSIX_STREAM_AT_FILTER = 144
};

enum {
    POSIX_MAX_STREAMS = 32,
    POSIX_MIN_RING = 64, // words of a ring
    POSIX_MAX_RING = 1 << 24,
    POSIX_MAX_IDS = 65536,
    POSIX_MAX_NAME = 1024,  // bytes of a slot for a name
    POSIX_STREAM_NAME = 16, // bytes of a stream's name, with its NUL
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

// The layout of records in memory.
struct posix_layout {
    enum extract_byte_order order;
    uint8_t address_bytes; // 4 or 8
    uint8_t stamp_bits;    // significant bits of a timestamp: 16 to 64
    bool pids;             // records contain a process id
    bool cores;            // records contain the number of a core; only in merged logs
    bool realtime;         // timestamps are nanoseconds of CLOCK_REALTIME
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
    uint64_t entry;   // address of the program's entry point; 0: not known
    char program[17]; // its file name, cut to 15 bytes; "": not known
};

// A stream block, without its name and its filters, which follow it.
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
    uint32_t words; // length of the record
    bool done;      // if false, the record is open, and only `words` is known
    bool cut;       // its data were truncated
    bool interrupt; // `thread` is the exception's number
    uint32_t id;
    uint32_t data_bytes, data_at; // length of the data, and their offset in the record
    uint64_t address, thread, stamp;
    uint32_t pid; // 0 if records do not contain it
    uint8_t core; // 0 if records do not contain it
};

// block.c: decodes a block from POSIX_HEADER bytes, in the byte order that their magic number
// shows. Returns false if they do not begin with the magic number.
bool posix_block_read(struct posix_block *block, const uint8_t *bytes, size_t length);
bool posix_stream_read(struct posix_stream *stream, const uint8_t *bytes, size_t length);
// Returns the word that describes a layout.
uint32_t posix_layout_word(const struct posix_layout *layout);
// Checks everything on which the location of other data depends. `address` of the block is for
// messages. A stream's positions are checked by posix_stream_has_valid_positions, because they
// move. Errors: BAD.
enum extract_code posix_block_check(const struct posix_block *block, uint64_t address,
                                    struct extract_error *error);
enum extract_code posix_stream_check(const struct posix_stream *stream, uint64_t address,
                                     struct extract_error *error);
// Returns whether head and tail are consistent with each other and with the ring's size.
bool posix_stream_has_valid_positions(const struct posix_stream *stream);
// Returns posix_stream_full_status, as the stream's own words show it.
bool posix_stream_is_full(const struct posix_stream *stream);
// Returns whether an UNTIL_FULL stream has stopped itself and remains full: it is neither read to
// its end nor about to be cleared.
bool posix_stream_stays_full(const struct posix_stream *stream);
// Returns the bytes of a filter of `ids` event types.
static inline uint32_t posix_filter_bytes(uint32_t ids)
{
    return ids / 8;
}

// Returns the offset of the wanted filter in the stream block.
static inline uint32_t posix_wanted_filter_at(uint32_t ids)
{
    return POSIX_STREAM_AT_FILTER + posix_filter_bytes(ids);
}

// record.c: decodes the record that begins at `position` of the ring (in words, counted like head).
// `bytes` are contiguous, and `length` of them are available. Returns false if it is not a record.
bool posix_record_read(struct posix_record *record, const uint8_t *bytes, uint32_t length,
                       const struct posix_layout *layout, uint32_t position);
// Returns the length in words of a record that ends at `position` with the word `last`; 0 if it is
// not a record's last word.
uint32_t posix_trailer_words(uint32_t last, uint32_t position);
// Returns the length in words of a record that begins at `position` with the word `first`; 0 if it
// is not a record's first word.
uint32_t posix_record_words(uint32_t first, uint32_t position);
// Returns the bytes of a record before its data.
uint32_t posix_record_head(const struct posix_layout *layout);

// find.c: members of extract_format and extract_stream.
enum extract_code posix_find(struct extract_ring *ring, struct extract_memory *memory,
                             struct extract_symbols *symbols, struct extract_error *error);
enum extract_code posix_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                  struct extract_symbols *symbols, uint64_t address,
                                  struct extract_error *error);
void posix_apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols);
bool posix_is_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                     uint64_t address);
bool posix_complete(struct extract_ring *ring, struct extract_memory *memory);
// Fills in a ring that a stream block describes, in the first POSIX_HEADER bytes of `ring->header`.
// Errors: BAD.
enum extract_code posix_make_ring(struct extract_ring *ring, uint64_t address,
                                  struct extract_error *error);
// Adds what a process block contains: the names, and which stream this is.
void posix_add_process(struct extract_ring *ring, const struct posix_block *block, uint64_t address,
                       uint32_t number);
bool posix_read_counters(const struct extract_ring *ring, const uint8_t *header,
                         struct extract_ring_counters *counters);
uint32_t posix_describe(const struct extract_ring *ring, uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);

// rebuild.c: members of extract_format.
bool posix_contradicts(const struct extract_ring *ring, struct extract_memory *memory);
bool posix_rebuild(struct extract_ring *ring, struct extract_memory *memory,
                   struct extract_symbols *symbols, const struct extract_rebuild *where);

// copy.c. A copy contains, in this order: the stream block's header, the names, the rest of the
// stream block, the process block, the ring. Without a process block, there are no names, and the
// rest is only the stream's name.
uint64_t posix_copy_length(const struct extract_ring *ring);
static inline const uint8_t *posix_copy_names(const struct extract_snapshot *snapshot)
{
    return snapshot->bytes + snapshot->ring.header_bytes;
}

const uint8_t *posix_copy_rest(const struct extract_snapshot *snapshot, uint32_t *length);
const uint8_t *posix_copy_process(const struct extract_snapshot *snapshot);
// Returns the offset of the ring in the copy.
static inline uint64_t posix_copy_ring(const struct extract_ring *ring)
{
    return ring->length - (ring->entries.end - ring->entries.start);
}

// Copies everything except header and ring.
void posix_copy_side_data(struct extract_snapshot *snapshot, struct extract_memory *memory);

// walk.c: members of extract_counted_ring, extract_open_entries and extract_stream.
uint32_t posix_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);
uint32_t posix_finished(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
bool posix_is_begun(const struct extract_ring *ring, const uint8_t *bytes, uint32_t head);
uint32_t posix_boundary(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                        uint32_t end);
bool posix_entry_object(const struct extract_ring *ring, const uint8_t *record, uint32_t length,
                        uint64_t *number);
uint64_t posix_slack_bytes(const struct extract_ring *ring);
bool posix_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary);

// rtos.c: the events of kernels that use ringside_rtos_hooks.h. A type of theirs has an id from
// POSIX_RTOS_ID on, by which templates are found; the event keeps the id of the stream.
enum { POSIX_RTOS_ID = 0xE000, POSIX_RTOS_ID_OBJECT_NAME = 0xE039 };
enum { POSIX_RTOS_WORDS = 3, POSIX_RTOS_FIRST_WORD = 3 }; // words, and the field of the first

// Members of extract_named_types.
const void *posix_rtos_find(const char *name);
const struct extract_event_type *posix_rtos_events(const void *type);
void posix_rtos_apply(const void *type, const struct extract_ring *ring,
                      struct extract_event *event);
enum extract_priority_order posix_rtos_order(const void *type);
// Stores the words of a kernel's event, and returns how many; 0 for other events.
unsigned posix_rtos_words(const struct extract_event *event, uint64_t words[POSIX_RTOS_WORDS]);
// Members of extract_kernel and extract_format.
bool posix_rtos_is_control(const struct extract_event_type *type);
uint32_t posix_rtos_field_type(const struct extract_event_type *type, unsigned field);
const struct extract_role_fields *posix_rtos_translate(const struct extract_ring *ring,
                                                       struct extract_event *event);
bool posix_rtos_name(const struct extract_event *event, struct extract_name_entry *entry);
bool posix_rtos_name_pointer(const struct extract_ring *ring, struct extract_memory *memory,
                             struct extract_symbols *symbols, uint64_t address, uint64_t *name);
enum extract_priority_order posix_rtos_priority(struct extract_memory *memory,
                                                struct extract_symbols *symbols, uint64_t address,
                                                uint16_t *priority);

// Return the fields of an event with the process id and with the exception's number. A kernel's
// event has its words before them.
static inline unsigned posix_pid_field(const struct extract_event *event)
{
    return event->type->id >= POSIX_RTOS_ID ? 6 : 3;
}

static inline unsigned posix_interrupt_field(const struct extract_event *event)
{
    return posix_pid_field(event) + 1;
}

// encode.c
extern const struct extract_encoder posix_encoder;

// entry.c: presents an event to report templates.
bool posix_entry(const struct extract_ring *ring, const struct extract_event *event,
                 struct extract_entry *entry, uint8_t *buffer);

// Returns whether `length` bytes at the start of a file are those of such a stream.
bool extract_posix_is(const uint8_t *bytes, size_t length);

#endif
