// SPDX-License-Identifier: MIT
// templates: resolves the calls between templates. A call of a template that does not exist is an
// error (E-NOSUB). Linking may be repeated after more templates were added.
#include "templates/compiler/store.h"
#include <stdio.h>

// Returns index + 1 of the template that a call names: by its spelling, otherwise by its hook id; 0
// if there is none.
static uint32_t find_called(const struct extract_templates *t, const struct template_op *call)
{
    uint32_t hook = (uint32_t)call->value;
    bool four = call->other == 4 && hook >= 0x1000;
    uint32_t found = 0;

    if (four)
        found = t->by_digits[1][hook];
    else if (hook % 16 == 0)
        found = t->by_digits[0][hook / 16];
    return found ? found : t->by_hook[hook];
}

static bool resolve_call(struct extract_templates *t, const struct extract_template *in,
                         struct template_op *call)
{
    uint32_t found = find_called(t, call);
    struct template_place place = {in->file, call->line, call->width};

    if (found) {
        call->arg = found - 1 + template_is_muted(t, &t->list[found - 1]);
        return true;
    }
    unsigned digits = (unsigned)call->other;
    unsigned id = (unsigned)(digits == 3 ? call->value >> 4 : call->value);
    return template_diagnose(t, &place, TEMPLATE_NO_SUB, "add the template, or quote the text",
                             "template %0*X, which is called, does not exist", (int)digits, id);
}

static enum extract_code set_first_error(const struct extract_templates *t,
                                         struct extract_error *error)
{
    const struct extract_diagnostic *d = t->diagnostics;
    char place[160];

    while (d->warning)
        d++;
    snprintf(place, sizeof place, "%s:%u:%u", d->file, d->line, d->column);
    return extract_error_set(error, EXTRACT_BAD, place, d->hint, "%s: %s", d->name, d->what);
}

enum extract_code extract_templates_link(struct extract_templates *templates,
                                         struct extract_error *error)
{
    template_forgive_link(templates);
    uint32_t errors = templates->errors, warnings = templates->warnings;
    bool has_memory = true;
    for (uint32_t i = 0; i < templates->order_count && has_memory; i++) {
        const struct extract_template *in = &templates->list[templates->order[i]];
        struct template_op *op = templates->ops + in->program;
        for (; op->code != OP_END && has_memory; op++)
            has_memory = op->code != OP_CALL || resolve_call(templates, in, op);
    }
    // A template with an error is missing from the set, and what it sets or calls is not known. So
    // warnings wait until everything compiles.
    has_memory = has_memory && (templates->errors || template_warn_of_calls(templates));
    templates->link_errors = templates->errors - errors;
    templates->link_warnings = templates->warnings - warnings;
    if (!has_memory)
        return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
    if (templates->errors)
        return set_first_error(templates, error);
    template_optimize(templates);
    templates->linked = true;
    return EXTRACT_OK;
}
