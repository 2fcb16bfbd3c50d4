// SPDX-License-Identifier: MIT
// serve: the memory that goes into an ELF core (core_memory.h).
//
// A live target has memory of which nothing is known: a read of it may be that of a device. So a
// core of it has what the ELF file, the registers and the kernel lead to:
//   - the variables of the program;
//   - the main stack, which is between them and the address from which it grows;
//   - what is around the stack pointers of the cores, if that is RAM: where variables are, a little
//     above them, or in RAM that the server knows of;
//   - the stacks and control blocks of the kernel, which may be on a heap, and its ring;
//   - what the core itself keeps of a fault (Arm's M-profile).
// Source: Arm v7-M Architecture Reference Manual, B1.5.2 (vector table), B3.2.2 (system control
// block), B3.2.21 (FPCCR); v8-M, D1.2 (SFSR).
#include "serve/core_memory.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "kernel/kernel_room.h"
#include "memory/memory_hooks.h"
#include "symbols/dwarf.h"
#include <stdlib.h>

enum {
    CHUNK = 65536,
    STEP = 1024, // that any target's memory is made of
    KEPT_MOST = 64 << 20,
    RANGES_MOST = 60000,
    MAIN_STACK_MOST = 1 << 20,
    BELOW_SP = 1024, // where frames of exceptions are looked for
    ABOVE_SP = 32768,
    ABOVE_VARIABLES = MAIN_STACK_MOST, // where a stack may be that no section has
    CONTROL_BLOCK = 256,               // bytes of an object's
    STACK_MOST = 1 << 20
};

static const struct extract_region arm_system[] = {
    {0xE000ED00, 0x40}, // CPUID to AFSR, with ICSR, VTOR and the status of faults
    {0xE000EDE4, 8},    // SFSR, SFAR
    {0xE000EF34, 8},    // FPCCR, FPCAR
};

static bool add_region(struct core_memory *memory, uint64_t address, uint64_t length)
{
    struct extract_region *grown =
        extract_grow(memory->list, &memory->capacity, memory->count, sizeof *grown);

    if (!grown || memory->count == RANGES_MOST) {
        memory->list = grown ? grown : memory->list;
        memory->failed = true;
        return false;
    }
    memory->list = grown;
    if (length && address + length - 1 >= address)
        grown[memory->count++] = (struct extract_region){address, length};
    return true;
}

// ---- the regions of a live target ----

// Adds the memory from the variables up to the address from which the main stack grows: word 0 of
// the vector table.
static void add_main_stack(struct core_memory *memory, const struct extract_remains *remains)
{
    enum { VTOR_AT = 0xE000ED08 };
    struct kernel_reader reader = kernel_reader_make(NULL, remains->memory, remains->symbols);
    uint64_t table, top, from = 0;

    if (!kernel_read_number(&reader, VTOR_AT, 4, &table) ||
        !kernel_read_number(&reader, table, 4, &top))
        return;
    from = top > MAIN_STACK_MOST ? top - MAIN_STACK_MOST : 0;
    bool has_variables = false;
    for (size_t i = 0, end = memory->count; i < end; i++) {
        uint64_t after = memory->list[i].address + memory->list[i].length;
        has_variables |= after > from && memory->list[i].address < top;
        from = after > from && after <= top ? after : from;
    }
    if (has_variables)
        add_region(memory, from, top - from);
}

// Adds the part of a region that is in [from, to]. A stack pointer may be wrong.
static void add_common(struct core_memory *memory, struct extract_region wanted, uint64_t from,
                       uint64_t to)
{
    uint64_t last = wanted.address + wanted.length - 1;

    from = from > wanted.address ? from : wanted.address;
    to = to < last ? to : last;
    if (from <= to)
        add_region(memory, from, to - from + 1);
}

static void add_around(struct core_memory *memory, const struct extract_remains *remains,
                       uint64_t sp)
{
    struct extract_region wanted = {(sp - BELOW_SP) & ~(uint64_t)(STEP - 1), BELOW_SP + ABOVE_SP};
    struct extract_region known;

    if (sp < BELOW_SP || wanted.address + wanted.length < wanted.address)
        return;
    for (size_t i = 0; extract_symbols_writable(remains->symbols, i, &known); i++) {
        uint64_t last = known.address + known.length - 1;
        bool is_end = last > UINT64_MAX - ABOVE_VARIABLES;
        add_common(memory, wanted, known.address, is_end ? UINT64_MAX : last + ABOVE_VARIABLES);
    }
    for (size_t i = 0; extract_memory_region(remains->memory, i, &known); i++)
        add_common(memory, wanted, known.address, known.address + known.length - 1);
}

static void add_stack_pointers(struct core_memory *memory, const struct extract_remains *remains)
{
    const struct register_machine *machine = register_machine_of(remains->symbols);
    uint64_t sp;

    for (size_t i = 0; i < remains->core_count; i++) {
        const uint8_t pointers[] = {machine->sp, machine->is_m_profile ? ARM_MSP : NO_REGISTER,
                                    machine->is_m_profile ? ARM_PSP : NO_REGISTER};
        for (size_t k = 0; k < sizeof pointers; k++)
            if (register_get(&remains->cores[i], pointers[k], &sp))
                add_around(memory, remains, sp);
    }
}

