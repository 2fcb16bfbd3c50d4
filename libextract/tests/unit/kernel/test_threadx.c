// SPDX-License-Identifier: MIT
// Tests of kernel/kernel_threadx.c on control blocks with the names of ThreadX, in an order of
// members that no release has: whoever assumes offsets fails. Two cores.
#include "host.h"
#include "kernel/kernel_room.h"
#include <extract/crash.h>

typedef unsigned int ULONG; // of other size than a pointer
typedef struct TX_THREAD_STRUCT TX_THREAD;
typedef struct TX_MUTEX_STRUCT TX_MUTEX;
typedef struct TX_QUEUE_STRUCT TX_QUEUE;
typedef struct TX_SEMAPHORE_STRUCT TX_SEMAPHORE;
typedef struct TX_TIMER_STRUCT TX_TIMER;
typedef struct TX_EVENT_FLAGS_GROUP_STRUCT TX_EVENT_FLAGS_GROUP;

typedef struct TX_TIMER_INTERNAL_STRUCT TX_TIMER_INTERNAL;
struct TX_TIMER_INTERNAL_STRUCT {
    TX_TIMER_INTERNAL **tx_timer_internal_list_head, *tx_timer_internal_active_next;
    ULONG tx_timer_internal_remaining_ticks, tx_timer_internal_re_initialize_ticks;
};
struct TX_THREAD_STRUCT {
    char *tx_thread_name;
    unsigned char pad[13];
    unsigned tx_thread_state, tx_thread_priority, tx_thread_user_priority;
    void *tx_thread_suspend_control_block;
    TX_THREAD *tx_thread_created_previous, *tx_thread_created_next;
    struct TX_TIMER_INTERNAL_STRUCT tx_thread_timer;
    void *tx_thread_stack_end, *tx_thread_stack_start, *tx_thread_stack_ptr;
    ULONG tx_thread_stack_size;
    void (*tx_thread_entry)(ULONG);
    ULONG tx_thread_id;
    unsigned long tx_thread_linux_thread_id; // of the ports to Linux: pthread_t
};
struct TX_MUTEX_STRUCT {
    TX_THREAD *tx_mutex_owner;
    TX_MUTEX *tx_mutex_created_next;
    char *tx_mutex_name;
    unsigned tx_mutex_ownership_count;
    ULONG tx_mutex_id;
};
struct TX_QUEUE_STRUCT {
    TX_QUEUE *tx_queue_created_next;
    ULONG tx_queue_capacity, tx_queue_id;
    char *tx_queue_name;
    ULONG tx_queue_enqueued;
};
struct TX_SEMAPHORE_STRUCT {
    ULONG tx_semaphore_id, tx_semaphore_count;
    TX_SEMAPHORE *tx_semaphore_created_next;
    char *tx_semaphore_name;
};
struct TX_TIMER_STRUCT {
    TX_TIMER *tx_timer_created_next;
    char *tx_timer_name;
    struct TX_TIMER_INTERNAL_STRUCT tx_timer_internal;
    ULONG tx_timer_id;
};

struct TX_EVENT_FLAGS_GROUP_STRUCT {
    char *tx_event_flags_group_name;
    ULONG tx_event_flags_group_current, tx_event_flags_group_id;
    TX_EVENT_FLAGS_GROUP *tx_event_flags_group_created_next;
};

// ThreadX's variables.
TX_THREAD *volatile _tx_thread_created_ptr, *volatile _tx_thread_current_ptr[2];
volatile ULONG _tx_thread_created_count;
TX_MUTEX *volatile _tx_mutex_created_ptr;
TX_QUEUE *volatile _tx_queue_created_ptr;
TX_SEMAPHORE *volatile _tx_semaphore_created_ptr;
TX_TIMER *volatile _tx_timer_created_ptr;
// The name of this one is not that of its type and members.
TX_EVENT_FLAGS_GROUP *volatile _tx_event_flags_created_ptr;
// The wheel: each tick serves the next list.
enum { WHEEL = 32 };
TX_TIMER_INTERNAL *_tx_timer_list[WHEEL], **_tx_timer_list_start, **_tx_timer_list_end,
    **_tx_timer_current_ptr;

