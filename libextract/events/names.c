// SPDX-License-Identifier: MIT
// events: objects and their names. In: the registry, the threads that events name, the ELF and, as
// a last resort, the control block in target memory. Out: objects with a text to show.
#include "base/cursor.h"
#include "events/internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_LIMIT = 256,
    NAME_ROOM = NAME_LIMIT * 4 + 1,
    BATCH = 256,
    LOG_OBJECTS = 1 << 17,
    LOG_VERSIONS = 1 << 19,
    STREAM_RUNS = 1 << 12, // runs of the target that one stream tells of
    MAX_NAMES = 1 << 24    // bytes of the names of a stream that goes on
};

// While names are collected their storage moves: offsets of name and shown + 1, 0 for none.
struct places {
    size_t name, shown;
};

struct build {
    struct extract_trace *trace;
    struct extract_memory *memory;
    struct places *places;
    bool begins; // the last event begins a run of the target
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
    return build->trace->symbols &&
           extract_symbols_by_address(build->trace->symbols, address, &symbol, &offset, NULL) &&
           (!offset || inside) &&
           extract_symbols_describe(build->trace->symbols, address,
                                    build->trace->snapshot->ring.format->names_members, name, size);
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
    return build->memory && build->trace->symbols && ring->format->kernel &&
           ring->format->kernel->name_pointer(ring, build->memory, build->trace->symbols, address,
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
    if (!found && object->thread)
        found = object->from_memory = control_block_name(build, address, name, sizeof name);
    if (!found && !symbol_name(build, address, true, name, sizeof name))
        snprintf(name, sizeof name, "0x%08" PRIx64, object->address);
    store_name(build, i, name);
    if (!object->from_memory)
        build->places[i].name = store(&build->trace->names, "", 0);
}

// ---- what lay at an address, and when ----
//
// The versions at an address are a list from the oldest on, to which older ones are added in front.
// Their leaps are those of a skew-binary random-access list (E. Myers, 1983).

// Adds a version in front of those that *value leads to. False: out of memory.
static bool push(struct extract_trace *trace, uint32_t *value, size_t i, uint64_t since)
{
    struct extract_object_version *versions =
        extract_grow(trace->versions, &trace->version_room, trace->version_count, sizeof *versions);
    if (!versions)
        return false;
    trace->versions = versions;
    if (!trace->version_count)
        versions[trace->version_count++] = (struct extract_object_version){0};
    const struct extract_object_version *all = trace->versions, *head = &all[*value];
    const struct extract_object_version *leap = &all[head->leap];
    bool even = head->depth - leap->depth == leap->depth - all[leap->leap].depth;
    trace->versions[trace->version_count] =
        (struct extract_object_version){.since = since,
                                        .object = (uint32_t)i,
                                        .newer = *value,
                                        .leap = even && head->leap ? leap->leap : *value,
                                        .depth = head->depth + 1};
    *value = (uint32_t)trace->version_count++;
    return true;
}

// What an object is found by.
static uint64_t key_of(const struct extract_object *object)
{
    return object->number_kind ? extract_number_key(object->number_kind, object->address)
                               : object->address;
}

// Enters an object in a map. In one registry, one in use wins over a deleted one; a thread that
// only events speak of stands behind every registered one that is in use. False: out of memory.
static bool enter(struct extract_trace *trace, struct extract_map *map, size_t i, uint64_t since)
{
    const struct extract_object *object = &trace->objects[i];
    uint32_t *value = extract_map_at(map, key_of(object));
    if (!value)
        return false;
    struct extract_object_version *head = *value ? &trace->versions[*value] : NULL;
    if (head && head->object == i)
        head->since = since;
    else if (head && (head->since == since || !object->registered))
        head->object =
            object->in_use && !trace->objects[head->object].in_use ? (uint32_t)i : head->object;
    else if (trace->version_count < LOG_VERSIONS)
        return push(trace, value, i, since);
    return true;
}

static bool enter_object(struct extract_trace *trace, struct extract_epoch *epoch, size_t i,
                         uint64_t since)
{
    return enter(trace, &epoch->by_address, i, since) &&
           (!trace->objects[i].thread || enter(trace, &epoch->threads, i, since));
}

// The version that held when the registry of `block` did; when all came later, the first of them.
static const struct extract_object *search(const struct extract_trace *trace, uint32_t head,
                                           uint64_t block)
{
    const struct extract_object_version *all = trace->versions, *at = &all[head];
    while (at->newer && all[at->newer].since <= block)
        at = at->leap && all[at->leap].since <= block ? &all[at->leap] : &all[at->newer];
    return &trace->objects[at->object];
}

const struct extract_object *extract_names_find(const struct extract_trace *trace, bool thread,
                                                uint64_t address, uint64_t seq)
{
    uint64_t block = extract_trace_registry(trace, seq);
    const struct extract_epoch *epoch = extract_epoch_of(trace, block);
    uint32_t head = extract_map_get(thread ? &epoch->threads : &epoch->by_address, address);
    return head ? search(trace, head, block) : NULL;
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

static const char *thread_type(const struct build *build)
{
    return build->trace->snapshot->ring.format->thread_type;
}

static bool add_object(struct build *build, const struct extract_object *object, const char *name)
{
    if (!more_room(build))
        return false;
    size_t i = build->trace->object_count++;
    build->trace->objects[i] = *object;
    build->trace->objects[i].thread = !strcmp(object->type_name, thread_type(build));
    if (*name)
        store_name(build, i, name);
    else
        find_name(build, i);
    return true;
}

// An object of a registry slot, and its name. False: there is none.
static bool read_object(const struct extract_snapshot *snapshot, uint32_t slot,
                        struct extract_object *object, char name[static NAME_ROOM])
{
    const uint8_t *bytes;
    size_t length;
    memset(object, 0, sizeof *object);
    if (!snapshot->ring.format->object(snapshot, slot, object, &bytes, &length))
        return false;
    length = strnlen((const char *)bytes, length < NAME_ROOM ? length : NAME_ROOM - 1);
    memcpy(name, bytes, length);
    name[length] = 0;
    return true;
}

// The objects of the newest registry.
static bool add_registry(struct build *build, const struct extract_snapshot *snapshot,
                         struct extract_epoch *epoch, uint64_t block)
{
    struct extract_object object;
    char name[NAME_ROOM];
    for (uint32_t slot = 0; slot < snapshot->ring.registry.count; slot++)
        if (read_object(snapshot, slot, &object, name) &&
            (!add_object(build, &object, name) ||
             !enter_object(build->trace, epoch, build->trace->object_count - 1, block)))
            return false;
    return true;
}

// Whether object i is what a registry tells: a name may have moved to another kind of object.
static bool is_same(const struct build *build, size_t i, const struct extract_object *object,
                    const char *name)
{
    return !strcmp(build->trace->objects[i].type_name, object->type_name) &&
           !strcmp(build->trace->names.data + build->places[i].name, name);
}

// The object that an older registry tells, when a newer one of its epoch, or of the next, tells the
// same: SIZE_MAX when it does not.
static size_t find_same(const struct build *build, const struct extract_epoch *epoch,
                        const struct extract_object *object, const char *name)
{
    const struct extract_trace *trace = build->trace;
    uint32_t head = extract_map_get(&epoch->by_address, key_of(object));
    if (!head && epoch < trace->epochs + trace->epoch_count - 1)
        head = extract_map_get(&epoch[1].by_address, key_of(object));
    if (!head || !is_same(build, trace->versions[head].object, object, name))
        return SIZE_MAX;
    return trace->versions[head].object;
}

static bool add_old_object(struct build *build, struct extract_epoch *epoch, uint64_t block,
                           struct extract_object *object, const char *name)
{
    struct extract_trace *trace = build->trace;
    uint32_t head = extract_map_get(&epoch->by_address, key_of(object));
    if (head && trace->versions[head].since == block)
        return true;
    size_t i = find_same(build, epoch, object, name);
    if (i == SIZE_MAX && trace->object_count >= build->most)
        return true;
    object->in_use = false;
    if (i == SIZE_MAX && !add_object(build, object, name))
        return false;
    return enter_object(trace, epoch, i == SIZE_MAX ? trace->object_count - 1 : i, block);
}

// The objects of an older registry, as far as newer ones do not tell them: they were deleted, and
// their slot or address taken again. Those that were in use then come first.
static bool add_old_registry(struct build *build, const struct extract_snapshot *snapshot,
                             struct extract_epoch *epoch, uint64_t block)
{
    struct extract_object object;
    char name[NAME_ROOM];
    uint32_t count = snapshot->ring.registry.count;
    for (unsigned in_use = 2; in_use-- > 0;)
        for (uint32_t slot = 0; slot < count; slot++)
            if (read_object(snapshot, slot, &object, name) && object.in_use == in_use &&
                !add_old_object(build, epoch, block, &object, name))
                return false;
    return true;
}

static bool add_registered(struct build *build)
{
    struct extract_trace *trace = build->trace;
    const struct extract_snapshot *snapshot = trace->snapshot;
    size_t block = SIZE_MAX;
    bool fits = true;
    if (!trace->snapshots)
        fits = add_registry(build, snapshot, trace->epochs, 0);
    for (bool old = false; trace->snapshots && fits; old = true) {
        snapshot = extract_log_snapshots_registry(trace->snapshots, &block);
        if (!snapshot)
            break;
        struct extract_epoch *epoch =
            trace->epochs + (extract_epoch_of(trace, block) - trace->epochs);
        fits = (old ? add_old_registry : add_registry)(build, snapshot, epoch, block);
    }
    trace->info.objects = trace->object_count;
    return fits;
}

static bool add_thread(struct build *build, uint64_t address, uint16_t priority, uint64_t seq)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct extract_trace *trace = build->trace;
    if (!address || trace->object_count >= build->most ||
        extract_names_find(trace, true, address, seq))
        return true;
    uint64_t block = extract_trace_registry(trace, seq);
    struct extract_epoch *epoch = trace->epochs + (extract_epoch_of(trace, block) - trace->epochs);
    // The same in the epoch before, as far as can be told: nobody named it there either.
    uint32_t before = epoch > trace->epochs ? extract_map_get(&epoch[-1].threads, address) : 0;
    if (before && !trace->objects[trace->versions[before].object].registered)
        return enter_object(trace, epoch, trace->versions[before].object, block);
    struct extract_object object = {.address = address,
                                    .type = 1,
                                    .type_name = thread_type(build),
                                    .param_types = no_params,
                                    .in_use = true,
                                    .priority = priority,
                                    .slot = UINT32_MAX};
    return add_object(build, &object, "") &&
           enter_object(trace, epoch, trace->object_count - 1, block);
}

// ---- what the entries themselves tell ----

// From an event on, nothing that was told before holds. Beyond a number of runs the last goes on.
static bool begin_run(struct build *build, uint64_t seq)
{
    struct extract_trace *trace = build->trace;
    const struct extract_epoch *last = &trace->epochs[trace->epoch_count - 1];
    if (trace->snapshots || seq == last->first || trace->epoch_count == STREAM_RUNS)
        return true;
    struct extract_epoch next = *last;
    struct extract_epoch *epochs =
        realloc(trace->epochs, (trace->epoch_count + 1) * sizeof *trace->epochs);
    if (!epochs)
        return false;
    trace->epochs = epochs;
    next.from = trace->epoch_count;
    next.first = seq;
    if (!extract_map_init(&next.by_address, 0) || !extract_map_init(&next.threads, 0)) {
        extract_map_free(&next.by_address);
        return false;
    }
    epochs[trace->epoch_count++] = next;
    return true;
}

// An object was told before, or met in an event: the last name holds. A word for any object says
// nothing new of what it is.
static void tell_again(struct build *build, size_t i, const struct extract_name_entry *told,
                       const char *name)
{
    struct extract_object *object = &build->trace->objects[i];
    if (told->object.priority != EXTRACT_NO_PRIORITY)
        object->priority = told->object.priority;
    if (!*name)
        return;
    if (!object->thread && (!object->registered || strcmp(told->object.type_name, "object"))) {
        object->type = told->object.type;
        object->type_name = told->object.type_name;
        object->thread = !strcmp(object->type_name, thread_type(build));
    }
    object->registered = true;
    object->slot = object->slot == UINT32_MAX ? (uint32_t)i : object->slot;
    if (strcmp(build->trace->names.data + build->places[i].name, name) != 0)
        store_name(build, i, name);
}

static bool tell_first(struct build *build, struct extract_epoch *epoch, uint64_t block,
                       uint64_t key, const struct extract_name_entry *told, const char *name)
{
    struct extract_trace *trace = build->trace;
    struct extract_object object = told->object;
    size_t i = trace->object_count;
    object.registered = object.in_use = true;
    if (told->kind != EXTRACT_KIND_OBJECT)
        object.number_kind = told->kind;
    object.slot = (uint32_t)i;
    if (i >= build->most)
        return true;
    uint32_t *head = extract_map_at(&epoch->by_address, key);
    return head && add_object(build, &object, name) && push(trace, head, i, block);
}

static bool take_told(struct build *build, const struct extract_event *event)
{
    struct extract_trace *trace = build->trace;
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct extract_name_entry told = {.object.priority = EXTRACT_NO_PRIORITY};
    char name[NAME_ROOM];
    build->begins = false;
    if (!ring->format->telling || !ring->format->telling->name(event, &told))
        return true;
    build->begins = told.restarted;
    if (told.restarted && !begin_run(build, event->seq))
        return false;
    size_t length = told.name ? strnlen((const char *)told.name, told.name_bytes) : 0;
    length = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, told.name ? told.name : (const uint8_t *)"", length);
    name[length] = 0;
    uint64_t block = extract_trace_registry(trace, event->seq), key = told.object.address;
    struct extract_epoch *epoch = trace->epochs + (extract_epoch_of(trace, block) - trace->epochs);
    if (told.kind != EXTRACT_KIND_OBJECT)
        key = extract_number_key(told.kind, key);
    uint32_t head = extract_map_get(&epoch->by_address, key);
    size_t i = head ? trace->versions[head].object : trace->object_count;
    if (head)
        tell_again(build, i, &told, name);
    else if (*name && !tell_first(build, epoch, block, key, &told, name))
        return false;
    bool is_new_thread = i < trace->object_count && trace->objects[i].thread &&
                         !extract_map_get(&epoch->threads, key);
    return !is_new_thread || enter(trace, &epoch->threads, i, block);
}

