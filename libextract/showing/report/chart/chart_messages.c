// SPDX-License-Identifier: MIT
// report/chart: finds the message that a receiver takes out of a queue.
#include "report/chart/chart_messages.h"
#include "base/grow.h"
#include <string.h>

// ---- lists ----

static size_t list_length(const struct message_list *list)
{
    return list->count - list->first;
}

static void clear_list(struct message_list *list)
{
    list->first = list->count = 0;
}

// Appends a message. Moves the list to its start if most of its places are free. Returns false if
// memory is short.
static bool append(struct message_list *list, const struct chart_message *message)
{
    if (list->first && list->first >= list->count / 2) {
        memmove(list->all, list->all + list->first, list_length(list) * sizeof *list->all);
        list->count -= list->first;
        list->first = 0;
    }
    struct chart_message *all = extract_grow(list->all, &list->capacity, list->count, sizeof *all);
    if (!all)
        return false;
    list->all = all;
    all[list->count++] = *message;
    return true;
}

// ---- queues ----

bool messages_init(struct messages *messages)
{
    *messages = (struct messages){.count = 0};
    return extract_map_init(&messages->by_object, 0);
}

void messages_free(struct messages *messages)
{
    for (size_t i = 0; i < messages->count; i++) {
        free(messages->queues[i].front.all);
        free(messages->queues[i].back.all);
    }
    free(messages->queues);
    extract_map_free(&messages->by_object);
}

static struct message_queue *find_queue(struct messages *messages, uint64_t object)
{
    uint32_t index = extract_map_get(&messages->by_object, object);

    return index ? &messages->queues[index - 1] : NULL;
}

// Returns a queue, which is added if needed; NULL if memory is short.
static struct message_queue *add_queue(struct messages *messages, uint64_t object)
{
    struct message_queue *found = find_queue(messages, object);
    uint32_t *index = found ? NULL : extract_map_at(&messages->by_object, object);
    struct message_queue *queues =
        index ? extract_grow(messages->queues, &messages->capacity, messages->count, sizeof *queues)
              : NULL;

    if (found)
        return found;
    if (!queues) {
        messages->has_failed = true;
        return NULL;
    }
    messages->queues = queues;
    queues[messages->count++] = (struct message_queue){.is_known = false};
    *index = (uint32_t)messages->count;
    return &queues[messages->count - 1];
}

static uint64_t length_of(const struct message_queue *queue)
{
    return list_length(&queue->front) + queue->unknown + list_length(&queue->back);
}

// Makes the origin of all messages of a queue unknown.
static void set_unknown(struct message_queue *queue, uint64_t length)
{
    clear_list(&queue->front);
    clear_list(&queue->back);
    queue->unknown = length;
    queue->has_no_order = queue->has_likely = false;
    queue->is_known = true;
}

static void take_back(struct message_queue *queue, bool is_front)
{
    struct message_list *list = is_front ? &queue->front : &queue->back;

    if (list_length(list))
        list->count--;
}

// Compares the number of messages with the one that an event states. If it is one less after a put
// that may have failed, that put did fail.
static void check_length(struct messages *messages, struct message_queue *queue, uint64_t queued)
{
    uint64_t length = length_of(queue);
    bool is_likely = queue->is_known && queue->has_likely;

    queue->has_likely = false;
    if (is_likely && (length == queued || length - 1 == queued))
        messages->proof = (struct message_proof){true, length == queued, queue->row};
    if (is_likely && length - 1 == queued)
        take_back(queue, queue->is_front);
    if (!queue->is_known || length_of(queue) != queued)
        set_unknown(queue, queued);
}

void messages_put(struct messages *messages, const struct message_put *put)
{
    struct message_queue *queue = add_queue(messages, put->object);

    if (!queue)
        return;
    if (put->has_count)
        check_length(messages, queue, put->queued);
    if (!queue->is_known)
        return;
    queue->has_no_order |= !put->keeps_order && length_of(queue);
    queue->has_likely = put->is_likely;
    queue->row = put->row;
    queue->is_front = put->is_front;
    if (!append(put->is_front ? &queue->front : &queue->back, &put->message))
        messages->has_failed = true;
}

void messages_take_back(struct messages *messages, uint64_t object, bool is_front)
{
    struct message_queue *queue = find_queue(messages, object);

    if (queue)
        take_back(queue, is_front);
}

bool messages_take(struct messages *messages, uint64_t object, uint64_t queued,
                   struct chart_message *message)
{
    struct message_queue *queue = add_queue(messages, object);

    if (!queue)
        return false;
    check_length(messages, queue, queued);
    if (queue->has_no_order && length_of(queue) > 1) {
        set_unknown(queue, queued - 1);
        return false;
    }
    if (list_length(&queue->front)) {
        *message = queue->front.all[--queue->front.count];
        return true;
    }
    if (queue->unknown) {
        queue->unknown--;
        return false;
    }
    if (!list_length(&queue->back))
        return false;
    *message = queue->back.all[queue->back.first++];
    return true;
}

void messages_forget(struct messages *messages, uint64_t object)
{
    struct message_queue *queue = find_queue(messages, object);

    if (!queue)
        return;
    set_unknown(queue, 0);
    queue->is_known = false;
}

void messages_forget_all(struct messages *messages)
{
    for (size_t i = 0; i < messages->count; i++) {
        set_unknown(&messages->queues[i], 0);
        messages->queues[i].is_known = false;
    }
}
