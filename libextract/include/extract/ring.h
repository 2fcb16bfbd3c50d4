// SPDX-License-Identifier: MIT
// A trace buffer found in target memory: its format, address ranges and layout facts.
#ifndef EXTRACT_RING_H
#define EXTRACT_RING_H

#include <extract/memory.h>
#include <extract/symbols.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_format; // one trace format; see extract_format_by_name

// How the ring was found.
enum extract_ring_origin {
    EXTRACT_FROM_SYMBOL,  // a documented global of the firmware
    EXTRACT_FROM_ADDRESS, // the caller named the control header's address
    EXTRACT_FROM_FILE,    // the file holds the ring and nothing else (.trx)
    EXTRACT_FROM_SCAN     // the memory's regions were searched for a header
};

// What tells how many cores write to a ring.
enum extract_cores_from {
    EXTRACT_CORES_UNKNOWN = 0, // nothing does: its entries do not say which core made them
    EXTRACT_CORES_SEEN,        // the highest core that made an event: there may be more
    EXTRACT_CORES_HEADER,      // the ring's header
    EXTRACT_CORES_KERNEL       // what the kernel in the firmware's ELF is built for
};

// A half-open span of equal slots in target memory; of entries that differ in length, the buffer
// that holds them.
struct extract_slots {
    uint64_t start;      // address of the first slot
    uint64_t end;        // address behind the last
    uint32_t slot_bytes; // size of a slot; 0: entries differ in length
    uint32_t count;      // slots
};

// Settings of an RKH stream: sizes in bytes and switches that its frames do not say.
enum extract_rkh_key {
    EXTRACT_RKH_CHK = 0, // frames have a checksum
    EXTRACT_RKH_NSEQ,    // and a sequence number
    EXTRACT_RKH_TS,      // bytes of a stamp; 0: none
    EXTRACT_RKH_PTR,     // of an address of an object
    EXTRACT_RKH_FUN,     // of a function
    EXTRACT_RKH_SIG,     // of a signal
    EXTRACT_RKH_ESIZE,   // of the size of an event
    EXTRACT_RKH_NBLK,    // of a number of blocks
    EXTRACT_RKH_BSIZE,   // of the size of a block
    EXTRACT_RKH_NELEM,   // of a number of elements of a queue
    EXTRACT_RKH_NTICK,   // of a number of ticks
    EXTRACT_RKH_SNDR,    // events of active objects name their sender
    EXTRACT_RKH_QNMIN,   // queues keep a low-water mark
    EXTRACT_RKH_MPNMIN,  // pools do
    EXTRACT_RKH_VERSION, // of the framework: 0x3400 is 3.4.00
    EXTRACT_RKH_TS_HZ,   // stamps in a second; 0: not known
    EXTRACT_RKH_KEYS
};

// Where a setting is from; a later one wins.
enum extract_rkh_from {
    EXTRACT_RKH_DEFAULT = 0,
    EXTRACT_RKH_INFERENCE, // no other value fits the frames
    EXTRACT_RKH_DWARF,     // sizes of types in the firmware's ELF
    EXTRACT_RKH_TCFG,      // the stream's own record
    EXTRACT_RKH_CONFIG,    // a trazer.cfg
    EXTRACT_RKH_USER
};

// What of a RAM ring is read: the bytes that were not taken out yet, or all that its array holds.
enum extract_rkh_view {
    EXTRACT_RKH_VIEW_AUTO = 0, // all, but of a target that runs
    EXTRACT_RKH_PENDING,
    EXTRACT_RKH_HISTORY
};

enum { EXTRACT_RKH_LAYOUTS = 16, EXTRACT_RKH_NAME = 64 };

// The settings of one or more runs of the target, which begin with a TCFG record each.
struct extract_rkh_layout {
    uint32_t value[EXTRACT_RKH_KEYS];
    uint8_t from[EXTRACT_RKH_KEYS]; // enum extract_rkh_from
    uint32_t packed;                // the settings that shape frames, as the decoder wants them
};

// Frames that are damaged, by what is wrong with them.
struct extract_rkh_damage {
    uint32_t torn;     // an escape that is none
    uint32_t checksum; // it is not the one of the bytes
    uint32_t length;   // not that of the event's arguments
    uint32_t id;       // of no event
};

