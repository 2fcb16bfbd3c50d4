// SPDX-License-Identifier: MIT
// formats: the interface between a trace format and the rest of the library.
//
// A format is one directory with one `struct extract_format`, and one line in formats.c;
// docs/architecture.md, "A new trace format", lists the other steps. It knows how its ring is found
// in target memory, how its entries are copied and validated, and what their bytes mean. It knows
// nothing of GDB, OpenOCD or files.
//
// The structs below are in the order in which a trace passes through them:
//
//   struct extract_format             finds a ring, decodes its entries; points to all of the below
//   struct extract_slot_ring          a ring whose entries all have the same size (slots)
//   struct extract_stream             a ring of bytes whose entries differ in length
//     struct extract_counted_ring       ... that can be followed by the counters in its header
//     struct extract_terminated_ring    ... that can be followed by a byte that ends each entry
//   struct extract_scheduler          what its events mean for the scheduler
//   struct extract_describing_entries entries that describe values and other entries
//   struct extract_target_filter      the filter that the target itself has
//   struct extract_hook_entries       how an event is presented to report templates
//   struct extract_encoder            writes events as entries of a merged log
//
// A format provides `slots` or `stream`, and any of the others. Everything that a callback gets may
// come from a damaged target: it checks each size and offset (base/cursor.h), and it never writes
// to the target. Unless a comment says otherwise, no argument is NULL, and what an argument points
// to is valid only during the call. Results in arguments are valid only if the call succeeds.
#ifndef EXTRACT_FORMATS_FORMAT_H
#define EXTRACT_FORMATS_FORMAT_H

#include "formats/figures.h"
#include "formats/role_tables.h"
#include <extract/templates.h>
#include <extract/text.h>
#include <extract/trace.h>

enum {
    EXTRACT_HEADER_MAX = 128,                          // bytes of any format's control header
    EXTRACT_DESCRIPTION_MAX = EXTRACT_HEADER_MAX + 16, // bytes of a ring's description in a log
    EXTRACT_RING_LIMIT = 256 * 1024 * 1024,            // bytes of a ring; larger ones are refused
    EXTRACT_ENTRY_CAPACITY = 65536 + 64                // bytes of the largest hook entry
};

// ---- Rings of slots ----

// What a stored write position means: a valid position; the trace is disabled; not a position.
enum extract_head { EXTRACT_HEAD_AT = 0, EXTRACT_HEAD_OFF, EXTRACT_HEAD_WILD };

// A ring of slots, each of which holds one entry of the same size. The writer fills the slots in
// order, wraps at the end, and moves the write position past a slot after it has written the slot.
// Kernel services may patch words of an entry later.
//
// The snapshot calls `validate` once per copy; the reader of a log calls `validate_recorded` once
// per block. All other callbacks serve the ring follower (snapshot/follower.h) and the recorder;
// the snapshot also uses is_same and stamp. In them, `entry`, `before` and `after` are the
// ring.entries.slot_bytes bytes of one slot.
struct extract_slot_ring {
    // Sets snapshot->verdict for all entries of a copied ring, and `current`, `wrapped`, `moved`
    // and `moved_entries`. On entry, each verdict is EXTRACT_GOOD or EXTRACT_UNREADABLE_ENTRY.
    // `pointer` is the write position after the copy as an address; if the live position is not
    // known, it is the header's. If `stopped`, the target did not run during the copy.
    void (*validate)(struct extract_snapshot *snapshot, uint64_t pointer, bool stopped);
    // Sets the verdicts of the entries of a log block. The recorder found them complete and final.
    void (*validate_recorded)(struct extract_snapshot *snapshot);
    // Returns whether two readings of one slot show the same entry. Words that services patch may
    // differ.
    bool (*is_same)(const struct extract_ring *ring, const uint8_t *before, const uint8_t *after);
    uint32_t anchor_words; // words at a slot's start that differ from one entry to the next in it
    // Returns the address of the write position: the live one, or the header's copy. Sets *bytes to
    // its width, at most 8.
    uint64_t (*head_address)(const struct extract_ring *ring, bool live, unsigned *bytes);
    // Interprets the value that was read there. For EXTRACT_HEAD_AT, sets *place to the number of
    // the slot that is written next.
    enum extract_head (*head)(const struct extract_ring *ring, bool live, uint64_t raw,
                              uint64_t *place);
    // Returns whether the slot was ever written.
    bool (*is_written)(const struct extract_ring *ring, const uint8_t *entry);
    // Returns the raw timestamp of an entry.
    uint64_t (*stamp)(const struct extract_ring *ring, const uint8_t *entry);
    // Returns which words of this entry may be patched later: bit i stands for the i-th word.
    uint32_t (*late_words)(const struct extract_ring *ring, const uint8_t *entry);
    // Stores the addresses of the objects that the entry refers to, at most EXTRACT_NAMED, and
    // returns how many. The recorder reads the registry again when one of them is new.
    size_t (*objects)(const struct extract_ring *ring, const uint8_t *entry, uint64_t *addresses);
    // Returns whether the entry reports that an object was created. Its address may be that of an
    // object that was deleted, so the recorder reads the registry again.
    bool (*creates_object)(const struct extract_ring *ring, const uint8_t *entry);
};

