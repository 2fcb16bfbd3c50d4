// SPDX-License-Identifier: MIT
// kernel: FreeRTOS. A task is in one list that shows its state, and, while it waits for an object,
// with a second item in a list of that object.
//
// Source: the names of the types, members and variables are those of FreeRTOS's public headers and
// of its debuggers.
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <string.h>

enum { MAX_CORES = 64, MAX_LISTS = 256, FILL = 0xA5, MOST_STACK = 1 << 24 };

#define TASK       "tskTaskControlBlock"
#define QUEUE      "QueueDefinition"
#define GROUP      "EventGroupDef_t"
#define TIMER      "tmrTimerControl"
#define LIST       "List_t"
#define ITEM       "ListItem_t"
#define HEAP_BLOCK "A_BLOCK_LINK"

// The variables that are lists of tasks.
static const struct task_list {
    const char *symbol;
    enum extract_kernel_state state;
    bool has_wake_time; // the items' values are the times at which their tasks wake up
} task_lists[] = {
    {"pxReadyTasksLists", EXTRACT_KERNEL_READY, false},
    {"xPendingReadyList", EXTRACT_KERNEL_READY, false},
    {"xDelayedTaskList1", EXTRACT_KERNEL_SLEEPING, true},
    {"xDelayedTaskList2", EXTRACT_KERNEL_SLEEPING, true},
    {"xSuspendedTaskList", EXTRACT_KERNEL_SUSPENDED, false},
    {"xTasksWaitingTermination", EXTRACT_KERNEL_TERMINATED, false},
};

// What ucQueueType holds.
static const char *const queue_types[] = {"queue",     "mutex", "semaphore",
                                          "semaphore", "mutex", "queue set"};

struct walk {
    const struct task_list *list;
    uint64_t on_core[MAX_CORES];
    size_t core_count;
    uint64_t idle[MAX_CORES]; // the idle task of each core, as far as it is known
    uint64_t ticks;           // xTickCount
    uint64_t tick_bytes;
    bool has_ticks;
};

// ---- objects ----

static struct extract_kernel_object *find_object(struct kernel_reader *reader, uint64_t address)
{
    struct extract_kernel *kernel = reader->kernel;

    for (size_t i = 0; i < kernel->object_count; i++)
        if (kernel->objects[i].address == address)
            return &kernel->objects[i];
    return NULL;
}

// Returns what a queue is used for.
static const char *type_of_queue(struct kernel_reader *reader, const struct kernel_block *block)
{
    uint64_t type, head, item_bytes;

    if (kernel_block_get(reader, block, "ucQueueType", &type))
        return type < sizeof queue_types / sizeof *queue_types ? queue_types[type] : "queue";
    // Without the trace facility: a mutex has no storage and no head, a semaphore items of 0 bytes.
    if (kernel_block_get(reader, block, "pcHead", &head) && !head)
        return "mutex";
    return kernel_block_get(reader, block, "uxItemSize", &item_bytes) && !item_bytes ? "semaphore"
                                                                                     : "queue";
}

// Adds a queue, or returns it if it is known. Returns NULL if it cannot be read.
static struct extract_kernel_object *add_queue(struct kernel_reader *reader, uint64_t address)
{
    struct extract_kernel_object *object = find_object(reader, address);
    struct kernel_block block;

    if (object || !kernel_read_block(reader, QUEUE, address, &block))
        return object;
    object = kernel_add_object(reader, address, type_of_queue(reader, &block));
    if (!object)
        return NULL;
    if (strcmp(object->type, "mutex") == 0 &&
        !kernel_block_get(reader, &block, "u.xSemaphore.xMutexHolder", &object->owner))
        (void)kernel_block_get(reader, &block, "pxMutexHolder", &object->owner);
    bool is_queue = strcmp(object->type, "queue") == 0;
    kernel_add_figure(reader, object, &block, is_queue ? "messages" : "count", "uxMessagesWaiting");
    kernel_add_figure(reader, object, &block, is_queue ? "capacity" : "most", "uxLength");
    return object;
}

