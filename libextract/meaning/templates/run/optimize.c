// SPDX-License-Identifier: MIT
// templates/run: joins operations of linked programs, so that fewer are executed. A joined
// operation stands for itself and for the `skip` operations after it.
//
// Those operations remain in the program, so a jump to one of them still works. Joined are adjacent
// texts, texts with the number after them, and these with a move of the data pointer before the
// number. If memory runs out, the programs remain as they are.
#include "templates/run/template_run.h"
#include <stddef.h>
#include <stdlib.h>

enum { MAX_JOINED = 1024, MAX_SKIP = 250 };

struct optimizer {
    struct extract_templates *templates;
    uint8_t *targets; // one byte per operation: a jump leads to it
};

// A sequence of operations that is joined.
struct joint {
    uint32_t length;
    uint32_t texts, first; // number of texts, and the first operation
    bool open;             // no blank after the last text
    bool abuts;            // the first text touches what is before it
    uint8_t move;          // OP_AT_WORD, OP_AT_BIT or OP_AHEAD
    uint64_t place;        // destination of the move
    char text[MAX_JOINED + 1];
};

static bool reserve_strings(struct extract_templates *t, size_t more)
{
    size_t needed = t->string_bytes + more + TEXT_WRITER_BLOCK;

    if (needed > UINT32_MAX / 2)
        return false;
    if (needed > t->string_capacity || !t->strings) {
        char *strings = realloc(t->strings, needed * 2);
        if (!strings)
            return false;
        t->strings = strings;
        t->string_capacity = (uint32_t)(needed * 2);
    }
    memset(t->strings + t->string_bytes, 0, more + TEXT_WRITER_BLOCK);
    return true;
}

static bool is_jump(const struct template_op *op)
{
    return op->code == OP_UNLESS || op->code == OP_UNLESS_TEXT || op->code == OP_JUMP ||
           op->code == OP_FLAG || op->code == OP_LOOP || op->code == OP_AGAIN;
}

static void mark_targets(struct optimizer *o)
{
    for (uint32_t i = 0; i < o->templates->op_count; i++)
        if (is_jump(&o->templates->ops[i]))
            o->targets[o->templates->ops[i].arg] = 1;
}

// ---- joining ----

// Adds a text to the joint. Returns false if it cannot be joined.
static bool join_text(const struct extract_templates *t, const struct template_op *op,
                      struct joint *joint)
{
    const char *text = t->strings + op->arg;
    bool blank = joint->length && !joint->open && !(op->flags & OP_ABUTS);

    if (!op->value)
        return true;
    if (op->value > MAX_JOINED || joint->length + blank + op->value > MAX_JOINED ||
        !run_is_plain(text, op->value))
        return false;
    if (!joint->texts++) {
        joint->first = op->arg;
        joint->abuts = op->flags & OP_ABUTS;
    }
    if (blank)
        joint->text[joint->length++] = ' ';
    memcpy(joint->text + joint->length, text, op->value);
    joint->length += (uint32_t)op->value;
    joint->open = op->flags & OP_OPEN || joint->text[joint->length - 1] == ' ';
    return true;
}

static bool join_move(const struct template_op *op, struct joint *joint)
{
    if (op->code == OP_FORWARD && joint->move)
        return false;
    joint->move = op->code == OP_WORD ? OP_AT_WORD : op->code == OP_GO_TO ? OP_AT_BIT : OP_AHEAD;
    joint->place = op->value;
    return true;
}

static bool is_number(const struct template_op *op)
{
    switch (op->kind) {
    case KIND_HEX:
    case KIND_SIGNED:
    case KIND_UNSIGNED:
    case KIND_OCTAL:
        return op->width <= 8;
    case KIND_LENGTH:
    case KIND_TYPE:
        return true;
    default:
        return false;
    }
}

// Stores the text of the joint among the strings.
static bool store_text(struct extract_templates *t, struct joint *joint, struct template_op *op)
{
    op->value = joint->length;
    op->arg = joint->first;
    if (!joint->length)
        op->arg = 0;
    else if (joint->texts > 1 ||
             joint->text[joint->length - 1] != t->strings[joint->first + joint->length - 1]) {
        if (!reserve_strings(t, joint->length))
            return false;
        op->arg = t->string_bytes;
        memcpy(t->strings + t->string_bytes, joint->text, joint->length);
        t->string_bytes += joint->length;
    }
    return true;
}

// Replaces the first of `count` operations by one that stands for all of them.
static uint32_t put_op(struct optimizer *o, uint32_t at, uint32_t count, struct template_op op,
                       struct joint *joint)
{
    if (!store_text(o->templates, joint, &op))
        return 1;
    op.skip = (uint8_t)(count - 1);
    op.line = o->templates->ops[at].line;
    o->templates->ops[at] = op;
    return count;
}

