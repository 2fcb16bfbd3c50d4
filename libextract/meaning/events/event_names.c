// SPDX-License-Identifier: MIT
// events: objects and their names.
//
// Objects come from four sources: the registry of a ring, older registries of a log, threads that
// events name, and entries that give an object its name (RKH). An object without a name gets one,
// in this order: for a thread the name in its control block in target memory, the symbol that
// covers its address, or the address itself.
//
// In a log, the same address may stand for different objects at different times. So each epoch has
// maps from addresses to lists of versions, and extract_names_find searches such a list by the
// registry that was valid at an event:
//
//   by_address ──► version since block 3 ──► version since block 40 ──► version since block 97
//                  "server"                  "client" (same address)    "server"
//
// The first walk over all events (first_walk.c) finds threads and what entries name;
// names_elsewhere.c adds what only the ELF and the kernel's memory state.
#include "base/cursor.h"
#include "events/lives.h"
#include "symbols/dwarf.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_LIMIT = 256,
    NAME_CAPACITY = NAME_LIMIT * 4 + 1,
    LOG_OBJECTS = 1 << 17,  // maximum of objects in a log
    LOG_VERSIONS = 1 << 19, // maximum of versions in a log
    STREAM_RUNS = 1 << 12,  // maximum of runs of the target in one stream
    MAX_NAMES = 1 << 24     // bytes of the names of a stream that is read in chunks
};

// Appends a string to the storage and returns its offset.
static size_t store_string(struct extract_text *names, const char *bytes, size_t length)
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

    build->offsets[i].name = store_string(names, name, strlen(name));
    build->offsets[i].shown = names->used;
    extract_text_escaped(names, name);
    extract_text_putc(names, 0);
}

// Describes the symbol that covers a stored address. Returns false if there is none.
static bool symbol_name(struct build *build, uint64_t stored, char *name, size_t size)
{
    const struct extract_ring *ring = &build->trace->snapshot->ring;
    struct extract_symbols *symbols = build->trace->symbols;
    struct extract_symbol symbol;
    uint64_t address;

    return symbols && extract_format_locate(ring, symbols, stored, &address) &&
           extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) &&
           extract_format_describe(ring, symbols, stored, name, size);
}

// Returns whether the first `got` of at most `max` bytes are a complete text: one that ends there,
// or is as long as a text may be.
static bool is_text(const char *text, size_t got, size_t max)
{
    return got && *text && (got == max || memchr(text, 0, got));
}

// Reads a zero-ended text into `size` bytes, at least 1: from the ELF's constants, or from memory.
static bool target_text(struct build *build, uint64_t address, char *text, size_t size)
{
    size_t max = size - 1;
    size_t got = extract_symbols_read_constant(build->trace->symbols, address, text, max);

    if (!is_text(text, got, max))
        extract_memory_read(build->memory, address, text, max, &got, NULL);
    text[got] = 0;
    return is_text(text, got, max);
}

static bool control_block_name(struct build *build, uint64_t address, char *name, size_t size)
{
    const struct extract_ring *ring = &build->trace->snapshot->ring;
    // Not longer than in the registry, if there is one, so that a saved dump gives the same name.
    size_t most = ring->name_bytes && ring->name_bytes < size ? ring->name_bytes : size;
    uint64_t pointer;

    return build->memory && build->trace->symbols && ring->format->kernel &&
           ring->format->kernel->name_pointer &&
           ring->format->kernel->name_pointer(ring, build->memory, build->trace->symbols, address,
                                              &pointer) &&
           target_text(build, pointer, name, most);
}

