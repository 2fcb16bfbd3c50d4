// SPDX-License-Identifier: MIT
// formats/rkh: the wire format of RKH trace streams, and what the files of this directory share.
//
// A stream is a sequence of frames that end with a flag. A frame shows neither its length nor its
// layout, which depends on settings of the firmware. The files, in the order in which bytes pass:
//
//   ram.c, stream.c, dump.c   find the bytes: a ring in RAM, a raw stream, a saved ring
//   wire.c                    settings: from the user, a trazer.cfg, the firmware
//   resolve.c                 chooses each setting's value, with tcfg.c and infer.c
//   walk.c                    finds and validates the frames, with frame.c
//   rkh.c                     decodes frames to events, with ids.c and args.c
//   encode.c                  encodes events as frames of a merged log
//   names.c                   the names that events report, and how templates see events
//
// Source: docs/formats/rkh.md.
#ifndef EXTRACT_FORMATS_RKH_H
#define EXTRACT_FORMATS_RKH_H

#include "base/cursor.h"
#include "formats/format.h"

enum { RKH_FLAG = 0x7E, RKH_ESCAPE = 0x7D, RKH_XOR = 0x20 };

// Ids that the decoder handles itself, as framework 3.x numbers them.
enum {
    RKH_FWK_OBJ = 166,
    RKH_FWK_SIG = 167,
    RKH_FWK_FUN = 168,
    RKH_FWK_TUSR = 171,
    RKH_FWK_TCFG = 172,
    RKH_FWK_ASSERT = 173,
    RKH_FWK_AO = 174,
    RKH_FWK_STATE = 175,
    RKH_FWK_PSTATE = 176,
    RKH_FWK_TIMER = 177,
    RKH_FWK_EPOOL = 178,
    RKH_FWK_QUEUE = 179,
    RKH_FWK_ACTOR = 180,
    RKH_USER = 192,
    RKH_USER_END = 224,
    RKH_UT_EXPECT = 228,
    RKH_UT_IGNORE_ARG = 231,
    RKH_IDS = 256
};

// The kinds of arguments on the wire. rkh-events.tsv names them after "/".
enum rkh_word {
    RKH_WORD_none = 0, // end of the list
    RKH_WORD_sym,      // address of an object; PTR bytes
    RKH_WORD_sndr,     // address of the sender; present only with SMA_TRC_SNDR_EN
    RKH_WORD_fun,      // address of code; FUN_PTR bytes
    RKH_WORD_sig,
    RKH_WORD_esize,
    RKH_WORD_nblk,
    RKH_WORD_mpnmin, // nblk; present only with MP_GET_LWM_EN
    RKH_WORD_bsize,
    RKH_WORD_nelem,
    RKH_WORD_qnmin, // nelem; present only with QUE_GET_LWMARK_EN
    RKH_WORD_ntick,
    RKH_WORD_pool1, // one byte: the number of an event pool + 1, or 0 for none
    RKH_WORD_u8,
    RKH_WORD_u16,
    RKH_WORD_u32,
    RKH_WORD_str,   // bytes up to a NUL
    RKH_WORD_items, // tagged items up to the end
    RKH_WORD_rest,  // arguments of the event that another argument names
    RKH_WORDS
};

// Ranges of framework versions that have the same ids and arguments.
enum rkh_family {
    RKH_FAMILY_3 = 0, // 3.0.0 to 3.4.00
    RKH_FAMILY_245,   // 2.4.5, 2.4.6
    RKH_FAMILY_244,
    RKH_FAMILY_243,
    RKH_FAMILY_23, // 2.3, 2.4
    RKH_FAMILIES
};

// The settings that determine the layout of frames.
struct rkh_wire {
    uint8_t size[RKH_WORDS]; // bytes of each word on the wire; 0: absent, or of variable size
    uint8_t front;           // bytes between the id and the sequence number; merged logs only
    uint8_t nseq, ts;        // bytes of the sequence number and the timestamp
    bool chk;
    bool is_merged; // the frame is one of a merged log, and contains its settings
    enum rkh_family family;
};

