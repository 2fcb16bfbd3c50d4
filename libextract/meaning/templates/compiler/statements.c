// SPDX-License-Identifier: MIT
// templates: compiles switches, LOOP, BITFLAGS and timers to operations that compare and jump.
//
// A switch compares its operand, which stays on the stack, with the value of each case:
//
//   operand, v1 body1, v2 body2, \* rest
//
//       push operand
//       UNLESS v1 ──┐  body1  JUMP ──┐
//       ┌───────────┘                │
//       UNLESS v2 ──┐  body2  JUMP ──┤
//       ┌───────────┘                │
//       DROP           rest          │
//       ┌────────────────────────────┘
//       next item
#include "templates/compiler/compile.h"
#include <ctype.h>
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
        return compile_fault(c, at, no_operand, "use X D U o B of at most 8 bytes, A, S, HB or HT",
                             "code cannot be an operand");
    operand->base = code_base(code);
    operand->is_fixed = op.kind == KIND_LENGTH || op.kind == KIND_TYPE;
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

// Returns whether a macro has one value throughout an event.
static bool is_fixed_macro(const struct macro *macro)
{
    if (macro->sort != MACRO_SYSTEM)
        return false;
    switch (macro->arg) {
    case SYSTEM_DATAPOINTER:
    case SYSTEM_BASEPOINTER:
    case SYSTEM_RELLINENO:
    case SYSTEM_LOGIDX:
        return false;
    default:
        return true;
    }
}

bool operand_macro(struct compiler *c, const struct macro *macro, struct operand *operand)
{
    bool text = macro->sort == MACRO_SYSTEM && macro->arg >= SYSTEM_TEXTS && !macro->formatted;

    operand->base = text ? 0 : macro->base;
    operand->is_fixed = is_fixed_macro(macro);
    operand->show = macro->format;
    if (text)
        operand->show = (struct template_op){.code = OP_SHOW_SYSTEM, .arg = macro->arg};
    if (macro->at == c->touch)
        operand->show.flags |= OP_ABUTS;
    if (!text)
        return macro_push(c, macro, no_operand);
    return emit(c, (struct template_op){.code = OP_SYSTEM_TEXT, .arg = macro->arg}, macro->at);
}

// Compiles the number that LOOP or BITFLAGS works on. `name` is the error if there is none.
static bool operand_number(struct compiler *c, const char *name, struct operand *operand)
{
    struct template_op op;
    struct macro macro;
    bool good;
    char first = lexer_peek(c);
    size_t at = c->at, length = lexer_word(c);

    *operand = (struct operand){0};
    c->touch = NOWHERE;
    if (first == '$') {
        good = macro_read(c, &macro) && operand_macro(c, &macro, operand);
    } else {
        enum code_word sort = code_parse(c->bytes + at, length, &op);
        if (sort == CODE_NONE)
            return compile_fault(c, at, name, "use a code or a $macro", "operand is missing");
        if (sort == CODE_OUT_OF_RANGE)
            return code_fault(c, at, length);
        c->at += length;
        good = operand_code(c, at, &op, operand);
    }
    if (good && operand->base == 0)
        return compile_fault(c, at, no_operand, "use a code or $macro that is a number",
                             "operand is a text");
    return good;
}

// ---- switch ----

// The cases of a switch that were read so far.
struct cases {
    const struct operand *operand;
    uint32_t ends;     // jumps to the end: a list, each with the one before it as its arg
    bool has_wildcard; // a case \* was read; cases after it are never reached
    bool has_warned;   // such a case was reported
    char value, body;  // first bytes of the value and of the body of the last case
};

// Parses a word as a value of the operand's base.
static bool parse_value(const char *word, size_t length, unsigned base, uint64_t *value)
{
    if (base != 10 || !length || word[0] != '-')
        return lexer_constant(word, length, base, value);
    if (!lexer_number(word + 1, length - 1, base, value))
        return false;
    *value = 0 - *value;
    return true;
}

