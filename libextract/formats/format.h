// SPDX-License-Identifier: MIT
// formats: what a trace format must tell. Formats know nothing of GDB, OpenOCD or files.
//
// Adding a format: one folder with one `struct extract_format`, and one line in formats.c.
#ifndef EXTRACT_FORMATS_FORMAT_H
#define EXTRACT_FORMATS_FORMAT_H

#include <extract/templates.h>
#include <extract/text.h>
#include <extract/trace.h>

enum {
    EXTRACT_HEADER_MAX = 128,
    EXTRACT_DESCRIPTION_MAX = EXTRACT_HEADER_MAX + 16, // bytes that a log says of a ring
    EXTRACT_RING_LIMIT = 256 * 1024 * 1024,
    EXTRACT_ENTRY_ROOM = 65536 + 64 // bytes that an entry of any format is laid out in
};

// What an event means for the scheduler, whatever its format calls it. `thread` and `next` are
// indices of fields, -1 for none.
enum extract_role {
    EXTRACT_ROLE_NONE = 0,
    EXTRACT_ROLE_SUSPEND,
    EXTRACT_ROLE_RESUME,
    EXTRACT_ROLE_RELINQUISH,
    EXTRACT_ROLE_TIME_SLICE,
    EXTRACT_ROLE_ISR_ENTER,
    EXTRACT_ROLE_ISR_EXIT,
    EXTRACT_ROLE_MUTEX_GET,
    EXTRACT_ROLE_MUTEX_PUT
};

struct extract_role_fields {
    enum extract_role role;
    int8_t next;   // the thread that runs next
    int8_t object; // the mutex
    int8_t owner;  // its owner when it is taken
    int8_t count;  // times that its owner holds it
};

// What the writer's place says: where it is; that the trace is off; that this is no place.
enum extract_head { EXTRACT_HEAD_AT = 0, EXTRACT_HEAD_OFF, EXTRACT_HEAD_WILD };

// A ring of slots, each with one entry of the same size. The writer fills one slot after the other,
// round and round, and moves its place past a slot when that is written; services may fill in words
// of an entry later. `entry` is the bytes of one slot.
struct extract_slot_ring {
    // Gives every entry of a copied ring a verdict. `pointer` is the writer's place after the copy
    // (the live pointer, if it is known); `stopped` says that the target did not run meanwhile.
    void (*validate)(struct extract_snapshot *snapshot, uint64_t pointer, bool stopped);
    // Does the same for the entries of a log's block. A recorder took them for complete and final.
    void (*validate_recorded)(struct extract_snapshot *snapshot);
    // Returns whether two readings of one slot are of the same entry. Words that services fill in
    // later may differ.
    bool (*is_same)(const struct extract_ring *ring, const uint8_t *before, const uint8_t *after);
    bool counts;           // the writer's place is a count that does not wrap, not a slot
    uint32_t anchor_words; // at a slot's start: they tell an entry from the next one in the slot
    // Returns where the writer's place is stored, live or as the header's copy, and its width (at
    // most 8 bytes).
    uint64_t (*head_address)(const struct extract_ring *ring, bool live, unsigned *bytes);
    enum extract_head (*head)(const struct extract_ring *ring, bool live, uint64_t raw,
                              uint64_t *place);
    bool (*is_written)(const struct extract_ring *ring, const uint8_t *entry);
    uint64_t (*stamp)(const struct extract_ring *ring, const uint8_t *entry);
    // Returns the words that may be filled in later: bit i for the i-th word.
    uint32_t (*late_words)(const struct extract_ring *ring, const uint8_t *entry);
    // Stores the addresses of objects that the entry names, at most EXTRACT_NAMED.
    size_t (*objects)(const struct extract_ring *ring, const uint8_t *entry, uint64_t *addresses);
    // Returns whether the entry tells that an object was made, perhaps at the address of another.
    bool (*creates_object)(const struct extract_ring *ring, const uint8_t *entry);
};

enum { EXTRACT_NAMED = EXTRACT_FIELDS_MAX + 1 };

// Of a ring of bytes, what its header says. Places count the bytes that were ever written, modulo
// 2^32; a place lies in the buffer at its value modulo the buffer's length.
struct extract_ring_counters {
    uint32_t tail, head;  // the oldest whole entry begins at `tail`, the next one will at `head`
    uint32_t written;     // entries, modulo 2^32
    uint32_t lost;        // that were not written
    uint32_t generation;  // another one: everything was cleared
    bool running;         // recording goes on
    bool keeps_oldest;    // what is new is lost when the buffer is full
    bool uncounted;       // written, lost and running are not known; entries may have numbers
    bool ragged;          // none need begin at `tail`
    bool full;            // of one that is not counted: the oldest were overwritten
    bool told;            // what is missing may have been read: `overwritten` were lost, and `full`
    uint32_t overwritten; // says itself whether it is
    bool apart;           // tail and head do not fit each other
    bool unbound;         // a process' stream that nobody has created, so that nothing is recorded
};

