// SPDX-License-Identifier: MIT
// A trace ring in target memory: which format it has, where it is stored, and how it is laid out.
//
// Start with extract_ring_find, which fills in struct extract_ring from a memory and the firmware's
// symbols; extract_snapshot_take (snapshot.h) then copies the ring. struct extract_ring owns
// nothing and may be copied freely. Settings that only one format has are in extract_rkh and
// extract_posix. Raw streams of RKH frames and of hook words, and saved rings, are opened as a
// memory first.
#ifndef EXTRACT_RING_H
#define EXTRACT_RING_H

#include <extract/memory.h>
#include <extract/symbols.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_format;     // one trace format
struct extract_hook_roles; // what hook ids mean; see extract_hook_roles_open

// How the ring was found.
enum extract_ring_origin {
    EXTRACT_FROM_SYMBOL,  // a global variable of the firmware, as the format documents it
    EXTRACT_FROM_ADDRESS, // the caller named the control header's address
    EXTRACT_FROM_FILE,    // the file contains the ring and nothing else (.trx)
    EXTRACT_FROM_SCAN,    // the memory's regions were searched for a header
    EXTRACT_FROM_EARLIER, // they were searched, for the program has enabled no trace: the ring may
                          // be from before a reset
    EXTRACT_FROM_REBUILT  // the header is damaged; variables or entries contain its layout
};

// How the number of cores that write to a ring is known.
enum extract_cores_from {
    EXTRACT_CORES_UNKNOWN = 0, // not known: entries do not contain the number of their core
    EXTRACT_CORES_SEEN,        // the highest core that made an event; there may be more
    EXTRACT_CORES_HEADER,      // from the ring's header
    EXTRACT_CORES_KERNEL       // from the kernel in the firmware's ELF
};

// A half-open range of equal slots in target memory. For entries that differ in length, the buffer
// that holds them.
struct extract_slots {
    uint64_t start;      // address of the first slot
    uint64_t end;        // address after the last slot
    uint32_t slot_bytes; // size of a slot; 0: entries differ in length
    uint32_t count;      // number of slots
};

// Settings of an RKH stream that its frames do not contain: sizes in bytes, and switches (0 or 1).
enum extract_rkh_key {
    EXTRACT_RKH_CHK = 0, // switch: frames have a checksum
    EXTRACT_RKH_NSEQ,    // switch: frames have a sequence number
    EXTRACT_RKH_TS,      // size of a timestamp; 0: none
    EXTRACT_RKH_PTR,     // size of an object's address
    EXTRACT_RKH_FUN,     // size of a function's address
    EXTRACT_RKH_SIG,     // size of a signal
    EXTRACT_RKH_ESIZE,   // size of an event's size
    EXTRACT_RKH_NBLK,    // size of a number of blocks
    EXTRACT_RKH_BSIZE,   // size of a block's size
    EXTRACT_RKH_NELEM,   // size of a number of queue elements
    EXTRACT_RKH_NTICK,   // size of a number of ticks
    EXTRACT_RKH_SNDR,    // switch: events of active objects name their sender
    EXTRACT_RKH_QNMIN,   // switch: queues keep a low-water mark
    EXTRACT_RKH_MPNMIN,  // switch: memory pools keep a low-water mark
    EXTRACT_RKH_VERSION, // version of the framework: 0x3400 is 3.4.00
    EXTRACT_RKH_TS_HZ,   // timestamps per second; 0: not known
    EXTRACT_RKH_KEYS     // number of settings
};

// The source of a setting. A later one in this list wins.
enum extract_rkh_from {
    EXTRACT_RKH_DEFAULT = 0,
    EXTRACT_RKH_INFERENCE, // no other value fits the frames
    EXTRACT_RKH_DWARF,     // sizes of types in the firmware's ELF
    EXTRACT_RKH_TCFG,      // the TCFG record in the stream
    EXTRACT_RKH_CONFIG,    // a trazer.cfg file
    EXTRACT_RKH_USER
};

