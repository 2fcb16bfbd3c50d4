// SPDX-License-Identifier: MIT
// kernel: finds sp and lr of what an exception of an Arm core of A- or R-profile has interrupted,
// where the debugger does not show the registers of that mode. In: the registers that all modes
// share, and a stack. Out: sp and lr that the stack and the code of the program prove.
//
// A stack is a chain: each return address is after a call of the function that has pushed it. With
// the right sp, the rules of the functions lead from pc along that chain to the end of the stack. A
// function that has not pushed lr, or an address without code, was called from a place in a
// function of the chain that calls it: lr is after that call.
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <string.h>

enum {
    WORD = 4,
    STACK_MOST = 64 << 10,
    SITES = 64, // places of calls
    ENDS = 16,  // functions that end with a jump to the same one
    MOST_PROGRAM = 1 << 20,
    DEEPEST = 64, // functions on a stack
    AT_END = 64,  // bytes above the frame of a thread's first function
    MOST_CODE = 64 << 10,
    STEP = 2, // from an instruction to the next one, at least
    TAILS = 64
};

// Whether a function ends with a jump to another one.
struct tail {
    uint64_t from, to;
    bool jumps;
};

struct search {
    struct kernel_reader *reader;
    const struct extract_registers *registers; // that are known
    struct kernel_arm_stack stack;
    uint64_t pc;           // where the core was
    uint64_t called[ENDS]; // what a call had led to: the function there, or one that jumps to it
    size_t called_count;
    uint64_t sites[SITES]; // return addresses: after calls of these
    size_t site_count;
    struct tail tails[TAILS]; // that were looked at
};

static bool read_word(void *context, uint64_t address, unsigned bytes, uint64_t *value)
{
    struct kernel_reader *reader = context;

    return kernel_read_number(reader, address, bytes, value);
}

// Gets the function that contains an address.
static bool find_function(const struct search *search, uint64_t address,
                          struct extract_symbol *function)
{
    return extract_symbols_by_address(search->reader->symbols, address & ~UINT64_C(1), function,
                                      NULL, NULL) &&
           function->function;
}

// Returns whether bit 0 of a return address is that of Thumb code, or of Arm code. A label without
// a size does not tell which it is.
static bool has_state(const struct extract_symbol *function, uint64_t address)
{
    return function->is_thumb ? address & 1 : !function->size || !(address & 1);
}

// Returns whether an address is after a call in the program, and what that call leads to; 0:
// unknown, such as what is in a register.
static bool is_return(const struct search *search, uint64_t address, uint64_t *called)
{
    struct extract_symbol function;
    const uint64_t at = address & ~UINT64_C(1);
    const struct extract_registers none = {.known = 0};

    // The first function of a thread returns to the beginning of another one, if at all.
    if ((find_function(search, at, &function) && function.address == at) ||
        !find_function(search, at - 1, &function) || !has_state(&function, address) ||
        kernel_is_no_return(search->reader->symbols, at))
        return false;
    if (!kernel_find_called(search->reader->symbols, at, &none, called))
        *called = 0;
    return true;
}

// Returns whether a call leads to the function that contains an address, by a jump at the end of
// the function that was called, too.
static bool leads_to(struct search *search, uint64_t called, uint64_t address)
{
    struct extract_symbol of_call, of_address;

    if (!called)
        return true;
    if (!find_function(search, called, &of_call) || !find_function(search, address, &of_address))
        return false;
    if (of_call.address == of_address.address)
        return true;
    struct tail *tail = &search->tails[(of_call.address ^ of_address.address) / STEP % TAILS];
    if (tail->from != of_call.address || tail->to != of_address.address)
        *tail = (struct tail){of_call.address, of_address.address,
                              kernel_jumps_to(search->reader, &of_call, of_address.address,
                                              &(struct extract_registers){.known = 0})};
    return tail->jumps;
}

// Returns whether a chain that ends with two functions is that of the thread: the outer one, or the
// one that it has called, is the thread's entry function.
static bool has_entry(struct search *search, uint64_t outer, uint64_t inner)
{
    return !search->stack.entry || leads_to(search, search->stack.entry, outer) ||
           leads_to(search, search->stack.entry, inner);
}

// Returns whether a function is one of start-up code, which no interrupt calls.
static bool is_start_up(struct search *search, uint64_t address)
{
    struct extract_symbol function;
    uint64_t start;

    return (extract_symbols_start(search->reader->symbols, &start) &&
            leads_to(search, start, address)) ||
           (find_function(search, address, &function) && strcmp(function.name, "main") == 0);
}

// Gets the address that a call by a pointer has led to, out of the registers that the functions
// after it have preserved, and of the memory. Returns false if that is not known.
static bool find_pointer(struct search *search, const struct extract_unwound *frame,
                         uint64_t *called)
{
    enum { PRESERVED = 0xFF0 | 1 << ARM_SP };
    struct extract_registers preserved = {.known = frame->known & PRESERVED};
    struct extract_symbol function;
    const uint64_t at = frame->pc & ~UINT64_C(1);

    memcpy(preserved.value, frame->value, (ARM_SP + 1) * sizeof *preserved.value);
    if (!find_function(search, at - 1, &function))
        return false;
    (void)kernel_follow_arm_block(search->reader, &function, at, &preserved, called);
    return *called && find_function(search, *called, &function);
}

