// SPDX-License-Identifier: MIT
// formats/rkh: the wire of RKH trace streams, and what its files share.
//
// Source: docs/formats/rkh.md.
#ifndef EXTRACT_FORMATS_RKH_H
#define EXTRACT_FORMATS_RKH_H

#include "base/cursor.h"
#include "formats/format.h"

enum { RKH_FLAG = 0x7E, RKH_ESCAPE = 0x7D, RKH_XOR = 0x20 };

// Ids that the decoder itself knows, as framework 3.x has them.
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

// How an argument lies on the wire: the words behind "/" of rkh-events.tsv.
enum rkh_word {
    RKH_WORD_none = 0, // the list ends
    RKH_WORD_sym,      // an address of an object; PTR bytes
    RKH_WORD_sndr,     // the same; there with SMA_TRC_SNDR_EN only
    RKH_WORD_fun,      // an address of code; FUN_PTR bytes
    RKH_WORD_sig,
    RKH_WORD_esize,
    RKH_WORD_nblk,
    RKH_WORD_mpnmin, // nblk; there with MP_GET_LWM_EN only
    RKH_WORD_bsize,
    RKH_WORD_nelem,
    RKH_WORD_qnmin, // nelem; there with QUE_GET_LWMARK_EN only
    RKH_WORD_ntick,
    RKH_WORD_pool1, // a pool of events in a byte: its number + 1, or 0 for none
    RKH_WORD_u8,
    RKH_WORD_u16,
    RKH_WORD_u32,
    RKH_WORD_str,   // bytes up to a NUL
    RKH_WORD_items, // tagged items up to the end
    RKH_WORD_rest,  // arguments of an event that another one names
    RKH_WORDS
};

enum rkh_family {
    RKH_FAMILY_3 = 0, // 3.0.0 to 3.4.00
    RKH_FAMILY_245,   // 2.4.5, 2.4.6
    RKH_FAMILY_244,
    RKH_FAMILY_243,
    RKH_FAMILY_23, // 2.3, 2.4
    RKH_FAMILIES
};

// The settings that shape frames.
struct rkh_wire {
    uint8_t size[RKH_WORDS]; // bytes of each word on the wire; 0: not there, or of no fixed size
    uint8_t nseq, ts;        // bytes of sequence number and stamp
    bool chk;
    enum rkh_family family;
};

// wire.c. Settings in 32 bits, as they go with an index and its events (priority_word), and back.
uint32_t rkh_wire_pack(const struct extract_rkh *rkh);
void rkh_wire_unpack(struct rkh_wire *wire, uint32_t packed);
// The settings as a layout of the stream.
struct extract_rkh_layout rkh_layout_of(const struct extract_rkh *rkh);
// The rate of a layout's stamps per second; 0: there are no stamps, the rate is not known, or it is
// cut off.
uint64_t rkh_layout_hz(const struct extract_rkh_layout *layout);
// What a rate was before a TCFG record cut it to 16 bits, where its rest gives it away; else 0.
uint64_t rkh_layout_cut_hz(const struct extract_rkh_layout *layout);
// Sets the stamps' mask and their rate in a ring, by its layouts: the widest, and the one that all
// of those with stamps have.
void rkh_layouts_sum_up(struct extract_ring *ring);
// Takes a value that comes from a better source than the one that is there.
void rkh_set(struct extract_rkh *rkh, enum extract_rkh_key key, uint32_t value,
             enum extract_rkh_from from);
void rkh_defaults(struct extract_rkh *rkh);
// What the firmware's ELF says of the sizes and of the version.
void rkh_from_symbols(struct extract_rkh *rkh, struct extract_symbols *symbols);
// Whether a setting may have a value.
bool rkh_allows(enum extract_rkh_key key, uint64_t number);
// "3.4.00" to 0x3400. False: it is none.
bool rkh_version_parse(const char *text, uint32_t *version);
// OK, or UNSUPPORTED for one older than 2.3.
enum extract_code rkh_version_check(uint32_t version, struct extract_error *error);
enum rkh_family rkh_family_of(uint32_t version);

