// SPDX-License-Identifier: MIT
// report/chart: the messages that lie in queues, and who put each there.
//
// The events of a trace state how many messages a queue has before a call. As long as these numbers
// are those of the calls that were recorded, it is proven which message a receiver takes. If they
// differ, calls are missing: then all messages that lie in the queue are of unknown origin.
#ifndef EXTRACT_REPORT_CHART_CHART_MESSAGES_H
#define EXTRACT_REPORT_CHART_CHART_MESSAGES_H

#include "base/map.h"

struct chart_message {
    uint64_t ticks;  // when it was put into the queue
    uint32_t sender; // a lifeline
};

// Messages in the order in which they were added: those from `first` on are there.
struct message_list {
    struct chart_message *all; // owned
    size_t first, count, capacity;
};

// The messages of a queue: the newest of `front` first, then those of unknown origin, then `back`.
struct message_queue {
    struct message_list front, back;
    uint64_t unknown;  // number of messages whose origin is not known
    uint64_t row;      // of the newest put, if has_likely
    bool is_known;     // the number of messages is known
    bool has_no_order; // a message may lie before one that was put earlier
    bool has_likely;   // the newest put may have failed: there may have been no room
    bool is_front;     // it was one to the front
};

struct messages {
    struct extract_map by_object; // addresses of queues to indices of `queues` + 1
    struct message_queue *queues; // owned
    size_t count, capacity;
    bool has_failed; // out of memory
    // Whether a put whose success was likely has succeeded, as the newest call shows. The caller
    // clears it.
    struct message_proof {
        bool exists, has_succeeded;
        uint64_t row; // of the put
    } proof;
};

// A call to put a message into a queue.
struct message_put {
    uint64_t object;
    uint64_t queued; // messages that the queue has before, by the event; see has_count
    struct chart_message message;
    bool has_count;
    bool is_front;    // it is put before all others
    bool keeps_order; // it is known where it is put
    bool is_likely;   // it may have failed
    uint64_t row;     // of a put that is likely: number of its row in the chart
};

// Returns false if memory is short.
bool messages_init(struct messages *messages);
void messages_free(struct messages *messages);

void messages_put(struct messages *messages, const struct message_put *put);
// Takes back the newest message that was put there: it does not lie in the queue.
void messages_take_back(struct messages *messages, uint64_t object, bool is_front);
// Takes the next message of a queue that has `queued` ones. Returns false if its origin is not
// proven.
bool messages_take(struct messages *messages, uint64_t object, uint64_t queued,
                   struct chart_message *message);
// Forgets what lies in a queue, or in all.
void messages_forget(struct messages *messages, uint64_t object);
void messages_forget_all(struct messages *messages);

#endif
