// SPDX-License-Identifier: MIT
// crash: whether the ELF file is that of the program that ran. Code and constants that the memory
// has, too, must be equal; where a thread continues must be code.
#include "crash/crash.h"
#include "memory/core.h"
#include "memory/hooks.h"
#include "symbols/dwarf.h"
#include <string.h>

enum { CHUNK = 4096, MOST_BYTES = 16 << 20 };

// Compares the memory with the constants of the ELF file. Returns how many bytes both have.
static uint64_t compare(struct crash_build *build, struct extract_region region,
                        uint64_t *different, uint64_t *first)
{
    const struct extract_crash_input *input = build->input;
    uint8_t memory[CHUNK], file[CHUNK];
    uint64_t common = 0;

    for (uint64_t done = 0; done < region.length && done < MOST_BYTES;) {
        uint64_t at = region.address + done;
        size_t wanted = region.length - done < CHUNK ? (size_t)(region.length - done) : CHUNK, got;
        size_t has = extract_symbols_read_constant(input->symbols, at, file, wanted);
        if (has) {
            (void)extract_memory_read(input->memory, at, memory, has, &got, NULL);
            for (size_t i = 0; i < got; i++)
                if (memory[i] != file[i] && !(*different)++)
                    *first = at + i;
            common += got;
        }
        done += has ? has : 1; // a section may begin at any byte
    }
    return common;
}

static void check_constants(struct crash_build *build)
{
    struct extract_region region;
    uint64_t common = 0, different = 0, first = 0;

    for (size_t i = 0; extract_memory_region(build->input->memory, i, &region); i++)
        common += compare(build, region, &different, &first);
    if (!different)
        return;
    crash_find(build, "other program", "memory",
               different * 100 > common ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY,
               "%llu of %llu bytes of code and constants differ from the ELF file, the first at "
               "0x%08llx: another program ran, or its code was overwritten",
               (unsigned long long)different, (unsigned long long)common,
               (unsigned long long)first);
}

static void check_threads(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->input->kernel;
    size_t saved = 0, in_code = 0;

    for (size_t i = 0; kernel && i < kernel->thread_count; i++) {
        saved += kernel->threads[i].has_pc;
        in_code += kernel->threads[i].has_pc && kernel->threads[i].function;
    }
    if (saved > in_code)
        crash_find(build, "other program", "stack",
                   in_code ? EXTRACT_CRASH_POSSIBLE : EXTRACT_CRASH_LIKELY,
                   "%zu of %zu threads continue outside of the program's functions: their stacks "
                   "are damaged, or the ELF file is another one",
                   saved - in_code, saved);
}

static void check_machine(struct crash_build *build)
{
    const struct extract_core *core = extract_core_of(build->input->memory);

    if (core && core->elf.machine != extract_symbols_machine(build->input->symbols))
        crash_find(build, "other program", "memory", EXTRACT_CRASH_CERTAIN,
                   "the core file is of another machine than the ELF file (e_machine %u and %u)",
                   core->elf.machine, extract_symbols_machine(build->input->symbols));
}

void crash_check_program(struct crash_build *build)
{
    if (!build->input->symbols || !build->input->memory)
        return;
    check_machine(build);
    check_constants(build);
    check_threads(build);
}