// Frames of merged logs (encode.c). After the id, they contain the packed settings and the number
// of the core, and then what other frames contain.
enum {
    RKH_AT_PACKED = 1,
    RKH_AT_CORE = 5,
    RKH_MERGED_FRONT = 5,
    // Bits of packed settings:
    RKH_PACKED_CHK = 1,
    RKH_PACKED_MERGED = 1 << 26, // a frame of a merged log; timestamps have 8 bytes
    RKH_PACKED_WIDE = 1 << 27    // addresses have 8 bytes, and signals have 4
};

// ---- wire.c: settings ----

// Packs the settings into 32 bits, as they are stored with an index and its events (priority_word),
// and unpacks them.
uint32_t rkh_wire_pack(const struct extract_rkh *rkh);
void rkh_wire_unpack(struct rkh_wire *wire, uint32_t packed);
// Returns the current settings as a layout of the stream.
struct extract_rkh_layout rkh_layout_of(const struct extract_rkh *rkh);
// Returns the layout that packed settings of a merged log describe; the clock's rate and the
// sources are the current ones.
struct extract_rkh_layout rkh_layout_merged(const struct extract_rkh *rkh, uint32_t packed);
// Returns whether packed settings may be those of a frame in a merged log.
bool rkh_packed_is_merged(uint32_t packed);
// Returns the timestamps per second of a layout; 0 if it has no timestamps, or the rate is not
// known or was cut off.
uint64_t rkh_layout_hz(const struct extract_rkh_layout *layout);
// Returns the rate that a TCFG record cut to 16 bits, if the remainder identifies it; otherwise 0.
uint64_t rkh_layout_cut_hz(const struct extract_rkh_layout *layout);
// Sets the timestamp mask and rate of a ring from its layouts: the widest mask, and the rate that
// all layouts with timestamps have in common.
void rkh_layouts_sum_up(struct extract_ring *ring);
// Sets a value unless the present one is from a better source.
void rkh_set(struct extract_rkh *rkh, enum extract_rkh_key key, uint32_t value,
             enum extract_rkh_from from);
// Sets the default of every setting that no source has set.
void rkh_defaults(struct extract_rkh *rkh);
// Sets the sizes and the version from the firmware's ELF.
void rkh_from_symbols(struct extract_rkh *rkh, struct extract_symbols *symbols);
// Returns whether a setting may have a value.
bool rkh_allows(enum extract_rkh_key key, uint64_t number);
// Parses "3.4.00" to 0x3400. Returns false if it is not a version.
bool rkh_version_parse(const char *text, uint32_t *version);
// Returns UNSUPPORTED for versions whose streams cannot be read, such as those before 2.3.
enum extract_code rkh_version_check(uint32_t version, struct extract_error *error);
enum rkh_family rkh_family_of(uint32_t version);

// ---- ids.c: ids and types of events ----

// Returns the id in 3.x that an id of a family stands for; -1 if there is none.
int rkh_id(enum rkh_family family, unsigned id);
// Returns the words of an event's arguments, ended by RKH_WORD_none; NULL if there is no such
// event. Ids are those of 3.x here and below.
const uint8_t *rkh_words(enum rkh_family family, unsigned id);
const struct extract_event_type *rkh_type(uint32_t id);
const struct extract_event_type *rkh_type_on(const struct rkh_wire *wire, unsigned id);

// ---- rkh_schedule.c: what events mean for the schedule ----

extern const struct extract_scheduler rkh_kernel;

// ---- args.c: arguments ----

// The value of an argument, or of an item of a user event.
enum rkh_item_kind {
    RKH_ITEM_NUMBER, // `value`
    RKH_ITEM_SIGNED,
    RKH_ITEM_HEX,
    RKH_ITEM_STRING, // `bytes` and `length`, without the NUL
    RKH_ITEM_MEMORY, // `bytes` and `length`
    RKH_ITEM_OBJECT,
    RKH_ITEM_FUNCTION,
    RKH_ITEM_SIGNAL
};

struct rkh_item {
    enum rkh_item_kind kind;
    enum rkh_word word; // of an argument; RKH_WORD_items for tagged items
    uint8_t tag;        // format of a tagged item, 0 to 11
    uint8_t width;      // width of the field in which a tagged item is printed
    uint64_t value;     // SIGNED: sign-extended
    const uint8_t *bytes;
    uint32_t length;
};