// How well a chain fits. PROVEN: its innermost call leads to the function at pc. POSSIBLE: that
// call may lead anywhere. FIT_ENTERED is added if a function has called the thread's entry
// function: without that, memory above another stack pointer may look like the frame of the entry
// function.
enum fit { FIT_NO, FIT_POSSIBLE, FIT_PROVEN, FIT_ENTERED = FIT_PROVEN };

// Returns whether so many calls make a chain whose end is not known.
static bool is_enough(unsigned calls, enum fit fit)
{
    return calls > 1 || (calls && fit == FIT_PROVEN);
}

// Follows the chain from a frame, whose pc is the address of an instruction or, unless `is_first`,
// a return address, to the end of the stack.
static enum fit follow(struct search *search, struct extract_unwound frame, bool is_first)
{
    const struct extract_unwind_memory source = {read_word, search->reader};
    const bool is_of_thread = search->stack.is_of_thread;
    enum fit fit = FIT_PROVEN;
    uint64_t inner = frame.pc, before, called;

    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        const uint64_t sp = frame.value[ARM_SP];
        before = inner;
        inner = is_first && !depth ? frame.pc : frame.pc - 1;
        if (!is_of_thread && is_start_up(search, inner))
            return FIT_NO;
        if (!extract_symbols_caller(search->reader->symbols, &source, ARM_SP, is_first && !depth,
                                    &frame))
            return !is_of_thread && is_enough(depth, fit) ? fit : FIT_NO;
        const uint64_t top = frame.value[ARM_SP];
        if (top < sp || top > search->stack.to)
            return FIT_NO;
        if (!is_return(search, frame.pc, &called)) {
            bool is_end = is_of_thread
                              ? search->stack.to - top <= AT_END && has_entry(search, inner, before)
                              : is_enough(depth, fit);
            if (!is_end)
                return FIT_NO;
            return is_of_thread && search->stack.entry && depth &&
                           leads_to(search, search->stack.entry, before)
                       ? fit + FIT_ENTERED
                       : fit;
        }
        if (!leads_to(search, called, inner))
            return FIT_NO;
        // A pointer may have changed after the call.
        if (!depth && !called &&
            (!find_pointer(search, &frame, &called) || !leads_to(search, called, inner)))
            fit = FIT_POSSIBLE;
        frame.pc &= ~UINT64_C(1);
    }
    return FIT_NO;
}

static struct extract_unwound frame_of(const struct search *search, uint64_t pc, uint64_t sp)
{
    struct extract_unwound frame = {.pc = pc, .known = search->registers->known};

    frame.known &= (UINT64_C(1) << ARM_SP) - 1;
    memcpy(frame.value, search->registers->value, ARM_SP * sizeof *frame.value);
    frame.known |= UINT64_C(1) << ARM_SP;
    frame.value[ARM_SP] = sp;
    return frame;
}

// Returns whether the code before a call of an address without code agrees with the registers, and
// with the memory. `sp` is 0 if it is not known.
static bool is_consistent(struct search *search, uint64_t site, uint64_t sp)
{
    struct extract_registers at_call = *search->registers;
    struct extract_symbol function;
    uint64_t called;

    // A function between the call and pc may have changed registers.
    if (find_function(search, search->pc, &function) ||
        !find_function(search, site - 1, &function) ||
        !kernel_find_called(search->reader->symbols, site, search->registers, &called) ||
        (called | 1) != (search->called[0] | 1))
        return true;
    at_call.known &= (UINT64_C(1) << ARM_SP) - 1;
    if (sp)
        register_set(&at_call, ARM_SP, sp);
    return kernel_follow_arm_block(search->reader, &function, site, &at_call, &called);
}

// Returns whether a call of an address leads to pc.
static bool is_called(const struct search *search, uint64_t address)
{
    bool is_one = false;

    for (size_t i = 0; i < search->called_count; i++)
        is_one |= (search->called[i] | 1) == (address | 1);
    return is_one;
}

// Finds the functions that jump to what was called, and return to their callers by that.
static void find_jumps(struct search *search)
{
    struct extract_registers at_jump = *search->registers;
    struct extract_symbol function;
    uint64_t bytes = 0;

    at_jump.known &= (UINT64_C(1) << ARM_SP) - 1;
    for (size_t i = 0; extract_symbols_at(search->reader->symbols, i, &function); i++) {
        bytes += function.function ? function.size : 0;
        if (bytes > MOST_PROGRAM || search->called_count == ENDS)
            return;
        if (function.function && !is_called(search, function.address) &&
            kernel_jumps_to(search->reader, &function, search->called[0], &at_jump))
            search->called[search->called_count++] = function.address;
    }
}

