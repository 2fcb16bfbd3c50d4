// SPDX-License-Identifier: MIT
// templates: compiles one text, a template per logical line. A template with an error leaves
// no trace: its operations and strings are removed again.
#include "templates/compiler/compile.h"
#include <stdlib.h>
#include <string.h>

// Skips blanks. Returns the number of bytes up to the next blank.
static size_t measure_field(struct compiler *c)
{
    lexer_skip(c);
    return strcspn(c->bytes + c->at, " \t\n");
}

static bool parse_id(struct compiler *c, struct extract_template *t)
{
    uint64_t id;
    size_t at = c->at, length = measure_field(c);

    if (c->bytes[at] == '+' || c->bytes[at] == '-')
        return compile_fault(c, at, "E-HOOKID", "remove the sign: + and - are for update files",
                             "\"%s\" is not a hook id", lexer_show(c, at, length));
    if (length < 3 || length > 4 || !lexer_number(c->bytes + at, length, 16, &id))
        return compile_fault(c, at, "E-HOOKID", "use three or four hexadecimal digits",
                             "\"%s\" is not a hook id", lexer_show(c, at, length));
    if (length == 4 && id < 0x1000 && id % 16 != 0)
        return compile_fault(c, at, "E-HOOKID", "use three digits below 1000, or end it in 0",
                             "\"%s\" is not a hook id", lexer_show(c, at, length));
    t->hook = (uint16_t)(length == 3 ? id << 4 : id);
    for (size_t i = 0; i < length; i++) {
        char digit = c->bytes[at + i];
        t->id[i] = (char)(digit >= 'a' ? digit - 'a' + 'A' : digit);
    }
    c->at += length;
    if (lexer_peek(c))
        return true;
    return compile_fault(c, c->at, "E-HEADER", "use ID VERSION.RELEASE L=LEVEL \"LABEL\"",
                         "header has only an id");
}

static bool parse_version(struct compiler *c, struct extract_template *t)
{
    size_t length = measure_field(c), at = c->at, point = strcspn(c->bytes + at, ". \t\n");
    uint64_t version, release;

    if (point >= length || !lexer_number(c->bytes + at, point, 10, &version) ||
        !lexer_number(c->bytes + at + point + 1, length - point - 1, 10, &release) ||
        version > UINT32_MAX || release > UINT32_MAX)
        return compile_fault(c, at, "E-VERSION", "use VERSION.RELEASE, as in 1.0",
                             "\"%s\" is not a version", lexer_show(c, at, length));
    t->version = (unsigned)version;
    t->release = (unsigned)release;
    c->at += length;
    return true;
}

static bool parse_level(struct compiler *c, struct extract_template *t)
{
    t->level = EXTRACT_KERN;
    t->level_given = lexer_peek(c) == 'L' && c->bytes[c->at + 1] == '=';
    if (!t->level_given)
        return true;
    size_t length = measure_field(c), at = c->at;
    unsigned level = 0;
    while (level < EXTRACT_CLASSES &&
           !lexer_is(c, at + 2, length - 2, extract_class_name((enum extract_class)level)))
        level++;
    if (level == EXTRACT_CLASSES)
        return compile_fault(c, at, "E-LEVEL", "use APPL, SVC, KERN or INT", "unknown level \"%s\"",
                             lexer_show(c, at, length));
    t->level = (enum extract_class)level;
    c->at += length;
    return true;
}

static bool parse_label(struct compiler *c, struct extract_template *t)
{
    struct template_op op;
    char first = lexer_peek(c);
    size_t at = c->at;

    if (first != '"' && !lexer_word(c))
        return compile_fault(c, at, "E-LABEL", "use a string or a word; \"\" for none",
                             "label is missing");
    if (item_is_level(c) && !item_warn_level(c, at))
        return false;
    if (!item_text(c, &op))
        return false;
    const char *label = op.value ? c->templates->strings + op.arg : "";
    t->muted = label[0] == '@';
    t->label = template_store_copy(c->templates, label + t->muted, op.value - t->muted);
    if (!t->label)
        c->failed = EXTRACT_NOMEM;
    if (t->muted || !op.value)
        return t->label;
    return t->label && emit_item(c, op, at);
}

