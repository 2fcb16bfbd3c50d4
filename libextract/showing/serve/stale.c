// SPDX-License-Identifier: MIT
// serve: notices that a program was started again (stale.h). A kernel that runs changes the control
// blocks of its threads all the time.
#include "kernel/kernel_room.h"
#include "serve/stale.h"
#include "serve/words.h"
#include "symbols/dwarf.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

// Returns a checksum of the control blocks of threads; 0 if there are none.
static uint64_t sum_of(const struct extract_kernel *kernel, struct extract_memory *memory)
{
    enum { THREADS = 16, BYTES = 256 };
    uint8_t bytes[BYTES];
    uint64_t sum = 0;
    size_t got;

    for (size_t i = 0; i < kernel->thread_count && i < THREADS; i++) {
        (void)extract_memory_read(memory, kernel->threads[i].address, bytes, sizeof bytes, &got,
                                  NULL);
        for (size_t k = 0; k < got; k++)
            sum = (sum ^ bytes[k]) * UINT64_C(0x100000001B3); // FNV-1a
        sum += kernel->threads[i].address;
    }
    return sum;
}

void stale_begin(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols)
{
    struct extract_kernel *kernel;

    stale->has_continued = false;
    if (stale->is_stale)
        return;
    *stale = (struct stale){.is_stale = true};
    if (extract_kernel_read_states(&kernel, memory, symbols, NULL))
        return;
    stale->sum = sum_of(kernel, memory);
    extract_kernel_free(kernel);
}

void stale_continue(struct stale *stale)
{
    stale->has_continued = true;
}

// Returns whether a core uses the stack of its thread. Where a stack ends may be unknown; then it
// is not known whether it is start-up code that runs.
static bool is_in_thread(const struct extract_kernel *kernel, unsigned core,
                         const struct register_machine *machine,
                         const struct extract_registers *registers)
{
    for (size_t i = 0; machine && i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (thread->has_core && thread->core == core && thread->stack_end)
            return debug_thread_has_core(thread, machine, registers);
    }
    return false;
}

bool stale_check(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols, unsigned core,
                 const struct extract_registers *registers)
{
    struct extract_kernel *kernel;

    if (registers && kernel_is_of_run_before(memory, symbols, core, registers)) {
        stale_begin(stale, memory, symbols);
        return true;
    }
    if (!stale->is_stale)
        return false;
    if (extract_kernel_read_states(&kernel, memory, symbols, NULL)) {
        stale->is_stale = !stale->sum;
        return stale->is_stale;
    }
    stale->is_stale = sum_of(kernel, memory) == stale->sum &&
                      !(stale->has_continued && registers &&
                        is_in_thread(kernel, core, register_machine_of(symbols), registers));
    extract_kernel_free(kernel);
    return stale->is_stale;
}

bool stale_is_reset(const char *packet)
{
    static const char *const words[] = {"7265736574",                      // reset
                                        "73797374656d5f7265736574",        // system_reset
                                        "6a7461675f7265736574",            // jtag_reset
                                        "736f66745f72657365745f68616c74"}; // soft_reset_halt
    const char *command = strchr(packet, ',');

    for (size_t i = 0; command && i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        const char *end = command + 1 + length;
        if (strncasecmp(command + 1, words[i], length) == 0 &&
            (!*end || strncmp(end, "20", 2) == 0))
            return true;
    }
    return false;
}

bool stale_is_load(const char *packet, struct extract_symbols *symbols)
{
    enum { LONGEST_BREAKPOINT = 8 };
    unsigned long long address;
    unsigned long length;
    uint8_t byte;

    return sscanf(packet + 1, "%llx,%lx", &address, &length) == 2 && length > LONGEST_BREAKPOINT &&
           extract_symbols_read_constant(symbols, address, &byte, sizeof byte);
}
