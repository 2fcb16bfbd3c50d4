// SPDX-License-Identifier: MIT
// templates: switches, LOOP, BITFLAGS and timers. In: their text. Out: operations that compare and
// jump.
#include "templates/compiler/compile.h"
#include <string.h>

// ---- operands ----

static const char no_operand[] = "E-OPERAND";

bool operand_code(struct compiler *c, size_t at, const struct template_op *code,
                  struct operand *operand)
{
    struct template_op op = *code;
    bool number = op.code == OP_PUT &&
                  (op.kind <= KIND_BITS || op.kind == KIND_LENGTH || op.kind == KIND_TYPE);
    bool text = op.code == OP_PUT && (op.kind == KIND_ASCII || op.kind == KIND_COUNTED);
    if ((!number && !text) || !code_fits(&op))
        return compile_fault(c, at, no_operand,
                             "operands are X D U o B of at most 8 bytes, A, S, HB, HT",
                             "the code is no operand");
    operand->base = code_base(code);
    operand->show = *code;
    operand->show.code = text ? OP_SHOW_TEXT : OP_SHOW;
    if (op.kind == KIND_LENGTH) {
        operand->show.kind = KIND_UNSIGNED;
        operand->show.width = 8;
    }
    if (at == c->touch)
        operand->show.flags |= OP_ABUTS;
    op.code = text ? OP_READ_TEXT : OP_READ;
    op.flags = 0;
    return emit(c, op, at);
}

bool operand_macro(struct compiler *c, const struct macro *macro, struct operand *operand)
{
    bool text = macro->sort == MACRO_SYSTEM && macro->arg >= SYSTEM_TEXTS && !macro->formatted;
    operand->base = text ? 0 : macro->base;
    operand->show = macro->format;
    if (text)
        operand->show = (struct template_op){.code = OP_SHOW_SYSTEM, .arg = macro->arg};
    if (macro->at == c->touch)
        operand->show.flags |= OP_ABUTS;
    if (!text)
        return macro_push(c, macro, no_operand);
    return emit(c, (struct template_op){.code = OP_SYSTEM_TEXT, .arg = macro->arg}, macro->at);
}

// The number that LOOP or BITFLAGS works on; `name` is the error when nothing is there.
static bool operand_number(struct compiler *c, const char *name)
{
    struct operand operand;
    struct template_op op;
    struct macro macro;
    bool good;
    char first = lexer_peek(c);
    size_t at = c->at, length = lexer_word(c);

    c->touch = NOWHERE;
    if (first == '$') {
        good = macro_read(c, &macro) && operand_macro(c, &macro, &operand);
    } else {
        enum code_word sort = code_parse(c->bytes + at, length, &op);
        if (sort == CODE_NONE)
            return compile_fault(c, at, name, "write a code or a $macro", "an operand is missing");
        if (sort == CODE_OUT_OF_RANGE)
            return code_fault(c, at, length);
        c->at += length;
        good = operand_code(c, at, &op, &operand);
    }
    if (good && operand.base == 0)
        return compile_fault(c, at, no_operand, "write a code or $macro that is a number",
                             "the operand is a text");
    return good;
}

// ---- switch ----

// A match value as the operand's base has it.
static bool match_number(struct compiler *c, unsigned base, uint64_t *value)
{
    static const char *const hints[] = {
        [2] = "a value of B has digits 0 and 1",
        [8] = "a value of o has digits 0 to 7",
        [10] = "a value of D, U and HB is decimal, or begins with 0x",
        [16] = "a value of X, HT and of macros without a format is hexadecimal"};
    size_t at = c->at, length = lexer_word(c);
    const char *word = c->bytes + at;
    bool negative = word[0] == '-' && base == 10;
    if (negative ? !lexer_number(word + 1, length - 1, base, value)
                 : !lexer_constant(word, length, base, value)) {
        if (!length)
            length = strcspn(word, " \t\n{");
        return compile_fault(c, at, "E-MATCH", hints[base], "\"%s\" is no value to be matched",
                             lexer_show(c, at, length));
    }
    if (negative)
        *value = 0 - *value;
    c->at += length;
    return true;
}

