// SPDX-License-Identifier: MIT
// kernel: ThreadX on one core and on several (SMP), and bout, the kernel of qemu-tests, whose
// control blocks have the same names.
//
// Source: the names are those of ThreadX's public header tx_api.h, the numbers of states and the
// ids of objects those that its user guide and debuggers show.
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <stdio.h>
#include <string.h>

enum { MAX_CORES = 64, FILL = 0xEF, KINDS = 7, TIMERS = 0, MEMBER_BYTES = 64 };
enum { MOST_TIMERS = 256 }; // in one list of the wheel

// The numbers that tx_thread_state holds. `wait`: what the thread then waits for.
static const struct {
    enum extract_kernel_state state;
    const char *wait;
} states[] = {
    {EXTRACT_KERNEL_READY, NULL},           {EXTRACT_KERNEL_COMPLETED, NULL},
    {EXTRACT_KERNEL_TERMINATED, NULL},      {EXTRACT_KERNEL_SUSPENDED, NULL},
    {EXTRACT_KERNEL_SLEEPING, NULL},        {EXTRACT_KERNEL_BLOCKED, "queue"},
    {EXTRACT_KERNEL_BLOCKED, "semaphore"},  {EXTRACT_KERNEL_BLOCKED, "event flags"},
    {EXTRACT_KERNEL_BLOCKED, "block pool"}, {EXTRACT_KERNEL_BLOCKED, "byte pool"},
    {EXTRACT_KERNEL_BLOCKED, "I/O driver"}, {EXTRACT_KERNEL_BLOCKED, "file"},
    {EXTRACT_KERNEL_BLOCKED, "TCP/IP"},     {EXTRACT_KERNEL_BLOCKED, "mutex"},
    {EXTRACT_KERNEL_READY, NULL}, // its priority changes
};

// The kinds of objects, in the order in which bout numbers them.
static const struct kind {
    const char *name;   // of the kind
    const char *type;   // of the control block
    const char *prefix; // of the members
    const char *list;   // the variable that points to the first one
    uint32_t id;
    const char *owner;
    struct {
        const char *name, *member;
    } figures[EXTRACT_KERNEL_FIGURES];
} kinds[KINDS] = {
    {"timer",
     "TX_TIMER",
     "tx_timer_",
     "_tx_timer_created_ptr",
     0x4154494D,
     NULL,
     {{"period", "tx_timer_internal.tx_timer_internal_re_initialize_ticks"}}},
    {"queue",
     "TX_QUEUE",
     "tx_queue_",
     "_tx_queue_created_ptr",
     0x51554555,
     NULL,
     {{"messages", "tx_queue_enqueued"}, {"capacity", "tx_queue_capacity"}}},
    {"semaphore",
     "TX_SEMAPHORE",
     "tx_semaphore_",
     "_tx_semaphore_created_ptr",
     0x53454D41,
     NULL,
     {{"count", "tx_semaphore_count"}}},
    {"mutex",
     "TX_MUTEX",
     "tx_mutex_",
     "_tx_mutex_created_ptr",
     0x4D555445,
     "tx_mutex_owner",
     {{"held", "tx_mutex_ownership_count"}}},
    {"event flags",
     "TX_EVENT_FLAGS_GROUP",
     "tx_event_flags_group_",
     "_tx_event_flags_created_ptr",
     0x4456444E,
     NULL,
     {{"flags", "tx_event_flags_group_current"}}},
    {"block pool",
     "TX_BLOCK_POOL",
     "tx_block_pool_",
     "_tx_block_pool_created_ptr",
     0x424C4F43,
     NULL,
     {{"available", "tx_block_pool_available"}, {"total", "tx_block_pool_total"}}},
    {"byte pool",
     "TX_BYTE_POOL",
     "tx_byte_pool_",
     "_tx_byte_pool_created_ptr",
     0x42595445,
     NULL,
     {{"available", "tx_byte_pool_available"}, {"size", "tx_byte_pool_size"}}},
};

// The members of a control block that are those of its timer.
struct timer_members {
    const char *self, *list, *remaining, *next;
};
#define TIMER_MEMBERS(timer)                                                                       \
    {                                                                                              \
        timer, timer ".tx_timer_internal_list_head", timer ".tx_timer_internal_remaining_ticks",   \
            timer ".tx_timer_internal_active_next"                                                 \
    }
