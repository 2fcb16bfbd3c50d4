// SPDX-License-Identifier: MIT
// templates: compiles items: the elements of a logical line, or of braces in it, each of which
// prints something.
#include "templates/compiler/compile.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

bool item_is_switch(const struct compiler *c)
{
    size_t at = c->at;

    while (lexer_blank(c->bytes[at]))
        at++;
    return c->bytes[at] == ',';
}

// ---- text ----

// Emits the bytes of a word that is text. Warns if it ends in what looks like a code, as in
// "pid=D4".
static bool emit_word(struct compiler *c, size_t length)
{
    struct template_op op;
    const char *word = c->bytes + c->at;
    size_t tail = length;

    while (tail > 0 && word[tail - 1] != '=' && word[tail - 1] != ':')
        tail--;
    if (code_parse(word + tail, length - tail, &op) == CODE_GOOD &&
        !compile_warn(c, c->at, "W-TEXTCODE", "put blanks around a code, or quote what is text",
                      "\"%s\" is text, not a code", lexer_show(c, c->at, length)))
        return false;
    if (!emit_bytes(c, c->at, length))
        return false;
    c->at += length;
    return true;
}

static bool emit_string(struct compiler *c)
{
    size_t open = c->at++;

    for (char byte; (byte = c->bytes[c->at]) != '"'; c->at++) {
        if (!byte)
            return compile_fault(c, open, "E-STRING", "add a quote, or use \\\" within the string",
                                 "string is not closed");
        if (byte == '\\' && c->bytes[c->at + 1] == '"')
            byte = c->bytes[++c->at];
        if (byte != '\n' && !emit_byte(c, byte))
            return false;
    }
    c->at++;
    return true;
}

bool item_is_text(const struct compiler *c)
{
    struct template_op op;
    const char *word = c->bytes + c->at;
    size_t length = lexer_word(c);

    if (!length)
        return *word == '"';
    return word[length] != '$' && code_parse(word, length, &op) == CODE_NONE;
}

bool item_text(struct compiler *c, struct template_op *op)
{
    uint32_t begin = c->templates->string_bytes;

    if (!(c->bytes[c->at] == '"' ? emit_string(c) : emit_word(c, lexer_word(c))))
        return false;
    *op = emit_text(c, begin);
    return true;
}

// Notes an item from `at` to here that prints nothing. Items on both sides of it abut.
static void note_silent_item(struct compiler *c, size_t at)
{
    if (at == c->touch)
        c->touch = c->at;
}

bool item_is_level(const struct compiler *c)
{
    size_t at = c->at;

    if (c->bytes[at] != 'L' && c->bytes[at] != 'l')
        return false;
    at += 1 + strspn(c->bytes + at + 1, " \t");
    if (c->bytes[at] != '=')
        return false;
    at += 1 + strspn(c->bytes + at + 1, " \t");
    size_t length = lexer_word_at(c, at);
    for (unsigned level = 0; level < EXTRACT_CLASSES; level++) {
        const char *name = extract_class_name((enum extract_class)level);
        if (length == strlen(name) && !strncasecmp(c->bytes + at, name, length))
            return true;
    }
    return false;
}

bool item_warn_level(struct compiler *c, size_t at)
{
    return compile_warn(c, at, "W-LEVEL", "put it after the version: 010 1.0 L=APPL \"label\"",
                        "level is printed as text");
}

// Returns whether the word at `at` begins a comment that was indented between continued lines: a
// line with "#" and then only words, none of which is a code.
static bool is_stray_comment(const struct compiler *c, size_t at)
{
    struct template_op op;
    size_t before = at, end = at + strcspn(c->bytes + at, "\n");

    while (before > 0 && (c->bytes[before - 1] == ' ' || c->bytes[before - 1] == '\t'))
        before--;
    if (c->bytes[at] != '#' || before == 0 || c->bytes[before - 1] != '\n')
        return false;
    at += strspn(c->bytes + at, "# \t");
    if (!isalpha((unsigned char)c->bytes[at]))
        return false;
    while (at < end) {
        size_t length = lexer_word_at(c, at);
        if (!length || code_parse(c->bytes + at, length, &op) != CODE_NONE)
            return false;
        at += length;
        at += strspn(c->bytes + at, " \t");
    }
    return true;
}