enum { EXTRACT_NAMED = EXTRACT_FIELDS_MAX + 1 };

// ---- Rings of bytes ----

// The positions and counts in the header of a ring of bytes. Positions count the bytes that were
// ever written, modulo 2^32; in the buffer, a position is found at its value modulo the buffer's
// length. Counts are of entries, modulo 2^32.
struct extract_ring_counters {
    uint32_t tail, head; // positions where the oldest complete entry and the next entry begin
    uint32_t written;    // entries that were written
    uint32_t lost;       // entries that the writer had to drop
    uint32_t generation; // changes whenever the ring is cleared
    bool running;        // recording is on
    bool keeps_oldest;   // a full ring drops new entries instead of overwriting old ones
    // `written`, `lost` and `running` are not known. Entries may have numbers of their own instead.
    bool has_no_counts;
    bool tail_may_be_inside_entry; // an entry need not begin at `tail`
    // The writer itself counts what was overwritten, because entries may also be taken out by
    // readers: `overwritten` entries were lost, and `full` is the writer's own state.
    bool has_overwritten_count;
    uint32_t overwritten;
    bool full;             // with has_no_counts: the oldest entries were overwritten
    bool head_lapped_tail; // head and tail contradict each other (see read_counters)
    bool unbound;          // no controller created this stream of a process: nothing is recorded
};

// How a ring of bytes is followed if its header counts positions and entries (see
// extract_ring_counters).
struct extract_counted_ring {
    // The part of the header that changes: bytes [live_from, live_to) from the header's start.
    uint32_t live_from, live_to;
    // Returns the length of the entry at the start of `bytes`, of which `left` bytes are available.
    // Returns 0 if no entry begins there or it is not all available.
    uint32_t (*length)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left);
    const struct extract_open_entries *open; // NULL: all entries before `head` are finished
};

// A writer that moves `head` past an entry before it has finished it. Entries of such a ring must
// be recognizable from their bytes.
struct extract_open_entries {
    // Returns the number of bytes before the first entry that its writer has not finished.
    uint32_t (*finished)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
    // Returns whether the writer has begun an entry at the position `head`. `bytes` are the 4 bytes
    // there.
    bool (*is_begun)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t head);
    // Searches the `length` bytes before the position `end`, where an entry ends, backwards for
    // entries. Returns the number of bytes before the first entry found; `length` if none is found.
    uint32_t (*boundary)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                         uint32_t end);
    // Stores the number or address of what an entry names. Returns false if it names nothing.
    bool (*object)(const struct extract_ring *ring, const uint8_t *entry, uint32_t length,
                   uint64_t *address);
};

// How a ring of bytes without counters is followed if each entry ends with a byte that occurs
// nowhere else.
struct extract_terminated_ring {
    uint8_t terminator;
    // Returns the address of the writer's pointer into the buffer, and sets *bytes to its width, at
    // most 8. Returns 0 if this ring cannot be followed.
    uint64_t (*pointer)(const struct extract_ring *ring, unsigned *bytes);
    // Returns the number of an entry, modulo 256. `bytes` are those before the terminator. Returns
    // -1 if the entry has no number.
    int (*number)(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);
};