// Threads that an event speaks of: its own or the interrupted one, and the one that runs next.
static bool add_threads(struct build *build, const struct extract_event *event)
{
    const struct extract_role_fields *role =
        extract_format_role(build->trace->snapshot->ring.format, event->id);
    uint64_t next = role->next >= 0 ? event->field[role->next] : 0;
    return add_thread(build, event->thread, event->priority, event->seq) &&
           add_thread(build, next, EXTRACT_NO_PRIORITY, event->seq);
}

// Objects that have a record of their own are registered.
static void count_told(struct build *build)
{
    struct extract_trace *trace = build->trace;
    trace->info.objects = 0;
    for (size_t i = 0; i < trace->object_count; i++)
        trace->info.objects += trace->objects[i].registered;
}

// How many cores there are, by the ring or by the events, whichever proves more.
static void count_cores(struct extract_trace *trace)
{
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct extract_info *info = &trace->info;
    if (!ring->format->has_cores)
        return;
    if (ring->cores && ring->cores >= trace->cores_seen) {
        info->cores = ring->cores;
        info->cores_from = (enum extract_cores_from)ring->cores_from;
    } else if (trace->cores_seen) {
        info->cores = trace->cores_seen;
        info->cores_from = EXTRACT_CORES_SEEN;
    }
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
    if (trace->snapshots)
        extract_log_events_begin(trace);
    while (before = reader, (got = extract_reader_next(&reader, events, BATCH))) {
        for (size_t i = 0; i < got; i++) {
            uint32_t id = events[i].id;
            if (id < EXTRACT_COMMON_IDS)
                trace->seen[id / 8] |= (uint8_t)(1u << id % 8);
            if (!extract_event_is_mark(&events[i]) && events[i].core >= trace->cores_seen)
                trace->cores_seen = events[i].core + 1u;
            if (!add_threads(build, &events[i]) || !take_told(build, &events[i]) ||
                !extract_runs_note(trace, &events[i], build->begins) ||
                !extract_signals_note(trace, &events[i]))
                return false;
        }
        if (trace->snapshots && !extract_log_events_note(trace, &before, events, got))
            return false;
        trace->events += got;
    }
    if (build->trace->snapshot->ring.format->telling)
        count_told(build);
    trace->info.span_ticks = reader.ticks; // the walk ended at the newest event
    count_cores(trace);
    trace->end = reader;
    trace->end.started &= trace->snapshot->ring.rkh.walked.stamped;
    if (trace->snapshots)
        extract_log_events_end(trace, &reader);
    extract_runs_end(trace);
    return true;
}

