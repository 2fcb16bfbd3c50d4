// SPDX-License-Identifier: MIT
// cli/top: the window over a recording. In: blocks of a recording, in order. Out: a snapshot that
// holds the newest entries, all of one run without a gap; counts of what arrived, was lost and
// began again.
#include "base/cursor.h"
#include "cli/top/top.h"
#include "formats/format.h"
#include <stdlib.h>

#define SPAN (TOP_SECONDS * EXTRACT_SECOND)

void top_window_clear(struct top_window *window)
{
    window->oldest = window->count = window->provisional = 0;
    top_blocks_clear(&window->blocks);
}

void top_window_free(struct top_window *window)
{
    free(window->slots);
    free(window->registry);
    top_blocks_free(&window->blocks);
    memset(window, 0, sizeof *window);
}

static struct top_step *step_at(struct top_window *window, unsigned i)
{
    return &window->step[(window->step_oldest + i) % TOP_STEPS];
}

static const struct top_step *newest_step(const struct top_window *window)
{
    return &window->step[(window->step_oldest + window->steps - 1) % TOP_STEPS];
}

uint64_t top_window_newest(const struct top_window *window)
{
    return window->steps ? newest_step(window)->wall : 0;
}

// Drops the oldest entries until `count` are left.
static void shrink(struct top_window *window, uint64_t count)
{
    top_blocks_shrink(&window->blocks, count);
    if (window->count <= count)
        return;
    uint32_t drop = window->count - (uint32_t)count;
    window->oldest = (window->oldest + drop) % TOP_ENTRIES;
    window->count = (uint32_t)count;
}

static void drop_step(struct top_window *window)
{
    window->step_entries -= step_at(window, 0)->count;
    window->step_oldest = (window->step_oldest + 1) % TOP_STEPS;
    window->steps--;
    shrink(window, window->step_entries);
}

void top_window_age(struct top_window *window, uint64_t now)
{
    while (window->steps > 1 && now > SPAN && step_at(window, 0)->wall < now - SPAN)
        drop_step(window);
}

// Arrivals that lie close together are one, so that the steps reach over the whole window. So are
// those behind a host's clock that was set back. What came with the first arrival belongs to it.
static void note_arrival(struct top_window *window, uint64_t wall, uint64_t count)
{
    window->state.entries += count;
    window->step_entries += count;
    uint64_t near = window->steps > 1 ? SPAN / TOP_STEPS : 1;
    if (window->steps && wall < newest_step(window)->wall + near) {
        step_at(window, window->steps - 1)->count += count;
        return;
    }
    if (window->steps == TOP_STEPS)
        drop_step(window);
    window->steps++;
    *step_at(window, window->steps - 1) = (struct top_step){wall, count};
}

bool top_window_rate(const struct top_window *window, uint64_t now, uint64_t *rate)
{
    if (!window->steps)
        return false;
    // What arrived first had been there for an unknown time.
    const struct top_step *first = &window->step[window->step_oldest];
    uint64_t entries = window->step_entries - first->count;
    if (now < first->wall || now - first->wall < TOP_MEASURE)
        return false;
    *rate = (uint64_t)((unsigned __int128)entries * (1000 * EXTRACT_SECOND) / (now - first->wall));
    return true;
}

// Whether a window can be made over slots of this ring.
static bool fits(const struct extract_ring *ring)
{
    return ring->entries.slot_bytes && ring->entries.slot_bytes <= 4096 &&
           ring->header_bytes <= sizeof ring->header && ring->entries.start >= ring->address &&
           ring->entries.start - ring->address <= EXTRACT_RING_LIMIT &&
           ring->registry.start >= ring->address && ring->registry.end >= ring->registry.start &&
           ring->registry.end <= ring->entries.start &&
           ring->entries.start - ring->address >= ring->header_bytes;
}

static bool is_same_ring(const struct extract_ring *a, const struct extract_ring *b)
{
    return a->format == b->format && a->address == b->address && a->byte_order == b->byte_order &&
           a->word_bytes == b->word_bytes && a->entries.start == b->entries.start &&
           a->entries.slot_bytes == b->entries.slot_bytes;
}