// A ring of bytes, whose entries differ in length. Its `entries` span the buffer; slot_bytes is 0,
// and count is 0 until the ring is copied. The copy has an index (struct extract_extent) whose i-th
// element stands for slot i of a slot ring in everything that follows: verdicts, counts, decoding
// and timestamps.
//
// The snapshot calls these callbacks in this order: slack_bytes; read_counters and, of a running
// target, read_live; it copies the buffer; read_live and read_counters again; resolve_layout; walk;
// note_verdicts; copy_side_data. What is between the later tail and the earlier head is complete:
//
//        tail before   tail after                head before    head after
//   ─────────┼─────────────┼──────────────────────────┼─────────────┼─────
//            │ overwritten │  complete, and unchanged │ written     │
//            │ meanwhile   │  during the copy         │ meanwhile   │
//
// This holds only if the writer moves `tail` before it overwrites the bytes after it, and `head`
// after an entry is complete. A walk that starts at `tail` then meets every entry. A writer without
// a tail (RKH) provides a position that it cannot have reached yet, and sets
// tail_may_be_inside_entry.
struct extract_stream {
    // Returns how many bytes `walk` needs after the ring's own bytes in the copy. It joins entries
    // there that are not contiguous: those that pass the buffer's end, or contain escapes.
    uint64_t (*slack_bytes)(const struct extract_ring *ring);
    // Reads the words of the header that change into `header`, at their offsets in the header.
    // Returns false if they cannot be read.
    bool (*read_live)(struct extract_memory *memory, const struct extract_ring *ring,
                      uint8_t *header);
    // Extracts the counters from the header's bytes. Returns false if they contradict each other,
    // as may happen when the writer runs while they are read. If head_lapped_tail is also set, each
    // word may be correct: the writer made a full lap between the reads of two of them.
    bool (*read_counters)(const struct extract_ring *ring, const uint8_t *header,
                          struct extract_ring_counters *counters);
    // Whether the newest byte of the buffer must be used to test if a large ring is readable;
    // otherwise the last one is used.
    bool newest_is_known;
    // Copies data of the ring that is not stored next to it into the copy, before the buffer. The
    // buffer is at the end of the copy.
    void (*copy_side_data)(struct extract_snapshot *snapshot, struct extract_memory *memory);
    // Determines the layout of entries from the bytes between two positions, and stores it in
    // snapshot->ring. Errors: BAD, NOMEM.
    enum extract_code (*resolve_layout)(struct extract_snapshot *snapshot, uint32_t from,
                                        uint32_t to, struct extract_error *error);
    // Finds the entries between two positions and passes each to extract_snapshot_note, oldest
    // first: valid entries, and the bytes between them as damaged ones. If `is_boundary`, an entry
    // begins at `from`; otherwise the bytes before the first entry found are skipped. Returns false
    // if memory runs out. The recorder's log is walked in the same way.
    bool (*walk)(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool is_boundary);
    // Returns the significant bits in the timestamps of entries that have a layout
    // (extract_extent.layout). Returns 0 for those of the ring.
    uint64_t (*stamp_mask)(const struct extract_ring *ring, unsigned layout);
    // Returns whether entries of a layout have no timestamps although those of other layouts do.
    bool (*is_untimed)(const struct extract_ring *ring, unsigned layout);
    // Recomputes what entries from index `from` on inherit from their neighbors. Called after
    // entries that are in an unreadable part of the ring have got their verdicts.
    void (*note_verdicts)(struct extract_snapshot *snapshot, uint32_t from);
    // Stores the description of the ring for a log: bytes from which the format's read_header
    // restores the ring. Returns their number; 0 if the header's own bytes are sufficient.
    uint32_t (*describe)(const struct extract_ring *ring, uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);
    // How the ring is followed. At most one is set. If both are NULL, the ring cannot be
    // recorded.
    const struct extract_counted_ring *counted;
    const struct extract_terminated_ring *terminated;
};

// Defaults for members of extract_stream, for formats that do not need them (defaults.c).
void extract_stream_has_no_side_data(struct extract_snapshot *snapshot,
                                     struct extract_memory *memory);
enum extract_code extract_stream_has_one_layout(struct extract_snapshot *snapshot, uint32_t from,
                                                uint32_t to, struct extract_error *error);
uint64_t extract_stream_has_one_mask(const struct extract_ring *ring, unsigned layout);
bool extract_stream_has_all_stamps(const struct extract_ring *ring, unsigned layout);
void extract_stream_ignores_verdicts(struct extract_snapshot *snapshot, uint32_t from);
uint32_t extract_stream_has_a_header(const struct extract_ring *ring,
                                     uint8_t bytes[EXTRACT_DESCRIPTION_MAX]);
// Reads bytes [live_from, live_to) of the header: the read_live of all counted rings.
bool extract_stream_read_counters(struct extract_memory *memory, const struct extract_ring *ring,
                                  uint8_t *header);

// Returns whether rings of bytes in this format can be recorded.
static inline bool extract_stream_is_recorded(const struct extract_stream *stream)
{
    return stream && (stream->counted || stream->terminated);
}

// ---- Entries that describe something ----

// The name of an object, as reported by an entry of the trace.
struct extract_name_entry {
    bool restarted; // the target was reset: no earlier name is valid from here on
    // What object.address is: OBJECT for an address, or a kind of numbers that have names (SIGNAL,
    // POOL, USER_EVENT).
    enum extract_kind kind;
    // The object: its address, type, type_name and, if it is reported, priority are set.
    struct extract_object object;
    const uint8_t *name; // not NUL-terminated; owned by the event; NULL if none is reported
    size_t name_bytes;
};

// A value of a user event, with its type.
struct extract_item {
    const char *format;     // the type's name: "i16", "str"
    enum extract_kind kind; // HEX, DEC, or a kind that has names; NONE for bytes and texts
    bool text, negative;
    uint64_t value; // the absolute value
    const uint8_t *bytes;
    uint32_t length; // of `bytes`
};

