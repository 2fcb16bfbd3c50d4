// SPDX-License-Identifier: MIT
// templates: a set of templates: its dialect, adding texts and files, and finding templates by
// their ids.
//
// The compiler appends programs to the set (compiler/compile.c). Tables of indices then give the
// template of an id in constant time: by_hook for hook ids of 16 bits, by_digits for ids as they
// are written, with three or four digits. A template that was replaced stays in the list, but no
// table leads to it.
#include "base/file.h"
#include "templates/compiler/compile.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 16 << 20, THREE_DIGITS = 0x1000, FOUR_DIGITS = 0x10000 };

static enum extract_code no_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
}

enum extract_code extract_dialect_parse(unsigned *dialect, const char *words,
                                        struct extract_error *error)
{
    static const char *const words_of_bits[] = {"generic-8", "octal-flags", "blank-equals",
                                                "show-unmatched", "mute-subroutines"};
    enum { WORDS = sizeof words_of_bits / sizeof *words_of_bits };
    unsigned bits = 0;

    for (const char *word = words;; word++) {
        size_t length = strcspn(word, ","), i = 0;
        while (i < WORDS &&
               (strlen(words_of_bits[i]) != length || memcmp(words_of_bits[i], word, length) != 0))
            i++;
        if (i == WORDS)
            return extract_error_set(error, EXTRACT_USAGE, "dialect",
                                     "use generic-8, octal-flags, blank-equals, show-unmatched or "
                                     "mute-subroutines",
                                     "unknown word \"%.*s\"", (int)(length < 40 ? length : 40),
                                     word);
        bits |= 1u << i;
        word += length;
        if (!*word)
            break;
    }
    *dialect = bits;
    return EXTRACT_OK;
}

enum extract_code extract_templates_open(struct extract_templates **templates, unsigned dialect,
                                         struct extract_error *error)
{
    struct extract_templates *t = *templates = calloc(1, sizeof *t);

    if (!t)
        return no_memory(error);
    t->dialect = dialect;
    t->by_hook = calloc(FOUR_DIGITS, sizeof *t->by_hook);
    t->by_digits[0] = calloc(THREE_DIGITS, sizeof *t->by_digits[0]);
    t->by_digits[1] = calloc(FOUR_DIGITS, sizeof *t->by_digits[1]);
    if (t->by_hook && t->by_digits[0] && t->by_digits[1])
        return EXTRACT_OK;
    extract_templates_close(t);
    *templates = NULL;
    return no_memory(error);
}

void extract_templates_close(struct extract_templates *templates)
{
    if (!templates)
        return;
    template_release(templates);
    free(templates->ops);
    free(templates->strings);
    free(templates->list);
    free(templates->order);
    free(templates->by_hook);
    free(templates->by_digits[0]);
    free(templates->by_digits[1]);
    free(templates->diagnostics);
    free(templates);
}

// Lists the templates in force in the order of their ids; hhh comes before hhh0.
static bool put_in_order(struct extract_templates *t)
{
    uint32_t *order = realloc(t->order, (t->count + 1) * sizeof *order);

    if (!order)
        return false;
    t->order = order;
    t->order_count = 0;
    for (uint32_t hook = 0; hook < FOUR_DIGITS; hook++) {
        uint32_t three = hook % 16 == 0 ? t->by_digits[0][hook / 16] : 0;
        uint32_t four = t->by_digits[1][hook];
        if (three)
            order[t->order_count++] = three - 1;
        if (four)
            order[t->order_count++] = four - 1;
    }
    return true;
}

enum extract_code extract_templates_add(struct extract_templates *templates, const char *name,
                                        const char *text, size_t length, bool beneath,
                                        struct extract_error *error)
{
    if (length > MAX_TEXT)
        return extract_error_set(error, EXTRACT_LIMIT, name, "split it into several files",
                                 "longer than %d bytes", MAX_TEXT);
    const char *file = template_store_file(templates, name);
    const char *copy = template_store_copy(templates, text, length);
    if (!file || !copy)
        return no_memory(error);
    templates->linked = false;
    enum extract_code code = template_compile(templates, file, copy, length, beneath);
    if (!put_in_order(templates) || code == EXTRACT_NOMEM)
        return no_memory(error);
    if (code)
        return extract_error_set(error, code, name, "split it into several files",
                                 "templates too long");
    return EXTRACT_OK;
}

enum extract_code extract_templates_add_file(struct extract_templates *templates, const char *path,
                                             struct extract_error *error)
{
    uint8_t *bytes;
    size_t length;
    enum extract_code code = extract_file_read_in_time(path, MAX_TEXT, &bytes, &length, error);

    if (code)
        return code;
    code = extract_templates_add(templates, extract_file_name(path), (const char *)bytes, length,
                                 false, error);
    free(bytes);
    return code;
}

size_t extract_templates_diagnostics(const struct extract_templates *templates,
                                     const struct extract_diagnostic **list)
{
    *list = templates->diagnostics;
    return templates->diagnostic_count;
}

void extract_templates_print_diagnostics(const struct extract_templates *templates, bool warnings,
                                         size_t max, struct extract_text *text)
{
    size_t left = 0;

    for (size_t i = 0; i < templates->diagnostic_count; i++) {
        const struct extract_diagnostic *d = &templates->diagnostics[i];
        if (d->warning && !warnings)
            continue;
        if (!max) {
            left++;
            continue;
        }
        max--;
        extract_text_printf(text, "%s:%u:%u: %s: %s%s%s\n", d->file, d->line, d->column, d->name,
                            d->what, *d->hint ? "; " : "", d->hint);
    }
    if (left)
        extract_text_printf(text, "and %zu more\n", left);
}

const struct extract_template *extract_templates_at(const struct extract_templates *templates,
                                                    size_t i)
{
    return i < templates->order_count ? &templates->list[templates->order[i]] : NULL;
}

const struct extract_template *extract_templates_find(const struct extract_templates *templates,
                                                      enum extract_hook_space space, uint32_t id)
{
    uint32_t found;

    if (id >= FOUR_DIGITS)
        return NULL;
    if (space == EXTRACT_HOOKS_16)
        found = templates->by_hook[id];
    else
        found = id < THREE_DIGITS ? templates->by_digits[0][id] : templates->by_digits[1][id];
    return found ? &templates->list[found - 1] : NULL;
}
