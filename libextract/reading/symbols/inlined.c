// SPDX-License-Identifier: MIT
// symbols: finds the trace points that a compiler has expanded in place.
//
// posix_trace_event is an inline function of <trace.h> and ringside_trace.h. Line tables contain
// the lines of these headers for its code, but the place of a trace point is that of the call,
// which only the entries of .debug_info contain. Walking them takes time. Hence a unit is left out
// if its abbreviations exclude such calls, which is so for all units without trace points.
// Standard: DWARF 5, section 3.3.8 "Inlinable and Inlined Subroutines".
#ifdef EXTRACT_HAVE_DW
#include "inlined.h"

enum { DEPTH_MAX = 64 }; // levels of functions and blocks in one another

// Returns whether an abbreviation is one for an inline function that is marked artificial, as the
// headers do, or for a call of a function in another unit. Link-time optimization leads to those,
// and GCC drops the mark then.
static bool may_be_trace_point(Dwarf_Abbrev *abbrev)
{
    unsigned tag = dwarf_getabbrevtag(abbrev), found = 0, name, form;
    size_t count;

    if ((tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) ||
        dwarf_getattrcnt(abbrev, &count) != 0)
        return false;
    for (size_t i = 0; i < count && dwarf_getabbrevattr(abbrev, i, &name, &form, NULL) == 0; i++) {
        found |= name == DW_AT_inline ? 1u : name == DW_AT_artificial ? 2u : 0;
        if (tag == DW_TAG_inlined_subroutine && name == DW_AT_abstract_origin &&
            form == DW_FORM_ref_addr)
            return true;
    }
    return found == 3;
}

static bool may_have_calls(Dwarf_Die *unit)
{
    Dwarf_Abbrev *abbrev;
    size_t length, offset = 0;

    while ((abbrev = dwarf_getabbrev(unit, offset, &length)) && abbrev != DWARF_END_ABBREV) {
        offset += length;
        if (may_be_trace_point(abbrev))
            return true;
    }
    return false;
}

static bool is_trace_point(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;

    if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin))
        return false;
    const char *name = dwarf_formstring(dwarf_attr(&origin, DW_AT_name, &attribute));
    return name && strcmp(name, "posix_trace_event") == 0;
}

// Returns whether the entry has code. The linker leaves functions that it drops at address 0.
static bool has_code(Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;

    return dwarf_ranges(die, 0, &base, &start, &end) > 0 && start != 0;
}

// Takes the parts of the code of one call.
static bool take_call(struct inlined_walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0)
        return true;
    while (extract_die_spend(&walk->query, 1) &&
           (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (start < end && !walk->take(walk->context, start, end, file, line))
            return false;
    return true;
}

static bool walk_children(struct inlined_walk *walk, const Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die = *parent;
    bool done = true;

    if (depth == DEPTH_MAX || dwarf_child(&die, &die) != 0)
        return true;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_inlined_subroutine && is_trace_point(&die))
            done = take_call(walk, &die);
        else if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                 tag == DW_TAG_namespace || (tag == DW_TAG_subprogram && has_code(&die)))
            done = walk_children(walk, &die, depth + 1);
    } while (done && extract_die_next(&walk->query, &die));
    return done;
}

bool extract_inlined_read(struct inlined_walk *walk, Dwarf_Die *unit)
{
    return !may_have_calls(unit) || walk_children(walk, unit, 0);
}
#endif