// Which bytes of a ring in RAM are read.
enum extract_rkh_view {
    EXTRACT_RKH_VIEW_AUTO = 0, // HISTORY; PENDING if the target runs
    EXTRACT_RKH_PENDING,       // bytes that the target has not taken out yet
    EXTRACT_RKH_HISTORY        // everything that the array still holds
};

enum { EXTRACT_RKH_LAYOUTS = 16, EXTRACT_RKH_NAME = 64 }; // layouts; bytes with the NUL

// The settings of one run of the target, or of several with the same settings. Each run begins with
// a TCFG record.
struct extract_rkh_layout {
    uint32_t value[EXTRACT_RKH_KEYS];
    uint8_t from[EXTRACT_RKH_KEYS]; // enum extract_rkh_from
    uint32_t packed;                // the settings that determine frames, packed for the decoder
};

// Numbers of damaged frames, by cause.
struct extract_rkh_damage {
    uint32_t torn;     // contain an escape that is not defined
    uint32_t checksum; // have a wrong checksum
    uint32_t length;   // have a length that does not fit the event's arguments
    uint32_t id;       // have the id of no event
};

// The state at the end of a walk over a part of a stream. The walk over the next part starts from
// it.
struct extract_rkh_walked {
    bool is_continued; // this is not the first part: the settings of the one before are still valid
    bool next_known;   // `next` is known
    bool after_record; // the last frame was a TCFG record
    bool settings_changed; // that record changed the settings
    bool stamp_known;      // `stamp` is known
    uint8_t next;          // sequence number that is expected
    uint8_t layout;        // layout of the next frame; in a log it is carried from block to block
    uint32_t damaged;
    uint64_t stamp; // last timestamp
};

// What is known of an RKH stream, and of a copy of it.
struct extract_rkh {
    uint32_t value[EXTRACT_RKH_KEYS];
    uint8_t from[EXTRACT_RKH_KEYS]; // enum extract_rkh_from
    uint8_t view;                   // enum extract_rkh_view
    // The enumeration of signals in the ELF, or one of its enumerators, as named by the user. "":
    // to be found; "none": not to be used.
    char signals[EXTRACT_RKH_NAME];
    uint8_t layouts; // number of different layouts in the stream; `value` holds the last
    struct extract_rkh_layout layout[EXTRACT_RKH_LAYOUTS]; // in their order in the stream
    struct extract_rkh_damage damage;
    bool lacks_types;     // an ELF was given, but it lacks the framework's types
    uint32_t partial;     // bytes after the last frame, of a frame that is not complete yet
    bool partial_checked; // these bytes have the running checksum that the target keeps
    struct extract_rkh_walked walked;
};

// Reads settings from a string such as "fun=4,ts_hz=1000000,signals=NAME,trazer.cfg=FILE". The keys
// are the names that extract_rkh_name returns. Errors: USAGE, IO, NOMEM, UNSUPPORTED (a framework
// older than 2.3).
enum extract_code extract_rkh_parse(struct extract_rkh *rkh, const char *words,
                                    struct extract_error *error);
// Sets the settings that the types in a firmware's ELF determine.
void extract_rkh_of_symbols(struct extract_rkh *rkh, struct extract_symbols *symbols);
const char *extract_rkh_name(enum extract_rkh_key key); // "chk"; static

// Opens a stream ("-" is standard input) as a memory that contains nothing else. The caller closes
// it. Errors: IO, NOMEM, LIMIT (more than 256 MiB), BAD (empty).
enum extract_code extract_rkh_stream_open(struct extract_memory **memory, const char *path,
                                          struct extract_error *error);
// Returns whether a file is certainly an RKH stream: it begins with a TCFG record, or with many
// frames that have correct checksums. Returns false for files that cannot be read twice.
bool extract_rkh_stream_is(const char *path);