// Names an object that has no name in the registry.
static void find_name(struct build *build, size_t i)
{
    struct extract_object *object = &build->trace->objects[i];
    uint64_t address = extract_ring_address(&build->trace->snapshot->ring, object->address);
    char name[NAME_LIMIT];
    bool found = object->thread && control_block_name(build, address, name, sizeof name);

    object->from_memory = found;
    if (!found && !symbol_name(build, object->address, name, sizeof name))
        snprintf(name, sizeof name, "0x%08" PRIx64, object->address);
    store_name(build, i, name);
    if (!object->from_memory)
        build->offsets[i].name = store_string(&build->trace->names, "", 0);
}

// ---- versions: which object was at an address, and when ----
//
// The versions of an address are a list from the oldest to the newest. Registries of a log are read
// from the newest to the oldest, so versions are added at the front. The skip links are those of a
// skew-binary random-access list (E. Myers, 1983), which make a search logarithmic.

// Adds a version before those that *value leads to. Returns false if memory ran out.
static bool push_version(struct extract_trace *trace, uint32_t *value, size_t i, uint64_t since)
{
    struct extract_object_version *versions = extract_grow(
        trace->versions, &trace->version_capacity, trace->version_count, sizeof *versions);

    if (!versions)
        return false;
    trace->versions = versions;
    if (!trace->version_count)
        versions[trace->version_count++] = (struct extract_object_version){0};
    const struct extract_object_version *all = trace->versions, *head = &all[*value];
    const struct extract_object_version *skipped = &all[head->skip_link];
    bool even = head->depth - skipped->depth == skipped->depth - all[skipped->skip_link].depth;
    trace->versions[trace->version_count] = (struct extract_object_version){
        .since = since,
        .object = (uint32_t)i,
        .newer = *value,
        .skip_link = even && head->skip_link ? skipped->skip_link : *value,
        .depth = head->depth + 1};
    *value = (uint32_t)trace->version_count++;
    return true;
}

// Returns the key by which an object is found.
static uint64_t key_of(const struct extract_object *object)
{
    return object->number_kind ? extract_number_key(object->number_kind, object->address)
                               : object->address;
}

// Enters an object in a map. Within one registry, an object in use takes precedence over a deleted
// one. A thread that only events name does not replace a registered object that is in use. Returns
// false if memory ran out.
bool names_enter_version(struct extract_trace *trace, struct extract_map *map, size_t i,
                         uint64_t since)
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
        return push_version(trace, value, i, since);
    return true;
}

bool names_enter_object(struct extract_trace *trace, struct extract_epoch *epoch, size_t i,
                        uint64_t since)
{
    return names_enter_version(trace, &epoch->by_address, i, since) &&
           (!trace->objects[i].thread || names_enter_version(trace, &epoch->threads, i, since));
}

// Returns the object whose version was valid with the registry of `block`; if all versions are
// newer, the first.
static const struct extract_object *find_version(const struct extract_trace *trace, uint32_t head,
                                                 uint64_t block)
{
    const struct extract_object_version *all = trace->versions, *at = &all[head];

    while (at->newer && all[at->newer].since <= block)
        at = at->skip_link && all[at->skip_link].since <= block ? &all[at->skip_link]
                                                                : &all[at->newer];
    return &trace->objects[at->object];
}

const struct extract_object *extract_names_find(const struct extract_trace *trace, bool thread,
                                                uint64_t address, uint64_t seq)
{
    const struct extract_life *life = lives_of_key(trace, address);
    life = life ? life : lives_find(trace, thread ? LIFE_THREAD : 0, address, seq);
    if (life)
        return &trace->objects[life->object];
    uint64_t block = extract_trace_registry(trace, seq);
    const struct extract_epoch *epoch = extract_epoch_of(trace, block);
    uint32_t head = extract_map_get(thread ? &epoch->threads : &epoch->by_address, address);

    return head ? find_version(trace, head, block) : NULL;
}

// ---- objects of registries ----