static const struct timer_members wait_timer = TIMER_MEMBERS("tx_thread_timer");
static const struct timer_members own_timer = TIMER_MEMBERS("tx_timer_internal");

// The timers that run: a ring of lists, of which each tick takes the next one.
struct wheel {
    uint64_t start, end, current; // addresses of lists; 0: unknown
};

struct walk {
    struct wheel wheel;
    bool (*context)(struct kernel_reader *reader, struct kernel_saved *saved,
                    struct extract_registers *registers); // reads the frames of the kernel
    const struct kind *kind;                              // of objects; NULL: threads
    uint64_t item_offset;                                 // of the item in the control block
    uint64_t on_core[MAX_CORES];
    size_t core_count;
};

// ---- timers ----

static void read_wheel(struct kernel_reader *reader, struct wheel *wheel)
{
    if (!kernel_read_variable(reader, "_tx_timer_list_start", 0, &wheel->start) ||
        !kernel_read_variable(reader, "_tx_timer_list_end", 0, &wheel->end) ||
        !kernel_read_variable(reader, "_tx_timer_current_ptr", 0, &wheel->current) ||
        wheel->current < wheel->start || wheel->current >= wheel->end)
        *wheel = (struct wheel){.start = 0};
}

// Returns whether a list of the wheel contains a timer. While the kernel serves a list, its timers
// still point to it, but it is empty.
static bool contains_timer(struct kernel_reader *reader, uint64_t list, uint64_t timer,
                           uint64_t next_offset)
{
    uint64_t first, at;

    if (!kernel_read_pointer(reader, list, &first) || !first)
        return false;
    at = first;
    for (size_t i = 0; i < MOST_TIMERS && at != timer; i++)
        if (!kernel_read_pointer(reader, at + next_offset, &at) || !at || at == first)
            return false;
    return at == timer;
}

// Gets how many ticks are left of a timer. The list that holds it shows the ticks of this turn of
// the wheel; `remaining_ticks` has what is left of others, and is not counted down in between.
static bool get_ticks_left(struct kernel_reader *reader, const struct walk *walk,
                           const struct kernel_block *block, const struct timer_members *timer,
                           uint64_t *ticks)
{
    const struct wheel *wheel = &walk->wheel;
    uint64_t turn = (wheel->end - wheel->start) / reader->word_bytes;
    const struct kernel_member *self = kernel_member(reader, block->type, timer->self);
    const struct kernel_member *next = kernel_member(reader, block->type, timer->next);
    uint64_t list, remaining;

    if (!wheel->start || !self || !next || !kernel_block_get(reader, block, timer->list, &list) ||
        !kernel_block_get(reader, block, timer->remaining, &remaining) || list < wheel->start ||
        list >= wheel->end || (list - wheel->start) % reader->word_bytes ||
        !contains_timer(reader, list, block->address + self->offset, next->offset - self->offset))
        return false;
    uint64_t distance = list >= wheel->current
                            ? list - wheel->current
                            : (list - wheel->start) + (wheel->end - wheel->current);
    *ticks = distance / reader->word_bytes + 1 + (remaining > turn ? remaining - turn : 0);
    return true;
}

// ---- threads ----

static void read_stack(struct kernel_reader *reader, const struct kernel_block *block,
                       struct extract_kernel_thread *thread)
{
    uint64_t start, end, size;

    if (!kernel_block_get(reader, block, "tx_thread_stack_start", &start) ||
        !kernel_block_get(reader, block, "tx_thread_stack_end", &end))
        return;
    // One of the three is damaged if they do not agree, and which one is not known.
    bool has_size = kernel_block_get(reader, block, "tx_thread_stack_size", &size);
    if (end < start || !start || (has_size && end - start != size - 1)) {
        kernel_add_problem(reader, "thread at 0x%llx: invalid stack from 0x%llx to 0x%llx",
                           (unsigned long long)thread->address, (unsigned long long)start,
                           (unsigned long long)end);
        return;
    }
    thread->stack_start = start;
    thread->stack_end = end + 1;
}

