// SPDX-License-Identifier: MIT
// templates: the memory that a set of templates owns besides its programs, and its diagnostics.
//
// Strings are stored in pages, which are freed with the set and never move. Diagnostics are kept in
// the order of files, lines and columns; at most TEMPLATE_MAX_REPORTED errors and as many warnings.
#include "templates/compiler/store.h"
#include "base/grow.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MAX_WHAT = 240 };

struct template_page {
    struct template_page *next;
    size_t used, size;
    char bytes[];
};

// The name of a file, with its rank in the order of adding before it.
struct named {
    uint32_t rank;
    char name[];
};

// Returns memory from a page; NULL if there is none.
static void *allocate(struct extract_templates *templates, size_t length)
{
    struct template_page *page = templates->pages;

    length = (length + 7) / 8 * 8;
    if (!page || page->size - page->used < length) {
        size_t size = length > PAGE ? length : PAGE;
        page = malloc(sizeof *page + size);
        if (!page)
            return NULL;
        *page = (struct template_page){templates->pages, 0, size};
        templates->pages = page;
    }
    page->used += length;
    return page->bytes + page->used - length;
}

char *template_store_copy(struct extract_templates *templates, const char *bytes, size_t length)
{
    char *copy = allocate(templates, length + 1);

    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

const char *template_store_file(struct extract_templates *templates, const char *name)
{
    struct extract_text clean;
    struct named *named = NULL;

    extract_text_init(&clean, NULL, NULL);
    extract_text_escaped(&clean, name);
    extract_text_putc(&clean, 0);
    if (!clean.code)
        named = allocate(templates, sizeof *named + clean.used);
    if (named) {
        named->rank = templates->files++;
        memcpy(named->name, clean.data, clean.used);
    }
    extract_text_free(&clean);
    return named ? named->name : NULL;
}

size_t template_mark_length(const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t bytes = sizeof mark - 1;

    return length >= bytes && memcmp(text, mark, bytes) == 0 ? bytes : 0;
}

void template_release(struct extract_templates *templates)
{
    while (templates->pages) {
        struct template_page *next = templates->pages->next;
        free(templates->pages);
        templates->pages = next;
    }
}

bool template_grow(void **array, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t more = *capacity ? *capacity * 2 : 64;
    if (more <= *capacity || more > SIZE_MAX / size)
        return false;
    void *grown = realloc(*array, more * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = more;
    return true;
}

static uint32_t rank_of(const char *file)
{
    uint32_t rank;

    memcpy(&rank, file - offsetof(struct named, name), sizeof rank);
    return rank;
}

// Returns whether a diagnostic belongs after a place.
static bool is_after(const struct extract_diagnostic *d, const struct template_place *place)
{
    uint32_t a = rank_of(d->file), b = rank_of(place->file);

    if (a != b)
        return a > b;
    return d->line != place->line ? d->line > place->line : d->column > place->column;
}

static bool insert_diagnostic(struct extract_templates *templates,
                              const struct template_place *place,
                              const struct extract_diagnostic *diagnostic)
{
    struct extract_diagnostic *grown =
        extract_grow(templates->diagnostics, &templates->diagnostic_capacity,
                     templates->diagnostic_count, sizeof *grown);

    if (!grown)
        return false;
    templates->diagnostics = grown;
    size_t at = templates->diagnostic_count++;
    for (; at > 0 && is_after(&templates->diagnostics[at - 1], place); at--)
        templates->diagnostics[at] = templates->diagnostics[at - 1];
    templates->diagnostics[at] = *diagnostic;
    return true;
}

bool template_diagnose(struct extract_templates *templates, const struct template_place *place,
                       const char *name, const char *hint, const char *what, ...)
{
    bool warning = name[0] == 'W';
    uint32_t *count = warning ? &templates->warnings : &templates->errors;
    char text[MAX_WHAT + 64];
    va_list args;

    if (*count < UINT32_MAX)
        ++*count;
    if (*count > TEMPLATE_MAX_REPORTED)
        return true;
    va_start(args, what);
    vsnprintf(text, MAX_WHAT, what, args);
    va_end(args);
    if (*count == TEMPLATE_MAX_REPORTED)
        strcat(text,
               warning ? "; more warnings are not reported" : "; more errors are not reported");
    struct extract_diagnostic diagnostic = {place->file, place->line, place->column, warning,
                                            name,        NULL,        hint};
    diagnostic.what = template_store_copy(templates, text, strlen(text));
    return diagnostic.what && insert_diagnostic(templates, place, &diagnostic);
}

static bool is_link_diagnostic(const struct extract_diagnostic *d)
{
    return strcmp(d->name, TEMPLATE_NO_SUB) == 0 || strcmp(d->name, TEMPLATE_UNSET) == 0 ||
           strcmp(d->name, TEMPLATE_SELF) == 0;
}

void template_forgive_link(struct extract_templates *templates)
{
    size_t kept = 0;

    for (size_t i = 0; i < templates->diagnostic_count; i++)
        if (!is_link_diagnostic(&templates->diagnostics[i]))
            templates->diagnostics[kept++] = templates->diagnostics[i];
    templates->diagnostic_count = kept;
    templates->errors -= templates->link_errors;
    templates->warnings -= templates->link_warnings;
}
