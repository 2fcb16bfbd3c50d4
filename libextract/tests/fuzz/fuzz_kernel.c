// SPDX-License-Identifier: MIT
// fuzz: control blocks of ThreadX and saved frames in arbitrary memory. Two bytes of the input are
// one word of the memory: a small number, a pointer into the memory, or the id of a control block.
// So lists of any form are found quickly: circles, wild pointers, threads that hold everything.
//
// Nothing may crash, leak or hang. In addition, what is found refers to what was found, and a cause
// is chosen for each memory.
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct TX_THREAD_STRUCT TX_THREAD;
typedef struct TX_MUTEX_STRUCT TX_MUTEX;

struct TX_THREAD_STRUCT {
    unsigned long tx_thread_id;
    TX_THREAD *tx_thread_created_next;
    unsigned long tx_thread_state, tx_thread_priority;
    void *tx_thread_suspend_control_block, *tx_thread_stack_start, *tx_thread_stack_end,
        *tx_thread_stack_ptr;
    char *tx_thread_name;
};
struct TX_MUTEX_STRUCT {
    unsigned long tx_mutex_id;
    TX_MUTEX *tx_mutex_created_next;
    TX_THREAD *tx_mutex_owner;
    char *tx_mutex_name;
};

TX_THREAD *volatile _tx_thread_created_ptr, *volatile _tx_thread_current_ptr;
volatile unsigned long _tx_thread_created_count;
TX_MUTEX *volatile _tx_mutex_created_ptr;
// The types are described for the variables only if these are used.
TX_THREAD fuzz_thread;
TX_MUTEX fuzz_mutex;

enum { BASE = 0x20000000, WORD = 8, GRAIN = 8, REDZONE = 32 };

struct soup {
    const uint8_t *data;
    size_t words;
};

static uint64_t word_at(const struct soup *soup, uint64_t index)
{
    static const uint64_t ids[] = {0x54485244, 0x4D555445, 0xFFFFFFFD, 0xFFFFFFED};
    uint8_t kind = soup->data[2 * (index % soup->words)],
            value = soup->data[2 * (index % soup->words) + 1];

    switch (kind % 4) {
    case 0:
        return value;
    case 1:
        return ids[value % (sizeof ids / sizeof *ids)];
    default:
        return BASE + (uint64_t)value * GRAIN;
    }
}

// The variables are the first words, wherever the program has them.
static size_t read_soup(void *context, uint64_t address, void *buffer, size_t length)
{
    const struct soup *soup = context;
    const volatile void *const variables[] = {&_tx_thread_created_ptr, &_tx_thread_current_ptr,
                                              &_tx_thread_created_count, &_tx_mutex_created_ptr};
    uint8_t *to = buffer;

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        // A sanitizer may make symbols larger: the rest of a variable is 0.
        if (address - (uintptr_t)variables[i] < REDZONE && length == WORD) {
            uint64_t word = address == (uintptr_t)variables[i] ? word_at(soup, i) : 0;
            memcpy(buffer, &word, sizeof word);
            return WORD;
        }
    if (address < BASE || address - BASE >= soup->words * WORD)
        return 0;
    size_t left = (size_t)(soup->words * WORD - (address - BASE));
    length = length < left ? length : left;
    for (size_t i = 0; i < length; i++) {
        uint64_t at = address - BASE + i;
        to[i] = (uint8_t)(word_at(soup, at / WORD) >> 8 * (at % WORD));
    }
    return length;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_kernel(const struct extract_kernel *kernel)
{
    check(kernel->thread_count <= EXTRACT_KERNEL_MOST);
    check(kernel->object_count <= EXTRACT_KERNEL_MOST);
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        check(thread->object == SIZE_MAX || thread->object < kernel->object_count);
        check(memchr(thread->name, 0, sizeof thread->name) != NULL);
        check(extract_kernel_thread_at(kernel, thread->address) != NULL);
    }
}

