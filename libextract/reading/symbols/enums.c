// SPDX-License-Identifier: MIT
// symbols: lists the enumerations in the source of the firmware.
//
// The first lookup walks through all units of .debug_info and fills a table; later lookups read
// only the table. An enumeration in a header appears in every unit that includes it, but is kept
// once. Standard: DWARF 5, section 5.8.
#ifdef EXTRACT_HAVE_DW
#define _GNU_SOURCE // qsort_r
#include "dies.h"
#include "symbols/dwarf.h"

enum { ENUMERATORS_MAX = 1 << 20, NAMES_MAX = 1 << 26 };

struct building {
    struct extract_symbols *symbols;
    struct query query;
    size_t unit; // index of the first enumeration of the current unit
};

static uint32_t store_name(struct enum_table *table, const char *name)
{
    size_t at = table->names.used;

    extract_text_put(&table->names, name, strlen(name) + 1);
    return (uint32_t)at;
}

static bool add_enumerator(struct enum_table *table, const struct die *die)
{
    struct enumerator *list = extract_grow(table->enumerators, &table->enumerator_capacity,
                                           table->enumerator_count, sizeof *list);

    if (!list)
        return false;
    table->enumerators = list;
    list[table->enumerator_count++] = (struct enumerator){store_name(table, die->name), die->value};
    return true;
}

// Returns true while the table is below its limits. Above them, nothing more is read.
static bool has_room(const struct enum_table *table)
{
    return table->enumerator_count < ENUMERATORS_MAX && table->names.used < NAMES_MAX;
}

static bool add_enumeration(struct building *b, const struct die *type)
{
    struct enum_table *table = &b->symbols->enums;
    struct enumeration *list =
        extract_grow(table->list, &table->capacity, table->count, sizeof *list);
    struct enumeration one = {.name = UINT32_MAX,
                              .first = (uint32_t)table->enumerator_count,
                              .offset = dwarf_dieoffset(&((struct die *)type)->die)};
    struct die die;

    if (!list)
        return false;
    table->list = list;
    if (type->name)
        one.name = store_name(table, type->name);
    bool more = extract_die_child(&b->query, &type->die, &die);
    for (; more && has_room(table); more = extract_die_sibling(&b->query, &die))
        if (die.tag == DW_TAG_enumerator && die.name && die.valued && !add_enumerator(table, &die))
            return false;
    one.count = (uint32_t)table->enumerator_count - one.first;
    if (one.count)
        table->list[table->count++] = one;
    return true;
}

// Gives the name of a typedef to its enumeration, if that has no tag. The enumerations of a unit
// are in the order of their offsets, hence the binary search.
static void name_by_typedef(struct building *b, const struct die *die)
{
    struct enum_table *table = &b->symbols->enums;
    Dwarf_Attribute attribute = die->type;
    size_t low = b->unit, high = table->count;
    Dwarf_Die at;

    if (!die->name || !attribute.form || !dwarf_formref_die(&attribute, &at))
        return;
    uint64_t offset = dwarf_dieoffset(&at);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->list[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < table->count && table->list[low].offset == offset &&
        table->list[low].name == UINT32_MAX)
        table->list[low].name = store_name(table, die->name);
}

// Adds the enumerations at the top level of a unit. Typedefs need a second pass, because a typedef
// may come before its enumeration.
static bool add_unit(struct building *b, const Dwarf_Die *unit)
{
    const struct enum_table *table = &b->symbols->enums;
    struct die die;

    b->unit = table->count;
    bool more = extract_die_child(&b->query, unit, &die);
    for (; more && has_room(table); more = extract_die_sibling(&b->query, &die))
        if (die.tag == DW_TAG_enumeration_type && !die.declaration && !add_enumeration(b, &die))
            return false;
    if (table->count == b->unit)
        return true;
    more = extract_die_child(&b->query, unit, &die);
    for (; more && has_room(table); more = extract_die_sibling(&b->query, &die))
        if (die.tag == DW_TAG_typedef)
            name_by_typedef(b, &die);
    return true;
}

static bool build(void *context)
{
    struct building *b = context;
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;

    while (dwarf_get_units(b->query.dwarf->dw, cu, &cu, NULL, NULL, &unit, NULL) == 0)
        if (!add_unit(b, &unit))
            return false;
    return !b->symbols->enums.names.code;
}

// ---- repeated enumerations ----

static const char *name_at(const struct enum_table *table, uint32_t name)
{
    return name == UINT32_MAX ? "" : table->names.data + name;
}

static int by_content(const void *left, const void *right, void *context)
{
    const struct enum_table *table = context;
    const struct enumeration *a = left, *b = right;
    int order = strcmp(name_at(table, a->name), name_at(table, b->name));

    for (uint32_t i = 0; !order && i < a->count && i < b->count; i++) {
        const struct enumerator *x = &table->enumerators[a->first + i];
        const struct enumerator *y = &table->enumerators[b->first + i];
        order = strcmp(table->names.data + x->name, table->names.data + y->name);
        order = order ? order : (x->value > y->value) - (x->value < y->value);
    }
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static void drop_repeated(struct enum_table *table)
{
    size_t kept = 0;

    if (table->count)
        qsort_r(table->list, table->count, sizeof *table->list, by_content, table);
    for (size_t i = 0; i < table->count; i++)
        if (!kept || by_content(&table->list[kept - 1], &table->list[i], table))
            table->list[kept++] = table->list[i];
    table->count = kept;
}

void extract_enums_free(struct enum_table *enums)
{
    free(enums->list);
    free(enums->enumerators);
    extract_text_free(&enums->names);
    *enums = (struct enum_table){.read = true};
}

static void read_all(struct extract_symbols *symbols)
{
    struct enum_table *table = &symbols->enums;
    struct building b = {.symbols = symbols};

    table->read = true;
    extract_text_init(&table->names, NULL, NULL);
    b.query.dwarf = extract_types_dwarf(symbols);
    b.query.steps = UINT64_MAX;
    if (b.query.dwarf && extract_dwarf_run(&symbols->types.dwarf, build, &b))
        drop_repeated(table);
    else
        extract_enums_free(table);
}

bool extract_symbols_enum(struct extract_symbols *symbols, size_t i, struct extract_enum *found)
{
    struct enum_table *table = &symbols->enums;

    if (!table->read)
        read_all(symbols);
    if (i >= table->count)
        return false;
    const struct enumeration *one = &table->list[i];
    *found = (struct extract_enum){name_at(table, one->name), one->first, one->count};
    return true;
}

bool extract_symbols_enumerator(struct extract_symbols *symbols, const struct extract_enum *of,
                                size_t i, const char **name, int64_t *value)
{
    const struct enum_table *table = &symbols->enums;

    if (i >= of->count || of->first + i >= table->enumerator_count)
        return false;
    *name = table->names.data + table->enumerators[of->first + i].name;
    *value = table->enumerators[of->first + i].value;
    return true;
}
#endif
