// SPDX-License-Identifier: MIT
// events: objects and names while they are collected (event_names.c, first_walk.c,
// names_elsewhere.c).
#ifndef EXTRACT_EVENTS_EVENT_NAMES_H
#define EXTRACT_EVENTS_EVENT_NAMES_H

#include "events/events_room.h"

// Names are stored one after the other, in storage that moves when it grows. While names are
// collected, each object therefore has offsets instead of pointers.
struct name_offsets {
    size_t name, shown;
    bool has_priorities; // events change the priority of the thread
};

// What the first walk notes of the objects that share an address (lives.c).
enum life_change_kind { LIFE_CREATED, LIFE_DELETED, LIFE_NAMED };

struct life_change {
    uint64_t address, seq;
    size_t name_before; // NAMED: offset of the name before; 0 if it had none
    size_t name;        // NAMED: offset of this one
    uint32_t type;      // NAMED: 0, which is any
    uint32_t id;        // of the event's type
    uint16_t priority;  // CREATED: of a thread
    enum life_change_kind kind;
};

// Where entries are missing before an event, or the target was restarted.
struct life_pause {
    uint64_t seq;
    uint32_t restarts; // up to this one
    bool is_filter;    // creations may be left out from then on
};

struct life_place {
    uint64_t address;
    uint32_t object;
};

// An object that is in use in a registry of a log.
struct life_sighting {
    uint64_t address;
    size_t block;
    uint64_t after, before; // the registry was read between these events
    uint32_t object;
};

struct life_changes {
    struct life_change *list;
    size_t count, capacity;
    struct life_pause *pauses;
    size_t pause_count, pause_capacity;
    struct life_place *places; // of the objects with addresses, in the order of these
    size_t place_count;
    struct life_sighting *sightings; // in the order of their addresses once the walk has ended
    size_t sighting_count, sighting_capacity;
    uint64_t last_service;    // the newest event of a service of threads, if there is one
    bool has_thread_services; // the target records when threads are created
};

enum { OVERLAP_TAKERS = 16 };

// Threads that got a core, and have not lost it as far as switches show, oldest first.
struct overlap {
    struct {
        uint64_t thread; // 0: idle
        uint8_t core;    // of a merged trace
    } takers[OVERLAP_TAKERS];
    unsigned count;
    // Switches from another thread than the newest taker: from an older one, and all others.
    uint64_t at_once, missed;
};

struct build {
    struct extract_trace *trace;
    struct extract_memory *memory;
    struct name_offsets *offsets; // per object
    bool begins_run;              // the last event begins a run of the target
    bool has_orders;              // of priorities
    bool has_break;               // something may be missing between two events
    size_t capacity;              // objects that fit
    size_t max_objects;           // damaged entries must not fill the memory with threads
    uint64_t first_thread;        // address of the first one that recorded an event; 0: none yet
    uint64_t last_thread; // that recorded the newest event outside of interrupts; 0: none, or a gap
    bool has_called_sleep; // by that event
    uint64_t sleeper;      // the first thread that went to sleep since the newest gap; 0: none
    bool calls_sleep;      // an event is a call to sleep
    struct overlap overlap;
    struct life_changes changes; // owned
    size_t carried;              // objects of earlier chunks of a stream
};

// ---- event_names.c ----

// Returns the name of the type of the format's threads.
const char *names_thread_type(const struct build *build);
// Adds an object. Without a name, it gets that of a symbol, of its control block, or its address.
// This and the next three return false if memory is short.
bool names_add_object(struct build *build, const struct extract_object *object, const char *name);
// Makes object `i` the one at its address, or under its number, from a block of a log on, or from
// an event on.
bool names_enter_version(struct extract_trace *trace, struct extract_map *map, size_t i,
                         uint64_t since);
bool names_enter_object(struct extract_trace *trace, struct extract_epoch *epoch, size_t i,
                        uint64_t since);
// Adds a thread at an address other than 0, unless it is known, or its priority, unless that is.
bool names_add_thread(struct build *build, uint64_t address, uint16_t priority, uint64_t seq);
// Applies an entry that gives a name, and a translated event that has the name of its thread.
bool names_note_entry(struct build *build, const struct extract_event *event);
bool names_note_thread(struct build *build, const struct extract_event *event,
                       const struct extract_role_fields *role);
// Replaces offsets of names by pointers, and marks the objects that no address stands for.
void names_set_pointers(struct build *build);

// Adds an object without a name: the older life `number` of its address, or 0, the newest one,
// which is deleted. `likely`: the name that it most likely had, or "".
bool names_add_unnamed(struct build *build, const struct extract_object *object, const char *likely,
                       uint32_t number);
// Adds the number of an older life to what reports print for its object; 0: adds the sign of a name
// that is only likely.
void names_add_sign(struct build *build, size_t i, uint32_t number);

// ---- lives.c ----

// Notes what an event creates or deletes. `event` is the translated one.
bool lives_note(struct build *build, const struct extract_event *event,
                const struct extract_role_fields *role);
// Notes that an event names the object at an address, by offsets of names.
bool lives_note_name(struct build *build, uint64_t address, uint64_t seq, size_t before,
                     size_t after);
// Notes that the registry in a block of a log has an object in use.
bool lives_note_sighting(struct build *build, size_t object, size_t block);
// Finds the lives of all addresses after the first walk, and gives them objects.
bool lives_build(struct build *build);

// ---- overlap.c ----

// Notes which threads get and lose cores. `event` is the translated one.
void overlap_note(struct overlap *overlap, const struct extract_scheduler *kernel,
                  const struct extract_event *event, const struct extract_role_fields *role);
// Returns whether it is likely that threads had cores at the same time.
bool overlap_is_likely(const struct overlap *overlap);

// ---- first_walk.c ----

// Notes the order of priorities of a kernel.
void names_note_order(struct build *build, enum extract_priority_order order);
// Walks over all events once. Returns false if memory is short.
bool names_walk(struct build *build);

// ---- names_elsewhere.c ----

// Looks up the priorities of threads for which no entry states one.
void names_find_priorities(struct build *build);
// Adds the objects that the kernel's own lists name, in the memory, if events are about objects
// that have no name. Returns false if memory is short.
bool names_add_kernel(struct build *build);
// Adds the names of signals that only the ELF has. Errors: NOMEM, and those of the format.
enum extract_code names_add_signals(struct build *build, struct extract_error *error);

#endif
