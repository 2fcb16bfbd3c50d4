// SPDX-License-Identifier: MIT
// formats/posix: the events that a kernel records with the macros of ringside_rtos_hooks.h. In: the
// name of an event's type, and its data. Out: a type with named fields, and what the event means
// for the scheduler.
//
// The data are words of the size of an address. An event with fewer words than its name promises is
// a user event like any other.
//
// Source: libextract/target/ringside_rtos_hooks.h.
#include "formats/posix/posix.h"
#include "symbols/dwarf.h"
#include <stdlib.h>

// Numbers of fields, from 1 on, as roles have them. In entries for templates, the same words have
// these numbers.
enum { EVENT_NUMBER = 1, ADDRESS, INTERRUPT, WORD_1, WORD_2, WORD_3, TRUNCATED, PID };
enum { WORDS_MAX = 3 };

struct rtos_event {
    uint8_t words; // of data
    struct extract_event_type type;
    struct extract_role_fields role;
    struct extract_role_fields send_role; // if the third word is 1: the thread waits to send
};

// clang-format off
#define WORDS(one, two, three)                                                                     \
    {{"event", EXTRACT_KIND_USER_EVENT}, {"address", EXTRACT_KIND_CODE},                           \
     {"interrupt", EXTRACT_KIND_DEC}, one, two, three, {"truncated", EXTRACT_KIND_BOOL},           \
     {"pid", EXTRACT_KIND_DEC}}
#define NO            {"", EXTRACT_KIND_NONE}
#define OBJECT(label) {label, EXTRACT_KIND_OBJECT}
#define NUMBER(label) {label, EXTRACT_KIND_DEC}
#define FLAGS(label)  {label, EXTRACT_KIND_HEX}
#define TICKS(label)  {label, EXTRACT_KIND_TICKS}
#define BLOCK(label)  {label, EXTRACT_KIND_DATA}
#define YES_NO(label) {label, EXTRACT_KIND_BOOL}
#define EVENT(id_, name_, class, words_, ...)                                                      \
    .words = words_,                                                                               \
    .type = {.id = id_, .symbol = "rtos_" name_, .name = "rtos_" name_, .class_ = EXTRACT_##class, \
             .fields = PID, .field = __VA_ARGS__}
