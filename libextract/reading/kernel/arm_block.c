// SPDX-License-Identifier: MIT
// kernel: whether the code before a call agrees with the registers at the call and with the memory
// (kernel_follow_arm_block). In: a place after a call of an Arm core of A- or R-profile, and
// registers that are known there. Out: false if the code cannot have led to that state; where the
// call leads.
//
// A path of blocks that leads to the call is followed. A block is code that runs straight on: it
// begins after a jump, after another call, or where a jump leads. A path is run several times. In
// the first run, each register begins with a value of its own; what is left of it at the end, and
// the value there, give the one at the beginning. The second run reads the memory as if no store
// after a load had changed what was loaded, to find out where the stores go. In the others, that is
// checked. Where the path does not show what is called, the paths with one block more are followed.
#include "base/cursor.h"
#include "kernel/arm_code.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <string.h>

enum {
    MOST_CODE = 16 << 10,
    MOST_STORES = 32,
    RUNS = 4,
    LONGEST = 4,             // blocks of a path
    MOST_FOLLOWED = 1 << 25, // instructions, in a search
    WORD = 4,
    REGISTERS = ARM_PC,
    STEP = 2 // bytes of the shortest instruction
};

// A number, or what register `base` had at the beginning of the block plus a number.
struct value {
    enum { VALUE_UNKNOWN, VALUE_NUMBER, VALUE_START } kind;
    unsigned base;
    uint32_t number;
};

struct store {
    struct value address, value;
    uint32_t bytes;
};

// Marks of a place in the code.
enum { MARK_DATA = 1, MARK_CODE = 2, MARK_TARGET = 4, MARK_TABLE_TARGET = 8, MARK_START = 16 };

struct code {
    struct kernel_reader *reader;
    const struct extract_symbol *function;
    enum extract_byte_order order;
    uint32_t size;
    uint8_t bytes[MOST_CODE];
    uint8_t marks[MOST_CODE / STEP];
};

// Code from one place to another. If it is left by a jump, that is at the end.
struct block {
    uint32_t from, to;
    bool is_left;
};

struct path {
    struct block blocks[LONGEST]; // the last one of the path first
    size_t count;
};

// A run over a path.
struct run {
    struct value now[REGISTERS];
    struct store stores[MOST_STORES];
    size_t store_count;
    bool has_lost_stores; // some store is not in `stores`
    struct value compared;
    uint32_t with;
    bool is_impossible;     // a jump would have left the path
    const struct run *last; // the run before, if it knows the addresses of the same stores
};

static struct value number(uint32_t value)
{
    return (struct value){VALUE_NUMBER, 0, value};
}

static struct value add(struct value value, uint32_t addend)
{
    value.number += addend;
    return value;
}

static struct arm_step step_at(const struct code *code, uint32_t at)
{
    const uint64_t address = (code->function->address & ~UINT64_C(1)) + at;

    code->reader->followed++;
    return arm_decode(code->bytes + at, code->size - at, code->order, (uint32_t)address,
                      code->function->is_thumb);
}

static void mark(struct code *code, uint8_t with, uint64_t address, uint32_t bytes)
{
    const uint64_t first = code->function->address & ~UINT64_C(1);

    for (uint64_t at = address; at < address + bytes; at += STEP)
        if (at >= first && at - first < code->size)
            code->marks[(at - first) / STEP] |= with;
}

static uint32_t code_number(const struct code *code, uint32_t at, unsigned bytes)
{
    struct extract_cursor c = extract_cursor_make(code->bytes + at, code->size - at, code->order);

    return (uint32_t)extract_cursor_number(&c, bytes);
}

// Marks the table of a jump, and the places it leads to. One of offsets ends where the nearest of
// them leads; one of addresses, with what is none of the function.
static void mark_table(struct code *code, uint32_t at, unsigned bytes)
{
    const uint64_t first = code->function->address & ~UINT64_C(1);
    const uint32_t base = at + (bytes == WORD ? 2 * WORD : WORD);
    uint32_t end = code->size;

    for (uint32_t entry = base; entry + bytes <= end; entry += bytes) {
        const uint32_t value = code_number(code, entry, bytes);
        const uint64_t to = bytes == WORD ? value : first + base + 2 * value;
        if (to < first || to - first >= code->size)
            return;
        if (bytes < WORD && to - first < end)
            end = (uint32_t)(to - first);
        mark(code, MARK_DATA, first + entry, bytes);
        mark(code, MARK_TARGET | MARK_TABLE_TARGET, to, 1);
    }
}