// Where the walk over a stretch of a stream ended, for the one behind it.
struct extract_rkh_walked {
    bool goes_on;   // there is a stretch in front, whose settings hold
    bool numbered;  // `next` is known
    bool began;     // a TCFG record came last
    bool renewed;   // it told other settings than the one before it
    bool stamped;   // `stamp` is known
    uint8_t next;   // sequence number that is expected
    uint8_t layout; // of what comes, in a log: each of its stretches goes on with the one before
    uint32_t damaged;
    uint64_t stamp;
};

// What is known of an RKH stream, and of a copy of it.
struct extract_rkh {
    uint32_t value[EXTRACT_RKH_KEYS];
    uint8_t from[EXTRACT_RKH_KEYS]; // enum extract_rkh_from
    uint8_t view;                   // enum extract_rkh_view
    char signals[EXTRACT_RKH_NAME]; // the enumeration of signals in the ELF, or one of its
                                    // enumerators, by a user; "": found out; "none": none
    uint8_t layouts;                // different ones in the stream, in order; `value` is the last
    struct extract_rkh_layout layout[EXTRACT_RKH_LAYOUTS];
    struct extract_rkh_damage damage;
    bool lacks_types;     // an ELF was given, and has not the framework's types
    uint32_t partial;     // bytes behind the last frame, of one under way
    bool partial_checked; // they have the target's running checksum
    struct extract_rkh_walked walked;
};

// Takes settings from the words of a user, "fun=4,ts_hz=1000000,signals=NAME,trazer.cfg=FILE": keys
// are the names that extract_rkh_name gives. Errors: USAGE, IO, NOMEM, UNSUPPORTED (a framework
// older than 2.3).
enum extract_code extract_rkh_parse(struct extract_rkh *rkh, const char *words,
                                    struct extract_error *error);
// Takes what the types of a firmware's ELF say.
void extract_rkh_of_symbols(struct extract_rkh *rkh, struct extract_symbols *symbols);
const char *extract_rkh_name(enum extract_rkh_key key);        // "chk"
const char *extract_rkh_from_name(enum extract_rkh_from from); // "tcfg"

// Opens a stream ("-" is standard input) as a memory that holds nothing else. Errors: IO, NOMEM,
// LIMIT (more than 256 MiB), BAD (empty).
enum extract_code extract_rkh_stream_open(struct extract_memory **memory, const char *path,
                                          struct extract_error *error);
// Whether a file that can be looked at begins as an RKH stream beyond doubt: a TCFG record, or many
// frames with the right checksum.
bool extract_rkh_stream_is(const char *path);

// Opens a RAM ring that was saved, as a memory that holds nothing else; and whether `length` bytes
// of a file's start are one's. Errors: IO, NOMEM, BAD, TRUNCATED.
enum extract_code extract_rkh_dump_open(struct extract_memory **memory, const char *path,
                                        struct extract_error *error);
bool extract_rkh_dump_is(const uint8_t *bytes, size_t length);

// What is known of a POSIX trace stream beside its own block.
struct extract_posix {
    uint32_t wanted;    // 1 + the number of the stream that a user asks for; 0: any
    bool process_known; // its process block is there, and tells what follows
    uint64_t process;   // address of that
    uint32_t stream;    // number of the stream
    uint32_t streams;   // how many there are
    uint32_t ids;       // event types that a filter covers
    uint32_t pid;       // of the traced process
    char name[16];      // of the stream, ended by a zero
};

// Opens a stream that was saved, as a memory that holds nothing else; and whether `length` bytes of
// a file's start are one's. Errors: IO, NOMEM, BAD, TRUNCATED.
enum extract_code extract_posix_open(struct extract_memory **memory, const char *path,
                                     struct extract_error *error);
bool extract_posix_is(const uint8_t *bytes, size_t length);