// Notes the places in a function from which that is called.
static void note_sites(struct search *search, const struct extract_symbol *function)
{
    struct extract_symbols *symbols = search->reader->symbols;
    const uint64_t first = function->address & ~UINT64_C(1);
    const uint64_t size = function->size < MOST_CODE ? function->size : MOST_CODE;
    uint64_t called;

    for (uint64_t at = first + STEP; at <= first + size && search->site_count < SITES; at += STEP) {
        bool is_known = false;
        if (!kernel_find_called(symbols, at, search->registers, &called) ||
            !is_called(search, called) || !kernel_is_arm_call(search->reader, function, at))
            continue;
        for (size_t i = 0; i < search->site_count; i++)
            is_known |= search->sites[i] == at;
        if (!is_known && is_consistent(search, at, 0))
            search->sites[search->site_count++] = at;
    }
}

// Finds the functions that the stack's return addresses show to be on it, and their calls.
static void find_sites(struct search *search)
{
    struct extract_symbol function;
    uint64_t value, called;

    for (uint64_t at = search->stack.from; at < search->stack.to; at += WORD)
        if (kernel_read_number(search->reader, at, WORD, &value) &&
            is_return(search, value, &called) && called && find_function(search, called, &function))
            note_sites(search, &function);
}

// Finds the calls in the whole program: a function that a pointer leads to may be on the stack,
// such as the callback of a timer.
static void find_all_sites(struct search *search)
{
    struct extract_symbol function;
    uint64_t bytes = 0;

    for (size_t i = 0; extract_symbols_at(search->reader->symbols, i, &function); i++) {
        bytes += function.function ? function.size : 0;
        if (bytes > MOST_PROGRAM)
            return;
        if (function.function)
            note_sites(search, &function);
    }
}

// What was found: the best fit, how many stack pointers and places of calls have it, and the last.
struct found {
    enum fit fit;
    unsigned count, places;
    uint64_t sp, link;
};

// Tries each stack pointer with a return address; 0: the function at pc has pushed lr.
static void try_site(struct search *search, uint64_t site, struct found *found)
{
    for (uint64_t at = search->stack.from; at < search->stack.to; at += WORD) {
        enum fit fit = follow(search, frame_of(search, site ? site : search->pc, at), !site);
        if (fit == FIT_NO || fit < found->fit || (site && !is_consistent(search, site, at)))
            continue;
        if (fit > found->fit)
            *found = (struct found){.fit = fit};
        found->count++;
        found->places += !found->places || found->link != site;
        found->sp = at;
        found->link = site;
    }
}

// Returns how many bytes a function has pushed when it is at an address, and lr not among them.
static uint64_t count_pushed(const struct search *search, uint64_t link)
{
    const uint64_t any = UINT64_C(1) << 20;
    const struct extract_unwind_memory source = {read_word, search->reader};
    struct extract_unwound frame = frame_of(search, search->pc, any);

    frame.known |= UINT64_C(1) << ARM_LR;
    frame.value[ARM_LR] = link;
    return extract_symbols_caller(search->reader->symbols, &source, ARM_SP, true, &frame) &&
                   frame.value[ARM_SP] >= any
               ? frame.value[ARM_SP] - any
               : 0;
}

// Tries the calls in functions that are on the stack, and those in the whole program, too, or
// (`is_staged`) only if none of the first fits.
static void try_sites(struct search *search, bool is_staged, struct found *found)
{
    search->site_count = 0;
    find_sites(search);
    const size_t first = is_staged ? search->site_count : 0;
    for (size_t i = 0; i < first; i++)
        try_site(search, search->sites[i], found);
    if (found->fit != FIT_NO)
        return;
    find_all_sites(search);
    for (size_t i = first; i < search->site_count; i++)
        try_site(search, search->sites[i], found);
}

bool kernel_find_arm_stack(struct kernel_reader *reader, const struct kernel_arm_stack *stack,
                           struct extract_registers *registers)
{
    struct search search = {.reader = reader, .registers = registers, .stack = *stack};
    struct extract_symbol function;
    struct found found = {.fit = FIT_NO};

    search.stack.from = (stack->from + WORD - 1) / WORD * WORD;
    if (!register_get(registers, ARM_PC, &search.pc) || stack->to < search.stack.from ||
        stack->to - search.stack.from > STACK_MOST)
        return false;
    bool is_code = find_function(&search, search.pc, &function);
    search.called[search.called_count++] = is_code ? function.address : search.pc;
    if (is_code) {
        try_site(&search, 0, &found);
        if (found.fit == FIT_NO)
            find_jumps(&search);
    }
    if (found.fit == FIT_NO)
        try_sites(&search, is_code, &found);
    // A jump by a register is less sure than a call: more code is between it and its caller.
    if (found.fit == FIT_NO && !is_code) {
        find_jumps(&search);
        try_sites(&search, false, &found);
    }
    if (found.places != 1 || search.site_count == SITES || kernel_has_followed_most(reader))
        return false;
    if (found.link)
        register_set(registers, ARM_LR, found.link);
    if (found.count == 1)
        register_set(registers, ARM_SP,
                     found.sp - (is_code && found.link ? count_pushed(&search, found.link) : 0));
    return found.link || found.count == 1;
}
