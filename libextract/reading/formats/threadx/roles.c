// SPDX-License-Identifier: MIT
// formats/threadx: what ThreadX's events mean for the schedule.
//
// Sources: docs/formats/threadx.md for the fields; tx_thread_*.c records a suspension before it
// chooses the next thread and then fills in info4, so that info4 of a suspension and of a
// resumption names the thread that runs next. A service that ends a wait switches by the resumption
// that follows it, and by nothing else, unless it changes priorities.
#include "formats/threadx/threadx.h"

enum {
    SUSPENDED = EXTRACT_WAIT_SUSPENDED,
    SLEEP = EXTRACT_WAIT_SLEEP,
    QUEUE = EXTRACT_WAIT_QUEUE,
    SEMAPHORE = EXTRACT_WAIT_SEMAPHORE,
    FLAGS = EXTRACT_WAIT_FLAGS,
    BLOCK = EXTRACT_WAIT_BLOCK_POOL,
    BYTE = EXTRACT_WAIT_BYTE_POOL,
    MUTEX = EXTRACT_WAIT_MUTEX
};

// clang-format off
#define ROLE(what, ...) {.role = EXTRACT_ROLE_##what, __VA_ARGS__}
#define CALL(...)       ROLE(CALL, .object = 1, __VA_ARGS__)
const struct extract_role_fields threadx_roles[] = {
    [1]   = ROLE(RESUME, .thread = 1, .state = 2, .next = 4, .may_switch = true),
    [2]   = ROLE(SUSPEND, .thread = 1, .state = 2, .next = 4, .may_switch = true),
    [3]   = ROLE(ISR_ENTER, .number = 2),
    [4]   = ROLE(ISR_EXIT, .number = 2, .may_switch = true),
    [5]   = ROLE(TIME_SLICE, .next = 1, .may_switch = true),
    [6]   = ROLE(INTERNAL),
    [10]  = CALL(.begins = BLOCK, .timeout = 3, .left = 4),
    [11]  = ROLE(NONE, .creates = 1),
    [12]  = CALL(.ends = BLOCK, .deletes = 1),
    [17]  = CALL(.ends = BLOCK, .waiting = 3, .wakes_one = true),
    [20]  = CALL(.begins = BYTE, .timeout = 4),
    [21]  = ROLE(NONE, .creates = 1),
    [22]  = CALL(.ends = BYTE, .deletes = 1),
    [27]  = CALL(.ends = BYTE, .left = 4, .waiting = 3),
    [30]  = ROLE(NONE, .creates = 1),
    [31]  = CALL(.ends = FLAGS, .deletes = 1),
    [32]  = CALL(.begins = FLAGS, .flags = 2, .current = 3, .all_flags = 4),
    [36]  = CALL(.ends = FLAGS, .waiting = 4, .flags = 2, .clears = 3, .hands_over = true),
    [50]  = ROLE(MUTEX_CREATE, .object = 1, .creates = 1),
    [51]  = ROLE(MUTEX_DELETE, .object = 1, .ends = MUTEX, .may_switch = true, .deletes = 1),
    [52]  = ROLE(MUTEX_GET, .object = 1, .timeout = 2, .owner = 3, .count = 4, .begins = MUTEX),
    [57]  = ROLE(MUTEX_PUT, .object = 1, .owner = 2, .count = 3, .ends = MUTEX, .wakes_one = true,
                 .may_switch = true),
    [60]  = ROLE(NONE, .creates = 1),
    [61]  = CALL(.ends = QUEUE, .deletes = 1),
    [62]  = CALL(.ends = QUEUE),
    [63]  = CALL(.begins = QUEUE, .ends = QUEUE, .timeout = 3, .queued = 4, .is_send = true,
                 .is_front = true, .keeps_order = true, .hands_over = true, .wakes_one = true),
    [68]  = CALL(.begins = QUEUE, .ends = QUEUE, .timeout = 3, .queued = 4,
                 .wakes_one = true),
    [69]  = CALL(.begins = QUEUE, .ends = QUEUE, .timeout = 3, .queued = 4, .is_send = true,
                 .keeps_order = true, .hands_over = true, .wakes_one = true),
    [80]  = CALL(.ends = SEMAPHORE, .waiting = 3, .current = 2, .limit = 4, .hands_over = true,
                 .wakes_one = true),
    [81]  = ROLE(NONE, .creates = 1),
    [82]  = CALL(.ends = SEMAPHORE, .deletes = 1),
    [83]  = CALL(.begins = SEMAPHORE, .timeout = 2, .instances = 3),
    [88]  = CALL(.ends = SEMAPHORE, .waiting = 3, .hands_over = true, .wakes_one = true),
    [100] = ROLE(CREATE, .thread = 1, .priority = 2, .ends = SUSPENDED, .may_switch = true,
                 .creates = 1),
    [101] = ROLE(DELETE, .thread = 1, .deletes = 1),
    [107] = ROLE(CALL, .may_switch = true),
    [108] = ROLE(PRIORITY, .thread = 1, .priority = 2, .may_inherit = true, .may_switch = true),
    [109] = ROLE(RELINQUISH, .next = 2, .may_switch = true),
    [110] = ROLE(RESET, .thread = 1),
    [111] = ROLE(CONTINUE, .thread = 1, .ends = SUSPENDED, .may_switch = true),
    [112] = ROLE(CALL, .begins = SLEEP, .timeout = 1),
    [114] = ROLE(STOP, .thread = 1, .state = 2),
    [115] = ROLE(TERMINATE, .thread = 1, .state = 2, .may_switch = true),
    [117] = ROLE(ABORT, .thread = 1, .state = 2, .may_switch = true),
    [124] = ROLE(NONE, .creates = 1),
    [126] = ROLE(NONE, .deletes = 1),
    // NetX. Files and media of FileX are opened and closed, and stay the same objects.
    [372] = ROLE(NONE, .creates = 1),
    [373] = ROLE(NONE, .deletes = 1),
    [391] = ROLE(NONE, .creates = 1),
    [392] = ROLE(NONE, .deletes = 1),
    [412] = ROLE(NONE, .creates = 2),
    [413] = ROLE(NONE, .deletes = 2),
    [430] = ROLE(NONE, .creates = 2),
    [431] = ROLE(NONE, .deletes = 2),
};
// clang-format on