enum extract_code top_window_ring(struct top_window *window, const struct extract_ring *ring,
                                  struct extract_error *error)
{
    if (window->has_ring && is_same_ring(&window->ring, ring)) {
        window->ring = *ring;
        return EXTRACT_OK;
    }
    bool streams = extract_stream_is_recorded(ring->format->stream);
    if (!streams && !fits(ring))
        return extract_error_set(error, EXTRACT_BAD, "trace ring", NULL,
                                 "its parts do not lie one behind the other");
    uint8_t *slots = streams ? NULL : calloc(TOP_ENTRIES, ring->entries.slot_bytes);
    if (!streams && !slots)
        return extract_error_set(error, EXTRACT_NOMEM, "window", NULL, "out of memory");
    free(window->slots);
    window->slots = slots;
    window->ring = *ring;
    window->has_ring = true;
    window->cores = 0;
    window->streams = streams;
    top_window_clear(window);
    return EXTRACT_OK;
}

enum extract_code top_window_objects(struct top_window *window, const void *bytes, size_t length,
                                     struct extract_error *error)
{
    uint8_t *copy = malloc(length ? length : 1);

    if (!copy)
        return extract_error_set(error, EXTRACT_NOMEM, "registry", NULL, "out of memory");
    memcpy(copy, bytes, length);
    free(window->registry);
    window->registry = copy;
    window->registry_bytes = length;
    window->has_names = false;
    return EXTRACT_OK;
}

enum extract_code top_window_names(struct top_window *window, const void *payload, size_t length,
                                   struct extract_error *error)
{
    enum extract_code code = top_window_objects(window, payload, length, error);

    window->has_names |= !code;
    return code;
}

// Copies `count` slots to the window's end; the oldest make room.
static void append(struct top_window *window, const uint8_t *slots, uint32_t count)
{
    size_t bytes = window->ring.entries.slot_bytes;

    shrink(window, TOP_ENTRIES - count);
    for (uint32_t done = 0; done < count;) {
        uint32_t at = (window->oldest + window->count) % TOP_ENTRIES, run = TOP_ENTRIES - at;
        run = run < count - done ? run : count - done;
        memcpy(window->slots + at * bytes, slots + done * bytes, run * bytes);
        window->count += run;
        done += run;
    }
}

// Entries whose numbers are missing are lost, though nobody said so.
static void note_number(struct top_window *window, const struct extract_log_block *block)
{
    if (window->next_known && block->first != window->next) {
        window->state.lost += block->first > window->next ? block->first - window->next : 0;
        window->state.gaps++;
        window->state.gaps_not_exact += block->first < window->next;
        top_window_clear(window);
    }
    window->next = block->first + block->count;
    window->next_known = true;
}

void top_window_skip(struct top_window *window, const struct extract_log_block *block)
{
    note_number(window, block);
    window->state.entries += block->count;
    top_window_clear(window);
}

static void forgo(struct top_window *window)
{
    window->state.gaps++;
    window->state.gaps_not_exact++;
    top_window_clear(window);
}

static void take_bytes(struct top_window *window, const struct extract_log_block *block,
                       const void *payload)
{
    if (!window->streams) {
        forgo(window);
        return;
    }
    note_number(window, block);
    if (block->count)
        note_arrival(window, block->wall, block->count);
    if (!top_blocks_put(&window->blocks, block, payload))
        forgo(window);
    top_blocks_shrink(&window->blocks, TOP_ENTRIES);
    top_window_age(window, block->wall);
}

static void take_entries(struct top_window *window, const struct extract_log_block *block,
                         const void *payload)
{
    size_t slot_bytes = window->ring.entries.slot_bytes;
    uint32_t count = block->count, skip = count > TOP_ENTRIES ? count - TOP_ENTRIES : 0;
    struct extract_cursor c = extract_cursor_make(payload, block->length, EXTRACT_LITTLE);
    const uint8_t *slots =
        window->slots ? extract_cursor_span(&c, (uint64_t)count * slot_bytes) : NULL;

    if (!slots) {
        forgo(window);
        return;
    }
    note_number(window, block);
    if (!count)
        return;
    note_arrival(window, block->wall, count);
    append(window, slots + skip * slot_bytes, count - skip);
    window->provisional = block->flags & EXTRACT_LOG_PROVISIONAL ? block->provisional : 0;
    top_window_age(window, block->wall);
}