typedef void extract_item_callback(void *context, const struct extract_item *item);

// Returns the key under which a number of a kind is stored among addresses. Addresses never have
// these upper bits.
static inline uint64_t extract_number_key(enum extract_kind kind, uint64_t number)
{
    return ((uint64_t)0xE000 + kind) << 48 | (number & UINT64_C(0xFFFFFFFFFFFF));
}

// Returns whether a key stands for a number.
static inline bool extract_key_is_number(uint64_t key)
{
    return key >> 48 > 0xE000 + EXTRACT_KIND_TEXT && key >> 48 < 0xE000 + EXTRACT_KIND_ACTION;
}

// Returns the number that a key stands for.
static inline uint64_t extract_key_number(uint64_t key)
{
    return key & UINT64_C(0xFFFFFFFFFFFF);
}

// Computes the key of what a value of a kind refers to. Returns false if it refers to nothing that
// events give a name to.
static inline bool extract_value_key(enum extract_kind kind, uint64_t value, uint64_t *key)
{
    bool number = kind == EXTRACT_KIND_SIGNAL || kind == EXTRACT_KIND_USER_EVENT ||
                  (kind == EXTRACT_KIND_POOL && value != EXTRACT_NO_POOL);
    *key = number ? extract_number_key(kind, value) : value;
    return number || kind == EXTRACT_KIND_OBJECT;
}

// ---- The index of a copied ring of bytes ----

// Makes capacity for `more` entries in the index. Returns false if memory runs out.
bool extract_snapshot_reserve(struct extract_snapshot *snapshot, uint32_t more);

// Appends an entry to the index. Returns false if memory runs out. It is defined here so that the
// compiler can inline it into the walks, which build each extent in place.
static inline bool extract_snapshot_note(struct extract_snapshot *snapshot,
                                         const struct extract_extent *place,
                                         enum extract_verdict verdict)
{
    uint32_t at = snapshot->ring.entries.count;
    if (at == snapshot->index_capacity && !extract_snapshot_reserve(snapshot, 1))
        return false;
    snapshot->index[at] = *place;
    snapshot->verdict[at] = (uint8_t)verdict;
    snapshot->ring.entries.count = at + 1;
    return true;
}

// ---- Names of numbers ----

// A number of a kind that has names, and the name that an entry reports for it (NULL: none).
struct extract_number {
    uint64_t value;
    const char *name;
};

// The numbers of one kind that occur in a trace, ascending, without duplicates.
struct extract_numbers {
    const struct extract_number *list;
    size_t count;
};

typedef bool extract_name_callback(void *context, uint64_t number, const char *name);

// ---- The target's own filter ----

// What a term of a target's own filter selects.
enum extract_target_kind {
    EXTRACT_TARGET_GROUP,
    EXTRACT_TARGET_EVENT,
    EXTRACT_TARGET_OBJECT, // a thread, by its name or its priority
    EXTRACT_TARGET_SIGNAL,
    EXTRACT_TARGET_KINDS,
    EXTRACT_TARGET_NONE = EXTRACT_TARGET_KINDS
};

// A list of names for a message, separated by commas, that ends with "..." if not all of them fit.
// Zero-initialize.
struct extract_listing {
    char text[200];
    size_t used;
    bool full;
};

// Appends a name to the list, unless it is the last one already.
void extract_listing_put(struct extract_listing *listing, const char *name);

// The filter that the target itself has. A reader's filters accept the same terms. Called when a
// user's filter is parsed, and when a filter of the target is changed.
struct extract_target_filter {
    const char *all; // the term that selects everything
    // Splits a term such as "group=SMA" into its kind and name. Returns false if it is not such a
    // term.
    bool (*parse)(const char *word, enum extract_target_kind *kind, const char **name);
    // Returns whether a name or pattern matches an event, or the event's group.
    bool (*fits)(enum extract_target_kind kind, uint32_t id, const char *pattern);
    // Lists the names of all groups, or of the events whose names resemble the pattern.
    void (*list)(enum extract_target_kind kind, const char *pattern,
                 struct extract_listing *listing);
    // Looks up the number of a signal in the firmware's DWARF. Returns false if there is none.
    bool (*signal_number)(struct extract_symbols *symbols, const char *name, uint64_t *number);
};

// ---- Meaning ----

// Which of two priorities is the more urgent one.
enum extract_priority_order {
    EXTRACT_PRIORITY_ORDER_UNKNOWN = 0,
    EXTRACT_PRIORITY_LOW_FIRST, // the one with the lower number
    EXTRACT_PRIORITY_HIGH_FIRST
};