static bool is_jump(const struct arm_step *step)
{
    return step->action == ARM_JUMP || step->action == ARM_GO || step->action == ARM_LEAVE;
}

static bool runs_on(const struct arm_step *step, bool is_conditional)
{
    if (is_jump(step))
        return is_conditional || step->is_zero_test;
    return step->action != ARM_CALL && step->action != ARM_UNKNOWN;
}

// Marks data among the code, the instructions, the places that jumps lead to, and those after what
// does not run on.
static void mark_code(struct code *code)
{
    const uint64_t first = code->function->address & ~UINT64_C(1);
    unsigned conditional = 0; // instructions of an IT block that are left

    for (uint32_t at = 0; at < code->size;) {
        if (code->marks[at / STEP] & MARK_DATA) {
            at += STEP;
            mark(code, MARK_START, first + at, 1);
            continue;
        }
        const struct arm_step step = step_at(code, at);
        const bool is_conditional = conditional || step.condition != ARM_ALWAYS;
        code->marks[at / STEP] |= MARK_CODE;
        if (step.action == ARM_JUMP)
            mark(code, MARK_TARGET, step.number, 1);
        if (step.is_literal)
            mark(code, MARK_DATA, step.number, step.bytes);
        if (step.table_bytes)
            mark_table(code, at, step.table_bytes);
        at += step.length;
        conditional = step.skips ? step.skips : conditional - (conditional > 0);
        if (!runs_on(&step, is_conditional))
            mark(code, MARK_START, first + at, 1);
    }
}

// Returns where the block begins that contains an instruction.
static uint32_t start_of(const struct code *code, uint32_t at)
{
    while (at && !(code->marks[at / STEP] & (MARK_TARGET | MARK_START)))
        at -= STEP;
    return at;
}

// Finds the call before a place.
static bool find_call(const struct code *code, uint32_t site, uint32_t *call)
{
    for (uint32_t length = STEP; length <= WORD && length <= site; length += STEP) {
        if (!(code->marks[(site - length) / STEP] & MARK_CODE))
            continue;
        const struct arm_step step = step_at(code, site - length);
        *call = site - length;
        return step.length == length && step.action == ARM_CALL;
    }
    return false;
}

// Returns whether two accesses may meet.
static bool may_meet(const struct store *store, struct value address, uint32_t bytes)
{
    return store->address.kind != address.kind || store->address.base != address.base ||
           address.kind == VALUE_UNKNOWN ||
           (store->address.number - address.number < bytes ||
            address.number - store->address.number < store->bytes);
}

// Loads what the newest store at the address has stored. Without one, the memory still has it,
// unless a later store of the path may have changed it.
static struct value load(const struct code *code, const struct run *run, struct value address)
{
    uint64_t word;

    for (size_t i = run->store_count; i--;) {
        const struct store *store = &run->stores[i];
        if (!may_meet(store, address, WORD))
            continue;
        if (address.kind != VALUE_UNKNOWN && store->address.kind == address.kind &&
            store->address.base == address.base && store->address.number == address.number &&
            store->bytes == WORD)
            return store->value;
        break;
    }
    if (address.kind != VALUE_NUMBER || (run->last && run->last->has_lost_stores))
        return (struct value){VALUE_UNKNOWN, 0, 0};
    for (size_t i = run->store_count; run->last && i < run->last->store_count; i++)
        if (may_meet(&run->last->stores[i], address, WORD))
            return (struct value){VALUE_UNKNOWN, 0, 0};
    return kernel_read_number(code->reader, address.number, WORD, &word)
               ? number((uint32_t)word)
               : (struct value){VALUE_UNKNOWN, 0, 0};
}

static struct value load_literal(const struct code *code, uint32_t address)
{
    uint8_t bytes[WORD];

    if (extract_symbols_read_constant(code->reader->symbols, address, bytes, sizeof bytes) !=
        sizeof bytes)
        return (struct value){VALUE_UNKNOWN, 0, 0};
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, code->reader->order);
    return number(extract_cursor_u32(&c));
}

static void note_store(struct run *run, struct store store)
{
    if (run->store_count < MOST_STORES)
        run->stores[run->store_count++] = store;
    else
        run->has_lost_stores = true;
}