// Threads whose priority no entry has told: memory and ELF may.
static void find_priorities(struct build *build)
{
    struct extract_trace *trace = build->trace;
    const struct extract_ring *ring = &trace->snapshot->ring;
    for (size_t i = 0; ring->format->target && trace->symbols && i < trace->object_count; i++) {
        struct extract_object *object = &trace->objects[i];
        if (object->thread && object->priority == EXTRACT_NO_PRIORITY)
            ring->format->target->priority(build->memory, trace->symbols,
                                           extract_ring_address(ring, object->address),
                                           &object->priority);
    }
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
        object->shadowed = true;
    }
    for (size_t i = 1; i < trace->version_count; i++)
        trace->objects[trace->versions[i].object].shadowed = false;
}

// ---- names that only the ELF tells ----

// A signal that the ELF names, in every run whose records do not.
static bool take_signal(void *context, uint64_t number, const char *name)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct build *build = context;
    struct extract_trace *trace = build->trace;
    struct extract_object object = {.address = number,
                                    .type_name = "signal",
                                    .param_types = no_params,
                                    .in_use = true,
                                    .number_kind = EXTRACT_KIND_SIGNAL,
                                    .priority = EXTRACT_NO_PRIORITY,
                                    .slot = UINT32_MAX};
    uint64_t key = extract_number_key(EXTRACT_KIND_SIGNAL, number);
    bool is_added = false;
    for (size_t i = 0; i < trace->epoch_count; i++) {
        struct extract_epoch *epoch = &trace->epochs[i];
        if (extract_map_get(&epoch->by_address, key))
            continue;
        if (!is_added && (trace->object_count >= build->most || !add_object(build, &object, name)))
            return trace->object_count >= build->most;
        is_added = true;
        if (!enter(trace, &epoch->by_address, trace->object_count - 1, epoch->from))
            return false;
    }
    return true;
}