// What a format's events mean for the kernel that wrote them.
struct extract_scheduler {
    // What event ids mean for the scheduler, by id, and how many ids there are. NULL: `translate`
    // is set.
    const struct extract_role_fields *roles;
    const uint32_t *role_count;
    // Returns the type of the objects that a field of an event, from 0 on, refers to; 0: any. Type
    // 1 is that of threads, others are those of the registry. NULL: no event creates an object.
    uint32_t (*field_type)(const struct extract_event_type *type, unsigned field);
    // Returns whether a target that records events of this type also records those that create
    // threads: one filter chooses both. NULL: not known.
    bool (*is_thread_service)(const struct extract_event_type *type);
    // Returns what an event means for the scheduler, or NULL for nothing. Replaces the fields of
    // the event by those that the role needs. Its other members stay as they are.
    const struct extract_role_fields *(*translate)(const struct extract_ring *ring,
                                                   struct extract_event *event);
    // Returns whether events of this type show that others may not have been recorded next to it:
    // the recorder stopped or started, or records other types now. NULL: no type does.
    bool (*is_control)(const struct extract_event_type *type);
    // Returns whether entries need not state the thread or interrupt in which they were recorded,
    // so that it follows from the switches and interrupts before them. What an entry does state
    // is valid, except its thread while the core is idle. NULL: they state it.
    bool (*lacks_context)(const struct extract_ring *ring);
    // Returns whether no event shows that a thread waits, so that a thread without a core may wait
    // or be ready. NULL: events show it.
    bool (*lacks_waits)(const struct extract_ring *ring);
    // What a user can do if no event shows a schedule; NULL: record more.
    const char *way_out;
    bool has_steps; // threads are active objects: they process one message after the other
    // Each switch is an event: without one, the events do not show who ran in between.
    bool needs_switches;
    // Figures of libraries on the kernel; the last one has no family.
    const struct extract_figure *figures;
    // Name of the thread in which the kernel ends waits whose time is over; NULL: none.
    const char *timer_thread;
    enum extract_priority_order order; // of priorities; UNKNOWN: depends on the kernel
    // Type of mutexes in registries, where their first parameter is not 0 if threads inherit
    // priorities by them; 0: not known.
    uint32_t mutex_type;
    // Reads the present priority of the thread at an address from its control block. Returns the
    // order of priorities; UNKNOWN: the priority is not known. NULL: it is not in control blocks.
    enum extract_priority_order (*priority)(struct extract_memory *memory,
                                            struct extract_symbols *symbols, uint64_t address,
                                            uint16_t *priority);
    // Pattern of the names of the threads that run while a core is idle; NULL: none.
    const char *idle_threads;
    // Finds the pointer to the name in the control block of the object at an address. Sets *name to
    // the name's address in target memory. Called for threads that have no name in the registry.
    // Returns false if it is not known. NULL: names are not in control blocks.
    bool (*name_pointer)(const struct extract_ring *ring, struct extract_memory *memory,
                         struct extract_symbols *symbols, uint64_t address, uint64_t *name);
};

// ---- Merged logs ----

// A ring that is to be made: for a log that is merged from several traces, or for events of one.
struct extract_encoded_ring {
    // The rings of the inputs, of the same format.
    const struct extract_ring *const *inputs;
    size_t input_count;
    uint32_t objects, entries;
    uint32_t name_bytes; // of a name in the registry, with its NUL
    unsigned cores;      // of all inputs together
    bool is_wide;        // addresses get bits above those of the targets: the inputs are boards
    bool is_plain;       // words, byte order and timestamps are those of the first input
};

// How the entries of one input are written to the merged log. The merge fills it in.
struct extract_encoding {
    const struct extract_ring *ring;  // of the log
    const struct extract_ring *input; // of the input
    // The number of the board, and the bit from which on its addresses contain that number by
    // exclusive or. The first board has number 0, whose addresses stay as they are.
    unsigned board, board_bit;
    const char *prefix; // goes before the names of its objects, with a "/"; NULL: none
    bool is_untimed;    // entries have no timestamps, and must not get any
    uint8_t sequence;   // number of the entry, modulo 256
    // Returns what a number of a kind (USER_EVENT, SIGNAL, POOL), or the id of a process (DEC), is
    // in the log.
    uint64_t (*number)(const void *context, enum extract_kind kind, uint64_t number);
    const void *context;
};

// Returns an address, which may be an id of a thread, as the log has it. 0 and all ones stand for
// nothing.
static inline uint64_t extract_encode_address(const struct extract_encoding *encoding,
                                              uint64_t address)
{
    if (!encoding->board || !address || address == UINT32_MAX || address == UINT64_MAX)
        return address;
    return address ^ (uint64_t)encoding->board << encoding->board_bit;
}

