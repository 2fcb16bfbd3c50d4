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

// What following a live ring needs beside its layout. The writer fills one slot after the other,
// round and round, and moves its place behind a slot when that is written; services may fill in
// words of an entry later. `entry` is one slot's bytes.
struct extract_follow {
    bool counts;            // the place is a count that does not wrap, not a slot
    uint32_t witness_words; // at a slot's start: they tell an entry from the next in the slot
    // Where the writer's place stands, and its width (at most 8 bytes): the live one where it is
    // known, or the header's copy.
    uint64_t (*head_address)(const struct extract_ring *ring, bool live, unsigned *bytes);
    enum extract_head (*head)(const struct extract_ring *ring, bool live, uint64_t raw,
                              uint64_t *place);
    bool (*written)(const struct extract_ring *ring, const uint8_t *entry);
    uint64_t (*stamp)(const struct extract_ring *ring, const uint8_t *entry);
    // Words that may be filled in later: bit i for the i-th word.
    uint32_t (*late)(const struct extract_ring *ring, const uint8_t *entry);
    // Addresses of objects that the entry names, at most EXTRACT_NAMED.
    size_t (*names)(const struct extract_ring *ring, const uint8_t *entry, uint64_t *addresses);
    // Whether the entry tells that an object was made: at an address, maybe, where another one was.
    bool (*creates)(const struct extract_ring *ring, const uint8_t *entry);
};

enum { EXTRACT_NAMED = EXTRACT_FIELDS_MAX + 1 };

// Of a ring of bytes, what its header says. Places count the bytes that were ever written, modulo
// 2^32; a place lies in the buffer at its value modulo the buffer's length.
struct extract_reach {
    uint32_t tail, head;  // the oldest whole entry begins at `tail`, the next one will at `head`
    uint32_t written;     // entries, modulo 2^32
    uint32_t lost;        // that were not written
    uint32_t era;         // another one: everything was cleared
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

// Entries that differ in length, in a ring of bytes. Its `entries` are the buffer, with slot_bytes
// 0 and, until it is copied, count 0. The copy gets an index (struct extract_extent): its i-th
// entry is what slot i is elsewhere, for verdicts, counts, decode, stamp and readers. The writer
// must move its tail before it overwrites the bytes behind it, and its head when an entry is whole;
// so what lies between a tail that was read after the copy and a head that was read before is
// whole, and a walk from a tail meets every entry. A writer without a tail (RKH) gives the place
// that it cannot have come to; the walk then starts at a place that is no border.
struct extract_stream {
    // Bytes that the walk needs behind the ring's, for entries that do not lie there in one piece:
    // over the buffer's end, or with escapes in them.
    uint64_t (*spill)(const struct extract_ring *ring);
    // Where the header's words that change stand: bytes [from, to) of it.
    uint32_t live_from, live_to;
    // Where NULL is not: they do not stand there, and this reads them to where `reach` looks.
    bool (*live)(struct extract_memory *memory, const struct extract_ring *ring, uint8_t *header);
    // Reads the header's bytes. False: they contradict each other, as those of a writer under way
    // may when they are read one after the other. Where they are `apart`, each by itself may be
    // right: the writer has gone once round between the one and the other.
    bool (*reach)(const struct extract_ring *ring, const uint8_t *header,
                  struct extract_reach *reach);
    // Copies what belongs to the ring and lies elsewhere to where the format wants it: in front of
    // the buffer, which lies at the end of the copy. NULL: nothing does.
    void (*beside)(struct extract_snapshot *snapshot, struct extract_memory *memory);
    // Finds out from the bytes between two places how entries are laid out. NULL: it is known.
    // Errors: BAD, NOMEM.
    enum extract_code (*settle)(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                                struct extract_error *error);
    // Finds the entries between two places of the copy and gives each to extract_snapshot_note,
    // oldest first: those that are good, and what lies between as damaged. `border` says that an
    // entry begins at `from`; else what lies in front of the first is nothing. False: out of
    // memory.
    bool (*walk)(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool border);
    // The bits that count in the stamps of entries of a layout (struct extract_extent), where
    // layouts differ in them; 0, or NULL: those of the ring.
    uint64_t (*stamp_mask)(const struct extract_ring *ring, unsigned layout);
    // Holes have become verdicts on entries, from index `from` on: what those gave to others is to
    // be taken back. NULL: they give nothing.
    void (*judged)(struct extract_snapshot *snapshot, uint32_t from);
    // Of rings that can be followed, whose entries each end with a byte that stands nowhere else,
    // `ending`: where the writer's pointer into the buffer stands, and its width (8 bytes at most;
    // 0: this one cannot); the number that an entry has, modulo 256, by its bytes in front of that
    // one (-1: none); and what a log says of the ring: bytes from which the format's `at` makes it
    // again. NULL: they cannot.
    uint8_t ending;
    uint64_t (*pointer)(const struct extract_ring *ring, unsigned *bytes);
    int (*number)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
    uint32_t (*describe)(const struct extract_ring *ring, uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);
    // Of rings that can be followed by the places and counts of `reach`: bytes of the entry at the
    // start of `left` bytes; 0: there is none, or not all of it. NULL: they cannot.
    uint32_t (*length)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);
    // Of these: bytes in front of the first entry that its writer has not finished. NULL: the head
    // passes none before it is.
    uint32_t (*finished)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
    // Returns whether the writer has begun an entry at the place `head`, where the next one will
    // begin, by the 4 bytes there. NULL: entries do not show that.
    bool (*begun)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t head);
    // Of these, where entries are found from behind, too: bytes in front of the first that is so
    // found, of `length` that end at the place `end`, where an entry does. `length`: none is.
    uint32_t (*border)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                       uint32_t end);
    // The address of the object that an entry names. False, or NULL: none.
    bool (*object)(const struct extract_ring *ring, const uint8_t *entry, uint32_t length,
                   uint64_t *address);
};

