// SPDX-License-Identifier: MIT
// One event model over all trace formats: event types with typed fields, and decoded events.
#ifndef EXTRACT_EVENT_H
#define EXTRACT_EVENT_H

#include <extract/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// What a field of an event holds; decides how it is printed.
enum extract_kind {
    EXTRACT_KIND_NONE = 0,
    EXTRACT_KIND_HEX,
    EXTRACT_KIND_DEC,
    EXTRACT_KIND_OBJECT, // address of a kernel object: its name is looked up
    EXTRACT_KIND_STACK,  // a stack pointer
    EXTRACT_KIND_DATA,   // address of data
    EXTRACT_KIND_CODE,   // address of code: function+offset
    EXTRACT_KIND_STRING, // address of a text in target memory
    EXTRACT_KIND_TICKS,  // timer ticks
    EXTRACT_KIND_WAIT,   // 0 none, all ones forever, else ticks
    EXTRACT_KIND_BOOL,
    EXTRACT_KIND_IPV4,
    EXTRACT_KIND_THREAD_STATE,
    EXTRACT_KIND_TCP_STATE,
    EXTRACT_KIND_FLAGS_GET,
    EXTRACT_KIND_FLAGS_SET,
    EXTRACT_KIND_LOSS, // why entries are missing: enum extract_log_loss
    EXTRACT_KIND_TEXT, // number of a text in a log (extract_trace_text)
    // RKH's numbers, which have names where the stream gives them:
    EXTRACT_KIND_SIGNAL,     // of an event
    EXTRACT_KIND_POOL,       // of a pool of events, from 0 on; EXTRACT_NO_POOL: of none
    EXTRACT_KIND_USER_EVENT, // from 0 on
    EXTRACT_KIND_ACTION,     // what an action belongs to: a transition's effect, an entry …
    EXTRACT_KIND_EVENT,      // the id of an event
    EXTRACT_KIND_VERDICT     // why entries are damaged: enum extract_verdict
};

// Where an event belongs: the columns of a report.
enum extract_class {
    EXTRACT_APPL = 0, // the application's own events
    EXTRACT_SVC,      // services that it calls
    EXTRACT_KERN,     // the scheduler
    EXTRACT_INT,      // interrupts
    EXTRACT_CLASSES
};

// RECORDER: it is no entry of the ring, but what the recorder noted between them (see
// extract_event_is_mark).
enum extract_context { EXTRACT_THREAD = 0, EXTRACT_ISR, EXTRACT_INIT, EXTRACT_RECORDER };

enum {
    EXTRACT_FIELDS_MAX = 8, // fields of an event
    EXTRACT_NO_PRIORITY = 0xffff
};

// The value of a field of kind POOL when the event is static, and so from no pool.
#define EXTRACT_NO_POOL UINT64_MAX

struct extract_field_type {
    const char *label;
    enum extract_kind kind;
};

struct extract_event_type {
    uint32_t id;
    const char *symbol; // "TX_TRACE_QUEUE_SEND"
    const char *name;   // "queue send"
    enum extract_class class_;
    uint8_t fields; // how many are used; a field of kind NONE has no meaning for this event
    bool range;     // stands for a range of ids: the id is part of the name
    struct extract_field_type field[EXTRACT_FIELDS_MAX];
};

// Flags of an event.
enum {
    EXTRACT_FLAG_PROVISIONAL = 1, // not proven whole and final (EXTRACT_PROVISIONAL)
    EXTRACT_FLAG_GAP = 2,         // entries before it are missing
    EXTRACT_FLAG_BACKWARDS = 4,   // its stamp lies before its predecessor's
    EXTRACT_FLAG_UNTIMED = 8      // its run has no stamps, unlike others: `ticks` is no time of it
};

struct extract_event {
    uint64_t seq;       // 0 = oldest entry that is shown; of a mark: that of the entry behind it
    uint64_t ticks;     // unwrapped, from 0 at the oldest
    uint64_t raw_stamp; // as stored
    uint64_t thread; // address of the thread; in interrupts that of the interrupted one, 0 = none
    uint64_t priority_word; // as stored; where entries have a frame, that
    uint64_t field[EXTRACT_FIELDS_MAX];
    const struct extract_event_type *type; // never NULL; lives as long as the trace
    uint32_t id;
    uint32_t slot;     // of the ring; where entries differ in length: bytes from the buffer's start
    uint16_t priority; // EXTRACT_NO_PRIORITY when unknown
    uint16_t threshold; // preemption threshold, likewise
    uint8_t core;
    uint8_t context; // enum extract_context
    uint8_t fields;  // how many of field[] were stored
    uint8_t flags;
    uint32_t data_bytes; // of `data`
    const uint8_t *data; // what the format calls the entry's payload, as stored; NULL: none. The
                         // snapshot's, or the log's current block: good until the next read
};

// Marks: what a log says between its entries, and what a ring lacks there. They are no entries and
// have no stamp of their own.
#define EXTRACT_ID_MARKS   UINT32_C(0xFFFFFF00) // the first id of all of them
#define EXTRACT_ID_LOST    UINT32_C(0xFFFFFF01) // RINGSIDE_LOST: entries could not be had
#define EXTRACT_ID_DAMAGED UINT32_C(0xFFFFFF02) // RINGSIDE_DAMAGED: a part of the log is damaged
#define EXTRACT_ID_BROKEN  UINT32_C(0xFFFFFF03) // RINGSIDE_BROKEN: entries are damaged
#define EXTRACT_ID_MARK    UINT32_C(0xFFFFFF10) // + enum extract_log_mark: RINGSIDE_RESET …

// The fields of RINGSIDE_LOST. `lost_at_least` entries are certainly missing, and any multiple of
// `modulo` more (there is none of those when the number is exact, and no `modulo` when nothing else
// is known). The others are likely, and there when enough is known: the number lies from `lost_low`
// to `lost_high` in 90 of 100 gaps, and it is `lost_at_most` if the target was never faster than
// the recording shows.
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

// Whether it is a mark of what is lost or damaged.
static inline bool extract_id_is_loss(uint32_t id)
{
    return id >= EXTRACT_ID_LOST && id <= EXTRACT_ID_BROKEN;
}

// Whether a mark says that the entries on both sides of it do not belong together: nothing that was
// so before it is known to be so behind it.
bool extract_event_is_break(const struct extract_event *event);

const char *extract_class_name(enum extract_class c);     // "APPL" …
const char *extract_context_name(enum extract_context c); // "thread" …
// The word for a value of an enumerated kind ("sleep", "or clear" …); NULL when there is none.
const char *extract_kind_word(enum extract_kind kind, uint64_t value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
