// SPDX-License-Identifier: MIT
// symbols: finds members of structs by name and by offset.
//
// A caller names a type, or the address of a variable, and gets the offset and size of a member. In
// the other direction, it gets the path of the member at an offset ("stack.size"). Bit-fields are
// skipped, because they have no byte of their own.
// Standard: DWARF 5, section 5.7 "Structure, Union, Class and Interface Type Entries".
#ifdef EXTRACT_HAVE_DW
#include "dies.h"
#include "symbols/dwarf.h"
#include <stdio.h>

// A member that was found, with its type.
struct member {
    uint64_t offset; // offset from the start of the outermost type in bytes
    struct die type;
};

// The path that is written by extract_symbols_member_at.
struct path {
    char *buffer;
    size_t size;
    size_t used;
    bool outermost; // if several members begin at the offset, write only the outermost
};

static bool is_member(const struct die *die)
{
    return (die->tag == DW_TAG_member && !die->bitfield) || die->tag == DW_TAG_inheritance;
}

// Finds the member named `name` (`length` bytes) in a struct, and in its members without a name.
static bool find_in(struct query *query, const struct member *outer, const char *name,
                    size_t length, struct member *found, unsigned depth)
{
    const struct die *type = &outer->type;
    struct die die;

    if (depth >= TYPE_DEPTH_MAX || !extract_die_is_struct(type))
        return false;
    bool more = extract_die_child(query, &type->die, &die);
    for (; more; more = extract_die_sibling(query, &die)) {
        bool named = die.name && die.tag == DW_TAG_member;
        if (!is_member(&die) ||
            (named && (strncmp(die.name, name, length) != 0 || die.name[length])))
            continue;
        struct member inner = {.offset = outer->offset + die.location};
        if (!extract_types_of(query, &die, &inner.type))
            continue;
        if (named) {
            *found = inner;
            return true;
        }
        if (find_in(query, &inner, name, length, found, depth + 1))
            return true;
    }
    return false;
}

// Follows a path like "a.b".
static bool follow(struct query *query, const char *path, struct member *member)
{
    for (;;) {
        struct member inner;
        size_t length = strcspn(path, ".");
        if (!length || !find_in(query, member, path, length, &inner, 0))
            return false;
        *member = inner;
        if (!path[length])
            return true;
        path += length + 1;
    }
}

static bool answer_member(struct query *query, const struct die *type,
                          struct type_question *question)
{
    struct member at = {.type = *type};

    if (!follow(query, question->member, &at))
        return false;
    question->offset = at.offset;
    return extract_types_size(query, &at.type, &question->size);
}

bool extract_symbols_member(struct extract_symbols *symbols, const char *type, const char *member,
                            uint64_t *offset, uint64_t *size)
{
    struct type_question question = {.type = type, .answer = answer_member, .member = member};

    if (!extract_types_query(symbols, &question))
        return false;
    *offset = question.offset;
    *size = question.size;
    return true;
}

// Appends a name to the path. Returns false if it does not fit.
static bool append(struct path *path, const char *separator, const char *name)
{
    int n = snprintf(path->buffer + path->used, path->size - path->used, "%s%s",
                     path->used ? separator : "", name);

    if (n < 0 || (size_t)n >= path->size - path->used)
        return false;
    path->used += (size_t)n;
    return true;
}

static bool append_index(struct path *path, uint64_t i)
{
    char text[24];

    snprintf(text, sizeof text, "[%llu]", (unsigned long long)i);
    return append(path, "", text);
}

// Replaces an array with its element at the offset, and the offset with that in the element. The
// elements of several dimensions are numbered in one sequence. Other types stay as they are.
// Returns false if the index does not fit into the path.
static bool enter_array(struct query *query, struct die *type, uint64_t *offset, struct path *path)
{
    struct die element;
    uint64_t total, bytes;

    if (!extract_types_array(query, type, &element, &total))
        return true;
    if (!extract_types_size(query, &element, &bytes) || !bytes)
        return true;
    if (!append_index(path, *offset / bytes))
        return false;
    *offset %= bytes;
    *type = element;
    return true;
}

static bool name_offset(struct query *query, const struct die *type, uint64_t offset,
                        struct path *path, unsigned depth);

// Writes the name of a member, and the path inside it. The offset is counted from the member, which
// covers it.
static bool name_member(struct query *query, const struct die *die, struct die *type,
                        uint64_t offset, struct path *path, unsigned depth)
{
    bool named = die->name && die->tag == DW_TAG_member;
    size_t before = path->used;

    bool fits = !named || (append(path, ".", die->name) && enter_array(query, type, &offset, path));
    size_t whole = path->used;
    if (fits && named && path->outermost && !offset)
        return true;
    if (fits && name_offset(query, type, offset, path, depth + 1))
        return true;
    // If the offset is in the padding of a named member, the path ends with that member.
    path->used = named && fits ? whole : before;
    path->buffer[path->used] = 0;
    return named && fits;
}

static bool name_offset(struct query *query, const struct die *type, uint64_t offset,
                        struct path *path, unsigned depth)
{
    struct die die;
    struct die inner;
    uint64_t size;

