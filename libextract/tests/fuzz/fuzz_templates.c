// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a template file, which is compiled, linked and listed. The first byte
// selects the dialect, and whether the other bytes are two files, divided in the middle.
//
// Nothing may crash, leak or hang. In addition, diagnostics are in order and have harmless texts.
// Jumps and texts are inside of the programs. Each listed template is also found by its id.
#include "base/printable.h"
#include "templates/program.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void check_text(const char *text)
{
    for (size_t n; *text; text += n) {
        n = extract_printable(text);
        check(n > 0);
    }
}

static bool check_diagnostics(const struct extract_templates *templates)
{
    const struct extract_diagnostic *list;
    bool error = false;
    size_t count = extract_templates_diagnostics(templates, &list);
    for (size_t i = 0; i < count; i++) {
        check_text(list[i].file);
        check_text(list[i].what);
        check_text(list[i].hint);
        check(list[i].line > 0 && list[i].column > 0);
        check(list[i].warning == (list[i].name[0] == 'W'));
        check(i == 0 || list[i].file != list[i - 1].file || list[i].line >= list[i - 1].line);
        error |= !list[i].warning;
    }
    return error;
}

static void check_program(const struct extract_templates *t, uint32_t at)
{
    uint32_t end = at;
    while (t->ops[end].code != OP_END)
        check(++end < t->op_count);
    for (; at < end; at++) {
        const struct template_op *op = &t->ops[at];
        bool jump = op->code == OP_UNLESS || op->code == OP_UNLESS_TEXT || op->code == OP_JUMP ||
                    op->code == OP_FLAG || op->code == OP_LOOP || op->code == OP_AGAIN;
        check(!jump || op->arg <= end);
        check(op->code != OP_TEXT || (op->value && op->arg + op->value <= t->string_bytes));
        check(op->code != OP_UNLESS_TEXT || op->other + op->value <= t->string_bytes);
        check(op->code != OP_CALL || op->arg < t->count);
        check((op->code != OP_MACRO && op->code != OP_STORE) || op->arg < TEMPLATE_MACROS);
    }
}

static void check_listed(const struct extract_templates *templates)
{
    const struct extract_template *t, *before = NULL;
    for (size_t i = 0; (t = extract_templates_at(templates, i)); i++, before = t) {
        check(!before || before->hook < t->hook || (before->hook == t->hook && !before->id[3]));
        check_text(t->id);
        check(t->line > 0 && t->line_count > 0 && t->source_length > 0);
        const struct extract_template *found =
            extract_templates_find(templates, EXTRACT_HOOKS_16, t->hook);
        check(found && found->hook == t->hook);
        bool four = t->id[3] && t->hook >= 0x1000;
        check(extract_templates_find(templates, EXTRACT_HOOKS_PLAIN,
                                     four ? t->hook : t->hook >> 4) == t);
        if (templates->linked)
            check_program(templates, t->program);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_templates *templates;
    struct extract_error error;
    if (!size)
        return 0;
    const char *text = (const char *)data + 1;
    size_t first = data[0] & 0x20 ? --size / 2 : --size;
    if (extract_templates_open(&templates, data[0] & 0x1f, &error))
        return 0;
    check(!extract_templates_add(templates, "one", text, first, false, &error));
    check_diagnostics(templates);
    check_listed(templates);
    if (first < size) {
        extract_templates_link(templates, &error);
        check(!extract_templates_add(templates, "two\x1b[m", text + first, size - first,
                                     data[0] & 0x40, &error));
    }
    bool bad = extract_templates_link(templates, &error) == EXTRACT_BAD;
    check(check_diagnostics(templates) == bad);
    check(templates->linked == !bad);
    check_listed(templates);
    extract_templates_close(templates);
    return 0;
}
