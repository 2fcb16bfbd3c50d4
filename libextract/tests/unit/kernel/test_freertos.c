// SPDX-License-Identifier: MIT
// Tests of kernel/kernel_freertos.c on control blocks with the names of FreeRTOS.
#include "host.h"
#include "kernel/kernel_room.h"
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct xLIST List_t;
typedef struct xLIST_ITEM {
    uint32_t xItemValue;
    struct xLIST_ITEM *pxNext, *pxPrevious;
    void *pvOwner;
    List_t *pxContainer;
} ListItem_t;
typedef struct {
    uint32_t xItemValue;
    ListItem_t *pxNext, *pxPrevious;
} MiniListItem_t;
struct xLIST {
    unsigned long uxNumberOfItems;
    ListItem_t *pxIndex;
    MiniListItem_t xListEnd;
};
typedef struct tskTaskControlBlock {
    void *pxTopOfStack;
    ListItem_t xStateListItem, xEventListItem;
    unsigned long uxPriority;
    void *pxStack;
    char pcTaskName[12];
    void *pxEndOfStack;
    unsigned long uxBasePriority;
    uint8_t ucNotifyState[3];
} TCB_t;
typedef struct QueueDefinition {
    int8_t *pcHead, *pcWriteTo;
    union {
        struct {
            int8_t *pcTail;
        } xQueue;
        struct {
            TCB_t *xMutexHolder;
        } xSemaphore;
    } u;
    List_t xTasksWaitingToSend, xTasksWaitingToReceive;
    unsigned long uxMessagesWaiting, uxLength, uxItemSize;
    uint8_t ucQueueType;
} Queue_t;
typedef struct EventGroupDef_t {
    uint32_t uxEventBits;
    List_t xTasksWaitingForBits;
} EventGroup_t;
typedef struct {
    const char *pcQueueName;
    Queue_t *xHandle;
} QueueRegistryItem_t;

typedef struct tmrTimerControl {
    const char *pcTimerName;
    ListItem_t xTimerListItem;
    uint32_t xTimerPeriodInTicks;
} Timer_t;

typedef struct A_BLOCK_LINK {
    struct A_BLOCK_LINK *pxNextFreeBlock;
    size_t xBlockSize;
} BlockLink_t;

enum { PRIORITIES = 3, TIMERS = 2, TASKS = 9, STACK = 256 };

// FreeRTOS's variables.
List_t pxReadyTasksLists[PRIORITIES], xDelayedTaskList1, xDelayedTaskList2, xPendingReadyList,
    xSuspendedTaskList, xTasksWaitingTermination, xActiveTimerList1, xActiveTimerList2;
TCB_t *volatile pxCurrentTCB, *xIdleTaskHandle;
volatile uint32_t xTickCount;
volatile long xSchedulerRunning;
volatile unsigned long uxCurrentNumberOfTasks;
QueueRegistryItem_t xQueueRegistry[4];

static TCB_t tasks[TASKS];
static Queue_t mutex, orders, full;
static Timer_t beat, blink, once;
// What surrounds an event group may have the numbers of an empty queue.
static struct {
    unsigned long before[16];
    EventGroup_t group;
    unsigned long messages, length, item_bytes;
} flags;
static unsigned char stacks[TASKS][STACK];
// The memory of heap_4: blocks with their headers.
struct {
    BlockLink_t first;
    unsigned char stack[STACK];
    BlockLink_t second;
    unsigned char other[STACK];
} ucHeap;

static void list_init(List_t *list)
{
    list->uxNumberOfItems = 0;
    list->pxIndex = (ListItem_t *)(void *)&list->xListEnd;
    list->xListEnd.xItemValue = UINT32_MAX;
    list->xListEnd.pxNext = list->xListEnd.pxPrevious = (ListItem_t *)(void *)&list->xListEnd;
}