enum { COUNT = 6, STACK = 512, THREAD_ID = 0x54485244 };
enum { READY = 0, COMPLETED = 1, SUSPENDED = 3, SLEEPING = 4, WAITS_QUEUE = 5, WAITS_MUTEX = 13 };

static TX_THREAD threads[COUNT];
static TX_MUTEX mutexes[2];
static TX_QUEUE queue;
static TX_SEMAPHORE semaphore;
static TX_TIMER timer;
static TX_EVENT_FLAGS_GROUP flags;
static unsigned char stacks[COUNT][STACK];
static char *const names[COUNT] = {"worker", "waiter", "sleeper", "receiver", "spare", "done"};
static const unsigned thread_states[COUNT] = {READY,       WAITS_MUTEX, SLEEPING,
                                              WAITS_QUEUE, SUSPENDED,   COMPLETED};

static void run(ULONG input)
{
    (void)input;
}

// Starts a timer as the kernel does: in the list that is served after its ticks, or a whole turn
// later, with what is left after that.
static void start_timer(TX_TIMER_INTERNAL *internal, ULONG ticks)
{
    TX_TIMER_INTERNAL **list = _tx_timer_current_ptr + (ticks > WHEEL ? WHEEL : ticks) - 1;

    list -= list >= _tx_timer_list_end ? WHEEL : 0;
    internal->tx_timer_internal_remaining_ticks = ticks;
    internal->tx_timer_internal_list_head = list;
    internal->tx_timer_internal_active_next = *list ? *list : internal;
    if (*list)
        (*list)->tx_timer_internal_active_next = internal;
    else
        *list = internal;
}

static int make_kernel(void **state)
{
    memset(stacks, 0xEF, sizeof stacks);
    for (int i = 0; i < COUNT; i++) {
        threads[i] = (TX_THREAD){.tx_thread_name = names[i],
                                 .tx_thread_state = thread_states[i],
                                 .tx_thread_priority = 10U + (unsigned)i,
                                 .tx_thread_user_priority = 10U + (unsigned)i,
                                 .tx_thread_created_next = &threads[(i + 1) % COUNT],
                                 .tx_thread_created_previous = &threads[(i + COUNT - 1) % COUNT],
                                 .tx_thread_stack_start = stacks[i],
                                 .tx_thread_stack_end = stacks[i] + STACK - 1,
                                 .tx_thread_stack_ptr = stacks[i] + STACK - 96,
                                 .tx_thread_stack_size = STACK,
                                 .tx_thread_entry = run,
                                 .tx_thread_id = THREAD_ID};
        memset(stacks[i] + STACK - 200, 1, 200);
    }
    threads[0].tx_thread_priority = 3; // inherited
    threads[1].tx_thread_suspend_control_block = &mutexes[1];
    memset(_tx_timer_list, 0, sizeof _tx_timer_list);
    _tx_timer_list_start = _tx_timer_list;
    _tx_timer_list_end = _tx_timer_list + WHEEL;
    _tx_timer_current_ptr = _tx_timer_list + 20;
    start_timer(&threads[1].tx_thread_timer, 25); // its list has wrapped
    start_timer(&threads[2].tx_thread_timer, 100);
    threads[3].tx_thread_timer.tx_timer_internal_remaining_ticks = 0xFFFFFFFF; // forever
    threads[3].tx_thread_suspend_control_block = &queue;
    for (int i = 0; i < 2; i++)
        mutexes[i] = (TX_MUTEX){.tx_mutex_name = i ? "bus" : "screen",
                                .tx_mutex_created_next = &mutexes[!i],
                                .tx_mutex_id = 0x4D555445};
    mutexes[1].tx_mutex_owner = &threads[0];
    mutexes[1].tx_mutex_ownership_count = 2;
    queue = (TX_QUEUE){&queue, 8, 0x51554555, "orders", 0};
    semaphore = (TX_SEMAPHORE){0x53454D41, 4, &semaphore, "slots"};
    timer = (TX_TIMER){&timer, "blink", {NULL, NULL, 0, 50}, 0x4154494D};
    start_timer(&timer.tx_timer_internal, 25); // in the list of a thread
    flags = (TX_EVENT_FLAGS_GROUP){"doors", 6, 0x4456444E, &flags};
    _tx_timer_current_ptr += 5; // five ticks later
    _tx_thread_created_ptr = threads;
    _tx_thread_created_count = COUNT;
    _tx_thread_current_ptr[0] = NULL;
    _tx_thread_current_ptr[1] = &threads[0];
    _tx_mutex_created_ptr = mutexes;
    _tx_queue_created_ptr = &queue;
    _tx_semaphore_created_ptr = &semaphore;
    _tx_timer_created_ptr = &timer;
    _tx_event_flags_created_ptr = &flags;
    static struct host host;
    host_open(&host);
    *state = &host;
    return 0;
}