static void add_kernel(struct core_memory *memory, const struct extract_remains *remains)
{
    const struct kernel_description *description = kernel_detect(remains->symbols);
    const struct extract_kernel *kernel = remains->kernel;
    struct kernel_reader reader = kernel_reader_make(NULL, remains->memory, remains->symbols);
    uint64_t block = 0, from, to;

    if (!kernel || !description)
        return;
    (void)extract_symbols_type_size(remains->symbols, description->type, &block);
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        add_region(memory, thread->address, block);
        if (thread->stack_start && thread->stack_end > thread->stack_start &&
            thread->stack_end - thread->stack_start <= STACK_MOST)
            add_region(memory, thread->stack_start, thread->stack_end - thread->stack_start);
    }
    for (size_t i = 0; i < kernel->object_count; i++)
        add_region(memory, kernel->objects[i].address, CONTROL_BLOCK);
    if (kernel_read_variable(&reader, "_tx_trace_header_ptr", 0, &from) &&
        kernel_read_variable(&reader, "_tx_trace_buffer_end_ptr", 0, &to) && from && to > from &&
        to - from <= KEPT_MOST)
        add_region(memory, from, to - from);
}

static void add_live(struct core_memory *memory, const struct extract_remains *remains)
{
    const struct register_machine *machine = register_machine_of(remains->symbols);
    struct extract_region region;

    for (size_t i = 0; extract_symbols_writable(remains->symbols, i, &region); i++)
        add_region(memory, region.address, region.length);
    if (machine->is_m_profile)
        add_main_stack(memory, remains);
    add_stack_pointers(memory, remains);
    add_kernel(memory, remains);
    for (size_t i = 0; machine->is_m_profile && i < sizeof arm_system / sizeof *arm_system; i++)
        add_region(memory, arm_system[i].address, arm_system[i].length);
}

// ---- reading ----

static int compare_regions(const void *a, const void *b)
{
    const struct extract_region *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

// Sorts the regions, and joins those that touch each other.
static void join_regions(struct core_memory *memory)
{
    size_t kept = 0;

    if (!memory->count)
        return;
    qsort(memory->list, memory->count, sizeof *memory->list, compare_regions);
    for (size_t i = 1; i < memory->count; i++) {
        struct extract_region *last = &memory->list[kept], *next = &memory->list[i];
        if (next->address - last->address > last->length)
            memory->list[++kept] = *next;
        else if (next->address - last->address + next->length > last->length)
            last->length = next->address - last->address + next->length;
    }
    memory->count = kept + 1;
}

static void add_range(struct core_memory *memory, uint64_t address, const uint8_t *bytes,
                      size_t length)
{
    struct extract_region *last = memory->count ? &memory->list[memory->count - 1] : NULL;

    if (memory->is_kept)
        extract_text_put(&memory->bytes, (const char *)bytes, length);
    if (last && last->address + last->length == address)
        last->length += length;
    else
        add_region(memory, address, length);
}

// Reads a region, and adds what can be read of it.
static void read_region(struct core_memory *memory, struct extract_memory *source,
                        struct extract_region region)
{
    uint8_t bytes[CHUNK];
    uint64_t done = 0;
    size_t got;

    while (done < region.length && !memory->failed) {
        size_t wanted = region.length - done < CHUNK ? (size_t)(region.length - done) : CHUNK;
        (void)extract_memory_read(source, region.address + done, bytes, wanted, &got, NULL);
        if (got)
            add_range(memory, region.address + done, bytes, got);
        // What cannot be read is left out in steps.
        done += got == wanted ? got : (got | (STEP - 1)) + 1;
    }
}

void core_memory_read(struct core_memory *memory, const struct extract_remains *remains,
                      enum extract_core_memory part)
{
    struct core_memory wanted = {.list = NULL};
    struct extract_region region;
    uint64_t total = 0;

    *memory = (struct core_memory){.list = NULL};
    extract_text_init(&memory->bytes, NULL, NULL);
    if (part == EXTRACT_CORE_ALL && extract_memory_region(remains->memory, 0, &region))
        for (size_t i = 0; extract_memory_region(remains->memory, i, &region); i++)
            add_region(&wanted, region.address, region.length);
    else
        add_live(&wanted, remains);
    join_regions(&wanted);
    for (size_t i = 0; i < wanted.count; i++)
        if (__builtin_add_overflow(total, wanted.list[i].length, &total))
            total = UINT64_MAX;
    memory->is_kept = total <= KEPT_MOST;
    memory->failed = wanted.failed;
    for (size_t i = 0; i < wanted.count && !memory->failed; i++)
        read_region(memory, remains->memory, wanted.list[i]);
    free(wanted.list);
}

void core_memory_put(const struct core_memory *memory, struct extract_memory *source,
                     struct extract_text *text)
{
    char bytes[CHUNK];
    size_t got;

    if (memory->is_kept)
        extract_text_put(text, memory->bytes.data, memory->bytes.used);
    for (size_t i = 0; !memory->is_kept && i < memory->count && !text->code; i++) {
        const struct extract_region *range = &memory->list[i];
        for (uint64_t done = 0; done < range->length && !text->code; done += CHUNK) {
            size_t wanted = range->length - done < CHUNK ? (size_t)(range->length - done) : CHUNK;
            if (extract_memory_read(source, range->address + done, bytes, wanted, &got, NULL))
                text->code = EXTRACT_IO; // the input has changed in the meantime
            extract_text_put(text, bytes, got);
        }
    }
}

void core_memory_free(struct core_memory *memory)
{
    free(memory->list);
    extract_text_free(&memory->bytes);
    *memory = (struct core_memory){.list = NULL};
}