// Reads a value of the operand's base, which the operand is compared with.
static bool read_match_number(struct compiler *c, unsigned base, uint64_t *value)
{
    static const char *const hints[] = {
        [2] = "use digits 0 and 1 for a value of B",
        [8] = "use digits 0 to 7 for a value of o",
        [10] = "use a decimal or 0x-prefixed value for D, U and HB",
        [16] = "use a hexadecimal value for X, HT and macros without a format"};
    size_t at = c->at, length = lexer_word(c);
    const char *word = c->bytes + at;

    if (!parse_value(word, length, base, value)) {
        if (!length)
            length = strcspn(word, " \t\n{");
        return compile_fault(c, at, "E-MATCH", hints[base], "\"%s\" is not a value to be matched",
                             lexer_show(c, at, length));
    }
    c->at += length;
    return true;
}

// Compiles the test of a case, which jumps if the operand has another value.
static bool compile_case_test(struct compiler *c, const struct operand *operand)
{
    size_t at = c->at;
    struct template_op op = {.code = OP_UNLESS}, text;

    if (operand->base)
        return read_match_number(c, operand->base, &op.value) && emit(c, op, at);
    if (c->bytes[at] != '"' && !lexer_word(c))
        return compile_fault(c, at, "E-MATCH", "use a string or a word",
                             "value to be matched is missing");
    if (!item_text(c, &text))
        return false;
    op.code = OP_UNLESS_TEXT;
    op.other = text.arg;
    op.value = text.value;
    return emit(c, op, at);
}

static bool compile_case_body(struct compiler *c)
{
    static const char hint[] = "use a string, a word, or items in braces";
    char first = lexer_peek(c);

    if (first == '{' || first == '`')
        return compile_body(c, "E-CASE", hint);
    if (!item_is_text(c))
        return compile_fault(c, c->at, "E-CASE", hint, "body of the case is missing");
    return item_text_print(c);
}

// Compiles one case, after its comma.
static bool compile_case(struct compiler *c, struct cases *cases)
{
    const struct operand *operand = cases->operand;
    size_t at = c->at;
    uint32_t unless = emit_here(c);
    bool any = c->bytes[at] == '\\' && c->bytes[at + 1] == '*';

    if (cases->has_wildcard && !cases->has_warned) {
        cases->has_warned = true;
        if (!compile_warn(c, at, "W-WILD", "put \\* last", "case after \\* is never reached"))
            return false;
    }
    cases->value = c->bytes[at];
    if (any) {
        c->at += 2;
        if (operand->base && !emit(c, (struct template_op){.code = OP_DROP}, at))
            return false;
    } else if (!compile_case_test(c, operand)) {
        return false;
    }
    lexer_skip(c);
    cases->body = c->bytes[c->at];
    c->touch = operand->show.flags & OP_ABUTS ? c->at : NOWHERE;
    c->choices += !operand->is_fixed;
    bool good = compile_case_body(c);
    c->choices -= !operand->is_fixed;
    if (!good)
        return false;
    if (!any || item_is_switch(c)) {
        struct template_op jump = {.code = OP_JUMP, .arg = cases->ends};
        cases->ends = emit_here(c);
        if (!emit(c, jump, c->at))
            return false;
    }
    if (!any)
        emit_target(c, unless);
    cases->has_wildcard |= any;
    return true;
}

// Returns whether a word after the last case looks like the value of another case. Words such as
// "add" are hexadecimal numbers as well, so letters count only after a case whose value begins with
// one.
static bool is_like_value(const struct compiler *c, const struct cases *cases, size_t length)
{
    const char *word = c->bytes + c->at;
    unsigned base = cases->operand->base;
    uint64_t value;
    bool has_digit = isdigit((unsigned char)word[0]) || word[0] == '-';

    if (!base)
        return isdigit((unsigned char)cases->value) && lexer_number(word, length, 10, &value);
    return (has_digit || isalpha((unsigned char)cases->value)) &&
           parse_value(word, length, base, &value);
}

// Returns whether what is here could be the body of another case. A word and {{ }} count only if
// the last case has a body of that kind.
static bool is_like_body(const struct compiler *c, const struct cases *cases)
{
    char first = c->bytes[c->at];

    if (first == '"' || first == '`')
        return true;
    if (first == '{')
        return c->bytes[c->at + 1] != '{' || cases->body == '{';
    return item_is_text(c) && !strchr("\"`{", cases->body);
}