// ids.c. The id of 3.x that an id of a family stands for, or -1: none.
int rkh_id(enum rkh_family family, unsigned id);
// The words of an id's arguments (as 3.x has ids), RKH_WORD_none behind them. NULL: no such id.
const uint8_t *rkh_words(enum rkh_family family, unsigned id);
const struct extract_event_type *rkh_type(uint32_t id);
const struct extract_event_type *rkh_type_on(const struct rkh_wire *wire, unsigned id);

// args.c. What an argument, or an item of a user event, holds.
enum rkh_item_kind {
    RKH_ITEM_NUMBER, // `value`; `decimals` says how user items want it
    RKH_ITEM_SIGNED,
    RKH_ITEM_HEX,
    RKH_ITEM_STRING, // `bytes`, `length` of them, without the NUL
    RKH_ITEM_MEMORY, // `bytes`
    RKH_ITEM_OBJECT,
    RKH_ITEM_FUNCTION,
    RKH_ITEM_SIGNAL
};

struct rkh_item {
    enum rkh_item_kind kind;
    enum rkh_word word; // of an argument; of tagged items RKH_WORD_items
    uint8_t tag;        // of a tagged item: its format, 0 to 11
    uint8_t width;      // and the width of the field that it is printed in
    uint64_t value;     // SIGNED: sign-extended
    const uint8_t *bytes;
    uint32_t length;
};

// A walk over the arguments of an event.
struct rkh_args {
    struct rkh_wire wire;
    const uint8_t *words;
    struct extract_cursor c;
    bool tagged; // the words are over, items come
};

// `id` as 3.x has it; `bytes` are unstuffed, without header and checksum: an event's data. False:
// no such id.
bool rkh_args_open(struct rkh_args *args, const struct rkh_wire *wire, unsigned id,
                   const uint8_t *bytes, size_t length);
// The same of a decoded event.
bool rkh_args_of(struct rkh_args *args, const struct extract_event *event);
// The next one; false behind the last, and when the bytes do not fit.
bool rkh_args_next(struct rkh_args *args, struct rkh_item *item);
// Whether all bytes were taken and none was missing.
bool rkh_args_fit(const struct rkh_args *args);
// Whether bytes are arguments of an id to the last byte.
bool rkh_args_match(const struct rkh_wire *wire, unsigned id, const uint8_t *bytes, size_t length);

// frame.c
struct rkh_frame {
    uint32_t at, length; // on the wire, without the flag
    uint32_t whole;      // unstuffed
    uint8_t sum;         // of all unstuffed bytes
    bool ended;          // by a flag
    bool escaped, torn;  // holds escapes; one that is none
};

// The frame that begins at `at` of bytes of which `end` are there.
void rkh_frame_scan(struct rkh_frame *frame, const uint8_t *bytes, uint32_t at, uint32_t end);
// How many frames end in bytes that begin with one.
uint32_t rkh_frame_count(const uint8_t *bytes, uint32_t length);
// Unstuffs it to `to`, which may be where it lies.
void rkh_frame_unstuff(const struct rkh_frame *frame, const uint8_t *bytes, uint8_t *to);

enum { RKH_TCFG_ARGS = 13 }; // bytes of its arguments since 2.4.4

// tcfg.c. What a TCFG frame of any family says; `bytes` is the whole unstuffed frame. False: it is
// none.
bool rkh_tcfg_read(struct extract_rkh *rkh, const uint8_t *bytes, size_t length);
// The same of a frame that lies in `bytes`.
bool rkh_tcfg_take(struct extract_rkh *rkh, const struct rkh_frame *frame, const uint8_t *bytes);

// infer.c. Finds the settings that no source told in frames between flags. Errors: BAD (the data
// allow several; they are listed), NOMEM.
enum extract_code rkh_infer(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length,
                            struct extract_error *error);

// The layout that an event has.
static inline const struct extract_rkh_layout *rkh_layout_at(const struct extract_ring *ring,
                                                             const struct extract_event *event)
{
    return &ring->rkh.layout[event->priority_word >> 32 & (EXTRACT_RKH_LAYOUTS - 1)];
}