// Reserves space for one more object.
static bool grow_objects(struct build *build)
{
    struct extract_trace *trace = build->trace;
    size_t capacity = build->capacity * 2 + 16;

    if (trace->object_count < build->capacity)
        return true;
    struct extract_object *objects = realloc(trace->objects, capacity * sizeof *objects);
    if (objects)
        trace->objects = objects;
    struct name_offsets *offsets = realloc(build->offsets, capacity * sizeof *offsets);
    if (offsets)
        build->offsets = offsets;
    if (!objects || !offsets)
        return false;
    build->capacity = capacity;
    return true;
}

const char *names_thread_type(const struct build *build)
{
    return build->trace->snapshot->ring.format->thread_type;
}

// Adds an object that has no name yet, and sets *i to its index.
static bool add_object(struct build *build, const struct extract_object *object, size_t *i)
{
    if (!grow_objects(build))
        return false;
    *i = build->trace->object_count++;
    build->trace->objects[*i] = *object;
    build->offsets[*i] = (struct name_offsets){.has_priorities = false};
    build->trace->objects[*i].thread = strcmp(object->type_name, names_thread_type(build)) == 0;
    return true;
}

bool names_add_object(struct build *build, const struct extract_object *object, const char *name)
{
    size_t i;

    if (!add_object(build, object, &i))
        return false;
    if (*name)
        store_name(build, i, name);
    else
        find_name(build, i);
    return true;
}

void names_add_sign(struct build *build, size_t i, uint32_t number)
{
    char shown[NAME_CAPACITY * 4 + 16];

    // A copy, since the names move when one is added.
    snprintf(shown, sizeof shown - 16, "%s", build->trace->names.data + build->offsets[i].shown);
    if (number)
        snprintf(shown + strlen(shown), 16, "#%" PRIu32, number);
    else
        snprintf(shown + strlen(shown), 16, "~");
    build->offsets[i].shown = store_string(&build->trace->names, shown, strlen(shown));
}

// Such an object is not in the memory: its control block there, if any, is that of another one.
bool names_add_unnamed(struct build *build, const struct extract_object *object, const char *likely,
                       uint32_t number)
{
    char name[NAME_CAPACITY + 16];
    size_t i;

    if (!add_object(build, object, &i))
        return false;
    if (*likely)
        snprintf(name, NAME_CAPACITY, "%s", likely);
    else if (!symbol_name(build, object->address, name, NAME_LIMIT))
        snprintf(name, NAME_LIMIT, "0x%08" PRIx64, object->address);
    if (number)
        snprintf(name + strlen(name), 16, "%c%" PRIu32, *likely ? '~' : '#', number);
    else if (*likely)
        snprintf(name + strlen(name), 16, "~");
    store_name(build, i, name);
    build->offsets[i].name = store_string(&build->trace->names, "", 0);
    build->offsets[i].has_priorities = true;
    return true;
}

// Reads the object of a registry slot and its name. Returns false if the slot is unused.
static bool read_object(const struct extract_snapshot *snapshot, uint32_t slot,
                        struct extract_object *object, char name[static NAME_CAPACITY])
{
    const uint8_t *bytes;
    size_t length;

    memset(object, 0, sizeof *object);
    if (!snapshot->ring.format->object(snapshot, slot, object, &bytes, &length))
        return false;
    length = strnlen((const char *)bytes, length < NAME_CAPACITY ? length : NAME_CAPACITY - 1);
    memcpy(name, bytes, length);
    name[length] = 0;
    return true;
}

// Adds the objects of the newest registry.
static bool add_registry(struct build *build, const struct extract_snapshot *snapshot,
                         struct extract_epoch *epoch, uint64_t block)
{
    struct extract_object object;
    char name[NAME_CAPACITY];

    for (uint32_t slot = 0; slot < snapshot->ring.registry.count; slot++) {
        if (!read_object(snapshot, slot, &object, name))
            continue;
        if (!names_add_object(build, &object, name) ||
            !names_enter_object(build->trace, epoch, build->trace->object_count - 1, block))
            return false;
        if (object.in_use && !lives_note_sighting(build, build->trace->object_count - 1, block))
            return false;
    }
    return true;
}

