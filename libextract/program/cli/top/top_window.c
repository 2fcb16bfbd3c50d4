// SPDX-License-Identifier: MIT
// cli/top: the window over a recording, which holds its newest entries without a gap.
//
// Blocks of the recording are added in order. Each arrival of entries has a time. With it, old
// entries are dropped, and the rate of events is computed. Slots are kept here in a circular
// buffer, blocks of byte rings in top_blocks.c. Losses, resets and gaps are counted, and end the
// window: the next entries begin another one. Until then, it is the last one with data.
#include "base/cursor.h"
#include "cli/top/top.h"
#include "formats/format.h"
#include <stdlib.h>

#define MAX_AGE_NS (TOP_MAX_SECONDS * EXTRACT_SECOND)

void top_window_clear(struct top_window *window)
{
    window->oldest = window->count = window->provisional = 0;
    window->is_over = false;
    top_blocks_clear(&window->blocks);
}

void top_window_free(struct top_window *window)
{
    free(window->slots);
    free(window->registry);
    top_blocks_free(&window->blocks);
    memset(window, 0, sizeof *window);
}

static struct top_arrival *arrival_at(struct top_window *window, unsigned i)
{
    return &window->arrivals[(window->oldest_arrival + i) % TOP_MAX_ARRIVALS];
}

static const struct top_arrival *newest_arrival(const struct top_window *window)
{
    unsigned newest = window->oldest_arrival + window->arrival_count - 1;

    return &window->arrivals[newest % TOP_MAX_ARRIVALS];
}

uint64_t top_window_newest_arrival(const struct top_window *window)
{
    return window->arrival_count ? newest_arrival(window)->wall : 0;
}

// Drops the oldest entries until `count` are left.
static void drop_oldest_entries(struct top_window *window, uint64_t count)
{
    top_blocks_shrink(&window->blocks, count);
    if (window->count <= count)
        return;
    uint32_t drop = window->count - (uint32_t)count;
    window->oldest = (window->oldest + drop) % TOP_MAX_ENTRIES;
    window->count = (uint32_t)count;
}

static void drop_oldest_arrival(struct top_window *window)
{
    window->arrived_entries -= arrival_at(window, 0)->count;
    window->oldest_arrival = (window->oldest_arrival + 1) % TOP_MAX_ARRIVALS;
    window->arrival_count--;
    drop_oldest_entries(window, window->arrived_entries);
}

void top_window_drop_old(struct top_window *window, uint64_t now)
{
    while (window->arrival_count > 1 && now > MAX_AGE_NS &&
           arrival_at(window, 0)->wall < now - MAX_AGE_NS)
        drop_oldest_arrival(window);
}

// Counts entries that arrived at the time `wall`. Arrivals that are close together are merged, so
// that TOP_MAX_ARRIVALS of them span the whole window. So are arrivals after the host's clock was
// set back. The first arrival is kept apart: top_window_rate leaves it out.
static void note_arrival(struct top_window *window, uint64_t wall, uint64_t count)
{
    window->state.entries += count;
    window->arrived_entries += count;
    uint64_t near = window->arrival_count > 1 ? MAX_AGE_NS / TOP_MAX_ARRIVALS : 1;
    if (window->arrival_count && wall < newest_arrival(window)->wall + near) {
        arrival_at(window, window->arrival_count - 1)->count += count;
        return;
    }
    if (window->arrival_count == TOP_MAX_ARRIVALS)
        drop_oldest_arrival(window);
    window->arrival_count++;
    *arrival_at(window, window->arrival_count - 1) = (struct top_arrival){wall, count};
}

bool top_window_rate(const struct top_window *window, uint64_t now, uint64_t *rate)
{
    if (!window->arrival_count)
        return false;
    // The first arrival had collected in the ring for an unknown time.
    const struct top_arrival *first = &window->arrivals[window->oldest_arrival];
    uint64_t entries = window->arrived_entries - first->count;
    if (now < first->wall || now - first->wall < TOP_MIN_RATE_NS)
        return false;
    *rate = (uint64_t)((unsigned __int128)entries * (1000 * EXTRACT_SECOND) / (now - first->wall));
    return true;
}

// Returns whether the parts of a slot ring are in the order that copy_window needs.
static bool has_usable_layout(const struct extract_ring *ring)
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

