// SPDX-License-Identifier: MIT
// templates/run: executes operations. Each operation is a function that returns the next one, or
// NULL at the end of the event; run_steps maps codes to functions.
#include "templates/run/template_run.h"
#include <inttypes.h>
#include <stdio.h>

typedef const struct template_op *next_op;

#define RUN_STEP(name)                                                                             \
    static next_op name(struct extract_formatter *run, const struct template_op *op)

static next_op jump(const struct extract_formatter *run, const struct template_op *op)
{
    return run->templates->ops + op->arg;
}

static struct run_span string_at(const struct extract_formatter *run, uint64_t at, uint64_t length)
{
    return (struct run_span){run->templates->strings + at, (size_t)length};
}

// ---- printing ----

RUN_STEP(op_text)
{
    return run_literal(run, op->flags, string_at(run, op->arg, op->value)) ? run_next(op) : NULL;
}

RUN_STEP(op_newline)
{
    return run_newline(run) ? run_next(op) : NULL;
}

RUN_STEP(op_tab)
{
    return run_tab(run) ? run_next(op) : NULL;
}

RUN_STEP(op_blanks)
{
    return run_blanks(run, op->flags, op->value) ? run_next(op) : NULL;
}

RUN_STEP(op_show_system)
{
    char bits_text[4];
    struct run_span text = run_system_text(run, op->arg, bits_text);

    return run_put_escaped(run, op->flags, text, 0) ? run_next(op) : NULL;
}

RUN_STEP(op_show_text)
{
    return run_put_escaped(run, op->flags, run->text_register, 0) ? run_next(op) : NULL;
}

// ---- the data pointer ----

RUN_STEP(op_go_to)
{
    run_move(run, (int64_t)op->value);
    return run_next(op);
}

RUN_STEP(op_forward)
{
    run_move_by(run, (int64_t)op->value);
    return run_next(op);
}

RUN_STEP(op_back)
{
    if (op->value)
        run_move_by(run, -(int64_t)op->value);
    else
        run_round(run);
    return run_next(op);
}

RUN_STEP(op_word)
{
    run_move(run, (int64_t)(op->value * run->word * 8));
    return run_next(op);
}

// ---- values ----

static next_op push(struct extract_formatter *run, const struct template_op *op, uint64_t value)
{
    if (run->top == TEMPLATE_STACK) {
        run_fail(run, "E-DEPTH");
        return NULL;
    }
    run->stack[run->top++] = value;
    return run_next(op);
}

RUN_STEP(op_const)
{
    return push(run, op, op->value);
}

RUN_STEP(op_read)
{
    uint64_t value = 0;

    return run_value(run, op, &value) ? push(run, op, value) : NULL;
}

RUN_STEP(op_macro)
{
    return push(run, op, op->arg < run->set ? run->macros[op->arg] : 0);
}

RUN_STEP(op_system)
{
    return push(run, op, run_system(run, op->arg));
}

RUN_STEP(op_add)
{
    run->top--;
    run->stack[run->top - 1] += run->stack[run->top];
    return run_next(op);
}

RUN_STEP(op_subtract)
{
    run->top--;
    run->stack[run->top - 1] -= run->stack[run->top];
    return run_next(op);
}

RUN_STEP(op_multiply)
{
    run->top--;
    run->stack[run->top - 1] *= run->stack[run->top];
    return run_next(op);
}

// Divides signed numbers, toward zero. The one quotient that does not fit in 64 bits wraps.
RUN_STEP(op_divide)
{
    int64_t by = (int64_t)run->stack[--run->top];
    uint64_t *value = &run->stack[run->top - 1];

    if (!by) {
        run_fail(run, "E-DIV0");
        return NULL;
    }
    *value = by == -1 ? 0 - *value : (uint64_t)((int64_t)*value / by);
    return run_next(op);
}

RUN_STEP(op_negate)
{
    run->stack[run->top - 1] = 0 - run->stack[run->top - 1];
    return run_next(op);
}

RUN_STEP(op_cut)
{
    run->stack[run->top - 1] = run_cut(run, op, run->stack[run->top - 1]);
    return run_next(op);
}

RUN_STEP(op_store)
{
    while (run->set <= op->arg)
        run->macros[run->set++] = 0;
    run->macros[op->arg] = run->stack[--run->top];
    return run_next(op);
}

RUN_STEP(op_store_system)
{
    int64_t value = (int64_t)run->stack[--run->top], bits = 0;

    if (op->arg == SYSTEM_BASEPOINTER) {
        run->base = value;
        run->words = 0;
    } else if (__builtin_mul_overflow(value, 8, &bits)) {
        run_move(run, value > 0 ? INT64_MAX : INT64_MIN);
    } else {
        run_move(run, bits);
    }
    return run_next(op);
}

RUN_STEP(op_drop)
{
    run->top--;
    return run_next(op);
}

// ---- choices ----

RUN_STEP(op_read_text)
{
    return run_span(run, op, &run->text_register) ? run_next(op) : NULL;
}

RUN_STEP(op_system_text)
{
    run->text_register = run_system_text(run, op->arg, run->register_bytes);
    return run_next(op);
}

RUN_STEP(op_unless)
{
    if (run->stack[run->top - 1] != op->value)
        return jump(run, op);
    run->top--;
    return run_next(op);
}

