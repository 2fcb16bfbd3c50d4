// SPDX-License-Identifier: MIT
// templates: macros: finds the macro after a "$", reads its format, and appends the operations that
// print it or push its value.
#include "templates/compiler/compile.h"
#include <ctype.h>
#include <string.h>

// A macro that the language defines.
struct known {
    const char *name;
    enum macro_sort sort;
    uint32_t arg;
};

static const struct known known[] = {
    {"DATAPOINTER", MACRO_SYSTEM, SYSTEM_DATAPOINTER},
    {"BASEPOINTER", MACRO_SYSTEM, SYSTEM_BASEPOINTER},
    {"D1", MACRO_SYSTEM, SYSTEM_D1},
    {"D2", MACRO_SYSTEM, SYSTEM_D1 + 1},
    {"D3", MACRO_SYSTEM, SYSTEM_D1 + 2},
    {"D4", MACRO_SYSTEM, SYSTEM_D1 + 3},
    {"D5", MACRO_SYSTEM, SYSTEM_D5},
    {"L1", MACRO_SYSTEM, SYSTEM_L1},
    {"L2", MACRO_SYSTEM, SYSTEM_L1 + 1},
    {"L3", MACRO_SYSTEM, SYSTEM_L1 + 2},
    {"L4", MACRO_SYSTEM, SYSTEM_L1 + 3},
    {"L5", MACRO_SYSTEM, SYSTEM_L5},
    {"HD", MACRO_SYSTEM, SYSTEM_HD},
    {"HL", MACRO_SYSTEM, SYSTEM_HL},
    {"GENERIC", MACRO_SYSTEM, SYSTEM_GENERIC},
    {"WORDSIZE", MACRO_SYSTEM, SYSTEM_WORDSIZE},
    {"TID", MACRO_SYSTEM, SYSTEM_TID},
    {"PID", MACRO_SYSTEM, SYSTEM_PID},
    {"CPUID", MACRO_SYSTEM, SYSTEM_CPUID},
    {"PRI", MACRO_SYSTEM, SYSTEM_PRI},
    {"RELLINENO", MACRO_SYSTEM, SYSTEM_RELLINENO},
    {"TRACEID", MACRO_SYSTEM, SYSTEM_TRACEID},
    {"LOGIDX", MACRO_SYSTEM, SYSTEM_LOGIDX},
    {"LOGIDX0", MACRO_SYSTEM, SYSTEM_LOGIDX0},
    {"TOTALCPUS", MACRO_SYSTEM, SYSTEM_TOTALCPUS},
    {"TRACEDCPUS", MACRO_SYSTEM, SYSTEM_TRACEDCPUS},
    {"REPORTEDCPUS", MACRO_SYSTEM, SYSTEM_REPORTEDCPUS},
    {"LARGEDATATYPES", MACRO_SYSTEM, SYSTEM_LARGEDATATYPES},
    {"IPADDR", MACRO_SYSTEM, SYSTEM_IPADDR},
    {"BUFF", MACRO_SYSTEM, SYSTEM_BUFF},
    {"HOOKENV", MACRO_SYSTEM, SYSTEM_HOOKENV},
    {"TRACEENV", MACRO_SYSTEM, SYSTEM_TRACEENV},
    {"SVC", MACRO_SYSTEM, SYSTEM_SVC},
    {"EXECPATH", MACRO_SYSTEM, SYSTEM_EXECPATH},
    {"LOGFILE", MACRO_SYSTEM, SYSTEM_LOGFILE},
    {"ERROR", MACRO_ACTION, OP_ERROR},
    {"BREAK", MACRO_ACTION, OP_BREAK},
    {"SKIP", MACRO_ACTION, OP_SKIP},
    {"STOP", MACRO_ACTION, OP_STOP},
};

// Macros of the language whose meaning no public document defines.
static const char *const unknown[] = {"PROCNAME", "RUNQUE", "INT", "FILENAME", "MACROS", "ENDTEXT"};

static bool parse_call(const char *name, size_t length, struct macro *macro)
{
    uint64_t hook;

    if (length == 7 && memcmp(name, "DEFAULT", 7) == 0) {
        name = "008";
        length = 3;
    }
    if (length < 3 || length > 4 || !lexer_number(name, length, 16, &hook))
        return false;
    macro->sort = MACRO_CALL;
    macro->digits = (unsigned)length;
    macro->arg = (uint32_t)(length == 3 ? hook << 4 : hook);
    return true;
}

