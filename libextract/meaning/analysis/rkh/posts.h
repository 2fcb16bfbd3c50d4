// SPDX-License-Identifier: MIT
// analysis/rkh: matches each get of an active object with the post that it belongs to.
//
// A trace records when an event was posted to an active object and when the object took one from
// its queue, but not which. So this module keeps a model of every queue: a post adds an event at
// the end (FIFO) or the front (LIFO), and a get takes the first. After a loss, the model may differ
// from the target's queue. Frames from RKH 3.x on contain the length of the queue, so the model is
// corrected by it; matches are uncertain until all events from before the correction are gone.
//
//      LIFO post ──►┌───┬───┬───┬───┐◄── FIFO post
//                   │   │   │   │   │
//        get ◄──────└───┴───┴───┴───┘
//               posts[0]    posts[used_count - 1]
#ifndef EXTRACT_ANALYSIS_RKH_POSTS_H
#define EXTRACT_ANALYSIS_RKH_POSTS_H

#include "base/map.h"
#include "events/events_room.h"
#include "formats/rkh/rkh.h"

// A post that waits in a queue, or several posts in a row that were not seen.
struct rkh_post {
    uint64_t stamp;         // timestamp as recorded
    uint64_t number;        // number of the post to this object, from 1; 0: posts not seen
    uint64_t ticks, signal; // time and signal
    uint64_t step;          // step of the model at which it was posted
    uint64_t timeout_ticks; // time of the timeout that caused the post, if `timer` is not 0
    uint32_t timer;         // set by the model's user, as is timeout_ticks
    uint32_t count;         // number of posts that this stands for; 1 for a post that was seen
};

// The model of one queue.
struct rkh_post_queue {
    struct rkh_post *posts; // in the order in which they will be taken; owned
    uint32_t used_count, capacity;
    uint32_t length;     // events in the queue: the sum of all `count`
    uint64_t post_count; // posts that were seen so far
    uint64_t doubt_step; // last step at which the model was found to differ from the queue; 0: none
};

// The cores whose events were seen. Only merged logs have several, which are those of several
// boards or of one.
struct rkh_starts {
    uint8_t seen[32]; // bit per core
    bool has_any;
};

// Notes an event. Returns whether a target starts with it, so that what was known before is no
// longer true. In a merged log, the start of a board after others is not one: nothing was known of
// it.
bool rkh_starts_add(struct rkh_starts *starts, const struct extract_event *event);

struct rkh_post_queues {
    struct rkh_starts starts;
    struct extract_map by_object; // addresses of active objects to indices of `queues` + 1
    struct rkh_post_queue *queues;
    size_t count;
    bool has_losses;     // frames are missing, so posts cannot be numbered
    bool from_start;     // the trace covers everything since the target started
    uint64_t step_count; // events that were processed
    uint64_t doubt_step; // last step before which frames may be missing; 0: none
    struct rkh_post taken;
};

// What the model knows about a post or get.
struct rkh_post_match {
    int64_t elapsed; // get: ticks since the post; -1: unknown
    int64_t number;  // number of the post; -1: unknown
    // The post itself, or the one that a get took; NULL: not seen. Valid until the next event.
    struct rkh_post *post;
    bool is_sure;  // get: the signals agree, and nothing was lost between post and get
    bool is_start; // of any event: the target starts with it
};

// Returns whether posts and gets may be missing before an event. After a change of the target's
// filter, they may have been filtered out.
static inline bool rkh_posts_may_be_missing(const struct extract_event *event)
{
    return extract_event_is_break(event) || event->id == EXTRACT_ID_MARK + EXTRACT_MARK_FILTER;
}

// Makes an empty model. Returns false if memory is short; it can be freed even then.
bool rkh_post_queues_init(struct rkh_post_queues *queues);
void rkh_post_queues_free(struct rkh_post_queues *queues);
// Processes an event of any type, and sets *match if it is a post or a get. Returns false if memory
// is short.
bool rkh_post_queues_add_event(struct rkh_post_queues *queues, const struct extract_event *event,
                               struct rkh_post_match *match);

#endif