// An iterator over the arguments of an event.
struct rkh_args {
    struct rkh_wire wire;
    const uint8_t *words;
    struct extract_cursor c;
    bool tagged; // the words are consumed, and tagged items follow
};

// Starts with unstuffed bytes, without header and checksum: an event's data. Returns false if there
// is no event with that id.
bool rkh_args_open(struct rkh_args *args, const struct rkh_wire *wire, unsigned id,
                   const uint8_t *bytes, size_t length);
// Starts with the data of a decoded event.
bool rkh_args_of(struct rkh_args *args, const struct extract_event *event);
// Reads the next argument. Returns false after the last, and if the bytes do not fit.
bool rkh_args_next(struct rkh_args *args, struct rkh_item *item);
// Returns whether all bytes were used, and none was missing.
bool rkh_args_fit(const struct rkh_args *args);
// Returns whether bytes are exactly the arguments of an event.
bool rkh_args_match(const struct rkh_wire *wire, unsigned id, const uint8_t *bytes, size_t length);

// ---- frame.c: frames ----

struct rkh_frame {
    uint32_t at, length; // on the wire, without the flag
    uint32_t whole;      // bytes without stuffing
    uint8_t sum;         // sum of these bytes, modulo 256
    bool ended;          // a flag follows
    bool escaped, torn;  // contains escapes; contains an invalid escape
};

// Scans the frame that begins at `at`. `end` bytes are available.
void rkh_frame_scan(struct rkh_frame *frame, const uint8_t *bytes, uint32_t at, uint32_t end);
// Returns the number of frames that end in bytes that begin with a frame.
uint32_t rkh_frame_count(const uint8_t *bytes, uint32_t length);
// Removes the stuffing of a frame. `to` may be the frame's own place.
void rkh_frame_unstuff(const struct rkh_frame *frame, const uint8_t *bytes, uint8_t *to);

enum { RKH_TCFG_ARGS = 13 }; // bytes of a TCFG record's arguments since 2.4.4

// tcfg.c: reads the settings from a TCFG frame of any family. `bytes` is the complete unstuffed
// frame. Returns false if it is not a TCFG frame.
bool rkh_tcfg_read(struct extract_rkh *rkh, const uint8_t *bytes, size_t length);
// Reads the settings from a frame as it was scanned in `bytes`.
bool rkh_tcfg_read_frame(struct extract_rkh *rkh, const struct rkh_frame *frame,
                         const uint8_t *bytes);

// infer.c: finds the settings that no source contains from complete frames. Errors: BAD (the data
// allow several values, which the message lists), NOMEM.
enum extract_code rkh_infer(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length,
                            struct extract_error *error);

// Returns the layout that an event has.
static inline const struct extract_rkh_layout *rkh_layout_at(const struct extract_ring *ring,
                                                             const struct extract_event *event)
{
    return &ring->rkh.layout[event->priority_word >> 32 & (EXTRACT_RKH_LAYOUTS - 1)];
}

// ---- walk.c ----

// Returns the bytes between two positions, contiguous.
uint8_t *rkh_join_bytes(struct extract_snapshot *snapshot, uint32_t from, uint32_t to);
uint64_t rkh_slack_bytes(const struct extract_ring *ring);
uint64_t rkh_stamp_mask(const struct extract_ring *ring, unsigned layout);
bool rkh_is_untimed(const struct extract_ring *ring, unsigned layout);
bool rkh_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary);

// resolve.c: member of extract_stream.
enum extract_code rkh_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                              struct extract_error *error);

// What a ring's header bytes contain: the addresses of its live words, and their values. It is
// private to this directory, and never leaves the process.
struct rkh_live {
    uint64_t in_at, out_at, qty_at, chk_at; // addresses; 0: not known
    uint64_t start;                         // address of the array
    uint32_t size;                          // bytes of the array
    uint32_t head;                          // position that is written next; never below size
    uint32_t pending;                       // bytes before it that were not taken out yet
    uint32_t generation;                    // counts up when the writer has overwritten all bytes
    uint8_t pointer_bytes, qty_bytes;
    uint8_t chk; // running sum of the incomplete frame
    bool chk_known;
    bool stream;        // a raw stream instead of an array
    bool dump;          // a saved array, or one that a log describes: the words do not change
    bool merged;        // a merged log describes it: each frame contains its settings
    uint32_t valid;     // in a dump: bytes before the head that it contains
    uint8_t anchor[16]; // the newest bytes
};