static enum extract_code name_signals(struct build *build, struct extract_error *error)
{
    struct extract_trace *trace = build->trace;
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct extract_numbers numbers = {.count = 0};
    if (!trace->symbols || !ring->format->telling)
        return EXTRACT_OK;
    settle(build); // names of records have their places
    struct extract_number *list = extract_signals_list(trace, &numbers.count);
    numbers.list = list;
    trace->has_unnamed = false;
    enum extract_code code = EXTRACT_NOMEM;
    if (list)
        code = ring->format->telling->name_signals(ring, trace->symbols, &numbers, take_signal,
                                                   build, &trace->signals, error);
    else
        extract_error_set(error, EXTRACT_NOMEM, "names of signals", NULL, "out of memory");
    free(list);
    trace->info.signals = &trace->signals;
    return code;
}

enum extract_code extract_names_build(struct extract_trace *trace, struct extract_memory *memory,
                                      struct extract_error *error)
{
    struct build build = {.trace = trace, .memory = memory, .most = SIZE_MAX};
    if (trace->snapshots || trace->snapshot->ring.format->telling)
        build.most = LOG_OBJECTS;
    size_t objects = trace->snapshot->ring.registry.count;
    extract_text_init(&trace->names, NULL, NULL);
    bool fits = true;
    for (size_t i = 0; i < trace->epoch_count && fits; i++)
        fits = extract_map_init(&trace->epochs[i].by_address, i ? 0 : objects) &&
               extract_map_init(&trace->epochs[i].threads, i ? 0 : objects);
    fits = extract_map_init(&trace->seen_signals, 0) && fits && add_registered(&build) &&
           walk(&build) && !trace->names.code;
    enum extract_code code = EXTRACT_OK;
    if (fits) {
        find_priorities(&build);
        code = name_signals(&build, error);
        settle(&build);
    }
    free(build.places);
    if (code)
        return code;
    return fits && !trace->names.code
               ? EXTRACT_OK
               : extract_error_set(error, EXTRACT_NOMEM, "object names", NULL, "out of memory");
}