// Notes the words that a store has written, or its bytes if these are no words.
static void store(struct run *run, const struct arm_step *step, struct value address, bool is_sure)
{
    uint32_t words = 0;

    for (unsigned i = 0; i < 16; i++)
        words += step->list >> i & 1;
    if (!words || words * WORD != step->bytes) {
        note_store(run, (struct store){address, {VALUE_UNKNOWN, 0, 0}, step->bytes});
        return;
    }
    for (unsigned i = 0; i < 16; i++) {
        struct value value = {VALUE_UNKNOWN, 0, 0};
        if (!(step->list >> i & 1))
            continue;
        if (is_sure && i < REGISTERS)
            value = run->now[i];
        note_store(run, (struct store){address, value, WORD});
        address = add(address, WORD);
    }
}

// Returns whether a condition of a compared number holds: 1, 0, or -1 if that is not known.
static int holds(const struct run *run, unsigned condition)
{
    const uint32_t a = run->compared.number, b = run->with;
    const int32_t signed_a = (int32_t)a, signed_b = (int32_t)b;
    const bool results[] = {a == b,
                            a != b,
                            a >= b,
                            a < b,
                            (a - b) >> 31,
                            !((a - b) >> 31),
                            false,
                            false,
                            a > b,
                            a <= b,
                            signed_a >= signed_b,
                            signed_a<signed_b, signed_a>
                                signed_b,
                            signed_a <= signed_b};
    const bool is_overflow = condition == 6 || condition == 7;

    if (condition >= ARM_ALWAYS)
        return 1;
    return run->compared.kind == VALUE_NUMBER && !is_overflow ? results[condition] : -1;
}

// Makes what an instruction writes unknown.
static void forget(struct run *run, const struct arm_step *step)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if (step->list >> i & 1)
            run->now[i].kind = VALUE_UNKNOWN;
    if (step->has_writeback && step->rn < REGISTERS)
        run->now[step->rn].kind = VALUE_UNKNOWN;
}

static void perform(const struct code *code, struct run *run, const struct arm_step *step)
{
    struct value address = {VALUE_UNKNOWN, 0, 0}, value = {VALUE_UNKNOWN, 0, 0};

    if (step->rn < REGISTERS)
        address = add(run->now[step->rn], step->number);
    if (step->has_writeback && step->rn < REGISTERS)
        run->now[step->rn] = add(run->now[step->rn], (uint32_t)step->writeback);
    switch (step->action) {
    case ARM_SET:
        value = number(step->number);
        break;
    case ARM_TOP:
        value = run->now[step->rd];
        if (value.kind == VALUE_NUMBER)
            value.number = (value.number & 0xFFFF) | step->number << 16;
        else
            value.kind = VALUE_UNKNOWN;
        break;
    case ARM_ADD:
        value = address;
        break;
    case ARM_BITS:
        if (step->rn < REGISTERS && run->now[step->rn].kind == VALUE_NUMBER)
            value = number((run->now[step->rn].number & step->keep) ^ step->number);
        break;
    case ARM_LOAD:
        value = step->is_literal ? load_literal(code, step->number) : load(code, run, address);
        break;
    case ARM_STORE:
        store(run, step, address, true);
        return;
    case ARM_COMPARE:
        run->compared = step->rn < REGISTERS ? run->now[step->rn] : value;
        run->with = step->number;
        return;
    case ARM_WRITE:
        for (unsigned i = 0; i < REGISTERS; i++)
            if (step->list >> i & 1)
                run->now[i].kind = VALUE_UNKNOWN;
        return;
    default:
        return;
    }
    run->now[step->rd] = value;
}

// Performs an instruction of which it is not known whether it was.
static void perhaps(struct run *run, const struct arm_step *step)
{
    struct value address = {VALUE_UNKNOWN, 0, 0};

    if (step->rn < REGISTERS)
        address = add(run->now[step->rn], step->number);
    if (step->action == ARM_STORE)
        store(run, step, address, false);
    else if (!is_jump(step))
        forget(run, step);
    if (step->has_writeback)
        forget(run, &(struct arm_step){.has_writeback = true, .rn = step->rn});
    if (step->action == ARM_COMPARE)
        run->compared.kind = VALUE_UNKNOWN;
}

// Returns whether a jump that has not been taken would have been.
static bool is_taken(const struct run *run, const struct arm_step *step, int is_met)
{
    if (!is_jump(step))
        return false;
    if (step->is_zero_test)
        return run->now[step->rd].kind == VALUE_NUMBER &&
               (run->now[step->rd].number == 0) != step->is_not;
    return is_met == 1;
}

