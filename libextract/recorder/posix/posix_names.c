// SPDX-License-Identifier: MIT
// posix: names of event types: registering, looking up, listing.
//
// User event types are registered in the traced process, whose block has a table of names. The slot
// number plus POSIX_USER is the event type's id. Target and controllers fill the table from
// opposite ends, so neither needs the other's lock:
//
//   slot  0        names_used                    names_room - 1
//         ├────────────┼─────────────────┼──────────────┤
//         │ target  ─► │      free       │ ◄─ controllers: names_claimed
//
// A controller of a program on this host shares the target's lock and lets the target register the
// name. A full table yields POSIX_TRACE_UNNAMED_USEREVENT.
//
// Source: IEEE Std 1003.1-2008, posix_trace_eventid_…, posix_trace_eventtypelist_…, table 2-2 ff.
#include "posix/posix_room.h"
#include "target/linux_object.h"
#include <string.h>

static const char *const system_names[] = {
    [POSIX_ID_ERROR] = "posix_trace_error",
    [POSIX_ID_START] = "posix_trace_start",
    [POSIX_ID_STOP] = "posix_trace_stop",
    [POSIX_ID_OVERFLOW] = "posix_trace_overflow",
    [POSIX_ID_RESUME] = "posix_trace_resume",
    [POSIX_ID_FILTER] = "posix_trace_filter",
    [POSIX_ID_FLUSH_START] = "posix_trace_flush_start",
    [POSIX_ID_FLUSH_STOP] = "posix_trace_flush_stop",
};

enum { SYSTEM_END = sizeof system_names / sizeof *system_names };

const char *posix_system_name(trace_event_id_t id)
{
    return id < SYSTEM_END ? system_names[id] : NULL;
}

// ---- the target's table ----

static uint64_t slot_address(const struct posix_target *target, uint32_t slot)
{
    return target->address + target->block.names_at + (uint64_t)slot * target->block.name_bytes;
}

// Returns whether the target or a controller has registered a name in the slot.
static bool is_slot_used(const struct posix_block *block, uint32_t slot)
{
    return slot < block->names_room && slot < POSIX_SET_IDS - POSIX_USER &&
           (slot < block->names_used || block->names_room - slot <= block->names_claimed);
}

// Reads the name in a slot. Returns ENAMETOOLONG if it is longer than a name may be here, with the
// name truncated.
static int read_slot(struct posix_target *target, uint32_t slot, char name[POSIX_NAME_BYTES])
{
    uint32_t bytes = target->block.name_bytes;
    size_t got;

    if (bytes > POSIX_NAME_BYTES)
        bytes = POSIX_NAME_BYTES;
    memset(name, 0, POSIX_NAME_BYTES);
    if (extract_memory_read(target->memory, slot_address(target, slot), name, bytes, &got, NULL))
        return EIO;
    bool is_truncated = name[TRACE_EVENT_NAME_MAX];
    name[TRACE_EVENT_NAME_MAX] = '\0';
    return is_truncated ? ENAMETOOLONG : 0;
}

// The process block is read first, since a name may have been registered since the last call.
int posix_ring_name(struct posix_trace *trace, trace_event_id_t id, char *name)
{
    int error = posix_target_load(trace->target);

    if (error)
        return error;
    if (id < POSIX_USER || !is_slot_used(&trace->target->block, id - POSIX_USER))
        return EINVAL;
    error = read_slot(trace->target, id - POSIX_USER, name);
    return error == ENAMETOOLONG ? 0 : error;
}

trace_event_id_t posix_ring_next_named(struct posix_trace *trace, trace_event_id_t id)
{
    const struct posix_block *block = &trace->target->block;

    if (posix_target_load(trace->target))
        return 0;
    for (uint32_t slot = id - POSIX_USER; slot < block->names_room; slot++)
        if (is_slot_used(block, slot))
            return POSIX_USER + slot;
    return 0;
}

// Finds the event type of that name. Returns ENOENT if it is not registered. A name that was
// truncated cannot be the one that is looked for.
static int find_name(struct posix_trace *trace, const char *name, trace_event_id_t *event)
{
    char other[POSIX_NAME_BYTES];
    trace_event_id_t id = POSIX_USER;

    while ((id = posix_ring_next_named(trace, id))) {
        int error = read_slot(trace->target, id - POSIX_USER, other);
        *event = id++;
        if (error != ENAMETOOLONG && (error || strcmp(name, other) == 0))
            return error;
    }
    return ENOENT;
}

