// SPDX-License-Identifier: MIT
// symbols: finds types by their name, and by the address of a variable.
//
// The first query walks through all units of .debug_info and builds an index of the named types and
// of the variables with a fixed address. A query then finds its type in the index, resolves
// typedefs and qualifiers, and calls the function that answers it (see dies.h). Standard: DWARF 5,
// chapter 5 "Type Entries".
#ifdef EXTRACT_HAVE_DW
#include "dies.h"
#include "symbols/dwarf.h"

// Returns the rank of a tag among types with the same bare name: typedefs come first, then structs,
// then the rest.
static int rank(int tag)
{
    struct die die = {.tag = tag};

    return tag == DW_TAG_typedef ? 0 : extract_die_is_struct(&die) ? 1 : 2;
}

static bool is_indexed(const struct die *die)
{
    return die->name && !die->declaration && !die->definition.form &&
           (die->tag == DW_TAG_typedef || die->tag == DW_TAG_base_type ||
            die->tag == DW_TAG_enumeration_type || extract_die_is_struct(die));
}

static bool add_entry(struct type_index *index, const struct die *die)
{
    void *grown =
        extract_grow(index->entries, &index->capacity, index->count, sizeof *index->entries);
    if (!grown)
        return false;
    index->entries = grown;
    index->entries[index->count++] = (struct type_entry){die->name, die->die, die->tag};
    return true;
}

static bool add_placed(struct type_index *index, const struct die *die)
{
    void *grown = extract_grow(index->placed, &index->placed_capacity, index->placed_count,
                               sizeof *index->placed);
    if (!grown)
        return false;
    index->placed = grown;
    index->placed[index->placed_count++] = (struct placed_entry){die->address, die->die};
    return true;
}

// Adds the types and variables at the top level of a unit. Damage ends the unit, but not the index.
static bool add_unit(struct type_index *index, const Dwarf_Die *unit)
{
    struct query query = {.dwarf = index->dwarf, .steps = UINT64_MAX};
    struct die die;

    bool more = extract_die_child(&query, unit, &die);
    for (; more; more = extract_die_sibling(&query, &die))
        if ((is_indexed(&die) && !add_entry(index, &die)) ||
            (die.placed && !add_placed(index, &die)))
            return false;
    return true;
}

static int by_name(const void *left, const void *right)
{
    const struct type_entry *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    if (order)
        return order;
    if (rank(a->tag) != rank(b->tag))
        return rank(a->tag) - rank(b->tag);
    if (a->tag != b->tag)
        return a->tag - b->tag;
    // The bytes of the units are stored in the order of the units.
    return (a->die.addr > b->die.addr) - (a->die.addr < b->die.addr);
}

static int by_address(const void *left, const void *right)
{
    const struct placed_entry *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->die.addr > b->die.addr) - (a->die.addr < b->die.addr);
}

// Drops repeated types. Every unit that includes a header repeats its types, and one of each is
// enough.
static void drop_repeated(struct type_index *index)
{
    size_t kept = 0;

    for (size_t i = 0; i < index->count; i++) {
        const struct type_entry *last = kept ? &index->entries[kept - 1] : NULL;
        if (last && last->tag == index->entries[i].tag &&
            strcmp(last->name, index->entries[i].name) == 0)
            continue;
        index->entries[kept++] = index->entries[i];
    }
    index->count = kept;
}

static bool build(void *context)
{
    struct type_index *index = context;
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;

    while (dwarf_get_units(index->dwarf->dw, cu, &cu, NULL, NULL, &unit, NULL) == 0)
        if (!add_unit(index, &unit))
            return false;
    if (index->count)
        qsort(index->entries, index->count, sizeof *index->entries, by_name);
    drop_repeated(index);
    if (index->placed_count)
        qsort(index->placed, index->placed_count, sizeof *index->placed, by_address);
    return true;
}

void extract_types_free(struct type_index *types)
{
    extract_dwarf_close(types->dwarf);
    free(types->entries);
    free(types->placed);
    memset(types, 0, sizeof *types);
}