static inline bool extract_stream_is_recorded(const struct extract_stream *stream)
{
    return stream && (stream->describe || stream->length);
}

// What an entry of the stream itself tells of names.
struct extract_told {
    bool anew; // a new run of the target: nothing that was told before holds from here on
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

// The words of a target's own filters, which the filters of a reader take as well.
struct extract_target_words {
    const char *all; // the word for everything
    // "group=SMA": its kind, and the name in it. False: it is no such word.
    bool (*parse)(const char *word, enum extract_target_kind *kind, const char **name);
    // Whether an event is called so, by a name or a pattern: it, or its group.
    bool (*fits)(enum extract_target_kind kind, uint32_t id, const char *pattern);
    // The names of groups, or of the events that may have been meant.
    void (*list)(enum extract_target_kind kind, const char *pattern,
                 struct extract_listing *listing);
};

struct extract_format {
    const char *name;   // "threadx"
    const char *title;  // for messages
    const char *suffix; // of dump files: "trx"

    // Finds the ring through the firmware's symbols (may be NULL: NOTFOUND).
    enum extract_code (*find)(struct extract_ring *ring, struct extract_memory *memory,
                              struct extract_symbols *symbols, struct extract_error *error);
    // Whether what a user says of the ring, or what is left of the firmware's symbols, speaks of
    // this format though `find` finds nothing: then its error says most. NULL: no.
    bool (*is_meant)(const struct extract_ring *ring, const struct extract_symbols *symbols);
    // Reads and checks the header at an address that the caller vouches for.
    enum extract_code (*at)(struct extract_ring *ring, struct extract_memory *memory,
                            struct extract_symbols *symbols, uint64_t address,
                            struct extract_error *error);
    // What the firmware's symbols add to a ring that was found without them, or by them.
    void (*join)(struct extract_ring *ring, struct extract_symbols *symbols);
    // Whether `bytes` (length of them, from `address`) look like a header at all, and whether they
    // are one by every check.
    bool (*looks)(const uint8_t *bytes, size_t length);
    bool (*is)(struct extract_ring *ring, const uint8_t *bytes, size_t length, uint64_t address);
    // Where not NULL: what such a header does not tell is read. False: it is none, or is found by
    // another one.
    bool (*complete)(struct extract_ring *ring, struct extract_memory *memory);
    bool streams;   // one header leads to several rings; extract_ring_options may say which
    bool has_cores; // an entry says which core made it

    // Entries of different lengths; NULL: all have the same. With it, the judges and `same` are
    // NULL.
    const struct extract_stream *stream;

    // Judges every entry of a copied ring. `pointer` is the writer's place after the copy (the
    // live pointer where it is known), `stopped` says that the target stood meanwhile.
    void (*judge)(struct extract_snapshot *snapshot, uint64_t pointer, bool stopped);

    // Judges the entries of a log's block, which a recorder took for whole and final: all of them
    // were written.
    void (*judge_kept)(struct extract_snapshot *snapshot);

    // Whether two readings of one slot are of the same entry. What services fill in later may
    // differ.
    bool (*same)(const struct extract_ring *ring, const uint8_t *before, const uint8_t *after);

