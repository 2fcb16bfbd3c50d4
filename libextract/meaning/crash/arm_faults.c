// SPDX-License-Identifier: MIT
// crash: what the registers of an Arm core of A- or R-profile say about the fault that stopped it.
// Called by faults.c.
//
// Source: Arm Architecture Reference Manual for Armv7-A, B1.8 (exceptions), B3.13 (fault status).
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include <stdio.h>

static bool is_code(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;

    return extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) && symbol.function;
}

// The status of a fault: bits 10 and 3 to 0 of DFSR and IFSR, with short descriptors.
enum {
    STATUS_ALIGNMENT = 0x01,
    STATUS_DEBUG = 0x02,
    STATUS_FLAG = 0x03,
    STATUS_UNMAPPED = 0x05,
    STATUS_BUS = 0x08,
    STATUS_TABLE = 0x0C,
    STATUS_FORBIDDEN = 0x0D,
    STATUS_LATE_BUS = 0x16,
    STATUS_LATE_PARITY = 0x18,
    STATUS_PARITY = 0x19
};

static const struct crash_meaning fault_statuses[] = {
    {STATUS_ALIGNMENT, "trap", "the address is not aligned"},
    {STATUS_DEBUG, "trap", "a debug event"},
    {STATUS_FLAG, "memory fault", "the access flag of the memory is not set"},
    {0x04, "memory fault", "an operation on a cache failed"},
    {STATUS_UNMAPPED, "memory fault", "the address is not mapped"},
    {0x06, "memory fault", "the access flag of the memory is not set"},
    {0x07, "memory fault", "the address is not mapped"},
    {STATUS_BUS, "bus fault", "the address does not answer"},
    {0x09, "memory fault", "the domain of the memory is closed"},
    {0x0B, "memory fault", "the domain of the memory is closed"},
    {STATUS_TABLE, "bus fault", "the page table does not answer"},
    {STATUS_FORBIDDEN, "memory fault", "the memory forbids it"},
    {0x0E, "bus fault", "the page table does not answer"},
    {0x0F, "memory fault", "the memory forbids it"},
    {STATUS_LATE_BUS, "bus fault", "an earlier access went to an address that does not answer"},
    {STATUS_LATE_PARITY, "bus fault", "an earlier access met a parity error"},
    {STATUS_PARITY, "bus fault", "the memory has a parity error"},
    {0x1C, "bus fault", "the page table has a parity error"},
    {0x1E, "bus fault", "the page table has a parity error"},
};

// Returns the status of a fault as with short descriptors.
static unsigned fault_status(uint64_t word)
{
    static const struct {
        uint8_t of_long, of_short;
    } statuses[] = {
        {0x10, STATUS_BUS},         {0x11, STATUS_LATE_BUS},  {0x18, STATUS_PARITY},
        {0x19, STATUS_LATE_PARITY}, {0x21, STATUS_ALIGNMENT}, {0x22, STATUS_DEBUG},
    };
    // By the two bits above those of the level of the page table.
    static const uint8_t levels[] = {0, STATUS_UNMAPPED, STATUS_FLAG, STATUS_FORBIDDEN,
                                     0, STATUS_TABLE};
    const uint64_t long_descriptors = 1 << 9;
    const unsigned status = word & 0x3F;

    if (!(word & long_descriptors))
        return (unsigned)((word >> 6 & 0x10) | (word & 0xF));
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].of_long == status)
            return statuses[i].of_short;
    return status >> 2 < sizeof levels ? levels[status >> 2] : 0;
}

// Adds the finding for an abort: `what` could not be done.
static void find_abort(struct crash_build *build, const char *what, const char *name,
                       unsigned status_index, unsigned address_index,
                       enum extract_crash_certainty certainty)
{
    const struct extract_registers *registers = &build->crash->registers;
    const struct crash_meaning *meaning = NULL;
    uint64_t status, address;
    char where[48] = "";

    if (register_get(registers, status_index, &status))
        meaning = crash_meaning_of(fault_statuses, sizeof fault_statuses / sizeof *fault_statuses,
                                   fault_status(status));
    if (!meaning) {
        build->has_foreign_fault = true;
        crash_find(build, "trap", "registers", certainty, "%s; why is not known", what);
        return;
    }
    const bool has_address = meaning->number != STATUS_DEBUG &&
                             meaning->number != STATUS_LATE_BUS &&
                             meaning->number != STATUS_LATE_PARITY;
    if (has_address && register_get(registers, address_index, &address))
        snprintf(where, sizeof where, ": address 0x%08llx", (unsigned long long)address);
    build->has_foreign_fault |=
        meaning->number != STATUS_ALIGNMENT && meaning->number != STATUS_DEBUG;
    crash_find(build, meaning->kind, "registers", certainty, "%s: %s%s (%s 0x%08llx)", what,
               meaning->text, where, name, (unsigned long long)status);
}