// What following needs of a ring of bytes whose header counts places and entries
// (extract_ring_counters).
struct extract_counted_ring {
    // Bytes [live_from, live_to) of the header change.
    uint32_t live_from, live_to;
    // Returns the length in bytes of the entry at the start of `left` bytes; 0: there is none, or
    // not all of it.
    uint32_t (*length)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);
    const struct extract_open_entries *open; // NULL: the head passes only finished entries
};

// Entries that the head passes before they are finished, and that show where they begin.
struct extract_open_entries {
    // Returns the bytes in front of the first entry that its writer has not finished.
    uint32_t (*finished)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
    // Returns whether the writer has begun an entry at the place `head`, where the next one will
    // begin, by the 4 bytes there.
    bool (*is_begun)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t head);
    // Returns the bytes in front of the first entry that is found backwards from `end`, a place
    // where an entry ends, in the `length` bytes before it; `length`: none is found.
    uint32_t (*boundary)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                         uint32_t end);
    // Stores the number or address of what an entry names. False: it names nothing.
    bool (*object)(const struct extract_ring *ring, const uint8_t *entry, uint32_t length,
                   uint64_t *address);
};

// What following needs of a ring of bytes without counts, whose entries each end with a byte that
// occurs nowhere else.
struct extract_terminated_ring {
    uint8_t terminator;
    // Returns where the writer's pointer into the buffer is stored, and its width: 8 bytes at most;
    // 0: this ring cannot be followed.
    uint64_t (*pointer)(const struct extract_ring *ring, unsigned *bytes);
    // Returns the number of an entry, modulo 256, by its bytes before the terminator; -1: none.
    int (*number)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
};

// Entries that differ in length, in a ring of bytes. Its `entries` are the buffer, with slot_bytes
// 0 and, until it is copied, count 0. The copy gets an index (struct extract_extent): its i-th
// entry is what slot i is elsewhere, for verdicts, counts, decode, stamp and readers. The writer
// must move its tail before it overwrites the bytes behind it, and its head when an entry is whole;
// so what lies between a tail that was read after the copy and a head that was read before is
// whole, and a walk from a tail meets every entry. A writer without a tail (RKH) gives the place
// that it cannot have come to; the walk then starts at a place that is no boundary.
struct extract_stream {
    // Returns the bytes that the walk needs after the ring's, for entries that do not lie there in
    // one piece: over the buffer's end, or with escapes in them.
    uint64_t (*slack_bytes)(const struct extract_ring *ring);
    // Reads the words that change to where `reach` looks for them in the header's bytes.
    bool (*read_live)(struct extract_memory *memory, const struct extract_ring *ring,
                      uint8_t *header);
    // Reads the header's bytes. False: they contradict each other, as those of a writer under way
    // may when they are read one after the other. Where they are `apart`, each by itself may be
    // right: the writer has gone once round between the one and the other.
    bool (*read_counters)(const struct extract_ring *ring, const uint8_t *header,
                          struct extract_ring_counters *counters);
    // Whether reading the newest byte of the buffer says if the ring can be read (else the last).
    bool newest_is_known;
    // Copies what belongs to the ring and lies elsewhere to where the format wants it: in front of
    // the buffer, which lies at the end of the copy.
    void (*copy_side_data)(struct extract_snapshot *snapshot, struct extract_memory *memory);
    // Finds out from the bytes between two places how entries are laid out. Errors: BAD, NOMEM.
    enum extract_code (*resolve_layout)(struct extract_snapshot *snapshot, uint32_t from,
                                        uint32_t to, struct extract_error *error);
    // Finds the entries between two places of the copy and gives each to extract_snapshot_note,
    // oldest first: those that are good, and what lies between as damaged. `is_boundary` says that
    // an entry begins at `from`; else what lies in front of the first is nothing. False: out of
    // memory.
    bool (*walk)(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool is_boundary);
    // Returns the bits that count in the stamps of entries of a layout (struct extract_extent); 0:
    // those of the ring.
    uint64_t (*stamp_mask)(const struct extract_ring *ring, unsigned layout);
    // Returns whether entries of a layout have no stamps though those of other layouts do.
    bool (*is_untimed)(const struct extract_ring *ring, unsigned layout);
    // Takes back what entries from index `from` on gave to others, since holes have become verdicts
    // on them.
    void (*note_verdicts)(struct extract_snapshot *snapshot, uint32_t from);
    // Stores what a log says of the ring: bytes from which the format's read_header makes it again.
    // Returns their number; 0: the header's own bytes.
    uint32_t (*describe)(const struct extract_ring *ring, uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);
    // How the ring is followed: at most one of these is not NULL.
    const struct extract_counted_ring *counted;
    const struct extract_terminated_ring *terminated;
};

