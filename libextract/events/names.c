// SPDX-License-Identifier: MIT
// events: objects and their names. In: the registry, the threads that events name, the ELF and, as
// a last resort, the control block in target memory. Out: objects with a text to show.
#include "base/cursor.h"
#include "events/room.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_LIMIT = 256, BATCH = 256, LOG_OBJECTS = 1 << 17 };

// While names are collected their storage moves: offsets of name and shown + 1, 0 for none.
struct places {
    size_t name, shown;
};

struct build {
    struct extract_trace *trace;
    struct extract_memory *memory;
    struct places *places;
    size_t room; // objects that fit
    size_t most; // objects: damaged entries must not fill the memory with threads
};

static size_t store(struct extract_text *names, const char *bytes, size_t length)
{
    size_t at = names->used;
    extract_text_put(names, bytes, length);
    extract_text_putc(names, 0);
    return at;
}

// Stores the raw name and its escaped form.
static void store_name(struct build *build, size_t i, const char *name)
{
    struct extract_text *names = &build->trace->names;
    build->places[i].name = store(names, name, strlen(name));
    build->places[i].shown = names->used;
    extract_text_escaped(names, name);
    extract_text_putc(names, 0);
}

// The symbol at an address; with `inside` also one that covers it.
static bool symbol_name(struct build *build, uint64_t address, bool inside, char *name, size_t size)
{
    struct extract_symbol symbol;
    uint64_t offset;
    if (!build->trace->symbols ||
        !extract_symbols_by_address(build->trace->symbols, address, &symbol, &offset, NULL))
        return false;
    if (offset && !inside)
        return false;
    if (offset)
        snprintf(name, size, "%.200s+0x%" PRIx64, symbol.name, offset);
    else
        snprintf(name, size, "%.240s", symbol.name);
    return true;
}

// Whether the first `got` of at most `most` bytes are a whole text: it ends in them, or is cut
// there.
static bool is_text(const char *text, size_t got, size_t most)
{
    return got && *text && (got == most || memchr(text, 0, got));
}

// Reads a NUL-ended text at a target address: from the ELF's constants, else from memory. What is
// cut off by the end of what can be read is no name.
static bool target_text(struct build *build, uint64_t address, char *text, size_t size)
{
    size_t most = size - 1;
    size_t got = extract_symbols_read_constant(build->trace->symbols, address, text, most);
    if (!is_text(text, got, most))
        extract_memory_read(build->memory, address, text, most, &got, NULL);
    text[got] = 0;
    return is_text(text, got, most);
}

static bool control_block_name(struct build *build, uint64_t address, char *name, size_t size)
{
    const struct extract_ring *ring = &build->trace->snapshot->ring;
    uint64_t pointer;
    return build->memory && build->trace->symbols && ring->format->name_pointer &&
           ring->format->name_pointer(ring, build->memory, build->trace->symbols, address,
                                      &pointer) &&
           // No longer than the registry could hold, so that a saved dump names it the same.
           target_text(build, pointer, name, size < ring->name_bytes ? size : ring->name_bytes);
}

// The name of an object that the registry leaves without one: its symbol, else what its control
// block says, else its place in a symbol, else its address.
static void find_name(struct build *build, size_t i)
{
    struct extract_object *object = &build->trace->objects[i];
    uint64_t address = extract_ring_address(&build->trace->snapshot->ring, object->address);
    char name[NAME_LIMIT];
    bool found = symbol_name(build, address, false, name, sizeof name);
    if (!found && !strcmp(object->type_name, "thread"))
        found = object->from_memory = control_block_name(build, address, name, sizeof name);
    if (!found && !symbol_name(build, address, true, name, sizeof name))
        snprintf(name, sizeof name, "0x%08" PRIx64, object->address);
    store_name(build, i, name);
    if (!object->from_memory)
        build->places[i].name = store(&build->trace->names, "", 0);
}

// Enters an object in a map; one in use wins over a deleted one. False: out of memory.
static bool enter(struct extract_trace *trace, struct extract_map *map, size_t i)
{
    uint32_t *value = extract_map_at(map, trace->objects[i].address);
    if (value && (!*value || (trace->objects[i].in_use && !trace->objects[*value - 1].in_use)))
        *value = (uint32_t)i + 1;
    return value != NULL;
}

static bool enter_object(struct extract_trace *trace, size_t i)
{
    return enter(trace, &trace->by_address, i) &&
           (strcmp(trace->objects[i].type_name, "thread") || enter(trace, &trace->threads, i));
}

static bool more_room(struct build *build)
{
    struct extract_trace *trace = build->trace;
    size_t room = build->room * 2 + 16;
    if (trace->object_count < build->room)
        return true;
    struct extract_object *objects = realloc(trace->objects, room * sizeof *objects);
    if (objects)
        trace->objects = objects;
    struct places *places = realloc(build->places, room * sizeof *places);
    if (places)
        build->places = places;
    if (!objects || !places)
        return false;
    build->room = room;
    return true;
}