static void check_crash(const struct extract_remains *remains)
{
    struct extract_crash *crash;

    check(!extract_crash_new(&crash, remains, NULL, 0, NULL));
    check(crash->kind && crash->text[0] && crash->source);
    for (size_t i = 0; i < crash->deadlock_count; i++) {
        const struct extract_deadlock *deadlock = &crash->deadlocks[i];
        check(deadlock->count > 0);
        for (size_t k = 0; k < deadlock->count; k++) { // each waits for what the next one holds
            const struct extract_kernel_thread *thread =
                &crash->kernel->threads[crash->cycle[deadlock->first + k]];
            const struct extract_kernel_thread *next =
                &crash->kernel->threads[crash->cycle[deadlock->first + (k + 1) % deadlock->count]];
            check(thread->state == EXTRACT_KERNEL_BLOCKED && thread->holder == next->address);
        }
    }
    extract_crash_free(crash);
}

// Frames of all ports at each word, also with the bounds of a stack that fit.
static void check_frames(struct extract_memory *memory, struct extract_symbols *symbols,
                         size_t words)
{
    static bool (*const contexts[])(struct kernel_reader * reader, struct kernel_saved * saved,
                                    struct extract_registers * registers) = {
        kernel_context_threadx, kernel_context_freertos, kernel_context_bout};
    static const struct {
        uint16_t machine;
        unsigned word_bytes;
        enum extract_byte_order order;
        bool is_m_profile;
    } machines[] = {{EM_ARM, 4, EXTRACT_LITTLE, true},
                    {EM_ARM, 4, EXTRACT_LITTLE, false},
                    {EM_RISCV, 8, EXTRACT_LITTLE, false},
                    {EM_AARCH64, 8, EXTRACT_LITTLE, false},
                    {EM_68K, 4, EXTRACT_BIG, false}};

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct kernel_reader reader = {
            .memory = memory,
            .symbols = symbols,
            .order = machines[i].order,
            .word_bytes = machines[i].word_bytes,
            .machine = machines[i].machine,
            .registers = register_machine_find(machines[i].machine, machines[i].word_bytes,
                                               machines[i].is_m_profile)};
        struct extract_registers registers;
        for (size_t at = 0; at < words && at < 32; at++)
            for (size_t k = 0; k < sizeof contexts / sizeof *contexts; k++) {
                struct kernel_saved saved = {.sp = BASE + at * WORD, .has_fpu = at & 1};
                if (at & 2)
                    kernel_read_number(&reader, saved.sp, reader.word_bytes, &saved.stack_start);
                if (!contexts[k](&reader, &saved, &registers))
                    check(!registers.known);
                else
                    check(!saved.problem);
            }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct extract_symbols *symbols; // of this program, opened once
    struct soup soup = {data, size / 2};
    const struct extract_memory_source source = {.read = read_soup, .context = &soup};
    struct extract_memory *memory;
    struct extract_registers core = {.known = 0};
    struct extract_error error;

    if (!symbols) {
        check(!extract_symbols_open(&symbols, "/proc/self/exe", NULL));
        extract_symbols_move(symbols, getauxval(AT_ENTRY));
    }
    if (!soup.words || soup.words > 4096)
        return 0;
    check(!extract_memory_new(&memory, &source, NULL));
    for (unsigned i = 0; i < 18; i++)
        register_set(&core, i, word_at(&soup, i));
    struct extract_remains remains = {.size = sizeof remains,
                                      .memory = memory,
                                      .symbols = symbols,
                                      .cores = &core,
                                      .core_count = 1};
    enum extract_code code = extract_remains_read_kernel(&remains, &error);
    check(!code || (code == EXTRACT_UNREADABLE && !remains.kernel));
    if (!code)
        check_kernel(remains.kernel);
    check_crash(&remains);
    check_frames(memory, symbols, soup.words);
    extract_kernel_free(remains.kernel);
    extract_memory_close(memory);
    return 0;
}
