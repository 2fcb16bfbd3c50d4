// SPDX-License-Identifier: MIT
// analysis/rkh: matches gets with posts, by a model of the queue of every active object.
#include "analysis/rkh/posts.h"
#include <stdlib.h>

enum {
    SMA_GET = 66,
    SMA_FIFO = 67,
    SMA_LIFO = 68,
    MAX_LENGTH = 1024 // events in the model of a queue; of a longer queue, the newest
};

// What a frame reports about a queue.
struct step {
    uint64_t object, signal;
    uint64_t length; // of the queue, after a post or a get
    bool has_length;
};

bool rkh_post_queues_init(struct rkh_post_queues *queues)
{
    *queues = (struct rkh_post_queues){.count = 0};
    return extract_map_init(&queues->by_object, 0);
}

void rkh_post_queues_free(struct rkh_post_queues *queues)
{
    for (size_t i = 0; i < queues->count; i++)
        free(queues->queues[i].posts);
    free(queues->queues);
    extract_map_free(&queues->by_object);
}

// Returns the queue of an active object, which is made at the first use; NULL: out of memory.
static struct rkh_post_queue *find_queue(struct rkh_post_queues *queues, uint64_t object)
{
    uint32_t *index = extract_map_at(&queues->by_object, object);

    if (!index)
        return NULL;
    if (*index)
        return &queues->queues[*index - 1];
    if ((queues->count & (queues->count - 1)) == 0) { // full: the capacity is a power of two
        size_t capacity = queues->count ? queues->count * 2 : 1;
        struct rkh_post_queue *larger = realloc(queues->queues, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        queues->queues = larger;
    }
    queues->queues[queues->count] = (struct rkh_post_queue){.length = 0};
    *index = (uint32_t)++queues->count;
    return &queues->queues[queues->count - 1];
}

// ---- the model of one queue ----

// Removes the first `count` events, which may be part of a row of unseen posts.
static void drop_first(struct rkh_post_queue *queue, uint32_t count)
{
    uint32_t dropped = 0;

    queue->length -= count;
    while (count && queue->posts[dropped].count <= count)
        count -= queue->posts[dropped++].count;
    queue->used_count -= dropped;
    memmove(queue->posts, queue->posts + dropped, queue->used_count * sizeof *queue->posts);
    if (count)
        queue->posts[0].count -= count;
}

static bool reserve_post(struct rkh_post_queue *queue)
{
    if (queue->used_count < queue->capacity)
        return true;
    uint32_t capacity = queue->capacity ? queue->capacity * 2 : 2;
    struct rkh_post *larger = realloc(queue->posts, capacity * sizeof *larger);
    if (!larger)
        return false;
    queue->posts = larger;
    queue->capacity = capacity;
    return true;
}

// Adds a post, or a row of unseen posts, before all others. Rows of unseen posts are joined.
static bool add_first(struct rkh_post_queue *queue, const struct rkh_post *post)
{
    bool is_joined = !post->number && queue->used_count && !queue->posts[0].number;

    if (!is_joined && !reserve_post(queue))
        return false;
    queue->length += post->count;
    if (is_joined) {
        queue->posts[0].count += post->count;
        return true;
    }
    memmove(queue->posts + 1, queue->posts, queue->used_count * sizeof *queue->posts);
    queue->posts[0] = *post;
    queue->used_count++;
    return true;
}

static bool add_last(struct rkh_post_queue *queue, const struct rkh_post *post)
{
    if (!reserve_post(queue))
        return false;
    queue->posts[queue->used_count++] = *post;
    queue->length++;
    return true;
}

// Corrects the model to a length that a frame reports. If it is too long, gets were not seen: they
// took the first events. If it is too short, posts were not seen: they are older than all others.
static bool correct_length(struct rkh_post_queue *queue, uint64_t length, uint64_t step)
{
    uint32_t wanted = length < MAX_LENGTH ? (uint32_t)length : MAX_LENGTH;

    if (queue->length != length)
        queue->doubt_step = step;
    if (queue->length > wanted)
        drop_first(queue, queue->length - wanted);
    const struct rkh_post unseen = {.count = wanted - queue->length};
    return !unseen.count || add_first(queue, &unseen);
}

// ---- posts and gets ----

static bool add_post(struct rkh_post_queues *queues, struct rkh_post_queue *queue,
                     const struct extract_event *event, const struct step *step,
                     struct rkh_post_match *match)
{
    const struct rkh_post post = {.stamp = event->raw_stamp,
                                  .number = ++queue->post_count,
                                  .ticks = event->ticks,
                                  .signal = step->signal,
                                  .step = queues->step_count,
                                  .count = 1};
    bool is_first = event->id == SMA_LIFO;
    uint64_t length_before = step->length ? step->length - 1 : 0;

