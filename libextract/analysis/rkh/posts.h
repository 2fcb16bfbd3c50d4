// SPDX-License-Identifier: MIT
// analysis/rkh: the queues of active objects, as far as posts and gets tell, and which post a get
// belongs to.
#ifndef EXTRACT_ANALYSIS_RKH_POSTS_H
#define EXTRACT_ANALYSIS_RKH_POSTS_H

#include "base/map.h"
#include "events/internal.h"
#include "formats/rkh/rkh.h"

// An event that waits in the queue of an active object.
struct rkh_post {
    uint64_t stamp;
    uint64_t number; // of the posts to this object, from 1 on; 0: a post that was not seen
    uint64_t ticks, signal;
    uint64_t step;  // of the model, at which it was put there
    uint64_t fired; // ticks of the timeout that it is of, where `timer` is not 0: for who uses the
    uint32_t timer; // model to set
    uint32_t times; // posts that were not seen stand for so many
};

// The queue of an active object, as far as posts and gets tell.
struct rkh_post_queue {
    struct rkh_post *posts; // the oldest first
    uint32_t used, room;
    uint32_t count;   // events
    uint64_t numbers; // posts so far
    uint64_t doubt;   // step at which its order was last seen not to be the one it was taken for
};

struct rkh_post_queues {
    struct extract_map by_object; // addresses of active objects to queues
    struct rkh_post_queue *queues;
    size_t count;
    bool lost;             // records are missing: how many posts there were is not known
    uint64_t steps, doubt; // steps so far; the one in front of which records were last missing
    bool begun;            // all was followed from the target's start on
    struct rkh_post taken;
};

// What a post or a get says beyond its record.
struct rkh_post_match {
    int64_t elapsed; // of a get: ticks since the post; -1: not known
    int64_t number;  // of the post; -1: not known
    // What was posted, or what a get took out; NULL: no post was seen. Good until the next step.
    struct rkh_post *post;
    bool sure; // of a get: no loss came between, and it has the signal of the post
};

// Whether posts and gets may be missing in front of what comes: a filter that has changed may have
// kept some back.
static inline bool rkh_posts_may_be_missing(const struct extract_event *event)
{
    return extract_event_is_break(event) || event->id == EXTRACT_ID_MARK + EXTRACT_MARK_FILTER;
}

// Takes an event that may be a post or a get. False: out of memory.
bool rkh_post_queues_init(struct rkh_post_queues *queues);
void rkh_post_queues_free(struct rkh_post_queues *queues);
bool rkh_post_queues_take(struct rkh_post_queues *queues, const struct extract_event *event,
                          struct rkh_post_match *derived);

#endif