static int drop_kernel(void **state)
{
    host_close(*state);
    return 0;
}

static void threads_are_read(void **state)
{
    struct extract_kernel *kernel = host_kernel(*state);

    assert_string_equal(kernel->name, "ThreadX");
    assert_int_equal(kernel->problem_count, 0);
    assert_int_equal(kernel->thread_count, COUNT);
    const struct extract_kernel_thread *worker = host_thread(kernel, "worker");
    assert_int_equal(worker->state, EXTRACT_KERNEL_RUNNING);
    assert_true(worker->has_core && worker->core == 1);
    assert_true(worker->priority == 3 && worker->base_priority == 10);
    assert_int_equal(worker->entry, (uintptr_t)&run);
    assert_false(worker->has_sp); // what is saved is older
    const struct extract_kernel_thread *waiter = host_thread(kernel, "waiter");
    assert_int_equal(waiter->state, EXTRACT_KERNEL_BLOCKED);
    assert_string_equal(waiter->wait, "mutex");
    assert_int_equal(waiter->waiting_for, host_address(&mutexes[1]));
    assert_int_equal(waiter->holder, host_address(&threads[0]));
    assert_true(waiter->limit == EXTRACT_LIMIT_TICKS && waiter->ticks_left == 20);
    const struct extract_kernel_thread *sleeper = host_thread(kernel, "sleeper");
    assert_int_equal(sleeper->state, EXTRACT_KERNEL_SLEEPING);
    assert_true(sleeper->limit == EXTRACT_LIMIT_TICKS && sleeper->ticks_left == 95);
    assert_int_equal(sleeper->waiting_for, 0);
    const struct extract_kernel_thread *receiver = host_thread(kernel, "receiver");
    assert_int_equal(receiver->waiting_for, host_address(&queue));
    assert_int_equal(receiver->limit, EXTRACT_LIMIT_NONE);
    assert_int_equal(receiver->holder, 0);
    assert_int_equal(host_thread(kernel, "spare")->limit,
                     EXTRACT_LIMIT_UNKNOWN); // it does not wait
    assert_int_equal(host_thread(kernel, "spare")->state, EXTRACT_KERNEL_SUSPENDED);
    assert_int_equal(host_thread(kernel, "done")->state, EXTRACT_KERNEL_COMPLETED);
    extract_kernel_free(kernel);
}

static const struct extract_kernel_object *object_of(const struct extract_kernel *kernel,
                                                     const char *name)
{
    for (size_t i = 0; i < kernel->object_count; i++)
        if (strcmp(kernel->objects[i].name, name) == 0)
            return &kernel->objects[i];
    fail_msg("no object %s", name);
    return NULL;
}

static void expect_figure(const struct extract_kernel_object *object, size_t i, const char *name,
                          uint64_t value)
{
    assert_string_equal(object->figures[i].name, name);
    assert_int_equal(object->figures[i].value, value);
}

