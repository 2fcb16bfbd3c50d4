// SPDX-License-Identifier: MIT
// The event model that all trace formats share: event types with typed fields, decoded events, and
// markers, which are events that a recorder or a reader made.
#ifndef EXTRACT_EVENT_H
#define EXTRACT_EVENT_H

#include <extract/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// What a field of an event contains, and therefore how it is printed.
enum extract_kind {
    EXTRACT_KIND_NONE = 0,
    EXTRACT_KIND_HEX,
    EXTRACT_KIND_DEC,
    EXTRACT_KIND_OBJECT, // address of a kernel object, printed as its name
    EXTRACT_KIND_STACK,  // stack pointer
    EXTRACT_KIND_DATA,   // address of data
    EXTRACT_KIND_CODE,   // address of code, printed as function+offset
    EXTRACT_KIND_STRING, // address of a text in target memory
    EXTRACT_KIND_TICKS,  // timer ticks
    EXTRACT_KIND_WAIT,   // 0: none, all ones: forever, otherwise ticks
    EXTRACT_KIND_BOOL,
    EXTRACT_KIND_IPV4,
    EXTRACT_KIND_THREAD_STATE,
    EXTRACT_KIND_TCP_STATE,
    EXTRACT_KIND_FLAGS_GET,
    EXTRACT_KIND_FLAGS_SET,
    EXTRACT_KIND_LOSS, // why entries are missing: enum extract_log_loss
    EXTRACT_KIND_TEXT, // number of a text in a log (extract_trace_text)
    // Numbers of RKH, which have names if the stream or the ELF gives them:
    EXTRACT_KIND_SIGNAL,     // signal of an event
    EXTRACT_KIND_POOL,       // pool of events, from 0 on; EXTRACT_NO_POOL for none
    EXTRACT_KIND_USER_EVENT, // user event, from 0 on
    EXTRACT_KIND_ACTION,     // kind of an action: a transition's effect, an entry action …
    EXTRACT_KIND_EVENT,      // id of an event
    EXTRACT_KIND_VERDICT     // why entries are damaged: enum extract_verdict
};

// Where an event comes from, which decides its column in a report.
enum extract_class {
    EXTRACT_APPL = 0, // the application's own events
    EXTRACT_SVC,      // services that it calls
    EXTRACT_KERN,     // the scheduler
    EXTRACT_INT,      // interrupts
    EXTRACT_CLASSES
};

// What executed when the event was recorded. RECORDER: the event is a marker
// (extract_event_is_mark).
enum extract_context { EXTRACT_THREAD = 0, EXTRACT_ISR, EXTRACT_INIT, EXTRACT_RECORDER };

enum {
    EXTRACT_FIELDS_MAX = 8, // maximum of fields of an event
    EXTRACT_NO_PRIORITY = 0xffff
};

// The value of a field of kind POOL for a static event, which belongs to no pool.
#define EXTRACT_NO_POOL UINT64_MAX

struct extract_field_type {
    const char *label;
    enum extract_kind kind;
};

// `range` of an event type whose ids are hook ids, which are written in hexadecimal.
enum { EXTRACT_HOOK_RANGE = 2 };

struct extract_event_type {
    uint32_t id;
    const char *symbol; // "TX_TRACE_QUEUE_SEND"
    const char *name;   // "queue send"
    enum extract_class class_;
    uint8_t fields; // number of fields; a field of kind NONE has no meaning for this type
    // 1 or EXTRACT_HOOK_RANGE: the type stands for a range of ids, and the id is part of the name.
    uint8_t range;
    struct extract_field_type field[EXTRACT_FIELDS_MAX];
};

// Flags of an event.
enum {
    EXTRACT_FLAG_PROVISIONAL = 1, // the entry is not verified to be complete and final
    EXTRACT_FLAG_GAP = 2,         // entries before it are missing
    EXTRACT_FLAG_BACKWARDS = 4,   // its timestamp is before that of the event before it
    EXTRACT_FLAG_UNTIMED = 8 // its run has no timestamps, unlike others: `ticks` is not its time
};

struct extract_event {
    uint64_t seq;       // 0 for the oldest event; a marker has that of the entry after it
    uint64_t ticks;     // unwrapped time, 0 for the oldest event
    uint64_t raw_stamp; // timestamp as stored
    uint64_t thread;    // key of the thread; in an interrupt, of the interrupted one; 0: none (see
                        // extract_trace_address)
    uint64_t priority_word;             // as stored; for formats with frames, the word of the frame
    uint64_t field[EXTRACT_FIELDS_MAX]; // of kind OBJECT: a key
    const struct extract_event_type *type; // never NULL; lives as long as the trace
    uint32_t id;
    uint32_t slot;      // slot of the ring; for byte rings, offset in the buffer
    uint16_t priority;  // EXTRACT_NO_PRIORITY if unknown
    uint16_t threshold; // preemption threshold; EXTRACT_NO_PRIORITY if unknown
    uint8_t core;
    uint8_t context;     // enum extract_context
    uint8_t fields;      // number of fields that were stored
    uint8_t flags;       // EXTRACT_FLAG_…
    uint32_t data_bytes; // length of `data`
    const uint8_t *data; // payload of the entry, as stored; NULL if it has none. Valid until the
                         // next read, since it is in the snapshot or in a block of the log
};

// Markers: what a log states between its entries, and what a ring lacks. They are not entries, and
// have no timestamp of their own.
#define EXTRACT_ID_MARKS   UINT32_C(0xFFFFFF00) // first id of all markers
#define EXTRACT_ID_LOST    UINT32_C(0xFFFFFF01) // RINGSIDE_LOST: entries were lost
#define EXTRACT_ID_DAMAGED UINT32_C(0xFFFFFF02) // RINGSIDE_DAMAGED: a part of the log is damaged
#define EXTRACT_ID_BROKEN  UINT32_C(0xFFFFFF03) // RINGSIDE_BROKEN: entries are damaged
#define EXTRACT_ID_MARK    UINT32_C(0xFFFFFF10) // + enum extract_log_mark: RINGSIDE_RESET …

// The fields of RINGSIDE_LOST. At least `lost_at_least` entries are missing, and any multiple of
// `modulo` more. If the number is exact, there are no more; if nothing else is known, there is no
// `modulo`. The other fields are estimates, present only if enough is known. The true number is
// from `lost_low` to `lost_high` in 90 of 100 gaps. It is `lost_at_most` or less if the target was
// never faster than the recording shows.
enum extract_lost_field {
    EXTRACT_LOST_REASON, // enum extract_log_loss
    EXTRACT_LOST_AT_LEAST,
    EXTRACT_LOST_EXACT, // 0 or 1
    EXTRACT_LOST_MODULO,
    EXTRACT_LOST_AT_MOST,
    EXTRACT_LOST_LOW,
    EXTRACT_LOST_HIGH
};

static inline bool extract_event_is_mark(const struct extract_event *event)
{
    return event->id >= EXTRACT_ID_MARKS;
}

// Returns whether an id is that of a marker for losses or damage.
static inline bool extract_id_is_loss(uint32_t id)
{
    return id >= EXTRACT_ID_LOST && id <= EXTRACT_ID_BROKEN;
}

const char *extract_class_name(enum extract_class c); // "APPL" …
// Writes the id of an event whose type stands for a range, as it follows the type's name.
void extract_event_type_number(const struct extract_event_type *type, uint32_t id, char text[12]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