static void list_add(List_t *list, ListItem_t *item, void *owner, uint32_t value)
{
    ListItem_t *end = (ListItem_t *)(void *)&list->xListEnd;

    *item = (ListItem_t){value, end, list->xListEnd.pxPrevious, owner, list};
    if (list->uxNumberOfItems++)
        list->xListEnd.pxPrevious->pxNext = item;
    else
        list->xListEnd.pxNext = item;
    list->xListEnd.pxPrevious = item;
}

static void queue_init(Queue_t *q, uint8_t type, unsigned long messages, unsigned long length)
{
    *q = (Queue_t){.pcHead = type == 1 ? NULL : (int8_t *)q,
                   .pcWriteTo = (int8_t *)q,
                   .uxMessagesWaiting = messages,
                   .uxLength = length,
                   .uxItemSize = type ? 0 : 4,
                   .ucQueueType = type};
    list_init(&q->xTasksWaitingToSend);
    list_init(&q->xTasksWaitingToReceive);
}

static int make_kernel(void **state)
{
    static const char names[TASKS][12] = {"running", "ready", "sleeper", "taker",  "getter",
                                          "putter",  "bits",  "told",    "stopped"};
    static struct host host;

    for (int i = 0; i < PRIORITIES; i++)
        list_init(&pxReadyTasksLists[i]);
    list_init(&xDelayedTaskList1);
    list_init(&xDelayedTaskList2);
    list_init(&xPendingReadyList);
    list_init(&xSuspendedTaskList);
    list_init(&xTasksWaitingTermination);
    queue_init(&mutex, 1, 0, 1);
    queue_init(&orders, 0, 0, 4);
    queue_init(&full, 0, 6, 6);
    memset(&flags, 0, sizeof flags);
    list_init(&flags.group.xTasksWaitingForBits);
    memset(stacks, 0xA5, sizeof stacks);
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = (TCB_t){.pxTopOfStack = stacks[i] + STACK - 64,
                           .pxStack = stacks[i],
                           .pxEndOfStack = stacks[i] + STACK - sizeof(void *),
                           .uxPriority = 1,
                           .uxBasePriority = 1};
        memcpy(tasks[i].pcTaskName, names[i], sizeof names[i]);
        memset(stacks[i] + STACK - 100, 0, 100);
    }
    mutex.u.xSemaphore.xMutexHolder = &tasks[0];
    tasks[0].uxPriority = 2;
    xTickCount = 0xFFFFFFF0;
    xSchedulerRunning = 1;
    uxCurrentNumberOfTasks = TASKS;
    pxCurrentTCB = &tasks[0];
    xIdleTaskHandle = &tasks[1];
    list_add(&pxReadyTasksLists[2], &tasks[0].xStateListItem, &tasks[0], 0);
    list_add(&pxReadyTasksLists[1], &tasks[1].xStateListItem, &tasks[1], 0);
    list_add(&xDelayedTaskList1, &tasks[2].xStateListItem, &tasks[2], 0xFFFFFFF5);
    list_add(&xDelayedTaskList2, &tasks[3].xStateListItem, &tasks[3], 4); // the count overflows
    list_add(&mutex.xTasksWaitingToReceive, &tasks[3].xEventListItem, &tasks[3], 0);
    list_add(&xSuspendedTaskList, &tasks[4].xStateListItem, &tasks[4], 0);
    list_add(&orders.xTasksWaitingToReceive, &tasks[4].xEventListItem, &tasks[4], 0);
    list_add(&xSuspendedTaskList, &tasks[5].xStateListItem, &tasks[5], 0);
    list_add(&full.xTasksWaitingToSend, &tasks[5].xEventListItem, &tasks[5], 0);
    list_add(&xSuspendedTaskList, &tasks[6].xStateListItem, &tasks[6], 0);
    list_add(&flags.group.xTasksWaitingForBits, &tasks[6].xEventListItem, &tasks[6], 0);
    list_add(&xSuspendedTaskList, &tasks[7].xStateListItem, &tasks[7], 0);
    tasks[7].ucNotifyState[2] = 1;
    list_add(&xSuspendedTaskList, &tasks[8].xStateListItem, &tasks[8], 0);
    list_init(&xActiveTimerList1);
    list_init(&xActiveTimerList2);
    beat = (Timer_t){.pcTimerName = "beat", .xTimerPeriodInTicks = 50};
    blink = (Timer_t){.pcTimerName = "blink", .xTimerPeriodInTicks = 7};
    once = (Timer_t){.pcTimerName = "once", .xTimerListItem = {.pvOwner = &once}}; // has expired
    list_add(&xActiveTimerList1, &beat.xTimerListItem, &beat, 0xFFFFFFF8);
    list_add(&xActiveTimerList2, &blink.xTimerListItem, &blink, 3);
    memset(xQueueRegistry, 0, sizeof xQueueRegistry);
    xQueueRegistry[1] = (QueueRegistryItem_t){"bus", &mutex};
    xQueueRegistry[3] = (QueueRegistryItem_t){"orders", &orders};
    host_open(&host);
    *state = &host;
    return 0;
}