// Returns the index of the first entry of a name, or of the entry that would follow it.
static size_t find_name(const struct type_index *index, const char *name)
{
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(index->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Finds the definition of a name. If `tag` is not 0, only types with that tag count.
static bool find_definition(struct query *query, const char *name, int tag, struct die *type,
                            unsigned depth);

// Gets the entry that an attribute refers to. Returns false if there is none, as in a typedef of
// void.
static bool refer(const Dwarf_Attribute *attribute, Dwarf_Die *at)
{
    Dwarf_Attribute copy = *attribute;

    return copy.form && dwarf_formref_die(&copy, at);
}

// Reads a type, and replaces typedefs, qualifiers and declarations with the type that they stand
// for.
static bool peel(struct query *query, Dwarf_Die at, struct die *type, unsigned depth)
{
    for (; depth < TYPE_DEPTH_MAX && extract_die_read(query, &at, type); depth++) {
        const Dwarf_Attribute *next = &type->definition;
        switch (type->tag) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
        case DW_TAG_packed_type:
            next = &type->type;
            break;
        default:
            if (!type->declaration && !type->definition.form)
                return true;
            if (!type->definition.form)
                return type->name && find_definition(query, type->name, type->tag, type, depth + 1);
        }
        if (!refer(next, &at))
            return false;
    }
    return false;
}

static bool find_definition(struct query *query, const char *name, int tag, struct die *type,
                            unsigned depth)
{
    const struct type_index *index = query->index;

    // The cost of the comparisons is the length of the name.
    if (!extract_die_spend(query, strlen(name)))
        return false;
    for (size_t i = find_name(index, name);
         i < index->count && strcmp(index->entries[i].name, name) == 0; i++) {
        if (tag && index->entries[i].tag != tag)
            continue;
        if (peel(query, index->entries[i].die, type, depth))
            return true;
    }
    return false;
}

bool extract_types_of(struct query *query, const struct die *die, struct die *type)
{
    Dwarf_Die at;

    return refer(&die->type, &at) && peel(query, at, type, 0);
}

// Finds a type by name ("TX_THREAD", "struct TX_THREAD_STRUCT", "TX_THREAD_STRUCT"), without
// typedefs and qualifiers.
static bool type_of_name(struct query *query, const char *name, struct die *type)
{
    static const struct {
        const char *word;
        int tag;
    } words[] = {{"struct ", DW_TAG_structure_type},
                 {"union ", DW_TAG_union_type},
                 {"enum ", DW_TAG_enumeration_type},
                 {"class ", DW_TAG_class_type}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(name, words[i].word, length) == 0)
            return find_definition(query, name + length, words[i].tag, type, 0);
    }
    return find_definition(query, name, 0, type, 0);
}

bool extract_types_array(struct query *query, const struct die *type, struct die *element,
                         uint64_t *total)
{
    struct die range;
    uint64_t count = 1;

    if (type->tag != DW_TAG_array_type)
        return false;
    bool more = extract_die_child(query, &type->die, &range);
    for (; more; more = extract_die_sibling(query, &range))
        if (range.tag == DW_TAG_subrange_type && __builtin_mul_overflow(count, range.count, &count))
            return false;
    *total = count;
    return extract_types_of(query, type, element);
}

static bool size_of(struct query *query, const struct die *type, uint64_t *size, unsigned depth)
{
    struct die element;
    uint64_t count, bytes;

    *size = type->size;
    if (type->sized)
        return true;
    *size = query->dwarf->file->word;
    if (type->tag == DW_TAG_pointer_type || type->tag == DW_TAG_reference_type)
        return true;
    if (depth >= TYPE_DEPTH_MAX || !extract_types_array(query, type, &element, &count))
        return false;
    return size_of(query, &element, &bytes, depth + 1) &&
           !__builtin_mul_overflow(bytes, count, size);
}

bool extract_types_size(struct query *query, const struct die *type, uint64_t *size)
{
    return size_of(query, type, size, 0);
}

// Finds the type of the variable at an address.
static bool type_of_variable(struct query *query, uint64_t address, struct die *type)
{
    const struct type_index *index = query->index;
    size_t up_to = extract_keys_count_up_to(index->placed, index->placed_count,
                                            sizeof *index->placed, address);
    struct die die;
    Dwarf_Die at;

    if (!up_to || index->placed[up_to - 1].address != address ||
        !extract_die_read(query, &index->placed[up_to - 1].die, &die))
        return false;
    if (!die.type.form && (!refer(&die.declared, &at) || !extract_die_read(query, &at, &die)))
        return false;
    return extract_types_of(query, &die, type);
}

static bool answer_question(void *context)
{
    struct type_question *q = context;
    struct die type;
    bool found = q->type ? type_of_name(&q->query, q->type, &type)
                         : type_of_variable(&q->query, q->address, &type);

    return found && q->answer(&q->query, &type, q);
}

struct extract_dwarf *extract_types_dwarf(struct extract_symbols *symbols)
{
    struct type_index *index = &symbols->types;

    if (!index->read) {
        index->dwarf = extract_dwarf_open(&symbols->file, false);
        if (index->dwarf && !extract_dwarf_run(&index->dwarf, build, index))
            extract_types_free(index);
        index->read = true;
    }
    return index->dwarf;
}

bool extract_types_query(struct extract_symbols *symbols, struct type_question *question)
{
    struct type_index *index = &symbols->types;

    extract_types_dwarf(symbols);
    question->query = (struct query){index->dwarf, index, STEPS_OF_A_QUESTION};
    return extract_dwarf_run(&index->dwarf, answer_question, question);
}

static bool answer_size(struct query *query, const struct die *type, struct type_question *question)
{
    return extract_types_size(query, type, &question->size);
}

bool extract_symbols_type_size(struct extract_symbols *symbols, const char *name, uint64_t *size)
{
    struct type_question question = {.type = name, .answer = answer_size};

    if (!extract_types_query(symbols, &question))
        return false;
    *size = question.size;
    return true;
}
#endif