// The kernel starts no timer for a wait of this many ticks (TX_WAIT_FOREVER).
static void read_limit(struct kernel_reader *reader, const struct walk *walk,
                       const struct kernel_block *block, struct extract_kernel_thread *thread)
{
    const uint64_t forever = 0xFFFFFFFF;
    uint64_t remaining, list;

    if (get_ticks_left(reader, walk, block, &wait_timer, &thread->ticks_left))
        thread->limit = EXTRACT_LIMIT_TICKS;
    else if (kernel_block_get(reader, block, wait_timer.remaining, &remaining) &&
             kernel_block_get(reader, block, wait_timer.list, &list) && remaining == forever &&
             !list)
        thread->limit = EXTRACT_LIMIT_NONE;
}

static void read_wait(struct kernel_reader *reader, const struct walk *walk,
                      const struct kernel_block *block, struct extract_kernel_thread *thread)
{
    if (thread->state != EXTRACT_KERNEL_BLOCKED && thread->state != EXTRACT_KERNEL_SLEEPING)
        return;
    if (thread->state == EXTRACT_KERNEL_BLOCKED)
        (void)kernel_block_get(reader, block, "tx_thread_suspend_control_block",
                               &thread->waiting_for);
    read_limit(reader, walk, block, thread);
}

static void read_registers(struct kernel_reader *reader, const struct walk *walk,
                           const struct kernel_block *block, struct extract_kernel_thread *thread)
{
    uint64_t has_fpu = 0;

    if (thread->state == EXTRACT_KERNEL_RUNNING)
        kernel_check_stack(reader, thread);
    if (thread->state == EXTRACT_KERNEL_RUNNING || thread->state == EXTRACT_KERNEL_COMPLETED ||
        thread->state == EXTRACT_KERNEL_TERMINATED ||
        !kernel_block_get(reader, block, "tx_thread_stack_ptr", &thread->sp))
        return;
    if (!kernel_block_get(reader, block, "tx_thread_fp_enable", &has_fpu))
        (void)kernel_block_get(reader, block, "tx_thread_vfp_enable", &has_fpu);
    thread->has_sp = true;
    kernel_read_context(reader, thread, has_fpu != 0, walk->context);
}

static bool visit_thread(struct kernel_reader *reader, uint64_t item, void *context)
{
    const uint32_t thread_id = 0x54485244;
    const struct walk *walk = context;
    struct kernel_block block;
    uint64_t id = 0, name = 0, state = 0;

    if (extract_kernel_thread_at(reader->kernel, item)) // from the other end of the list
        return false;
    if (!kernel_read_block(reader, "TX_THREAD", item, &block))
        return kernel_note_missing_thread(reader, "TX_THREAD", item);
    if (!kernel_block_get(reader, &block, "tx_thread_id", &id) || id != thread_id) {
        kernel_add_problem(reader, "the thread list contains 0x%llx, which is not a thread",
                           (unsigned long long)item);
        return false;
    }
    struct extract_kernel_thread *thread = kernel_add_thread(reader, item);
    if (!thread)
        return false;
    if (kernel_block_get(reader, &block, "tx_thread_name", &name))
        thread->name_is_likely = !kernel_read_name(reader, "thread", item, name, thread->name);
    thread->has_priority =
        kernel_block_get(reader, &block, "tx_thread_priority", &thread->priority);
    thread->has_base_priority =
        kernel_block_get(reader, &block, "tx_thread_user_priority", &thread->base_priority);
    bool has_state = kernel_block_get(reader, &block, "tx_thread_state", &state);
    if (has_state && state < sizeof states / sizeof *states) {
        thread->state = states[state].state;
        thread->wait = states[state].wait;
    } else if (has_state) {
        kernel_add_problem(reader, "thread at 0x%llx: invalid state %llu", (unsigned long long)item,
                           (unsigned long long)state);
    }
    for (size_t i = 0; i < walk->core_count; i++) {
        if (walk->on_core[i] != item)
            continue;
        // A thread that suspends itself has the core until it is switched.
        if (thread->state != EXTRACT_KERNEL_READY)
            thread->change = EXTRACT_CHANGE_LEAVES;
        thread->state = EXTRACT_KERNEL_RUNNING;
        thread->has_core = true;
        thread->core = (unsigned)i;
    }
    (void)kernel_block_get(reader, &block, "tx_thread_entry", &thread->entry);
    read_stack(reader, &block, thread);
    read_wait(reader, walk, &block, thread);
    read_registers(reader, walk, &block, thread);
    return true;
}

