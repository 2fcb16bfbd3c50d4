// SPDX-License-Identifier: MIT
// symbols: finds the caller of a function, by the rules that the compiler has written to
// .debug_frame or .eh_frame. Simple rules only, as compilers write them for code: a register plus
// an offset, and registers that are saved relative to that.
//
// Standard: DWARF 5, section 6.4.
#ifdef EXTRACT_HAVE_DW
#include "dies.h"
#include "dwarf.h"
#include <stdlib.h>

struct unwinding {
    struct extract_symbols *symbols;
    const struct extract_unwind_memory *memory;
    struct extract_unwound *frame;
    bool is_first;
};

static bool get(const struct extract_unwound *frame, uint64_t index, uint64_t *value)
{
    if (index >= EXTRACT_UNWOUND || !(frame->known >> index & 1))
        return false;
    *value = frame->value[index];
    return true;
}

static uint64_t narrowed(const struct unwinding *u, uint64_t value)
{
    return u->symbols->file.word == 4 ? (uint32_t)value : value;
}

// Computes an expression of one register and an offset, or of the CFA and an offset, or what is
// saved there. No operation uses more than the top of the stack: what is below it does not matter.
static bool compute(const struct unwinding *u, const struct extract_unwound *from,
                    const Dwarf_Op *ops, size_t count, const uint64_t *cfa, uint64_t *value,
                    bool *is_value)
{
    *is_value = false;
    for (size_t i = 0; i < count; i++) {
        uint8_t atom = ops[i].atom;
        if (i == 0 && atom == DW_OP_call_frame_cfa && cfa) {
            *value = *cfa;
        } else if (atom == DW_OP_bregx) {
            if (!get(from, ops[i].number, value))
                return false;
            *value += ops[i].number2;
        } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
            if (!get(from, atom - DW_OP_breg0, value))
                return false;
            *value += ops[i].number;
        } else if (i == 0 && (atom == DW_OP_regx || (atom >= DW_OP_reg0 && atom <= DW_OP_reg31))) {
            *is_value = true;
            if (!get(from, atom == DW_OP_regx ? ops[i].number : (unsigned)(atom - DW_OP_reg0),
                     value))
                return false;
        } else if (i && atom == DW_OP_plus_uconst) {
            *value += ops[i].number;
        } else if (i && atom == DW_OP_deref) { // of a signal frame: the stack pointer was saved
            if (!u->memory->read(u->memory->context, narrowed(u, *value), u->symbols->file.word,
                                 value))
                return false;
        } else if (i && atom == DW_OP_stack_value) {
            *is_value = true;
        } else {
            return false;
        }
    }
    *value = narrowed(u, *value);
    return count != 0;
}

// Gets the value that a register had in the caller. Returns false if that is not known.
static bool restore(const struct unwinding *u, Dwarf_Frame *rules, unsigned index, uint64_t cfa,
                    uint64_t *value, bool *is_undefined)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool is_value;

    *is_undefined = false;
    if (dwarf_frame_register(rules, (int)index, memory, &ops, &count))
        return false;
    if (!count) { // not saved: as compilers have it, the function did not change it
        *is_undefined = ops != NULL;
        return get(u->frame, index, value);
    }
    return compute(u, u->frame, ops, count, &cfa, value, &is_value) &&
           (is_value || u->memory->read(u->memory->context, *value, u->symbols->file.word, value));
}

static bool apply(struct unwinding *u, Dwarf_Frame *rules, unsigned sp)
{
    struct extract_unwound caller = {.known = 0};
    uint64_t cfa, value, before;
    Dwarf_Op *ops;
    size_t count;
    bool is_value, is_undefined, is_signal = false;
    int link = dwarf_frame_info(rules, NULL, NULL, &is_signal);

    if (link < 0 || link >= EXTRACT_UNWOUND || dwarf_frame_cfa(rules, &ops, &count) ||
        !compute(u, u->frame, ops, count, NULL, &cfa, &is_value) || !get(u->frame, sp, &before) ||
        cfa < before || (cfa == before && !u->is_first))
        return false;
    for (unsigned i = 0; i < EXTRACT_UNWOUND; i++)
        if (restore(u, rules, i, cfa, &value, &is_undefined)) {
            caller.known |= UINT64_C(1) << i;
            caller.value[i] = value;
        }
    // A rule that the return address is undefined ends the stack; a function that calls none has
    // no rule for it.
    if (!restore(u, rules, (unsigned)link, cfa, &caller.pc, &is_undefined) ||
        (is_undefined && !u->is_first))
        return false;
    caller.known |= UINT64_C(1) << sp;
    caller.value[sp] = cfa;
    caller.is_interrupted = is_signal;
    *u->frame = caller;
    return true;
}

struct question {
    struct unwinding unwinding;
    unsigned sp;
};

// Applies the rules of a section to the frame. Returns false if it has none for pc.
static bool apply_section(struct question *question, Dwarf_CFI *cfi)
{
    struct unwinding *u = &question->unwinding;
    uint64_t pc = u->frame->pc - u->symbols->load_bias - !u->is_first;
    Dwarf_Frame *rules = NULL;
    bool is_found = cfi && !dwarf_cfi_addrframe(cfi, pc, &rules) && apply(u, rules, question->sp);

    free(rules);
    return is_found;
}

static bool is_of_signal(struct question *question, Dwarf_CFI *cfi)
{
    const struct unwinding *u = &question->unwinding;
    Dwarf_Frame *rules = NULL;
    bool is_signal = false;
    bool is_found = cfi &&
                    !dwarf_cfi_addrframe(cfi, u->frame->pc - u->symbols->load_bias, &rules) &&
                    dwarf_frame_info(rules, NULL, NULL, &is_signal) >= 0;

    free(rules);
    return is_found && is_signal;
}

// Tries .debug_frame and then .eh_frame, until one has the answer.
static bool try_sections(struct question *question,
                         bool (*try)(struct question *question, Dwarf_CFI *cfi))
{
    struct extract_symbols *symbols = question->unwinding.symbols;

    if (try(question, dwarf_getcfi(symbols->types.dwarf->dw)))
        return true;
    Dwarf_CFI *cfi = dwarf_getcfi_elf(symbols->file.elf);
    bool is_found = try(question, cfi);
    if (cfi)
        dwarf_cfi_end(cfi);
    return is_found;
}

static bool find_caller(void *context)
{
    return try_sections(context, apply_section);
}

static bool find_signal(void *context)
{
    return try_sections(context, is_of_signal);
}

bool extract_symbols_is_signal_frame(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_unwound frame = {.pc = address};
    struct question question = {{symbols, NULL, &frame, true}, 0};

    return extract_types_dwarf(symbols) &&
           extract_dwarf_run(&symbols->types.dwarf, find_signal, &question);
}

bool extract_symbols_caller(struct extract_symbols *symbols,
                            const struct extract_unwind_memory *memory, unsigned sp, bool is_first,
                            struct extract_unwound *frame)
{
    struct question question = {{symbols, memory, frame, is_first}, sp};

    return extract_types_dwarf(symbols) &&
           extract_dwarf_run(&symbols->types.dwarf, find_caller, &question);
}
#endif