#define ROLE(what, ...) .role = {.role = EXTRACT_ROLE_##what, __VA_ARGS__}
#define CALL(...)       ROLE(CALL, .object = WORD_1, .may_switch = true, __VA_ARGS__)
#define BLOCKS(wait, ...)                                                                          \
    {.role = EXTRACT_ROLE_SUSPEND, .object = WORD_1, .thread = WORD_2,                             \
     .begins = EXTRACT_WAIT_##wait, .may_switch = true, __VA_ARGS__}
#define ENDS(wait) .ends = EXTRACT_WAIT_##wait, .begins = EXTRACT_WAIT_##wait, .wakes_one = true

// In the order of their names.
static const struct rtos_event events[] = {
    {EVENT(0xFE29, "flags_block", SVC, 3,
           WORDS(OBJECT("flags"), OBJECT("thread"), FLAGS("wanted"))),
     .role = BLOCKS(FLAGS, .flags = WORD_3)},
    {EVENT(0xFE27, "flags_clear", SVC, 2, WORDS(OBJECT("flags"), FLAGS("cleared"), NO))},
    {EVENT(0xFE24, "flags_create", SVC, 1, WORDS(OBJECT("flags"), NO, NO))},
    {EVENT(0xFE25, "flags_delete", SVC, 1, WORDS(OBJECT("flags"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_FLAGS)},
    {EVENT(0xFE28, "flags_get", SVC, 2, WORDS(OBJECT("flags"), FLAGS("wanted"), NO))},
    {EVENT(0xFE26, "flags_set", SVC, 2, WORDS(OBJECT("flags"), FLAGS("set"), NO)),
     CALL(.ends = EXTRACT_WAIT_FLAGS, .flags = WORD_2)},
    {EVENT(0xFE0F, "idle_enter", KERN, 0, WORDS(NO, NO, NO))},
    {EVENT(0xFE10, "idle_exit", KERN, 0, WORDS(NO, NO, NO))},
    {EVENT(0xFE0C, "isr_enter", INT, 1, WORDS(NUMBER("exception"), NO, NO)),
     ROLE(ISR_ENTER, .number = WORD_1)},
    {EVENT(0xFE0D, "isr_exit", INT, 1, WORDS(NUMBER("exception"), NO, NO)),
     ROLE(ISR_EXIT, .number = WORD_1, .may_switch = true)},
    {EVENT(0xFE37, "memory_allocate", SVC, 2, WORDS(BLOCK("block"), NUMBER("bytes"), NO))},
    {EVENT(0xFE38, "memory_free", SVC, 2, WORDS(BLOCK("block"), NUMBER("bytes"), NO))},
    {EVENT(0xFE23, "mutex_block", SVC, 3,
           WORDS(OBJECT("mutex"), OBJECT("thread"), OBJECT("owner"))),
     .role = BLOCKS(MUTEX, .owner = WORD_3)},
    {EVENT(0xFE1E, "mutex_create", SVC, 1, WORDS(OBJECT("mutex"), NO, NO))},
    {EVENT(0xFE1F, "mutex_delete", SVC, 1, WORDS(OBJECT("mutex"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_MUTEX)},
    {EVENT(0xFE20, "mutex_get", SVC, 2, WORDS(OBJECT("mutex"), OBJECT("thread"), NO)),
     ROLE(MUTEX_GET, .object = WORD_1)},
    {EVENT(0xFE22, "mutex_get_failed", SVC, 1, WORDS(OBJECT("mutex"), NO, NO))},
    {EVENT(0xFE21, "mutex_put", SVC, 2, WORDS(OBJECT("mutex"), OBJECT("thread"), NO)),
     ROLE(MUTEX_PUT, .object = WORD_1, .owner = WORD_2, .ends = EXTRACT_WAIT_MUTEX,
          .wakes_one = true, .frees = true, .may_switch = true)},
    {EVENT(0xFE2A, "notify", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(CALL, .thread = WORD_1, .ends = EXTRACT_WAIT_NOTIFICATION, .may_switch = true)},
    {EVENT(0xFE2C, "notify_block", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(SUSPEND, .thread = WORD_1, .begins = EXTRACT_WAIT_NOTIFICATION, .may_switch = true)},
    {EVENT(0xFE2B, "notify_get", SVC, 1, WORDS(OBJECT("thread"), NO, NO))},
    {EVENT(POSIX_RTOS_ID_OBJECT_NAME, "object_name", SVC, 1, WORDS(OBJECT("object"), NO, NO))},
    {EVENT(0xFE09, "priority_disinherit", KERN, 2,
           WORDS(OBJECT("thread"), NUMBER("priority"), NO))},
    {EVENT(0xFE08, "priority_inherit", KERN, 2, WORDS(OBJECT("thread"), NUMBER("priority"), NO))},
    {EVENT(0xFE17, "queue_block", SVC, 3,
           WORDS(OBJECT("queue"), OBJECT("thread"), YES_NO("sends"))),
     .role = BLOCKS(QUEUE), .send_role = BLOCKS(QUEUE, .is_send = true)},
    {EVENT(0xFE11, "queue_create", SVC, 2, WORDS(OBJECT("queue"), NUMBER("length"), NO))},
    {EVENT(0xFE12, "queue_delete", SVC, 1, WORDS(OBJECT("queue"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_QUEUE)},
    {EVENT(0xFE14, "queue_receive", SVC, 2, WORDS(OBJECT("queue"), NUMBER("messages"), NO)),
     CALL(ENDS(QUEUE), .queued = WORD_2)},
    {EVENT(0xFE16, "queue_receive_failed", SVC, 1, WORDS(OBJECT("queue"), NO, NO))},
    {EVENT(0xFE13, "queue_send", SVC, 2, WORDS(OBJECT("queue"), NUMBER("messages"), NO)),
     CALL(ENDS(QUEUE), .queued = WORD_2, .is_send = true)},
    {EVENT(0xFE15, "queue_send_failed", SVC, 1, WORDS(OBJECT("queue"), NO, NO))},
    {EVENT(0xFE1D, "semaphore_block", SVC, 2, WORDS(OBJECT("semaphore"), OBJECT("thread"), NO)),
     .role = BLOCKS(SEMAPHORE)},
    {EVENT(0xFE18, "semaphore_create", SVC, 2, WORDS(OBJECT("semaphore"), NUMBER("count"), NO))},
    {EVENT(0xFE19, "semaphore_delete", SVC, 1, WORDS(OBJECT("semaphore"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_SEMAPHORE)},
    {EVENT(0xFE1B, "semaphore_get", SVC, 2, WORDS(OBJECT("semaphore"), NUMBER("count"), NO))},
    {EVENT(0xFE1C, "semaphore_get_failed", SVC, 1, WORDS(OBJECT("semaphore"), NO, NO))},
    {EVENT(0xFE1A, "semaphore_put", SVC, 2, WORDS(OBJECT("semaphore"), NUMBER("count"), NO)),
     CALL(.ends = EXTRACT_WAIT_SEMAPHORE, .wakes_one = true)},
    {EVENT(0xFE0A, "start", KERN, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(SWITCH, .next = WORD_1, .may_switch = true)},
    {EVENT(0xFE31, "stream_block", SVC, 3,
           WORDS(OBJECT("stream"), OBJECT("thread"), YES_NO("sends"))),
     .role = BLOCKS(STREAM), .send_role = BLOCKS(STREAM, .is_send = true)},
    {EVENT(0xFE2D, "stream_create", SVC, 1, WORDS(OBJECT("stream"), NO, NO))},
    {EVENT(0xFE2E, "stream_delete", SVC, 1, WORDS(OBJECT("stream"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_STREAM)},
    {EVENT(0xFE30, "stream_receive", SVC, 2, WORDS(OBJECT("stream"), NUMBER("bytes"), NO)),
     CALL(ENDS(STREAM))},
    {EVENT(0xFE2F, "stream_send", SVC, 2, WORDS(OBJECT("stream"), NUMBER("bytes"), NO)),
     CALL(ENDS(STREAM), .is_send = true)},
    {EVENT(0xFE0B, "switch", KERN, 2, WORDS(OBJECT("left"), OBJECT("entered"), NO)),
     ROLE(SWITCH, .thread = WORD_1, .next = WORD_2, .may_switch = true)},
    {EVENT(0xFE00, "thread_create", SVC, 2, WORDS(OBJECT("thread"), NUMBER("priority"), NO)),
     ROLE(CREATE, .thread = WORD_1, .ends = EXTRACT_WAIT_SUSPENDED, .may_switch = true)},
    {EVENT(0xFE01, "thread_delete", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(DELETE, .thread = WORD_1, .may_switch = true)},
    {EVENT(0xFE02, "thread_priority", SVC, 2, WORDS(OBJECT("thread"), NUMBER("priority"), NO)),
     ROLE(CALL, .may_switch = true)},
    {EVENT(0xFE03, "thread_ready", KERN, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(RESUME, .thread = WORD_1, .may_switch = true)},
    {EVENT(0xFE06, "thread_resume", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(CONTINUE, .thread = WORD_1, .ends = EXTRACT_WAIT_SUSPENDED, .may_switch = true)},
    {EVENT(0xFE04, "thread_sleep", SVC, 2, WORDS(OBJECT("thread"), TICKS("ticks"), NO)),
     ROLE(SUSPEND, .thread = WORD_1, .timeout = WORD_2, .begins = EXTRACT_WAIT_SLEEP,
          .may_switch = true)},
    {EVENT(0xFE05, "thread_suspend", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(SUSPEND, .thread = WORD_1, .begins = EXTRACT_WAIT_SUSPENDED, .may_switch = true)},
    {EVENT(0xFE07, "thread_yield", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(RELINQUISH, .may_switch = true)},
    {EVENT(0xFE0E, "tick", KERN, 1, WORDS(NUMBER("count"), NO, NO)), ROLE(TICK)},
    {EVENT(0xFE32, "timer_create", SVC, 1, WORDS(OBJECT("timer"), NO, NO))},
    {EVENT(0xFE33, "timer_delete", SVC, 1, WORDS(OBJECT("timer"), NO, NO))},
    {EVENT(0xFE36, "timer_expire", KERN, 1, WORDS(OBJECT("timer"), NO, NO))},
    {EVENT(0xFE34, "timer_start", SVC, 1, WORDS(OBJECT("timer"), NO, NO))},
    {EVENT(0xFE35, "timer_stop", SVC, 1, WORDS(OBJECT("timer"), NO, NO))},
};
// clang-format on

enum { EVENTS = sizeof events / sizeof *events };

static int compare_names(const void *name, const void *event)
{
    return strcmp(name, ((const struct rtos_event *)event)->type.name);
}

const struct rtos_event *posix_rtos_find(const uint8_t *name, size_t length)
{
    static const char prefix[] = "rtos_";
    char text[POSIX_RTOS_NAME] = {0};
    size_t bytes = strnlen((const char *)name, length);

    if (bytes >= sizeof text || bytes < sizeof prefix || memcmp(name, prefix, sizeof prefix - 1))
        return NULL;
    memcpy(text, name, bytes);
    return bsearch(text, events, EVENTS, sizeof *events, compare_names);
}

bool posix_rtos_decode(const struct rtos_event *known, const struct extract_ring *ring,
                       struct extract_event *event)
{
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, ring->byte_order);
    uint64_t address = event->field[1], truncated = event->field[2], pid = event->field[3];
    uint64_t interrupt = event->field[4];

    if (event->data_bytes < known->words * (uint32_t)ring->word_bytes)
        return false;
    event->type = &known->type;
    event->fields = PID;
    event->field[ADDRESS - 1] = address;
    event->field[INTERRUPT - 1] = interrupt;
    for (unsigned i = 0; i < WORDS_MAX; i++)
        event->field[WORD_1 - 1 + i] =
            i < known->words ? extract_cursor_word(&c, ring->word_bytes) : 0;
    if (known->type.id == POSIX_RTOS_ID_OBJECT_NAME)
        event->field[WORD_2 - 1] = ring->word_bytes; // where its text begins
    event->field[TRUNCATED - 1] = truncated;
    event->field[PID - 1] = pid;
    return true;
}

// Returns the event that a type belongs to; NULL: the type is not one of a kernel's events.
static const struct rtos_event *event_of(const struct extract_event_type *type)
{
    return type->id >= POSIX_RTOS_ID && type->id < POSIX_RTOS_ID + EVENTS
               ? (const struct rtos_event *)((const char *)type - offsetof(struct rtos_event, type))
               : NULL;
}

unsigned posix_rtos_words(const struct extract_event *event, uint64_t words[POSIX_RTOS_WORDS])
{
    const struct rtos_event *known = event_of(event->type);

    for (unsigned i = 0; known && i < known->words; i++)
        words[i] = event->field[WORD_1 - 1 + i];
    return known ? known->words : 0;
}

// ---- the scheduler ----

const struct extract_role_fields *posix_rtos_translate(const struct extract_ring *ring,
                                                       struct extract_event *event)
{
    const struct rtos_event *known = event_of(event->type);
    uint64_t *word = &event->field[WORD_1 - 1];

    (void)ring;
    if (event->context == EXTRACT_THREAD && !event->thread)
        event->context = EXTRACT_INIT; // a kernel without a thread runs its start-up code
    if (!known)
        return NULL;
    switch (known->role.role) {
    case EXTRACT_ROLE_ISR_ENTER:
    case EXTRACT_ROLE_ISR_EXIT:
        word[0] = word[0] ? word[0] : event->field[INTERRUPT - 1];
        event->context = EXTRACT_ISR;
        break;
    case EXTRACT_ROLE_MUTEX_PUT:
        word[2] = 1; // it was owned once
        break;
    case EXTRACT_ROLE_CALL:
        if (known->role.queued) // the role's count is that before the call
            word[1] = known->role.is_send ? word[1] - (word[1] != 0) : word[1] + 1;
        break;
    case EXTRACT_ROLE_SUSPEND:
        if (known->send_role.role && word[2])
            return &known->send_role;
        break;
    default:
        break;
    }
    return &known->role;
}

// ---- names ----

bool posix_rtos_name(const struct extract_event *event, struct extract_name_entry *entry)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    const struct rtos_event *known = event_of(event->type);

    if (!known || known->type.id != POSIX_RTOS_ID_OBJECT_NAME || !event->field[WORD_1 - 1])
        return false;
    uint64_t head = event->field[WORD_2 - 1]; // bytes before the text
    if (head > event->data_bytes)
        return false;
    entry->kind = EXTRACT_KIND_OBJECT;
    entry->object.address = event->field[WORD_1 - 1];
    entry->object.type_name = "object";
    entry->object.param_types = no_params;
    entry->name = event->data + head;
    entry->name_bytes = event->data_bytes - (size_t)head;
    return true;
}

// Control blocks of threads that have the thread's name.
static const struct {
    const char *type, *member;
    bool is_pointer; // the member points to the name; otherwise it is the name
} control_blocks[] = {
    {"tskTaskControlBlock", "pcTaskName", false}, // FreeRTOS
    {"TX_THREAD", "tx_thread_name", true},        // ThreadX
};

bool posix_rtos_name_pointer(const struct extract_ring *ring, struct extract_memory *memory,
                             struct extract_symbols *symbols, uint64_t address, uint64_t *name)
{
    uint64_t offset, size;
    uint8_t bytes[8];
    size_t got;

    for (size_t i = 0; i < sizeof control_blocks / sizeof *control_blocks; i++) {
        if (!extract_symbols_member(symbols, control_blocks[i].type, control_blocks[i].member,
                                    &offset, &size))
            continue;
        *name = address + offset;
        if (!control_blocks[i].is_pointer)
            return true;
        if (size > sizeof bytes || (size != 4 && size != 8) ||
            extract_memory_read(memory, *name, bytes, (size_t)size, &got, NULL))
            return false;
        struct extract_cursor c = extract_cursor_make(bytes, (size_t)size, ring->byte_order);
        *name = extract_cursor_word(&c, (unsigned)size);
        return *name != 0;
    }
    return false;
}