// Adds the queues that the registry names.
static void read_registry(struct kernel_reader *reader)
{
    struct extract_symbol registry;
    struct extract_inner inner;
    uint64_t name, handle;

    if (!extract_symbols_by_name(reader->symbols, "xQueueRegistry", &registry) ||
        !extract_symbols_inner(reader->symbols, registry.address, "pcQueueName", "xHandle", false,
                               &inner) ||
        !inner.has_second)
        return;
    for (uint64_t i = 0; i < inner.count && i < MAX_LISTS; i++) {
        uint64_t element = registry.address + i * inner.stride;
        if (!kernel_read_pointer(reader, element + inner.second, &handle) || !handle ||
            !kernel_read_pointer(reader, element + inner.member, &name) || !name)
            continue;
        struct extract_kernel_object *object = add_queue(reader, handle);
        if (object)
            object->name_is_likely =
                !kernel_read_name(reader, object->type, handle, name, object->name);
    }
}

// Adds a software timer, if there is one at an address: an item of it that was in a list names it.
static void add_timer(struct kernel_reader *reader, uint64_t address)
{
    struct kernel_block block;
    uint64_t owner, name;

    if (find_object(reader, address) || !kernel_read_block(reader, TIMER, address, &block) ||
        !kernel_block_get(reader, &block, "xTimerListItem.pvOwner", &owner) || owner != address)
        return;
    struct extract_kernel_object *object = kernel_add_object(reader, address, "timer");
    if (!object)
        return;
    if (kernel_block_get(reader, &block, "pcTimerName", &name) && name)
        object->name_is_likely =
            !kernel_read_name(reader, object->type, address, name, object->name);
    kernel_add_figure(reader, object, &block, "period", "xTimerPeriodInTicks");
}

static bool visit_timer(struct kernel_reader *reader, uint64_t item, void *context)
{
    struct kernel_block block;
    uint64_t timer;

    (void)context;
    if (!kernel_read_block(reader, ITEM, item, &block) ||
        !kernel_block_get(reader, &block, "pvOwner", &timer))
        return false;
    add_timer(reader, timer);
    return true;
}

// Adds the timers that run.
static void read_timers(struct kernel_reader *reader)
{
    static const char *const lists[] = {"xActiveTimerList1", "xActiveTimerList2"};
    const struct kernel_member *end = kernel_member(reader, LIST, "xListEnd");
    const struct kernel_member *next = kernel_member(reader, LIST, "xListEnd.pxNext");
    const struct kernel_member *item_next = kernel_member(reader, ITEM, "pxNext");
    const struct kernel_member *item = kernel_member(reader, TIMER, "xTimerListItem");
    struct extract_symbol symbol;

    for (size_t i = 0; end && next && item_next && item && i < 2; i++) {
        struct kernel_list list = {.what = lists[i], .type = TIMER, .offset = item->offset};
        if (!extract_symbols_by_name(reader->symbols, lists[i], &symbol) ||
            !kernel_read_pointer(reader, symbol.address + next->offset, &list.first))
            continue;
        list.end = symbol.address + end->offset;
        list.next_offset = item_next->offset;
        if (list.first && list.first != list.end) // 0: not used yet
            kernel_walk(reader, &list, visit_timer, NULL);
    }
}

// Whether a queue may be at an address. While it is locked, an interrupt changes the number of its
// messages without waking tasks.
enum fit { FIT_NONE, FIT_IF_LOCKED, FIT_QUEUE };

static bool is_locked(struct kernel_reader *reader, const struct kernel_block *block)
{
    const uint64_t unlocked = 0xFF; // -1
    uint64_t lock;

    return (kernel_block_get(reader, block, "cRxLock", &lock) && (lock & 0xFF) != unlocked) ||
           (kernel_block_get(reader, block, "cTxLock", &lock) && (lock & 0xFF) != unlocked);
}