// Returns the index of an object of an older registry, if a newer registry of its epoch, or of the
// next, has an object with the same type and name; otherwise SIZE_MAX.
static size_t find_same(const struct build *build, const struct extract_epoch *epoch,
                        const struct extract_object *object, const char *name)
{
    const struct extract_trace *trace = build->trace;
    uint32_t head = extract_map_get(&epoch->by_address, key_of(object));

    if (!head && epoch < trace->epochs + trace->epoch_count - 1)
        head = extract_map_get(&epoch[1].by_address, key_of(object));
    if (!head)
        return SIZE_MAX;
    uint32_t i = trace->versions[head].object;
    bool is_same = strcmp(trace->objects[i].type_name, object->type_name) == 0 &&
                   strcmp(trace->names.data + build->offsets[i].name, name) == 0;
    return is_same ? i : SIZE_MAX;
}

static bool add_old_object(struct build *build, struct extract_epoch *epoch, uint64_t block,
                           struct extract_object *object, const char *name)
{
    struct extract_trace *trace = build->trace;
    uint32_t head = extract_map_get(&epoch->by_address, key_of(object));

    if (head && trace->versions[head].since == block)
        return true;
    size_t i = find_same(build, epoch, object, name);
    if (i == SIZE_MAX && trace->object_count >= build->max_objects)
        return true;
    bool was_in_use = object->in_use;
    object->in_use = false;
    if (i == SIZE_MAX && !names_add_object(build, object, name))
        return false;
    i = i == SIZE_MAX ? trace->object_count - 1 : i;
    return names_enter_object(trace, epoch, i, block) &&
           (!was_in_use || lives_note_sighting(build, i, block));
}

// Adds the objects of an older registry that newer registries do not have: they were deleted, and
// their slot or address was used again. Objects that were in use come first.
static bool add_old_registry(struct build *build, const struct extract_snapshot *snapshot,
                             struct extract_epoch *epoch, uint64_t block)
{
    struct extract_object object;
    char name[NAME_CAPACITY];
    uint32_t count = snapshot->ring.registry.count;

    for (unsigned in_use = 2; in_use-- > 0;)
        for (uint32_t slot = 0; slot < count; slot++)
            if (read_object(snapshot, slot, &object, name) && object.in_use == in_use &&
                !add_old_object(build, epoch, block, &object, name))
                return false;
    return true;
}

// Adds the objects of all registries, from the newest to the oldest.
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

// Adds an object to which a log of a byte ring gives a name. Entries may give it another one later.
static bool add_logged(struct build *build, enum log_name_kind kind, uint64_t number,
                       const char *name)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct extract_trace *trace = build->trace;
    struct extract_object object = {.address = number,
                                    .type = kind == LOG_NAME_THREAD,
                                    .type_name = kind == LOG_NAME_THREAD ? names_thread_type(build)
                                                 : kind == LOG_NAME_SIGNAL ? "signal"
                                                                           : "object",
                                    .param_types = no_params,
                                    .in_use = true,
                                    .number_kind = kind == LOG_NAME_SIGNAL ? EXTRACT_KIND_SIGNAL
                                                                           : EXTRACT_KIND_NONE,
                                    .priority = EXTRACT_NO_PRIORITY,
                                    .slot = UINT32_MAX};

    return trace->object_count >= build->max_objects ||
           (names_add_object(build, &object, name) &&
            names_enter_object(trace, trace->epochs, trace->object_count - 1, 0));
}

