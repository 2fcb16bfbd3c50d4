// SPDX-License-Identifier: MIT
// registers: reads registers as debuggers print them (register_text.h).
#include "base/hex.h"
#include "registers/fpu.h"
#include "registers/register_text.h"
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// The rest of a line.
struct line {
    const char *at, *end;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct line *line)
{
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t' || *line->at == '\r'))
        line->at++;
}

// Skips "(...)" and the blanks around it.
static void skip_remark(struct line *line)
{
    skip_blanks(line);
    if (line->at < line->end && *line->at == '(')
        while (line->at < line->end && *line->at++ != ')')
            ;
    skip_blanks(line);
}

static bool take_name(struct line *line, char name[REGISTER_NAME])
{
    size_t length = 0;

    while (line->at < line->end && is_name(*line->at) && length < REGISTER_NAME - 1)
        name[length++] = *line->at++;
    name[length] = 0;
    return length && (name[0] < '0' || name[0] > '9') &&
           (line->at == line->end || !is_name(*line->at));
}

// Returns how many hexadecimal digits are at the start of a line.
static size_t count_digits(const struct line *line)
{
    size_t count = 0;

    while (line->at + count < line->end && extract_hex_value(line->at[count]) >= 0)
        count++;
    return count;
}

// Reads a number of at most 64 bits, which a blank, a comma, a colon or the line's end ends. It is
// hexadecimal with 0x, or with the digits of a whole register, which J-Link and QEMU's monitor
// print without 0x; or else decimal.
static bool take_number(struct line *line, uint64_t *number)
{
    enum { DIGITS_OF_32 = 8, DIGITS_OF_64 = 16 };
    unsigned base = 10;
    const char *from;

    if (line->end - line->at > 2 && line->at[0] == '0' && (line->at[1] | 0x20) == 'x') {
        base = 16;
        line->at += 2;
    } else {
        size_t digits = count_digits(line);
        base = digits == DIGITS_OF_32 || digits == DIGITS_OF_64 ? 16 : 10;
    }
    from = line->at;
    for (*number = 0; line->at < line->end; line->at++) {
        unsigned digit =
            (unsigned)extract_hex_value(*line->at); // of another character: the highest
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(*number, base, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    return line->at != from && (line->at == line->end || strchr(" \t\r(),:", *line->at) != NULL);
}

// Reads what GDB says about itself in brackets, such as "[Current thread is 1 (LWP 4711)]". Only
// the number of a thread of Linux is used.
static void take_message(struct line line, struct register_value *found, bool *has_value)
{
    static const char lwp[] = "LWP ";

    for (; (size_t)(line.end - line.at) > strlen(lwp); line.at++)
        if (strncmp(line.at, lwp, strlen(lwp)) == 0) {
            struct line number = {line.at + strlen(lwp), line.end};
            const char *stop = memchr(number.at, ')', (size_t)(number.end - number.at));
            number.end = stop ? stop : number.end;
            snprintf(found->name, sizeof found->name, "lwp");
            *has_value = take_number(&number, &found->value);
            return;
        }
}

// Moves to the number that GDB prints of a register of the FPU as a whole, if it is there: in
// "1 (raw 0x3ff0000000000000)", or "{u8 = {0x0, ...}, u64 = 0x3ff0000000000000, ...}".
static void seek_whole(struct line *line)
{
    static const char *const before[] = {"(raw 0x", " u64 = 0x"};

    for (const char *at = line->at; at < line->end; at++)
        for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
            size_t length = strlen(before[i]);
            if ((size_t)(line->end - at) > length && memcmp(at, before[i], length) == 0) {
                line->at = at + length - strlen("0x");
                return;
            }
        }
}

// Reads a register and its value. Returns false if the line is not about a register.
static bool take_register(struct line *line, struct register_value *found, bool *has_value)
{
    *has_value = false;
    skip_blanks(line);
    if (line->at == line->end || *line->at == '#' || *line->at == '=')
        return true;
    if (*line->at == '[') {
        take_message(*line, found, has_value);
        return true;
    }
    skip_remark(line);
    if (!take_name(line, found->name))
        return false;
    skip_remark(line);
    if (line->at < line->end && (*line->at == ':' || *line->at == '='))
        line->at++;
    skip_blanks(line);
    seek_whole(line);
    found->digits = 0;
    if (line->end - line->at > 2 && line->at[0] == '0' && line->at[1] == 'x') {
        const struct line digits = {line->at + 2, line->end};
        found->digits = (unsigned)count_digits(&digits);
    }
    // Without a number: OpenOCD has not read it, GDB shows a vector, a fraction or a remark.
    *has_value = take_number(line, &found->value);
    return true;
}

// Skips a comma, after which J-Link prints the next register.
static bool skip_comma(struct line *line)
{
    skip_blanks(line);
    bool is_there = line->at < line->end && *line->at == ',';
    line->at += is_there;
    return is_there;
}

enum extract_code register_values_parse(struct register_values *values, const char *name,
                                        const void *bytes, size_t length,
                                        struct extract_error *error)
{
    const char *at = bytes, *end = at + length;

    values->count = 0;
    for (unsigned long number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct line line = {at, stop ? stop : end};
        struct register_value found;
        const char *next = line.end + 1;
        bool has_value;
        if (!take_register(&line, &found, &has_value))
            return extract_error_set(error, EXTRACT_BAD, name, "write one register per line",
                                     "line %lu is not a register and its value", number);
        while (has_value) {
            if (values->count == REGISTER_VALUES)
                return extract_error_set(error, EXTRACT_LIMIT, name, "leave out what is not needed",
                                         "has more than %d registers", REGISTER_VALUES);
            values->list[values->count++] = found;
            has_value = false;
            if (!skip_comma(&line) || !take_register(&line, &found, &has_value))
                break;
        }
        at = next;
    }
    return EXTRACT_OK;
}

bool register_values_find(const struct register_values *values, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcasecmp(values->list[i].name, name) == 0) {
            *value = values->list[i].value;
            return true;
        }
    return false;
}