bool item_text_print(struct compiler *c)
{
    struct template_op op;
    size_t at = c->at;

    if (item_is_level(c) && !item_warn_level(c, at))
        return false;
    if (is_stray_comment(c, at) &&
        !compile_warn(c, at, "W-COMMENT", "put the # in column 1 between continued lines",
                      "comment is printed as text"))
        return false;
    if (!item_text(c, &op))
        return false;
    if (op.value)
        return emit_item(c, op, at);
    note_silent_item(c, at);
    return true;
}

// Appends the \n or \t that begins at `at` and ends here.
static bool emit_escape(struct compiler *c, size_t at)
{
    uint8_t code = c->bytes[at + 1] == 'n' ? OP_NEWLINE : OP_TAB;

    return emit_item(c, (struct template_op){.code = code, .flags = OP_OPEN}, at);
}

// ---- back-quoted text: everything in it touches what is before it ----

struct quoted {
    size_t open;
    bool joined;    // the next thing that is printed touches something
    uint32_t begin; // start of the literal text so far, in the strings
    size_t at;      // start of the literal text so far, in the line
};

static void join_quoted(struct compiler *c, struct quoted *q, size_t at)
{
    c->touch = q->joined ? at : NOWHERE;
    q->joined = true;
}

static bool flush_quoted(struct compiler *c, struct quoted *q)
{
    if (c->templates->string_bytes == q->begin)
        return true;
    join_quoted(c, q, q->at);
    bool good = emit_item(c, emit_text(c, q->begin), q->at);
    q->begin = c->templates->string_bytes;
    return good;
}

static bool append_quoted_byte(struct compiler *c, struct quoted *q, size_t at)
{
    if (c->templates->string_bytes == q->begin)
        q->at = at;
    c->at = at + 1;
    return c->bytes[at] == '\n' || emit_byte(c, c->bytes[at]);
}

static bool compile_quoted_escape(struct compiler *c, struct quoted *q)
{
    size_t at = c->at;
    char what = c->bytes[at + 1];

    if (what == '"' || what == '`')
        return append_quoted_byte(c, q, at + 1);
    if (what != 'n' && what != 't')
        return compile_fault(c, at, "E-ESCAPE", "use \\n, \\t, \\\" or \\`", "unknown escape");
    if (!flush_quoted(c, q))
        return false;
    c->at = at + 2;
    join_quoted(c, q, at);
    return emit_escape(c, at);
}

static bool compile_quoted_macro(struct compiler *c, struct quoted *q)
{
    struct macro macro;

    if (!flush_quoted(c, q) || !macro_read(c, &macro))
        return false;
    join_quoted(c, q, macro.at);
    return macro_item(c, &macro);
}

static bool compile_quoted_word(struct compiler *c, struct quoted *q, size_t length)
{
    struct template_op op;
    bool glued = c->at == c->macro_end || c->bytes[c->at + length] == '$';
    enum code_word sort = glued ? CODE_NONE : code_parse(c->bytes + c->at, length, &op);

    if (sort == CODE_OUT_OF_RANGE)
        return code_fault(c, c->at, length);
    if (sort == CODE_GOOD) {
        size_t at = c->at;
        if (!flush_quoted(c, q))
            return false;
        c->at += length;
        if (op.code != OP_PUT && op.code != OP_BLANKS)
            return emit(c, op, at);
        join_quoted(c, q, at);
        return emit_item(c, op, at);
    }
    for (; length > 0; length--)
        if (!append_quoted_byte(c, q, c->at))
            return false;
    return true;
}

static bool compile_quoted(struct compiler *c)
{
    struct quoted q = {c->at, c->at == c->touch, c->templates->string_bytes, c->at};

    c->at++;
    for (bool good; c->bytes[c->at] != '`';) {
        size_t length = lexer_word(c);
        if (!c->bytes[c->at])
            return compile_fault(c, q.open, "E-STRING", "add a back quote",
                                 "back-quoted string is not closed");
        if (length)
            good = compile_quoted_word(c, &q, length);
        else if (c->bytes[c->at] == '$')
            good = compile_quoted_macro(c, &q);
        else if (c->bytes[c->at] == '\\')
            good = compile_quoted_escape(c, &q);
        else
            good = append_quoted_byte(c, &q, c->at);
        if (!good)
            return false;
    }
    if (!flush_quoted(c, &q))
        return false;
    c->at++;
    if (q.joined)
        c->touch = c->at;
    return true;
}

// ---- other items ----