// Adds the objects that a log of a byte ring names, whose names its entries do not give.
static bool add_all_logged(struct build *build)
{
    char name[NAME_CAPACITY];
    const uint8_t *bytes;
    size_t length;
    bool fits = true;

    if (!build->trace->snapshots ||
        !extract_log_snapshots_names(build->trace->snapshots, &bytes, &length))
        return true;
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    while (fits && extract_cursor_left(&c) > LOG_NAME_HEAD) {
        uint8_t kind = extract_cursor_u8(&c);
        uint64_t number = extract_cursor_u64(&c);
        size_t left = extract_cursor_left(&c);
        size_t used = strnlen((const char *)bytes + c.at, left);
        size_t kept = used < sizeof name ? used : sizeof name - 1;
        memcpy(name, bytes + c.at, kept);
        name[kept] = 0;
        extract_cursor_span(&c, used + (used < left));
        if (*name && kind < LOG_NAME_KINDS)
            fits = add_logged(build, (enum log_name_kind)kind, number, name);
    }
    return fits;
}

// ---- threads that only events name ----

// Adds a thread at an address other than 0, unless it is known, or its priority, unless that is.
bool names_add_thread(struct build *build, uint64_t address, uint16_t priority, uint64_t seq)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct extract_trace *trace = build->trace;
    const struct extract_object *known = extract_names_find(trace, true, address, seq);

    if (known && !known->registered && known->priority == EXTRACT_NO_PRIORITY)
        trace->objects[known - trace->objects].priority = priority;
    if (known || trace->object_count >= build->max_objects)
        return true;
    uint64_t block = extract_trace_registry(trace, seq);
    struct extract_epoch *epoch = trace->epochs + (extract_epoch_of(trace, block) - trace->epochs);
    // If the epoch before has only a thread of events there, it is most likely the same one.
    uint32_t before = epoch > trace->epochs ? extract_map_get(&epoch[-1].threads, address) : 0;
    if (before && !trace->objects[trace->versions[before].object].registered)
        return names_enter_object(trace, epoch, trace->versions[before].object, block);
    struct extract_object object = {.address = address,
                                    .type = 1,
                                    .type_name = names_thread_type(build),
                                    .param_types = no_params,
                                    .in_use = true,
                                    .priority = priority,
                                    .slot = UINT32_MAX};
    return names_add_object(build, &object, "") &&
           names_enter_object(trace, epoch, trace->object_count - 1, block);
}

// ---- entries that give names ----

// Begins a new epoch at an event: from there on, earlier names are not valid. Beyond STREAM_RUNS,
// the last epoch continues.
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

// Updates an object that has a name already, or that an event named: the last name is valid. A name
// entry for objects of any type does not define the type.
static void update_named(struct build *build, size_t i, const struct extract_name_entry *entry,
                         const char *name)
{
    struct extract_object *object = &build->trace->objects[i];

    if (entry->object.priority != EXTRACT_NO_PRIORITY)
        object->priority = entry->object.priority;
    if (!*name)
        return;
    bool names_any_type = strcmp(entry->object.type_name, "object") == 0;
    if (!object->thread && (!object->registered || !names_any_type)) {
        object->type = entry->object.type;
        object->type_name = entry->object.type_name;
        object->thread = strcmp(object->type_name, names_thread_type(build)) == 0;
    }
    object->registered = true;
    object->slot = object->slot == UINT32_MAX ? (uint32_t)i : object->slot;
    if (strcmp(build->trace->names.data + build->offsets[i].name, name) != 0)
        store_name(build, i, name);
}

// Adds an object that a name entry names for the first time.
static bool add_named(struct build *build, struct extract_epoch *epoch, uint64_t block,
                      uint64_t key, const struct extract_name_entry *entry, const char *name)
{
    struct extract_trace *trace = build->trace;
    struct extract_object object = entry->object;
    size_t i = trace->object_count;

    object.registered = object.in_use = true;
    if (entry->kind != EXTRACT_KIND_OBJECT)
        object.number_kind = entry->kind;
    object.slot = (uint32_t)i;
    if (i >= build->max_objects)
        return true;
    uint32_t *head = extract_map_at(&epoch->by_address, key);
    return head && names_add_object(build, &object, name) && push_version(trace, head, i, block);
}

