// SPDX-License-Identifier: MIT
// merge: makes one log of several traces: of snapshots of one ring, of the rings of several cores,
// or of several boards.
//
// A merge is planned first: what the clocks of the inputs have to do with each other, and which
// objects the log contains. Then the events are written in order of time. Both steps read the
// inputs event by event, so that memory does not grow with their length. Only traces of byte rings
// are in memory as long as they are open.
//
// merge_ids.c chooses how ids are read; plan.c checks the inputs and plans, and clocks.c finds what
// their clocks have to do with each other; join.c finds where one snapshot continues another;
// merge_order.c finds whether the order of snapshots is that of their timestamps; shared.c and
// line.c align clocks by events that two boards share; merge_objects.c makes the registry;
// numbers.c gives numbers; merge_names.c collects names; write.c writes, and the encoder of the
// format (formats/format.h) makes the entries.
#ifndef EXTRACT_MERGE_MERGE_H
#define EXTRACT_MERGE_MERGE_H

#include "base/map.h"
#include "formats/format.h"
#include "merge/line.h"
#include <extract/log.h>
#include <extract/text.h>
#include <extract/trace.h>
#include <string.h>

enum {
    MERGE_INPUTS = 1024, // maximum
    MERGE_CORES = 256    // maximum of cores of all inputs together
};

// What the inputs have in common.
enum merge_kind {
    MERGE_SNAPSHOTS = 0, // the ring: they were taken of it one after the other
    MERGE_CORE_RINGS,    // the target: its clock and its objects
    MERGE_BOARDS         // nothing: every input has a clock and objects of its own
};

// The numbers of an input: of types of user events, signals, pools and processes (numbers.c).
struct merge_numbers {
    uint32_t index; // of the input
    bool is_of_board;
    bool is_short; // memory ran out
    uint8_t *used; // bit per number of user events: it occurs
    uint64_t max_signal, max_pool;
    // Results: 1 + the number in the log, by number; what is added to others.
    struct extract_map user_events;
    uint64_t signal_offset, pool_offset;
    struct extract_map *owners; // of process ids: 1 + the first input that has it
};

// The addresses of objects in the events of an input (merge_names.c).
struct merge_addresses {
    struct extract_map places; // 1 + the index of an address
    uint64_t *list;
    size_t count, capacity;
};

// An input of a merge, and what was found of it.
struct merge_input {
    // ---- Set by the caller; borrowed ----
    const struct extract_trace *trace;
    const char *name;   // of its file, for messages
    const char *prefix; // of the names of its objects; boards only
    bool has_offset;    // the caller knows the offset of its clock
    int64_t offset;     // ticks to be added to its timestamps
    // How the ids of its trace are to be read, by all inputs (merge_choose_ids).
    enum extract_core_ids core_ids;

    // ---- Results ----
    uint64_t events;      // that it contains, without markers
    uint64_t duplicates;  // of these, events that another snapshot contains, too
    uint64_t first, last; // ticks of its first and last event in the log
    uint64_t shared;      // number of events that aligned it
    // Snapshots: why events may be missing between the one before it and this one. 0: none are.
    enum extract_log_loss gap;
    uint64_t back; // after such a gap, by how many ticks its timestamps go back. 0: they do not
    size_t place;  // if merge->has_time_order: its place by timestamps, from 0 on
    // Its clock: the time in the log is base + start + rate * ticks of the trace.
    int64_t base;
    struct merge_line clock;
    // Ticks to be added to its timestamps, at the start of its trace, to get those of the first
    // input.
    double shift;

    // ---- For merge/ only ----
    uint64_t raw_first, raw_last; // first and last timestamp, as if the clock counted up
    uint64_t ticks_first, ticks_last;
    bool is_whole;        // no events are missing between its first and its last
    bool is_constant;     // all timestamps are the same
    uint64_t last_number; // of its last event
    bool is_untimed;      // the numbers of its events stand for the time
    size_t chain;         // snapshots: the same number in those that have events in common
    unsigned cores;       // that its events name
    unsigned first_core;  // in the log, the number of its core 0
    struct merge_numbers numbers;
    struct merge_addresses addresses;
    struct extract_encoding encoding;
};

struct merge_options {
    enum merge_kind kind;
    // Events that two boards share: "EVENT[:FIELD]", or "SEND[:FIELD] .. RECEIVE[:FIELD]". NULL:
    // none.
    const char *align;
    bool alternate; // snapshots: of buffers that one core uses in turn, each at its own address
    uint64_t hz;    // ticks per second of all inputs; 0: as the traces state them
    bool (*must_end)(void); // asked from time to time while the log is written; NULL: never
};

struct merge {
    struct merge_input *inputs; // borrowed
    size_t count;
    struct merge_options options;
    struct extract_ring ring; // of the log
    uint8_t *registry;        // owned
    size_t registry_bytes;
    struct extract_text object_names; // as OBJECTS of a byte ring has them
    const char **user_names;          // of types of user events, by their numbers in the log; owned
    uint32_t user_count;
    struct extract_map owners; // of process ids
    unsigned cores;            // of all inputs together
    unsigned board_bit;        // from which on addresses contain the number of the board
    bool has_time_order;       // snapshots: time goes back, but would not in another order
    int64_t origin;            // the earliest time of an event
    uint64_t start;            // timestamp in the log of the time 0
    uint64_t gaps;             // that were written
};