static void free_maps(struct extract_trace *trace)
{
    for (size_t i = 0; i < trace->epoch_count; i++) {
        extract_map_free(&trace->epochs[i].by_address);
        extract_map_free(&trace->epochs[i].threads);
    }
}

static bool forget(struct extract_trace *trace)
{
    free_maps(trace);
    free(trace->versions);
    trace->versions = NULL;
    trace->version_count = trace->version_room = 0;
    trace->object_count = 0;
    trace->names.used = 0;
    trace->epoch_count = 1;
    trace->epochs->first = 0;
    memset(trace->seen, 0, sizeof trace->seen);
    extract_map_free(&trace->seen_signals);
    // Both, so that both can be freed.
    bool objects = extract_map_init(&trace->epochs->by_address, 0);
    bool threads = extract_map_init(&trace->epochs->threads, 0);
    bool signals = extract_map_init(&trace->seen_signals, 0);
    return objects && threads && signals;
}

// Names as places in their storage, which moves when it grows.
static bool take_places(struct build *build)
{
    const struct extract_trace *trace = build->trace;
    build->room = trace->object_count;
    build->places = malloc((build->room + 1) * sizeof *build->places);
    for (size_t i = 0; build->places && i < build->room; i++)
        build->places[i] = (struct places){(size_t)(trace->objects[i].name - trace->names.data),
                                           (size_t)(trace->objects[i].shown - trace->names.data)};
    return build->places;
}

enum extract_code extract_names_go_on(struct extract_trace *trace, bool restarted,
                                      struct extract_error *error)
{
    struct build build = {.trace = trace, .most = LOG_OBJECTS};
    trace->run_count = 0;
    bool fits = (!restarted && trace->names.used < MAX_NAMES) || forget(trace);
    fits = fits && take_places(&build) && walk(&build) && !trace->names.code;
    enum extract_code code = EXTRACT_OK;
    if (fits && trace->has_unnamed)
        code = name_signals(&build, error);
    if (fits)
        settle(&build);
    free(build.places);
    if (code)
        return code;
    return fits && !trace->names.code
               ? EXTRACT_OK
               : extract_error_set(error, EXTRACT_NOMEM, "object names", NULL, "out of memory");
}

void extract_names_free(struct extract_trace *trace)
{
    free_maps(trace);
    free(trace->runs);
    extract_map_free(&trace->seen_signals);
    free(trace->epochs);
    free(trace->versions);
    extract_text_free(&trace->names);
    free(trace->objects);
}