// Members of extract_stream for formats that need nothing of the kind.
void extract_stream_has_no_side_data(struct extract_snapshot *snapshot,
                                     struct extract_memory *memory);
enum extract_code extract_stream_has_one_layout(struct extract_snapshot *snapshot, uint32_t from,
                                                uint32_t to, struct extract_error *error);
uint64_t extract_stream_has_one_mask(const struct extract_ring *ring, unsigned layout);
bool extract_stream_has_all_stamps(const struct extract_ring *ring, unsigned layout);
void extract_stream_ignores_verdicts(struct extract_snapshot *snapshot, uint32_t from);
uint32_t extract_stream_has_a_header(const struct extract_ring *ring,
                                     uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);
// Reads bytes [live_from, live_to) of the header, for a counted ring.
bool extract_stream_read_counters(struct extract_memory *memory, const struct extract_ring *ring,
                                  uint8_t *header);

static inline bool extract_stream_is_recorded(const struct extract_stream *stream)
{
    return stream && (stream->counted || stream->terminated);
}

// What an entry of the stream itself tells of names.
struct extract_name_entry {
    bool restarted; // a new run of the target: nothing that was told before holds from here on
    // What the object's address is: OBJECT, or a kind of numbers that have names (SIGNAL …).
    enum extract_kind kind;
    // Of it address, type, type_name and, where it is told, priority.
    struct extract_object object;
    const uint8_t *name; // not NUL-ended; NULL: none is told
    size_t name_bytes;
};

// A value of an event that tells itself what it is.
struct extract_item {
    const char *format;     // "i16", "str"
    enum extract_kind kind; // HEX, DEC, or one that has names; NONE: bytes, or a text
    bool text, negative;
    uint64_t value; // of a negative one, what it lies below 0
    const uint8_t *bytes;
    uint32_t length;
};

typedef void extract_item_taker(void *context, const struct extract_item *item);

// A number of such a kind as a key among addresses, which never have these upper bits.
static inline uint64_t extract_number_key(enum extract_kind kind, uint64_t number)
{
    return ((uint64_t)0xE000 + kind) << 48 | (number & UINT64_C(0xFFFFFFFFFFFF));
}

// Whether a key is one of numbers, and the number.
static inline bool extract_key_is_number(uint64_t key)
{
    return key >> 48 > 0xE000 + EXTRACT_KIND_TEXT && key >> 48 < 0xE000 + EXTRACT_KIND_ACTION;
}

static inline uint64_t extract_key_number(uint64_t key)
{
    return key & UINT64_C(0xFFFFFFFFFFFF);
}

// The key of what a value of a kind names. False: it names nothing that events tell of.
static inline bool extract_value_key(enum extract_kind kind, uint64_t value, uint64_t *key)
{
    bool number = kind == EXTRACT_KIND_SIGNAL || kind == EXTRACT_KIND_USER_EVENT ||
                  (kind == EXTRACT_KIND_POOL && value != EXTRACT_NO_POOL);
    *key = number ? extract_number_key(kind, value) : value;
    return number || kind == EXTRACT_KIND_OBJECT;
}

// Makes room for `more` entries in the index of a copied ring of bytes. False: out of memory.
bool extract_snapshot_reserve(struct extract_snapshot *snapshot, uint32_t more);

// Adds an entry to it. False: out of memory. It stands here so that a place is written but once.
static inline bool extract_snapshot_note(struct extract_snapshot *snapshot,
                                         const struct extract_extent *place,
                                         enum extract_verdict verdict)
{
    uint32_t at = snapshot->ring.entries.count;
    if (at == snapshot->index_room && !extract_snapshot_reserve(snapshot, 1))
        return false;
    snapshot->index[at] = *place;
    snapshot->verdict[at] = (uint8_t)verdict;
    snapshot->ring.entries.count = at + 1;
    return true;
}

// A number of a kind that has names, and the name that an entry tells of it (NULL: none).
struct extract_number {
    uint64_t value;
    const char *name;
};

// Such numbers of a trace, ascending, each once.
struct extract_numbers {
    const struct extract_number *list;
    size_t count;
};

typedef bool extract_name_taker(void *context, uint64_t number, const char *name);