    match->number = queues->has_losses ? -1 : (int64_t)post.number;
    if (step->has_length && !correct_length(queue, length_before, post.step))
        return false;
    if (queue->length == MAX_LENGTH) {
        drop_first(queue, 1);
        queue->doubt_step = post.step;
    }
    if (!(is_first ? add_first(queue, &post) : add_last(queue, &post)))
        return false;
    match->post = &queue->posts[is_first ? 0 : queue->used_count - 1];
    return true;
}

// Takes the first event of a queue. The match is sure if the model was right all the time that the
// event was in the queue. If frames do not contain the length of the queue, the model is never
// right again after a loss.
static bool add_get(struct rkh_post_queues *queues, struct rkh_post_queue *queue,
                    const struct extract_event *event, const struct step *step,
                    const struct rkh_wire *wire, struct rkh_post_match *match)
{
    uint64_t stamp_mask = wire->ts ? UINT64_MAX >> (64 - 8 * wire->ts) : 0;
    struct rkh_post *taken = &queues->taken;

    if (step->has_length && !correct_length(queue, step->length + 1, queues->step_count))
        return false;
    if (!queue->length)
        return true;
    *taken = queue->posts[0];
    drop_first(queue, 1);
    if (!taken->number || taken->signal != step->signal)
        queue->doubt_step = queues->step_count;
    match->is_sure = taken->step >= queue->doubt_step && taken->step >= queues->doubt_step &&
                     (step->has_length || (queues->from_start && !queues->doubt_step));
    if (!taken->number)
        return true;
    match->post = taken;
    if (wire->ts)
        match->elapsed = (int64_t)((event->raw_stamp - taken->stamp) & stamp_mask);
    if (!queues->has_losses)
        match->number = (int64_t)taken->number;
    return true;
}

// Reads the arguments of a post or get: object and signal come first; the length of the queue may
// follow somewhere after them.
static bool read_step(struct rkh_args *args, struct step *step)
{
    struct rkh_item item;

    *step = (struct step){.has_length = false};
    if (!rkh_args_next(args, &item))
        return false;
    step->object = item.value;
    if (!rkh_args_next(args, &item))
        return false;
    step->signal = item.value;
    while (rkh_args_next(args, &item))
        if (item.word == RKH_WORD_nelem) {
            step->length = item.value;
            step->has_length = true;
        }
    return true;
}

bool rkh_starts_add(struct rkh_starts *starts, const struct extract_event *event)
{
    uint8_t *place = &starts->seen[event->core / 8], bit = (uint8_t)(1u << event->core % 8);
    struct rkh_wire wire;

    if (extract_event_is_mark(event))
        return false;
    bool is_other = starts->has_any && !(*place & bit);
    *place |= bit;
    starts->has_any = true;
    rkh_wire_unpack(&wire, (uint32_t)event->priority_word);
    return event->id == RKH_FWK_TCFG && !(wire.is_merged && is_other);
}

bool rkh_post_queues_add_event(struct rkh_post_queues *queues, const struct extract_event *event,
                               struct rkh_post_match *match)
{
    bool has_gap = event->flags & EXTRACT_FLAG_GAP;
    struct rkh_args args;
    struct step step;

    *match = (struct rkh_post_match){.elapsed = -1, .number = -1};
    queues->step_count++;
    queues->has_losses |= has_gap || event->id == EXTRACT_ID_LOST ||
                          event->id == EXTRACT_ID_MARK + EXTRACT_MARK_FILTER;
    if (has_gap || rkh_posts_may_be_missing(event))
        queues->doubt_step = queues->step_count;
    match->is_start = rkh_starts_add(&queues->starts, event);
    if (match->is_start) { // all queues are empty
        struct rkh_starts starts = queues->starts;
        rkh_post_queues_free(queues);
        bool is_empty = rkh_post_queues_init(queues);
        queues->starts = starts;
        queues->from_start = true;
        return is_empty;
    }
    if (event->id < SMA_GET || event->id > SMA_LIFO || !rkh_args_of(&args, event) ||
        !read_step(&args, &step))
        return true;
    struct rkh_post_queue *queue = find_queue(queues, step.object);
    if (!queue)
        return false;
    return event->id == SMA_GET ? add_get(queues, queue, event, &step, &args.wire, match)
                                : add_post(queues, queue, event, &step, match);
}