// Warns if a comma seems to be missing after the last case: 0 "closed", 1 "open" 2 "locked".
static bool warn_of_comma(struct compiler *c, const struct cases *cases)
{
    lexer_skip(c);
    size_t at = c->at, length = lexer_word(c);
    bool is_case = length > 0 && is_like_value(c, cases, length);
    c->at += length;
    is_case = is_case && lexer_blank(c->bytes[c->at]);
    lexer_skip(c);
    is_case = is_case && is_like_body(c, cases);
    c->at = at;
    return !is_case ||
           compile_warn(c, at, "W-COMMA",
                        "put a comma before it, or quote it together with what follows",
                        "\"%s\" is printed as text, not read as a case", lexer_show(c, at, length));
}

bool statement_switch(struct compiler *c, const struct operand *operand)
{
    struct cases cases = {.operand = operand, .ends = UINT32_MAX};

    while (lexer_take(c, ',')) {
        char next = lexer_peek(c);
        if (!next || next == '}')
            return compile_fault(c, c->at, "E-CASE", "remove the comma, or add a case",
                                 "case is missing after the comma");
        if (!compile_case(c, &cases))
            return false;
    }
    bool shows_unmatched = c->templates->dialect & EXTRACT_DIALECT_SHOW_UNMATCHED;
    struct template_op unmatched = {.code = OP_DROP};
    if (shows_unmatched)
        unmatched = operand->show;
    if (!cases.has_wildcard && (shows_unmatched || operand->base) && !emit(c, unmatched, c->at))
        return false;
    while (cases.ends != UINT32_MAX) {
        uint32_t before = c->templates->ops[cases.ends].arg;
        emit_target(c, cases.ends);
        cases.ends = before;
    }
    c->touch = NOWHERE;
    return warn_of_comma(c, &cases);
}

// ---- LOOP ----

bool statement_loop(struct compiler *c)
{
    struct template_op count = {.code = OP_CONST};
    struct operand operand = {.is_fixed = true};
    size_t at = c->at;

    c->at += strlen("LOOP");
    c->touch = NOWHERE;
    lexer_skip(c);
    size_t count_at = c->at, length = lexer_word(c);
    if (lexer_constant(c->bytes + count_at, length, 10, &count.value)) {
        c->at += length;
        if (!emit(c, count, count_at))
            return false;
    } else if (!operand_number(c, "E-LOOP", &operand)) {
        return false;
    }
    uint32_t loop = emit_here(c);
    if (!emit(c, (struct template_op){.code = OP_LOOP}, at))
        return false;
    c->choices += !operand.is_fixed;
    bool good = compile_body(c, "E-LOOP", "use LOOP COUNT { items }");
    c->choices -= !operand.is_fixed;
    if (!good || !emit(c, (struct template_op){.code = OP_AGAIN, .arg = loop + 1}, at))
        return false;
    emit_target(c, loop);
    c->touch = NOWHERE;
    return true;
}

// ---- BITFLAGS ----

// Reads a number of BITFLAGS: octal after o, hexadecimal after 0x, otherwise octal if the operand
// is octal (%o), and hexadecimal if it is not. IBM's example with %o has the octal value 00400 and
// the value 080, which is not octal: such a number is hexadecimal.
static bool read_flag_number(struct compiler *c, const struct operand *operand, uint64_t *value)
{
    lexer_skip(c);
    size_t at = c->at, length = lexer_word(c);
    bool all_octal = c->templates->dialect & EXTRACT_DIALECT_OCTAL_FLAGS;
    unsigned base = all_octal || operand->base == 8 ? 8 : 16;
    const char *word = c->bytes + at;
    bool good = word[0] == 'o' ? lexer_number(word + 1, length - 1, 8, value)
                               : lexer_constant(word, length, base, value);
    if (!good && base == 8 && !all_octal && lexer_number(word, length, 16, value)) {
        good = true;
        if (!compile_warn(c, at, "W-OCTAL", "write 0x before it if this is meant",
                          "\"%s\" is not octal, as the operand is: read as hexadecimal",
                          lexer_show(c, at, length)))
            return false;
    }
    if (!good)
        return compile_fault(c, at, "E-FLAGVAL",
                             "use a hexadecimal number, or an octal one as in o17",
                             "\"%s\" is not the value of a flag", lexer_show(c, at, length));
    c->at += length;
    return true;
}