enum { EXTRACT_ENCODED_CAPACITY = 1 << 18 }; // bytes of the largest entry that is written

// Writes events and objects as bytes, with timestamps of 64 bits unless the ring is plain. In
// events, the merge has replaced timestamp, core, thread and the fields of kind OBJECT and CODE by
// those of the log; `data` is that of the input.
struct extract_encoder {
    // Fills in a ring with its header. Errors: BAD (the ring would be too large), USAGE (the inputs
    // do not fit together).
    enum extract_code (*ring)(struct extract_ring *ring, const struct extract_encoded_ring *wanted,
                              struct extract_error *error);
    // Writes an object with a name of the caller to a slot of the registry. NULL: the ring has no
    // registry of objects.
    void (*object)(const struct extract_ring *ring, const struct extract_object *object,
                   const char *name, uint8_t *slot);
    // Writes an event with the timestamp raw_stamp. Returns the number of bytes, at most
    // EXTRACT_ENCODED_CAPACITY; 0 if the log cannot hold the event. Slot rings: slot_bytes.
    uint32_t (*entry)(const struct extract_encoding *encoding, const struct extract_event *event,
                      uint8_t *to);
    // Passes the numbers of signals and pools that an event has to `take`. NULL: it has none.
    void (*numbers)(const struct extract_event *event,
                    void (*take)(void *context, enum extract_kind kind, uint64_t number),
                    void *context);
    // Returns whether an entry has a timestamp of its own, and not that of its neighbor. NULL: all
    // entries have one.
    bool (*has_stamp)(const struct extract_event *event);
    // Byte rings: the byte that must precede the first entry after a gap; 0: none.
    uint8_t separator;
    uint32_t user_events; // maximum of numbers of user events; 0: they have no numbers
    bool has_names;       // the log has a table of their names; otherwise, entries name them
    uint32_t pools;       // maximum of numbers of pools
};

// Types of events that only the names in a trace tell.
struct extract_named_types {
    // Returns the type of a name; NULL: it is a user event like any other.
    const void *(*find)(const char *name);
    // Gives an event, which was decoded as a user event, this type and its fields, unless its data
    // contradict the type.
    void (*apply)(const void *type, const struct extract_ring *ring, struct extract_event *event);
    // Returns the type of the events to which it is given.
    const struct extract_event_type *(*events)(const void *type);
    // Returns the order of priorities that the mere presence of the type states.
    enum extract_priority_order (*order)(const void *type);
};

// Entries that describe values, and the arguments of other entries.
struct extract_describing_entries {
    // Passes the values of a user event to `take` (may be NULL), and sets *number to the number of
    // the user event. Returns false if the event is not a user event.
    bool (*items)(const struct extract_event *event, extract_item_callback *take, void *context,
                  uint32_t *number);
    // Constructs the event that another event describes, with its arguments. Returns false if it
    // describes none.
    bool (*inner)(const struct extract_snapshot *snapshot, const struct extract_event *event,
                  struct extract_event *inner);
    // Appends the text that a value of EXTRACT_KIND_TEXT stands for. Returns false if there is
    // none.
    bool (*text)(const struct extract_snapshot *snapshot, uint64_t value,
                 struct extract_text *text);
    // Passes the names that the firmware's ELF has for signals to `take`, which returns false if
    // memory runs out. Describes in *signals how they were found. `numbers` are those in the trace.
    // Errors: USAGE, NOMEM.
    enum extract_code (*name_signals)(const struct extract_ring *ring,
                                      struct extract_symbols *symbols,
                                      const struct extract_numbers *numbers,
                                      extract_name_callback *take, void *context,
                                      struct extract_signals *signals, struct extract_error *error);
};

// How an event is presented to report templates: as an entry of a trace hook. Called once per
// printed event.
struct extract_hook_entries {
    // Makes the hook entry of an event. Returns false if the event is not one of the format's own.
    // `buffer` has EXTRACT_ENTRY_CAPACITY bytes. The entry borrows from `buffer` and the event.
    bool (*make)(const struct extract_ring *ring, const struct extract_event *event,
                 struct extract_entry *entry, uint8_t *buffer);
    // Returns the id of the loss marker that was saved as this event by `report -r`; 0 if the event
    // is not such a marker.
    uint32_t (*loss_mark)(const struct extract_ring *ring, const struct extract_event *event);
};

// Default for loss_mark: no event is a saved marker.
uint32_t extract_hook_entry_is_no_mark(const struct extract_ring *ring,
                                       const struct extract_event *event);

// ---- The format ----

// The memory in which a damaged ring is.
struct extract_rebuild {
    uint64_t from, to; // addresses
    bool is_header;    // the header begins at `from`; otherwise the memory is searched for the ring
};