// Opens a saved ring of a target's RAM as a memory that contains nothing else. The caller closes
// it. Errors: IO, NOMEM, BAD, TRUNCATED.
enum extract_code extract_rkh_dump_open(struct extract_memory **memory, const char *path,
                                        struct extract_error *error);

// What is known of a POSIX trace stream in addition to its stream block.
struct extract_posix {
    uint32_t wanted;    // 1 + number of the stream that the user selected; 0: any
    bool process_known; // the process block was found; the members below are from it
    uint64_t process;   // address of the process block
    uint32_t stream;    // number of the stream
    uint32_t streams;   // number of streams of the process
    uint32_t ids;       // number of event types that a filter covers
    uint32_t pid;       // process id of the traced process
    uint64_t entry;     // address of its program's entry point; 0: not known
    char name[16];      // name of the stream, NUL-terminated
};

// Opens a saved stream as a memory that contains nothing else. The caller closes it. Errors: IO,
// NOMEM, BAD, TRUNCATED.
enum extract_code extract_posix_open(struct extract_memory **memory, const char *path,
                                     struct extract_error *error);

// A ring as it was found. Addresses are the target's.
struct extract_ring {
    const struct extract_format *format;
    enum extract_ring_origin origin;
    uint64_t address; // of the control header
    uint64_t length;  // bytes from the header's start to the end of the last entry; if the parts of
                      // the ring are not contiguous, bytes of a copy of them
    uint32_t header_bytes;
    enum extract_byte_order byte_order;
    uint8_t word_bytes;  // of a target word (ULONG): 4 or 8
    bool enabled;        // recording is on
    bool enabled_known;  // false if no symbol shows whether recording is on
    uint64_t timer_mask; // significant bits of a timestamp
    uint64_t hz;         // timestamps per second, if the ring contains it; otherwise 0
    uint16_t cores;      // number of cores, from the header or the kernel; 0: not known
    uint8_t cores_from;  // enum extract_cores_from
    uint32_t name_bytes; // of a name in the registry, with its NUL
    struct extract_slots registry;
    struct extract_slots entries;
    uint64_t current;        // address of the slot that is written next, from the header
    uint8_t pointer_bytes;   // of a target pointer; 0: not known
    uint32_t current_offset; // offset of the write position in the header, bytes
    uint64_t current_symbol; // address of the live write position; 0: not known
    uint64_t filter_symbol;  // address of the target's filter word; 0: not known
    uint64_t filter;         // its value, if filter_known
    bool filter_known;
    uint64_t near;       // the ring stores lower halves of addresses; an address near those
                         // that are meant, or 0
    bool doubtful;       // the ELF contradicts the ring: it may be another firmware's
    uint64_t base_delta; // `address` minus the address that the header contains
    // Of a file or several images that have only a part of the ring: addresses from the first byte
    // that is missing to the end of the last one; 0, 0: nothing is.
    uint64_t missing_start, missing_end;
    // The header, or the ELF file, has the ring at another address than the images: see base_delta.
    bool is_moved;
    uint64_t image_start;       // if it is moved: where the image begins by that address
    uint8_t header[128];        // the control header's bytes, as read
    struct extract_rkh rkh;     // only for RKH
    struct extract_posix posix; // only for POSIX trace
    // Only for hook words: what they mean. NULL: not known. Borrowed.
    const struct extract_hook_roles *hook_roles;
};

// What the caller knows of the ring. Zero-initialize; set `size`, and what is known.
struct extract_ring_options {
    size_t size;        // sizeof the struct
    const char *format; // name of the format; NULL: any
    bool address_known; // the control header is stored at `address`
    uint64_t address;
    const struct extract_rkh *rkh; // the user's settings of an RKH stream; may be NULL
    uint32_t stream;               // 1 + number of the stream, if a header leads to several; 0: any
    // What hook words mean; may be NULL. Must outlive the ring, and everything made of it.
    const struct extract_hook_roles *hook_roles;
};

