// SPDX-License-Identifier: MIT
// crash: whether the ELF file is that of the program that ran. Code and constants that the memory
// has, too, must be equal; where a thread continues must be code; a return address must be after a
// call.
#include "base/cursor.h"
#include "crash/crash_room.h"
#include "memory/core_dump.h"
#include "memory/crashcatcher.h"
#include "memory/memory_hooks.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 4096, MOST_BYTES = 16 << 20 };

// Compares the memory with the constants of the ELF file. Returns how many bytes both have.
static uint64_t compare(struct crash_build *build, struct extract_region region,
                        uint64_t *different, uint64_t *first)
{
    const struct extract_remains *remains = build->remains;
    uint8_t memory[CHUNK], file[CHUNK];
    uint64_t common = 0;

    for (uint64_t done = 0; done < region.length && done < MOST_BYTES;) {
        uint64_t at = region.address + done;
        size_t wanted = region.length - done < CHUNK ? (size_t)(region.length - done) : CHUNK, got;
        size_t has = extract_symbols_read_constant(remains->symbols, at, file, wanted);
        if (has) {
            (void)extract_memory_read(remains->memory, at, memory, has, &got, NULL);
            for (size_t i = 0; i < got; i++)
                if (memory[i] != file[i] && !(*different)++)
                    *first = at + i;
            common += got;
        }
        done += has ? has : 1; // a section may begin at any byte
    }
    return common;
}

// Returns whether the memory has some of the constants.
static bool check_constants(struct crash_build *build)
{
    struct extract_region region;
    uint64_t common = 0, different = 0, first = 0;

    for (size_t i = 0; extract_memory_region(build->remains->memory, i, &region); i++)
        common += compare(build, region, &different, &first);
    if (!different)
        return common != 0;
    crash_find(build, "other program", "memory",
               different * 100 > common ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY,
               "%llu of %llu bytes of code and constants differ from the ELF file, the first at "
               "0x%08llx: another program ran, its code was overwritten, or the image begins at "
               "another address",
               (unsigned long long)different, (unsigned long long)common,
               (unsigned long long)first);
    return true;
}

// The entry function of a thread is one of the program, or of a module that was loaded apart.
static void check_entries(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;
    struct extract_symbols *symbols = build->remains->symbols;
    bool is_arm = extract_symbols_machine(symbols) == EM_ARM;
    const struct extract_kernel_thread *first = NULL;
    struct extract_symbol symbol;
    size_t known = 0, strange = 0;
    bool is_inside = false; // of the code of the ELF file
    uint64_t offset;
    uint8_t byte;
    char name[24];

    for (size_t i = 0; kernel && i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        uint64_t entry = thread->entry & ~(uint64_t)is_arm; // the bit of Thumb
        known += entry != 0;
        if (!entry || (extract_symbols_by_address(symbols, entry, &symbol, &offset, NULL) &&
                       symbol.function && !offset))
            continue;
        strange++;
        is_inside |= extract_symbols_read_constant(symbols, entry, &byte, sizeof byte) != 0;
        first = first ? first : thread;
    }
    if (first)
        crash_find(build, "other program", "control block",
                   is_inside ? EXTRACT_CRASH_LIKELY : EXTRACT_CRASH_POSSIBLE,
                   "%zu of %zu threads begin where the ELF file has no function, such as \"%s\" at "
                   "0x%08llx",
                   strange, known, crash_name(first->name, first->address, name),
                   (unsigned long long)first->entry);
}

// Returns whether the program has gone to where no code is, as the fault shows.
static bool has_bad_call(const struct extract_crash *crash)
{
    for (size_t i = 0; i < crash->finding_count; i++)
        if (strcmp(crash->findings[i].kind, "bad call") == 0)
            return true;
    return false;
}

// Returns whether a thread has done so: its stack and the ELF file explain that as they are.
static bool has_gone_astray(const struct crash_build *build,
                            const struct extract_kernel_thread *thread)
{
    return has_bad_call(build->crash) && thread->has_core && thread->core == build->crash->core;
}