// Returns whether a list of waiting tasks is at an address: its end has the greatest value and is
// its index, which moves only in lists of ready tasks.
static bool is_list(struct kernel_reader *reader, uint64_t address)
{
    const struct kernel_member *end = kernel_member(reader, LIST, "xListEnd");
    const struct kernel_member *value = kernel_member(reader, LIST, "xListEnd.xItemValue");
    struct kernel_block block;
    uint64_t count, index, next, last, greatest;

    if (!end || !value || !kernel_read_block(reader, LIST, address, &block) ||
        !kernel_block_get(reader, &block, "uxNumberOfItems", &count) ||
        !kernel_block_get(reader, &block, "pxIndex", &index) ||
        !kernel_block_get(reader, &block, "xListEnd.pxNext", &next) ||
        !kernel_block_get(reader, &block, "xListEnd.pxPrevious", &last) ||
        !kernel_block_get(reader, &block, "xListEnd.xItemValue", &greatest))
        return false;
    uint64_t at = address + end->offset;
    return count <= EXTRACT_KERNEL_MOST && index == at && (next == at) == !count &&
           (last == at) == !count && greatest == UINT64_MAX >> (64 - 8 * value->size);
}

static bool has_list(struct kernel_reader *reader, const char *type, uint64_t address,
                     const char *name)
{
    const struct kernel_member *member = kernel_member(reader, type, name);

    return member && is_list(reader, address + member->offset);
}

// Returns whether the storage of a queue is valid. A mutex has none: its length is 1.
static bool has_storage(struct kernel_reader *reader, const struct kernel_block *block,
                        uint64_t length)
{
    uint64_t head, at, item_bytes;

    if (!kernel_block_get(reader, block, "pcHead", &head) ||
        !kernel_block_get(reader, block, "uxItemSize", &item_bytes))
        return false;
    if (!head)
        return length == 1 && !item_bytes;
    return !kernel_block_get(reader, block, "pcWriteTo", &at) ||
           (at >= head && at - head <= length * item_bytes);
}

// Returns whether a queue whose tasks wait in a list may be at an address: receivers wait while it
// is empty, senders while it is full.
static enum fit may_be_queue(struct kernel_reader *reader, uint64_t address, bool is_sending)
{
    struct kernel_block block;
    uint64_t messages, length;

    if (!kernel_read_block(reader, QUEUE, address, &block) ||
        !kernel_block_get(reader, &block, "uxMessagesWaiting", &messages) ||
        !kernel_block_get(reader, &block, "uxLength", &length) || !length || messages > length ||
        !has_list(reader, QUEUE, address, "xTasksWaitingToReceive") ||
        !has_list(reader, QUEUE, address, "xTasksWaitingToSend") ||
        !has_storage(reader, &block, length))
        return FIT_NONE;
    return messages == (is_sending ? length : 0) ? FIT_QUEUE
           : is_locked(reader, &block)           ? FIT_IF_LOCKED
                                                 : FIT_NONE;
}

// Returns whether an event group may be at an address. The highest byte of its bits is the
// kernel's, which uses it in the items of waiting tasks.
static bool may_be_group(struct kernel_reader *reader, uint64_t address)
{
    struct kernel_block block;
    uint64_t bits;

    if (!kernel_read_block(reader, GROUP, address, &block) ||
        !kernel_block_get(reader, &block, "uxEventBits", &bits) ||
        !has_list(reader, GROUP, address, "xTasksWaitingForBits"))
        return false;
    return !(bits >> (8 * kernel_member(reader, GROUP, "uxEventBits")->size - 8));
}

// Finds the object that contains a list of waiting tasks. Returns its address; 0: not known.
static uint64_t find_waited(struct kernel_reader *reader, uint64_t container, const char **type)
{
    static const char *const members[] = {"xTasksWaitingToReceive", "xTasksWaitingToSend"};
    const struct kernel_member *bits = kernel_member(reader, GROUP, "xTasksWaitingForBits");
    uint64_t found[2] = {0, 0};
    bool may_be_locked = false;

    *type = NULL;
    for (size_t i = 0; i < 2; i++) {
        const struct kernel_member *member = kernel_member(reader, QUEUE, members[i]);
        uint64_t address = member ? container - member->offset : 0;
        enum fit fit = member ? may_be_queue(reader, address, i == 1) : FIT_NONE;
        may_be_locked |= fit == FIT_IF_LOCKED;
        if (fit == FIT_QUEUE || (fit == FIT_IF_LOCKED && find_object(reader, address)))
            found[i] = address;
        if (found[i] && find_object(reader, found[i])) // the registry names it
            found[!i] = 0;
    }
    uint64_t queue = found[0] ? found[0] : found[1];
    if (queue && !(found[0] && found[1])) {
        struct extract_kernel_object *object = add_queue(reader, queue);
        *type = object ? object->type : NULL;
        return object ? queue : 0;
    }
    if (queue || !bits || may_be_locked || // which of them is not known
        !may_be_group(reader, container - bits->offset))
        return 0;
    *type = "event flags";
    return container - bits->offset;
}