static void follow_block(const struct code *code, struct run *run, struct block block)
{
    unsigned conditional = 0;
    struct arm_step step;

    for (uint32_t at = block.from; at < block.to; at += step.length) {
        step = step_at(code, at);
        const int is_met = conditional ? -1 : holds(run, step.condition);
        run->is_impossible |= is_taken(run, &step, is_met);
        if (is_met == 1)
            perform(code, run, &step);
        else if (is_met == -1)
            perhaps(run, &step);
        if (step.loses_flags && is_met)
            run->compared.kind = VALUE_UNKNOWN;
        conditional = step.skips ? step.skips : conditional - (conditional > 0);
    }
    step = step_at(code, block.to);
    if (block.is_left && step.is_zero_test)
        run->is_impossible |= run->now[step.rd].kind == VALUE_NUMBER && !is_taken(run, &step, 1);
    else if (block.is_left)
        run->is_impossible |= !conditional && !holds(run, step.condition);
}

// Gets what the registers had at the beginning, from what they have at the end.
static void find_start(const struct run *run, const struct extract_registers *at_call,
                       struct value start[REGISTERS])
{
    uint64_t value;

    memset(start, 0, REGISTERS * sizeof *start);
    for (unsigned i = 0; i < ARM_LR; i++)
        if (run->now[i].kind == VALUE_START && register_get(at_call, i, &value))
            start[run->now[i].base] = number((uint32_t)value - run->now[i].number);
}

// Returns whether the memory has what the path has stored.
static bool has_stored(const struct code *code, const struct run *run)
{
    uint64_t word;

    for (size_t i = 0; i < run->store_count && !run->has_lost_stores; i++) {
        const struct store *store = &run->stores[i];
        bool is_last = store->address.kind == VALUE_NUMBER && store->value.kind == VALUE_NUMBER;
        for (size_t k = i + 1; k < run->store_count && is_last; k++)
            is_last = !may_meet(&run->stores[k], store->address, store->bytes);
        if (is_last && kernel_read_number(code->reader, store->address.number, WORD, &word) &&
            word != store->value.number)
            return false;
    }
    return true;
}

bool kernel_has_followed_most(const struct kernel_reader *reader)
{
    return reader->followed >= MOST_FOLLOWED;
}

// Reads the code of a function. Returns false if the ELF file does not have it.
static bool read_function(struct code *code)
{
    enum { EF_BE8 = 0x00800000 };
    struct extract_symbols *symbols = code->reader->symbols;
    const uint64_t first = code->function->address & ~UINT64_C(1);

    if (kernel_has_followed_most(code->reader) || !code->function->size ||
        code->function->size > MOST_CODE ||
        extract_symbols_read_constant(symbols, first, code->bytes, code->size) != code->size)
        return false;
    code->order = extract_symbols_flags(symbols) & EF_BE8 ? EXTRACT_LITTLE
                                                          : extract_symbols_byte_order(symbols);
    mark_code(code);
    return true;
}

// What is looked for, and what was found.
struct question {
    const struct code *code;
    uint64_t site;
    const struct extract_registers *at_call;
    bool is_possible; // some path is
    uint64_t called;  // by all of them; 0: unknown
};

// Follows a path. Returns whether it is possible, and where its call leads; 0: unknown.
static bool follow_path(const struct question *question, const struct path *path, uint64_t *called)
{
    struct extract_registers known = {.known = 0};
    struct value start[REGISTERS];
    struct run runs[RUNS];
    uint64_t value;

    for (unsigned i = 0; i < REGISTERS; i++)
        start[i] = (struct value){VALUE_START, i, 0};
    for (unsigned i = 0; i < RUNS; i++) {
        runs[i] = (struct run){.last = i > 1 ? &runs[i - 1] : NULL};
        memcpy(runs[i].now, start, sizeof start);
        for (size_t k = path->count; k--;)
            follow_block(question->code, &runs[i], path->blocks[k]);
        if (!i)
            find_start(&runs[i], question->at_call, start);
    }
    const struct run *run = &runs[RUNS - 1];
    for (unsigned i = 0; i < REGISTERS; i++)
        if (run->now[i].kind == VALUE_NUMBER)
            register_set(&known, i, run->now[i].number);
    if (!kernel_find_called(question->code->reader->symbols, question->site, &known, called))
        *called = 0;
    for (unsigned i = 0; i < ARM_LR; i++)
        if (register_get(&known, i, &value) && register_get(question->at_call, i, &value) &&
            known.value[i] != value)
            return false;
    return !run->is_impossible && has_stored(question->code, run);
}