static void objects_are_read(void **state)
{
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(kernel->object_count, 6);
    const struct extract_kernel_object *bus = object_of(kernel, "bus");
    assert_string_equal(bus->type, "mutex");
    assert_int_equal(bus->owner, host_address(&threads[0]));
    assert_int_equal(bus->waiters, 1);
    expect_figure(bus, 0, "held", 2);
    assert_int_equal(object_of(kernel, "screen")->waiters, 0);
    expect_figure(object_of(kernel, "orders"), 1, "capacity", 8);
    expect_figure(object_of(kernel, "slots"), 0, "count", 4);
    expect_figure(object_of(kernel, "blink"), 0, "period", 50);
    expect_figure(object_of(kernel, "blink"), 1, "ticks left", 20);
    expect_figure(object_of(kernel, "blink"), 2, "active", 1);
    expect_figure(object_of(kernel, "doors"), 0, "flags", 6);
    extract_kernel_free(kernel);
}

// While the kernel serves a list, its timers still point to it. A timer that is stopped has no
// ticks left, and one that the wheel does not show has an unknown number.
static void what_the_wheel_does_not_show_is_unknown(void **state)
{
    *threads[1].tx_thread_timer.tx_timer_internal_list_head = NULL;
    threads[2].tx_thread_timer.tx_timer_internal_list_head = NULL;
    timer.tx_timer_internal.tx_timer_internal_list_head = NULL;
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(host_thread(kernel, "waiter")->limit, EXTRACT_LIMIT_UNKNOWN);
    assert_int_equal(host_thread(kernel, "sleeper")->limit, EXTRACT_LIMIT_UNKNOWN);
    expect_figure(object_of(kernel, "blink"), 1, "active", 0);
    extract_kernel_free(kernel);
    // A list that does not end, and one that is not in the wheel.
    start_timer(&threads[1].tx_thread_timer, 3);
    threads[1].tx_thread_timer.tx_timer_internal_active_next = &threads[2].tx_thread_timer;
    threads[2].tx_thread_timer.tx_timer_internal_active_next = &threads[2].tx_thread_timer;
    timer.tx_timer_internal.tx_timer_internal_list_head = _tx_timer_current_ptr + 2;
    threads[2].tx_thread_timer.tx_timer_internal_list_head = (void *)&threads[2];
    kernel = host_kernel(*state);
    assert_int_equal(host_thread(kernel, "sleeper")->limit, EXTRACT_LIMIT_UNKNOWN);
    expect_figure(object_of(kernel, "blink"), 1, "active", 1);
    extract_kernel_free(kernel);
    // A kernel without the wheel.
    _tx_timer_current_ptr = _tx_timer_list_end;
    kernel = host_kernel(*state);
    assert_int_equal(host_thread(kernel, "waiter")->limit, EXTRACT_LIMIT_UNKNOWN);
    assert_int_equal(host_thread(kernel, "receiver")->limit, EXTRACT_LIMIT_NONE);
    extract_kernel_free(kernel);
}

// A service stores the next state of its thread, which has the core until the switch. A mutex is
// handed over before its next owner is made ready: that one does not wait for itself.
static void changes_are_under_way(void **state)
{
    static const unsigned next[] = {WAITS_MUTEX, SLEEPING, SUSPENDED, COMPLETED};

    for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
        threads[0].tx_thread_state = next[i];
        struct extract_kernel *kernel = host_kernel(*state);
        const struct extract_kernel_thread *worker = host_thread(kernel, "worker");
        assert_int_equal(worker->state, EXTRACT_KERNEL_RUNNING);
        assert_int_equal(worker->change, EXTRACT_CHANGE_LEAVES);
        assert_true(worker->has_core && worker->core == 1 && !worker->has_sp);
        extract_kernel_free(kernel);
    }
    mutexes[1].tx_mutex_owner = &threads[1];
    mutexes[1].tx_mutex_ownership_count = 1;
    struct extract_kernel *kernel = host_kernel(*state);
    const struct extract_kernel_thread *waiter = host_thread(kernel, "waiter");
    assert_int_equal(waiter->state, EXTRACT_KERNEL_BLOCKED);
    assert_int_equal(waiter->change, EXTRACT_CHANGE_RESUMES);
    assert_int_equal(waiter->holder, 0);
    extract_kernel_free(kernel);
}

