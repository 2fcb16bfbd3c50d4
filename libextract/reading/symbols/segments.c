// SPDX-License-Identifier: MIT
// symbols: divides the address space among the symbols.
//
// The input is the symbols, sorted by address, and the end of each. They may nest and overlap. The
// output is disjoint segments, so that one binary search finds the owner of an address. If several
// symbols cover an address, the one with the nearest start at or below it becomes the owner. If
// several start there, the first in the order of the table does. An unsized label inside a sized
// function does not take the rest of the function.
#include "symbols_room.h"

// One pass over the symbols in the order of their addresses.
struct sweep {
    struct symbol_table *table;
    const uint64_t *ends;
    uint32_t *open; // stack of symbols that cover the current address; the top one owns it
    size_t depth;
};

// Starts a segment at `address`, unless the owner stays the same.
static void cut(struct symbol_table *table, uint64_t address, uint32_t owner)
{
    size_t last = table->segment_count - 1; // not used while there is no segment

    if (table->segment_count && table->starts[last] == address) {
        table->owners[last] = owner;
        return;
    }
    if (table->segment_count ? table->owners[last] == owner : owner == NO_OWNER)
        return;
    table->starts[table->segment_count] = address;
    table->owners[table->segment_count++] = owner;
}

// Closes every symbol whose cover ends at or before `address`.
static void close_until(struct sweep *s, uint64_t address)
{
    while (s->depth && s->ends[s->open[s->depth - 1]] <= address) {
        uint64_t end = s->ends[s->open[s->depth - 1]];
        while (s->depth && s->ends[s->open[s->depth - 1]] <= end)
            s->depth--;
        cut(s->table, end, s->depth ? s->open[s->depth - 1] : NO_OWNER);
    }
}

// Returns true if symbol i becomes the owner at its start. `best` is the first symbol of that
// address: next to a sized symbol, a label adds nothing.
static bool becomes_owner(const struct sweep *s, size_t i, size_t best)
{
    const struct extract_symbol *symbols = s->table->symbols;

    if (s->ends[i] <= symbols[i].address)
        return false;
    if (symbols[i].size)
        return true;
    return !symbols[best].size && (!s->depth || !symbols[s->open[s->depth - 1]].size);
}

// Opens all symbols of one address, and returns the index after them. The first is the best one and
// is pushed last, so that it is on top of the stack.
static size_t sweep_group(struct sweep *s, size_t first)
{
    const struct extract_symbol *symbols = s->table->symbols;
    uint64_t address = symbols[first].address;
    size_t end = first;

    close_until(s, address);
    while (end < s->table->count && symbols[end].address == address)
        end++;
    for (size_t i = end; i-- > first;) {
        if (becomes_owner(s, i, first)) {
            s->open[s->depth++] = (uint32_t)i;
            cut(s->table, address, (uint32_t)i);
        }
    }
    return end;
}

bool extract_segments_build(struct symbol_table *table, const uint64_t *ends)
{
    size_t most = 2 * table->count + 1;
    struct sweep s = {table, ends, malloc((table->count + 1) * sizeof *s.open), 0};

    table->starts = malloc(most * sizeof *table->starts);
    table->owners = malloc(most * sizeof *table->owners);
    bool done = s.open && table->starts && table->owners;
    for (size_t i = 0; done && i < table->count;)
        i = sweep_group(&s, i);
    if (done)
        close_until(&s, UINT64_MAX);
    free(s.open);
    return done;
}
