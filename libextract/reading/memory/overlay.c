// SPDX-License-Identifier: MIT
// memory: makes sorted, disjoint spans out of segments that overlap. If two segments hold the same
// address, the earlier one wins.
//
// The ends of all segments cut the address space into cells. Each segment, in order, takes the
// cells that it covers and that are still free. `next` skips runs of taken cells (a disjoint set
// with path halving), so that hostile overlaps cost no more than sorting does.
//
//   segment 1        ├──────────┤
//   segment 2   ├─────────┤
//   segment 3                ├───────┤
//   cells       │  2 │ 1  │1 │1 │ 3  │      number: the segment that owns the cell
#include "memory/core_dump.h"
#include <stdlib.h>

struct cells {
    uint64_t *starts; // sorted; cell i is [starts[i], starts[i + 1])
    size_t count;
    uint32_t *next;  // following it from a cell leads to the first free one from there on
    uint32_t *owner; // index of the owning segment + 1; 0 if the cell is free
};

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

// Returns the first address after a segment, 0 at the end of the address space.
static uint64_t end_of(const struct extract_segment *s)
{
    return s->address + s->length;
}

static void find_cells(struct cells *cells, const struct extract_segment *segments, size_t count)
{
    size_t n = 0, unique = 0;

    for (size_t i = 0; i < count; i++) {
        cells->starts[n++] = segments[i].address;
        if (end_of(&segments[i]))
            cells->starts[n++] = end_of(&segments[i]);
    }
    qsort(cells->starts, n, sizeof *cells->starts, compare_addresses);
    for (size_t i = 0; i < n; i++)
        if (!unique || cells->starts[unique - 1] != cells->starts[i])
            cells->starts[unique++] = cells->starts[i];
    cells->count = unique;
    for (size_t i = 0; i <= unique; i++)
        cells->next[i] = (uint32_t)i;
}

// Returns the index of the cell that begins at `address`, which must be in the table.
static size_t cell_of(const struct cells *cells, uint64_t address)
{
    size_t low = 0, high = cells->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cells->starts[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t first_free(struct cells *cells, size_t i)
{
    while (cells->next[i] != i) {
        cells->next[i] = cells->next[cells->next[i]];
        i = cells->next[i];
    }
    return i;
}

static void claim_cells(struct cells *cells, const struct extract_segment *s, size_t index)
{
    size_t end = end_of(s) ? cell_of(cells, end_of(s)) : cells->count;
    size_t i = first_free(cells, cell_of(cells, s->address));

    while (i < end) {
        cells->owner[i] = (uint32_t)index + 1;
        cells->next[i] = (uint32_t)i + 1;
        i = first_free(cells, i);
    }
}

// Joins neighboring cells of one owner to spans and returns how many there are. If `spans` is NULL,
// only counts them.
static size_t put_spans(const struct cells *cells, const struct extract_segment *segments,
                        struct extract_image *spans)
{
    size_t n = 0;

    for (size_t i = 0, end; i < cells->count; i = end) {
        uint32_t owner = cells->owner[i];
        for (end = i + 1; end < cells->count && cells->owner[end] == owner;)
            end++;
        if (!owner)
            continue;
        if (spans) {
            const struct extract_segment *s = &segments[owner - 1];
            uint64_t start = cells->starts[i];
            uint64_t stop = end < cells->count ? cells->starts[end] : 0;
            uint64_t skipped = start - s->address;
            spans[n] = (struct extract_image){.address = start,
                                              .length = stop - start,
                                              .bytes = s->bytes ? s->bytes + skipped : NULL,
                                              .offset = s->offset + skipped};
        }
        n++;
    }
    return n;
}

static bool overlay(struct cells *cells, const struct extract_segment *segments, size_t count,
                    struct extract_image **spans, size_t *span_count)
{
    if (!cells->starts || !cells->next || !cells->owner)
        return false;
    find_cells(cells, segments, count);
    for (size_t i = 0; i < count; i++)
        claim_cells(cells, &segments[i], i);
    *span_count = put_spans(cells, segments, NULL);
    *spans = calloc(*span_count ? *span_count : 1, sizeof **spans);
    if (*spans)
        put_spans(cells, segments, *spans);
    return *spans;
}

enum extract_code extract_overlay(const struct extract_segment *segments, size_t count,
                                  const char *name, struct extract_image **spans,
                                  size_t *span_count, struct extract_error *error)
{
    size_t most = 2 * count + 1; // each segment has two ends
    struct cells cells = {calloc(most, sizeof *cells.starts), 0, calloc(most, sizeof *cells.next),
                          calloc(most, sizeof *cells.owner)};
    bool done = overlay(&cells, segments, count, spans, span_count);

    free(cells.starts);
    free(cells.next);
    free(cells.owner);
    if (done)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "no memory for %zu segments", count);
}