// A trace format. The members without "NULL:" in their comments must be set; defaults.c has
// defaults for those that a format does not need.
struct extract_format {
    const char *name;   // for options and JSON: "threadx"
    const char *title;  // for messages: "ThreadX event trace"
    const char *suffix; // of dump files, without the period: "trx"

    // ---- Finding (formats/trace_ring.c) ----

    // In `find` and `read_header`, *ring is zero except for what the user requested (rkh,
    // posix.wanted). On success they fill in all of it that does not depend on apply_symbols.

    // Finds the ring through the firmware's symbols; NULL symbols give NOTFOUND. Called for each
    // format in turn until one succeeds. Errors: NOTFOUND (not this format), ABSENT (the trace was
    // never started), BAD (what the symbols lead to is not a ring), UNREADABLE, NOMEM.
    enum extract_code (*find)(struct extract_ring *ring, struct extract_memory *memory,
                              struct extract_symbols *symbols, struct extract_error *error);
    // Returns whether the user's settings or the firmware's symbols suggest this format although
    // `find` failed. Its error is then the one that is reported.
    bool (*is_meant)(const struct extract_ring *ring, const struct extract_symbols *symbols);
    // Reads and checks the header at an address that the user or the input file names. `symbols`
    // may be NULL.
    enum extract_code (*read_header)(struct extract_ring *ring, struct extract_memory *memory,
                                     struct extract_symbols *symbols, uint64_t address,
                                     struct extract_error *error);
    // Adds what the firmware's symbols show to a ring. Called last, however the ring was found.
    void (*apply_symbols)(struct extract_ring *ring, struct extract_symbols *symbols);
    // The numbers that headers begin with, in either byte order; 0: none. A scan compares every
    // aligned word of the memory with them.
    uint32_t magics[2];
    // Returns whether `bytes`, which are stored at `address`, pass every check of a header, and
    // fills in *ring. A scan calls it where a word is one of `magics`.
    bool (*is_valid_header)(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                            uint64_t address);
    // Does the same, except that the header states another address than the one where it is stored.
    // NULL: headers state none.
    bool (*is_moved_header)(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                            uint64_t address);
    // Returns whether the header of a ring contradicts its entries: a word of it is damaged. NULL:
    // it is not checked. Only called for a target that does not run.
    bool (*contradicts)(const struct extract_ring *ring, struct extract_memory *memory);
    // Rebuilds a ring whose header is damaged, from what is consistent: intact words, other
    // variables, and the entries. As in `find`, *ring has only what the user requested; on success,
    // ring->header is the header as it was, as far as that is known. `symbols` may be NULL. Returns
    // false if there are no entries, or if more than one layout fits them. NULL: not done here.
    // Only called for a target that does not run.
    bool (*rebuild)(struct extract_ring *ring, struct extract_memory *memory,
                    struct extract_symbols *symbols, const struct extract_rebuild *where);
    const char *symbol; // variable that begins with the header; NULL: none
    // Reads what the header does not contain of a ring that a scan found. Returns false if there is
    // no ring after all, or if it is found through another header.
    bool (*complete)(struct extract_ring *ring, struct extract_memory *memory);

    // ---- Decoding: called with a complete snapshot ----

    // Returns the type of an event, never NULL. `id` may be any value.
    const struct extract_event_type *(*type)(uint32_t id);
    // Decodes slots [slot, slot + count), whose verdicts are all valid, into `count` events. It
    // sets all members except seq, ticks and flags.
    void (*decode)(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                   struct extract_event *events);
    // Decodes slot `slot` of the registry into *object. *name is set to its name in the snapshot,
    // which is not NUL-terminated. Returns false if the slot was never used. Not called if the ring
    // has no registry.
    bool (*object)(const struct extract_snapshot *snapshot, uint32_t slot,
                   struct extract_object *object, const uint8_t **name, size_t *name_bytes);

    // ---- Properties ----

    const struct extract_named_types *named_types; // of user events; NULL: none
    // Extracts the name that an event reports. Returns false if it reports none. NULL: no event
    // reports a name.
    bool (*entry_name)(const struct extract_event *event, struct extract_name_entry *entry);

    // Writes the name that the firmware's source files have for an address, as
    // extract_symbols_describe does. NULL: that function, without members.
    bool (*describe)(struct extract_symbols *symbols, uint64_t address, char *buffer, size_t size);
    // Finds the address that a pointer stored in the ring stands for. Returns false if several may.
    // NULL: extract_ring_address.
    bool (*locate)(const struct extract_ring *ring, const struct extract_symbols *symbols,
                   uint64_t stored, uint64_t *address);