// ---- stacks ----

// Returns whether a symbol covers two addresses; or the program has none, as with heap_5, whose
// memory the application chooses.
static bool may_be_in_heap(struct kernel_reader *reader, uint64_t from, uint64_t to)
{
    struct extract_symbol heap;

    return !extract_symbols_by_name(reader->symbols, "ucHeap", &heap) ||
           (from >= heap.address && to <= heap.address + heap.size);
}

// Finds the end of a block of heap_4 or heap_5 that begins at an address: its header is before it,
// padded to the alignment of the port. In a block that is in use, the highest bit of the size is
// set, and the pointer to the next one is null, or the canary of the heap. Returns 0 if there is no
// such header.
static uint64_t find_block_end(struct kernel_reader *reader, uint64_t start)
{
    enum { LEAST_ALIGNMENT = 8, MOST_ALIGNMENT = 32 };
    const struct kernel_member *size_member = kernel_member(reader, HEAP_BLOCK, "xBlockSize");
    const struct kernel_member *next_member = kernel_member(reader, HEAP_BLOCK, "pxNextFreeBlock");
    uint64_t type_bytes, canary = 0, next, size;

    if (!size_member || size_member->size > sizeof size || !next_member ||
        !extract_symbols_type_size(reader->symbols, HEAP_BLOCK, &type_bytes))
        return 0;
    (void)kernel_read_variable(reader, "xHeapCanary", 0, &canary);
    const uint64_t in_use = UINT64_C(1) << (8 * size_member->size - 1);
    for (uint64_t align = LEAST_ALIGNMENT; align <= MOST_ALIGNMENT; align *= 2) {
        uint64_t header = (type_bytes + align - 1) & ~(align - 1), block = start - header;
        if (!kernel_read_number(reader, block + size_member->offset, size_member->size, &size) ||
            !kernel_read_pointer(reader, block + next_member->offset, &next) || !(size & in_use) ||
            (next && next != canary))
            continue;
        size &= ~in_use;
        if (size > header && size <= MOST_STACK && may_be_in_heap(reader, block, block + size))
            return block + size;
    }
    return 0;
}

// Forgets ends of stacks in whose memory there is another stack or a control block.
static void check_ends(struct kernel_reader *reader)
{
    struct extract_kernel *kernel = reader->kernel;

    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        for (size_t k = 0; thread->stack_end && k < kernel->thread_count; k++) {
            const struct extract_kernel_thread *other = &kernel->threads[k];
            if ((other->address >= thread->stack_start && other->address < thread->stack_end) ||
                (other->stack_start > thread->stack_start &&
                 other->stack_start < thread->stack_end))
                thread->stack_end = 0;
        }
    }
}

// ---- tasks ----

static void read_wait(struct kernel_reader *reader, const struct kernel_block *block,
                      struct extract_kernel_thread *thread)
{
    uint64_t container = 0, notified = 0;

    if (thread->state != EXTRACT_KERNEL_SLEEPING && thread->state != EXTRACT_KERNEL_SUSPENDED)
        return;
    if (!kernel_block_get(reader, block, "xEventListItem.pxContainer", &container))
        (void)kernel_block_get(reader, block, "xEventListItem.pvContainer", &container);
    // The states of the task's notifications: 1 while it waits for that one.
    const struct kernel_member *states = kernel_member(reader, TASK, "ucNotifyState");
    for (uint64_t i = 0; states && notified != 1 && i < states->size && i < MAX_LISTS; i++)
        (void)kernel_read_number(reader, block->address + states->offset + i, 1, &notified);
    if (container) {
        thread->state = EXTRACT_KERNEL_BLOCKED;
        thread->waiting_for = find_waited(reader, container, &thread->wait);
    } else if (notified == 1) {
        thread->state = EXTRACT_KERNEL_BLOCKED;
        thread->wait = "notification";
    }
}