// What a word of a target's own filters names.
enum extract_target_kind {
    EXTRACT_TARGET_GROUP,
    EXTRACT_TARGET_EVENT,
    EXTRACT_TARGET_OBJECT, // a thread, by its name or its priority
    EXTRACT_TARGET_SIGNAL,
    EXTRACT_TARGET_KINDS,
    EXTRACT_TARGET_NONE = EXTRACT_TARGET_KINDS
};

// Names for a message, with commas between: as many as have room.
struct extract_listing {
    char text[200];
    size_t used;
    bool full;
};

void extract_listing_put(struct extract_listing *listing, const char *name);

// The filter that a target itself has: its words, which the filters of a reader take as well, and
// what they name.
struct extract_target_filter {
    const char *all; // the word for everything
    // Takes "group=SMA" apart: its kind, and the name in it. False: it is no such word.
    bool (*parse)(const char *word, enum extract_target_kind *kind, const char **name);
    // Returns whether an event is called so, by a name or a pattern: it, or its group.
    bool (*fits)(enum extract_target_kind kind, uint32_t id, const char *pattern);
    // Lists the names of groups, or of the events that may have been meant.
    void (*list)(enum extract_target_kind kind, const char *pattern,
                 struct extract_listing *listing);
    // Returns the number that the ELF's source gives to a signal of that name. False: none.
    bool (*signal_number)(struct extract_symbols *symbols, const char *name, uint64_t *number);
    // Returns the priority that memory and ELF tell of the thread at an address. False: none.
    bool (*priority)(struct extract_memory *memory, struct extract_symbols *symbols,
                     uint64_t address, uint16_t *priority);
};

// What the kernel of a format's events is known to do.
struct extract_kernel {
    // Returns what an id means for the scheduler; NULL: nothing (see extract_format_role).
    const struct extract_role_fields *(*role)(uint32_t id);
    // Finds the name pointer in the control block of the object at an address: where in target
    // memory the name's address stands. False: it is not known.
    bool (*name_pointer)(const struct extract_ring *ring, struct extract_memory *memory,
                         struct extract_symbols *symbols, uint64_t address, uint64_t *name);
};

// Entries that tell what they are about: names, items, and the arguments of other entries.
struct extract_telling_entries {
    // Finds what an event tells of names. False: nothing.
    bool (*name)(const struct extract_event *event, struct extract_name_entry *told);
    // Gives the items of an event to `take`, and their number (of user events). False: none.
    bool (*items)(const struct extract_event *event, extract_item_taker *take, void *context,
                  uint32_t *number);
    // Makes the event that another one speaks of, with its arguments. False: it speaks of none.
    bool (*inner)(const struct extract_snapshot *snapshot, const struct extract_event *event,
                  struct extract_event *inner);
    // Appends the text that a value of EXTRACT_KIND_TEXT stands for. False: there is none.
    bool (*text)(const struct extract_snapshot *snapshot, uint64_t value,
                 struct extract_text *text);
    // Gives the names that the firmware's ELF has for signals to `take` (which returns false when
    // memory is short), and says how that is known. `numbers` are those that the trace holds.
    // Errors: USAGE, NOMEM.
    enum extract_code (*name_signals)(const struct extract_ring *ring,
                                      struct extract_symbols *symbols,
                                      const struct extract_numbers *numbers,
                                      extract_name_taker *take, void *context,
                                      struct extract_signals *signals, struct extract_error *error);
};

// How events become entries of a trace hook, which templates see.
struct extract_hook_entries {
    // Makes the entry of an event; false: the event is none of the format's own. `room` has
    // EXTRACT_ENTRY_ROOM bytes; the entry holds as long as these and the event.
    bool (*make)(const struct extract_ring *ring, const struct extract_event *event,
                 struct extract_entry *entry, uint8_t *room);
    // Returns the id of the mark of a loss that an entry of a report was made of; 0: of none.
    uint32_t (*loss_mark)(const struct extract_ring *ring, const struct extract_event *event);
};

uint32_t extract_hook_entry_is_no_mark(const struct extract_ring *ring,
                                       const struct extract_event *event);

// A format: how its rings are found and its entries decoded, and what else it has.
struct extract_format {
    const char *name;   // "threadx"
    const char *title;  // for messages
    const char *suffix; // of dump files: "trx"

    // ---- Finding ----