static inline struct rkh_live rkh_live_of(const uint8_t *header)
{
    struct rkh_live live;
    memcpy(&live, header, sizeof live);
    return live;
}

static inline void rkh_live_store(uint8_t *header, const struct rkh_live *live)
{
    memcpy(header, live, sizeof *live);
}

_Static_assert(sizeof(struct rkh_live) <= EXTRACT_HEADER_MAX, "fits into a ring's header");

// ---- ram.c ----
enum extract_code rkh_find(struct extract_ring *ring, struct extract_memory *memory,
                           struct extract_symbols *symbols, struct extract_error *error);
enum extract_code rkh_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                struct extract_symbols *symbols, uint64_t address,
                                struct extract_error *error);
bool rkh_is_meant(const struct extract_ring *ring, const struct extract_symbols *symbols);
// Explains why an ELF does not lead to the ring, and what to do. Returns NOTFOUND.
enum extract_code rkh_explain_missing(const struct extract_symbols *symbols,
                                      struct extract_error *error);
bool rkh_read_live(struct extract_memory *memory, const struct extract_ring *ring, uint8_t *header);
bool rkh_read_counters(const struct extract_ring *ring, const uint8_t *header,
                       struct extract_ring_counters *counters);

// ---- stream.c ----
enum { RKH_STREAM_HEADER = 16 };
bool rkh_stream_at(struct extract_ring *ring, struct extract_memory *memory, uint64_t address);
// Fills in the 16 bytes before a stream in memory, and the positions of a ring that is a stream.
void rkh_stream_head(uint8_t head[static RKH_STREAM_HEADER], size_t length);
void rkh_stream_set_bounds(struct extract_ring *ring, uint64_t start, uint32_t length);

// ---- names.c ----

// Member `name` of extract_describing_entries.
bool rkh_read_name(const struct extract_event *event, struct extract_name_entry *entry);
// Writes the name that the source files have for an address: "server" for the active object
// s_server, "server->equeue" for its queue. Returns false if no symbol covers the address.
bool rkh_describe_address(struct extract_symbols *symbols, uint64_t address, char *buffer,
                          size_t size);
// Returns an address near the firmware's variables, for a 64-bit host that sends the lower halves
// of addresses; 0 for other targets.
// Finds the address of which the target sent the lower bytes. Returns false if there are several,
// or none is known.
bool rkh_locate(const struct extract_ring *ring, const struct extract_symbols *symbols,
                uint64_t stored, uint64_t *address);
uint64_t rkh_find_near(const struct extract_symbols *symbols);

// Member `items` of extract_describing_entries.
bool rkh_items(const struct extract_event *event, extract_item_callback *take, void *context,
               uint32_t *number);
// Member `make` of extract_hook_entries.
bool rkh_entry(const struct extract_ring *ring, const struct extract_event *event,
               struct extract_entry *entry, uint8_t *buffer);

// Members of extract_terminated_ring.
uint64_t rkh_pointer(const struct extract_ring *ring, unsigned *bytes);
int rkh_number(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);

// ---- dump.c ----
enum { RKH_RECORD = 128 };
uint32_t rkh_describe(const struct extract_ring *ring, uint8_t record[EXTRACT_HEADER_MAX]);
bool rkh_dump_at(struct extract_ring *ring, struct extract_memory *memory, uint64_t address);
// Fills in a ring that stands for an array of `bytes` bytes in a merged log.
void rkh_make_merged(struct extract_ring *ring, uint64_t start, uint64_t bytes, bool is_wide);

// ---- encode.c ----
extern const struct extract_encoder rkh_encoder;

// ---- names.c ----
// Returns whether an event gives a name to something other than a type of user events.
bool rkh_names_object(unsigned id);
enum extract_code rkh_dump(struct extract_text *text, const struct extract_snapshot *snapshot,
                           struct extract_error *error);

// Returns whether `length` bytes at the start of a file are those of such a ring.
bool extract_rkh_dump_is(const uint8_t *bytes, size_t length);

// Returns the name of a source of settings, such as "tcfg"; static.
const char *extract_rkh_from_name(enum extract_rkh_from from);

#endif