static void read_task(struct kernel_reader *reader, const struct walk *walk,
                      const struct kernel_block *block, struct extract_kernel_thread *thread)
{
    const struct kernel_member *name = kernel_member(reader, TASK, "pcTaskName");
    uint64_t top, block_bytes;

    if (name) {
        kernel_read_text(reader, block->address + name->offset, thread->name);
        thread->name[name->size < EXTRACT_KERNEL_NAME ? name->size : EXTRACT_KERNEL_NAME - 1] = 0;
    }
    thread->has_priority = kernel_block_get(reader, block, "uxPriority", &thread->priority);
    thread->has_base_priority =
        kernel_block_get(reader, block, "uxBasePriority", &thread->base_priority);
    thread->state = walk->list->state;
    // A task that waits or ends keeps the core until the kernel has chosen another one.
    for (size_t i = 0; i < walk->core_count; i++)
        if (walk->on_core[i] == block->address) {
            thread->state = EXTRACT_KERNEL_RUNNING;
            thread->has_core = true;
            thread->core = (unsigned)i;
        }
    for (size_t i = 0; i < walk->core_count; i++)
        thread->is_idle |= walk->idle[i] == block->address;
    read_wait(reader, block, thread);
    (void)kernel_block_get(reader, block, "pxStack", &thread->stack_start);
    if (kernel_block_get(reader, block, "pxEndOfStack", &top) && top) // the highest word
        thread->stack_end = top + reader->word_bytes;
    else if (thread->stack_start)
        thread->stack_end = find_block_end(reader, thread->stack_start);
    if (thread->state == EXTRACT_KERNEL_RUNNING)
        kernel_check_stack(reader, thread);
    if (thread->state == EXTRACT_KERNEL_RUNNING || thread->state == EXTRACT_KERNEL_TERMINATED ||
        !kernel_block_get(reader, block, "pxTopOfStack", &thread->sp))
        return;
    // Ports with an MPU save the registers in the control block, and note where they end.
    if (extract_symbols_type_size(reader->symbols, TASK, &block_bytes) &&
        thread->sp - block->address <= block_bytes) {
        thread->no_registers = "they are in the control block, in an order that is not known";
        return;
    }
    thread->has_sp = true;
    kernel_read_context(reader, thread, false, kernel_context_freertos);
}

// Returns whether an item is one of the two in the control block of a task. The first has another
// name in releases before 9.
static bool is_item_of(struct kernel_reader *reader, uint64_t item, uint64_t task)
{
    const struct kernel_member *state = kernel_member(reader, TASK, "xStateListItem");
    const struct kernel_member *event = kernel_member(reader, TASK, "xEventListItem");

    if (!state)
        state = kernel_member(reader, TASK, "xGenericListItem");
    return (!state && !event) || (state && item == task + state->offset) ||
           (event && item == task + event->offset);
}

static bool visit_item(struct kernel_reader *reader, uint64_t item, void *context)
{
    const struct walk *walk = context;
    struct kernel_block item_block, block;
    uint64_t task, wake;

    if (kernel_read_block(reader, ITEM, item, &item_block) &&
        kernel_block_get(reader, &item_block, "pvOwner", &task) && task &&
        !kernel_read_block(reader, TASK, task, &block) &&
        kernel_note_missing_thread(reader, TASK, task))
        return true;
    if (!kernel_read_block(reader, ITEM, item, &item_block) ||
        !kernel_block_get(reader, &item_block, "pvOwner", &task) || !task ||
        !kernel_read_block(reader, TASK, task, &block)) {
        kernel_add_problem(reader, "the item at 0x%llx of %s has no task", (unsigned long long)item,
                           walk->list->symbol);
        return false;
    }
    if (!is_item_of(reader, item, task)) {
        kernel_add_problem(reader, "the item at 0x%llx of %s is not one of the task at 0x%llx",
                           (unsigned long long)item, walk->list->symbol, (unsigned long long)task);
        return true;
    }
    // A task that an interrupt made ready while the scheduler was suspended is in two lists: the
    // first one holds.
    if (extract_kernel_thread_at(reader->kernel, task))
        return true;
    struct extract_kernel_thread *thread = kernel_add_thread(reader, task);
    if (!thread)
        return false;
    read_task(reader, walk, &block, thread);
    if (walk->list->has_wake_time && walk->has_ticks && !thread->has_core &&
        kernel_block_get(reader, &item_block, "xItemValue", &wake)) {
        // The tick count may overflow before the wait ends.
        uint64_t mask =
            walk->tick_bytes < 8 ? (UINT64_C(1) << walk->tick_bytes * 8) - 1 : UINT64_MAX;
        thread->limit = EXTRACT_LIMIT_TICKS;
        thread->ticks_left = (wake - walk->ticks) & mask;
    } else if (!walk->list->has_wake_time && thread->state == EXTRACT_KERNEL_BLOCKED) {
        thread->limit = EXTRACT_LIMIT_NONE;
    }
    return true;
}