    // Finds the ring through the firmware's symbols (may be NULL: NOTFOUND).
    enum extract_code (*find)(struct extract_ring *ring, struct extract_memory *memory,
                              struct extract_symbols *symbols, struct extract_error *error);
    // Returns whether what a user says of the ring, or what is left of the firmware's symbols,
    // speaks of this format though `find` finds nothing: then its error says most.
    bool (*is_meant)(const struct extract_ring *ring, const struct extract_symbols *symbols);
    // Reads and checks the header at an address that the caller vouches for.
    enum extract_code (*read_header)(struct extract_ring *ring, struct extract_memory *memory,
                                     struct extract_symbols *symbols, uint64_t address,
                                     struct extract_error *error);
    // Adds what the firmware's symbols tell of a ring that was found without them, or by them.
    void (*apply_symbols)(struct extract_ring *ring, struct extract_symbols *symbols);
    // Returns whether `bytes` (length of them, from `address`) look like a header at all, and
    // whether they are one by every check.
    bool (*may_be_header)(const uint8_t *bytes, size_t length);
    bool (*is_valid_header)(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                            uint64_t address);
    // Reads what such a header does not tell. False: it is none, or is found by another one.
    bool (*complete)(struct extract_ring *ring, struct extract_memory *memory);

    // ---- Decoding ----

    // Returns the type of an event; `id` may be anything. Never NULL.
    const struct extract_event_type *(*type)(uint32_t id);
    // Decodes slots [slot, slot + count) that are all valid: everything but seq, ticks and flags.
    void (*decode)(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                   struct extract_event *events);
    // Makes an object of slot `slot` of the registry; false when it was never used. *name is not
    // NUL-ended. A ring without a registry has no slots there.
    bool (*object)(const struct extract_snapshot *snapshot, uint32_t slot,
                   struct extract_object *object, const uint8_t **name, size_t *name_bytes);

    // ---- Facts ----

    bool streams;            // one header leads to several rings; options may say which
    bool has_cores;          // an entry says which core made it
    bool names_members;      // what lies inside of a variable is called by its member: "ao.equeue"
    uint32_t user_ids;       // the id of user event 0, where user events have names; else 0
    bool users_share;        // user events without a template of their own have that of number 0
    bool has_ownerless;      // an event outside of interrupts may be of no thread, 0
    const char *thread_type; // type_name of the objects that events are of: "thread"
    enum extract_direction direction; // which way stamps count; NONE: found out
    enum extract_hook_space hooks;    // how event ids are hook ids

    // ---- What else it has; NULL: not that. Either `slots` or `stream` is there. ----

    const struct extract_slot_ring *slots;
    const struct extract_stream *stream;
    const struct extract_kernel *kernel;
    const struct extract_telling_entries *telling;
    const struct extract_target_filter *target;
    const struct extract_hook_entries *entries; // NULL: the words of an event as they are
};

// Members of extract_format for formats that need nothing of the kind.
bool extract_format_is_never_meant(const struct extract_ring *ring,
                                   const struct extract_symbols *symbols);
bool extract_format_is_complete(struct extract_ring *ring, struct extract_memory *memory);
bool extract_format_has_no_objects(const struct extract_snapshot *snapshot, uint32_t slot,
                                   struct extract_object *object, const uint8_t **name,
                                   size_t *name_bytes);

const struct extract_format *extract_format_by_name(const char *name); // NULL: unknown
const struct extract_format *extract_format_at(size_t i);              // NULL: no more

// What an id means for the scheduler.
static inline const struct extract_role_fields *
extract_format_role(const struct extract_format *format, uint32_t id)
{
    static const struct extract_role_fields none = {EXTRACT_ROLE_NONE, -1, -1, -1, -1};
    const struct extract_role_fields *role = format->kernel ? format->kernel->role(id) : NULL;
    return role ? role : &none;
}

// The raw stamp of a slot. Of a stream's entries the index has it.
static inline uint64_t extract_snapshot_stamp(const struct extract_snapshot *snapshot,
                                              uint32_t slot)
{
    const struct extract_ring *ring = &snapshot->ring;
    if (ring->format->stream)
        return snapshot->index[slot].stamp;
    uint64_t at = ring->entries.start - ring->address + (uint64_t)slot * ring->entries.slot_bytes;
    return ring->format->slots->stamp(ring, snapshot->bytes + at);
}

// What must hold of a ring's header, and how to say that it does not.
struct extract_check {
    bool holds;
    const char *field;
    uint64_t value;
    const char *reason;
};

// check.c: whether all of them hold for what lies at `address`; `title` names it. Errors: BAD, for
// the first that does not, with `where` set.
enum extract_code extract_checks_run(const struct extract_check *checks, size_t count,
                                     const char *title, uint64_t address,
                                     struct extract_error *error);

extern const struct extract_format extract_format_threadx, extract_format_hook, extract_format_rkh,
    extract_format_posix;

#endif
