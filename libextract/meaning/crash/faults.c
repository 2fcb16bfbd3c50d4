// SPDX-License-Identifier: MIT
// crash: what the registers of a machine say about the fault that stopped it.
//
// Sources: Arm v7-M Architecture Reference Manual, B3.2.15 to B3.2.18, and v8-M, D1.2 (SFSR);
// RISC-V Privileged Architecture 1.12, table 3.6; ColdFire Family Programmer's Reference Manual,
// table 11-1; signal(7).
#include "base/cursor.h"
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

// ---- Arm, M-profile ----

enum {
    EXCEPTION = 0x1FF,
    SECURE_FAULT = 7,
    STATUS_ADDRESS_LOW = 0x28, // of CFSR after 0xE000ED00
    SECURE_ADDRESS_LOW = 0xE4, // of SFSR
    DATA_VIOLATION = 1,
    MMFAR_VALID = 7,
    PRECISE = 9,
    IMPRECISE = 10,
    BFAR_VALID = 15,
    NOCP = 19,
    OWN_FAULTS = 24, // and after: what an instruction does by itself, whatever is in memory
    SECURE_VIOLATION = 3,
    SFAR_VALID = 6,
    NO_ADDRESS = 255 // of no bit
};

static const struct crash_meaning cfsr_bits[] = {
    {0, "memory fault", "an instruction was fetched from memory that must not be executed"},
    {DATA_VIOLATION, "memory fault", "data were accessed in memory that the MPU protects"},
    {3, "memory fault", "the MPU forbids the stack from which an exception returned"},
    {4, "memory fault", "the MPU forbids the stack onto which an exception saved registers"},
    {5, "memory fault", "the MPU forbids the stack onto which FPU registers were saved"},
    {8, "bus fault", "an instruction was fetched from an address that does not answer"},
    {PRECISE, "bus fault", "data were accessed at an address that does not answer"},
    {IMPRECISE, "bus fault", "an earlier write went to an address that does not answer"},
    {11, "bus fault", "the stack from which an exception returned does not answer"},
    {12, "bus fault", "the stack onto which an exception saved registers does not answer"},
    {13, "bus fault", "the stack onto which FPU registers were saved does not answer"},
    {16, "illegal instruction", "an undefined instruction was executed"},
    {17, "usage fault",
     "an instruction was executed in an invalid state, such as a jump to an even address"},
    {18, "usage fault", "an exception returned with an invalid value"},
    {NOCP, "usage fault", "an instruction needs a coprocessor or FPU that is disabled or missing"},
    {20, "stack overflow", "the stack pointer went below its limit"},
    {24, "usage fault", "an address was not aligned"},
    {25, "usage fault", "a number was divided by zero"},
};

static const struct crash_meaning sfsr_bits[] = {
    {0, "usage fault", "non-secure code called secure code at an invalid entry"},
    {1, "usage fault", "an exception frame has an invalid integrity signature"},
    {2, "usage fault", "an exception returned to the wrong security state"},
    {SECURE_VIOLATION, "memory fault", "non-secure code accessed secure memory"},
    {4, "usage fault", "a branch left secure code in an invalid way"},
    {5, "memory fault", "FPU registers could not be saved"},
    {7, "memory fault", "saving FPU registers failed"},
};

static const struct crash_meaning exceptions[] = {
    {2, "unknown", "NMI"},
    {3, "hard fault", "HardFault"},
    {4, "memory fault", "MemManage"},
    {5, "bus fault", "BusFault"},
    {6, "usage fault", "UsageFault"},
    {SECURE_FAULT, "usage fault", "SecureFault"},
    {11, NULL, "SVCall"},
    {12, NULL, "DebugMonitor"},
    {14, NULL, "PendSV"},
    {15, NULL, "SysTick"},
};

const struct crash_meaning *crash_meaning_of(const struct crash_meaning *list, size_t count,
                                             uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].number == number)
            return &list[i];
    return NULL;
}

static const uint64_t scb = 0xE000ED00; // system control block

bool crash_is_locked_up(const struct crash_build *build)
{
    const uint64_t v7m = 0xFFFFFFFE, v8m = 0xEFFFFFFE;
    uint64_t pc;

    if (!build->machine || !build->machine->is_m_profile ||
        !register_get(&build->crash->registers, ARM_PC, &pc))
        return false;
    pc &= ~UINT64_C(1);
    return pc == v7m || pc == v8m;
}