// Notes that the images do not have a list, or an array of lists.
static bool note_missing_list(struct kernel_reader *reader, const char *name)
{
    struct extract_symbol symbol;

    return extract_symbols_by_name(reader->symbols, name, &symbol) &&
           kernel_note_missing(reader, name, symbol.address, symbol.size);
}

// Sets in what the items of a list are: a task has one for lists of states, and one for the lists
// of what it waits for.
static void set_owner(struct kernel_reader *reader, struct kernel_list *list)
{
    bool is_pending = strcmp(list->what, "xPendingReadyList") == 0;
    const struct kernel_member *item =
        kernel_member(reader, TASK, is_pending ? "xEventListItem" : "xStateListItem");

    if (!item && !is_pending)
        item = kernel_member(reader, TASK, "xGenericListItem");
    if (!item)
        return;
    list->type = TASK;
    list->offset = item->offset;
    list->has_threads = true;
}

// Walks over a list. An empty one has an end that points at itself.
static void read_list(struct kernel_reader *reader, uint64_t address, struct walk *walk)
{
    const struct kernel_member *end = kernel_member(reader, LIST, "xListEnd");
    const struct kernel_member *next = kernel_member(reader, LIST, "xListEnd.pxNext");
    const struct kernel_member *item_next = kernel_member(reader, ITEM, "pxNext");
    struct kernel_list list = {.what = walk->list->symbol};

    if (!end || !next || !item_next)
        return;
    if (!kernel_read_pointer(reader, address + next->offset, &list.first)) {
        (void)note_missing_list(reader, walk->list->symbol);
        return;
    }
    set_owner(reader, &list);
    list.end = address + end->offset;
    list.next_offset = item_next->offset;
    if (!list.first || list.first == list.end) // 0: not used yet
        return;
    const size_t problems = reader->kernel->problem_count;
    kernel_walk(reader, &list, visit_item, walk);
    // What is behind an item that is damaged can be reached from the end of the list.
    const struct kernel_member *last = kernel_member(reader, LIST, "xListEnd.pxPrevious");
    const struct kernel_member *item_previous = kernel_member(reader, ITEM, "pxPrevious");
    if (reader->kernel->problem_count == problems || !last || !item_previous ||
        !kernel_read_pointer(reader, address + last->offset, &list.first) || !list.first ||
        list.first == list.end)
        return;
    list.next_offset = item_previous->offset;
    kernel_walk(reader, &list, visit_item, walk);
}

// Adds the tasks that have a core, but that no list has: a list may be damaged before them.
static void read_current(struct kernel_reader *reader, struct walk *walk)
{
    static const struct task_list none = {"pxCurrentTCB", EXTRACT_KERNEL_RUNNING, false};

    walk->list = &none;
    for (size_t i = 0; i < walk->core_count; i++) {
        struct kernel_block block;
        if (!walk->on_core[i] || extract_kernel_thread_at(reader->kernel, walk->on_core[i]) ||
            !kernel_read_block(reader, TASK, walk->on_core[i], &block))
            continue;
        struct extract_kernel_thread *thread = kernel_add_thread(reader, walk->on_core[i]);
        if (thread)
            read_task(reader, walk, &block, thread);
    }
}

