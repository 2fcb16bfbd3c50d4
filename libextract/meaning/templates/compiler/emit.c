// SPDX-License-Identifier: MIT
// templates: appends operations and literal text to the set, and sets the targets of jumps.
#include "templates/compiler/compile.h"

enum { MAX_OPS = 1 << 26, MAX_STRINGS = 1 << 30 };

bool emit(struct compiler *c, struct template_op op, size_t at)
{
    struct extract_templates *t = c->templates;

    if (t->op_count >= MAX_OPS) {
        c->failed = EXTRACT_LIMIT;
        return false;
    }
    if (!template_grow((void **)&t->ops, &t->op_capacity, t->op_count, sizeof *t->ops)) {
        c->failed = EXTRACT_NOMEM;
        return false;
    }
    op.line = lexer_place(c, at).line;
    t->ops[t->op_count++] = op;
    return true;
}

bool emit_item(struct compiler *c, struct template_op op, size_t at)
{
    if (at == c->touch)
        op.flags |= OP_ABUTS;
    c->touch = c->at;
    return emit(c, op, at);
}

uint32_t emit_here(const struct compiler *c)
{
    return c->templates->op_count;
}

void emit_target(struct compiler *c, uint32_t jump)
{
    c->templates->ops[jump].arg = emit_here(c);
}

bool emit_byte(struct compiler *c, char byte)
{
    struct extract_templates *t = c->templates;

    if (t->string_bytes >= MAX_STRINGS) {
        c->failed = EXTRACT_LIMIT;
        return false;
    }
    if (!template_grow((void **)&t->strings, &t->string_capacity, t->string_bytes, 1)) {
        c->failed = EXTRACT_NOMEM;
        return false;
    }
    t->strings[t->string_bytes++] = byte;
    return true;
}

bool emit_bytes(struct compiler *c, size_t at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!emit_byte(c, c->bytes[at + i]))
            return false;
    return true;
}

struct template_op emit_text(const struct compiler *c, uint32_t begin)
{
    const struct extract_templates *t = c->templates;
    uint32_t length = t->string_bytes - begin;
    bool open = length && t->strings[t->string_bytes - 1] == '=' &&
                !(t->dialect & EXTRACT_DIALECT_BLANK_EQUALS);
    return (struct template_op){
        .code = OP_TEXT, .flags = open ? OP_OPEN : 0, .arg = begin, .value = length};
}