// Registers a name in the controllers' end of the table. The name is stored before it is counted,
// so a reader never sees half a name.
static int claim_name(struct posix_target *target, const char *name, trace_event_id_t *event)
{
    const struct posix_block *block = &target->block;
    uint32_t slot, claimed = block->names_claimed + 1, words[POSIX_NAME_BYTES / 4] = {0};
    uint32_t count = (uint32_t)strlen(name) / 4 + 1;

    *event = POSIX_TRACE_UNNAMED_USEREVENT;
    if (block->names_used >= block->names_room ||
        block->names_claimed >= block->names_room - block->names_used)
        return 0;
    slot = block->names_room - claimed;
    memcpy(words, name, strlen(name));
    for (uint32_t i = 0; i < count; i++) // keeps the order of bytes when words are swapped
        if ((block->layout.order == EXTRACT_BIG) != EXTRACT_HOST_BIG)
            words[i] = __builtin_bswap32(words[i]);
    int error = posix_write_words(target, slot_address(target, slot), words, count);
    if (!error)
        error =
            posix_write_words(target, target->address + POSIX_BLOCK_AT_NAMES_CLAIMED, &claimed, 1);
    if (!error)
        *event = POSIX_USER + slot;
    return error;
}

// Returns the id of the standard's event type of that name; 0 if there is none.
static trace_event_id_t find_system_name(const char *name)
{
    for (trace_event_id_t id = 1; id < SYSTEM_END; id++)
        if (system_names[id] && strcmp(system_names[id], name) == 0)
            return id;
    return 0;
}

// Finds an event type by name, or registers the name.
static int open_name(struct posix_trace *trace, const char *name, trace_event_id_t *event)
{
    struct posix_target *target = trace->target;
    size_t length = strnlen(name, POSIX_NAME_BYTES);

    *event = find_system_name(name);
    if (*event)
        return 0;
    if (length > TRACE_EVENT_NAME_MAX || length >= target->block.name_bytes)
        return ENAMETOOLONG;
    if (target->object)
        return ringside_trace_object_name(target->object, name, event);
    int error = find_name(trace, name, event);
    return error == ENOENT ? claim_name(target, name, event) : error;
}

// ---- the standard's functions ----

int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict event_name,
                                  trace_event_id_t *restrict event)
{
    struct posix_use use;
    bool given = event_name && event;
    int error = given ? posix_enter(&use, trid, POSIX_ACTIVE | POSIX_LOGGED) : EINVAL;

    if (error)
        return error;
    error = open_name(use.trace, event_name, event);
    posix_leave(&use);
    return error;
}

int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name)
{
    struct posix_use use;
    const char *name = posix_system_name(event);
    int error = event_name ? posix_enter(&use, trid, POSIX_ALL) : EINVAL;

    if (error)
        return error;
    if (name)
        memcpy(event_name, name, strlen(name) + 1);
    else
        error = use.trace->ops->name(use.trace, event, event_name);
    posix_leave(&use);
    return error;
}

// Returns the next id of the list: first the standard's event types, then those with a name; 0 at
// the end.
static trace_event_id_t find_next_listed(struct posix_trace *trace)
{
    for (trace_event_id_t id = trace->next_listed; id < SYSTEM_END; id++)
        if (system_names[id])
            return id;
    return trace->ops->next_named(trace, trace->next_listed < POSIX_USER ? POSIX_USER
                                                                         : trace->next_listed);
}

int posix_trace_eventtypelist_getnext_id(trace_id_t trid, trace_event_id_t *restrict event,
                                         int *restrict unavailable)
{
    struct posix_use use;
    int error = event && unavailable ? posix_enter(&use, trid, POSIX_ALL) : EINVAL;

    if (error)
        return error;
    trace_event_id_t id = find_next_listed(use.trace);
    *unavailable = !id;
    if (id) {
        *event = id;
        use.trace->next_listed = id + 1;
    }
    posix_leave(&use);
    return 0;
}

int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
    struct posix_use use;
    int error = posix_enter(&use, trid, POSIX_ALL);

    if (error)
        return error;
    use.trace->next_listed = 0;
    posix_leave(&use);
    return 0;
}