// Finds the blocks that lead to the first one of a path: up to `most`. Returns 0 if there may be
// others.
static size_t find_before(const struct code *code, const struct path *path, struct block *before,
                          size_t most)
{
    const uint64_t first = code->function->address & ~UINT64_C(1);
    const uint32_t to = path->blocks[path->count - 1].from;
    const unsigned marks = code->marks[to / STEP];
    size_t count = 0;

    if (!to || marks & MARK_TABLE_TARGET)
        return 0;
    if (!(marks & MARK_START))
        before[count++] = (struct block){start_of(code, to - STEP), to, false};
    else if (!(marks & MARK_TARGET))
        return 0;
    for (uint32_t at = 0; at < code->size && count <= most; at += STEP) {
        if (!(code->marks[at / STEP] & MARK_CODE))
            continue;
        const struct arm_step step = step_at(code, at);
        if (step.action != ARM_JUMP || step.number != first + to)
            continue;
        if (count == most)
            return 0;
        before[count++] = (struct block){start_of(code, at), at, true};
    }
    return count;
}

// Follows all paths that end with one.
static void follow_paths(struct question *question, struct path path)
{
    enum { MOST_BEFORE = 4 };
    struct block before[MOST_BEFORE];
    uint64_t called;

    if (kernel_has_followed_most(question->code->reader) || !follow_path(question, &path, &called))
        return;
    const size_t count = called || path.count == LONGEST
                             ? 0
                             : find_before(question->code, &path, before, MOST_BEFORE);
    if (!count) {
        question->called = !question->is_possible || question->called == called ? called : 0;
        question->is_possible = true;
    }
    path.count += count > 0;
    for (size_t i = 0; i < count; i++) {
        path.blocks[path.count - 1] = before[i];
        follow_paths(question, path);
    }
}

bool kernel_follow_arm_block(struct kernel_reader *reader, const struct extract_symbol *function,
                             uint64_t site, const struct extract_registers *at_call,
                             uint64_t *called)
{
    const uint64_t first = function->address & ~UINT64_C(1);
    struct code code = {.reader = reader, .function = function, .size = (uint32_t)function->size};
    struct question question = {.code = &code, .site = site, .at_call = at_call};
    struct path path = {.count = 1};
    uint32_t call;

    *called = 0;
    if (site <= first || site - first > function->size || !read_function(&code) ||
        !find_call(&code, (uint32_t)(site - first), &call))
        return true;
    path.blocks[0] = (struct block){start_of(&code, call), call, true};
    follow_paths(&question, path);
    *called = question.called;
    return question.is_possible;
}

bool kernel_is_arm_call(struct kernel_reader *reader, const struct extract_symbol *function,
                        uint64_t site)
{
    const uint64_t first = function->address & ~UINT64_C(1);
    struct code code = {.reader = reader, .function = function, .size = (uint32_t)function->size};
    uint32_t call;

    return site <= first || site - first > function->size || !read_function(&code) ||
           find_call(&code, (uint32_t)(site - first), &call);
}

// Returns whether a jump by a register leads to an address, and agrees with the other registers.
static bool goes_to(const struct code *code, uint32_t at, const struct extract_registers *registers,
                    uint64_t address)
{
    const struct arm_step step = step_at(code, at);
    struct question question = {.code = code, .at_call = registers};
    struct path path = {{{start_of(code, at), at, true}}, 1};
    uint64_t to;

    if (step.action != ARM_GO || !register_get(registers, step.rn, &to) ||
        (to | 1) != (address | 1))
        return false;
    follow_paths(&question, path);
    return question.is_possible;
}

bool kernel_jumps_to(struct kernel_reader *reader, const struct extract_symbol *function,
                     uint64_t address, const struct extract_registers *registers)
{
    struct code code = {.reader = reader, .function = function, .size = (uint32_t)function->size};

    if (!read_function(&code))
        return false;
    for (uint32_t at = 0; at < code.size && !kernel_has_followed_most(reader); at += STEP) {
        if (!(code.marks[at / STEP] & MARK_CODE))
            continue;
        const struct arm_step step = step_at(&code, at);
        if ((step.action == ARM_JUMP && (step.number | 1) == (address | 1)) ||
            goes_to(&code, at, registers, address))
            return true;
    }
    return false;
}