// Reads which exception is active: the one that the core is in, or has taken at its registers. A
// dump or a live target may have it for a core without registers.
static bool read_active_exception(const struct crash_build *build, uint64_t *number)
{
    const uint64_t icsr = scb + 4;
    uint8_t bytes[4];
    size_t got;

    if (register_get(&build->crash->registers, FAULT_EXCEPTION, number))
        return true;
    if (register_get(&build->crash->registers, ARM_PSR, number)) {
        *number &= EXCEPTION;
        return true;
    }
    if (extract_memory_read(build->remains->memory, icsr, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
    *number = extract_cursor_u32(&c) & EXCEPTION;
    return true;
}

// Reads words into registers, as many as there are: not every dump has all of them.
static void read_words(struct crash_build *build, uint64_t address, const uint8_t *order,
                       size_t count)
{
    enum { MOST = 6 };
    uint8_t bytes[MOST * 4];
    size_t got;

    (void)extract_memory_read(build->remains->memory, address, bytes, count * 4, &got, NULL);
    struct extract_cursor c = extract_cursor_make(bytes, got, EXTRACT_LITTLE);
    for (size_t i = 0; i < got / 4; i++)
        register_set(&build->crash->registers, order[i], extract_cursor_u32(&c));
}

// Returns whether a core has the status of secure faults: one in SecureFault does, and those of
// Armv8-M do by their part numbers (CPUID), from Cortex-M23 on. Others have nothing there.
static bool has_secure_status(const struct crash_build *build)
{
    enum { FAMILY = 0xFF0, MINIMAL = 0xD20, SAFE = 0xD30 };
    uint8_t bytes[4];
    uint64_t psr;
    size_t got;

    if (register_get(&build->crash->registers, ARM_PSR, &psr) && (psr & EXCEPTION) == SECURE_FAULT)
        return true;
    if (extract_memory_read(build->remains->memory, scb, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, got, EXTRACT_LITTLE);
    unsigned family = extract_cursor_u32(&c) >> 4 & FAMILY;
    return family == MINIMAL || family == SAFE;
}

// Reads the fault status registers from memory, if a dump or a live target has them.
static void read_status(struct crash_build *build)
{
    static const uint8_t status[] = {FAULT_CFSR,  FAULT_HFSR, FAULT_DFSR,
                                     FAULT_MMFAR, FAULT_BFAR, FAULT_AFSR},
                         secure[] = {FAULT_SFSR, FAULT_SFAR};
    uint64_t known;

    if (!register_get(&build->crash->registers, FAULT_CFSR, &known))
        read_words(build, scb + STATUS_ADDRESS_LOW, status, sizeof status);
    if (!register_get(&build->crash->registers, FAULT_SFSR, &known) && has_secure_status(build))
        read_words(build, scb + SECURE_ADDRESS_LOW, secure, sizeof secure);
    crash_add_nonsecure_status(build);
}

// Adds a finding for each bit that is set. `with_address`: number of the bit whose access went to
// `address`; NO_ADDRESS: none. Returns whether a bit is set.
static bool find_bits(struct crash_build *build, const char *name, uint64_t status,
                      const struct crash_meaning *bits, size_t count, unsigned with_address,
                      uint64_t address)
{
    enum extract_crash_certainty certainty =
        build->is_old_status ? EXTRACT_CRASH_POSSIBLE : EXTRACT_CRASH_CERTAIN;

    bool is_found = false;

    for (size_t i = 0; i < count; i++) {
        if (!(status >> bits[i].number & 1))
            continue;
        build->has_foreign_fault |=
            bits != cfsr_bits || (bits[i].number < OWN_FAULTS && bits[i].number != NOCP);
        if (bits[i].number == with_address)
            crash_find(build, bits[i].kind, "registers", certainty,
                       "%s: address 0x%08llx (%s 0x%08llx)", bits[i].text,
                       (unsigned long long)address, name, (unsigned long long)status);
        else
            crash_find(build, bits[i].kind, "registers", certainty, "%s (%s 0x%08llx)",
                       bits[i].text, name, (unsigned long long)status);
        is_found = true;
    }
    return is_found;
}

// Returns the bit whose address a register holds, or NO_ADDRESS: a flag says whether it does.
static unsigned address_of(const struct extract_registers *registers, uint64_t status,
                           unsigned valid, unsigned bit, unsigned index, uint64_t *address)
{
    return status >> valid & 1 && register_get(registers, index, address) ? bit : NO_ADDRESS;
}

static bool find_status(struct crash_build *build)
{
    enum { SFSR_BITS = sizeof sfsr_bits / sizeof *sfsr_bits, UNREADABLE_VECTOR = 2 };
    const struct extract_registers *registers = &build->crash->registers;
    const size_t count = sizeof cfsr_bits / sizeof *cfsr_bits;
    uint64_t cfsr = 0, hfsr = 0, sfsr = 0, address = 0;
    bool is_found = false;

    if (register_get(registers, FAULT_CFSR, &cfsr)) {
        unsigned bit =
            address_of(registers, cfsr, MMFAR_VALID, DATA_VIOLATION, FAULT_MMFAR, &address);
        is_found |= find_bits(build, "CFSR", cfsr & 0xFF, cfsr_bits, count, bit, address);
        bit = address_of(registers, cfsr, BFAR_VALID, PRECISE, FAULT_BFAR, &address);
        is_found |=
            find_bits(build, "CFSR", cfsr & ~UINT64_C(0xFF), cfsr_bits, count, bit, address);
    }
    if (register_get(registers, FAULT_SFSR, &sfsr)) {
        unsigned bit =
            address_of(registers, sfsr, SFAR_VALID, SECURE_VIOLATION, FAULT_SFAR, &address);
        is_found |= find_bits(build, "SFSR", sfsr, sfsr_bits, SFSR_BITS, bit, address);
    }
    if (register_get(registers, FAULT_HFSR, &hfsr) && hfsr & UNREADABLE_VECTOR) {
        crash_find(build, "hard fault", "registers",
                   build->is_old_status ? EXTRACT_CRASH_POSSIBLE : EXTRACT_CRASH_CERTAIN,
                   "the vector of an exception could not be read (HFSR 0x%08llx)",
                   (unsigned long long)hfsr);
        build->has_foreign_fault = is_found = true;
    }
    return is_found;
}

static bool is_code(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;

    return extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) && symbol.function;
}

// Gets the return address of a call that has just been made: the link register has it, or the top
// of the stack on machines without one. Returns false if it is not after a call.
static bool get_link(const struct crash_build *build, const struct extract_registers *origin,
                     uint64_t *link)
{
    const struct register_machine *machine = build->machine;
    struct extract_symbols *symbols = build->remains->symbols;
    uint64_t sp;
    uint8_t bytes[8];
    size_t got;

    if (machine->lr != NO_REGISTER) {
        if (!register_get(origin, machine->lr, link))
            return false;
        *link &= ~UINT64_C(1);
    } else {
        if (!register_get(origin, machine->sp, &sp) ||
            extract_memory_read(build->remains->memory, sp, bytes, machine->word_bytes, &got, NULL))
            return false;
        struct extract_cursor c =
            extract_cursor_make(bytes, machine->word_bytes, extract_symbols_byte_order(symbols));
        *link = extract_cursor_word(&c, machine->word_bytes);
    }
    return is_code(symbols, *link - 2) && !kernel_is_no_return(symbols, *link);
}

// Returns whether the call before a return address is proven to have led to an address.
static bool has_called(const struct crash_build *build, const struct extract_registers *origin,
                       uint64_t link, uint64_t address)
{
    uint64_t called;

    return kernel_find_called(build->remains->symbols, link, origin, &called) &&
           (called | 1) == (address | 1);
}

// Returns whether a core of M-profile was to run Arm code, which it does not have: the frame has
// the state that the jump to an even address has set.
static bool went_to_even(const struct crash_build *build, const struct extract_registers *origin)
{
    const uint64_t thumb = 1 << 24;
    uint64_t psr;

    return build->machine->is_m_profile && register_get(origin, ARM_PSR, &psr) && !(psr & thumb);
}

void crash_find_bad_call(struct crash_build *build, struct extract_registers *origin,
                         enum extract_crash_certainty *certainty)
{
    const struct register_machine *machine = build->machine;
    uint64_t pc, link, sp;

    if (!build->remains->symbols || !register_get(origin, machine->pc, &pc))
        return;
    if (!is_code(build->remains->symbols, pc))
        crash_find(build, "bad call", "registers", *certainty,
                   "the program went to 0x%08llx, which is not code of it", (unsigned long long)pc);
    else if (went_to_even(build, origin))
        crash_find(build, "bad call", "registers", *certainty,
                   "the program went to 0x%08llx with bit 0 of the address clear, which is no "
                   "address of Thumb code",
                   (unsigned long long)pc);
    else
        return;
    if (!get_link(build, origin, &link))
        return;
    if (!has_called(build, origin, link, pc))
        crash_limit(certainty, EXTRACT_CRASH_LIKELY);
    register_set(origin, machine->pc, link - 2);
    if (machine->lr == NO_REGISTER && register_get(origin, machine->sp, &sp))
        register_set(origin, machine->sp, sp + machine->word_bytes);
}

// Writes the name of an exception, or the number of an interrupt, to `name`.
static void name_exception(unsigned number, char *name, size_t size)
{
    const struct crash_meaning *exception =
        crash_meaning_of(exceptions, sizeof exceptions / sizeof *exceptions, number);

    if (exception)
        snprintf(name, size, "%s", exception->text);
    else if (number >= 16)
        snprintf(name, size, "interrupt %u", number - 16);
    else
        name[0] = 0;
}

// Sets the place from the frame of the exception. There is none if the core could not save it.
static void place_of_exception(struct crash_build *build, unsigned number)
{
    enum { NOT_STACKED = 1 << 4 | 1 << 12 }; // MSTKERR, STKERR
    const struct extract_remains *remains = build->remains;
    struct extract_crash *crash = build->crash;
    uint64_t cfsr = 0;
    struct extract_origin origin;
    char inner[24], outer[24];

    if (!remains->symbols)
        return;
    (void)register_get(&crash->registers, FAULT_CFSR, &cfsr);
    if (cfsr & NOT_STACKED ||
        !extract_kernel_origin(remains->memory, remains->symbols, &crash->registers, &origin)) {
        crash_set_origin(build, &crash->registers, EXTRACT_CRASH_POSSIBLE, NULL);
        return;
    }
    enum extract_crash_certainty certainty =
        remains->psp_is_likely || cfsr >> IMPRECISE & 1 || !origin.is_sure ? EXTRACT_CRASH_LIKELY
                                                                           : EXTRACT_CRASH_CERTAIN;
    crash_find_bad_call(build, &origin.registers, &certainty);
    crash_set_origin(build, &origin.registers, certainty, NULL);
    build->is_start_up = origin.is_main && origin.is_sure && !origin.exception;
    if (origin.exception) {
        name_exception(origin.exception, outer, sizeof outer);
        name_exception(number, inner, sizeof inner);
        snprintf(crash->context, sizeof crash->context, "%s, then %s", outer, inner);
    }
}

// Returns whether the code at which a fault occurred is a BKPT instruction (Armv7-M ARM, A7.7.17).
static bool is_at_breakpoint(const struct crash_build *build)
{
    const struct extract_remains *remains = build->remains;
    struct extract_origin origin;
    uint64_t pc;
    uint8_t code[2];

    return remains->symbols &&
           extract_kernel_origin(remains->memory, remains->symbols, &build->crash->registers,
                                 &origin) &&
           register_get(&origin.registers, ARM_PC, &pc) &&
           extract_symbols_read_constant(remains->symbols, pc, code, sizeof code) == sizeof code &&
           code[extract_symbols_byte_order(remains->symbols) == EXTRACT_LITTLE] == 0xBE;
}

// Adds a finding for a fault without a bit in its status.
static void find_without_bits(struct crash_build *build, const struct crash_meaning *exception)
{
    const uint64_t debug_event = UINT64_C(1) << 31, forced = 1 << 30;
    const struct extract_registers *registers = &build->crash->registers;
    uint64_t cfsr, hfsr = 0, lr;
    bool is_known =
        register_get(registers, FAULT_CFSR, &cfsr) && register_get(registers, FAULT_HFSR, &hfsr);
    const bool is_secure = exception->number == SECURE_FAULT;
    uint64_t sfsr;

    build->has_foreign_fault |= !is_known || !(hfsr & (debug_event | forced)); // any fault
    if (is_secure && !register_get(registers, FAULT_SFSR, &sfsr))
        crash_find(build, exception->kind, "registers", EXTRACT_CRASH_CERTAIN,
                   "the core is in SecureFault; its status is not known, which is at 0xE000EDE4 to "
                   "0xE000EDEB");
    else if (!is_known && !is_secure)
        crash_find(
            build, exception->kind, "registers", EXTRACT_CRASH_CERTAIN,
            "the core is in %s; no fault status is known, which is at 0xE000ED28 to 0xE000ED3F",
            exception->text);
    else if (hfsr & debug_event || (hfsr & forced && is_at_breakpoint(build)))
        crash_find(build, "trap", "registers",
                   hfsr & debug_event ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY,
                   "a breakpoint instruction was executed without a debugger (HFSR 0x%08llx)",
                   (unsigned long long)hfsr);
    else if (hfsr & forced && register_get(registers, ARM_LR, &lr) && kernel_is_from_nonsecure(lr))
        crash_find(build, exception->kind, "registers", EXTRACT_CRASH_CERTAIN,
                   "an exception of non-secure code was disabled or masked (HFSR 0x%08llx, CFSR "
                   "0): SFSR, or the status of non-secure code at 0xE002ED28, shows which",
                   (unsigned long long)hfsr);
    else if (hfsr & forced)
        crash_find(
            build, exception->kind, "registers", EXTRACT_CRASH_CERTAIN,
            "an exception was disabled or masked, such as that of SVC or BKPT with interrupts "
            "locked (HFSR 0x%08llx, CFSR 0)",
            (unsigned long long)hfsr);
    else
        crash_find(build, exception->kind, "registers", EXTRACT_CRASH_CERTAIN,
                   "the core is in %s; its fault status is 0", exception->text);
}

static void find_lockup(struct crash_build *build)
{
    if (crash_is_locked_up(build))
        crash_find(
            build, "hard fault", "registers", EXTRACT_CRASH_CERTAIN,
            "lockup: a fault that no handler could take, such as one in HardFault or NMI, or "
            "at reset (pc 0x%08llx)",
            (unsigned long long)build->crash->registers.value[ARM_PC]);
}

static void read_arm(struct crash_build *build)
{
    struct extract_crash *crash = build->crash;
    uint64_t active;

    read_status(build);
    // Without the exception, the status may be that of a fault that the program survived.
    if (!read_active_exception(build, &active)) {
        build->is_old_status = true;
        (void)find_status(build);
        return;
    }
    unsigned number = (unsigned)active;
    const struct crash_meaning *exception =
        crash_meaning_of(exceptions, sizeof exceptions / sizeof *exceptions, number);
    name_exception(number, crash->context, sizeof crash->context);
    find_lockup(build);
    // The status stays after a fault that the program survived: it counts in a handler of faults.
    bool is_fault = exception && exception->kind;
    bool is_found = is_fault && find_status(build);
    if (is_fault && !is_found && !crash_is_locked_up(build))
        find_without_bits(build, exception);
    if (is_fault)
        place_of_exception(build, number);
    else if (number && build->remains->symbols)
        build->is_interrupted =
            extract_kernel_interrupted(build->remains->memory, build->remains->symbols,
                                       &crash->registers, &build->interrupted);
}

// ---- RISC-V ----

static const struct crash_meaning mcause_numbers[] = {
    {0, "trap", "an instruction address was not aligned"},
    {1, "memory fault", "an instruction was fetched from an address that does not answer"},
    {2, "illegal instruction", "an illegal instruction was executed"},
    {3, "trap", "a breakpoint instruction was executed"},
    {4, "trap", "the address of a load was not aligned"},
    {5, "memory fault", "data were loaded from an address that does not answer"},
    {6, "trap", "the address of a store was not aligned"},
    {7, "memory fault", "data were stored at an address that does not answer"},
    {12, "memory fault", "an instruction page is missing"},
    {13, "memory fault", "a page of a load is missing"},
    {15, "memory fault", "a page of a store is missing"},
};

// Returns the thread whose frame the kernel has saved in the trap; NULL: there is none.
static const struct extract_kernel_thread *trapped_thread(const struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    for (size_t i = 0; kernel && i < kernel->thread_count; i++)
        if (kernel->threads[i].has_core && kernel->threads[i].core == build->crash->core &&
            kernel->threads[i].has_pc)
            return &kernel->threads[i];
    return NULL;
}

static void note_interrupted(struct crash_build *build)
{
    const struct extract_kernel_thread *thread = trapped_thread(build);

    build->is_interrupted = thread != NULL;
    if (thread)
        build->interrupted = thread->registers;
}

// Returns what an exception means; NULL: the last trap was none, or there was no trap since the
// reset, which clears mcause and mtval, and mepc on some cores.
static const struct crash_meaning *riscv_exception(const struct register_machine *machine,
                                                   const struct extract_registers *registers,
                                                   uint64_t *cause)
{
    uint64_t value = 0;

    if (!register_get(registers, FAULT_MCAUSE, cause) ||
        *cause >> (machine->word_bytes * 8 - 1) & 1)
        return NULL;
    bool is_clear = !*cause && register_get(registers, FAULT_MTVAL, &value) && !value;
    return is_clear ? NULL
                    : crash_meaning_of(mcause_numbers,
                                       sizeof mcause_numbers / sizeof *mcause_numbers, *cause);
}

// mcause keeps its value after the trap. While the trap is handled, interrupts are locked.
static bool riscv_traps_are_open(const struct extract_registers *registers)
{
    const uint64_t interrupts_open = 8; // MIE
    uint64_t status;

    return register_get(registers, FAULT_MSTATUS, &status) && status & interrupts_open;
}

static void read_riscv(struct crash_build *build)
{
    const struct extract_registers *registers = &build->crash->registers;
    uint64_t cause, pc, status, value = 0;
    const struct crash_meaning *meaning = riscv_exception(build->machine, registers, &cause);

    if (!meaning) {
        note_interrupted(build);
        return;
    }
    enum extract_crash_certainty certainty = register_get(registers, FAULT_MSTATUS, &status)
                                                 ? EXTRACT_CRASH_CERTAIN
                                                 : EXTRACT_CRASH_LIKELY;
    if (riscv_traps_are_open(registers)) {
        crash_find(build, "earlier trap", "registers", EXTRACT_CRASH_CERTAIN, "%s (mcause %llu)",
                   meaning->text, (unsigned long long)cause);
        return;
    }
    build->has_foreign_fault |= cause != 3 && cause != 4 && cause != 6; // breakpoint, alignment
    if (register_get(registers, FAULT_MTVAL, &value))
        crash_find(build, meaning->kind, "registers", certainty, "%s: mtval 0x%llx (mcause %llu)",
                   meaning->text, (unsigned long long)value, (unsigned long long)cause);
    else
        crash_find(build, meaning->kind, "registers", certainty, "%s (mcause %llu)", meaning->text,
                   (unsigned long long)cause);
    // The frame of the interrupted thread was found by mepc.
    const struct extract_kernel_thread *thread = trapped_thread(build);
    if (thread) {
        struct extract_registers origin = thread->registers;
        crash_find_bad_call(build, &origin, &certainty);
        crash_set_origin(build, &origin, certainty, NULL);
        return;
    }
    const struct extract_remains *remains = build->remains;
    struct extract_registers origin;
    if (remains->symbols &&
        extract_kernel_trap_in_interrupt(remains->kernel, remains->memory, remains->symbols,
                                         build->crash->core, registers, &origin)) {
        snprintf(build->crash->context, sizeof build->crash->context, "interrupt, then trap");
        crash_find_bad_call(build, &origin, &certainty);
        crash_set_origin(build, &origin, certainty, NULL);
        return;
    }
    if (remains->symbols &&
        extract_kernel_unwind_trap(remains->memory, remains->symbols, registers, &origin)) {
        crash_find_bad_call(build, &origin, &certainty);
        crash_set_origin(build, &origin, certainty, NULL);
    } else if (register_get(registers, FAULT_MEPC, &pc)) {
        origin = (struct extract_registers){.known = 0};
        register_set(&origin, RISCV_PC, pc);
        crash_find_bad_call(build, &origin, &certainty);
        crash_set_place(build, pc, certainty);
    }
}

// ---- ColdFire ----

static const struct crash_meaning vectors[] = {
    {2, "bus fault", "memory was accessed at an address that does not answer"},
    {3, "trap", "an address was not aligned"},
    {4, "illegal instruction", "an illegal instruction was executed"},
    {5, "trap", "a number was divided by zero"},
    {8, "trap", "a privileged instruction was executed by a user"},
    {9, "trap", "trace"},
    {10, "illegal instruction", "an instruction of line A was executed"},
    {11, "illegal instruction", "an instruction of line F was executed"},
    {14, "trap", "an exception frame has an invalid format"},
    {15, "trap", "an interrupt has no vector"},
    {24, "trap", "an interrupt was spurious"},
};

// The core is in an exception if the top of its stack is the frame of one, and pc in its handler.
// Without a vector table, the frame may be other data: then the core's own place remains.
static void read_m68k(struct crash_build *build)
{
    struct kernel_coldfire_frame frame;

    if (!kernel_read_coldfire_frame(build->remains->memory, build->remains->symbols,
                                    &build->crash->registers, &frame))
        return;
    const struct crash_meaning *meaning =
        crash_meaning_of(vectors, sizeof vectors / sizeof *vectors, frame.vector);
    if (!meaning)
        return;
    bool is_entered = frame.handler == KERNEL_HANDLER_ENTERED;
    enum extract_crash_certainty certainty =
        is_entered ? EXTRACT_CRASH_LIKELY : EXTRACT_CRASH_POSSIBLE;
    crash_find(build, meaning->kind, "stack", certainty,
               "%s (vector %u, format %u, fault status %u)", meaning->text, frame.vector,
               frame.format, frame.fault_status);
    if (!is_entered)
        return;
    build->has_foreign_fault |= meaning->number != 5 && meaning->number != 9; // division, trace
    crash_find_bad_call(build, &frame.registers, &certainty);
    crash_set_origin(build, &frame.registers, certainty, NULL);
}

// ---- Linux ----

// Finds the function that called code outside of the program: a wrong address, or a shared library,
// whose frames are not known. Then the lowest return address on the stack is taken.
static void place_outside(struct crash_build *build, bool is_fault)
{
    enum { SEARCHED = 8192 };
    const struct extract_remains *remains = build->remains;
    struct extract_registers origin = build->crash->registers;
    struct extract_symbol symbol;
    uint8_t bytes[SEARCHED];
    uint64_t pc, sp, address, offset;
    size_t got = 0;

    if (!register_get(&origin, build->machine->pc, &pc) ||
        !register_get(&origin, build->machine->sp, &sp))
        return;
    if (is_fault && register_get(&origin, FAULT_SIGNAL_ADDRESS, &address) && address == pc) {
        enum extract_crash_certainty certainty = EXTRACT_CRASH_CERTAIN;
        crash_find_bad_call(build, &origin, &certainty);
        crash_set_origin(build, &origin, EXTRACT_CRASH_LIKELY, NULL);
        return;
    }
    (void)extract_memory_read(remains->memory, sp, bytes, sizeof bytes, &got, NULL);
    struct extract_cursor c =
        extract_cursor_make(bytes, got, extract_symbols_byte_order(remains->symbols));
    while (extract_cursor_left(&c) >= build->machine->word_bytes) {
        uint64_t caller = extract_cursor_word(&c, build->machine->word_bytes);
        if (!extract_symbols_by_address(remains->symbols, caller - 1, &symbol, &offset, NULL) ||
            !symbol.function)
            continue;
        crash_find(build, "outside", "stack", EXTRACT_CRASH_POSSIBLE,
                   "pc 0x%llx is not code of the program; the nearest caller on the stack is taken",
                   (unsigned long long)pc);
        build->crash->place.is_known = false;
        crash_set_place(build, caller - 1, EXTRACT_CRASH_POSSIBLE);
        return;
    }
}

// The numbers of signals are those of this host, as those of a core of one of its programs.
static const char *const signal_names[] = {
    [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT",     [SIGILL] = "ILL",
    [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS",       [SIGFPE] = "FPE",
    [SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
    [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",     [SIGCHLD] = "CHLD",
    [SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
    [SIGTTOU] = "TTOU", [SIGURG] = "URG",   [SIGXCPU] = "XCPU",     [SIGXFSZ] = "XFSZ",
    [SIGPROF] = "PROF", [SIGPOLL] = "POLL", [SIGVTALRM] = "VTALRM", [SIGWINCH] = "WINCH",
    [SIGPWR] = "PWR",   [SIGSYS] = "SYS",
};

static void read_signal(struct crash_build *build)
{
    const struct extract_registers *registers = &build->crash->registers;
    uint64_t number, address;

    // Debuggers write SIGTRAP into the cores of targets that they have halted.
    if (!register_get(registers, FAULT_SIGNAL, &number) || (number == 5 && build->remains->kernel))
        return;
    const bool has_name = number < sizeof signal_names / sizeof *signal_names;
    const char *name = has_name && signal_names[number] ? signal_names[number] : "?";
    if (register_get(registers, FAULT_SIGNAL_ADDRESS, &address))
        crash_find(build, "signal", "registers", EXTRACT_CRASH_CERTAIN, "SIG%s at address 0x%llx",
                   name, (unsigned long long)address);
    else
        crash_find(build, "signal", "registers", EXTRACT_CRASH_CERTAIN, "SIG%s (signal %llu)", name,
                   (unsigned long long)number);
    crash_set_origin(build, registers, EXTRACT_CRASH_CERTAIN, NULL);
    if (build->crash->place.is_known && !build->crash->place.function)
        place_outside(build, number == 11);
    crash_read_overflow(build);
}

// ---- AArch64 ----

// The classes of exceptions, in ESR.
// Source: Arm Architecture Reference Manual for A-profile, ESR_EL1.
static const struct crash_meaning exception_classes[] = {
    {0x00, "illegal instruction", "an unknown instruction was executed"},
    {0x07, "trap", "floating point was used, which is disabled"},
    {0x0E, "trap", "the execution state was illegal"},
    {0x20, "memory fault", "an instruction could not be fetched, in a lower exception level"},
    {0x21, "memory fault", "an instruction could not be fetched"},
    {0x22, "trap", "the pc was not aligned"},
    {0x24, "memory fault", "an access to data has failed, in a lower exception level"},
    {0x25, "memory fault", "an access to data has failed"},
    {0x26, "trap", "the stack pointer was not aligned"},
    {0x2F, "bus fault", "the memory has reported an error"},
    {0x3C, "trap", "a breakpoint instruction was executed"},
};

// Returns what the last exception of a core means; NULL: it was a call, or there was none.
static const struct crash_meaning *aarch64_exception(const struct extract_registers *registers,
                                                     uint64_t *syndrome)
{
    uint64_t pc = 0;

    if (!register_get(registers, FAULT_ESR, syndrome) ||
        (!*syndrome && (!register_get(registers, FAULT_ELR, &pc) || !pc)))
        return NULL;
    return crash_meaning_of(exception_classes, sizeof exception_classes / sizeof *exception_classes,
                            *syndrome >> 26 & 0x3F);
}

// ESR keeps its value after the exception. When a handler begins, all interrupts are masked.
static bool aarch64_is_in_handler(const struct extract_registers *registers)
{
    const uint64_t masks = 0x3C0, level = 0xC;
    uint64_t status;

    return register_get(registers, AARCH64_PSTATE, &status) && (status & masks) == masks &&
           status & level;
}

// All is likely only: a handler of interrupts does not change ESR.
static void read_aarch64(struct crash_build *build)
{
    const struct extract_registers *registers = &build->crash->registers;
    uint64_t syndrome, address, pc;
    const struct crash_meaning *meaning = aarch64_exception(registers, &syndrome);
    char where[48] = "";

    if (!meaning)
        return;
    if (strcmp(meaning->kind, "memory fault") == 0 && register_get(registers, FAULT_FAR, &address))
        snprintf(where, sizeof where, ": address 0x%llx", (unsigned long long)address);
    bool is_handled = aarch64_is_in_handler(registers);
    crash_find(build, is_handled ? meaning->kind : "earlier trap", "registers",
               EXTRACT_CRASH_LIKELY, "%s%s (ESR 0x%llx)", meaning->text, where,
               (unsigned long long)syndrome);
    if (is_handled && register_get(registers, FAULT_ELR, &pc))
        crash_set_place(build, pc, EXTRACT_CRASH_LIKELY);
}

// ---- several cores ----

// Returns whether a core is in a handler of faults.
static bool has_fault(const struct register_machine *machine,
                      const struct extract_registers *registers)
{
    uint64_t psr, cause;

    if (machine->elf_machine == EM_RISCV)
        return riscv_exception(machine, registers, &cause) && !riscv_traps_are_open(registers);
    if (machine->elf_machine == EM_AARCH64)
        return aarch64_exception(registers, &cause) && aarch64_is_in_handler(registers);
    if (machine->elf_machine != EM_ARM || !register_get(registers, ARM_PSR, &psr))
        return false;
    if (!machine->is_m_profile)
        return (psr & CRASH_ARM_MODE) == CRASH_ARM_ABORT ||
               (psr & CRASH_ARM_MODE) == CRASH_ARM_UNDEFINED;
    const struct crash_meaning *exception =
        crash_meaning_of(exceptions, sizeof exceptions / sizeof *exceptions, psr & EXCEPTION);
    return exception && exception->kind;
}

// Chooses the first core with a fault, or else, of a kernel in a process, the thread that stopped,
// or else the first whose registers are known. Each other one
// with a fault becomes a finding.
static void choose_core(struct crash_build *build)
{
    const struct extract_remains *remains = build->remains;
    bool is_found = false;
    uint64_t lwp;

    while (build->crash->core + 1 < remains->core_count &&
           !remains->cores[build->crash->core].known)
        build->crash->core++;
    for (unsigned i = 0; remains->kernel && i < remains->core_count; i++)
        if (register_get(&remains->cores[i], FAULT_LWP, &lwp))
            build->crash->core = i; // the thread of the process that stopped
    for (unsigned i = 0; i < remains->core_count; i++) {
        if (!has_fault(build->machine, &remains->cores[i]))
            continue;
        if (is_found)
            crash_find(build, "another fault", "registers", EXTRACT_CRASH_CERTAIN,
                       "core %u is in a handler of faults, too", i);
        else
            build->crash->core = i;
        is_found = true;
    }
    build->crash->registers = remains->cores[build->crash->core];
    build->crash->core_count = remains->core_count;
    (void)register_get(&build->crash->registers, FAULT_LWP, &build->crash->lwp);
}

// Sets the place of a core that no fault explains. If it is not at code, the program has made a
// wrong call before; a program of Linux may be in a library instead.
static void place_core(struct crash_build *build)
{
    struct extract_registers origin = build->crash->registers;
    enum extract_crash_certainty certainty = EXTRACT_CRASH_CERTAIN;
    struct extract_symbols *symbols = build->remains->symbols;
    uint64_t pc, link;

    if (symbols && !extract_symbols_has_libraries(symbols) &&
        register_get(&origin, build->machine->pc, &pc) && !is_code(symbols, pc) &&
        get_link(build, &origin, &link)) {
        certainty = EXTRACT_CRASH_POSSIBLE; // it may be code in ROM, of which the file has nothing
        crash_find_bad_call(build, &origin, &certainty);
    }
    crash_set_origin(build, &origin, certainty, NULL);
}

void crash_read_faults(struct crash_build *build)
{
    struct extract_crash *crash = build->crash;

    if (!build->machine || (!build->remains->core_count && !build->machine->is_m_profile))
        return;
    if (build->remains->core_count)
        choose_core(build);
    crash->machine = build->machine;
    if (build->machine->is_m_profile)
        read_arm(build);
    else if (build->machine->elf_machine == EM_ARM)
        crash_read_classic_arm(build);
    else if (build->machine->elf_machine == EM_AARCH64)
        read_aarch64(build);
    else if (build->machine->elf_machine == EM_RISCV)
        read_riscv(build);
    else if (build->machine->elf_machine == EM_68K)
        read_m68k(build);
    crash_read_assertion(build);
    read_signal(build);
    if (!crash->place.is_known)
        place_core(build);
    crash_read_stop(build);
}
