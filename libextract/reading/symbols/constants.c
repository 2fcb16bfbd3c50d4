// SPDX-License-Identifier: MIT
// symbols: lists the values that constants of the program have in members of one type.
//
// The caller names a typedef of an integer. This file searches every variable in a read-only
// section for members of that typedef, and passes each value to a callback. The search follows one
// typedef at a time, because resolving all of them at once would skip the one that is searched for.
// In an array, the members of one element are found once and then read from every element.
// Standard: DWARF 5, chapter 5.
#ifdef EXTRACT_HAVE_DW
#include "dies.h"
#include "symbols/dwarf.h"

enum { PLACES_MAX = 16, ELEMENTS_MAX = 1 << 12, VALUES_MAX = 1 << 16, VALUE_BYTES = 8 };

// The offsets of the values in a variable, or in each element of an array.
struct places {
    uint64_t offset[PLACES_MAX];
    uint64_t size; // size of each value in bytes
    unsigned count;
};

struct search {
    struct extract_symbols *symbols;
    struct query query;
    const char *type;
    extract_value_taker *take;
    void *context;
    unsigned taken;
};

static bool follow(struct search *s, const Dwarf_Attribute *attribute, struct die *die)
{
    Dwarf_Attribute copy = *attribute;
    Dwarf_Die at;

    return copy.form && dwarf_formref_die(&copy, &at) && extract_die_read(&s->query, &at, die);
}

static bool is_name_of(const struct die *die)
{
    return die->tag == DW_TAG_typedef || die->tag == DW_TAG_const_type ||
           die->tag == DW_TAG_volatile_type;
}

static void find_places(struct search *s, const struct die *holder, uint64_t offset, unsigned depth,
                        struct places *places);

static void find_in_struct(struct search *s, const struct die *type, uint64_t offset,
                           unsigned depth, struct places *places)
{
    struct die member;
    bool more = extract_die_child(&s->query, &type->die, &member);

    for (; more && places->count < PLACES_MAX; more = extract_die_sibling(&s->query, &member))
        if (member.tag == DW_TAG_member && !member.bitfield)
            find_places(s, &member, offset + member.location, depth + 1, places);
}

// Finds the values in the type of `holder`, which is a variable, a member or an array.
static void find_places(struct search *s, const struct die *holder, uint64_t offset, unsigned depth,
                        struct places *places)
{
    struct die type = *holder;

    while (depth++ < TYPE_DEPTH_MAX && follow(s, &type.type, &type)) {
        if (type.tag == DW_TAG_typedef && type.name && strcmp(type.name, s->type) == 0) {
            struct die value;
            if (extract_types_of(&s->query, &type, &value) &&
                extract_types_size(&s->query, &value, &places->size))
                places->offset[places->count++] = offset;
            return;
        }
        if (extract_die_is_struct(&type))
            find_in_struct(s, &type, offset, depth, places);
        if (!is_name_of(&type))
            return;
    }
}

static void add_values(struct search *s, uint64_t address, const struct places *places)
{
    bool is_big = extract_symbols_byte_order(s->symbols) == EXTRACT_BIG;
    uint8_t bytes[VALUE_BYTES];

    for (unsigned i = 0; i < places->count && places->size <= sizeof bytes; i++) {
        size_t size = (size_t)places->size;
        uint64_t value = 0;
        if (extract_symbols_read_constant(s->symbols, address + places->offset[i], bytes, size) !=
                size ||
            s->taken++ >= VALUES_MAX)
            return;
        for (size_t k = 0; k < size; k++)
            value = value << 8 | bytes[is_big ? k : size - 1 - k];
        s->take(s->context, value);
    }
}

// Gets the array type of a variable, without typedefs and qualifiers. Returns false if the variable
// is not an array.
static bool find_array(struct search *s, const struct die *variable, struct die *array)
{
    struct die type = *variable;

    for (unsigned depth = 0; depth < TYPE_DEPTH_MAX && follow(s, &type.type, &type); depth++) {
        *array = type;
        if (type.tag == DW_TAG_array_type)
            return true;
        if (!is_name_of(&type))
            return false;
    }
    return false;
}

static void search_variable(struct search *s, const struct placed_entry *entry)
{
    struct places places = {.count = 0};
    struct die variable, array, element;
    uint64_t address = entry->address + s->symbols->load_bias, count = 1, stride = 0;
    uint8_t byte;

    if (!extract_symbols_read_constant(s->symbols, address, &byte, 1) ||
        !extract_die_read(&s->query, &entry->die, &variable) ||
        (!variable.type.form && !follow(s, &variable.declared, &variable)))
        return;
    if (find_array(s, &variable, &array)) {
        if (!extract_types_array(&s->query, &array, &element, &count) ||
            !extract_types_size(&s->query, &element, &stride) || !stride)
            return;
        find_places(s, &array, 0, 0, &places);
    } else {
        find_places(s, &variable, 0, 0, &places);
    }
    for (uint64_t i = 0; places.count && i < count && i < ELEMENTS_MAX; i++)
        add_values(s, address + i * stride, &places);
}

static bool search_all(void *context)
{
    struct search *s = context;
    const struct type_index *index = &s->symbols->types;

    for (size_t i = 0; i < index->placed_count && s->taken < VALUES_MAX && s->query.steps; i++)
        search_variable(s, &index->placed[i]);
    return true;
}

void extract_symbols_constants(struct extract_symbols *symbols, const char *type,
                               extract_value_taker *take, void *context)
{
    struct search s = {.symbols = symbols, .type = type, .take = take, .context = context};

    s.query = (struct query){extract_types_dwarf(symbols), &symbols->types, STEPS_OF_A_QUESTION};
    if (s.query.dwarf)
        extract_dwarf_run(&symbols->types.dwarf, search_all, &s);
}
#endif