static void check_threads(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;
    const struct extract_crash_place *place = &build->crash->place;
    size_t saved = 0, in_code = 0;

    if (place->is_known && !place->function && !has_bad_call(build->crash) &&
        !crash_is_locked_up(build) && !extract_symbols_has_libraries(build->remains->symbols))
        crash_find(build, "other program", "registers", EXTRACT_CRASH_POSSIBLE,
                   "0x%08llx is not in a function of the ELF file", (unsigned long long)place->pc);
    if (kernel && kernel->problem_count > kernel->missing_count + kernel->is_moving)
        crash_find(build, "other program", "control block", EXTRACT_CRASH_POSSIBLE,
                   "control blocks are damaged, or the ELF file is another one: %s",
                   kernel->problems[kernel->missing_count]);

    for (size_t i = 0; kernel && i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        bool is_saved = thread->has_pc && !has_gone_astray(build, thread);
        saved += is_saved;
        in_code += is_saved && thread->function;
    }
    if (saved > in_code)
        crash_find(build, "other program", "stack",
                   in_code ? EXTRACT_CRASH_POSSIBLE : EXTRACT_CRASH_LIKELY,
                   "%zu of %zu threads continue outside of the program's functions: their stacks "
                   "are damaged, or the ELF file is another one",
                   saved - in_code, saved);
}

// Return addresses on the stacks.
struct returns {
    size_t count, impossible;
    struct extract_frame first; // of the impossible ones
};

static void count_returns(struct returns *returns, const struct extract_frame *frames, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        returns->count++;
        if (frames[i].is_impossible && !returns->impossible++)
            returns->first = frames[i];
    }
}

// A return address is after a call. One that is not shows code of another program, which may have
// the same functions at other places.
static void check_returns(struct crash_build *build)
{
    enum { MOST_THREADS = 64 };
    const struct extract_remains *remains = build->remains;
    const struct extract_kernel *kernel = remains->kernel;
    const struct extract_crash *crash = build->crash;
    struct extract_frame frames[EXTRACT_CRASH_FRAMES];
    struct returns returns = {.count = 0};

    if (!crash->thread || !crash->thread->has_pc) // or its frames are those of the thread
        count_returns(&returns, crash->frames, crash->frame_count);
    for (size_t i = 0; kernel && i < kernel->thread_count && i < MOST_THREADS; i++)
        if (kernel->threads[i].has_pc)
            count_returns(&returns, frames,
                          extract_kernel_backtrace(remains->memory, remains->symbols,
                                                   &kernel->threads[i].registers, frames,
                                                   EXTRACT_CRASH_FRAMES));
    if (returns.impossible)
        crash_find(build, "other program", "stack",
                   returns.impossible > 1 ? EXTRACT_CRASH_LIKELY : EXTRACT_CRASH_POSSIBLE,
                   "%zu of %zu return addresses on the stacks are not after a call, such as "
                   "0x%08llx in %s: the stacks are damaged, or the ELF file is another one",
                   returns.impossible, returns.count, (unsigned long long)returns.first.pc,
                   returns.first.function);
}

static void check_machine(struct crash_build *build)
{
    const struct extract_core *core = extract_core_of(build->remains->memory);

    if (core && core->elf.machine != extract_symbols_machine(build->remains->symbols))
        crash_find(build, "other program", "memory", EXTRACT_CRASH_CERTAIN,
                   "the core file is of another machine than the ELF file (e_machine %u and %u)",
                   core->elf.machine, extract_symbols_machine(build->remains->symbols));
    else if (extract_crashcatcher_of(build->remains->memory) &&
             !extract_symbols_is_m_profile(build->remains->symbols))
        crash_find(build, "other program", "memory", EXTRACT_CRASH_CERTAIN,
                   "the dump of CrashCatcher is of a Cortex-M core, for which the ELF file is not");
}