// The test of a case: jumps when the operand is something else.
static bool match(struct compiler *c, const struct operand *operand)
{
    size_t at = c->at;
    struct template_op op = {.code = OP_UNLESS}, text;
    if (operand->base)
        return match_number(c, operand->base, &op.value) && emit(c, op, at);
    if (c->bytes[at] != '"' && !lexer_word(c))
        return compile_fault(c, at, "E-MATCH", "write a string or a word",
                             "a value to be matched is missing");
    if (!item_text(c, &text))
        return false;
    op.code = OP_UNLESS_TEXT;
    op.other = text.arg;
    op.value = text.value;
    return emit(c, op, at);
}

static bool case_body(struct compiler *c)
{
    static const char hint[] = "write a string, a word, or items in braces";
    char first = lexer_peek(c);
    if (first == '{' || first == '`')
        return compile_body(c, "E-CASE", hint);
    if (!item_is_text(c))
        return compile_fault(c, c->at, "E-CASE", hint, "what the value stands for is missing");
    return item_text_print(c);
}

// One case behind its comma. *ends: the jumps to the end, each with the one before it as its arg.
static bool switch_case(struct compiler *c, const struct operand *operand, bool *wild,
                        uint32_t *ends)
{
    size_t at = c->at;
    uint32_t unless = emit_here(c);
    bool any = c->bytes[at] == '\\' && c->bytes[at + 1] == '*';
    if (any) {
        c->at += 2;
        if (operand->base && !emit(c, (struct template_op){.code = OP_DROP}, at))
            return false;
    } else if (!match(c, operand)) {
        return false;
    }
    lexer_skip(c);
    c->touch = operand->show.flags & OP_ABUTS ? c->at : NOWHERE;
    if (!case_body(c))
        return false;
    if (!any || item_is_switch(c)) {
        struct template_op jump = {.code = OP_JUMP, .arg = *ends};
        *ends = emit_here(c);
        if (!emit(c, jump, c->at))
            return false;
    }
    if (!any)
        emit_target(c, unless);
    *wild |= any;
    return true;
}

static bool switch_unmatched(struct compiler *c, const struct operand *operand)
{
    if (c->templates->dialect & EXTRACT_DIALECT_SHOW_UNMATCHED)
        return emit(c, operand->show, c->at);
    return !operand->base || emit(c, (struct template_op){.code = OP_DROP}, c->at);
}

bool statement_switch(struct compiler *c, const struct operand *operand)
{
    uint32_t ends = UINT32_MAX;
    bool wild = false;

    while (lexer_take(c, ',')) {
        char next = lexer_peek(c);
        if (!next || next == '}')
            return compile_fault(c, c->at, "E-CASE", "take the comma away, or add a case",
                                 "a case is missing behind the comma");
        if (!switch_case(c, operand, &wild, &ends))
            return false;
    }
    if (!wild && !switch_unmatched(c, operand))
        return false;
    while (ends != UINT32_MAX) {
        uint32_t before = c->templates->ops[ends].arg;
        emit_target(c, ends);
        ends = before;
    }
    c->touch = NOWHERE;
    return true;
}

// ---- LOOP ----

static bool loop_count(struct compiler *c)
{
    struct template_op op = {.code = OP_CONST};
    lexer_skip(c);
    size_t at = c->at, length = lexer_word(c);
    if (!lexer_constant(c->bytes + at, length, 10, &op.value))
        return operand_number(c, "E-LOOP");
    c->at += length;
    return emit(c, op, at);
}

bool statement_loop(struct compiler *c)
{
    size_t at = c->at;
    c->at += strlen("LOOP");
    c->touch = NOWHERE;
    if (!loop_count(c))
        return false;
    uint32_t loop = emit_here(c);
    if (!emit(c, (struct template_op){.code = OP_LOOP}, at) ||
        !compile_body(c, "E-LOOP", "write LOOP COUNT { what is repeated }") ||
        !emit(c, (struct template_op){.code = OP_AGAIN, .arg = loop + 1}, at))
        return false;
    emit_target(c, loop);
    c->touch = NOWHERE;
    return true;
}

// ---- BITFLAGS ----

// A number of BITFLAGS: hexadecimal; 0x hexadecimal; o octal.
static bool flag_number(struct compiler *c, uint64_t *value)
{
    lexer_skip(c);
    size_t at = c->at, length = lexer_word(c);
    unsigned base = c->templates->dialect & EXTRACT_DIALECT_OCTAL_FLAGS ? 8 : 16;
    const char *word = c->bytes + at;
    if (word[0] == 'o' ? !lexer_number(word + 1, length - 1, 8, value)
                       : !lexer_constant(word, length, base, value))
        return compile_fault(c, at, "E-FLAGVAL",
                             "write a hexadecimal number, or an octal one as in o17",
                             "\"%s\" is no value of a flag", lexer_show(c, at, length));
    c->at += length;
    return true;
}