static int drop_kernel(void **state)
{
    host_close(*state);
    return 0;
}

static void expect_wait(const struct extract_kernel *kernel, const char *name, const char *type,
                        const volatile void *object)
{
    const struct extract_kernel_thread *thread = host_thread(kernel, name);

    assert_int_equal(thread->state, EXTRACT_KERNEL_BLOCKED);
    assert_string_equal(thread->wait, type);
    assert_int_equal(thread->waiting_for, host_address(object));
}

static const struct extract_kernel_object *find_timer(const struct extract_kernel *kernel,
                                                      const Timer_t *timer)
{
    for (size_t i = 0; i < kernel->object_count; i++)
        if (kernel->objects[i].address == host_address(timer))
            return &kernel->objects[i];
    return NULL;
}

// The timers that run are in the two lists of the timer task. An item that does not belong to a
// timer is left out.
static void timers_are_read(void **state)
{
    struct extract_kernel *kernel = host_kernel(*state);
    const struct extract_kernel_object *timer = find_timer(kernel, &beat);

    assert_non_null(timer);
    assert_string_equal(timer->type, "timer");
    assert_string_equal(timer->name, "beat");
    assert_string_equal(timer->figures[0].name, "period");
    assert_int_equal(timer->figures[0].value, 50);
    assert_non_null(find_timer(kernel, &blink));
    assert_string_equal(find_timer(kernel, &blink)->name, "blink");
    extract_kernel_free(kernel);

    blink.xTimerListItem.pvOwner = &beat.xTimerPeriodInTicks;
    kernel = host_kernel(*state);
    assert_non_null(find_timer(kernel, &beat));
    assert_null(find_timer(kernel, &blink));
    extract_kernel_free(kernel);
}

// A timer that does not run is in no list. If an event names it, its block proves that it is one.
static void a_timer_is_read_by_its_address(void **state)
{
    struct host *host = *state;
    struct extract_kernel *kernel = host_kernel(host);
    const size_t count = kernel->object_count;
    const uint64_t address = host_address(&once);

    assert_null(kernel_read_object(kernel, host->memory, host->symbols, "queue", address));
    assert_null(kernel_read_object(kernel, host->memory, host->symbols, "timer", address + 8));
    assert_null(
        kernel_read_object(kernel, host->memory, host->symbols, "timer", host_address(&beat)));
    const struct extract_kernel_object *timer =
        kernel_read_object(kernel, host->memory, host->symbols, "timer", address);
    assert_non_null(timer);
    assert_string_equal(timer->name, "once");
    assert_int_equal(kernel->object_count, count + 1);
    extract_kernel_free(kernel);
}