static void put_hex(char *text, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

// Returns whether the build id of the program is in the memory.
static bool check_build_id(struct crash_build *build)
{
    enum { MOST = 32 };
    uint8_t file[MOST], memory[MOST];
    char of_file[2 * MOST + 1], of_memory[2 * MOST + 1];
    uint64_t address;
    size_t got, length = extract_symbols_build_id(build->remains->symbols, &address, file, MOST);

    if (!length || extract_memory_read(build->remains->memory, address, memory, length, &got, NULL))
        return false;
    if (memcmp(file, memory, length) == 0)
        return true;
    put_hex(of_file, file, length);
    put_hex(of_memory, memory, length);
    crash_find(build, "other program", "memory", EXTRACT_CRASH_CERTAIN,
               "the build id of the ELF file is %s, but the memory has %s in its place", of_file,
               of_memory);
    return true;
}

// Linux leaves the first page of a program out of its core if bit 4 of coredump_filter is not set.
static void note_unchecked(struct crash_build *build)
{
    const struct extract_core *core = extract_core_of(build->remains->memory);
    uint64_t entry;

    if (core && extract_core_entry(core, &entry))
        crash_find(build, "unchecked", "memory", EXTRACT_CRASH_CERTAIN,
                   "the core has neither the build id of the program nor its code: that the ELF "
                   "file is the one that ran is not checked");
}

// Linux notes where it loaded the entry point: at a multiple of a page from that of the file.
static void check_entry_point(struct crash_build *build)
{
    const struct extract_core *core = extract_core_of(build->remains->memory);
    struct extract_symbols *symbols = build->remains->symbols;
    uint64_t entry, placed;

    if (!core || !extract_core_entry(core, &entry) ||
        !extract_symbols_is_position_independent(symbols))
        return;
    extract_symbols_move(symbols, entry);
    if (!extract_symbols_entry(symbols, &placed) || placed != entry)
        crash_find(build, "other program", "memory", EXTRACT_CRASH_CERTAIN,
                   "the program's entry point was at 0x%llx, where that of the ELF file cannot be",
                   (unsigned long long)entry);
}

// ---- the vector table ----

// Returns the address of the vector table: that of the core, or of the program.
static bool find_vectors(const struct crash_build *build, uint64_t *address)
{
    static const char *const names[] = {"__Vectors",     "__isr_vector", "g_pfnVectors",
                                        "_vector_table", "vector_table", "vectors"};
    const uint64_t vtor = 0xE000ED08;
    struct extract_symbol symbol;
    uint8_t bytes[4];
    size_t got;

    if (!extract_memory_read(build->remains->memory, vtor, bytes, sizeof bytes, &got, NULL)) {
        struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
        *address = extract_cursor_u32(&c);
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (extract_symbols_by_name(build->remains->symbols, names[i], &symbol)) {
            *address = symbol.address;
            return true;
        }
    return false;
}

// Returns whether code is part of the function at an address. Labels of assembly language are
// symbols of their own: they are local, and have no size, as functions of compilers do.
static bool is_in_function(struct extract_symbols *symbols, uint64_t pc, uint64_t function)
{
    enum { MOST_LABELS = 256 };
    struct extract_symbol symbol;

    for (size_t i = 0; i < MOST_LABELS; i++) {
        if (!extract_symbols_by_address(symbols, pc, &symbol, NULL, NULL))
            return false;
        if (symbol.address == function)
            return true;
        if (symbol.global || symbol.size || symbol.address <= function)
            return false;
        pc = symbol.address - 1;
    }
    return false;
}

// Returns whether a function may jump to an address: with a branch that leaves lr as it is, or by a
// pointer that is beside its code.
static bool jumps_to(struct extract_symbols *symbols, uint64_t function, uint64_t target)
{
    enum { MOST_BYTES_OF_HANDLER = 128 };
    uint8_t bytes[MOST_BYTES_OF_HANDLER];
    size_t got = extract_symbols_read_constant(symbols, function, bytes, sizeof bytes);

    for (size_t at = 0; at + 4 <= got; at += 2) {
        uint32_t first = (uint32_t)bytes[at] | (uint32_t)bytes[at + 1] << 8;
        uint32_t second = (uint32_t)bytes[at + 2] | (uint32_t)bytes[at + 3] << 8;
        uint32_t pc = (uint32_t)(function + at + 4), sign = first >> 10 & 1;
        uint32_t i1 = ~(second >> 13 ^ sign) & 1, i2 = ~(second >> 11 ^ sign) & 1;
        uint32_t wide =
            (0 - sign) << 24 | i1 << 23 | i2 << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1;
        uint32_t narrow = (0 - (first >> 10 & 1)) << 11 | (first & 0x7FF) << 1;
        if ((first | second << 16) == (target | 1) ||
            (first >> 11 == 0x1C && pc + narrow == target) ||
            (first >> 11 == 0x1E && (second & 0xD000) == 0x9000 && pc + wide == target))
            return true;
    }
    return false;
}

// In the first function of an exception, pc is in the handler that the vector table names, or in a
// function to which that one jumps.
// Source: Armv7-M Architecture Reference Manual, A7.7.12 (B, encodings T2 and T4).
static void check_vectors(struct crash_build *build)
{
    enum { EXCEPTION = 0x1FF, RETURN = 0xFFFFFF };
    const struct extract_registers *registers = &build->crash->registers;
    struct extract_symbols *symbols = build->remains->symbols;
    struct extract_symbol expected, found;
    uint64_t psr, lr, pc, table;
    uint8_t bytes[4];

    if (!build->machine || !build->machine->is_m_profile || crash_is_locked_up(build) ||
        !register_get(registers, ARM_PSR, &psr) || !(psr & EXCEPTION) ||
        !register_get(registers, ARM_LR, &lr) || lr >> 8 != RETURN ||
        !register_get(registers, ARM_PC, &pc) || !find_vectors(build, &table) ||
        extract_symbols_read_constant(symbols, table + 4 * (psr & EXCEPTION), bytes,
                                      sizeof bytes) != sizeof bytes)
        return;
    struct extract_cursor c =
        extract_cursor_make(bytes, sizeof bytes, extract_symbols_byte_order(symbols));
    uint64_t handler = extract_cursor_u32(&c) & ~UINT64_C(1);
    bool has_handler = extract_symbols_by_address(symbols, handler, &expected, NULL, NULL);
    bool has_pc = extract_symbols_by_address(symbols, pc, &found, NULL, NULL);
    if (has_pc &&
        (is_in_function(symbols, pc, handler) || jumps_to(symbols, handler, found.address)))
        return;
    crash_find(build, "other program", "registers", EXTRACT_CRASH_LIKELY,
               "exception %u is handled at 0x%08llx (%s), by the vector table of the ELF file, but "
               "the core is at 0x%08llx (%s)",
               (unsigned)(psr & EXCEPTION), (unsigned long long)handler,
               has_handler ? expected.name : "not code of it", (unsigned long long)pc,
               has_pc ? found.name : "not code of it");
}

// ---- what follows ----

// What symbols and control blocks show is not more certain than that they are those of the program.
static void limit_certainty(struct crash_build *build)
{
    struct extract_crash *crash = build->crash;

    for (size_t i = 0; i < crash->finding_count; i++) {
        if (strcmp(crash->findings[i].kind, "other program") != 0 &&
            strcmp(crash->findings[i].kind, "wrong address") != 0)
            continue;
        enum extract_crash_certainty most = crash->findings[i].certainty == EXTRACT_CRASH_POSSIBLE
                                                ? EXTRACT_CRASH_LIKELY
                                                : EXTRACT_CRASH_POSSIBLE;
        crash_limit(&crash->place.certainty, most);
        crash_limit(&crash->thread_certainty, most);
        if (strcmp(crash->source, "registers") != 0)
            crash_limit(&crash->certainty, most);
        for (size_t k = 0; k < crash->finding_count; k++)
            if (strcmp(crash->findings[k].source, "control block") == 0 &&
                strcmp(crash->findings[k].kind, "other program") != 0)
                crash_limit(&crash->findings[k].certainty, most);
    }
}

// An image at a wrong address has nothing where the ELF file has it.
static void check_address(struct crash_build *build)
{
    const struct extract_ring *ring =
        build->trace ? &extract_trace_snapshot(build->trace)->ring : NULL;

    if (!ring || !ring->is_moved)
        crash_find(build, "wrong address", "memory", EXTRACT_CRASH_LIKELY, "%s", build->moved);
    else
        crash_find(
            build, "wrong address", "trace", EXTRACT_CRASH_CERTAIN,
            "the ring was at 0x%llx on the target, not at 0x%llx: the image begins at 0x%llx",
            (unsigned long long)(ring->address - ring->base_delta),
            (unsigned long long)ring->address, (unsigned long long)ring->image_start);
}

void crash_check_program(struct crash_build *build)
{
    if (!build->remains->symbols || !build->remains->memory)
        return;
    if (crash_is_moved(build)) {
        check_address(build);
        limit_certainty(build);
        return;
    }
    check_machine(build);
    check_entry_point(build);
    bool has_build_id = check_build_id(build);
    if (!check_constants(build) && !has_build_id)
        note_unchecked(build);
    check_vectors(build);
    check_entries(build);
    check_threads(build);
    check_returns(build);
    limit_certainty(build);
}