static bool read_state(struct kernel_reader *reader, struct walk *walk)
{
    struct extract_symbol current, ticks;
    const char *name = "pxCurrentTCB";

    if (!extract_symbols_by_name(reader->symbols, name, &current)) {
        name = "pxCurrentTCBs";
        if (!extract_symbols_by_name(reader->symbols, name, &current))
            return false;
    }
    walk->core_count = current.size ? (size_t)(current.size / reader->word_bytes) : 1;
    if (walk->core_count > MAX_CORES)
        walk->core_count = MAX_CORES;
    for (size_t i = 0; i < walk->core_count; i++)
        if (!kernel_read_variable(reader, name, i, &walk->on_core[i]))
            return false;
    // Each task that is created before the start becomes the current one if it is more urgent.
    if (kernel_is_before_start(reader))
        memset(walk->on_core, 0, sizeof walk->on_core);
    // Since V11, there is one of each core.
    const char *idle = extract_symbols_by_name(reader->symbols, "xIdleTaskHandles", &current)
                           ? "xIdleTaskHandles"
                           : "xIdleTaskHandle";
    for (size_t i = 0; i < walk->core_count; i++)
        if (i < 1 || current.size >= (i + 1) * reader->word_bytes)
            (void)kernel_read_variable(reader, idle, i, &walk->idle[i]);
    if (extract_symbols_by_name(reader->symbols, "xTickCount", &ticks) && ticks.size) {
        walk->tick_bytes = ticks.size;
        walk->has_ticks = kernel_read_number(reader, ticks.address, ticks.size, &walk->ticks);
    }
    return true;
}

// Compares the tasks with the number of them. Those after one that the images do not have are not
// found. Each core may be moving one from list to list; if nothing is damaged, that is one that is
// missing.
static void check_count(struct kernel_reader *reader, size_t cores, uint64_t count)
{
    const size_t found = reader->kernel->thread_count;

    if (count == found || (count > found && reader->kernel->missing_count))
        return;
    reader->kernel->is_moving =
        !reader->kernel->problem_count && count > found && count - found <= cores;
    kernel_add_problem(reader, "the lists contain %zu tasks, but the kernel counts %llu%s", found,
                       (unsigned long long)count,
                       reader->kernel->is_moving ? ": it is moving one" : "");
}

// Timers that do not run are in no list.
static void read_object(struct kernel_reader *reader, const char *type, uint64_t address)
{
    if (strcmp(type, "timer") == 0)
        add_timer(reader, address);
}

static bool read_freertos(struct kernel_reader *reader)
{
    struct walk walk = {.list = NULL};
    uint64_t list_bytes, count;

    if (!read_state(reader, &walk))
        return false;
    if (!extract_symbols_type_size(reader->symbols, LIST, &list_bytes) || !list_bytes)
        return false;
    read_registry(reader);
    for (size_t i = 0; i < sizeof task_lists / sizeof *task_lists; i++) {
        struct extract_symbol lists;
        walk.list = &task_lists[i];
        if (!extract_symbols_by_name(reader->symbols, walk.list->symbol, &lists))
            continue; // not in this configuration
        size_t list_count = lists.size > list_bytes ? (size_t)(lists.size / list_bytes) : 1;
        for (size_t k = 0; k < list_count && k < MAX_LISTS; k++)
            read_list(reader, lists.address + k * list_bytes, &walk);
    }
    read_current(reader, &walk);
    read_timers(reader);
    check_ends(reader);
    if (kernel_read_variable(reader, "uxCurrentNumberOfTasks", 0, &count))
        check_count(reader, walk.core_count, count);
    return true;
}

static const char *const prefixes[] = {
    "xTask",           "vTask",   "prv",    "xQueue",          "vQueue",
    "xEvent",          "xTimer",  "vPort",  "xPort",           "ulTask",
    "pvPort",          "xStream", "uxTask", "eTask",           "xMessage",
    "pxPort",          "uxList",  "vList",  "freertos_risc_v", "PendSV_Handler",
    "SysTick_Handler", NULL};

const struct kernel_description kernel_freertos = {.name = "FreeRTOS",
                                                   .symbol = "pxReadyTasksLists",
                                                   .type = TASK,
                                                   .fill = FILL,
                                                   .current = {"pxCurrentTCB", "pxCurrentTCBs"},
                                                   .started = {"xSchedulerRunning", 1, 1},
                                                   .ticks = "xTickCount",
                                                   .interrupts = "ulPortInterruptNesting",
                                                   .prefixes = prefixes,
                                                   .context = kernel_context_freertos,
                                                   .read = read_freertos,
                                                   .read_object = read_object};