// Returns where the index + 1 of a template is stored by the digits of its id.
static uint32_t *by_digits(const struct extract_templates *all, const struct extract_template *t)
{
    return t->id[3] && t->hook >= 0x1000 ? &all->by_digits[1][t->hook]
                                         : &all->by_digits[0][t->hook >> 4];
}

bool template_is_muted(const struct extract_templates *all, const struct extract_template *t)
{
    return all->dialect & EXTRACT_DIALECT_MUTE_SUBROUTINES && t->label[0] && !t->muted;
}

static bool append_template(struct compiler *c, const struct extract_template *t)
{
    struct extract_templates *all = c->templates;

    if (!template_grow((void **)&all->list, &all->capacity, all->count, sizeof *all->list)) {
        c->failed = EXTRACT_NOMEM;
        return false;
    }
    all->list[all->count++] = *t;
    return true;
}

static bool is_older(const struct extract_template *t, const struct extract_template *than)
{
    return t->version != than->version ? t->version < than->version : t->release < than->release;
}

// Puts a template into force. Of two templates with the same id in one file, the newer version is
// used; of equal ones, the later. Another spelling of the id, or a file that was added earlier, may
// keep the hook id. Returns false if the template is not wanted, or if memory ran out.
static bool enter_template(struct compiler *c, const struct extract_template *t)
{
    struct extract_templates *all = c->templates;
    uint32_t *place = by_digits(all, t);
    const struct extract_template *other = *place ? &all->list[*place - 1] : NULL;

    if (other && c->beneath)
        return false;
    bool is_superseded = other && other->file == c->file && is_older(t, other);
    if (other && other->file == c->file)
        compile_warn(c, 0, "W-DUP", "remove one of them", "%s %s the template of line %u%s", t->id,
                     is_superseded ? "is replaced by" : "replaces", other->line,
                     is_superseded ? ", whose version is newer" : "");
    if (!append_template(c, t))
        return false;
    uint32_t *by_hook = &all->by_hook[t->hook];
    const struct extract_template *same = *by_hook ? &all->list[*by_hook - 1] : NULL;
    bool is_hook_taken = same && (same->file == c->file ? is_older(t, same) : c->beneath);
    if (!is_superseded)
        *place = all->count;
    if (!is_superseded && !is_hook_taken)
        *by_hook = all->count;
    struct extract_template called = *t;
    called.program++;
    return !template_is_muted(all, t) || append_template(c, &called);
}

static void compile_line(struct compiler *c)
{
    struct extract_templates *all = c->templates;
    uint32_t ops = all->op_count, strings = all->string_bytes;
    struct extract_template t = {.file = c->file, .line = c->parts[0].line, .program = ops};

    c->depth = c->choices = 0;
    c->declared = (struct macro_set){{0}};
    c->touch = c->macro_end = NOWHERE;
    while (c->macros > 0)
        c->names[c->used[--c->macros]].slot = 0;
    t.line_count = c->line - t.line;
    t.source = c->text + c->source;
    t.source_length = c->next - c->source;
    if (!parse_id(c, &t) || !parse_version(c, &t) || !parse_level(c, &t) || !parse_label(c, &t) ||
        !compile_items(c, NOWHERE) || !emit(c, (struct template_op){.code = OP_END}, c->at) ||
        !enter_template(c, &t)) {
        all->op_count = ops;
        all->string_bytes = strings;
        return;
    }
    // A caller sets the macros that a template declares. Without a column, the reads of such a
    // macro are not warned of.
    for (uint32_t i = ops; i < all->op_count; i++)
        if (all->ops[i].code == OP_MACRO && macro_set_has(&c->declared, all->ops[i].arg))
            all->ops[i].width = 0;
}

enum extract_code template_compile(struct extract_templates *templates, const char *file,
                                   const char *text, size_t length, bool beneath)
{
    struct compiler *c = calloc(1, sizeof *c);

    if (!c)
        return EXTRACT_NOMEM;
    c->templates = templates;
    c->file = file;
    c->beneath = beneath;
    c->text = text;
    c->length = length;
    c->next = template_mark_length(text, length);
    c->line = 1;
    while (lexer_next(c))
        compile_line(c);
    enum extract_code code = c->failed;
    lexer_release(c);
    free(c);
    return code;
}