bool register_values_general(const struct register_values *values,
                             const struct register_machine *machine,
                             struct extract_registers *registers)
{
    return register_values_cores(values, machine, registers, 1) != 0;
}

// Returns what the names of the registers of an Arm core end with that it has in a mode; NULL: it
// is not a mode. OpenOCD lists those of all modes. Source: Arm Architecture Reference Manual for
// Armv7-A, B1.3.1 and B1.3.2.
static const char *bank_of(uint64_t status)
{
    static const struct {
        uint64_t mode;
        const char *bank;
    } banks[] = {{0x10, "_usr"}, {0x11, "_fiq"}, {0x12, "_irq"}, {0x13, "_svc"}, {0x16, "_mon"},
                 {0x17, "_abt"}, {0x1A, "_hyp"}, {0x1B, "_und"}, {0x1F, "_usr"}};

    for (size_t i = 0; i < sizeof banks / sizeof *banks; i++)
        if (banks[i].mode == (status & 0x1F))
            return banks[i].bank;
    return NULL;
}

// Returns whether a register that a core has in a mode is in a bank, such as "_svc". In hypervisor
// mode, lr is that of user mode.
static bool is_in_bank(uint64_t status, unsigned index, const char *suffix)
{
    const char *bank = bank_of(status);

    if (bank && index == ARM_LR && strcmp(bank, "_hyp") == 0)
        bank = "_usr";
    return bank && strcasecmp(suffix, bank) == 0;
}

// Sets a register of an Arm core from one of a bank, such as sp_svc, if the core is in its mode, or
// was in it before its exception.
static void set_banked(struct extract_registers *core, const struct register_machine *machine,
                       const struct register_value *value)
{
    const char *suffix = strrchr(value->name, '_');
    char name[REGISTER_NAME];
    uint64_t now, before;

    if (!suffix || !register_get(core, ARM_PSR, &now))
        return;
    snprintf(name, sizeof name, "%.*s", (int)(suffix - value->name), value->name);
    unsigned index = register_index(machine, name);
    if ((index < ARM_PC || index == ARM_SPSR) && is_in_bank(now, index, suffix))
        register_set(core, index, value->value);
    if ((index == ARM_SP || index == ARM_LR) && register_get(core, ARM_SPSR, &before) &&
        is_in_bank(before, index, suffix) && !is_in_bank(now, index, suffix))
        register_set(core, index == ARM_SP ? ARM_BEFORE_SP : ARM_BEFORE_LR, value->value);
}

// Whether a value is the status that a core has saved for its mode, by which its other registers of
// banks are chosen.
static bool is_saved_status(const struct register_value *value)
{
    return strncasecmp(value->name, "spsr_", strlen("spsr_")) == 0;
}

// Sets a register of an AArch64 core that shows its exception from one of an exception level, such
// as ESR_EL1, if the core is in that level.
static void set_of_level(struct extract_registers *core, const struct register_machine *machine,
                         const struct register_value *value)
{
    static const char end[] = "_el";
    size_t length = strlen(value->name), tail = sizeof end; // with the digit of the level
    char name[REGISTER_NAME];
    uint64_t status;

    if (length <= tail || strncasecmp(value->name + length - tail, end, sizeof end - 1) != 0 ||
        !register_get(core, AARCH64_PSTATE, &status))
        return;
    snprintf(name, sizeof name, "%.*s", (int)(length - tail), value->name);
    unsigned index = register_index(machine, name);
    if (index >= FAULT_ESR && index <= FAULT_FAR &&
        value->name[length - 1] == (char)('0' + (status >> 2 & 3)))
        register_set(core, index, value->value);
}