struct extract_ring {
    const struct extract_format *format;
    enum extract_ring_origin origin;
    uint64_t address; // of the control header
    uint64_t length;  // bytes from the header's start to the end of the last entry; where the parts
                      // of a ring lie apart, of a copy of them
    uint32_t header_bytes;
    enum extract_byte_order byte_order;
    uint8_t word_bytes;  // of a target word (ULONG): 4 or 8
    bool enabled;        // recording goes on
    bool enabled_known;  // false: no symbol tells
    uint64_t timer_mask; // bits of a stamp that count
    uint64_t hz;         // stamps in a second, where the ring says it; else 0
    uint16_t cores;      // that header or kernel tells; 0: neither does
    uint8_t cores_from;  // enum extract_cores_from
    uint32_t name_bytes; // of a registry name, with its NUL
    struct extract_slots registry;
    struct extract_slots entries;
    uint64_t current;        // address of the slot that is written next, by the header
    uint8_t pointer_bytes;   // of a pointer of the target; 0 when unknown
    uint32_t current_offset; // of that pointer in the header, bytes
    uint64_t current_symbol; // address of the live copy of that pointer; 0 when unknown
    uint64_t filter_symbol;  // address of the target's filter word; 0 when unknown
    uint64_t filter;         // its value, when filter_known
    bool filter_known;
    uint64_t near;       // the ring stores lower halves of addresses: those nearest to this; else 0
    bool doubtful;       // the ELF's symbols contradict the ring: another firmware's, perhaps
    uint64_t base_delta; // from the address that the header says of itself to the one where it lies
    uint8_t header[128]; // the control header's bytes, as read
    struct extract_rkh rkh;     // of RKH only
    struct extract_posix posix; // of POSIX trace only
};

// What the caller knows. Zero-initialize, then set what is wanted; `size` is sizeof the struct.
struct extract_ring_options {
    size_t size;
    const char *format; // NULL: any
    bool address_known; // the control header lies at `address`
    uint64_t address;
    const struct extract_rkh *rkh; // what the user says of an RKH stream; may be NULL
    uint32_t stream;               // of a header that leads to several: 1 + its number; 0: any
};

// Finds the ring: by address when given, else where the memory says, else by the firmware's
// symbols, else by scanning the memory's regions (which must then give exactly one). `symbols` may
// be NULL; those of a position-independent program are moved to where a core says that it was
// loaded. Errors: NOTFOUND (hint says what is missing), ABSENT (tracing was never enabled), BAD (a
// header that contradicts itself; symbols of another program), UNSUPPORTED (a core that does not
// say it, and symbols that lead nowhere as they are), UNREADABLE, USAGE (unknown format name).
enum extract_code extract_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols,
                                    const struct extract_ring_options *options,
                                    struct extract_error *error);

// Calls `found` for each ring that the memory's regions hold, in order of addresses, until it
// returns false. Every check of the format is applied; *candidates (may be NULL) counts the words
// that looked like a header before them. Errors: NOMEM, UNSUPPORTED (memory without regions).
enum extract_code extract_ring_scan(struct extract_memory *memory,
                                    bool (*found)(void *context, const struct extract_ring *ring),
                                    void *context, uint64_t *candidates,
                                    struct extract_error *error);

// How the entries of a raw stream of hook words lie behind each other (docs/formats/hook.md, "The
// stream"). Zero-initialize, or let the words of a user fill it.
struct extract_hook_stream {
    unsigned bits;                 // of a hook word: 32 or 64; 0: as the stream begins, else 32
    enum extract_byte_order order; // UNKNOWN: as the stream begins, else big
    bool tid_known, stamp_known;   // else 4 bytes, and 8 with 64-bit hook words
    unsigned tid, stamp;           // bytes behind an entry: 0, 4 or 8
    bool all_stamped;              // not those of the stamped types alone
    uint64_t hz;                   // stamps in a second; 0: not known
};

// Reads the words "bits=32,order=big,tid=4,stamp=4,stamps=typed,hz=1000000" in any order, each
// optional. Errors: USAGE.
enum extract_code extract_hook_stream_parse(struct extract_hook_stream *stream, const char *words,
                                            struct extract_error *error);

// Opens a raw stream ("-" is standard input) as a memory that holds a ring with its entries: what
// is no entry becomes damage of the ring. Errors: IO, NOMEM, LIMIT (more than 256 MiB), BAD
// (empty).
enum extract_code extract_hook_stream_open(struct extract_memory **memory, const char *path,
                                           const struct extract_hook_stream *stream,
                                           struct extract_error *error);

// The address that a pointer stored in the ring means. What a program links statically lies within
// 2 GiB, on both sides of a border between upper halves perhaps.
static inline uint64_t extract_ring_address(const struct extract_ring *ring, uint64_t stored)
{
    uint32_t distance = (uint32_t)stored - (uint32_t)ring->near;
    return ring->near ? ring->near + (uint64_t)(int64_t)(int32_t)distance : stored;
}

const char *extract_ring_format(const struct extract_ring *ring); // "threadx"
const char *extract_ring_suffix(const struct extract_ring *ring); // of its files: "trx"

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