enum extract_code top_window_set_ring(struct top_window *window, const struct extract_ring *ring,
                                      struct extract_error *error)
{
    if (window->has_ring && is_same_ring(&window->ring, ring)) {
        window->ring = *ring;
        return EXTRACT_OK;
    }
    bool is_stream = extract_stream_is_recorded(ring->format->stream);
    if (!is_stream && !has_usable_layout(ring))
        return extract_error_set(error, EXTRACT_BAD, "trace ring", NULL,
                                 "the parts of the ring are not in order");
    uint8_t *slots = is_stream ? NULL : calloc(TOP_MAX_ENTRIES, ring->entries.slot_bytes);
    if (!is_stream && !slots)
        return extract_error_set(error, EXTRACT_NOMEM, "window", NULL, "out of memory");
    free(window->slots);
    window->slots = slots;
    window->ring = *ring;
    window->has_ring = true;
    window->cores_seen = 0;
    window->is_stream = is_stream;
    top_window_clear(window);
    return EXTRACT_OK;
}

enum extract_code top_window_set_registry(struct top_window *window, const void *bytes,
                                          size_t length, struct extract_error *error)
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

enum extract_code top_window_set_names(struct top_window *window, const void *payload,
                                       size_t length, struct extract_error *error)
{
    enum extract_code code = top_window_set_registry(window, payload, length, error);

    window->has_names |= !code;
    return code;
}

// Copies `count` slots to the end of the window. The oldest slots are dropped if it is full.
static void append_slots(struct top_window *window, const uint8_t *slots, uint32_t count)
{
    size_t bytes = window->ring.entries.slot_bytes;

    drop_oldest_entries(window, TOP_MAX_ENTRIES - count);
    for (uint32_t done = 0; done < count;) {
        uint32_t at = (window->oldest + window->count) % TOP_MAX_ENTRIES;
        uint32_t run = TOP_MAX_ENTRIES - at;
        run = run < count - done ? run : count - done;
        memcpy(window->slots + at * bytes, slots + done * bytes, run * bytes);
        window->count += run;
        done += run;
    }
}

// Counts a gap if the block does not continue the window, although no loss was recorded.
static void check_number(struct top_window *window, const struct extract_log_block *block)
{
    if (window->next_is_known && block->first != window->next_number) {
        window->state.lost +=
            block->first > window->next_number ? block->first - window->next_number : 0;
        window->state.gaps++;
        window->state.gaps_not_exact += block->first < window->next_number;
        window->is_over = true;
    }
    window->next_number = block->first + block->count;
    window->next_is_known = true;
    if (block->count && window->is_over)
        top_window_clear(window);
}

void top_window_skip_block(struct top_window *window, const struct extract_log_block *block)
{
    check_number(window, block);
    window->state.entries += block->count;
    window->is_over = true;
}

// Counts a gap of unknown size.
static void count_gap(struct top_window *window)
{
    window->state.gaps++;
    window->state.gaps_not_exact++;
    window->is_over = true;
}

static void add_bytes(struct top_window *window, const struct extract_log_block *block,
                      const void *payload)
{
    if (!window->is_stream) {
        count_gap(window);
        return;
    }
    check_number(window, block);
    if (block->count)
        note_arrival(window, block->wall, block->count);
    if (!top_blocks_append(&window->blocks, block, payload))
        count_gap(window);
    top_blocks_shrink(&window->blocks, TOP_MAX_ENTRIES);
    top_window_drop_old(window, block->wall);
}

static void add_entries(struct top_window *window, const struct extract_log_block *block,
                        const void *payload)
{
    size_t slot_bytes = window->ring.entries.slot_bytes;
    uint32_t count = block->count, skip = count > TOP_MAX_ENTRIES ? count - TOP_MAX_ENTRIES : 0;
    struct extract_cursor c = extract_cursor_make(payload, block->length, EXTRACT_LITTLE);
    const uint8_t *slots =
        window->slots ? extract_cursor_span(&c, (uint64_t)count * slot_bytes) : NULL;

    if (!slots) {
        count_gap(window);
        return;
    }
    check_number(window, block);
    if (!count)
        return;
    note_arrival(window, block->wall, count);
    append_slots(window, slots + skip * slot_bytes, count - skip);
    window->provisional = block->flags & EXTRACT_LOG_PROVISIONAL ? block->provisional : 0;
    top_window_drop_old(window, block->wall);
}

static void add_loss(struct top_window *window, const struct extract_log_block *block)
{
    bool is_gap = block->kind != EXTRACT_LOSS_EARLIER;

    window->state.lost += block->lost;
    window->state.gaps += is_gap;
    window->state.gaps_not_exact += is_gap && block->modulo;
    window->next_number = block->first;
    window->next_is_known = true;
    window->is_over = true;
}