// walk.c. The bytes between two places in one piece.
uint64_t rkh_spill(const struct extract_ring *ring);
uint64_t rkh_stamp_mask(const struct extract_ring *ring, unsigned layout);
bool rkh_is_untimed(const struct extract_ring *ring, unsigned layout);
uint8_t *rkh_unroll(struct extract_snapshot *snapshot, uint32_t from, uint32_t to);
bool rkh_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary);

// settle.c. Finds the settings of a copy.
enum extract_code rkh_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                              struct extract_error *error);

// What a ring's header bytes hold: where its live words stand, and what they said.
struct rkh_live {
    uint64_t in_at, out_at, qty_at, chk_at; // addresses; 0: not known
    uint64_t start;                         // of the array
    uint32_t size;                          // of it
    uint32_t head;                          // place that is written next; never below size
    uint32_t pending;                       // bytes in front of it that were not taken out
    uint32_t generation;                    // counts up when the writer has overwritten all
    uint8_t pointer_bytes, qty_bytes;
    uint8_t chk; // running sum of the frame under way
    bool chk_known;
    bool stream;        // no array, but a file
    bool dump;          // an array in a file, or what a log says of one: words that do not live
    uint32_t valid;     // of a dump: bytes in front of the head that it holds
    uint8_t anchor[16]; // the newest bytes
};

static inline struct rkh_live rkh_live_of(const uint8_t *header)
{
    struct rkh_live live;
    memcpy(&live, header, sizeof live);
    return live;
}

static inline void rkh_live_put(uint8_t *header, const struct rkh_live *live)
{
    memcpy(header, live, sizeof *live);
}

_Static_assert(sizeof(struct rkh_live) <= EXTRACT_HEADER_MAX, "it has room in a ring's header");

// ram.c
enum extract_code rkh_find(struct extract_ring *ring, struct extract_memory *memory,
                           struct extract_symbols *symbols, struct extract_error *error);
enum extract_code rkh_at(struct extract_ring *ring, struct extract_memory *memory,
                         struct extract_symbols *symbols, uint64_t address,
                         struct extract_error *error);
bool rkh_is_meant(const struct extract_ring *ring, const struct extract_symbols *symbols);
// Why an ELF does not lead to the ring, and what to do. Returns NOTFOUND.
enum extract_code rkh_explain_missing(const struct extract_symbols *symbols,
                                      struct extract_error *error);
bool rkh_live(struct extract_memory *memory, const struct extract_ring *ring, uint8_t *header);
bool rkh_read_counters(const struct extract_ring *ring, const uint8_t *header,
                       struct extract_ring_counters *counters);

// stream.c
enum { RKH_STREAM_HEADER = 16 };
bool rkh_stream_at(struct extract_ring *ring, struct extract_memory *memory, uint64_t address);
// What stands in front of a stream in memory, and where a ring has its bytes.
void rkh_stream_head(uint8_t head[static RKH_STREAM_HEADER], size_t length);
void rkh_stream_lay(struct extract_ring *ring, uint64_t start, uint32_t length);

// names.c. What an event tells of names (struct extract_format, tell).
bool rkh_tell(const struct extract_event *event, struct extract_name_entry *told);
// A 64-bit host sends the lower halves of addresses; they mean those near its variables. Else 0.
uint64_t rkh_near(const struct extract_symbols *symbols);

// The items of a user event (struct extract_format, items).
bool rkh_items(const struct extract_event *event, extract_item_taker *take, void *context,
               uint32_t *number);
// An event as what templates see (struct extract_format, entry).
bool rkh_entry(const struct extract_ring *ring, const struct extract_event *event,
               struct extract_entry *entry, uint8_t *buffer);

// Where the writer's pointer stands; the sequence number of a frame between flags, -1: none.
uint64_t rkh_pointer(const struct extract_ring *ring, unsigned *bytes);
int rkh_number(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length);

// dump.c
enum { RKH_RECORD = 128 };
uint32_t rkh_describe(const struct extract_ring *ring, uint8_t record[EXTRACT_HEADER_MAX]);
bool rkh_dump_at(struct extract_ring *ring, struct extract_memory *memory, uint64_t address);
enum extract_code rkh_dump(struct extract_text *text, const struct extract_snapshot *snapshot,
                           struct extract_error *error);

#endif