// Finds the number of a user macro. Numbers are given in the order of first use.
static bool find_slot(struct compiler *c, size_t at, size_t length, uint32_t *slot)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)c->bytes[at + i]) * 16777619u;
    struct macro_place *place = &c->names[hash % MACRO_HASH];
    while (place->slot &&
           (place->length != length || memcmp(c->bytes + place->at, c->bytes + at, length) != 0))
        place = place == &c->names[MACRO_HASH - 1] ? c->names : place + 1;
    if (!place->slot) {
        if (c->macros == TEMPLATE_MACROS)
            return compile_fault(c, at - 1, "E-MACRO-LIMIT", "split the template",
                                 "more than %d macros", TEMPLATE_MACROS);
        c->used[c->macros] = (uint16_t)(place - c->names);
        *place = (struct macro_place){at, length, ++c->macros};
    }
    *slot = place->slot - 1;
    return true;
}

static bool find_macro(struct compiler *c, struct macro *macro, size_t length)
{
    const char *name = c->bytes + macro->at + 1;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].name[0] != *name || !lexer_is(c, macro->at + 1, length, known[i].name))
            continue;
        macro->sort = known[i].sort;
        macro->arg = known[i].arg;
        return true;
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (unknown[i][0] == *name && lexer_is(c, macro->at + 1, length, unknown[i]))
            return compile_fault(c, macro->at, "E-MACRO",
                                 "remove it: no public document defines it", "not implemented: $%s",
                                 unknown[i]);
    if (parse_call(name, length, macro))
        return true;
    macro->sort = MACRO_USER;
    return find_slot(c, macro->at + 1, length, &macro->arg);
}

// ---- formats ----

static size_t digits_at(const struct compiler *c, size_t at)
{
    return strspn(c->bytes + at, "0123456789");
}

// Returns the length of a format of macros at `at`; 0 if there is none.
static size_t format_length(const struct compiler *c, size_t at)
{
    const char *f = c->bytes + at;
    size_t digits = digits_at(c, at + 1), length = 1 + digits;

    if (*f && strchr("XDUoS", *f) && f[1] == 'W')
        return 2;
    if (!*f || !strchr("XDUoSBW", *f) || !digits)
        return 0;
    if ((*f == 'B' || *f == 'W') && f[length] == '.' && digits_at(c, at + length + 1))
        length += 1 + digits_at(c, at + length + 1);
    return length;
}

// Returns the length of a format that macros do not have.
static size_t unknown_format_length(const struct compiler *c, size_t at)
{
    size_t length = 0;

    while (isalnum((unsigned char)c->bytes[at + length]))
        length++;
    if (length && c->bytes[at + length] == '.' && digits_at(c, at + length + 1))
        length += 1 + digits_at(c, at + length + 1);
    return length;
}

// Reads the format "Wlo.hi", which extracts bits.
static bool read_bit_format(struct compiler *c, size_t length, struct macro *macro)
{
    size_t low = digits_at(c, c->at + 1);
    uint64_t from, to;

    if (!lexer_number(c->bytes + c->at + 1, low, 10, &from) || length < low + 2 ||
        !lexer_number(c->bytes + c->at + low + 2, length - low - 2, 10, &to) || from > to ||
        to > 63)
        return compile_fault(c, c->at, "E-MACRO-FMT",
                             "use %W and two bits from 0 to 63, as in %W24.27",
                             "\"%s\" does not extract bits", lexer_show(c, c->at, length));
    macro->format.kind = KIND_EXTRACT;
    macro->format.width = (uint32_t)from;
    macro->format.value = to;
    return true;
}

static bool read_unknown_format(struct compiler *c, struct macro *macro)
{
    size_t length = unknown_format_length(c, c->at);

    if (!length)
        return compile_fault(c, c->at - 1, "E-MACRO-FMT", "use a format, as in $name%X4",
                             "%% without a format");
    if (!compile_warn(c, c->at, "W-FMT-DEFAULT", "use X D U o B S or W",
                      "\"%s\" is not a format of macros; X2 is used", lexer_show(c, c->at, length)))
        return false;
    macro->format = (struct template_op){.code = OP_SHOW, .kind = KIND_HEX, .width = 2};
    c->at += length;
    return true;
}

