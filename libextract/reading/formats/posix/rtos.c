// SPDX-License-Identifier: MIT
// formats/posix: the events that a kernel records with the macros of ringside_rtos_hooks.h. In: the
// name of an event's type, and its data. Out: a type with named fields, and what the event means
// for the scheduler.
//
// The data are words of the size of an address. An event with fewer words than its name promises is
// a user event like any other.
//
// Source: libextract/recorder/target/ringside_rtos_hooks.h.
#include "formats/posix/posix.h"
#include "symbols/dwarf.h"
#include <stdlib.h>

// Numbers of fields, from 1 on, as roles have them. In entries for templates, the same words have
// these numbers.
enum { WORD_1 = 4, WORD_2, WORD_3, PID, INTERRUPT };
enum { WORDS_MAX = 3 };

struct rtos_event {
    uint8_t words; // of data
    struct extract_event_type type;
    struct extract_role_fields role;
    struct extract_role_fields send_role; // if the third word is 1: the thread waits to send
    enum extract_priority_order order;    // of priorities; the event itself is never recorded
};

// clang-format off
#define WORDS(one, two, three)                                                                     \
    {{"event", EXTRACT_KIND_USER_EVENT}, {"address", EXTRACT_KIND_CODE},                           \
     {"truncated", EXTRACT_KIND_BOOL}, one, two, three, {"pid", EXTRACT_KIND_DEC},                 \
     {"interrupt", EXTRACT_KIND_DEC}}
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
             .fields = INTERRUPT, .field = __VA_ARGS__}