static void add_mark(struct top_window *window, const struct extract_log_block *block)
{
    struct top_state *state = &window->state;

    switch (block->kind) {
    case EXTRACT_MARK_RESET:
        state->resets++;
        state->is_disconnected = state->trace_is_disabled = false;
        window->is_over = true;
        break;
    case EXTRACT_MARK_START: // another recording continues the log
        state->is_disconnected = state->trace_is_disabled = state->has_ended = false;
        window->next_is_known = false;
        window->is_over = true;
        break;
    case EXTRACT_MARK_STOP:
    case EXTRACT_MARK_FULL:
        state->has_ended = true;
        break;
    case EXTRACT_MARK_GONE:
    case EXTRACT_MARK_BACK:
        state->is_disconnected = block->kind == EXTRACT_MARK_GONE;
        break;
    case EXTRACT_MARK_DISABLED:
    case EXTRACT_MARK_ENABLED:
        state->trace_is_disabled = block->kind == EXTRACT_MARK_DISABLED;
        break;
    default:
        break;
    }
}

void top_window_add_block(struct top_window *window, const struct extract_log_block *block,
                          const void *payload)
{
    switch (block->type) {
    case EXTRACT_LOG_ENTRIES:
        add_entries(window, block, payload);
        break;
    case EXTRACT_LOG_BYTES:
        add_bytes(window, block, payload);
        break;
    case EXTRACT_LOG_LOSS:
        add_loss(window, block);
        break;
    case EXTRACT_LOG_MARK:
        add_mark(window, block);
        break;
    default:
        break;
    }
}

// Copies the window to the bytes of a ring: header, registry, entries.
static void copy_window(const struct top_window *window, struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;
    size_t slot_bytes = ring->entries.slot_bytes;
    uint8_t *registry = snapshot->bytes + (ring->registry.start - ring->address);
    uint8_t *entries = snapshot->bytes + (ring->entries.start - ring->address);
    uint64_t registry_capacity = ring->registry.end - ring->registry.start;
    uint32_t run = TOP_MAX_ENTRIES - window->oldest;

    run = run < window->count ? run : window->count;
    memcpy(snapshot->bytes, ring->header, ring->header_bytes);
    if (window->registry_bytes)
        memcpy(registry, window->registry,
               window->registry_bytes < registry_capacity ? window->registry_bytes
                                                          : (size_t)registry_capacity);
    memcpy(entries, window->slots + window->oldest * slot_bytes, run * slot_bytes);
    memcpy(entries + run * slot_bytes, window->slots, (window->count - run) * slot_bytes);
}

// A recorder passes on complete entries only, so all are valid; the newest may be provisional.
static void set_verdicts(const struct top_window *window, struct extract_snapshot *snapshot)
{
    uint32_t count = window->count, provisional = window->provisional;

    provisional = provisional < count ? provisional : count;
    memset(snapshot->verdict + count - provisional, EXTRACT_PROVISIONAL, provisional);
    snapshot->counts[EXTRACT_GOOD] = count - provisional;
    snapshot->counts[EXTRACT_PROVISIONAL] = provisional;
    if (count)
        return;
    snapshot->verdict[0] = EXTRACT_UNUSED;
    snapshot->counts[EXTRACT_UNUSED] = 1;
}

enum extract_code top_window_make_snapshot(const struct top_window *window,
                                           struct extract_snapshot *snapshot,
                                           struct extract_error *error)
{
    struct extract_ring *ring = &snapshot->ring;

    memset(snapshot, 0, sizeof *snapshot);
    *ring = window->ring;
    ring->entries.count = window->count ? window->count : 1; // an empty window has an unused slot
    ring->entries.end =
        ring->entries.start + (uint64_t)ring->entries.count * ring->entries.slot_bytes;
    ring->length = ring->entries.end - ring->address;
    ring->current = ring->entries.start;
    snapshot->bytes = calloc(1, (size_t)ring->length);
    snapshot->verdict = calloc(1, ring->entries.count);
    if (!snapshot->bytes || !snapshot->verdict) {
        extract_snapshot_free(snapshot);
        return extract_error_set(error, EXTRACT_NOMEM, "window", NULL, "out of memory");
    }
    copy_window(window, snapshot);
    set_verdicts(window, snapshot);
    return EXTRACT_OK;
}