// Returns the length of the & that begins a masked field; the AIX documents quote it. 0 if none.
static size_t mask_sign_length(const struct compiler *c)
{
    static const char quoted[] = "'&'";

    if (c->bytes[c->at] == '&')
        return 1;
    return strncmp(c->bytes + c->at, quoted, strlen(quoted)) ? 0 : strlen(quoted);
}

static bool read_flag_test(struct compiler *c, const struct operand *operand,
                           struct template_op *test)
{
    size_t at = c->at, sign = mask_sign_length(c);

    c->at += sign;
    if (!sign) {
        if (!read_flag_number(c, operand, &test->value))
            return false;
        test->other = test->value;
        if (test->value == 0)
            test->value = UINT64_MAX;
        return true;
    }
    if (!read_flag_number(c, operand, &test->value) || !read_flag_number(c, operand, &test->other))
        return false;
    return !(test->other & ~test->value) ||
           compile_warn(c, at, "W-NEVER", "check the mask and the base",
                        "field has bits outside of its mask and never matches");
}

// Reads the texts of a flag: *with, and, if *has is set, *without.
static bool read_flag_texts(struct compiler *c, struct template_op *with,
                            struct template_op *without, bool *has)
{
    lexer_skip(c);
    if (!item_is_text(c))
        return compile_fault(c, c->at, "E-BITFLAGS", "use a string or a word after the value",
                             "text of the flag is missing");
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

static bool emit_flag_text(struct compiler *c, const struct template_op *text, size_t at)
{
    return !text->value || emit(c, *text, at);
}

static bool compile_flag(struct compiler *c, const struct operand *operand)
{
    struct template_op test = {.code = OP_FLAG}, with, without;
    bool has = false;
    size_t at = c->at;

    if (!read_flag_test(c, operand, &test) || !read_flag_texts(c, &with, &without, &has))
        return false;
    uint32_t unless = emit_here(c);
    if (!emit(c, test, at) || !emit_flag_text(c, &with, at))
        return false;
    if (!has || !without.value) {
        emit_target(c, unless);
        return true;
    }
    uint32_t past = emit_here(c);
    if (!emit(c, (struct template_op){.code = OP_JUMP}, at))
        return false;
    emit_target(c, unless);
    if (!emit_flag_text(c, &without, at))
        return false;
    emit_target(c, past);
    return true;
}

// Returns whether another flag follows: always after a comma, otherwise if a value begins with a
// digit.
static bool find_next_flag(struct compiler *c)
{
    char next = lexer_peek(c), after = next ? c->bytes[c->at + 1] : 0;

    if (next == ',') {
        c->at++;
        lexer_skip(c);
        return true;
    }
    return mask_sign_length(c) || (next >= '0' && next <= '9') ||
           (next == 'o' && after >= '0' && after <= '9');
}

bool statement_flags(struct compiler *c)
{
    struct operand operand;

    c->at += strlen("BITFLAGS");
    if (!operand_number(c, "E-BITFLAGS", &operand))
        return false;
    if (lexer_peek(c) != ',')
        return compile_fault(c, c->at, "E-BITFLAGS", "use BITFLAGS OPERAND, VALUE \"text\"",
                             "comma is missing after the operand");
    while (find_next_flag(c)) {
        char next = lexer_peek(c);
        if (!next || next == '}')
            return compile_fault(c, c->at, "E-BITFLAGS", "remove the comma, or add a flag",
                                 "flag is missing after the comma");
        if (!compile_flag(c, &operand))
            return false;
    }
    c->touch = NOWHERE;
    return emit(c, (struct template_op){.code = OP_DROP}, c->at);
}

// ---- timers: read, but not executed, since no public document defines what they print ----

static bool skip_timer_argument(struct compiler *c, char end)
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
    if (lexer_take(c, '(') && skip_timer_argument(c, ',') && skip_timer_argument(c, ')'))
        return true;
    return compile_fault(c, at, "E-TIMER", "use starttimer(a, b) or endtimer(a, b)",
                         "timer does not have two arguments");
}