#define ROLE(what, ...) .role = {.role = EXTRACT_ROLE_##what, __VA_ARGS__}
#define CALL(...)       ROLE(CALL, .object = WORD_1, .may_switch = true, __VA_ARGS__)
#define BLOCKS(wait, ...)                                                                          \
    {.role = EXTRACT_ROLE_SUSPEND, .object = WORD_1, .thread = WORD_2,                             \
     .begins = EXTRACT_WAIT_##wait, .may_switch = true, __VA_ARGS__}
#define ENDS(wait) .ends = EXTRACT_WAIT_##wait, .begins = EXTRACT_WAIT_##wait, .wakes_one = true

// In the order of their names.
static const struct rtos_event events[] = {
    {EVENT(0xE029, "flags_block", SVC, 3,
           WORDS(OBJECT("flags"), OBJECT("thread"), FLAGS("wanted"))),
     .role = BLOCKS(FLAGS, .flags = WORD_3)},
    {EVENT(0xE027, "flags_clear", SVC, 2, WORDS(OBJECT("flags"), FLAGS("cleared"), NO))},
    {EVENT(0xE024, "flags_create", SVC, 1, WORDS(OBJECT("flags"), NO, NO)),
     ROLE(NONE, .creates = WORD_1)},
    {EVENT(0xE025, "flags_delete", SVC, 1, WORDS(OBJECT("flags"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_FLAGS, .deletes = WORD_1)},
    {EVENT(0xE028, "flags_get", SVC, 2, WORDS(OBJECT("flags"), FLAGS("wanted"), NO))},
    {EVENT(0xE026, "flags_set", SVC, 2, WORDS(OBJECT("flags"), FLAGS("set"), NO)),
     CALL(.ends = EXTRACT_WAIT_FLAGS, .flags = WORD_2)},
    {EVENT(0xE00F, "idle_enter", KERN, 0, WORDS(NO, NO, NO))},
    {EVENT(0xE010, "idle_exit", KERN, 0, WORDS(NO, NO, NO))},
    {EVENT(0xE00C, "isr_enter", INT, 1, WORDS(NUMBER("exception"), NO, NO)),
     ROLE(ISR_ENTER, .number = WORD_1)},
    {EVENT(0xE00D, "isr_exit", INT, 1, WORDS(NUMBER("exception"), NO, NO)),
     ROLE(ISR_EXIT, .number = WORD_1, .may_switch = true)},
    {EVENT(0xE037, "memory_allocate", SVC, 2, WORDS(BLOCK("block"), NUMBER("bytes"), NO))},
    {EVENT(0xE038, "memory_free", SVC, 2, WORDS(BLOCK("block"), NUMBER("bytes"), NO))},
    {EVENT(0xE023, "mutex_block", SVC, 3,
           WORDS(OBJECT("mutex"), OBJECT("thread"), OBJECT("owner"))),
     .role = BLOCKS(MUTEX, .owner = WORD_3)},
    {EVENT(0xE01E, "mutex_create", SVC, 1, WORDS(OBJECT("mutex"), NO, NO)),
     ROLE(MUTEX_CREATE, .object = WORD_1, .creates = WORD_1)},
    {EVENT(0xE01F, "mutex_delete", SVC, 1, WORDS(OBJECT("mutex"), NO, NO)),
     ROLE(MUTEX_DELETE, .object = WORD_1, .ends = EXTRACT_WAIT_MUTEX, .may_switch = true,
          .deletes = WORD_1)},
    {EVENT(0xE020, "mutex_get", SVC, 2, WORDS(OBJECT("mutex"), OBJECT("thread"), NO)),
     ROLE(MUTEX_GET, .object = WORD_1, .thread = WORD_2)},
    {EVENT(0xE022, "mutex_get_failed", SVC, 1, WORDS(OBJECT("mutex"), NO, NO))},
    {EVENT(0xE021, "mutex_put", SVC, 2, WORDS(OBJECT("mutex"), OBJECT("thread"), NO)),
     ROLE(MUTEX_PUT, .object = WORD_1, .owner = WORD_2, .count = WORD_3, .ends = EXTRACT_WAIT_MUTEX,
          .wakes_one = true, .frees = true, .may_switch = true)},
    {EVENT(0xE03D, "mutex_put_failed", SVC, 1, WORDS(OBJECT("mutex"), NO, NO))},
    {EVENT(0xE02A, "notify", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     // What a task waits for is its own notification.
     CALL(.thread = WORD_1, .ends = EXTRACT_WAIT_NOTIFICATION)},
    {EVENT(0xE02C, "notify_block", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(SUSPEND, .object = WORD_1, .thread = WORD_1, .begins = EXTRACT_WAIT_NOTIFICATION,
          .may_switch = true)},
    {EVENT(0xE02B, "notify_get", SVC, 1, WORDS(OBJECT("thread"), NO, NO))},
    {EVENT(POSIX_RTOS_ID_OBJECT_NAME, "object_name", SVC, 1, WORDS(OBJECT("object"), NO, NO))},
    {EVENT(0xE009, "priority_disinherit", KERN, 2,
           WORDS(OBJECT("thread"), NUMBER("priority"), NO)),
     ROLE(PRIORITY, .thread = WORD_1, .priority = WORD_2, .is_own = true)},
    {EVENT(0xE03A, "priority_high_first", KERN, 0, WORDS(NO, NO, NO)),
     .order = EXTRACT_PRIORITY_HIGH_FIRST},
    {EVENT(0xE008, "priority_inherit", KERN, 2, WORDS(OBJECT("thread"), NUMBER("priority"), NO)),
     ROLE(PRIORITY, .thread = WORD_1, .priority = WORD_2, .is_inherited = true)},
    {EVENT(0xE03B, "priority_low_first", KERN, 0, WORDS(NO, NO, NO)),
     .order = EXTRACT_PRIORITY_LOW_FIRST},
    {EVENT(0xE017, "queue_block", SVC, 3,
           WORDS(OBJECT("queue"), OBJECT("thread"), YES_NO("sends"))),
     .role = BLOCKS(QUEUE), .send_role = BLOCKS(QUEUE, .is_send = true)},
    {EVENT(0xE011, "queue_create", SVC, 2, WORDS(OBJECT("queue"), NUMBER("length"), NO)),
     ROLE(NONE, .creates = WORD_1)},
    {EVENT(0xE012, "queue_delete", SVC, 1, WORDS(OBJECT("queue"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_QUEUE, .deletes = WORD_1)},
    {EVENT(0xE014, "queue_receive", SVC, 2, WORDS(OBJECT("queue"), NUMBER("messages"), NO)),
     CALL(ENDS(QUEUE), .queued = WORD_2, .most = WORD_3)},
    {EVENT(0xE016, "queue_receive_failed", SVC, 1, WORDS(OBJECT("queue"), NO, NO))},
    {EVENT(0xE013, "queue_send", SVC, 2, WORDS(OBJECT("queue"), NUMBER("messages"), NO)),
     CALL(ENDS(QUEUE), .queued = WORD_2, .most = WORD_3, .is_send = true)},
    {EVENT(0xE015, "queue_send_failed", SVC, 1, WORDS(OBJECT("queue"), NO, NO))},
    {EVENT(0xE01D, "semaphore_block", SVC, 2, WORDS(OBJECT("semaphore"), OBJECT("thread"), NO)),
     .role = BLOCKS(SEMAPHORE)},
    {EVENT(0xE018, "semaphore_create", SVC, 2, WORDS(OBJECT("semaphore"), NUMBER("count"), NO)),
     ROLE(NONE, .creates = WORD_1)},
    {EVENT(0xE019, "semaphore_delete", SVC, 1, WORDS(OBJECT("semaphore"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_SEMAPHORE, .deletes = WORD_1)},
    {EVENT(0xE01B, "semaphore_get", SVC, 2, WORDS(OBJECT("semaphore"), NUMBER("count"), NO)),
     ROLE(NONE, .object = WORD_1, .takes = EXTRACT_WAIT_SEMAPHORE)},
    {EVENT(0xE01C, "semaphore_get_failed", SVC, 1, WORDS(OBJECT("semaphore"), NO, NO))},
    {EVENT(0xE01A, "semaphore_put", SVC, 2, WORDS(OBJECT("semaphore"), NUMBER("count"), NO)),
     CALL(.ends = EXTRACT_WAIT_SEMAPHORE, .wakes_one = true)},
    {EVENT(0xE03C, "semaphore_put_failed", SVC, 1, WORDS(OBJECT("semaphore"), NO, NO))},
    {EVENT(0xE00A, "start", KERN, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(SWITCH, .next = WORD_1, .may_switch = true)},
    {EVENT(0xE031, "stream_block", SVC, 3,
           WORDS(OBJECT("stream"), OBJECT("thread"), YES_NO("sends"))),
     .role = BLOCKS(STREAM), .send_role = BLOCKS(STREAM, .is_send = true)},
    {EVENT(0xE02D, "stream_create", SVC, 1, WORDS(OBJECT("stream"), NO, NO)),
     ROLE(NONE, .creates = WORD_1)},
    {EVENT(0xE02E, "stream_delete", SVC, 1, WORDS(OBJECT("stream"), NO, NO)),
     CALL(.ends = EXTRACT_WAIT_STREAM, .deletes = WORD_1)},
    {EVENT(0xE030, "stream_receive", SVC, 2, WORDS(OBJECT("stream"), NUMBER("bytes"), NO)),
     CALL(ENDS(STREAM))},
    {EVENT(0xE02F, "stream_send", SVC, 2, WORDS(OBJECT("stream"), NUMBER("bytes"), NO)),
     CALL(ENDS(STREAM), .is_send = true)},
    {EVENT(0xE00B, "switch", KERN, 2, WORDS(OBJECT("left"), OBJECT("entered"), NO)),
     ROLE(SWITCH, .thread = WORD_1, .next = WORD_2, .may_switch = true)},
    {EVENT(0xE000, "thread_create", SVC, 2, WORDS(OBJECT("thread"), NUMBER("priority"), NO)),
     ROLE(CREATE, .thread = WORD_1, .priority = WORD_2, .ends = EXTRACT_WAIT_SUSPENDED,
          .may_switch = true, .creates = WORD_1)},
    {EVENT(0xE001, "thread_delete", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(DELETE, .thread = WORD_1, .may_switch = true, .deletes = WORD_1)},
    {EVENT(0xE002, "thread_priority", SVC, 2, WORDS(OBJECT("thread"), NUMBER("priority"), NO)),
     ROLE(PRIORITY, .thread = WORD_1, .priority = WORD_2, .may_switch = true)},
    {EVENT(0xE003, "thread_ready", KERN, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(RESUME, .thread = WORD_1, .may_switch = true)},
    {EVENT(0xE006, "thread_resume", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(CONTINUE, .thread = WORD_1, .ends = EXTRACT_WAIT_SUSPENDED, .may_switch = true)},
    {EVENT(0xE004, "thread_sleep", SVC, 2, WORDS(OBJECT("thread"), TICKS("ticks"), NO)),
     ROLE(SUSPEND, .thread = WORD_1, .timeout = WORD_2, .begins = EXTRACT_WAIT_SLEEP,
          .may_switch = true)},
    {EVENT(0xE005, "thread_suspend", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(SUSPEND, .thread = WORD_1, .begins = EXTRACT_WAIT_SUSPENDED, .may_switch = true)},
    {EVENT(0xE007, "thread_yield", SVC, 1, WORDS(OBJECT("thread"), NO, NO)),
     ROLE(RELINQUISH, .may_switch = true)},
    {EVENT(0xE00E, "tick", KERN, 1, WORDS(NUMBER("count"), NO, NO)), ROLE(TICK)},
    {EVENT(0xE032, "timer_create", SVC, 1, WORDS(OBJECT("timer"), NO, NO)),
     ROLE(NONE, .creates = WORD_1)},
    {EVENT(0xE033, "timer_delete", SVC, 1, WORDS(OBJECT("timer"), NO, NO)),
     ROLE(NONE, .deletes = WORD_1)},
    {EVENT(0xE036, "timer_expire", KERN, 1, WORDS(OBJECT("timer"), NO, NO))},
    {EVENT(0xE034, "timer_start", SVC, 1, WORDS(OBJECT("timer"), NO, NO))},
    {EVENT(0xE035, "timer_stop", SVC, 1, WORDS(OBJECT("timer"), NO, NO))},
};
// clang-format on

enum { EVENTS = sizeof events / sizeof *events };

static int compare_names(const void *name, const void *event)
{
    return strcmp(name, ((const struct rtos_event *)event)->type.name);
}

const void *posix_rtos_find(const char *name)
{
    return bsearch(name, events, EVENTS, sizeof *events, compare_names);
}

const struct extract_event_type *posix_rtos_events(const void *type)
{
    return &((const struct rtos_event *)type)->type;
}

enum extract_priority_order posix_rtos_order(const void *type)
{
    return type ? ((const struct rtos_event *)type)->order : EXTRACT_PRIORITY_ORDER_UNKNOWN;
}

void posix_rtos_apply(const void *type, const struct extract_ring *ring,
                      struct extract_event *event)
{
    const struct rtos_event *known = type;
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, ring->byte_order);
    uint64_t pid = event->field[3], interrupt = event->field[4];

    if (event->data_bytes < known->words * (uint32_t)ring->word_bytes)
        return;
    event->type = &known->type;
    event->fields = event->context == EXTRACT_ISR ? INTERRUPT : PID;
    for (unsigned i = 0; i < WORDS_MAX; i++)
        event->field[WORD_1 - 1 + i] =
            i < known->words ? extract_cursor_word(&c, ring->word_bytes) : 0;
    if (known->type.id == POSIX_RTOS_ID_OBJECT_NAME)
        event->field[WORD_2 - 1] = ring->word_bytes; // where its text begins
    bool is_interrupt =
        known->role.role == EXTRACT_ROLE_ISR_ENTER || known->role.role == EXTRACT_ROLE_ISR_EXIT;
    if (is_interrupt && !event->field[WORD_1 - 1])
        event->field[WORD_1 - 1] = interrupt; // the number that the port gives
    event->field[PID - 1] = pid;
    event->field[INTERRUPT - 1] = interrupt;
}

// Returns the event that a type belongs to; NULL: the type is not one of a kernel's events.
static const struct rtos_event *event_of(const struct extract_event_type *type)
{
    return type->id >= POSIX_RTOS_ID && type->id < POSIX_RTOS_ID + EVENTS
               ? (const struct rtos_event *)((const char *)type - offsetof(struct rtos_event, type))
               : NULL;
}

bool posix_rtos_is_control(const struct extract_event_type *type)
{
    return type->id < POSIX_USER;
}

unsigned posix_rtos_words(const struct extract_event *event, uint64_t words[POSIX_RTOS_WORDS])
{
    const struct rtos_event *known = event_of(event->type);

    for (unsigned i = 0; known && i < known->words; i++)
        words[i] = event->field[WORD_1 - 1 + i];
    return known ? known->words : 0;
}

// ---- the scheduler ----

static const struct extract_role_fields sleep_of_unknown_length = {.role = EXTRACT_ROLE_SUSPEND,
                                                                   .thread = WORD_1,
                                                                   .begins = EXTRACT_WAIT_SLEEP,
                                                                   .may_switch = true};

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
        event->context = EXTRACT_ISR;
        break;
    case EXTRACT_ROLE_MUTEX_PUT:
        word[2] = word[1] != 0; // it was owned once, or not at all
        break;
    case EXTRACT_ROLE_CALL:
        if (known->role.queued) { // the event's count is that after the call
            uint64_t after = word[1];
            word[1] = known->role.is_send ? after - (after != 0) : after + 1;
            word[2] = known->role.is_send ? after : after + 1;
        }
        break;
    case EXTRACT_ROLE_SUSPEND:
        if (known->send_role.role && word[2])
            return &known->send_role;
        if (known->role.timeout && !word[1])
            return &sleep_of_unknown_length;
        break;
    default:
        break;
    }
    return &known->role;
}

// All objects but threads are of one type: a mutex may be created as a semaphore first.
uint32_t posix_rtos_field_type(const struct extract_event_type *type, unsigned field)
{
    static const char *const threads[] = {"thread", "left", "entered", "owner"};
    const char *label = type->field[field].label;

    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        if (strcmp(label, threads[i]) == 0)
            return 1;
    return strcmp(label, "object") == 0 ? 0 : 2;
}

// ---- control blocks ----

// What control blocks of threads contain.
static const struct {
    const char *type, *name, *priority;
    enum extract_priority_order order;
} control_blocks[] = {
    {"tskTaskControlBlock", "pcTaskName", "uxPriority", EXTRACT_PRIORITY_HIGH_FIRST}, // FreeRTOS
};

enum { BLOCKS = sizeof control_blocks / sizeof *control_blocks };

bool posix_rtos_name_pointer(const struct extract_ring *ring, struct extract_memory *memory,
                             struct extract_symbols *symbols, uint64_t address, uint64_t *name)
{
    uint64_t offset, size;

    (void)ring;
    (void)memory;
    for (size_t i = 0; i < BLOCKS; i++)
        if (extract_symbols_member(symbols, control_blocks[i].type, control_blocks[i].name, &offset,
                                   &size)) {
            *name = address + offset;
            return true;
        }
    return false;
}

enum extract_priority_order posix_rtos_priority(struct extract_memory *memory,
                                                struct extract_symbols *symbols, uint64_t address,
                                                uint16_t *priority)
{
    uint64_t offset, size, value;
    uint8_t bytes[8];
    size_t got;

    for (size_t i = 0; i < BLOCKS; i++) {
        if (!extract_symbols_member(symbols, control_blocks[i].type, control_blocks[i].priority,
                                    &offset, &size))
            continue;
        bool is_read = memory && size <= sizeof bytes &&
                       !extract_memory_read(memory, address + offset, bytes, size, &got, NULL);
        struct extract_cursor c =
            extract_cursor_make(bytes, is_read ? size : 0, extract_symbols_byte_order(symbols));
        value = extract_cursor_number(&c, (unsigned)size);
        if (c.failed || value >= EXTRACT_NO_PRIORITY)
            continue;
        *priority = (uint16_t)value;
        return control_blocks[i].order;
    }
    return EXTRACT_PRIORITY_ORDER_UNKNOWN;
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
