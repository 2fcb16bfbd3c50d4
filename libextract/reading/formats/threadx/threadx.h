// SPDX-License-Identifier: MIT
// formats/threadx: the layout of a ThreadX event trace in memory, and what the files of this
// directory share. find.c finds the ring, header.c checks it, validate.c assigns verdicts, follow.c
// serves recording, threadx.c decodes, and encode.c encodes.
//
// Sources: TraceX user guide (Eclipse ThreadX), chapter 11 "Trace buffer format";
// docs/formats/threadx.md for the behavior of running systems beyond it.
#ifndef EXTRACT_FORMATS_THREADX_H
#define EXTRACT_FORMATS_THREADX_H

#include "base/cursor.h"
#include "base/trx.h"
#include "formats/format.h"

enum { THREADX_NAME_MAX = 1024, THREADX_TYPE_THREAD = 1 };

#define THREADX_ID        EXTRACT_TRX_ID
#define THREADX_IN_ISR    0xFFFFFFFFu
#define THREADX_IN_INIT   0xF0F0F0F0u
#define THREADX_NO_EVENT  0xFFFFFFFFu // id of a slot that holds no event (TX_TRACE_INVALID_EVENT)
#define THREADX_THREAD_ID 0x54485244u

// The control header, decoded. Pointers are as the target stored them. All functions take the size
// of a ULONG (`word`, 4 or 8 bytes).
struct threadx_header {
    uint64_t id, mask, base;
    uint64_t registry_start, registry_end;
    uint64_t entries_start, entries_end, current;
    uint64_t reserved2, reserved3, reserved4;
    uint32_t reserved1, name_bytes;
};

static inline uint32_t threadx_header_bytes(unsigned word)
{
    return 12 * word;
}

// Returns the size of a registry slot, which the C compiler pads to whole words.
static inline uint32_t threadx_object_bytes(unsigned word, uint32_t name_bytes)
{
    return (4 * word + name_bytes + word - 1) / word * word;
}

static inline uint32_t threadx_entry_bytes(unsigned word)
{
    return 8 * word;
}

// Returns the byte offset of buffer_current_pointer in the header.
static inline uint32_t threadx_current_offset(unsigned word)
{
    return 8 * word;
}

// Returns the event id of an entry's id word, and its core. Kernels for several cores store the
// core in the top byte. Ids of user events have no limit, so an id above 0xFFFF that fills the top
// byte is taken whole, unless the ring is known to be of several cores. Ids of markers are no
// events.
static inline uint32_t threadx_event_id(const struct extract_ring *ring, uint64_t word,
                                        uint8_t *core)
{
    uint32_t id = (uint32_t)word, low = id & 0xFFFFFF;

    *core = 0;
    if (id <= UINT16_MAX || (low > UINT16_MAX && ring->cores < 2 && id < EXTRACT_ID_MARKS))
        return id;
    *core = (uint8_t)(id >> 24);
    return low;
}

// Decodes a header. Returns false if `length` is too short.
bool threadx_header_read(struct threadx_header *header, const uint8_t *bytes, size_t length,
                         enum extract_byte_order order, unsigned word);

// Encodes a header into threadx_header_bytes(word) bytes.
void threadx_header_write(uint8_t *bytes, const struct threadx_header *header,
                          enum extract_byte_order order, unsigned word);

// Determines byte order and word size from the bytes of the id. Returns false if the id is not
// there.
bool threadx_header_sniff(const uint8_t *bytes, size_t length, enum extract_byte_order *order,
                          unsigned *word);

// Fills in the ring from a header that is stored at `address`. Errors: BAD (the header contradicts
// itself). `strict` adds checks for headers that a scan found: the header contains its own address,
// and the reserved words have their documented values.
enum extract_code threadx_ring_fill(struct extract_ring *ring, const struct threadx_header *header,
                                    uint64_t address, bool strict, struct extract_error *error);

// The members of extract_format.
enum extract_code threadx_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols, uint64_t address,
                                    struct extract_error *error);
enum extract_code threadx_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols, struct extract_error *error);
void threadx_apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols);
bool threadx_is_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                       uint64_t address);
bool threadx_is_moved_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                             uint64_t address);

// rebuild.c
bool threadx_contradicts(const struct extract_ring *ring, struct extract_memory *memory);
bool threadx_rebuild(struct extract_ring *ring, struct extract_memory *memory,
                     struct extract_symbols *symbols, const struct extract_rebuild *where);

// The members of extract_slot_ring (validate.c).
void threadx_validate(struct extract_snapshot *snapshot, uint64_t pointer, bool stopped);
void threadx_validate_recorded(struct extract_snapshot *snapshot);
bool threadx_is_same(const struct extract_ring *ring, const uint8_t *before, const uint8_t *after);

const struct extract_event_type *threadx_type(uint32_t id);
uint64_t threadx_stamp(const struct extract_snapshot *snapshot, uint32_t slot);
// Returns what an event id means for the schedule; NULL: nothing.
extern const struct extract_figure threadx_figures[];
extern const struct extract_role_fields threadx_roles[]; // by event id
extern const uint32_t threadx_role_count;
// Returns the type in the registry of the object that a field of an event is the address of; 0: not
// known.
uint32_t threadx_field_type(const struct extract_event_type *type, unsigned field);
bool threadx_is_thread_service(const struct extract_event_type *type);

bool threadx_name_pointer(const struct extract_ring *ring, struct extract_memory *memory,
                          struct extract_symbols *symbols, uint64_t address, uint64_t *name);

extern const struct extract_slot_ring threadx_slots; // follow.c
extern const struct extract_encoder threadx_encoder; // encode.c
// Returns which words of an event its service fills in later: bit i stands for the i-th word.
uint32_t threadx_late_words(uint32_t id);

// Returns a cursor over one slot of the entries.
static inline struct extract_cursor threadx_entry(const struct extract_snapshot *snapshot,
                                                  uint32_t slot)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint64_t offset =
        ring->entries.start - ring->address + (uint64_t)slot * ring->entries.slot_bytes;
    struct extract_cursor all =
        extract_cursor_make(snapshot->bytes, (size_t)ring->length, ring->byte_order);
    extract_cursor_seek(&all, offset);
    const uint8_t *bytes = extract_cursor_span(&all, ring->entries.slot_bytes);
    return extract_cursor_make(bytes, ring->entries.slot_bytes, ring->byte_order);
}

#endif