static bool read_format(struct compiler *c, struct macro *macro)
{
    size_t length = format_length(c, c->at);

    if (!length)
        return read_unknown_format(c, macro);
    char letter = c->bytes[c->at];
    if (letter == 'W') {
        if (!read_bit_format(c, length, macro))
            return false;
    } else {
        if (code_parse(c->bytes + c->at, length, &macro->format) != CODE_GOOD)
            return compile_fault(c, c->at, "E-MACRO-FMT", code_hint(letter),
                                 "format %s is out of range", lexer_show(c, c->at, length));
        macro->format.code = letter == 'S' ? OP_COUNT_PUT : OP_SHOW;
    }
    c->at += length;
    return true;
}

// Returns whether the macro may have a format; reports an error if not.
static bool check_format_allowed(struct compiler *c, const struct macro *macro)
{
    if (macro->sort == MACRO_CALL)
        return compile_fault(c, c->at, "E-SUB-FMT", "remove the format",
                             "called template cannot have a format");
    if (macro->sort == MACRO_ACTION || (macro->sort == MACRO_SYSTEM && macro->arg >= SYSTEM_SVC))
        return compile_fault(c, c->at, "E-MACRO-FMT", "remove the format",
                             "macro has no number to be formatted");
    return true;
}

bool macro_read(struct compiler *c, struct macro *macro)
{
    size_t length = 0;

    *macro = (struct macro){.at = c->at++, .base = 16};
    macro->format = (struct template_op){.code = OP_SHOW, .kind = KIND_PLAIN};
    while (isalnum((unsigned char)c->bytes[c->at + length]) || c->bytes[c->at + length] == '_')
        length++;
    if (!length && c->bytes[c->at] == '(')
        return compile_fault(c, macro->at, "E-MACRO", "", "not implemented: $(...)");
    if (!length)
        return compile_fault(c, macro->at, "E-MACRO", "quote the $", "$ without a name");
    if (!find_macro(c, macro, length))
        return false;
    c->at += length;
    macro->formatted = c->bytes[c->at] == '%';
    if (macro->formatted) {
        if (!check_format_allowed(c, macro))
            return false;
        c->at++;
        if (!read_format(c, macro))
            return false;
        macro->base = code_base(&macro->format);
    }
    c->macro_end = c->at;
    return true;
}

// ---- operations ----

static bool emit_macro(struct compiler *c, const struct macro *macro)
{
    struct template_op op = {.code = OP_SYSTEM, .arg = macro->arg};

    if (macro->sort == MACRO_USER) {
        op.code = OP_MACRO;
        op.width = lexer_place(c, macro->at).column;
    }
    return emit(c, op, macro->at);
}

bool macro_item(struct compiler *c, const struct macro *macro)
{
    struct template_op op = {.arg = macro->arg};

    switch (macro->sort) {
    case MACRO_ACTION:
        op = (struct template_op){.code = (uint8_t)macro->arg};
        return emit(c, op, macro->at);
    case MACRO_CALL:
        op.code = OP_CALL;
        op.arg = UINT32_MAX;
        op.value = macro->arg;
        op.other = macro->digits;
        op.width = lexer_place(c, macro->at).column;
        op.kind = c->choices > 0;
        return emit_item(c, op, macro->at);
    default:
        op.code = OP_SHOW_SYSTEM;
        if (macro->sort == MACRO_SYSTEM && macro->arg >= SYSTEM_TEXTS && !macro->formatted)
            return emit_item(c, op, macro->at);
        return emit_macro(c, macro) && emit_item(c, macro->format, macro->at);
    }
}

bool macro_push(struct compiler *c, const struct macro *macro, const char *name)
{
    if (macro->sort == MACRO_CALL)
        return compile_fault(c, macro->at, name,
                             "use a name that is not three or four hexadecimal digits",
                             "called template has no value");
    if (macro->sort == MACRO_ACTION || macro->format.code == OP_COUNT_PUT)
        return compile_fault(c, macro->at, name, "use a macro that is a number",
                             "macro has no value");
    if (!emit_macro(c, macro))
        return false;
    if (!macro->formatted)
        return true;
    struct template_op cut = macro->format;
    cut.code = OP_CUT;
    cut.flags = 0;
    return emit(c, cut, macro->at);
}