static bool compile_macro_item(struct compiler *c)
{
    struct macro macro;
    struct operand operand;

    if (!macro_read(c, &macro))
        return false;
    if (item_is_switch(c))
        return operand_macro(c, &macro, &operand) && statement_switch(c, &operand);
    return macro_item(c, &macro);
}

static bool compile_escape(struct compiler *c)
{
    size_t at = c->at;
    char what = c->bytes[at + 1];

    if (what == '*')
        return compile_fault(c, at, "E-WILD", "quote the text", "wildcard \\* outside of a switch");
    if (lexer_blank(what) || !what)
        return compile_fault(c, at, "E-CONT", "end the line with the backslash",
                             "text after the backslash");
    if (what != 'n' && what != 't')
        return compile_fault(c, at, "E-ESCAPE", "use \\n or \\t, or quote the text",
                             "unknown escape");
    c->at += 2;
    return emit_escape(c, at);
}

static bool is_timer(const struct compiler *c, size_t length)
{
    static const char *const names[] = {"starttimer", "endtimer"};
    const char *word = c->bytes + c->at;

    for (unsigned i = 0; i < 2; i++) {
        size_t name = strlen(names[i]);
        if (length >= name && !strncasecmp(word, names[i], name) &&
            (length == name || word[name] == '('))
            return true;
    }
    return false;
}

static bool compile_word(struct compiler *c)
{
    struct template_op op;
    struct operand operand;
    size_t at = c->at, length = lexer_word(c);

    if (is_timer(c, length))
        return statement_timer(c);
    if (at == c->macro_end || c->bytes[at + length] == '$')
        return item_text_print(c);
    if (lexer_is(c, at, length, "LOOP"))
        return statement_loop(c);
    if (lexer_is(c, at, length, "BITFLAGS"))
        return statement_flags(c);
    if (lexer_is(c, at, length, "ENDTEXT"))
        return compile_fault(c, at, "E-MACRO", "remove it: no public document defines it",
                             "not implemented: ENDTEXT");
    switch (code_parse(c->bytes + at, length, &op)) {
    case CODE_GOOD:
        c->at += length;
        if (item_is_switch(c))
            return operand_code(c, at, &op, &operand) && statement_switch(c, &operand);
        return op.code == OP_PUT || op.code == OP_BLANKS ? emit_item(c, op, at) : emit(c, op, at);
    case CODE_OUT_OF_RANGE:
        return code_fault(c, at, length);
    default:
        return item_text_print(c);
    }
}

static bool compile_item(struct compiler *c)
{
    size_t at = c->at;

    switch (c->bytes[at]) {
    case '"':
        return item_text_print(c);
    case '`':
        return compile_quoted(c);
    case '$':
        return compile_macro_item(c);
    case '\\':
        return compile_escape(c);
    case '{':
        if (c->bytes[at + 1] != '{')
            return compile_fault(c, at, "E-BRACE", "use braces after LOOP or a value of a switch",
                                 "{ belongs to nothing");
        bool good = compile_expression(c);
        note_silent_item(c, at);
        return good;
    case '}':
        return compile_fault(c, at, "E-BRACE", "remove it", "} closes nothing");
    case ',':
        return compile_fault(c, at, "E-COMMA", "quote the text",
                             "comma follows nothing that can be compared");
    default:
        return compile_word(c);
    }
}

bool compile_items(struct compiler *c, size_t open)
{
    for (;;) {
        char next = lexer_peek(c);
        if (next == '}' && open != NOWHERE) {
            c->at++;
            return true;
        }
        if (!next && open != NOWHERE)
            return compile_fault(c, open, "E-BRACE", "add a }", "brace is not closed");
        if (!next)
            return true;
        if (!compile_item(c))
            return false;
    }
}

bool compile_body(struct compiler *c, const char *name, const char *hint)
{
    char first = lexer_peek(c);
    size_t open = c->at;

    if (first == '`')
        return compile_quoted(c);
    if (first != '{')
        return compile_fault(c, open, name, hint, "{ is missing");
    if (c->bytes[open + 1] == '{' && c->bytes[open + 2] != '{')
        return compile_expression(c);
    if (c->depth == TEMPLATE_NESTING)
        return compile_fault(c, open, "E-BRACE", "move a part of it to a template and call that",
                             "braces are nested too deeply");
    c->depth++;
    c->at++;
    bool good = compile_items(c, open);
    c->depth--;
    return good;
}