static void tasks_are_read(void **state)
{
    struct extract_kernel *kernel = host_kernel(*state);

    assert_string_equal(kernel->name, "FreeRTOS");
    assert_int_equal(kernel->problem_count, 0);
    assert_int_equal(kernel->thread_count, TASKS);
    const struct extract_kernel_thread *running = host_thread(kernel, "running");
    assert_int_equal(running->state, EXTRACT_KERNEL_RUNNING);
    assert_true(running->priority == 2 && running->base_priority == 1);
    assert_int_equal(running->stack_end - running->stack_start, STACK);
    assert_true(running->has_untouched && running->untouched == STACK - 100);
    assert_int_equal(host_thread(kernel, "ready")->state, EXTRACT_KERNEL_READY);
    assert_true(host_thread(kernel, "ready")->is_idle && !running->is_idle);
    assert_int_equal(host_thread(kernel, "sleeper")->state, EXTRACT_KERNEL_SLEEPING);
    assert_int_equal(host_thread(kernel, "sleeper")->ticks_left, 5);
    expect_wait(kernel, "taker", "mutex", &mutex);
    assert_int_equal(host_thread(kernel, "taker")->holder, host_address(&tasks[0]));
    assert_int_equal(host_thread(kernel, "taker")->ticks_left, 20);
    expect_wait(kernel, "getter", "queue", &orders);
    assert_int_equal(host_thread(kernel, "getter")->limit, EXTRACT_LIMIT_NONE);
    expect_wait(kernel, "putter", "queue", &full); // which the registry does not contain
    expect_wait(kernel, "bits", "event flags", &flags.group);
    expect_wait(kernel, "told", "notification", NULL);
    const struct extract_kernel_thread *stopped = host_thread(kernel, "stopped");
    assert_int_equal(stopped->state, EXTRACT_KERNEL_SUSPENDED);
    // There are no frames of FreeRTOS on this host.
    assert_true(stopped->has_sp && !stopped->has_pc);
    assert_string_equal(stopped->no_registers, "FreeRTOS's frames are not known on this machine");
    extract_kernel_free(kernel);
}

// A task that waits keeps the core until the kernel has chosen another one: its registers are those
// of the core, and not where it waited before.
static void a_wait_begins_on_the_core(void **state)
{
    pxCurrentTCB = &tasks[3];
    struct extract_kernel *kernel = host_kernel(*state);

    const struct extract_kernel_thread *taker = host_thread(kernel, "taker");
    assert_int_equal(taker->state, EXTRACT_KERNEL_RUNNING);
    assert_true(taker->has_core && !taker->has_sp && taker->limit != EXTRACT_LIMIT_TICKS);
    assert_int_equal(host_thread(kernel, "running")->state, EXTRACT_KERNEL_READY);
    extract_kernel_free(kernel);
}

