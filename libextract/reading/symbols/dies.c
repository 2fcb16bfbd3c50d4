// SPDX-License-Identifier: MIT
// symbols: reads single entries (DIEs) of .debug_info.
//
// A caller gets the first child of an entry and steps through its siblings. Each entry is read into
// a struct die, which holds the attributes that matter for types. Every step has a cost, so that
// damaged or hostile DWARF ends a query instead of keeping the program busy forever.
// Standard: DWARF 5, sections 2.3 (siblings), 5.7.6 (members) and 7.5.4 (attributes).
#ifdef EXTRACT_HAVE_DW
#include "dies.h"

bool extract_die_spend(struct query *query, uint64_t steps)
{
    bool enough = steps <= query->steps;

    query->steps = enough ? query->steps - steps : 0;
    return enough;
}

bool extract_die_is_struct(const struct die *die)
{
    return die->tag == DW_TAG_structure_type || die->tag == DW_TAG_class_type ||
           die->tag == DW_TAG_union_type;
}

static uint64_t number(Dwarf_Attribute *attribute)
{
    Dwarf_Word value;

    return dwarf_formudata(attribute, &value) == 0 ? value : 0;
}

// Returns the offset of a member. It is a number or, in older versions of DWARF, an expression that
// adds a number.
static uint64_t member_location(Dwarf_Attribute *attribute)
{
    Dwarf_Word value;
    Dwarf_Op *expression;
    size_t count;

    if (dwarf_formudata(attribute, &value) == 0)
        return value;
    if (dwarf_getlocation(attribute, &expression, &count) != 0 || !count)
        return 0;
    uint8_t op = expression[0].atom;
    return op == DW_OP_plus_uconst || op == DW_OP_constu ? expression[0].number : 0;
}

// Reads an address that is stored in a table of the unit (7.27).
static bool read_indexed_address(Dwarf_Attribute *attribute, uint64_t *address)
{
    Dwarf_Attribute entry;
    Dwarf_Op *expression;
    Dwarf_Addr found;
    size_t count;

    if (dwarf_getlocation(attribute, &expression, &count) != 0 || count != 1 ||
        dwarf_getlocation_attr(attribute, expression, &entry) != 0 ||
        dwarf_formaddr(&entry, &found) != 0)
        return false;
    *address = found;
    return true;
}

// Reads the location of a variable. It is fixed if it is an address and nothing else (2.5.1.1).
static void read_location(Dwarf_Attribute *attribute, struct die *die)
{
    Dwarf_Block block;

    if (die->tag != DW_TAG_variable || dwarf_formblock(attribute, &block) != 0)
        return;
    if (block.length && block.data[0] == DW_OP_addrx) {
        die->placed = read_indexed_address(attribute, &die->address);
        return;
    }
    struct extract_cursor c = extract_cursor_make(block.data, block.length, die->file->order);
    die->placed = extract_cursor_u8(&c) == DW_OP_addr;
    die->address = extract_cursor_word(&c, die->file->word);
    die->placed &= !c.failed && !extract_cursor_left(&c);
}

// Reads the value of an enumerator. Negative values have signed forms.
static void read_value(Dwarf_Attribute *attribute, struct die *die)
{
    bool is_signed = attribute->form == DW_FORM_sdata || attribute->form == DW_FORM_implicit_const;
    Dwarf_Sword with_sign;
    Dwarf_Word value;

    if (die->tag != DW_TAG_enumerator)
        return;
    if (is_signed && dwarf_formsdata(attribute, &with_sign) == 0) {
        die->value = with_sign;
        die->valued = true;
    } else if (!is_signed && dwarf_formudata(attribute, &value) == 0) {
        die->value = (int64_t)value;
        die->valued = true;
    }
}

static int read_attribute(Dwarf_Attribute *attribute, void *context)
{
    struct die *die = context;
    Dwarf_Word value;

    switch (dwarf_whatattr(attribute)) {
    case DW_AT_name:
        die->name = dwarf_formstring(attribute);
        break;
    case DW_AT_byte_size:
        die->sized = dwarf_formudata(attribute, &die->size) == 0;
        break;
    case DW_AT_bit_size:
        die->bitfield = true;
        break;
    case DW_AT_upper_bound:
        die->count = dwarf_formudata(attribute, &value) == 0 ? value + 1 : 0;
        break;
    case DW_AT_count:
        die->count = number(attribute);
        break;
    case DW_AT_const_value:
        read_value(attribute, die);
        break;
    case DW_AT_data_member_location:
        die->location = member_location(attribute);
        break;
    case DW_AT_declaration:
        dwarf_formflag(attribute, &die->declaration);
        break;
    case DW_AT_type:
        die->type = *attribute;
        break;
    case DW_AT_location:
        read_location(attribute, die);
        break;
    case DW_AT_specification:
        die->declared = *attribute;
        break;
    case DW_AT_signature:
        die->definition = *attribute;
        break;
    default:
        break;
    }
    return DWARF_CB_OK;
}

bool extract_die_read(struct query *query, const Dwarf_Die *at, struct die *die)
{
    memset(die, 0, sizeof *die);
    die->file = query->dwarf->file;
    die->die = *at;
    die->tag = dwarf_tag(&die->die);
    if (die->tag == DW_TAG_invalid || !extract_die_spend(query, 1) ||
        dwarf_getattrs(&die->die, read_attribute, die, 0) != 1)
        return false;
    if (die->name && (!*die->name || !extract_die_spend(query, strlen(die->name) / 16) ||
                      !extract_elf_clean(die->name)))
        die->name = NULL;
    return true;
}

bool extract_die_child(struct query *query, const Dwarf_Die *parent, struct die *child)
{
    Dwarf_Die at = *parent;

    return dwarf_child(&at, &at) == 0 && extract_die_read(query, &at, child);
}

// To find a sibling, libdw walks over all that is inside the entry. Hence the cost is the distance.
bool extract_die_next(struct query *query, Dwarf_Die *at)
{
    uint64_t before = dwarf_dieoffset(at);
    Dwarf_Die next;

    if (dwarf_siblingof(at, &next) != 0) {
        if (dwarf_haschildren(at))
            extract_die_spend(query, query->dwarf->largest);
        return false;
    }
    *at = next;
    return extract_die_spend(query, dwarf_dieoffset(at) - before);
}

bool extract_die_sibling(struct query *query, struct die *die)
{
    Dwarf_Die at = die->die;

    return extract_die_next(query, &at) && extract_die_read(query, &at, die);
}
#endif
