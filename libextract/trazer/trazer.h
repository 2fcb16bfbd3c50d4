// SPDX-License-Identifier: MIT
// trazer: what the files of this room share: the lines of Trazer 3.2, the host's tool of RKH.
//
// Source: docs/formats/rkh-text.md, "The text of Trazer". The lines name objects by the records
// that came before them, as a tool that reads a stream as it comes must.
#ifndef EXTRACT_TRAZER_TRAZER_H
#define EXTRACT_TRAZER_TRAZER_H

#include "events/room.h"
#include "formats/rkh/rkh.h"
#include <extract/report.h>

// An event that waits in the queue of an active object.
struct trazer_post {
    uint64_t stamp;
    uint64_t number; // of the posts to this object, from 1 on; 0: a post that was not seen
    uint64_t ticks, signal;
    uint64_t step;  // of the model, at which it was put there
    uint64_t fired; // ticks of the timeout that it is of, where `timer` is not 0: for who uses the
    uint32_t timer; // model to set
    uint32_t times; // posts that were not seen stand for so many
};

// The queue of an active object, as far as posts and gets tell.
struct trazer_queue {
    struct trazer_post *posts; // the oldest first
    uint32_t used, room;
    uint32_t count;   // events
    uint64_t numbers; // posts so far
    uint64_t doubt;   // step at which its order was last seen not to be the one it was taken for
};

struct trazer_queues {
    struct extract_map by_object; // addresses of active objects to queues
    struct trazer_queue *queues;
    size_t count;
    bool lost;             // records are missing: how many posts there were is not known
    uint64_t steps, doubt; // steps so far; the one in front of which records were last missing
    bool begun;            // all was followed from the target's start on
    struct trazer_post taken;
};

// Names that records have told so far.
struct trazer_names {
    struct extract_map by_key; // to offsets + 1
    struct extract_text bytes; // escaped and NUL-ended, one behind the other
    struct extract_text raw;   // the one that is taken
};

// The sequence numbers of frames, as the lines follow them.
struct trazer_numbers {
    bool is_known;   // `expected` is the number of the next frame, if none is missing
    bool has_begun;  // a TCFG record came last: the target may count from 0 again
    bool is_told;    // the loss in front of the next frame has its line
    bool has_damage; // damaged frames in front of the next frame have lines
    uint8_t expected;
};

struct trazer {
    struct extract_text *text;
    const struct extract_trace *trace;
    const struct extract_ring *ring;
    struct trazer_names names;
    struct trazer_queues queues;
    struct extract_reader reader; // what is known when an event is printed comes from all in front
    struct extract_event batch[64];
    size_t at, got;
    struct extract_text scratch;
    uint64_t shown;
    struct trazer_numbers numbers;
    bool (*go_on)(void *context);
    void *context;
};

// What a post or a get says beyond its record.
struct trazer_derived {
    int64_t elapsed; // of a get: ticks since the post; -1: not known
    int64_t number;  // of the post; -1: not known
    // What was posted, or what a get took out; NULL: no post was seen. Good until the next step.
    struct trazer_post *post;
    bool sure; // of a get: no loss came between, and it has the signal of the post
};

// names.c. False: out of memory.
bool trazer_names_init(struct trazer_names *names);
void trazer_names_free(struct trazer_names *names);
bool trazer_names_take(struct trazer_names *names, const struct extract_event *event);
const char *trazer_names_find(const struct trazer_names *names, uint64_t key); // NULL: none

// Whether posts and gets may be missing in front of what comes: a filter that has changed may have
// kept some back.
static inline bool trazer_is_break(const struct extract_event *event)
{
    return extract_event_is_break(event) || event->id == EXTRACT_ID_MARK + EXTRACT_MARK_FILTER;
}

// queues.c. Takes an event that may be a post or a get. False: out of memory.
bool trazer_queues_init(struct trazer_queues *queues);
void trazer_queues_free(struct trazer_queues *queues);
bool trazer_queues_take(struct trazer_queues *queues, const struct extract_event *event,
                        struct trazer_derived *derived);

// settings.c. The settings in front of the stream, and those that a record of it tells.
void trazer_banner(struct trazer *trazer, const char *source);
void trazer_settings(struct trazer *trazer, const struct extract_event *event);

// lines.c. The sequence number of an event's frame; -1: it has none.
int trazer_number(const struct extract_event *event);
// The line, or lines, of an event.
void trazer_event(struct trazer *trazer, const struct extract_event *event,
                  const struct trazer_derived *derived);

// values.c. What an argument is.
void trazer_address(struct trazer *trazer, uint64_t address);
void trazer_signal(struct trazer *trazer, uint64_t number);
void trazer_pool(struct trazer *trazer, uint64_t index); // counted from 0; Trazer counts from 1
// Behind a mark, at least so many upper-case digits.
void trazer_hex(struct trazer *trazer, const char *mark, uint64_t value, unsigned digits);
void trazer_name(struct trazer *trazer, const struct rkh_item *item); // without a leading &
void trazer_bytes(struct trazer *trazer, const uint8_t *bytes, uint32_t length);
void trazer_item(struct trazer *trazer, const struct rkh_item *item); // of a user event
void trazer_items(struct trazer *trazer, struct rkh_args *args); // of a user event, a line each

// report.c: the whole report.
enum extract_code trazer_report(struct extract_text *text, const struct extract_view *view,
                                const struct extract_trace *trace,
                                const struct extract_report_options *options,
                                struct extract_report_outcome *outcome);

#endif
