// SPDX-License-Identifier: MIT
// templates: compiles {{ $macro = expression }} to operations that compute the value on the stack
// and store it. A recursive descent parser: sum, product, factor.
#include "templates/compiler/compile.h"
#include <ctype.h>
#include <string.h>

static bool compile_sum(struct compiler *c, unsigned depth);

// Counts one more value on the stack.
static bool add_value(struct compiler *c, size_t at)
{
    if (++c->stack <= TEMPLATE_STACK)
        return true;
    return compile_fault(c, at, "E-EXPR", "use another macro for a part of it",
                         "expression is too deep");
}

static bool compile_integer(struct compiler *c)
{
    size_t at = c->at, length = 0;

    while (isalnum((unsigned char)c->bytes[at + length]))
        length++;
    struct template_op op = {.code = OP_CONST};
    if (!lexer_constant(c->bytes + at, length, 10, &op.value))
        return compile_fault(c, at, "E-EXPR", "use a decimal or 0x-prefixed number of 64 bits",
                             "\"%s\" is not a number", lexer_show(c, at, length));
    c->at += length;
    return add_value(c, at) && emit(c, op, at);
}

static bool compile_code(struct compiler *c)
{
    size_t at = c->at, length = 0;

    while (isalnum((unsigned char)c->bytes[at + length]) || c->bytes[at + length] == '.')
        length++;
    struct template_op op;
    enum code_word sort = code_parse(c->bytes + at, length, &op);
    if (sort == CODE_OUT_OF_RANGE)
        return code_fault(c, at, length);
    bool number = sort == CODE_GOOD && op.code == OP_PUT && strchr("XDUoBH", c->bytes[at]);
    if (!number || !code_fits(&op))
        return compile_fault(c, at, "E-EXPR",
                             "use a number, a $macro, or a code X D U o B of at most 8 bytes",
                             "\"%s\" is not a value", lexer_show(c, at, length));
    c->at += length;
    op.code = OP_READ;
    op.flags = 0;
    return add_value(c, at) && emit(c, op, at);
}

static bool compile_macro_value(struct compiler *c)
{
    struct macro m;

    return macro_read(c, &m) && add_value(c, m.at) && macro_push(c, &m, "E-EXPR");
}

static bool compile_factor(struct compiler *c, unsigned depth)
{
    char first = lexer_peek(c);
    size_t at = c->at;

    if (depth >= TEMPLATE_NESTING)
        return compile_fault(c, at, "E-EXPR", "use another macro for a part of it",
                             "expression is nested too deeply");
    if (first == '-') {
        c->at++;
        return compile_factor(c, depth + 1) && emit(c, (struct template_op){.code = OP_NEGATE}, at);
    }
    if (first == '(') {
        c->at++;
        if (!compile_sum(c, depth + 1))
            return false;
        if (!lexer_take(c, ')'))
            return compile_fault(c, at, "E-EXPR", "add a \")\"", "parenthesis is not closed");
        return true;
    }
    if (first == '$')
        return compile_macro_value(c);
    if (isdigit((unsigned char)first))
        return compile_integer(c);
    if (isalpha((unsigned char)first))
        return compile_code(c);
    return compile_fault(c, at, "E-EXPR", "use a number, a $macro, or a code X D U o B",
                         "value is missing");
}

// Compiles operands of one rank from left to right; `operators` has the two operators of the rank.
static bool compile_chain(struct compiler *c, unsigned depth, const char *operators,
                          bool (*part)(struct compiler *, unsigned), const uint8_t codes[2])
{
    if (!part(c, depth))
        return false;
    for (;;) {
        char next = lexer_peek(c);
        size_t at = c->at;
        if (!next || (next != operators[0] && next != operators[1]))
            return true;
        c->at++;
        if (!part(c, depth) ||
            !emit(c, (struct template_op){.code = codes[next == operators[1]]}, at))
            return false;
        c->stack--;
    }
}

static bool compile_product(struct compiler *c, unsigned depth)
{
    return compile_chain(c, depth, "*/", compile_factor, (const uint8_t[]){OP_MULTIPLY, OP_DIVIDE});
}

static bool compile_sum(struct compiler *c, unsigned depth)
{
    return compile_chain(c, depth, "+-", compile_product, (const uint8_t[]){OP_ADD, OP_SUBTRACT});
}

// ---- the block ----

static bool check_assignable(struct compiler *c, const struct macro *target, size_t end)
{
    const char *name = lexer_show(c, target->at, end - target->at);

    if (target->sort == MACRO_USER ||
        (target->sort == MACRO_SYSTEM && target->arg <= SYSTEM_BASEPOINTER))
        return true;
    if (target->sort == MACRO_CALL)
        return compile_fault(c, target->at, "E-RESERVED",
                             "use a name that is not three or four hexadecimal digits",
                             "%s calls a template", name);
    return compile_fault(c, target->at, "E-RESERVED", "use another name", "%s cannot be assigned",
                         name);
}

static bool end_block(struct compiler *c, size_t open)
{
    char next = lexer_peek(c);

    if (next == '}' && c->bytes[c->at + 1] == '}') {
        c->at += 2;
        return true;
    }
    if (!next || next == '}')
        return compile_fault(c, open, "E-BRACE", "add \"}}\"", "{{ is not closed");
    return compile_fault(c, c->at, "E-EXPR", "use + - * / between values, and one assignment",
                         "\"%s\" follows the expression",
                         lexer_show(c, c->at, strlen(c->bytes + c->at)));
}

bool compile_expression(struct compiler *c)
{
    struct macro target;
    size_t open = c->at;

    c->at += 2;
    char next = lexer_peek(c);
    if (strncmp(c->bytes + c->at, "function", strlen("function")) == 0)
        return compile_fault(c, c->at, "E-EXPR", "remove it: no public document defines it",
                             "not implemented: {{ function ... }}");
    if (!next)
        return end_block(c, open);
    if (next != '$')
        return compile_fault(c, c->at, "E-ASSIGN", "use {{ $name = value }}",
                             "$macro to be assigned is missing");
    if (!macro_read(c, &target) || !check_assignable(c, &target, c->at))
        return false;
    next = lexer_peek(c);
    if (target.formatted || (next && next != '=' && next != '}'))
        return compile_fault(c, target.formatted ? target.at : c->at, "E-ASSIGN",
                             "use {{ $name = value }}", "\"=\" is missing after the macro");
    if (next == '=') {
        struct template_op store = {.arg = target.arg};
        store.code = target.sort == MACRO_SYSTEM ? OP_STORE_SYSTEM : OP_STORE;
        c->at++;
        c->stack = 0;
        if (!compile_sum(c, 0) || !emit(c, store, target.at))
            return false;
    } else if (target.sort == MACRO_USER) {
        macro_set_add(&c->declared, target.arg);
    }
    return end_block(c, open);
}
