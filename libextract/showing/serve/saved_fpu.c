// SPDX-License-Identifier: MIT
// serve: the registers of the FPU of threads that do not run (saved_fpu.h).
//
// Source: Debugging with GDB, "ARM Features", "RISC-V Features".
#include "serve/saved_fpu.h"
#include "registers/fpu.h"
#include "serve/serve_packet.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdio.h>

enum {
    CONTROLS = 3,
    CONTROL_BYTES = 4,
    FIRST_LEAST = 33,    // number of the first register, of machines with fewer others
    VALUE_BYTES = 16,    // most bytes of a register
    ARM_COUNT_LEAST = 16 // d0 to d15, which each FPU of Arm has
};

static const struct fpu {
    uint16_t elf_machine;
    uint8_t bytes;                // of a register; 0: not the same in all of them
    const char *feature, *prefix; // of the target description, and of the names
    const char *type;             // in the target description
    unsigned count;
    struct {
        const char *name; // NULL after the last
        unsigned number;
    } controls[CONTROLS];
} fpus[] = {
    {EM_ARM, 8, "org.gnu.gdb.arm.vfp", "d", "ieee_double", 32, {{"fpscr", EXTRACT_FPU_CONTROL}}},
    {EM_RISCV,
     0,
     "org.gnu.gdb.riscv.fpu",
     "f",
     NULL,
     32,
     {{"fflags", FPU_FFLAGS}, {"frm", FPU_FRM}, {"fcsr", EXTRACT_FPU_CONTROL}}},
    {EM_AARCH64,
     16,
     "org.gnu.gdb.aarch64.fpu",
     "v",
     "aarch64v",
     32,
     {{"fpsr", EXTRACT_FPU_CONTROL}, {"fpcr", FPU_FPCR}}},
};

// Returns the FPU of a machine; NULL: none is known.
static const struct fpu *find_fpu(const struct register_machine *machine)
{
    for (size_t i = 0; i < sizeof fpus / sizeof *fpus; i++)
        if (fpus[i].elf_machine == machine->elf_machine)
            return &fpus[i];
    return NULL;
}

// Returns the bytes of a register in the calls of a program; 0: they use none.
static unsigned bytes_of_calls(const struct extract_symbols *symbols,
                               const struct register_machine *machine)
{
    const uint32_t flags = extract_symbols_flags(symbols);

    if (machine->elf_machine == EM_ARM)
        return machine->is_m_profile && flags & EF_ARM_ABI_FLOAT_HARD ? 8 : 0;
    if (machine->elf_machine != EM_RISCV)
        return 0;
    return (flags & EF_RISCV_FLOAT_ABI) == EF_RISCV_FLOAT_ABI_DOUBLE   ? 8
           : (flags & EF_RISCV_FLOAT_ABI) == EF_RISCV_FLOAT_ABI_SINGLE ? 4
                                                                       : 0;
}

struct saved_fpu saved_fpu_find(const struct extract_symbols *symbols,
                                const struct register_machine *machine,
                                const struct debug_threads *threads)
{
    const struct fpu *fpu = find_fpu(machine);
    struct saved_fpu found = {.bytes = 0};
    uint64_t known = 0;

    if (!fpu)
        return found;
    for (size_t i = 0; i < threads->count; i++) {
        const struct debug_thread *thread = &threads->list[i];
        known |= thread->registers.fpu_known;
        if (thread->registers.fpu_known && thread->registers.fpu_bytes)
            found.bytes = thread->registers.fpu_bytes;
    }
    if (!found.bytes)
        found.bytes = bytes_of_calls(symbols, machine);
    for (size_t i = 0; i < threads->count && !found.bytes; i++)
        if (threads->list[i].fpu && threads->list[i].fpu->count)
            found.bytes = threads->list[i].fpu->bytes;
    if (found.bytes > VALUE_BYTES || (fpu->bytes && found.bytes != fpu->bytes))
        found.bytes = 0;
    // GDB refuses other machines without their registers of control. QEMU does not know fcsr.
    found.has_control = machine->elf_machine != EM_RISCV || !known || known >> EXTRACT_FPU_CONTROL;
    // Not each FPU of Arm has d16 to d31.
    bool is_half = machine->elf_machine == EM_ARM && !((uint32_t)known >> ARM_COUNT_LEAST);
    found.count = is_half ? ARM_COUNT_LEAST : fpu->count;
    return found;
}

bool saved_fpu_register(const struct register_machine *machine, struct saved_fpu saved,
                        uint64_t index, struct saved_fpu_register *reg)
{
    const struct fpu *fpu = find_fpu(machine);

    *reg = (struct saved_fpu_register){.bytes = CONTROL_BYTES};
    if (!fpu || !saved.bytes)
        return false;
    if (index < saved.count) {
        reg->number = (unsigned)index;
        reg->bytes = saved.bytes;
        snprintf(reg->name, sizeof reg->name, "%s%u", fpu->prefix, (unsigned)index);
        return true;
    }
    index -= saved.count;
    if (!saved.has_control || index >= CONTROLS || !fpu->controls[index].name)
        return false;
    reg->number = fpu->controls[index].number;
    snprintf(reg->name, sizeof reg->name, "%s", fpu->controls[index].name);
    return true;
}