// Finds the ring: at `address` if it is given; otherwise where the memory states that it starts;
// otherwise through the firmware's symbols; otherwise by a scan of the memory's regions, which must
// find exactly one. `symbols` may be NULL. Symbols of a position-independent program are moved to
// the load address that a core contains. Errors: NOTFOUND (the hint names what is missing), ABSENT
// (tracing was never enabled), BAD (the header contradicts itself; the symbols are another
// program's), UNSUPPORTED (a core without a load address, and symbols that lead nowhere as they
// are), UNREADABLE, USAGE (unknown name of a format), NOMEM.
enum extract_code extract_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols,
                                    const struct extract_ring_options *options,
                                    struct extract_error *error);

// Calls `found` for each ring in the memory's regions, in ascending order of addresses, until it
// returns false. The ring is valid during the call. It has passed every check of its format.
// *candidates (may be NULL) is set to the number of words that looked like a header at first.
// Errors: NOMEM, UNSUPPORTED (the memory has no regions).
enum extract_code extract_ring_scan(struct extract_memory *memory,
                                    bool (*found)(void *context, const struct extract_ring *ring),
                                    void *context, uint64_t *candidates,
                                    struct extract_error *error);

// How the entries of a raw stream of hook words are stored (docs/formats/hook.md, "The stream").
// Zero-initialize, or use extract_hook_stream_parse.
struct extract_hook_stream {
    unsigned bits;                 // of a hook word: 32 or 64; 0: as the stream begins, or 32
    enum extract_byte_order order; // UNKNOWN: as the stream begins, or big-endian
    bool tid_known, stamp_known;   // if false: 4 bytes; 8 with 64-bit hook words
    unsigned tid, stamp;           // bytes of each after an entry: 0, 4 or 8
    bool all_stamped;              // all entries have timestamps, not only those of stamped types
    uint64_t hz;                   // timestamps per second; 0: not known
};

// Reads a string of the form "bits=32,order=big,tid=4,stamp=4,stamps=typed,hz=1000000". All terms
// are optional, in any order. Errors: USAGE.
enum extract_code extract_hook_stream_parse(struct extract_hook_stream *stream, const char *words,
                                            struct extract_error *error);

// Reads role files (ringside-roles(5)), which state what hook ids mean for the schedule. Each name
// is a path, or "aix" for the file that is built in. A file replaces what the files before it state
// of the same hook id. The caller closes the roles. Errors: IO, NOMEM, LIMIT, BAD (the message
// names file, line and word).
enum extract_code extract_hook_roles_open(struct extract_hook_roles **roles,
                                          const char *const *names, size_t count,
                                          struct extract_error *error);
// Frees the roles. NULL is allowed.
void extract_hook_roles_close(struct extract_hook_roles *roles);

// Opens a raw stream ("-" is standard input) as a memory that contains a ring with the stream's
// entries. Bytes that are not entries become damaged entries of the ring. The caller closes the
// memory. Errors: IO, NOMEM, LIMIT (more than 256 MiB), BAD (empty).
enum extract_code extract_hook_stream_open(struct extract_memory **memory, const char *path,
                                           const struct extract_hook_stream *stream,
                                           struct extract_error *error);

// Returns the address that a pointer stored in the ring stands for. A statically linked program is
// smaller than 2 GiB, but it may extend over a boundary between upper halves.
static inline uint64_t extract_ring_address(const struct extract_ring *ring, uint64_t stored)
{
    uint32_t distance = (uint32_t)stored - (uint32_t)ring->near;
    return ring->near ? ring->near + (uint64_t)(int64_t)(int32_t)distance : stored;
}

// Returns the name of the ring's format ("threadx"), and the suffix of its dump files ("trx");
// "none" for a ring that was not found. Both are static.
const char *extract_ring_format(const struct extract_ring *ring);
const char *extract_ring_suffix(const struct extract_ring *ring);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