// Sets a register of an Arm core that is in Secure state from the bank of that state, as QEMU names
// it: DFSR_S, beside DFSR of the other state. Source: Arm Architecture Reference Manual for
// Armv7-A, B3.15.3 and B4.1.129 (SCR.NS).
static void set_secure(struct extract_registers *core, const struct register_machine *machine,
                       const struct register_value *value)
{
    const size_t length = strlen(value->name), tail = strlen("_s");
    char name[REGISTER_NAME];
    uint64_t state;

    if (length <= tail || strcasecmp(value->name + length - tail, "_s") != 0 ||
        !register_get(core, ARM_SCR, &state) || state & 1)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(length - tail), value->name);
    unsigned index = register_index(machine, name);
    if (index == FAULT_DFSR || (index > ARM_SPSR && index < ARM_BEFORE_SP))
        register_set(core, index, value->value);
}

// Sets a register of a core from one of several that the machine has of it.
static void set_variant(struct extract_registers *core, const struct register_machine *machine,
                        const struct register_value *value)
{
    if (machine->elf_machine == EM_AARCH64) {
        set_of_level(core, machine, value);
    } else if (machine->elf_machine == EM_ARM && !machine->is_m_profile) {
        set_banked(core, machine, value);
        set_secure(core, machine, value);
    }
}

bool register_is_variant(const struct register_machine *machine, const char *name)
{
    const char *suffix = strrchr(name, '_');
    char plain[REGISTER_NAME];

    if (!suffix || register_index(machine, name) != NO_REGISTER)
        return false;
    snprintf(plain, sizeof plain, "%.*s", (int)(suffix - name), name);
    return register_index(machine, plain) != NO_REGISTER;
}

void register_values_choose(const struct register_values *values,
                            const struct register_machine *machine,
                            struct extract_registers *registers)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < values->count; i++)
            if (is_saved_status(&values->list[i]) == (pass == 0))
                set_variant(registers, machine, &values->list[i]);
}

// Sets a register of the FPU. Without hexadecimal digits, the number is perhaps a fraction that
// happens to be whole.
static void set_fpu(struct extract_registers *core, const struct register_machine *machine,
                    const struct register_value *value)
{
    const uint64_t words[2] = {value->value, 0};
    unsigned number = fpu_register_number(machine, value->name);
    // Those of Arm have one size, and those of RISC-V the one that their digits have.
    unsigned bytes = machine->elf_machine == EM_ARM && value->digits ? 8 : value->digits / 2;
    bool is_sized = (bytes == 8 && machine->elf_machine != EM_AARCH64) ||
                    (bytes == 4 && machine->elf_machine == EM_RISCV);

    if (number >= EXTRACT_FPU_CONTROL ? number != NO_REGISTER : is_sized)
        fpu_register_set(core, number, bytes, words);
}

// Reads which core the registers after a line are of, if that is what the line shows.
static void take_core(const struct register_value *value, uint64_t *core)
{
    if (strcasecmp(value->name, "core") == 0)
        *core = value->value;
    else if (strcasecmp(value->name, "thread") == 0)
        *core = value->value - 1; // of thread 0: none
}

size_t register_values_cores(const struct register_values *values,
                             const struct register_machine *machine,
                             struct extract_registers *registers, size_t most)
{
    uint64_t core = 0;
    size_t count = 0;

    for (size_t i = 0; i < most; i++)
        registers[i] = (struct extract_registers){.known = 0};
    for (size_t i = 0; i < values->count; i++) {
        const struct register_value *value = &values->list[i];
        unsigned index = register_index(machine, value->name);
        take_core(value, &core);
        if (index == NO_REGISTER && core < most)
            set_fpu(&registers[core], machine, value);
        if (index == NO_REGISTER || core >= most)
            continue;
        register_set(&registers[core], index, value->value);
        if (index < EXTRACT_FAULT && core >= count)
            count = (size_t)core + 1;
    }
    // The mode of a core may follow, and then that of before.
    for (unsigned pass = 0; pass < 2; pass++) {
        core = 0;
        for (size_t i = 0; i < values->count; i++) {
            const struct register_value *value = &values->list[i];
            take_core(value, &core);
            if (core >= most || is_saved_status(value) != (pass == 0))
                continue;
            set_variant(&registers[core], machine, value);
        }
    }
    return count;
}