static void take_loss(struct top_window *window, const struct extract_log_block *block)
{
    bool is_gap = block->kind != EXTRACT_LOSS_EARLIER;

    window->state.lost += block->lost;
    window->state.gaps += is_gap;
    window->state.gaps_not_exact += is_gap && block->modulo;
    window->next = block->first;
    window->next_known = true;
    top_window_clear(window);
}

static void take_mark(struct top_window *window, const struct extract_log_block *block)
{
    struct top_state *state = &window->state;

    switch (block->kind) {
    case EXTRACT_MARK_RESET:
        state->resets++;
        state->gone = state->disabled = false;
        top_window_clear(window);
        break;
    case EXTRACT_MARK_START: // of a log that goes on after a pause
        state->gone = state->disabled = state->ended = false;
        window->next_known = false;
        top_window_clear(window);
        break;
    case EXTRACT_MARK_STOP:
    case EXTRACT_MARK_FULL:
        state->ended = true;
        break;
    case EXTRACT_MARK_GONE:
    case EXTRACT_MARK_BACK:
        state->gone = block->kind == EXTRACT_MARK_GONE;
        break;
    case EXTRACT_MARK_DISABLED:
    case EXTRACT_MARK_ENABLED:
        state->disabled = block->kind == EXTRACT_MARK_DISABLED;
        break;
    default:
        break;
    }
}

void top_window_take(struct top_window *window, const struct extract_log_block *block,
                     const void *payload)
{
    switch (block->type) {
    case EXTRACT_LOG_ENTRIES:
        take_entries(window, block, payload);
        break;
    case EXTRACT_LOG_BYTES:
        take_bytes(window, block, payload);
        break;
    case EXTRACT_LOG_LOSS:
        take_loss(window, block);
        break;
    case EXTRACT_LOG_MARK:
        take_mark(window, block);
        break;
    default:
        break;
    }
}

// The ring that the window would be: as many slots as it has entries; an empty one has an unused
// slot.
static struct extract_ring shrunk(const struct top_window *window)
{
    struct extract_ring ring = window->ring;

    ring.entries.count = window->count ? window->count : 1;
    ring.entries.end = ring.entries.start + (uint64_t)ring.entries.count * ring.entries.slot_bytes;
    ring.length = ring.entries.end - ring.address;
    ring.current = ring.entries.start;
    return ring;
}

static void fill(const struct top_window *window, struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;
    size_t bytes = ring->entries.slot_bytes;
    uint8_t *registry = snapshot->bytes + (ring->registry.start - ring->address);
    uint8_t *entries = snapshot->bytes + (ring->entries.start - ring->address);
    uint64_t most = ring->registry.end - ring->registry.start;
    uint32_t run = TOP_ENTRIES - window->oldest;

    run = run < window->count ? run : window->count;

    memcpy(snapshot->bytes, ring->header, ring->header_bytes);
    if (window->registry_bytes)
        memcpy(registry, window->registry,
               window->registry_bytes < most ? window->registry_bytes : (size_t)most);
    memcpy(entries, window->slots + window->oldest * bytes, run * bytes);
    memcpy(entries + run * bytes, window->slots, (window->count - run) * bytes);
}

// All that the recorder let through is whole; at its end, the newest may not be final.
static void judge(const struct top_window *window, struct extract_snapshot *snapshot)
{
    uint32_t count = window->count, open = window->provisional;

    open = open < count ? open : count;
    memset(snapshot->verdict + count - open, EXTRACT_PROVISIONAL, open);
    snapshot->counts[EXTRACT_GOOD] = count - open;
    snapshot->counts[EXTRACT_PROVISIONAL] = open;
    if (count)
        return;
    snapshot->verdict[0] = EXTRACT_UNUSED;
    snapshot->counts[EXTRACT_UNUSED] = 1;
}

enum extract_code top_window_snapshot(const struct top_window *window,
                                      struct extract_snapshot *snapshot,
                                      struct extract_error *error)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->ring = shrunk(window);
    snapshot->bytes = calloc(1, (size_t)snapshot->ring.length);
    snapshot->verdict = calloc(1, snapshot->ring.entries.count);
    if (!snapshot->bytes || !snapshot->verdict) {
        extract_snapshot_free(snapshot);
        return extract_error_set(error, EXTRACT_NOMEM, "window", NULL, "out of memory");
    }
    fill(window, snapshot);
    judge(window, snapshot);
    return EXTRACT_OK;
}