    bool streams;       // one header leads to several rings; an option selects one
    bool has_cores;     // an entry contains the number of the core that wrote it
    uint8_t core_shift; // of several cores, ids contain the core from this bit on; 0: they do not
    uint32_t user_ids;  // id of user event 0, if user events have names; otherwise 0
    bool users_share;   // user events without a template of their own use that of user event 0
    bool has_ownerless; // outside of interrupts, thread 0 means that no thread made the event
    const char *thread_type;          // type_name of the objects that make events: "thread"
    enum extract_direction direction; // which way timestamps count; NONE: derived from the entries
    enum extract_hook_space hooks;    // how event ids are mapped to hook ids
    const char *const *unprinted;     // beginnings of events' names that reports omit, then NULL

    // ---- Parts. NULL: the format does not have it. ----

    const struct extract_slot_ring *slots; // exactly one of `slots` and `stream` is set
    const struct extract_stream *stream;
    const struct extract_scheduler *kernel;
    const struct extract_describing_entries *describing;
    const struct extract_target_filter *target;
    const struct extract_hook_entries *entries; // NULL: templates see the event's words unchanged
    const struct extract_encoder *encoder;      // NULL: traces cannot be merged
};

// Finds the address that a pointer stored in the ring stands for, as `locate` of the format does.
bool extract_format_locate(const struct extract_ring *ring, const struct extract_symbols *symbols,
                           uint64_t stored, uint64_t *address);
// Writes the name of an address that is stored in the ring, as `describe` of the format does.
bool extract_format_describe(const struct extract_ring *ring, struct extract_symbols *symbols,
                             uint64_t stored, char *buffer, size_t size);

// Defaults for members of extract_format: never meant, complete as it is, no registry.
bool extract_format_is_never_meant(const struct extract_ring *ring,
                                   const struct extract_symbols *symbols);
bool extract_format_is_complete(struct extract_ring *ring, struct extract_memory *memory);
bool extract_format_has_no_objects(const struct extract_snapshot *snapshot, uint32_t slot,
                                   struct extract_object *object, const uint8_t **name,
                                   size_t *name_bytes);

// Returns the format of a name; NULL if there is none.
const struct extract_format *extract_format_by_name(const char *name);
// Finds the format of a name. Fails with EXTRACT_USAGE, and a hint that lists the names.
enum extract_code extract_format_find(const struct extract_format **format, const char *name,
                                      struct extract_error *error);
// Returns the i-th format; NULL after the last.
const struct extract_format *extract_format_at(size_t i);

// Sets what the hook words of a ring mean. Fails with USAGE if it is a ring of another format.
enum extract_code extract_ring_set_roles(struct extract_ring *ring,
                                         const struct extract_hook_roles *roles,
                                         struct extract_error *error);

// Returns what an event means for the scheduler, never NULL. The fields that the role names are
// those of **event, which is replaced by *scratch if the format translates its events.
static inline const struct extract_role_fields *
extract_ring_role(const struct extract_ring *ring, const struct extract_event **event,
                  struct extract_event *scratch)
{
    static const struct extract_role_fields none = {.role = EXTRACT_ROLE_NONE};
    const struct extract_scheduler *kernel = ring->format->kernel;
    const struct extract_role_fields *role = NULL;

    if (kernel && kernel->translate) {
        *scratch = **event;
        role = kernel->translate(ring, scratch);
        *event = scratch;
    } else if (kernel) {
        role = (*event)->id < *kernel->role_count ? &kernel->roles[(*event)->id] : &none;
    }
    return role ? role : &none;
}

// Returns the raw timestamp of a slot. For entries of a stream, the index contains it.
static inline uint64_t extract_snapshot_stamp(const struct extract_snapshot *snapshot,
                                              uint32_t slot)
{
    const struct extract_ring *ring = &snapshot->ring;
    if (ring->format->stream)
        return snapshot->index[slot].stamp;
    uint64_t at = ring->entries.start - ring->address + (uint64_t)slot * ring->entries.slot_bytes;
    return ring->format->slots->stamp(ring, snapshot->bytes + at);
}

// A condition that a ring's header must meet: the field that it is about, the field's value, and
// what is wrong with it if the condition does not hold.
struct extract_check {
    bool holds;
    const char *field;
    uint64_t value;
    const char *reason;
};

// Returns OK if all conditions hold, and otherwise BAD with a message about the first that does
// not. `title` names the header at `address` in the message.
enum extract_code extract_checks_run(const struct extract_check *checks, size_t count,
                                     const char *title, uint64_t address,
                                     struct extract_error *error);

extern const struct extract_format extract_format_threadx, extract_format_hook, extract_format_rkh,
    extract_format_posix;

// Returns the word for a value of an enumerated kind ("sleep", "or clear" …); NULL if it has
// none.
const char *extract_kind_word(enum extract_kind kind, uint64_t value);

// Returns the name of a kind of context, such as "thread"; static.
const char *extract_context_name(enum extract_context c);

#endif
