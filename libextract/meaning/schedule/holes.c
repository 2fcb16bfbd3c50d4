// SPDX-License-Identifier: MIT
// schedule: times in which nothing is known of a core or a thread, since the trace has no data of
// them: before the data of a core or a board begin, after they end, and around gaps. If the
// observer asks for that, they are sent as unknown.
//
//      board 0   ├───────────────── events ─────────────────┤
//      board 1   ?  hole  ├────── events ──────┤    hole    ?
//
// A thread does not exist before a state that begins within a part of the trace without gaps, nor
// after one that ends within it: that is not a hole.
#include "base/grow.h"
#include "schedule/schedule_room.h"
#include <stdlib.h>

// Up to which time something was sent of a thread.
struct known_thread {
    uint64_t address, to;
    bool ends_in_gap; // it ends with what is known of all threads, and not with the thread
};

struct holes {
    uint64_t first; // time of the first event
    uint64_t part;  // of the first event after the newest gap
    bool has_first;
    struct extract_map map; // by address: index + 1 of a thread
    struct known_thread *threads;
    size_t count, capacity;
    uint64_t cores[MAX_CORES]; // likewise up to which time, if has_core
    bool has_core[MAX_CORES];
    bool has_failed; // out of memory
};

bool holes_open(struct schedule *schedule)
{
    if (!schedule->observer->fills_holes)
        return true;
    schedule->holes = calloc(1, sizeof *schedule->holes);
    return schedule->holes && extract_map_init(&schedule->holes->map, 64);
}

bool holes_free(struct schedule *schedule)
{
    struct holes *holes = schedule->holes;
    bool is_whole = !holes || !holes->has_failed;

    if (holes) {
        extract_map_free(&holes->map);
        free(holes->threads);
    }
    free(holes);
    return is_whole;
}

void holes_start_part(struct schedule *schedule, uint64_t at)
{
    struct holes *holes = schedule->holes;

    if (!holes)
        return;
    holes->part = at;
    holes->first = holes->has_first ? holes->first : at;
    holes->has_first = true;
}

void holes_end_part(struct schedule *schedule)
{
    struct holes *holes = schedule->holes;

    for (size_t i = 0; holes && i < holes->count; i++)
        holes->threads[i].ends_in_gap |= holes->threads[i].to == schedule->highest;
}

static void send_unknown_interval(const struct schedule *schedule, unsigned core, uint64_t from,
                                  uint64_t to)
{
    struct extract_interval hole = {
        .from = from, .to = to, .core = (uint8_t)core, .runner = EXTRACT_RUNNER_UNKNOWN};

    if (from < to && schedule_clip(schedule, &hole.from, &hole.to))
        schedule->sink->interval(schedule->sink->context, &hole);
}

static void send_unknown_state(const struct schedule *schedule, uint64_t thread, uint64_t from,
                               uint64_t to)
{
    struct extract_state hole = {
        .from = from, .to = to, .thread = thread, .state = EXTRACT_STATE_UNKNOWN};

    if (from < to && schedule_clip(schedule, &hole.from, &hole.to))
        schedule->sink->state(schedule->sink->context, &hole);
}

void holes_before_interval(const struct schedule *schedule, const struct extract_interval *interval)
{
    struct holes *holes = schedule->holes;
    unsigned core = interval->core;

    if (!holes->has_core[core])
        send_unknown_interval(schedule, core, holes->first, interval->from);
    holes->has_core[core] = true;
    holes->cores[core] = interval->to;
}

// Returns whether the first state of a thread begins with the data of a board, and not with the
// creation of the thread.
static bool begins_with_board(const struct schedule *schedule, uint64_t from)
{
    for (size_t i = 0; i < schedule->board_count; i++)
        if (schedule->boards[i].has_begin && schedule->boards[i].begin == from)
            return true;
    return false;
}

void holes_before_state(const struct schedule *schedule, const struct extract_state *state)
{
    struct holes *holes = schedule->holes;
    uint32_t *index = extract_map_at(&holes->map, state->thread);
    bool is_first = index && !*index;

    if (is_first) {
        struct known_thread *grown =
            extract_grow(holes->threads, &holes->capacity, holes->count, sizeof *grown);
        holes->threads = grown ? grown : holes->threads;
        index = grown ? index : NULL;
    }
    if (!index) {
        holes->has_failed = true;
        return;
    }
    if (is_first) {
        holes->threads[holes->count++] = (struct known_thread){state->thread, holes->first, false};
        *index = (uint32_t)holes->count;
    }
    struct known_thread *known = &holes->threads[*index - 1];
    if (known->ends_in_gap || state->from == holes->part ||
        (is_first && begins_with_board(schedule, state->from)))
        send_unknown_state(schedule, state->thread, known->to, state->from);
    known->to = state->to;
    known->ends_in_gap = false;
}

void holes_end(struct schedule *schedule)
{
    const struct holes *holes = schedule->holes;

    if (!holes)
        return;
    for (unsigned core = 0; core < MAX_CORES && schedule->sink->interval; core++)
        if (holes->has_core[core])
            send_unknown_interval(schedule, core, holes->cores[core], schedule->highest);
    for (size_t i = 0; i < holes->count && schedule->sink->state; i++)
        if (holes->threads[i].ends_in_gap)
            send_unknown_state(schedule, holes->threads[i].address, holes->threads[i].to,
                               schedule->highest);
}