// With an MPU, the registers are in the control block, and nothing is known of the stack's pointer.
static void registers_may_be_in_the_block(void **state)
{
    tasks[8].pxTopOfStack = tasks[8].pcTaskName;
    struct extract_kernel *kernel = host_kernel(*state);

    const struct extract_kernel_thread *stopped = host_thread(kernel, "stopped");
    assert_true(!stopped->has_sp && !stopped->has_pc);
    assert_int_equal(stopped->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_string_equal(stopped->no_registers,
                        "they are in the control block, in an order that is not known");
    assert_int_equal(kernel->problem_count, 0);
    extract_kernel_free(kernel);
}

// By default, FreeRTOS notes no end of a stack. The header of its block on the heap has it.
static void a_block_of_the_heap_ends_the_stack(void **state)
{
    enum { BLOCK = sizeof(BlockLink_t) + STACK, FILLED = 100 };
    const size_t in_use = ~(SIZE_MAX >> 1);

    tasks[2].pxStack = ucHeap.stack;
    tasks[2].pxEndOfStack = NULL;
    tasks[2].pxTopOfStack = ucHeap.stack + STACK - 64;
    memset(&ucHeap, 0, sizeof ucHeap);
    memset(ucHeap.stack, 0xA5, FILLED);
    ucHeap.first.xBlockSize = in_use | BLOCK;
    struct extract_kernel *kernel = host_kernel(*state);
    const struct extract_kernel_thread *thread = host_thread(kernel, "sleeper");
    assert_int_equal(thread->stack_end - thread->stack_start, STACK);
    assert_true(thread->has_untouched && thread->untouched == FILLED);
    assert_int_equal(thread->overflow, EXTRACT_OVERFLOW_NO);
    extract_kernel_free(kernel);
    // A block that is free, one that is longer than the heap, one with another stack in it, and one
    // in a list are none of the stack. What was never used is known without its end.
    static const struct {
        bool is_in_use, has_other, is_in_list;
        size_t bytes;
    } others[] = {{false, false, false, BLOCK},
                  {true, false, false, 2 * BLOCK + 1},
                  {true, true, false, 2 * BLOCK},
                  {true, false, true, BLOCK}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ucHeap.first.xBlockSize = others[i].bytes | (others[i].is_in_use ? in_use : 0);
        ucHeap.first.pxNextFreeBlock = others[i].is_in_list ? &ucHeap.second : NULL;
        tasks[3].pxStack = others[i].has_other ? ucHeap.other : stacks[3];
        kernel = host_kernel(*state);
        thread = host_thread(kernel, "sleeper");
        assert_int_equal(thread->stack_end, 0);
        assert_true(thread->has_untouched && thread->untouched == FILLED);
        assert_int_equal(thread->overflow, EXTRACT_OVERFLOW_NO);
        extract_kernel_free(kernel);
    }
}

// The kernel's own check covers the lowest 16 bytes. A task whose stack pointer is elsewhere, or
// not known, has no stack that is known to be in order.
static void an_overflow_is_denied_by_proof_only(void **state)
{
    enum { LOWEST = 16 };

    stacks[2][LOWEST - 1] = 0;
    stacks[3][LOWEST] = 0;
    tasks[7].pxTopOfStack = stacks[7] - 64;         // below it
    tasks[8].pxTopOfStack = stacks[8] + STACK + 64; // above it
    memset(stacks[1], 0, STACK);                    // cleared
    struct extract_kernel *kernel = host_kernel(*state);
    assert_int_equal(host_thread(kernel, "sleeper")->overflow, EXTRACT_OVERFLOW_SUSPECTED);
    assert_int_equal(host_thread(kernel, "taker")->overflow, EXTRACT_OVERFLOW_NO);
    assert_int_equal(host_thread(kernel, "ready")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_int_equal(host_thread(kernel, "told")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_int_equal(host_thread(kernel, "stopped")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_int_equal(host_thread(kernel, "running")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    // The registers of the core have the stack pointer of the task that runs.
    const struct register_machine *machine = register_machine_find(EM_ARM, 4, true);
    const uint64_t sps[] = {4096, 0};
    for (size_t i = 0; i < 2; i++) {
        struct extract_registers core = {.known = 0};
        struct extract_kernel_thread *thread =
            &kernel->threads[host_thread(kernel, "running") - kernel->threads];
        register_set(&core, ARM_PSR, 0x01000000);
        register_set(&core, ARM_SP, thread->stack_start + sps[i]);
        register_set(&core, ARM_PSP, thread->stack_start + sps[i]);
        kernel_check_running(kernel, 0, machine, &core);
        assert_int_equal(thread->overflow, i ? EXTRACT_OVERFLOW_NO : EXTRACT_OVERFLOW_UNKNOWN);
    }
    extract_kernel_free(kernel);
}

// Each task that is created before the start may become the current one. None of them has run, and
// a port may have noted the stack pointer of start-up code for it.
static void nothing_runs_before_the_start(void **state)
{
    struct host *host = *state;
    uint64_t current;

    for (int is_started = 0; is_started < 2; is_started++) {
        xSchedulerRunning = 0;
        xTickCount = is_started ? 5 : 0; // with ticks, the variable is damaged
        tasks[1].pxTopOfStack = stacks[1] - 64;
        memset(stacks[1], 0, STACK);
        struct extract_kernel *kernel = host_kernel(host);
        const struct extract_kernel_thread *first = host_thread(kernel, "running");
        assert_int_equal(first->has_core, is_started);
        assert_int_equal(first->state, is_started ? EXTRACT_KERNEL_RUNNING : EXTRACT_KERNEL_READY);
        assert_int_equal(host_thread(kernel, "ready")->overflow,
                         is_started ? EXTRACT_OVERFLOW_PROVEN : EXTRACT_OVERFLOW_UNKNOWN);
        assert_true(kernel_read_current(host->memory, host->symbols, 0, &current));
        assert_int_equal(current, is_started ? host_address(&tasks[0]) : 0);
        extract_kernel_free(kernel);
    }
}

// Frames that crossed the end of a stack leave return addresses on both sides of it.
static _Alignas(16) struct {
    TCB_t victim;
    unsigned char stack[STACK];
} row;

static void put_return(void *at, unsigned offset)
{
    uintptr_t address = (uintptr_t)&extract_kernel_free + offset;
    memcpy(at, &address, sizeof address);
}

static void expect_spill(struct host *host, const char *name, bool has_spilled)
{
    struct extract_kernel *kernel = host_kernel(host);
    const struct extract_kernel_thread *thread = host_thread(kernel, name);

    assert_int_equal(thread->has_spilled, has_spilled);
    assert_int_equal(thread->overflow,
                     has_spilled ? EXTRACT_OVERFLOW_SUSPECTED : EXTRACT_OVERFLOW_UNKNOWN);
    extract_kernel_free(kernel);
}

static void frames_cross_the_end_of_a_stack(void **state)
{
    memset(stacks, 0, sizeof stacks); // not filled
    memset(&row, 0, sizeof row);
    // Below the stack of the task "taker" is that of another one, which has return addresses, too.
    put_return(stacks[2] + STACK - 16, 4);
    put_return(stacks[3] + 24, 8);
    expect_spill(*state, "taker", false);
    put_return(stacks[3] + 32, 4);
    expect_spill(*state, "taker", true);
    // A control block has none.
    tasks[3].pxStack = row.stack;
    tasks[3].pxTopOfStack = row.stack + STACK - 64;
    tasks[3].pxEndOfStack = row.stack + STACK - sizeof(void *);
    list_init(&pxReadyTasksLists[1]);
    row.victim = tasks[1];
    list_add(&pxReadyTasksLists[1], &row.victim.xStateListItem, &row.victim, 0);
    put_return(row.stack + 40, 4);
    expect_spill(*state, "taker", false);
    put_return(&row.victim.uxBasePriority, 8);
    expect_spill(*state, "taker", true);
    // Stacks that are filled show how far they were used.
    memset(stacks[5], 0xA5, STACK / 2);
    expect_spill(*state, "getter", false);
    struct extract_kernel *kernel = host_kernel(*state);
    assert_false(host_thread(kernel, "taker")->has_spilled);
    extract_kernel_free(kernel);
}

// The control block of the task that runs is below its own stack, and was overwritten.
static void a_stack_may_reach_its_own_block(void **state)
{
    memset(stacks, 0, sizeof stacks);
    memset(&row, 0, sizeof row);
    row.victim = tasks[0];
    row.victim.pxStack = (void *)16;
    pxCurrentTCB = &row.victim;
    put_return(&row.victim.uxBasePriority, 4);
    for (int has_frames = 0; has_frames < 2; has_frames++) {
        if (has_frames)
            put_return(row.stack + 40, 8);
        struct extract_kernel *kernel = host_kernel(*state);
        const struct extract_kernel_thread *thread =
            extract_kernel_thread_at(kernel, host_address(&row.victim));
        assert_non_null(thread);
        assert_int_equal(thread->has_spilled, has_frames);
        if (has_frames) {
            assert_int_equal(thread->overflow, EXTRACT_OVERFLOW_SUSPECTED);
            assert_int_equal(thread->stack_start, host_address(row.stack));
            assert_true(!*thread->name && !thread->has_priority);
        }
        extract_kernel_free(kernel);
    }
}

static void queues_are_read(void **state)
{
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(kernel->object_count, 3 + TIMERS);
    assert_string_equal(kernel->objects[0].name, "bus");
    assert_string_equal(kernel->objects[0].type, "mutex");
    assert_int_equal(kernel->objects[0].owner, host_address(&tasks[0]));
    assert_int_equal(kernel->objects[0].waiters, 1);
    assert_string_equal(kernel->objects[1].name, "orders");
    assert_int_equal(kernel->objects[1].figures[1].value, 4);
    assert_string_equal(kernel->objects[2].name, "");
    assert_int_equal(kernel->objects[2].figures[0].value, 6);
    extract_kernel_free(kernel);
}

static void an_event_group_is_no_queue(void **state)
{
    flags.length = 1;
    struct extract_kernel *kernel = host_kernel(*state);

    expect_wait(kernel, "bits", "event flags", &flags.group);
    assert_int_equal(kernel->object_count, 3 + TIMERS);
    extract_kernel_free(kernel);
    // What is neither is not known.
    flags.group.uxEventBits = UINT32_MAX;
    kernel = host_kernel(*state);
    const struct extract_kernel_thread *thread = host_thread(kernel, "bits");
    assert_int_equal(thread->state, EXTRACT_KERNEL_BLOCKED);
    assert_null(thread->wait);
    assert_int_equal(thread->waiting_for, 0);
    assert_int_equal(kernel->object_count, 3 + TIMERS);
    extract_kernel_free(kernel);
}

static void damage_ends_one_list_only(void **state)
{
    tasks[4].xStateListItem.pxNext = &tasks[4].xStateListItem;
    tasks[0].xStateListItem.pvOwner = NULL;
    struct extract_kernel *kernel = host_kernel(*state);

    host_expect_problem(kernel, "xSuspendedTaskList is circular");
    host_expect_problem(kernel, "has no task");
    assert_int_equal(kernel->thread_count, TASKS);
    assert_int_equal(host_thread(kernel, "sleeper")->state, EXTRACT_KERNEL_SLEEPING);
    assert_int_equal(host_thread(kernel, "getter")->state, EXTRACT_KERNEL_BLOCKED);
    extract_kernel_free(kernel);
}

// The tasks behind the damage are found from the end of the list, and the one on the core by the
// variable that names it.
static void tasks_behind_damage_are_found(void **state)
{
    tasks[5].xStateListItem.pvOwner = NULL;
    tasks[5].xStateListItem.pxNext = tasks[5].xStateListItem.pxPrevious = NULL;
    pxReadyTasksLists[2].xListEnd.pxNext = pxReadyTasksLists[2].xListEnd.pxPrevious =
        (ListItem_t *)(void *)&pxReadyTasksLists[2].xListEnd;
    struct extract_kernel *kernel = host_kernel(*state);

    host_expect_problem(kernel, "the lists contain 8 tasks, but the kernel counts 9");
    assert_int_equal(kernel->thread_count, TASKS - 1);
    assert_int_equal(host_thread(kernel, "getter")->state, EXTRACT_KERNEL_BLOCKED);
    assert_int_equal(host_thread(kernel, "told")->state, EXTRACT_KERNEL_BLOCKED);
    assert_int_equal(host_thread(kernel, "stopped")->state, EXTRACT_KERNEL_SUSPENDED);
    assert_int_equal(host_thread(kernel, "running")->state, EXTRACT_KERNEL_RUNNING);
    assert_true(host_thread(kernel, "running")->has_core);
    extract_kernel_free(kernel);
}

// The kernel moves a task from list to list: for a moment, none has it.
static void a_task_may_be_between_lists(void **state)
{
    list_init(&pxReadyTasksLists[1]);
    struct extract_kernel *kernel = host_kernel(*state);

    host_expect_problem(kernel, "the kernel counts 9: it is moving one");
    assert_true(kernel->is_moving && kernel->problem_count == 1);
    extract_kernel_free(kernel);
    uxCurrentNumberOfTasks = TASKS + 1;
    kernel = host_kernel(*state);
    assert_false(kernel->is_moving);
    extract_kernel_free(kernel);
}

// An owner that is another address is no task, and the rest of the list is read.
static void an_item_belongs_to_its_task(void **state)
{
    tasks[4].xStateListItem.pvOwner = stacks[1];
    struct extract_kernel *kernel = host_kernel(*state);

    host_expect_problem(kernel, "of xSuspendedTaskList is not one of the task at 0x");
    assert_int_equal(kernel->thread_count, TASKS - 1);
    assert_int_equal(host_thread(kernel, "putter")->state, EXTRACT_KERNEL_BLOCKED);
    extract_kernel_free(kernel);
}

extern char __executable_start[], _end[]; // of the program

// Between variables lies what a sanitizer lets nobody read, but the process's own file.
static void add_image(struct extract_memory *memory, const char *from, const char *to)
{
    size_t bytes = (size_t)(to - from);
    char *copy = calloc(1, bytes);
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    assert_non_null(copy);
    assert_true(fd >= 0 && pread(fd, copy, bytes, (off_t)(uintptr_t)from) > 0);
    close(fd);
    assert_int_equal(
        extract_memory_add_bytes(memory, "the program", copy, bytes, host_address(from), NULL),
        EXTRACT_OK);
    free(copy);
}

// Behind a task that the images do not have, there are more. That fewer are found than the kernel
// counts does not prove damage then.
static void missing_tasks_are_no_damage(void **state)
{
    struct host *host = *state;
    struct extract_memory *images;
    struct extract_kernel *kernel;

    assert_int_equal(extract_memory_new_images(&images, NULL), EXTRACT_OK);
    add_image(images, __executable_start, (const char *)&tasks[5]);
    add_image(images, (const char *)&tasks[8], _end);
    assert_int_equal(extract_kernel_read(&kernel, images, host->symbols, NULL), EXTRACT_OK);
    assert_true(kernel->thread_count < TASKS);
    assert_true(kernel->missing_count > 0);
    assert_int_equal(kernel->problem_count, kernel->missing_count);
    extract_kernel_free(kernel);
    extract_memory_close(images);
}

// Empty lists show where an image was; three of them make it likely. Others show nothing.
static void empty_lists_tell_where_an_image_was(void **state)
{
    enum { LISTS = 4, FURTHER = 0x1000 };
    static List_t lists[LISTS];
    static ListItem_t item;
    const uint64_t address = host_address(lists);
    (void)state;

    for (unsigned used = 0; used < LISTS; used++)
        for (unsigned distance = 0; distance <= FURTHER; distance += FURTHER) {
            struct host host;
            uint64_t now = 0, before = 0;
            for (unsigned i = 0; i < LISTS; i++)
                list_init(&lists[i]);
            for (unsigned i = 0; i < used; i++)
                list_add(&lists[i], &item, NULL, 1);
            host_open(&host);
            extract_memory_close(host.memory);
            assert_int_equal(extract_memory_new_images(&host.memory, NULL), EXTRACT_OK);
            assert_int_equal(extract_memory_add_bytes(host.memory, "lists", lists, sizeof lists,
                                                      address + distance, NULL),
                             EXTRACT_OK);
            struct kernel_reader reader = kernel_reader_make(NULL, host.memory, host.symbols);
            assert_int_equal(kernel_find_moved(&reader, &now, &before), distance && used < 2);
            assert_int_equal(now, address + distance);
            assert_true(!distance || used > 1 || before == address);
            host_close(&host);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_kernel, drop_kernel)
    const struct CMUnitTest tests[] = {TEST(tasks_are_read),
                                       TEST(timers_are_read),
                                       TEST(missing_tasks_are_no_damage),
                                       TEST(a_timer_is_read_by_its_address),
                                       TEST(queues_are_read),
                                       TEST(a_wait_begins_on_the_core),
                                       TEST(registers_may_be_in_the_block),
                                       TEST(a_block_of_the_heap_ends_the_stack),
                                       TEST(an_overflow_is_denied_by_proof_only),
                                       TEST(nothing_runs_before_the_start),
                                       TEST(frames_cross_the_end_of_a_stack),
                                       TEST(a_stack_may_reach_its_own_block),
                                       TEST(an_event_group_is_no_queue),
                                       TEST(damage_ends_one_list_only),
                                       TEST(tasks_behind_damage_are_found),
                                       TEST(a_task_may_be_between_lists),
                                       TEST(an_item_belongs_to_its_task),
                                       TEST(empty_lists_tell_where_an_image_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