    // Event types; `id` may be anything. Never NULL.
    const struct extract_event_type *(*type)(uint32_t id);
    // What an id means for the scheduler. NULL, also of an id: nothing (see extract_format_role).
    const struct extract_role_fields *(*role)(uint32_t id);
    // Registry slot `slot` to an object; false when it was never used. *name is not NUL-ended.
    // NULL: rings of this format have no registry.
    bool (*object)(const struct extract_snapshot *snapshot, uint32_t slot,
                   struct extract_object *object, const uint8_t **name, size_t *name_bytes);
    // The raw stamp of a slot, where there is no stream (see extract_snapshot_stamp).
    uint64_t (*stamp)(const struct extract_snapshot *snapshot, uint32_t slot);
    // Decodes slots [slot, slot + count) that are all valid: everything but seq, ticks and flags.
    void (*decode)(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                   struct extract_event *events);
    // What an event tells of names. False, or NULL: nothing.
    bool (*tell)(const struct extract_event *event, struct extract_told *told);
    // Gives the items of an event to `take`, and their number (of user events). False, or NULL: it
    // has none.
    bool (*items)(const struct extract_event *event, extract_item_taker *take, void *context,
                  uint32_t *number);
    // The event that another one speaks of, with its arguments. False, or NULL: it is of none.
    bool (*inner)(const struct extract_snapshot *snapshot, const struct extract_event *event,
                  struct extract_event *inner);
    // Gives the names that the firmware's ELF has for signals to `take` (which returns false when
    // memory is short), and says how that is known. `numbers` are those that the trace holds.
    // Errors: USAGE, NOMEM. NULL: the format has no signals.
    enum extract_code (*name_signals)(const struct extract_ring *ring,
                                      struct extract_symbols *symbols,
                                      const struct extract_numbers *numbers,
                                      extract_name_taker *take, void *context,
                                      struct extract_signals *signals, struct extract_error *error);
    // The number that the ELF's source gives to a signal of that name. False, or NULL: none.
    bool (*signal_number)(struct extract_symbols *symbols, const char *name, uint64_t *number);
    bool names_members;      // what lies inside of a variable is called by its member: "ao.equeue"
    uint32_t user_ids;       // the id of user event 0, where user events have names; else 0
    bool users_share;        // user events without a template of their own have that of number 0
    const char *thread_type; // type_name of the objects that events are of; NULL: "thread"
    // Appends the text that a value of EXTRACT_KIND_TEXT stands for. False, or NULL: there is none.
    bool (*text)(const struct extract_snapshot *snapshot, uint64_t value,
                 struct extract_text *text);
    // The control block's name pointer for the object at an address: where in target memory the
    // name's address stands, and how many bytes long that pointer is. False when unknown.
    bool (*name_pointer)(const struct extract_ring *ring, struct extract_memory *memory,
                         struct extract_symbols *symbols, uint64_t address, uint64_t *name);

    const struct extract_follow *follow; // NULL: its rings cannot be followed

    const struct extract_target_words *target; // NULL: it has none
    // The priority that memory and ELF tell of the thread at an address. False, or NULL: none.
    bool (*priority)(struct extract_memory *memory, struct extract_symbols *symbols,
                     uint64_t address, uint16_t *priority);

    // Which way stamps count; NONE: found out.
    enum extract_direction direction;
    // How event ids are hook ids, and an event as what templates see, where the format has its own
    // way (NULL: it has not): false when the event is none of its own. `room` has
    // EXTRACT_ENTRY_ROOM bytes; the entry holds as long as these and the event.
    enum extract_hook_space hooks;
    bool (*entry)(const struct extract_ring *ring, const struct extract_event *event,
                  struct extract_entry *entry, uint8_t *room);
    // The id of the mark of a loss that an entry of a report was made of; 0, or NULL: of none.
    uint32_t (*kept)(const struct extract_ring *ring, const struct extract_event *event);
};

const struct extract_format *extract_format_by_name(const char *name); // NULL: unknown
const struct extract_format *extract_format_at(size_t i);              // NULL: no more

// What an id means for the scheduler.
static inline const struct extract_role_fields *
extract_format_role(const struct extract_format *format, uint32_t id)
{
    static const struct extract_role_fields none = {EXTRACT_ROLE_NONE, -1, -1, -1, -1};
    const struct extract_role_fields *role = format->role ? format->role(id) : NULL;
    return role ? role : &none;
}

// The raw stamp of a slot. Of a stream's entries the index has it.
static inline uint64_t extract_snapshot_stamp(const struct extract_snapshot *snapshot,
                                              uint32_t slot)
{
    const struct extract_format *format = snapshot->ring.format;
    return format->stream ? snapshot->index[slot].stamp : format->stamp(snapshot, slot);
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