// Reads which thread has each core. Returns false if that variable cannot be read.
static bool read_cores(struct kernel_reader *reader, struct walk *walk)
{
    struct extract_symbol current;

    if (!extract_symbols_by_name(reader->symbols, "_tx_thread_current_ptr", &current))
        return false;
    walk->core_count = current.size ? (size_t)(current.size / reader->word_bytes) : 1;
    if (walk->core_count > MAX_CORES)
        walk->core_count = MAX_CORES;
    for (size_t i = 0; i < walk->core_count; i++)
        if (!kernel_read_variable(reader, "_tx_thread_current_ptr", i, &walk->on_core[i]))
            return false;
    return true;
}

static bool read_threads(struct kernel_reader *reader, struct walk *walk)
{
    const struct kernel_member *next = kernel_member(reader, "TX_THREAD", "tx_thread_created_next");
    const struct kernel_member *previous =
        kernel_member(reader, "TX_THREAD", "tx_thread_created_previous");
    struct kernel_list list = {.what = "thread list", .type = "TX_THREAD", .has_threads = true};
    uint64_t count;

    if (!next || !read_cores(reader, walk) ||
        !kernel_read_variable(reader, "_tx_thread_created_ptr", 0, &list.first))
        return false;
    list.end = list.first;
    list.next_offset = next->offset;
    // From the other end, those after the one that the images do not have.
    if (list.first && !kernel_walk(reader, &list, visit_thread, walk) && previous &&
        kernel_read_pointer(reader, list.first + previous->offset, &list.first)) {
        list.next_offset = previous->offset;
        (void)kernel_walk(reader, &list, visit_thread, walk);
    }
    if (kernel_read_variable(reader, "_tx_thread_created_count", 0, &count) &&
        count != reader->kernel->thread_count && !reader->kernel->missing_count)
        kernel_add_problem(reader, "the thread list contains %zu, but the kernel counts %llu",
                           reader->kernel->thread_count, (unsigned long long)count);
    return true;
}

// ---- objects ----

static const char *member_of(const struct kind *kind, const char *name, char text[MEMBER_BYTES])
{
    snprintf(text, MEMBER_BYTES, "%s%s", kind->prefix, name);
    return text;
}

// Reads a member by the end of its name. It is not remembered, because the name is not constant.
static bool get_own(struct kernel_reader *reader, const struct walk *walk,
                    const struct kernel_block *block, const char *name, uint64_t *value)
{
    char text[MEMBER_BYTES];
    uint64_t offset, size;

    return extract_symbols_member(reader->symbols, walk->kind->type,
                                  member_of(walk->kind, name, text), &offset, &size) &&
           kernel_read_number(reader, block->address + offset, size, value);
}

static void read_timer(struct kernel_reader *reader, const struct walk *walk,
                       const struct kernel_block *block, struct extract_kernel_object *object)
{
    uint64_t list, ticks;

    if (!kernel_block_get(reader, block, own_timer.list, &list))
        return;
    if (get_ticks_left(reader, walk, block, &own_timer, &ticks))
        kernel_put_figure(object, "ticks left", ticks);
    kernel_put_figure(object, "active", list != 0);
}

static bool visit_object(struct kernel_reader *reader, uint64_t item, void *context)
{
    const struct walk *walk = context;
    const struct kind *kind = walk->kind;
    uint64_t address = item - walk->item_offset, id = 0, name;
    struct kernel_block block;

    if (!kernel_read_block(reader, kind->type, address, &block) ||
        !get_own(reader, walk, &block, "id", &id) || (uint32_t)id != kind->id) {
        kernel_add_problem(reader, "the %s list contains 0x%llx, which is not one", kind->name,
                           (unsigned long long)address);
        return false;
    }
    struct extract_kernel_object *object = kernel_add_object(reader, address, kind->name);
    if (!object)
        return false;
    if (get_own(reader, walk, &block, "name", &name))
        object->name_is_likely = !kernel_read_name(reader, kind->name, address, name, object->name);
    for (size_t i = 0; i < EXTRACT_KERNEL_FIGURES && kind->figures[i].name; i++)
        kernel_add_figure(reader, object, &block, kind->figures[i].name, kind->figures[i].member);
    if (kind == &kinds[TIMERS])
        read_timer(reader, walk, &block, object);
    if (kind->owner)
        (void)kernel_block_get(reader, &block, kind->owner, &object->owner);
    return true;
}