    if (depth >= TYPE_DEPTH_MAX || !extract_die_is_struct(type))
        return false;
    bool more = extract_die_child(query, &type->die, &die);
    for (; more; more = extract_die_sibling(query, &die)) {
        if (!is_member(&die) || die.location > offset || !extract_types_of(query, &die, &inner) ||
            !extract_types_size(query, &inner, &size) || offset - die.location >= size)
            continue;
        if (name_member(query, &die, &inner, offset - die.location, path, depth))
            return true;
    }
    return false;
}

static bool answer_path(struct query *query, const struct die *type, struct type_question *question)
{
    struct path path = {question->buffer, question->buffer_size, 0, false};

    return name_offset(query, type, question->offset, &path, 0);
}

static bool answer_place(struct query *query, const struct die *type,
                         struct type_question *question)
{
    struct path path = {question->buffer, question->buffer_size, 0, true};
    struct die inner = *type;
    uint64_t offset = question->offset;

    if (!enter_array(query, &inner, &offset, &path))
        return false;
    return (path.used && !offset) || name_offset(query, &inner, offset, &path, 0);
}

bool extract_symbols_member_at(struct extract_symbols *symbols, const char *type, uint64_t offset,
                               char *buffer, size_t size)
{
    struct type_question question = {.type = type,
                                     .answer = answer_path,
                                     .offset = offset,
                                     .buffer = buffer,
                                     .buffer_size = size};

    if (!size)
        return false;
    *buffer = 0;
    return extract_types_query(symbols, &question);
}

bool extract_symbols_variable_member(struct extract_symbols *symbols, uint64_t address,
                                     uint64_t offset, char *buffer, size_t size)
{
    struct type_question question = {.address = address - symbols->load_bias,
                                     .answer = answer_place,
                                     .offset = offset,
                                     .buffer = buffer,
                                     .buffer_size = size};

    if (!size)
        return false;
    *buffer = 0;
    return extract_types_query(symbols, &question);
}

// ---- searching for a member at any depth ----

#define NESTED_MAX        6 // levels of nested structs
#define STEPS_OF_A_SEARCH (1u << 18)

// A search for one or two members. The position goes to `inner`.
struct search {
    const char *name, *second;
    struct extract_inner *inner;
};

// Searches a struct and the structs in it.
static bool search_nested(struct query *query, const struct member *outer,
                          const struct search *search, unsigned depth)
{
    struct member found, second, inner;
    struct die die;

    if (depth >= NESTED_MAX || !extract_die_is_struct(&outer->type))
        return false;
    if (find_in(query, outer, search->name, strlen(search->name), &found, 0)) {
        search->inner->member = found.offset;
        search->inner->has_second = search->second && find_in(query, outer, search->second,
                                                              strlen(search->second), &second, 0);
        search->inner->second = search->inner->has_second ? second.offset : 0;
        return extract_types_size(query, &found.type, &search->inner->size);
    }
    bool more = extract_die_child(query, &outer->type.die, &die);
    for (; more; more = extract_die_sibling(query, &die)) {
        inner.offset = outer->offset + die.location;
        if (is_member(&die) && extract_types_of(query, &die, &inner.type) &&
            search_nested(query, &inner, search, depth + 1))
            return true;
    }
    return false;
}

// Searches the targets of the pointers in a struct and in the structs in it.
static bool search_pointers(struct query *query, const struct member *outer,
                            const struct search *search, unsigned depth)
{
    struct member inner, target = {.offset = 0};
    struct die die;

    if (depth >= NESTED_MAX || !extract_die_is_struct(&outer->type))
        return false;
    bool more = extract_die_child(query, &outer->type.die, &die);
    for (; more; more = extract_die_sibling(query, &die)) {
        inner.offset = outer->offset + die.location;
        if (!is_member(&die) || !extract_types_of(query, &die, &inner.type))
            continue;
        search->inner->pointer = inner.offset;
        bool found = inner.type.tag == DW_TAG_pointer_type
                         ? extract_types_of(query, &inner.type, &target.type) &&
                               search_nested(query, &target, search, 0)
                         : search_pointers(query, &inner, search, depth + 1);
        if (found)
            return true;
    }
    return false;
}

static bool answer_inner(struct query *query, const struct die *type,
                         struct type_question *question)
{
    struct search search = {question->member, question->second, question->inner};
    struct member outer = {.type = *type};
    struct die element;
    uint64_t count;

    query->steps = STEPS_OF_A_SEARCH;
    *search.inner = (struct extract_inner){.count = 1};
    if (extract_types_array(query, type, &element, &count)) {
        outer.type = element;
        search.inner->count = count;
        if (!extract_types_size(query, &element, &search.inner->stride))
            return false;
    }
    if (search_nested(query, &outer, &search, 0))
        return true;
    search.inner->is_indirect = question->is_indirect;
    return question->is_indirect && search_pointers(query, &outer, &search, 0);
}

bool extract_symbols_inner(struct extract_symbols *symbols, uint64_t address, const char *member,
                           const char *second, bool is_indirect, struct extract_inner *inner)
{
    struct type_question question = {.address = address - symbols->load_bias,
                                     .answer = answer_inner,
                                     .member = member,
                                     .second = second,
                                     .is_indirect = is_indirect,
                                     .inner = inner};

    return extract_types_query(symbols, &question);
}
#endif
