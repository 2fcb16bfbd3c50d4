// SPDX-License-Identifier: MIT
// analysis/rkh: which post a get belongs to. In: posts and gets of active objects. Out: how long an
// event lay in its queue, and the number of its post.
//
// Records of 3.x say how long the queue is, so that the model finds its way back after a loss.
#include "analysis/rkh/posts.h"
#include <stdlib.h>

enum {
    SMA_GET = 66,
    SMA_FIFO = 67,
    SMA_LIFO = 68,
    MAX_QUEUE = 1024 // events of a queue, of which the newest are kept
};

// What a record says of a queue.
struct step {
    uint64_t object, signal, length;
    bool length_known;
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

static struct rkh_post_queue *find(struct rkh_post_queues *queues, uint64_t object)
{
    uint32_t *place = extract_map_at(&queues->by_object, object);
    if (!place)
        return NULL;
    if (*place)
        return &queues->queues[*place - 1];
    if ((queues->count & (queues->count - 1)) == 0) {
        size_t room = queues->count ? queues->count * 2 : 1;
        struct rkh_post_queue *more = realloc(queues->queues, room * sizeof *more);
        if (!more)
            return NULL;
        queues->queues = more;
    }
    queues->queues[queues->count] = (struct rkh_post_queue){.count = 0};
    *place = (uint32_t)++queues->count;
    return &queues->queues[queues->count - 1];
}

static void drop_oldest(struct rkh_post_queue *queue, uint32_t count)
{
    uint32_t gone = 0;
    queue->count -= count;
    while (count && queue->posts[gone].times <= count)
        count -= queue->posts[gone++].times;
    queue->used -= gone;
    memmove(queue->posts, queue->posts + gone, queue->used * sizeof *queue->posts);
    if (count)
        queue->posts[0].times -= count;
}

static bool make_room(struct rkh_post_queue *queue)
{
    if (queue->used < queue->room)
        return true;
    uint32_t room = queue->room ? queue->room * 2 : 2;
    struct rkh_post *more = realloc(queue->posts, room * sizeof *more);
    if (!more)
        return false;
    queue->posts = more;
    queue->room = room;
    return true;
}

// Puts a post in front of all others, or so many that were not seen.
static bool put_in_front(struct rkh_post_queue *queue, const struct rkh_post *post)
{
    bool joins = !post->number && queue->used && !queue->posts[0].number;
    if (!joins && !make_room(queue))
        return false;
    queue->count += post->times;
    if (joins) {
        queue->posts[0].times += post->times;
        return true;
    }
    memmove(queue->posts + 1, queue->posts, queue->used * sizeof *queue->posts);
    queue->posts[0] = *post;
    queue->used++;
    return true;
}

static bool insert(struct rkh_post_queue *queue, const struct rkh_post *post, bool front)
{
    if (queue->count == MAX_QUEUE) {
        drop_oldest(queue, 1);
        queue->doubt = post->step;
    }
    if (front)
        return put_in_front(queue, post);
    if (!make_room(queue))
        return false;
    queue->posts[queue->used++] = *post;
    queue->count++;
    return true;
}

// Makes the queue as long as a record says that it was: gets that were not seen took the oldest,
// and what was not seen to be posted is the oldest.
static bool settle(struct rkh_post_queue *queue, uint64_t length, uint64_t step)
{
    uint32_t wanted = length < MAX_QUEUE ? (uint32_t)length : MAX_QUEUE;
    if (queue->count != length)
        queue->doubt = step;
    if (queue->count > wanted)
        drop_oldest(queue, queue->count - wanted);
    const struct rkh_post unseen = {.times = wanted - queue->count};
    return !unseen.times || put_in_front(queue, &unseen);
}

static bool post(struct rkh_post_queues *queues, struct rkh_post_queue *queue,
                 const struct extract_event *event, const struct step *step,
                 struct rkh_post_match *derived)
{
    struct rkh_post post = {.stamp = event->raw_stamp,
                            .number = ++queue->numbers,
                            .ticks = event->ticks,
                            .signal = step->signal,
                            .step = queues->steps,
                            .times = 1};
    bool front = event->id == SMA_LIFO;
    derived->number = queues->lost ? -1 : (int64_t)post.number;
    if ((step->length_known && !settle(queue, step->length ? step->length - 1 : 0, post.step)) ||
        !insert(queue, &post, front))
        return false;
    derived->post = &queue->posts[front ? 0 : queue->used - 1];
    return true;
}

// What a get takes out is sure when the queue's order was sure all the time that it lay there.
// Where records do not say how long the queue is, it never is again after a loss.
static void take_out(struct rkh_post_queues *queues, struct rkh_post_queue *queue,
                     const struct step *step, struct rkh_post_match *derived)
{
    struct rkh_post *taken = &queues->taken;
    *taken = queue->posts[0];
    drop_oldest(queue, 1);
    if (!taken->number || taken->signal != step->signal)
        queue->doubt = queues->steps;
    derived->sure = taken->step >= queue->doubt && taken->step >= queues->doubt &&
                    (step->length_known || (queues->begun && !queues->doubt));
    derived->post = taken->number ? taken : NULL;
}

static bool get(struct rkh_post_queues *queues, struct rkh_post_queue *queue,
                const struct extract_event *event, const struct step *step,
                const struct rkh_wire *wire, struct rkh_post_match *derived)
{
    uint64_t mask = wire->ts >= 4 ? UINT32_MAX : (UINT64_C(1) << 8 * wire->ts) - 1;
    if (step->length_known && !settle(queue, step->length + 1, queues->steps))
        return false;
    if (!queue->count)
        return true;
    take_out(queues, queue, step, derived);
    if (derived->post && wire->ts)
        derived->elapsed = (int64_t)((event->raw_stamp - derived->post->stamp) & mask);
    if (derived->post && !queues->lost)
        derived->number = (int64_t)derived->post->number;
    return true;
}

// Object and signal first, and behind the reference count the length of the queue.
static bool read_step(struct rkh_args *args, struct step *step)
{
    struct rkh_item item;
    *step = (struct step){.length_known = false};
    if (!rkh_args_next(args, &item))
        return false;
    step->object = item.value;
    if (!rkh_args_next(args, &item))
        return false;
    step->signal = item.value;
    while (rkh_args_next(args, &item))
        if (item.word == RKH_WORD_nelem) {
            step->length = item.value;
            step->length_known = true;
        }
    return true;
}

static bool begin_anew(struct rkh_post_queues *queues)
{
    rkh_post_queues_free(queues);
    bool fits = rkh_post_queues_init(queues);
    queues->begun = true;
    return fits;
}

bool rkh_post_queues_take(struct rkh_post_queues *queues, const struct extract_event *event,
                          struct rkh_post_match *derived)
{
    struct rkh_args args;
    struct step step;
    *derived = (struct rkh_post_match){.elapsed = -1, .number = -1};
    queues->steps++;
    bool gap = event->flags & EXTRACT_FLAG_GAP;
    queues->lost |=
        gap || event->id == EXTRACT_ID_LOST || event->id == EXTRACT_ID_MARK + EXTRACT_MARK_FILTER;
    if (gap || rkh_posts_may_be_missing(event))
        queues->doubt = queues->steps;
    if (event->id == RKH_FWK_TCFG)
        return begin_anew(queues);
    if (event->id < SMA_GET || event->id > SMA_LIFO || !rkh_args_of(&args, event) ||
        !read_step(&args, &step))
        return true;
    struct rkh_post_queue *queue = find(queues, step.object);
    if (!queue)
        return false;
    return event->id == SMA_GET ? get(queues, queue, event, &step, &args.wire, derived)
                                : post(queues, queue, event, &step, derived);
}