static bool add_object(struct build *build, const struct extract_object *object,
                       const uint8_t *name, size_t bytes)
{
    struct extract_trace *trace = build->trace;
    char text[NAME_LIMIT * 4 + 1];
    if (!more_room(build))
        return false;
    size_t i = trace->object_count++;
    trace->objects[i] = *object;
    bytes = strnlen((const char *)name, bytes < sizeof text ? bytes : sizeof text - 1);
    memcpy(text, name, bytes);
    text[bytes] = 0;
    if (bytes)
        store_name(build, i, text);
    else
        find_name(build, i);
    return enter_object(trace, i);
}

// The objects of a registry. Of an `old` one, those whose address no newer one knows: they were
// deleted, and their slot taken again.
static bool add_registry(struct build *build, const struct extract_snapshot *snapshot, bool old)
{
    struct extract_trace *trace = build->trace;
    for (uint32_t slot = 0; slot < snapshot->ring.registry.count; slot++) {
        struct extract_object object = {0};
        const uint8_t *name;
        size_t bytes;
        if (!snapshot->ring.format->object(snapshot, slot, &object, &name, &bytes) ||
            (old && extract_map_get(&trace->by_address, object.address)))
            continue;
        object.in_use &= !old;
        if (!add_object(build, &object, name, bytes))
            return false;
    }
    return true;
}

static bool add_registered(struct build *build)
{
    struct extract_trace *trace = build->trace;
    const struct extract_snapshot *snapshot = trace->pieces ? NULL : trace->snapshot;
    size_t block = SIZE_MAX;
    bool fits = true;
    if (snapshot)
        fits = add_registry(build, snapshot, false);
    for (bool old = false; trace->pieces && fits; old = true) {
        snapshot = extract_pieces_registry(trace->pieces, &block);
        if (!snapshot)
            break;
        fits = add_registry(build, snapshot, old);
    }
    trace->info.objects = trace->object_count;
    return fits;
}

static bool add_thread(struct build *build, uint64_t address, uint16_t priority)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct extract_trace *trace = build->trace;
    if (!address || extract_map_get(&trace->threads, address) || trace->object_count >= build->most)
        return true;
    if (!more_room(build))
        return false;
    size_t i = trace->object_count++;
    trace->objects[i] = (struct extract_object){.address = address,
                                                .type = 1,
                                                .type_name = "thread",
                                                .param_types = no_params,
                                                .in_use = true,
                                                .priority = priority,
                                                .slot = UINT32_MAX};
    find_name(build, i);
    return enter_object(trace, i);
}

// Threads that an event speaks of: its own or the interrupted one, and the one that runs next.
static bool add_threads(struct build *build, const struct extract_event *event)
{
    const struct extract_role_fields *role = build->trace->snapshot->ring.format->role(event->id);
    uint64_t next = role->next >= 0 ? event->field[role->next] : 0;
    return add_thread(build, event->thread, event->priority) &&
           add_thread(build, next, EXTRACT_NO_PRIORITY);
}

// Threads whose registration found the registry full; and what else the first walk over all events
// finds.
static bool walk(struct build *build)
{
    struct extract_trace *trace = build->trace;
    struct extract_event events[BATCH];
    struct extract_reader reader, before;
    size_t got;
    extract_reader_init(&reader, trace);
    while (before = reader, (got = extract_reader_next(&reader, events, BATCH))) {
        for (size_t i = 0; i < got; i++) {
            uint32_t id = events[i].id;
            if (id < EXTRACT_COMMON_IDS)
                trace->seen[id / 8] |= (uint8_t)(1u << id % 8);
            if (!add_threads(build, &events[i]))
                return false;
        }
        if (trace->pieces && !extract_tape_note(trace, &before, events, got))
            return false;
        trace->events += got;
    }
    trace->info.span_ticks = reader.ticks; // the walk ended at the newest event
    if (trace->pieces)
        extract_tape_end(trace, &reader);
    return true;
}

static void settle(struct build *build)
{
    struct extract_trace *trace = build->trace;
    for (size_t i = 0; i < trace->object_count; i++) {
        struct extract_object *object = &trace->objects[i];
        object->name = trace->names.data + build->places[i].name;
        object->shown = trace->names.data + build->places[i].shown;
        object->shown_bytes = (uint32_t)strlen(object->shown);
        object->shown_columns = (uint32_t)extract_text_columns(object->shown);
    }
}

enum extract_code extract_names_build(struct extract_trace *trace, struct extract_memory *memory,
                                      struct extract_error *error)
{
    struct build build = {.trace = trace, .memory = memory, .most = SIZE_MAX};
    if (trace->pieces)
        build.most = LOG_OBJECTS;
    size_t objects = trace->snapshot->ring.registry.count;
    extract_text_init(&trace->names, NULL, NULL);
    bool fits = extract_map_init(&trace->by_address, objects) &&
                extract_map_init(&trace->threads, objects) && add_registered(&build) &&
                walk(&build) && !trace->names.code;
    if (fits)
        settle(&build);
    free(build.places);
    return fits ? EXTRACT_OK
                : extract_error_set(error, EXTRACT_NOMEM, "object names", NULL, "out of memory");
}

void extract_names_free(struct extract_trace *trace)
{
    extract_map_free(&trace->by_address);
    extract_map_free(&trace->threads);
    extract_text_free(&trace->names);
    free(trace->objects);
}