unsigned saved_fpu_first(const struct register_machine *machine)
{
    return machine->count > FIRST_LEAST ? machine->count : FIRST_LEAST;
}

// Describes the type of an AArch64 register: its lanes of each size, as GDB names them.
static void put_parts(struct extract_text *text)
{
    static const struct lane {
        char name;
        const char *fraction; // NULL: lanes of this size are whole numbers only
        unsigned bits;
    } lanes[] = {{'d', "ieee_double", 64},
                 {'s', "ieee_single", 32},
                 {'h', NULL, 16},
                 {'b', NULL, 8},
                 {'q', NULL, 128}};
    const size_t count = sizeof lanes / sizeof *lanes;

    for (const struct lane *lane = lanes; lane < lanes + count; lane++) {
        unsigned number = VALUE_BYTES * 8 / lane->bits;
        if (lane->fraction)
            extract_text_printf(text, "<vector id=\"v%cf\" type=\"%s\" count=\"%u\"/>\n",
                                lane->name, lane->fraction, number);
        extract_text_printf(text,
                            "<vector id=\"v%cu\" type=\"uint%u\" count=\"%u\"/>\n"
                            "<vector id=\"v%cs\" type=\"int%u\" count=\"%u\"/>\n"
                            "<union id=\"v%c\">",
                            lane->name, lane->bits, number, lane->name, lane->bits, number,
                            lane->name);
        if (lane->fraction)
            extract_text_printf(text, "<field name=\"f\" type=\"v%cf\"/>", lane->name);
        extract_text_printf(text,
                            "<field name=\"u\" type=\"v%cu\"/><field name=\"s\" type=\"v%cs\"/>"
                            "</union>\n",
                            lane->name, lane->name);
    }
    extract_text_puts(text, "<union id=\"aarch64v\">");
    for (const struct lane *lane = lanes; lane < lanes + count; lane++)
        extract_text_printf(text, "<field name=\"%c\" type=\"v%c\"/>", lane->name, lane->name);
    extract_text_puts(text, "</union>\n");
}

// Describes the type of a register of an Arm FPU with d16 to d31, which is one of vectors.
static void put_neon_parts(struct extract_text *text)
{
    extract_text_puts(text,
                      "<vector id=\"v8\" type=\"uint8\" count=\"8\"/>\n"
                      "<vector id=\"v16\" type=\"uint16\" count=\"4\"/>\n"
                      "<vector id=\"v32\" type=\"uint32\" count=\"2\"/>\n"
                      "<vector id=\"v32f\" type=\"ieee_single\" count=\"2\"/>\n"
                      "<union id=\"neon_d\"><field name=\"u8\" type=\"v8\"/>"
                      "<field name=\"u16\" type=\"v16\"/><field name=\"u32\" type=\"v32\"/>"
                      "<field name=\"u64\" type=\"uint64\"/><field name=\"f32\" type=\"v32f\"/>"
                      "<field name=\"f64\" type=\"ieee_double\"/></union>\n");
}

void saved_fpu_describe(struct extract_text *text, const struct register_machine *machine,
                        struct saved_fpu saved)
{
    const struct fpu *fpu = find_fpu(machine);
    struct saved_fpu_register reg;

    if (!fpu || !saved.bytes)
        return;
    extract_text_printf(text, "<feature name=\"%s\">\n", fpu->feature);
    const bool is_neon = fpu->elf_machine == EM_ARM && saved.count > ARM_COUNT_LEAST;
    if (saved.bytes == VALUE_BYTES)
        put_parts(text);
    else if (is_neon)
        put_neon_parts(text);
    for (unsigned i = 0; saved_fpu_register(machine, saved, i, &reg); i++) {
        const char *type = is_neon          ? "neon_d"
                           : fpu->type      ? fpu->type
                           : reg.bytes == 8 ? "ieee_double"
                                            : "ieee_single";
        // GDB shows those of control with the general registers, and of most machines here, too.
        const char *form = reg.number < EXTRACT_FPU_CONTROL ? "type"
                           : fpu->elf_machine == EM_AARCH64 ? NULL
                                                            : "group";
        extract_text_printf(text, "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%u\"", reg.name,
                            reg.bytes * 8, saved_fpu_first(machine) + i);
        if (form)
            extract_text_printf(text, " %s=\"%s\"", form, *form == 't' ? type : "float");
        extract_text_puts(text, "/>\n");
    }
    extract_text_puts(text, "</feature>\n");
}

bool saved_fpu_read(const struct debug_thread *thread, struct extract_memory *memory,
                    unsigned number, uint8_t *value, unsigned bytes, enum extract_byte_order order)
{
    return fpu_register_put(&thread->registers, number, value, bytes, order) ||
           fpu_register_read(thread->fpu, memory, number, value, bytes);
}

void saved_fpu_put(struct extract_text *text, const struct debug_thread *thread,
                   struct extract_memory *memory, unsigned number, unsigned bytes,
                   enum extract_byte_order order)
{
    uint8_t value[VALUE_BYTES];

    if (bytes <= sizeof value && saved_fpu_read(thread, memory, number, value, bytes, order))
        serve_put_hex(text, value, bytes);
    else
        extract_text_pad(text, 'x', 2 * (size_t)bytes);
}