static bool flag_test(struct compiler *c, struct template_op *test)
{
    size_t at = c->at;
    if (!lexer_take(c, '&')) {
        if (!flag_number(c, &test->value))
            return false;
        test->other = test->value;
        if (test->value == 0)
            test->value = UINT64_MAX;
        return true;
    }
    if (!flag_number(c, &test->value) || !flag_number(c, &test->other))
        return false;
    return !(test->other & ~test->value) ||
           compile_warn(c, at, "W-NEVER", "look at the mask and the base",
                        "the field has bits outside of its mask and never matches");
}

// The texts of a flag: *with, and *without where *has is true.
static bool flag_texts(struct compiler *c, struct template_op *with, struct template_op *without,
                       bool *has)
{
    lexer_skip(c);
    if (!item_is_text(c))
        return compile_fault(c, c->at, "E-BITFLAGS", "write a string or a word behind the value",
                             "the text of the flag is missing");
    if (!item_text(c, with))
        return false;
    *has = lexer_peek(c) == '"';
    if (*has && !item_text(c, without))
        return false;
    if (*has && with->value == 1 && without->value == 1) {
        with->flags |= OP_OPEN;
        without->flags |= OP_OPEN;
    }
    return true;
}

static bool flag_print(struct compiler *c, const struct template_op *text, size_t at)
{
    return !text->value || emit(c, *text, at);
}

static bool flag(struct compiler *c)
{
    struct template_op test = {.code = OP_FLAG}, with, without;
    bool has = false;
    size_t at = c->at;
    if (!flag_test(c, &test) || !flag_texts(c, &with, &without, &has))
        return false;
    uint32_t unless = emit_here(c);
    if (!emit(c, test, at) || !flag_print(c, &with, at))
        return false;
    if (!has || !without.value) {
        emit_target(c, unless);
        return true;
    }
    uint32_t past = emit_here(c);
    if (!emit(c, (struct template_op){.code = OP_JUMP}, at))
        return false;
    emit_target(c, unless);
    if (!flag_print(c, &without, at))
        return false;
    emit_target(c, past);
    return true;
}

// Whether the list goes on: behind a comma it must, else where a value begins with a digit.
static bool flag_follows(struct compiler *c)
{
    char next = lexer_peek(c), after = next ? c->bytes[c->at + 1] : 0;
    if (next == ',') {
        c->at++;
        lexer_skip(c);
        return true;
    }
    return next == '&' || (next >= '0' && next <= '9') ||
           (next == 'o' && after >= '0' && after <= '9');
}

bool statement_flags(struct compiler *c)
{
    c->at += strlen("BITFLAGS");
    if (!operand_number(c, "E-BITFLAGS"))
        return false;
    if (lexer_peek(c) != ',')
        return compile_fault(c, c->at, "E-BITFLAGS", "write BITFLAGS OPERAND, VALUE \"text\"",
                             "a comma is missing behind the operand");
    while (flag_follows(c)) {
        char next = lexer_peek(c);
        if (!next || next == '}')
            return compile_fault(c, c->at, "E-BITFLAGS", "take the comma away, or add a flag",
                                 "a flag is missing behind the comma");
        if (!flag(c))
            return false;
    }
    c->touch = NOWHERE;
    return emit(c, (struct template_op){.code = OP_DROP}, c->at);
}

// ---- timers: read, and not run, as no public document says what they print ----

static bool timer_argument(struct compiler *c, char end)
{
    size_t from = c->at;
    lexer_skip(c);
    size_t length = strcspn(c->bytes + c->at, ",()\"`{}");
    if (!length)
        return false;
    for (c->at += length; c->at > from && lexer_blank(c->bytes[c->at - 1]);)
        c->at--;
    return lexer_take(c, end);
}

bool statement_timer(struct compiler *c)
{
    size_t at = c->at;
    c->at = at + (strchr("sS", c->bytes[at]) ? strlen("starttimer") : strlen("endtimer"));
    if (lexer_take(c, '(') && timer_argument(c, ',') && timer_argument(c, ')'))
        return true;
    return compile_fault(c, at, "E-TIMER", "write starttimer(a, b) or endtimer(a, b)",
                         "the timer has not two arguments");
}