// Reads the objects of a kind. ThreadX has a pointer to the first of each kind, whose control
// blocks point at each other.
static void read_ring(struct kernel_reader *reader, struct walk *walk)
{
    char text[MEMBER_BYTES], what[48];
    struct kernel_list list = {.what = what};
    uint64_t size;

    snprintf(what, sizeof what, "%s list", walk->kind->name);
    if (!kernel_read_variable(reader, walk->kind->list, 0, &list.first) || !list.first ||
        !extract_symbols_member(reader->symbols, walk->kind->type,
                                member_of(walk->kind, "created_next", text), &list.next_offset,
                                &size))
        return;
    list.end = list.first;
    walk->item_offset = 0;
    list.type = walk->kind->type;
    kernel_walk(reader, &list, visit_object, walk);
}

// bout has one array of heads, and links in the control blocks.
static void read_links(struct kernel_reader *reader, struct walk *walk)
{
    char text[MEMBER_BYTES], what[48];
    struct kernel_list list = {.what = what};
    struct extract_symbol heads;
    uint64_t size, link_bytes;
    size_t index = (size_t)(walk->kind - kinds);

    snprintf(what, sizeof what, "%s list", walk->kind->name);
    if (!extract_symbols_by_name(reader->symbols, "bout_created", &heads) ||
        !extract_symbols_type_size(reader->symbols, "bout_link", &link_bytes) ||
        !extract_symbols_member(reader->symbols, walk->kind->type,
                                member_of(walk->kind, "created", text), &walk->item_offset, &size))
        return;
    list.end = heads.address + index * link_bytes;
    list.type = walk->kind->type;
    list.offset = walk->item_offset;
    if (kernel_read_pointer(reader, list.end, &list.first) && list.first && list.first != list.end)
        kernel_walk(reader, &list, visit_object, walk);
}

static bool read_all(struct kernel_reader *reader,
                     bool (*context)(struct kernel_reader *reader, struct kernel_saved *saved,
                                     struct extract_registers *registers),
                     void (*read_kind)(struct kernel_reader *reader, struct walk *walk))
{
    struct walk walk = {.context = context};

    read_wheel(reader, &walk.wheel);
    if (!read_threads(reader, &walk))
        return false;
    for (size_t i = 0; i < KINDS; i++) {
        walk.kind = &kinds[i];
        read_kind(reader, &walk);
    }
    return true;
}

static bool read_threadx(struct kernel_reader *reader)
{
    return read_all(reader, kernel_context_threadx, read_ring);
}

static bool read_bout(struct kernel_reader *reader)
{
    return read_all(reader, kernel_context_bout, read_links);
}

static const char *const threadx_prefixes[] = {"_tx_", "_txe_", "tx_", NULL};
static const char *const bout_prefixes[] = {"bout_", "_tx_", NULL};

const struct kernel_description kernel_threadx = {.name = "ThreadX",
                                                  .symbol = "_tx_thread_created_ptr",
                                                  .owner_never_waits = true,
                                                  .type = "TX_THREAD",
                                                  .fill = FILL,
                                                  .current = {"_tx_thread_current_ptr"},
                                                  .next = "_tx_thread_execute_ptr",
                                                  // Below: interrupts. Above: initialization.
                                                  .started = {"_tx_thread_system_state", 0, 0xFFFF},
                                                  .ticks = "_tx_timer_system_clock",
                                                  .interrupts = "_tx_thread_system_state",
                                                  .prefixes = threadx_prefixes,
                                                  .context = kernel_context_threadx,
                                                  .read = read_threadx};
const struct kernel_description kernel_bout = {.name = "bout",
                                               .symbol = "bout_created",
                                               .owner_never_waits = true,
                                               .type = "TX_THREAD",
                                               .fill = FILL,
                                               .current = {"_tx_thread_current_ptr"},
                                               .next = "_tx_thread_execute_ptr",
                                               .started = {"bout_system_state", 0, 0xFFFF},
                                               .ticks = "_tx_timer_system_clock",
                                               .interrupts = "bout_system_state",
                                               .prefixes = bout_prefixes,
                                               .context = kernel_context_bout,
                                               .read = read_bout};