// Applies what the event with a sequence number says of an object.
static bool apply_name(struct build *build, uint64_t seq, const struct extract_name_entry *entry)
{
    struct extract_trace *trace = build->trace;
    char name[NAME_CAPACITY];

    size_t length = entry->name ? strnlen((const char *)entry->name, entry->name_bytes) : 0;
    length = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, entry->name ? entry->name : (const uint8_t *)"", length);
    name[length] = 0;
    uint64_t block = extract_trace_registry(trace, seq), key = entry->object.address;
    struct extract_epoch *epoch = trace->epochs + (extract_epoch_of(trace, block) - trace->epochs);
    if (entry->kind != EXTRACT_KIND_OBJECT)
        key = extract_number_key(entry->kind, key);
    uint32_t head = extract_map_get(&epoch->by_address, key);
    size_t i = head ? trace->versions[head].object : trace->object_count;
    size_t before = head && trace->objects[i].registered ? build->offsets[i].name : 0;
    if (head)
        update_named(build, i, entry, name);
    else if (*name && !add_named(build, epoch, block, key, entry, name))
        return false;
    const struct extract_scheduler *kernel = trace->snapshot->ring.format->kernel;
    if (*name && i < trace->object_count && entry->kind == EXTRACT_KIND_OBJECT && kernel &&
        kernel->field_type && !lives_note_name(build, key, seq, before, build->offsets[i].name))
        return false;
    bool is_new_thread = i < trace->object_count && trace->objects[i].thread &&
                         !extract_map_get(&epoch->threads, key);
    return !is_new_thread || names_enter_version(trace, &epoch->threads, i, block);
}

// Applies an event if it is a name entry.
bool names_note_entry(struct build *build, const struct extract_event *event)
{
    const struct extract_format *format = build->trace->snapshot->ring.format;

    build->begins_run = false;
    if (!format->entry_name)
        return true;
    struct extract_name_entry entry = {.object.priority = EXTRACT_NO_PRIORITY};
    if (!format->entry_name(event, &entry))
        return true;
    build->begins_run = entry.restarted;
    if (entry.restarted && !begin_run(build, event->seq))
        return false;
    return apply_name(build, event->seq, &entry);
}

// Applies a translated event that has the name of its thread as data.
bool names_note_thread(struct build *build, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    uint64_t thread = role->thread ? extract_role_field(event, role->thread) : event->thread;
    const struct extract_name_entry entry = {.object = {.address = thread,
                                                        .type = 1,
                                                        .type_name = names_thread_type(build),
                                                        .param_types = no_params,
                                                        .priority = EXTRACT_NO_PRIORITY},
                                             .kind = EXTRACT_KIND_OBJECT,
                                             .name = event->data,
                                             .name_bytes = event->data_bytes};

    return !thread || !event->data_bytes || apply_name(build, event->seq, &entry);
}

// Replaces offsets of names by pointers, and marks the objects that no address stands for.
void names_set_pointers(struct build *build)
{
    struct extract_trace *trace = build->trace;

    for (size_t i = 0; i < trace->object_count; i++) {
        struct extract_object *object = &trace->objects[i];
        object->name = trace->names.data + build->offsets[i].name;
        object->shown = trace->names.data + build->offsets[i].shown;
        object->shown_bytes = (uint32_t)strlen(object->shown);
        object->shown_columns = (uint32_t)extract_text_columns(object->shown);
        object->shadowed = true;
        object->key = object->key ? object->key : key_of(object);
    }
    for (size_t i = 1; i < trace->version_count; i++)
        trace->objects[trace->versions[i].object].shadowed = false;
    for (size_t i = 0; i < trace->object_count && trace->life_count; i++)
        if (!trace->objects[i].number_kind &&
            extract_map_get(&trace->life_of, trace->objects[i].address))
            trace->objects[i].shadowed = true; // unless it is a life
    for (size_t i = 0; i < trace->life_count; i++)
        trace->objects[trace->lives[i].object].shadowed = false;
}

