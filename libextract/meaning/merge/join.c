// SPDX-License-Identifier: MIT
// merge: finds where two snapshots of a ring overlap.
//
// Entries of both are compared by their words, or by their payload. The first entries of one are
// put in a table; then the other one is read, and entries that follow each other in both are
// counted:
//
//     earlier   … e5 e6 e7 e8 e9            a run of 3 that reaches the end of the earlier one
//     later            e7 e8 e9 e10 e11 …
//
// A run of RUN entries is enough wherever it is. A shorter one must reach from the start of one
// snapshot to the end of the other.
#include "merge/merge.h"
#include "base/map.h"
#include <stdlib.h>

enum { HEAD = 4096, RUN = 8, BATCH = 128, KEY_BYTES = 64 };

// The first entries of a snapshot, and a table of them by their words.
struct head {
    struct extract_event *events;
    size_t count;
    struct extract_map by_words;
};

static uint64_t key_of(const struct extract_event *event)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t key = event->raw_stamp * odd;

    key = (key ^ event->thread) * odd;
    if (!event->data)
        key = (key ^ event->priority_word) * odd;
    for (uint32_t i = 0; i < event->data_bytes && i < KEY_BYTES; i++)
        key = (key ^ event->data[i]) * odd;
    return (key ^ ((uint64_t)event->id << 8 | event->core)) * odd;
}

// Reads the first entries that are final.
static bool read_head(struct head *head, const struct merge_input *input)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t got;

    extract_reader_init(&reader, input->trace);
    reader.has_addresses = true;
    while (head->count < HEAD && (got = merge_read(input, &reader, events, BATCH))) {
        for (size_t i = 0; i < got && head->count < HEAD; i++) {
            bool is_final = !(events[i].flags & EXTRACT_FLAG_PROVISIONAL) || head->count;
            if (extract_event_is_mark(&events[i]) || !is_final)
                continue;
            uint32_t *place = extract_map_at(&head->by_words, key_of(&events[i]));
            if (!place)
                return false;
            head->events[head->count++] = events[i];
            *place = *place ? *place : (uint32_t)head->count;
        }
    }
    return true;
}

static bool open_head(struct head *head, const struct merge_input *input)
{
    *head = (struct head){.events = malloc(HEAD * sizeof *head->events)};
    return extract_map_init(&head->by_words, HEAD) && head->events && read_head(head, input);
}

static void close_head(struct head *head)
{
    extract_map_free(&head->by_words);
    free(head->events);
}

// Searches a snapshot for the entries of a head. Returns whether it contains them; *at is then the
// time at which it has the first of them.
static bool find_head(const struct head *head, const struct merge_input *input, int64_t *at)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t got, run = 0, next = 0; // `next` is the place in the head of the entry that continues

    extract_reader_init(&reader, input->trace);
    reader.has_addresses = true;
    while ((got = merge_read(input, &reader, events, BATCH))) {
        for (size_t i = 0; i < got; i++) {
            const struct extract_event *event = &events[i];
            if (extract_event_is_mark(event))
                continue;
            bool continues = run && next < head->count && merge_is_same(event, &head->events[next]);
            if (!continues) {
                uint32_t place = extract_map_get(&head->by_words, key_of(event));
                run = 0;
                if (!place || !merge_is_same(event, &head->events[place - 1]))
                    continue;
                next = place - 1;
            }
            *at = (int64_t)(event->ticks - (head->events[next].ticks - head->events[0].ticks));
            next++;
            if (++run == RUN || run == head->count)
                return true;
        }
    }
    return run && run == next;
}

// Searches one snapshot for the first entries of another. If it contains them, sets *start to the
// time in it at which the ticks of the other one are 0. Returns false if memory ran out.
static bool search(const struct merge_input *input, const struct merge_input *other, bool *is_found,
                   int64_t *start)
{
    struct head head;
    int64_t at = 0;
    bool has_memory = open_head(&head, other);

    *is_found = has_memory && head.count && find_head(&head, input, &at);
    if (*is_found)
        *start = at - (int64_t)head.events[0].ticks;
    close_head(&head);
    return has_memory;
}

enum extract_code merge_join(const struct merge_input *before, const struct merge_input *input,
                             bool *overlaps, int64_t *start, struct extract_error *error)
{
    bool has_memory = search(before, input, overlaps, start);

    if (has_memory && !*overlaps) { // it may begin long before the other one
        has_memory = search(input, before, overlaps, start);
        *start = -*start;
    }
    return has_memory ? EXTRACT_OK
                      : extract_error_set(error, EXTRACT_NOMEM, input->name, NULL, "out of memory");
}