static uint32_t put_literal(struct optimizer *o, uint32_t at, uint32_t count, struct joint *joint)
{
    struct template_op op = {.code = OP_LITERAL};

    op.flags = (uint8_t)((joint->abuts ? OP_ABUTS : 0) | (joint->open ? OP_OPEN : 0));
    return joint->length ? put_op(o, at, count, op, joint) : 1;
}

// Joins the number that `last` reads or prints. The blank before a number is known now. The blank
// before a name is not, since the name may be empty.
static uint32_t put_field(struct optimizer *o, uint32_t at, uint32_t count, uint8_t code,
                          const struct template_op *last, struct joint *joint)
{
    struct template_op op = {.code = code, .kind = last->kind, .width = last->width};
    bool touches = joint->open || last->flags & OP_ABUTS;
    bool abuts = joint->length ? joint->abuts : last->flags & OP_ABUTS;

    op.flags = (uint8_t)((abuts ? OP_ABUTS : 0) | (last->flags & OP_OPEN) | joint->move);
    op.other = joint->place;
    if (code == OP_FIELD_NAME && touches)
        op.flags |= OP_TOUCHED;
    else if (code != OP_FIELD_NAME && joint->length && !touches)
        joint->text[joint->length++] = ' ';
    return put_op(o, at, count, op, joint);
}

static bool is_data(const struct template_op *op)
{
    return op[0].code == OP_SYSTEM && op[0].arg >= SYSTEM_D1 && op[0].arg <= SYSTEM_D5 &&
           op[1].code == OP_SHOW && (op[1].kind == KIND_PLAIN || is_number(&op[1]));
}

// Ends a joint at operation `i`, the first that is neither a text nor a move. Returns 0 if there is
// nothing to join it with.
static uint32_t join_number(struct optimizer *o, uint32_t at, uint32_t i, struct joint *joint)
{
    const struct template_op *op = &o->templates->ops[i];
    bool more = i + 1 < o->templates->op_count && !o->targets[i + 1];

    if (op->code == OP_PUT && is_number(op))
        return put_field(o, at, i - at + 1, OP_FIELD, op, joint);
    if (op->code == OP_PUT && op->kind == KIND_NAME && joint->length)
        return put_field(o, at, i - at + 1, OP_FIELD_NAME, op, joint);
    if (!joint->move && more && is_data(op)) {
        joint->place = op->arg - SYSTEM_D1 + 1;
        return put_field(o, at, i - at + 2, OP_FIELD_DATA, op + 1, joint);
    }
    return 0;
}

// Joins what begins at operation `at`, before `end`. Returns the number of operations that are
// done. If the joint ends without a number, *moves is its first move.
static uint32_t join(struct optimizer *o, uint32_t at, uint32_t end, uint32_t *moves)
{
    const struct extract_templates *t = o->templates;
    struct joint joint;
    uint32_t i = at;

    memset(&joint, 0, offsetof(struct joint, text));
    for (; i < end && (i == at || !o->targets[i]); i++) {
        const struct template_op *op = &t->ops[i];
        bool move = op->code == OP_WORD || op->code == OP_GO_TO || op->code == OP_FORWARD;
        if (move && i < *moves)
            *moves = i;
        if (!(op->code == OP_TEXT && join_text(t, op, &joint)) && !(move && join_move(op, &joint)))
            break;
    }
    bool whole = i < end && (i == at || !o->targets[i]);
    uint32_t done = whole ? join_number(o, at, i, &joint) : 0;
    return done || joint.move ? done : put_literal(o, at, i - at, &joint);
}

static void join_all(struct optimizer *o)
{
    struct extract_templates *t = o->templates;

    for (uint32_t i = 0, done; i < t->op_count; i += done) {
        uint32_t left = t->op_count - i, moves = UINT32_MAX;
        done = 1u + t->ops[i].skip; // joined by an earlier link
        if (t->ops[i].code >= OP_LITERAL)
            continue;
        done = join(o, i, i + (left < MAX_SKIP ? left : MAX_SKIP), &moves);
        if (!done && moves > i)
            done = join(o, i, moves, &moves);
        done += !done;
    }
}

void template_optimize(struct extract_templates *templates)
{
    struct optimizer o = {templates, calloc(templates->op_count + 1u, 1)};

    if (o.targets && reserve_strings(templates, 0)) {
        mark_targets(&o);
        join_all(&o);
    }
    free(o.targets);
}