static void free_build(struct build *build)
{
    free(build->offsets);
    free(build->changes.list);
    free(build->changes.pauses);
    free(build->changes.places);
    free(build->changes.sightings);
}

enum extract_code extract_names_build(struct extract_trace *trace, struct extract_memory *memory,
                                      struct extract_error *error)
{
    struct build build = {.trace = trace, .memory = memory, .max_objects = SIZE_MAX};

    if (trace->snapshots || trace->snapshot->ring.format->entry_name)
        build.max_objects = LOG_OBJECTS;
    size_t objects = trace->snapshot->ring.registry.count;
    extract_text_init(&trace->names, NULL, NULL);
    bool fits = true;
    for (size_t i = 0; i < trace->epoch_count && fits; i++)
        fits = extract_map_init(&trace->epochs[i].by_address, i ? 0 : objects) &&
               extract_map_init(&trace->epochs[i].threads, i ? 0 : objects);
    fits = extract_map_init(&trace->seen_signals, 0) && fits && add_registered(&build) &&
           add_all_logged(&build) && names_walk(&build) && names_add_kernel(&build) &&
           lives_build(&build) && !trace->names.code;
    enum extract_code code = EXTRACT_OK;
    if (fits) {
        names_find_priorities(&build);
        code = names_add_signals(&build, error);
        names_set_pointers(&build);
    }
    free_build(&build);
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

// Discards all objects and names.
static bool forget_names(struct extract_trace *trace)
{
    free_maps(trace);
    free(trace->versions);
    trace->versions = NULL;
    trace->version_count = trace->version_capacity = 0;
    trace->object_count = 0;
    trace->names.used = 0;
    trace->epoch_count = 1;
    trace->epochs->first = 0;
    memset(trace->seen, 0, sizeof trace->seen);
    extract_map_free(&trace->rare_ids);
    extract_map_free(&trace->seen_signals);
    // All three are initialized even if one fails, so that all can be freed.
    bool objects = extract_map_init(&trace->epochs->by_address, 0);
    bool threads = extract_map_init(&trace->epochs->threads, 0);
    bool signals = extract_map_init(&trace->seen_signals, 0);
    return objects && threads && signals;
}

// Restores the offsets of names that are stored already.
static bool restore_offsets(struct build *build)
{
    const struct extract_trace *trace = build->trace;

    build->capacity = trace->object_count;
    build->offsets = malloc((build->capacity + 1) * sizeof *build->offsets);
    for (size_t i = 0; build->offsets && i < build->capacity; i++)
        build->offsets[i] =
            (struct name_offsets){.name = (size_t)(trace->objects[i].name - trace->names.data),
                                  .shown = (size_t)(trace->objects[i].shown - trace->names.data),
                                  .has_priorities = true}; // what was before is not known now
    return build->offsets;
}

enum extract_code extract_names_continue(struct extract_trace *trace, bool restarted,
                                         struct extract_error *error)
{
    struct build build = {.trace = trace, .max_objects = LOG_OBJECTS};

    trace->run_count = 0;
    trace->lives_before += trace->life_count;
    trace->life_count = 0;
    bool fits = (!restarted && trace->names.used < MAX_NAMES) || forget_names(trace);
    build.carried = trace->object_count;
    fits = fits && restore_offsets(&build) && names_walk(&build) && lives_build(&build) &&
           !trace->names.code;
    enum extract_code code = EXTRACT_OK;
    if (fits && trace->has_unnamed)
        code = names_add_signals(&build, error);
    if (fits)
        names_set_pointers(&build);
    free_build(&build);
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
    free(trace->lives);
    free(trace->life_starts);
    if (trace->life_of.values)
        extract_map_free(&trace->life_of);
    extract_text_free(&trace->names);
    free(trace->objects);
}