const uint32_t threadx_role_count = sizeof threadx_roles / sizeof *threadx_roles;

uint32_t threadx_field_type(const struct extract_event_type *type, unsigned field)
{
    // Types of threadx-objects.tsv, by the words that the symbols of their events contain.
    static const struct {
        const char *label, *symbol;
        uint32_t type;
    } types[] = {
        {"thread", "", THREADX_TYPE_THREAD},
        {"next thread", "", THREADX_TYPE_THREAD},
        {"owner", "", THREADX_TYPE_THREAD},
        {"timer", "", 2},
        {"queue", "", 3},
        {"semaphore", "", 4},
        {"mutex", "", 5},
        {"group", "", 6},
        {"pool", "TX_TRACE_BLOCK_", 7},
        {"pool", "TX_TRACE_BYTE_", 8},
        {"media", "FX_TRACE_", 9},
        {"file", "FX_TRACE_", 10},
        {"ip", "NX_TRACE_", 11},
        {"pool", "NX_TRACE_PACKET_", 12},
        {"socket", "TCP_", 13},
        {"socket", "UDP_", 14},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type->field[field].label, types[i].label) == 0 &&
            strstr(type->symbol, types[i].symbol))
            return types[i].type;
    return 0;
}

// Source: TX_TRACE_THREAD_EVENTS of tx_trace.h, the filter of the services of threads, and
// TX_TRACE_INTERNAL_EVENTS, that of what the kernel itself does with threads.
bool threadx_is_thread_service(const struct extract_event_type *type)
{
    return type->class_ == EXTRACT_SVC && strncmp(type->symbol, "TX_TRACE_THREAD_", 16) == 0;
}
