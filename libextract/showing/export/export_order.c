// SPDX-License-Identifier: MIT
// export: an external merge sort. The parts are sorted by insertion in short blocks, which are then
// merged. Both are fast because most changes are in their place already.
#include "export/export_order.h"
#include "base/file.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_PART = 1 << 19, // changes: 12 MiB
    FIRST_CAPACITY = 1 << 10,
    BLOCK = 32,       // changes that are sorted by insertion
    WINDOW = 1 << 10, // changes that are read of a part at once
    MAX_PARTS = 1 << 11
};

// ---- sorting ----

// Sorts each block by itself.
static void sort_blocks(struct export_change *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct export_change change = items[i];
        size_t to = i;
        for (; to % BLOCK && change.at < items[to - 1].at; to--)
            items[to] = items[to - 1];
        if (to < i)
            items[to] = change;
    }
}

// Merges two neighboring sorted ranges. What is in its place already is not moved: most of both.
static void merge(struct export_change *items, size_t start, size_t middle, size_t end,
                  struct export_change *spare)
{
    size_t to = middle, a = 0, b = middle;

    while (to > start && items[to - 1].at > items[middle].at)
        to--;
    size_t count = middle - to;
    memcpy(spare, &items[to], count * sizeof *spare);
    while (a < count && b < end)
        items[to++] = items[b].at < spare[a].at ? items[b++] : spare[a++];
    memcpy(&items[to], &spare[a], (count - a) * sizeof *spare);
}

static void sort(struct export_order *order)
{
    size_t count = order->count;

    sort_blocks(order->items, count);
    for (size_t width = BLOCK; width < count; width *= 2)
        for (size_t start = 0; start + width < count; start += 2 * width) {
            size_t end = start + 2 * width < count ? start + 2 * width : count;
            merge(order->items, start, start + width, end, order->spare);
        }
}

// ---- parts ----

static const char space_hint[] = "free space in the directory for temporary files";

static enum extract_code spill(struct export_order *order, struct extract_error *error)
{
    sort(order);
    if (!order->file && !(order->file = tmpfile()))
        return extract_file_error("temporary file", space_hint, error);
    if (order->parts == MAX_PARTS)
        return extract_error_set(error, EXTRACT_LIMIT, "export", "use --from and --to",
                                 "the trace has too many changes");
    // After a failure or a run, the file may have more than the parts.
    if (fseeko(order->file, (off_t)(order->parts * order->part * sizeof *order->items), SEEK_SET))
        return extract_file_error("temporary file", space_hint, error);
    if (fwrite(order->items, sizeof *order->items, order->count, order->file) != order->count)
        return extract_file_error("temporary file", space_hint, error);
    order->parts++;
    order->count = 0;
    return EXTRACT_OK;
}

// Doubles the buffers, up to the size of a part. Errors: NOMEM, after which they are as before.
static enum extract_code grow(struct export_order *order, struct extract_error *error)
{
    if (!order->part)
        order->part = DEFAULT_PART;
    size_t capacity = order->capacity ? 2 * order->capacity : FIRST_CAPACITY;
    capacity = capacity < order->part ? capacity : order->part;
    struct export_change *items = realloc(order->items, capacity * sizeof *items);
    if (items)
        order->items = items;
    struct export_change *spare = items ? realloc(order->spare, capacity * sizeof *spare) : NULL;
    if (!spare)
        return extract_error_set(error, EXTRACT_NOMEM, "export", NULL, "out of memory");
    order->spare = spare;
    order->capacity = capacity;
    return EXTRACT_OK;
}

enum extract_code export_order_add(struct export_order *order, const struct export_change *change,
                                   struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (order->count == order->capacity)
        code = order->capacity && order->capacity == order->part ? spill(order, error)
                                                                 : grow(order, error);
    if (!code)
        order->items[order->count++] = *change;
    return code;
}

// ---- merging ----

// A part that is read. The last one is in memory.
struct part {
    struct export_change *window;
    size_t at, count;    // in the window
    uint64_t next, left; // in the file: offset, and changes
};

static enum extract_code fill(struct export_order *order, struct part *part,
                              struct extract_error *error)
{
    size_t count = part->left < WINDOW ? (size_t)part->left : WINDOW;
    size_t bytes = count * sizeof *part->window;

    part->at = 0;
    part->count = count;
    part->left -= count;
    if (!count)
        return EXTRACT_OK;
    if (extract_file_read_at(fileno(order->file), part->window, bytes, part->next) != bytes)
        return extract_error_set(error, EXTRACT_IO, "temporary file", NULL, "cannot be read again");
    part->next += bytes;
    return EXTRACT_OK;
}

// Returns whether part `a` comes before part `b`.
static bool is_before(const struct part *parts, size_t a, size_t b)
{
    uint64_t at_a = parts[a].window[parts[a].at].at, at_b = parts[b].window[parts[b].at].at;

    return at_a != at_b ? at_a < at_b : a < b;
}

static void sink_down(const struct part *parts, size_t *heap, size_t count, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && is_before(parts, heap[child + 1], heap[child]))
            child++;
        if (!is_before(parts, heap[child], heap[i]))
            return;
        size_t top = heap[i];
        heap[i] = heap[child];
        heap[child] = top;
    }
}

static enum extract_code merge_parts(struct export_order *order, struct part *parts, size_t *heap,
                                     void (*put)(void *, const struct export_change *),
                                     void *context, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    size_t count = 0;

    for (size_t i = 0; i <= order->parts && !code; i++) {
        if (i < order->parts)
            code = fill(order, &parts[i], error);
        if (parts[i].count)
            heap[count++] = i;
    }
    for (size_t i = count / 2; i-- > 0 && !code;)
        sink_down(parts, heap, count, i);
    while (count && !code) {
        struct part *part = &parts[heap[0]];
        put(context, &part->window[part->at++]);
        if (part->at == part->count && part->left)
            code = fill(order, part, error);
        else if (part->at == part->count)
            heap[0] = heap[--count];
        sink_down(parts, heap, count, 0);
    }
    return code;
}

enum extract_code export_order_run(struct export_order *order,
                                   void (*put)(void *context, const struct export_change *change),
                                   void *context, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    size_t count = order->parts;
    struct part *parts = calloc(count + 1, sizeof *parts);
    size_t *heap = calloc(count + 1, sizeof *heap);
    struct export_change *windows = malloc((count * WINDOW + 1) * sizeof *windows);

    sort(order);
    if (!parts || !heap || !windows) {
        code = extract_error_set(error, EXTRACT_NOMEM, "export", NULL, "out of memory");
    } else if (order->file && fflush(order->file)) {
        code = extract_file_error("temporary file", space_hint, error);
    } else {
        for (size_t i = 0; i < count; i++)
            parts[i] = (struct part){.window = &windows[i * WINDOW],
                                     .next = (uint64_t)i * order->part * sizeof *windows,
                                     .left = order->part};
        parts[count] = (struct part){.window = order->items, .count = order->count};
        code = merge_parts(order, parts, heap, put, context, error);
    }
    free(windows);
    free(heap);
    free(parts);
    order->count = order->parts = 0;
    return code;
}

void export_order_free(struct export_order *order)
{
    if (order->file)
        fclose(order->file);
    free(order->items);
    free(order->spare);
    *order = (struct export_order){.count = 0};
}