static void stacks_are_measured(void **state)
{
    memset(stacks[2], 1, STACK); // all of it was written
    memset(stacks[4], 1, STACK);
    threads[4].tx_thread_stack_ptr = stacks[4] - 16;        // below it
    threads[3].tx_thread_stack_ptr = stacks[3] + STACK + 8; // above it
    threads[1].tx_thread_stack_end = stacks[0];             // below its start: none
    struct extract_kernel *kernel = host_kernel(*state);

    const struct extract_kernel_thread *worker = host_thread(kernel, "worker");
    assert_int_equal(worker->stack_end - worker->stack_start, STACK);
    assert_true(worker->has_untouched && worker->untouched == STACK - 200);
    assert_int_equal(worker->overflow, EXTRACT_OVERFLOW_UNKNOWN); // it runs
    assert_int_equal(host_thread(kernel, "sleeper")->overflow, EXTRACT_OVERFLOW_SUSPECTED);
    assert_int_equal(host_thread(kernel, "spare")->overflow, EXTRACT_OVERFLOW_PROVEN);
    assert_int_equal(host_thread(kernel, "waiter")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_int_equal(host_thread(kernel, "waiter")->stack_end, 0);
    host_expect_problem(kernel, "is above its stack");
    host_expect_problem(kernel, "invalid stack");
    extract_kernel_free(kernel);
    // Neither cleared memory nor a wild stack pointer shows an overflow.
    memset(stacks[2], 0, STACK);
    threads[4].tx_thread_stack_ptr = (void *)((uintptr_t)stacks[4] - (1 << 20));
    kernel = host_kernel(*state);
    assert_int_equal(host_thread(kernel, "sleeper")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_int_not_equal(host_thread(kernel, "spare")->overflow, EXTRACT_OVERFLOW_PROVEN);
    host_expect_problem(kernel, "is far below its stack");
    extract_kernel_free(kernel);
}

// A flipped bit in a control block does not prove an overflow.
static void a_flipped_bit_is_no_overflow(void **state)
{
    threads[4].tx_thread_stack_ptr = stacks[4] - 64; // but the end of the stack is untouched
    threads[1].tx_thread_stack_start = stacks[1] + STACK - 128;
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(host_thread(kernel, "spare")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    host_expect_problem(kernel, "is below its stack, whose end was never used");
    assert_int_equal(host_thread(kernel, "waiter")->overflow, EXTRACT_OVERFLOW_UNKNOWN);
    assert_int_equal(host_thread(kernel, "waiter")->stack_start, 0);
    host_expect_problem(kernel, "invalid stack");
    extract_kernel_free(kernel);
    // Nothing is known of what a stack has had before.
    memset(stacks, 0, sizeof stacks);
    kernel = host_kernel(*state);
    assert_int_equal(host_thread(kernel, "spare")->overflow, EXTRACT_OVERFLOW_SUSPECTED);
    extract_kernel_free(kernel);
}

// A kernel that does not fill stacks says nothing about their use.
static void stacks_without_a_pattern_are_unknown(void **state)
{
    memset(stacks, 0, sizeof stacks);
    struct extract_kernel *kernel = host_kernel(*state);

    for (size_t i = 0; i < kernel->thread_count; i++) {
        assert_false(kernel->threads[i].has_untouched);
        assert_int_equal(kernel->threads[i].overflow, EXTRACT_OVERFLOW_UNKNOWN);
    }
    extract_kernel_free(kernel);
}

// ---- damage ----

static void expect_damage(void **state, size_t thread_count, const char *problem)
{
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(kernel->thread_count, thread_count);
    host_expect_problem(kernel, problem);
    extract_kernel_free(kernel);
}

static void a_circle_ends(void **state)
{
    threads[4].tx_thread_created_next = &threads[2];
    expect_damage(state, 5, "circular");
}

// A memory full of control blocks takes neither long nor much memory.
static void too_many_threads_end(void **state)
{
    static TX_THREAD many[EXTRACT_KERNEL_MOST + 10];
    const int count = sizeof many / sizeof *many;

    for (int i = 0; i < count; i++) {
        many[i] = threads[0];
        many[i].tx_thread_created_next = &many[(i + 1) % count];
    }
    _tx_thread_created_ptr = many;
    expect_damage(state, EXTRACT_KERNEL_MOST, "more than 4096");
}

static void a_wild_pointer_ends(void **state)
{
    threads[1].tx_thread_created_next = (TX_THREAD *)(uintptr_t)0x18;
    expect_damage(state, 2, "cannot be read");
}

static void a_null_pointer_ends(void **state)
{
    threads[2].tx_thread_created_next = NULL;
    expect_damage(state, 3, "null pointer");
}

static void what_is_no_thread_ends(void **state)
{
    threads[3].tx_thread_id = 0;
    expect_damage(state, 3, "not a thread");
}

static void a_missing_thread_is_noticed(void **state)
{
    threads[1].tx_thread_created_next = &threads[3];
    expect_damage(state, COUNT - 1, "the kernel counts 6");
}

static void a_strange_state_is_unknown(void **state)
{
    threads[2].tx_thread_state = 99;
    threads[2].tx_thread_name = (char *)(uintptr_t)3;
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(kernel->threads[2].state, EXTRACT_KERNEL_UNKNOWN);
    assert_string_equal(kernel->threads[2].name, "");
    host_expect_problem(kernel, "invalid state 99");
    extract_kernel_free(kernel);
}

// A pointer into a text may be damaged, or the linker's; one to code leads to no name.
static void damaged_names_are_noticed(void **state)
{
    static const char code[] = "a\0\x04\xF0\x07\xBD";
    threads[1].tx_thread_name = names[1] + 1;
    threads[2].tx_thread_name = (char *)(uintptr_t)(code + 2);
    mutexes[0].tx_mutex_name += 2;
    struct extract_kernel *kernel = host_kernel(*state);

    assert_false(kernel->threads[0].name_is_likely);
    assert_string_equal(kernel->threads[1].name, "aiter");
    assert_true(kernel->threads[1].name_is_likely);
    assert_string_equal(kernel->threads[2].name, "");
    host_expect_problem(kernel, "is not text");
    assert_int_equal(kernel->problem_count, 1);
    for (size_t i = 0; i < kernel->object_count; i++)
        assert_int_equal(kernel->objects[i].name_is_likely,
                         strcmp(kernel->objects[i].name, "reen") == 0);
    extract_kernel_free(kernel);
}

static void no_threads_are_none(void **state)
{
    _tx_thread_created_ptr = NULL;
    _tx_thread_created_count = 0;
    struct extract_kernel *kernel = host_kernel(*state);

    assert_int_equal(kernel->thread_count, 0);
    assert_int_equal(kernel->problem_count, 0);
    extract_kernel_free(kernel);
}

static void memory_without_the_variables_is_an_error(void **state)
{
    struct host *host = *state;
    struct extract_memory *empty;
    struct extract_kernel *kernel;
    struct extract_error error;

    assert_int_equal(extract_memory_new_images(&empty, NULL), EXTRACT_OK);
    assert_int_equal(extract_kernel_read(&kernel, empty, host->symbols, &error),
                     EXTRACT_UNREADABLE);
    assert_null(kernel);
    extract_memory_close(empty);
}

// ---- on Linux ----

struct process_thread {
    uint64_t lwp, fs_base;
};
// Facts of ThreadX's SMP port to Linux: thread 23737 had SIGSEGV on core 1, which its control block
// proves; 23736 ran on core 0; 23709 is the scheduler's, and 23734 that of the timer's interrupt.
static const struct process_thread on_core_1 = {23737, 0x7FFFF75AA6C0},
                                   on_core_0 = {23736, 0x7FFFF75BB6C0},
                                   scheduler = {23709, 0x7FFFF7DCE740},
                                   interrupt = {23734, 0x7FFFF7DCD6C0};

static void add_thread(struct extract_remains *remains, struct process_thread thread)
{
    struct extract_registers *registers = &remains->cores[remains->core_count++];

    register_set(registers, FAULT_LWP, thread.lwp);
    register_set(registers, FAULT_FS_BASE, thread.fs_base);
    register_set(registers, X86_SP, thread.fs_base - 0x818); // on no stack of the kernel
}

// Checks whose registers a core has. Only the thread that stopped keeps its number.
static void expect_core(const struct extract_remains *remains, size_t core,
                        struct process_thread thread, bool has_stopped)
{
    uint64_t value;

    assert_true(register_get(&remains->cores[core], FAULT_FS_BASE, &value));
    assert_int_equal(value, thread.fs_base);
    assert_int_equal(register_get(&remains->cores[core], FAULT_LWP, &value), has_stopped);
    if (has_stopped)
        assert_int_equal(value, thread.lwp);
}

// Checks which thread of the process a crash is about, and which thread of the kernel that is.
static void expect_page(const struct extract_remains *remains, struct process_thread stopped,
                        const char *name)
{
    struct extract_crash *crash;

    assert_int_equal(extract_crash_new(&crash, remains, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(crash->lwp, stopped.lwp);
    assert_int_equal(crash->thread != NULL, name != NULL);
    if (name) {
        assert_string_equal(crash->thread->name, name);
        assert_int_equal(crash->thread_certainty, EXTRACT_CRASH_CERTAIN);
    }
    extract_crash_free(crash);
}

static struct extract_registers cores[EXTRACT_CORES];

static struct extract_remains *make_process(struct host *host)
{
    static struct extract_remains remains;

    memset(cores, 0, sizeof cores);
    threads[0].tx_thread_linux_thread_id = on_core_1.fs_base;
    threads[4].tx_thread_linux_thread_id = on_core_0.fs_base;
    _tx_thread_current_ptr[0] = &threads[4];
    remains = (struct extract_remains){.size = sizeof remains,
                                       .cores = cores,
                                       .memory = host->memory,
                                       .symbols = host->symbols,
                                       .kernel = host_kernel(host)};
    return &remains;
}

static void threads_of_a_process_are_no_cores(void **state)
{
    struct extract_remains *remains = make_process(*state);

    add_thread(remains, on_core_1); // the first has the signal
    add_thread(remains, scheduler);
    add_thread(remains, interrupt);
    add_thread(remains, on_core_0);
    kernel_choose_cores(remains);
    assert_int_equal(remains->core_count, 2);
    expect_core(remains, 0, on_core_0, false);
    expect_core(remains, 1, on_core_1, true);
    expect_page(remains, on_core_1, "worker");
    extract_kernel_free(remains->kernel);
}

static void the_scheduler_of_a_process_is_no_core(void **state)
{
    struct extract_remains *remains = make_process(*state);

    add_thread(remains, scheduler);
    add_thread(remains, interrupt);
    add_thread(remains, on_core_1);
    kernel_choose_cores(remains);
    assert_int_equal(remains->core_count, 3); // it follows the two cores
    assert_int_equal(remains->cores[0].known, 0);
    expect_core(remains, 1, on_core_1, false);
    expect_core(remains, 2, scheduler, true);
    expect_page(remains, scheduler, NULL);
    extract_kernel_free(remains->kernel);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_kernel, drop_kernel)
    const struct CMUnitTest tests[] = {TEST(threads_are_read),
                                       TEST(objects_are_read),
                                       TEST(what_the_wheel_does_not_show_is_unknown),
                                       TEST(changes_are_under_way),
                                       TEST(stacks_are_measured),
                                       TEST(a_flipped_bit_is_no_overflow),
                                       TEST(stacks_without_a_pattern_are_unknown),
                                       TEST(a_circle_ends),
                                       TEST(too_many_threads_end),
                                       TEST(a_wild_pointer_ends),
                                       TEST(a_null_pointer_ends),
                                       TEST(what_is_no_thread_ends),
                                       TEST(a_missing_thread_is_noticed),
                                       TEST(a_strange_state_is_unknown),
                                       TEST(damaged_names_are_noticed),
                                       TEST(no_threads_are_none),
                                       TEST(threads_of_a_process_are_no_cores),
                                       TEST(the_scheduler_of_a_process_is_no_core),
                                       TEST(memory_without_the_variables_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
