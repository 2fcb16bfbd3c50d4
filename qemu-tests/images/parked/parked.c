// SPDX-License-Identifier: MIT
// qemu-tests/images: threads with the control blocks of ThreadX, each parked in the context that a
// port of ThreadX saves. There is no kernel: each thread runs once, until it parks, and then the
// image stays in idle(). A debugger must find each thread where its source says that it is.
//
// Source: the members are those of ThreadX's public header tx_api.h; the contexts are those of
// park-MACHINE.S.
typedef unsigned long ULONG;

enum { STACK_WORDS = 256, SLEEPING = 4 };

typedef struct TX_THREAD_STRUCT {
    ULONG tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    ULONG tx_thread_stack_size;
    const char *tx_thread_name;
    unsigned tx_thread_priority, tx_thread_state;
    struct TX_THREAD_STRUCT *tx_thread_created_next, *tx_thread_created_previous;
    void *tx_thread_suspend_control_block;
} TX_THREAD;

TX_THREAD *_tx_thread_created_ptr, *_tx_thread_current_ptr;
ULONG _tx_thread_created_count;
volatile ULONG _tx_thread_system_state;

// Enters a function on a stack, and returns when that parks.
void run(void *stack_end, void (*entry)(void));
// Saves the context of the caller in the layout of a call of the kernel, or of an interrupt, stores
// where it is, and returns from run().
void park_called(void **stack_ptr);
void park_interrupted(void **stack_ptr);

static TX_THREAD valve, pump;
static _Alignas(16) ULONG stacks[2][STACK_WORDS];
static volatile ULONG turns;

__attribute__((noinline)) static void wait_for_pressure(ULONG least)
{
    park_called(&valve.tx_thread_stack_ptr);
    turns += least;
}

__attribute__((noinline)) static void open_valve(ULONG number)
{
    wait_for_pressure(number + 3);
    turns += number;
}

static void valve_entry(void)
{
    open_valve(7);
    turns++;
}

__attribute__((noinline)) static void turn_pump(ULONG speed)
{
    park_interrupted(&pump.tx_thread_stack_ptr);
    turns += speed;
}

static void pump_entry(void)
{
    turn_pump(40);
    turns++;
}

static void start(TX_THREAD *thread, const char *name, void (*entry)(void), ULONG *stack,
                  unsigned state)
{
    thread->tx_thread_id = 0x54485244;
    thread->tx_thread_name = name;
    thread->tx_thread_priority = 5;
    thread->tx_thread_state = state;
    thread->tx_thread_stack_start = stack;
    thread->tx_thread_stack_end = (char *)(stack + STACK_WORDS) - 1;
    thread->tx_thread_stack_size = STACK_WORDS * sizeof *stack;
    for (int i = 0; i < STACK_WORDS; i++)
        stack[i] = (ULONG)0xEFEFEFEFEFEFEFEFull;
    run(stack + STACK_WORDS, entry);
}

__attribute__((noinline)) static void idle(void)
{
    for (;;)
        turns++;
}

void image_main(void);
void image_main(void)
{
    start(&valve, "valve", valve_entry, stacks[0], SLEEPING);
    start(&pump, "pump", pump_entry, stacks[1], 0);
    valve.tx_thread_created_next = valve.tx_thread_created_previous = &pump;
    pump.tx_thread_created_next = pump.tx_thread_created_previous = &valve;
    _tx_thread_created_ptr = &valve;
    _tx_thread_created_count = 2;
    idle();
    turns++;
}