RUN_STEP(op_unless_text)
{
    struct run_span text = string_at(run, op->other, op->value);
    bool same = text.length == run->text_register.length &&
                (!text.length || memcmp(text.text, run->text_register.text, text.length) == 0);

    return same ? run_next(op) : jump(run, op);
}

RUN_STEP(op_jump)
{
    return jump(run, op);
}

RUN_STEP(op_flag)
{
    return (run->stack[run->top - 1] & op->value) == op->other ? run_next(op) : jump(run, op);
}

// ---- loops and calls ----

RUN_STEP(op_loop)
{
    int64_t passes = (int64_t)run->stack[--run->top];

    if (passes <= 0)
        return jump(run, op);
    if (passes > TEMPLATE_LOOPS || run->loop_depth == RUN_LOOPS) {
        run_fail(run, passes > TEMPLATE_LOOPS ? "E-LOOPMAX" : "E-DEPTH");
        return NULL;
    }
    run->loops[run->loop_depth++] = (uint32_t)passes;
    return run_next(op);
}

RUN_STEP(op_again)
{
    uint32_t *left = &run->loops[run->loop_depth - 1];

    next_op again = jump(run, op);
    if (!run_spend(run, (uint64_t)(op - again) + 1))
        return NULL;
    if (--*left)
        return again;
    run->loop_depth--;
    return run_next(op);
}

RUN_STEP(op_call)
{
    if (run->depth == TEMPLATE_DEPTH) {
        run_fail(run, "E-DEPTH");
        return NULL;
    }
    if (op->flags & OP_ABUTS && run->gap == GAP_BLANK)
        run->gap = GAP_NONE;
    run->returns[run->depth] = run_next(op);
    run->entered[run->depth++] = run->templates->list[op->arg].program;
    return run->templates->ops + run->templates->list[op->arg].program;
}

RUN_STEP(op_end)
{
    if (!run->depth)
        return run_end(run, EXTRACT_ENDS_WELL);
    uint32_t entered = run->entered[--run->depth];
    if (!run_spend(run, (uint64_t)(op - run->templates->ops) - entered + 1))
        return NULL;
    return run->returns[run->depth];
}

// Prints the ERROR line, which shows where the event is in its log. Without a log, there is no
// place.
RUN_STEP(op_error)
{
    char line[96];
    const struct extract_entry *entry = run->entry;

    (void)op;
    if (entry->log_file) {
        int length = snprintf(line, sizeof line, "ERROR: hook %04X at offset 0x%" PRIx64 " of ",
                              (unsigned)run_system(run, SYSTEM_TRACEID), entry->log_offset);
        struct run_span file = {entry->log_file, strlen(entry->log_file)};
        if ((run->writer.at > run->line && !run_newline(run)) ||
            !run_put(run, OP_OPEN, line, (size_t)length) || !run_put_escaped(run, 0, file, 0))
            return NULL;
    }
    return run_end(run, EXTRACT_ENDS_ERROR);
}

RUN_STEP(op_break)
{
    (void)op;
    return run_end(run, EXTRACT_ENDS_BREAK);
}

RUN_STEP(op_skip)
{
    (void)op;
    return run_end(run, EXTRACT_ENDS_SKIP);
}

RUN_STEP(op_stop)
{
    (void)op;
    return run_end(run, EXTRACT_ENDS_STOP);
}

run_step *const run_steps[OP_CODES] = {
    [OP_END] = op_end,
    [OP_TEXT] = op_text,
    [OP_NEWLINE] = op_newline,
    [OP_TAB] = op_tab,
    [OP_BLANKS] = op_blanks,
    [OP_PUT] = run_op_put,
    [OP_COUNT_PUT] = run_op_count_put,
    [OP_GO_TO] = op_go_to,
    [OP_FORWARD] = op_forward,
    [OP_BACK] = op_back,
    [OP_WORD] = op_word,
    [OP_CONST] = op_const,
    [OP_READ] = op_read,
    [OP_MACRO] = op_macro,
    [OP_SYSTEM] = op_system,
    [OP_ADD] = op_add,
    [OP_SUBTRACT] = op_subtract,
    [OP_MULTIPLY] = op_multiply,
    [OP_DIVIDE] = op_divide,
    [OP_NEGATE] = op_negate,
    [OP_CUT] = op_cut,
    [OP_STORE] = op_store,
    [OP_STORE_SYSTEM] = op_store_system,
    [OP_SHOW] = run_op_show,
    [OP_SHOW_SYSTEM] = op_show_system,
    [OP_DROP] = op_drop,
    [OP_READ_TEXT] = op_read_text,
    [OP_SYSTEM_TEXT] = op_system_text,
    [OP_UNLESS] = op_unless,
    [OP_UNLESS_TEXT] = op_unless_text,
    [OP_SHOW_TEXT] = op_show_text,
    [OP_JUMP] = op_jump,
    [OP_FLAG] = op_flag,
    [OP_LOOP] = op_loop,
    [OP_AGAIN] = op_again,
    [OP_CALL] = op_call,
    [OP_ERROR] = op_error,
    [OP_BREAK] = op_break,
    [OP_SKIP] = op_skip,
    [OP_STOP] = op_stop,
    [OP_LITERAL] = run_op_literal,
    [OP_FIELD] = run_op_field,
    [OP_FIELD_NAME] = run_op_field_name,
    [OP_FIELD_DATA] = run_op_field_data,
};