// Chooses how the ids of each input are to be read, by all of them together. If that is not how its
// trace reads them, the caller opens the trace again with this option. Errors: NOMEM.
enum extract_code merge_choose_ids(struct merge_input *inputs, size_t count, enum merge_kind kind,
                                   struct extract_error *error);
// Plans a merge of at least two inputs, which are in order of time if they are snapshots. The
// inputs must outlive it. The caller frees it with merge_free, even after an error. Errors: USAGE
// (the inputs do not fit together, or the options do not), UNSUPPORTED (a format that cannot be
// merged), NOTFOUND (the clocks cannot be aligned), BAD, LIMIT, NOMEM.
enum extract_code merge_plan(struct merge *merge, struct merge_input *inputs, size_t count,
                             const struct merge_options *options, struct extract_error *error);
// Returns the smallest section of a log that can hold the merged registry or the names, in bytes.
uint32_t merge_section_bytes(const struct merge *merge);
// Writes the log and completes the results of the inputs. Errors: those of extract_log_put, and IO
// if it must end.
enum extract_code merge_write(struct merge *merge, struct extract_log_writer *log,
                              struct extract_error *error);
void merge_free(struct merge *merge);

// ---- What the files of this directory share ----

// merge_ids.c: checks that ids do not need the bits in which those of several cores contain the
// core.
enum extract_code merge_check_ids(const struct merge *merge, struct extract_error *error);
// join.c: finds the time in one snapshot at which the ticks of another are 0. Sets *overlaps to
// whether they have events in common; if not, there is no such time. Errors: NOMEM.
enum extract_code merge_join(const struct merge_input *before, const struct merge_input *input,
                             bool *overlaps, int64_t *start, struct extract_error *error);
// Returns the time in the log of a time of an input, which may be negative.
int64_t merge_time(const struct merge_input *input, uint64_t ticks);
// clocks.c: returns the difference of the first timestamps of an input and of the first input. If
// their clock is the same, it may have wrapped in between: the nearest moment is meant.
int64_t merge_first_difference(const struct merge *merge, const struct merge_input *input);
// Returns whether two entries of one ring are the same: words that services patch may differ. The
// payload of an entry of a byte ring is compared, which such services do not patch.
static inline bool merge_is_same(const struct extract_event *a, const struct extract_event *b)
{
    if (a->raw_stamp != b->raw_stamp || a->id != b->id || a->thread != b->thread ||
        a->core != b->core || a->context != b->context)
        return false;
    if (!a->data || !b->data)
        return a->priority_word == b->priority_word;
    return a->data_bytes == b->data_bytes && memcmp(a->data, b->data, a->data_bytes) == 0;
}

// merge_order.c: finds whether time goes back between snapshots, by what, and whether it would not
// in another order.
void merge_find_time_order(struct merge *merge);

// clocks.c: finds the clocks of all inputs, and sets origin and start. Errors: USAGE, NOTFOUND,
// LIMIT, BAD, NOMEM.
enum extract_code merge_find_clocks(struct merge *merge, struct extract_error *error);
// plan.c: reads the next events of an input, as extract_reader_next does. Events of an input
// without timestamps have their numbers as times.
size_t merge_read(const struct merge_input *input, struct extract_reader *reader,
                  struct extract_event *events, size_t count);

// shared.c: finds the clocks of all inputs but the first, and but those with an offset, by the
// events that they share with the first. Errors: USAGE, NOTFOUND, BAD (the events contradict each
// other), NOMEM.
enum extract_code merge_align(struct merge *merge, struct extract_error *error);

// merge_objects.c: makes the ring and the registry. Errors: LIMIT, NOMEM.
enum extract_code merge_make_registry(struct merge *merge, struct extract_error *error);
// Returns whether the log has a registry of objects.
bool merge_has_registry(const struct merge *merge);

// merge_names.c: opens the addresses of an input, and notes those of its events. Return false if
// memory ran out. Each is closed by itself.
bool merge_open_addresses(struct merge_input *input);
bool merge_note_addresses(const struct merge *merge, struct merge_input *input,
                          const struct extract_event *event);
void merge_close_addresses(struct merge_input *input);
// Collects the names of objects for the log. Errors: NOMEM.
enum extract_code merge_collect_names(struct merge *merge, struct extract_error *error);

// numbers.c: opens the numbers of an input, and notes those of its events. Returns false if memory
// ran out. All are closed together.
bool merge_open_numbers(struct merge *merge, size_t i);
bool merge_note_numbers(struct merge_input *input, const struct extract_event *event);
void merge_close_numbers(struct merge *merge);
// Chooses the numbers in the log. Errors: LIMIT, NOMEM.
enum extract_code merge_plan_numbers(struct merge *merge, struct extract_error *error);
// Returns a number in the log; `context` is the struct merge_numbers of the input.
uint64_t merge_number(const void *context, enum extract_kind kind, uint64_t number);

#endif