// Without the registers of all modes, the mode alone shows which exceptions the core has taken,
// unless the handler has changed it.
static void find_mode(struct crash_build *build)
{
    const struct extract_registers *registers = &build->crash->registers;
    char link[80] = "";
    uint64_t status, lr;

    if (!register_get(registers, ARM_PSR, &status))
        return;
    bool is_abort = (status & CRASH_ARM_MODE) == CRASH_ARM_ABORT;
    if (!is_abort && (status & CRASH_ARM_MODE) != CRASH_ARM_UNDEFINED)
        return;
    if (register_get(registers, ARM_LR, &lr))
        snprintf(link, sizeof link,
                 is_abort ? "; at the start of the handler, lr (0x%08llx) is 8 or 4 after it"
                          : "; at the start of the handler, lr (0x%08llx) is after it",
                 (unsigned long long)lr);
    crash_find(build, is_abort ? "trap" : "illegal instruction", "registers", EXTRACT_CRASH_LIKELY,
               is_abort ? "the core is in abort mode: an access to data, or to an instruction, has "
                          "failed%s"
                        : "the core is in undefined mode: an instruction was not one%s",
               link);
}

// Returns what a fault has interrupted, with a comma, or "": the saved status names the mode, and
// the kernel counts interrupts.
static const char *outer_of(const struct extract_registers *core,
                            const struct kernel_arm_frame *frame)
{
    enum { MODE_FIQ = 0x11, MODE_IRQ = 0x12 };
    uint64_t before = 0;

    if (register_get(core, ARM_SPSR, &before) && (before & CRASH_ARM_MODE) == MODE_IRQ)
        return "IRQ, then ";
    if ((before & CRASH_ARM_MODE) == MODE_FIQ)
        return "FIQ, then ";
    return frame->is_in_interrupt ? "interrupt, then " : "";
}

// Adds what is missing to name the caller of an address without code, or the frames of a function.
static void note_missing_link(struct crash_build *build, const struct kernel_arm_frame *frame)
{
    uint64_t pc, value;

    if (frame->is_searched)
        crash_find(build, "stack pointer", "stack", EXTRACT_CRASH_LIKELY,
                   "sp and lr of the mode before the exception are unknown; they were found by "
                   "search on its stack");
    else if (register_get(&frame->registers, ARM_PC, &pc) &&
             !is_code(build->remains->symbols, pc) &&
             !register_get(&frame->registers, ARM_LR, &value))
        crash_find(build, "unknown caller", "registers", EXTRACT_CRASH_CERTAIN,
                   "lr of the mode before the exception, such as lr_svc or lr_usr, is unknown: it "
                   "shows from where the program went to 0x%08llx",
                   (unsigned long long)pc);
}

void crash_read_classic_arm(struct crash_build *build)
{
    const uint64_t is_write = 1 << 11;
    struct extract_crash *crash = build->crash;
    struct kernel_arm_frame frame;
    const char *context = "undefined instruction", *what = "data could not be accessed";
    uint64_t status;

    if (!kernel_read_arm_frame(build->remains->memory, build->remains->symbols, &crash->registers,
                               &frame) &&
        !kernel_read_arm_call(build->remains->memory, build->remains->symbols, &crash->registers,
                              &frame)) {
        find_mode(build);
        return;
    }
    kernel_complete_arm_frame(build->remains->kernel, build->remains->memory,
                              build->remains->symbols, crash->core, &crash->registers, &frame);
    enum extract_crash_certainty certainty =
        frame.is_at_start && !frame.is_likely ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY;
    switch (frame.exception) {
    case KERNEL_ARM_IRQ:
        snprintf(crash->context, sizeof crash->context, "IRQ");
        build->is_interrupted = true;
        build->interrupted = frame.registers;
        return;
    case KERNEL_ARM_UNDEFINED:
        build->has_foreign_fault = true;
        crash_find(build, "illegal instruction", "registers", certainty,
                   "an undefined instruction was executed, or one whose coprocessor or FPU is "
                   "disabled");
        break;
    case KERNEL_ARM_CALL:
        context = "supervisor call";
        crash_find(build, "trap", "registers", certainty,
                   "a supervisor call (SVC) was executed, for which the program has no handler");
        break;
    case KERNEL_ARM_PREFETCH_ABORT:
        context = "prefetch abort";
        find_abort(build, "an instruction could not be fetched", "IFSR", ARM_IFSR, ARM_IFAR,
                   certainty);
        break;
    case KERNEL_ARM_DATA_ABORT:
        context = "data abort";
        if (register_get(&crash->registers, FAULT_DFSR, &status))
            what = status & is_write ? "data could not be written" : "data could not be read";
        find_abort(build, what, "DFSR", FAULT_DFSR, ARM_DFAR, certainty);
        break;
    }
    snprintf(crash->context, sizeof crash->context, "%s%s", outer_of(&crash->registers, &frame),
             context);
    if (frame.is_searched)
        crash_limit(&certainty, EXTRACT_CRASH_LIKELY);
    crash_find_bad_call(build, &frame.registers, &certainty);
    note_missing_link(build, &frame);
    crash_set_origin(build, &frame.registers, certainty, NULL);
}
