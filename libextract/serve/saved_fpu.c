// SPDX-License-Identifier: MIT
// serve: the registers of the FPU of threads that do not run (saved_fpu.h).
//
// Source: Debugging with GDB, "ARM Features", "RISC-V Features".
#include "serve/saved_fpu.h"
#include "registers/fpu.h"
#include "serve/packet.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdio.h>

enum { CONTROLS = 3, CONTROL_BYTES = 4 };

static const struct fpu {
    uint16_t elf_machine;
    const char *feature, *prefix; // of the target description, and of the names
    unsigned count;
    struct {
        const char *name; // NULL after the last
        unsigned number;
    } controls[CONTROLS];
} fpus[] = {
    {EM_ARM, "org.gnu.gdb.arm.vfp", "d", 16, {{"fpscr", EXTRACT_FPU_CONTROL}}},
    {EM_RISCV,
     "org.gnu.gdb.riscv.fpu",
     "f",
     32,
     {{"fflags", FPU_FFLAGS}, {"frm", FPU_FRM}, {"fcsr", EXTRACT_FPU_CONTROL}}},
};

// Returns the FPU of a machine; NULL: none is known.
static const struct fpu *find_fpu(const struct register_machine *machine)
{
    for (size_t i = 0; i < sizeof fpus / sizeof *fpus; i++)
        if (fpus[i].elf_machine == machine->elf_machine &&
            (machine->elf_machine != EM_ARM || machine->is_m_profile))
            return &fpus[i];
    return NULL;
}

unsigned saved_fpu_bytes(const struct extract_symbols *symbols,
                         const struct register_machine *machine,
                         const struct serve_threads *threads)
{
    const uint32_t flags = extract_symbols_flags(symbols);

    if (!find_fpu(machine))
        return 0;
    if (machine->elf_machine == EM_ARM && flags & EF_ARM_ABI_FLOAT_HARD)
        return 8;
    if (machine->elf_machine == EM_RISCV &&
        (flags & EF_RISCV_FLOAT_ABI) == EF_RISCV_FLOAT_ABI_DOUBLE)
        return 8;
    if (machine->elf_machine == EM_RISCV &&
        (flags & EF_RISCV_FLOAT_ABI) == EF_RISCV_FLOAT_ABI_SINGLE)
        return 4;
    for (size_t i = 0; i < threads->count; i++)
        if (threads->list[i].fpu && threads->list[i].fpu->count)
            return threads->list[i].fpu->bytes;
    return 0;
}

bool saved_fpu_register(const struct register_machine *machine, unsigned fpu_bytes, uint64_t index,
                        struct saved_fpu_register *reg)
{
    const struct fpu *fpu = find_fpu(machine);

    *reg = (struct saved_fpu_register){.bytes = CONTROL_BYTES};
    if (!fpu || !fpu_bytes)
        return false;
    if (index < fpu->count) {
        reg->number = (unsigned)index;
        reg->bytes = fpu_bytes;
        snprintf(reg->name, sizeof reg->name, "%s%u", fpu->prefix, (unsigned)index);
        return true;
    }
    index -= fpu->count;
    if (index >= CONTROLS || !fpu->controls[index].name)
        return false;
    reg->number = fpu->controls[index].number;
    snprintf(reg->name, sizeof reg->name, "%s", fpu->controls[index].name);
    return true;
}

void saved_fpu_describe(struct extract_text *text, const struct register_machine *machine,
                        unsigned fpu_bytes)
{
    struct saved_fpu_register reg;

    if (!fpu_bytes)
        return;
    extract_text_printf(text, "<feature name=\"%s\">\n", find_fpu(machine)->feature);
    for (unsigned i = 0; saved_fpu_register(machine, fpu_bytes, i, &reg); i++)
        extract_text_printf(text, "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%u\"%s/>\n", reg.name,
                            reg.bytes * 8, SAVED_FPU_FIRST + i,
                            reg.number >= EXTRACT_FPU_CONTROL ? ""
                            : reg.bytes == 8                  ? " type=\"ieee_double\""
                                                              : " type=\"ieee_single\"");
    extract_text_puts(text, "</feature>\n");
}

void saved_fpu_put(struct extract_text *text, const struct serve_thread *thread,
                   struct extract_memory *memory, unsigned number, unsigned bytes)
{
    uint8_t value[8];

    if (bytes <= sizeof value && fpu_register_read(thread->fpu, memory, number, value, bytes))
        serve_put_hex(text, value, bytes);
    else
        extract_text_pad(text, 'x', 2 * (size_t)bytes);
}
