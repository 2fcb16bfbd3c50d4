// SPDX-License-Identifier: MIT
// events: lives, for addresses that more than one object had in turn.
//
// The memory of a deleted object may become another one. Each object at such an address is a life,
// which begins with the event that creates it, or with the first event of the trace. Readers give
// the objects in events keys (extract_trace_address), so that whatever works on events keeps the
// lives apart:
//
//   events at one address    create  …  delete    create  …  (end)
//   life                     ├── first ──────────►├── second ────►
//   key                      LIFE_KEYS + n        address
//   spelling of users        ADDRESS#1            ADDRESS#2
//
// The newest life has the address as its key, so that addresses from elsewhere, such as those of
// control blocks in memory, mean it. `n` counts the lives of the trace, and continues in the next
// part of a running target, so that no two of them ever have the same key. What happens between a
// deletion and the next creation belongs to the life before. If entries were lost since then, or
// since the creation, what follows the loss belongs to a life of its own, unless no event shows
// that the address is used several times.
//
// Collecting takes two walks: the first walk over all events notes what is created and deleted
// (lives_note), the second one finds out which of the lives without a creation have events. Then
// life_names.c gives them names.
#include "events/lives.h"
#include "base/keys.h"

enum { MAX_CHANGES = 1 << 19, MAX_TYPES = 8, BATCH = 256 };

// ---- what the first walk notes ----

// Returns whether an address has the form of which there are keys: its upper 16 bits are equal.
static bool may_have_lives(uint64_t address)
{
    return address && (address >> 48 == 0 || address >> 48 == 0xFFFF);
}

static bool add_change(struct life_changes *changes, const struct life_change *change)
{
    if (changes->count >= MAX_CHANGES || !may_have_lives(change->address))
        return true;
    struct life_change *list =
        extract_grow(changes->list, &changes->capacity, changes->count, sizeof *list);
    if (!list)
        return false;
    changes->list = list;
    list[changes->count++] = *change;
    return true;
}

static bool add_pause(struct life_changes *changes, uint64_t seq, bool is_restart)
{
    struct life_pause *pauses = extract_grow(changes->pauses, &changes->pause_capacity,
                                             changes->pause_count, sizeof *pauses);

    if (!pauses)
        return false;
    uint32_t restarts = changes->pause_count ? pauses[changes->pause_count - 1].restarts : 0;
    changes->pauses = pauses;
    pauses[changes->pause_count++] =
        (struct life_pause){.seq = seq, .restarts = restarts + is_restart};
    return true;
}

// Notes that the recorder found another filter in the target. It looks now and then, so that the
// filter may have left out creations since the newest event of that class.
static bool add_filter(struct life_changes *changes, uint64_t seq)
{
    uint64_t last = changes->pause_count ? changes->pauses[changes->pause_count - 1].seq : 0;
    uint64_t since = changes->has_thread_services ? changes->last_service + 1 : seq;

    if (!add_pause(changes, since > last ? since : last, false))
        return false;
    changes->pauses[changes->pause_count - 1].is_filter = true;
    return true;
}

bool lives_note(struct build *build, const struct extract_event *event,
                const struct extract_role_fields *role)
{
    const struct extract_scheduler *kernel = build->trace->snapshot->ring.format->kernel;
    bool is_restart = event->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET ||
                      event->id == EXTRACT_ID_MARK + EXTRACT_MARK_START;
    bool is_break = extract_event_is_mark(event) ? extract_event_is_break(event)
                                                 : event->flags & EXTRACT_FLAG_GAP;
    uint8_t field = role->creates ? role->creates : role->deletes;

    if ((is_restart || is_break) && build->changes.count < MAX_CHANGES &&
        !add_pause(&build->changes, event->seq, is_restart))
        return false;
    if (event->id == EXTRACT_ID_MARK + EXTRACT_MARK_FILTER && build->changes.count < MAX_CHANGES &&
        !add_filter(&build->changes, event->seq))
        return false;
    if (kernel->is_thread_service && kernel->is_thread_service(event->type)) {
        build->changes.has_thread_services = true;
        build->changes.last_service = event->seq;
    }
    if (!field || !kernel->field_type || extract_event_is_mark(event))
        return true;
    uint64_t priority = role->priority ? extract_role_field(event, role->priority) : UINT64_MAX;
    const struct life_change change = {.address = extract_role_field(event, field),
                                       .seq = event->seq,
                                       .type = kernel->field_type(event->type, field - 1u),
                                       .id = event->type->id,
                                       .kind = role->creates ? LIFE_CREATED : LIFE_DELETED,
                                       .priority = priority < EXTRACT_NO_PRIORITY
                                                       ? (uint16_t)priority
                                                       : (uint16_t)EXTRACT_NO_PRIORITY};
    return add_change(&build->changes, &change);
}

bool lives_note_name(struct build *build, uint64_t address, uint64_t seq, size_t before,
                     size_t after)
{
    const struct life_change change = {.address = address,
                                       .seq = seq,
                                       .kind = LIFE_NAMED,
                                       .name_before = before,
                                       .name = after,
                                       .priority = EXTRACT_NO_PRIORITY};

    return add_change(&build->changes, &change);
}

bool lives_note_sighting(struct build *build, size_t object, size_t block)
{
    struct life_changes *changes = &build->changes;
    const struct extract_scheduler *kernel = build->trace->snapshot->ring.format->kernel;

    if (!build->trace->snapshots || !kernel || !kernel->field_type ||
        changes->sighting_count >= MAX_CHANGES)
        return true;
    struct life_sighting *list = extract_grow(changes->sightings, &changes->sighting_capacity,
                                              changes->sighting_count, sizeof *list);
    if (!list)
        return false;
    changes->sightings = list;
    list[changes->sighting_count++] =
        (struct life_sighting){.address = build->trace->objects[object].address,
                               .block = block,
                               .object = (uint32_t)object};
    return true;
}

// ---- lives from changes ----

static int compare_changes(const void *a, const void *b)
{
    const struct life_change *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

// Returns the number of pauses at an event and before it.
static size_t count_pauses(const struct life_changes *changes, uint64_t seq)
{
    return extract_keys_count_up_to(changes->pauses, changes->pause_count, sizeof *changes->pauses,
                                    seq);
}

// Returns the first pause after an event; NULL: none follows.
static const struct life_pause *pause_after(const struct life_changes *changes, uint64_t seq)
{
    size_t first = count_pauses(changes, seq);

    return first < changes->pause_count ? &changes->pauses[first] : NULL;
}

// Returns whether the target was restarted after an event and not after another one.
static bool has_restarted(const struct life_changes *changes, uint64_t after, uint64_t to)
{
    size_t first = count_pauses(changes, after), end = count_pauses(changes, to);

    return first < end &&
           changes->pauses[end - 1].restarts > (first ? changes->pauses[first - 1].restarts : 0);
}

static bool add_life(struct build *build, const struct extract_life *life)
{
    struct extract_trace *trace = build->trace;
    struct extract_life *lives =
        extract_grow(trace->lives, &trace->life_capacity, trace->life_count, sizeof *lives);

    if (!lives)
        return false;
    trace->lives = lives;
    lives[trace->life_count++] = *life;
    return true;
}

// Adds a life without a creation, which there is only if it has events.
static bool add_assumed(struct build *build, uint64_t address, uint32_t type, uint64_t from)
{
    const struct extract_life life = {.address = address,
                                      .from = from,
                                      .type = type,
                                      .is_assumed = true,
                                      .priority = EXTRACT_NO_PRIORITY};

    return add_life(build, &life);
}

// Adds the life that an event creates.
static bool add_created(struct build *build, const struct life_change *change,
                        const struct extract_life *before)
{
    const struct extract_life life = {
        .address = change->address,
        .from = change->seq,
        .type = change->type,
        .created_by = change->id,
        .priority = change->priority,
        .is_created = true,
        .may_be_same = before && !before->is_deleted &&
                       has_restarted(&build->changes, before->from, change->seq)};

    return add_life(build, &life);
}

// Replaces the newest life of a type if no further one can be told apart: what was it becomes a
// part of the one before.
static void replace_last(struct extract_trace *trace, const struct life_change *change)
{
    struct extract_life *last = &trace->lives[trace->life_count - 1];

    last[-1].is_merged = last[-1].has_events = true;
    last[-1].is_deleted = false;
    *last = (struct extract_life){.address = change->address,
                                  .from = change->seq,
                                  .type = change->type,
                                  .created_by = change->id,
                                  .priority = change->priority,
                                  .is_created = true};
}

// Returns whether events show that objects of one type have an address in turn, in one run of the
// target: one is deleted, or a second one is created.
static bool is_reused(const struct build *build, const struct life_change *changes, size_t count,
                      uint32_t type)
{
    const struct life_change *created = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct life_change *change = &changes[i];
        if (change->type != type || change->kind == LIFE_NAMED)
            continue;
        if (change->kind == LIFE_DELETED)
            return true;
        if (created && created->id == change->id &&
            !has_restarted(&build->changes, created->seq, change->seq))
            return true;
        created = change;
    }
    return false;
}

// Adds a life for what follows a pause after the newest life of an address, up to an event: during
// the pause, that object may have been deleted and another one created. Of several pauses, the
// first one counts. After a change of the filter, there may be several lives.
static bool add_after_pause(struct build *build, uint64_t to)
{
    const struct life_changes *changes = &build->changes;
    struct extract_trace *trace = build->trace;
    const struct extract_life *last = &trace->lives[trace->life_count - 1];
    const struct life_pause *pause =
        pause_after(changes, last->is_deleted ? last->deleted_at : last->from);

    if (!pause || pause->seq >= to)
        return true;
    if (!add_assumed(build, last->address, last->type, pause->seq))
        return false;
    const struct life_pause *second = pause_after(changes, pause->seq);
    bool is_merged = pause->is_filter || (second && second->seq < to);
    trace->lives[trace->life_count - 1].is_merged = is_merged;
    return true;
}

// Adds the lives of objects of one type at an address: at most `limit`, and perhaps an assumed one.
static bool add_lives_of(struct build *build, const struct life_change *changes, size_t count,
                         uint32_t type, size_t limit, bool has_turns)
{
    struct extract_trace *trace = build->trace;
    size_t first = trace->life_count;
    bool fits = add_assumed(build, changes->address, type, 0);

    for (size_t i = 0; i < count && fits; i++) {
        const struct life_change *change = &changes[i];
        if (change->type != type || change->kind == LIFE_NAMED)
            continue;
        if (has_turns && trace->life_count - first < limit)
            fits = add_after_pause(build, change->seq);
        struct extract_life *last = &trace->lives[trace->life_count - 1];
        if (change->kind == LIFE_DELETED) {
            last->is_deleted = last->has_events = true;
            last->deleted_at = change->seq;
        } else if (last->is_deleted || !last->is_created || last->created_by == change->id) {
            // A kernel may create an object as one of another kind first: that is one creation.
            const struct extract_life before = *last;
            if (trace->life_count - first >= limit)
                replace_last(trace, change);
            else
                fits = fits && add_created(build, change, &before);
        }
    }
    return fits && (!has_turns || add_after_pause(build, UINT64_MAX));
}

static int compare_places(const void *a, const void *b)
{
    const struct life_place *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

// Lists the objects with addresses, in the order of these.
static bool list_places(struct build *build)
{
    const struct extract_trace *trace = build->trace;
    struct life_changes *changes = &build->changes;

    changes->places = malloc((trace->object_count + 1) * sizeof *changes->places);
    for (size_t i = 0; changes->places && i < trace->object_count; i++)
        if (!trace->objects[i].number_kind)
            changes->places[changes->place_count++] =
                (struct life_place){trace->objects[i].address, (uint32_t)i};
    if (changes->place_count)
        qsort(changes->places, changes->place_count, sizeof *changes->places, compare_places);
    return changes->places;
}

size_t lives_places_at(const struct life_changes *changes, uint64_t address,
                       const struct life_place **list)
{
    size_t bytes = sizeof *changes->places;
    size_t end = extract_keys_count_up_to(changes->places, changes->place_count, bytes, address);
    size_t first = end;

    while (first && changes->places[first - 1].address == address)
        first--;
    *list = changes->places + first;
    return end - first;
}

static void add_type(uint32_t types[MAX_TYPES], size_t *count, uint32_t type)
{
    size_t i = 0;

    while (i < *count && types[i] != type)
        i++;
    if (i == *count && type && i < MAX_TYPES)
        types[(*count)++] = type;
}

// Lists the types of the objects at an address. Types of event-named objects are not those of a
// registry.
static size_t types_at(const struct build *build, uint64_t address,
                       const struct life_change *changes, size_t count, uint32_t types[MAX_TYPES])
{
    const struct life_place *list;
    size_t objects = lives_places_at(&build->changes, address, &list), used = 0;
    bool has_registry = !build->trace->snapshot->ring.format->entry_name;

    for (size_t i = 0; i < count; i++)
        add_type(types, &used, changes[i].type);
    for (size_t i = 0; i < objects && has_registry; i++)
        add_type(types, &used, build->trace->objects[list[i].object].type);
    return used;
}

// Orders the lives of an address by time; at the start of the trace, an object in use comes last.
static int compare_lives(const void *a, const void *b)
{
    const struct extract_life *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->is_in_use != y->is_in_use)
        return x->is_in_use ? 1 : -1;
    return x->type < y->type ? -1 : x->type > y->type;
}

// Returns whether the registry has objects of one type with different names at an address. In a
// recording, each registry has the names of its time. Only if creations of threads were left out,
// other slots show that there were more of them than the times at which it was read.
static bool has_several_names(const struct build *build, const struct life_place *list,
                              size_t count, uint32_t type)
{
    const struct extract_object *objects = build->trace->objects, *first = NULL;
    const char *names = build->trace->names.data, *name = NULL;
    struct extract_log_snapshots *snapshots = build->trace->snapshots;
    bool is_recorded = snapshots && count > 1 && !extract_log_snapshots_are_merged(snapshots);
    bool lacks_creations = type == LIFE_THREAD && !build->changes.has_thread_services;
    bool has_one = !build->trace->snapshot->ring.format->entry_name && count > 1 &&
                   (!is_recorded || lacks_creations);

    for (size_t i = 0; i < count && has_one; i++) {
        const struct extract_object *object = &objects[list[i].object];
        const char *own = names + build->offsets[list[i].object].name;
        if (object->type != type || !object->registered)
            continue;
        if (first && strcmp(name, own) != 0 && (!is_recorded || first->slot != object->slot))
            return true;
        first = first ? first : object;
        name = name ? name : own;
    }
    return false;
}

// Returns whether the objects at an address, which no event creates or deletes, have different
// names: whose the events are may have to be decided.
static bool may_doubt(const struct build *build, const struct life_place *list, size_t count)
{
    uint32_t types[MAX_TYPES];
    bool may = false;

    if (count < 2 || !may_have_lives(list->address))
        return false;
    size_t used = types_at(build, list->address, NULL, 0, types);
    for (size_t i = 0; i < used && !may; i++)
        may = has_several_names(build, list, count, types[i]);
    return may;
}

// Returns whether all events at an address are of the object that is in use. It was created before
// the first of them, if the target records creations, but then the ring must have lost some events.
static bool is_of_newest(const struct build *build, uint32_t type, bool is_in_use)
{
    const struct extract_trace *trace = build->trace;
    bool begins_later = trace->info.wrapped || trace->is_part;

    return is_in_use && begins_later && !build->changes.pause_count &&
           (type != LIFE_THREAD || build->changes.has_thread_services);
}

// Adds the lives at an address with changes, or with objects of several types or names.
static bool add_lives_at(struct build *build, uint64_t address, const struct life_change *changes,
                         size_t count)
{
    const struct life_change none = {.address = address, .kind = LIFE_NAMED};
    struct extract_trace *trace = build->trace;
    uint32_t types[MAX_TYPES];
    size_t used = types_at(build, address, changes, count, types), first = trace->life_count;
    const struct life_place *list;
    size_t objects = lives_places_at(&build->changes, address, &list);

    for (size_t i = 0; i < used; i++) {
        bool is_in_use = false;
        for (size_t k = 0; k < objects; k++)
            is_in_use |= trace->objects[list[k].object].in_use &&
                         trace->objects[list[k].object].type == types[i];
        bool has_names = has_several_names(build, list, objects, types[i]);
        bool has_turns =
            is_reused(build, changes, count, types[i]) || (build->trace->snapshots && has_names);
        if (!add_lives_of(build, count ? changes : &none, count, types[i], MAX_LIVES / used - 1,
                          has_turns))
            return false;
        bool is_doubtful = !count && has_names && !is_of_newest(build, types[i], is_in_use);
        for (; first < trace->life_count; first++) {
            trace->lives[first].is_in_use = is_in_use;
            trace->lives[first].is_doubtful = is_doubtful;
        }
    }
    return true;
}

// Returns whether the registry has objects of several types at an address.
static bool has_types(const struct build *build, const struct life_place *list, size_t count)
{
    const struct extract_object *objects = build->trace->objects;
    bool has_several = false;

    for (size_t i = 1; i < count; i++)
        has_several |= objects[list[0].object].type != objects[list[i].object].type;
    return has_several && may_have_lives(list->address) &&
           !build->trace->snapshot->ring.format->entry_name;
}

// Adds the lives at all addresses, those of changes and those of objects, which are both in order.
static bool add_all(struct build *build)
{
    const struct life_changes *changes = &build->changes;
    bool fits = true;

    for (size_t i = 0, k = 0; fits && (i < changes->count || k < changes->place_count);) {
        const struct life_place *list = k < changes->place_count ? &changes->places[k] : NULL;
        uint64_t address = list ? list->address : UINT64_MAX;
        if (i < changes->count && changes->list[i].address < address)
            address = changes->list[i].address;
        size_t own = 0, found = 0;
        while (i + own < changes->count && changes->list[i + own].address == address)
            own++;
        while (k + found < changes->place_count && list[found].address == address)
            found++;
        bool has_several = has_types(build, list, found) || may_doubt(build, list, found);
        if (own || has_several)
            fits = add_lives_at(build, address, own ? &changes->list[i] : NULL, own);
        i += own;
        k += found;
    }
    return fits;
}

// ---- finding a life ----

const struct extract_life *lives_find(const struct extract_trace *trace, uint32_t type,
                                      uint64_t address, uint64_t seq)
{
    uint32_t first = trace->life_count ? extract_map_get(&trace->life_of, address) : 0;

    if (!first)
        return NULL;
    const struct extract_life *lives = &trace->lives[first - 1];
    size_t count = lives->count, low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lives[middle].from <= seq)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0;)
        if (!type || lives[i].type == type)
            return &lives[i];
    for (size_t i = low; i < count; i++)
        if (lives[i].type == type)
            return &lives[i];
    return type ? NULL : lives;
}

const struct extract_life *lives_of_key(const struct extract_trace *trace, uint64_t key)
{
    uint64_t i = key - LIFE_KEYS - trace->lives_before;

    return i < trace->life_count && trace->lives[i].key == key ? &trace->lives[i] : NULL;
}

bool lives_arrange(struct extract_trace *trace)
{
    struct extract_life *lives = trace->lives;
    size_t count = trace->life_count;

    if (trace->life_of.values)
        extract_map_free(&trace->life_of);
    trace->life_of = (struct extract_map){0};
    if (!count)
        return true;
    if (!extract_map_init(&trace->life_of, count))
        return false;
    qsort(lives, count, sizeof *lives, compare_lives);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && lives[end].address == lives[first].address; end++)
            ;
        for (size_t i = first; i < end; i++) {
            lives[i].count = (uint32_t)(end - first);
            lives[i].number = (uint32_t)(i + 1 - first);
            lives[i].key = i + 1 == end ? lives[i].address : LIFE_KEYS + trace->lives_before + i;
        }
        uint32_t *place = extract_map_at(&trace->life_of, lives[first].address);
        if (!place)
            return false;
        *place = (uint32_t)first + 1;
    }
    return true;
}

uint64_t extract_trace_address(const struct extract_trace *trace, uint64_t key)
{
    const struct extract_life *life = lives_of_key(trace, key);

    return life ? life->address : key;
}

// Returns the key of what is at an address at an event.
static uint64_t key_at(const struct extract_trace *trace, uint32_t type, uint64_t address,
                       uint64_t seq)
{
    const struct extract_life *life = lives_find(trace, type, address, seq);

    return life ? life->key : address;
}

void lives_use_keys(const struct extract_trace *trace, struct extract_event *events, size_t count)
{
    const struct extract_scheduler *kernel = trace->snapshot->ring.format->kernel;

    for (size_t i = 0; i < count; i++) {
        struct extract_event *event = &events[i];
        const struct extract_event_type *type = event->type;
        if (extract_event_is_mark(event))
            continue;
        event->thread = key_at(trace, LIFE_THREAD, event->thread, event->seq);
        for (unsigned k = 0; k < event->fields && k < type->fields; k++)
            if (type->field[k].kind == EXTRACT_KIND_OBJECT &&
                extract_map_get(&trace->life_of, event->field[k]))
                event->field[k] =
                    key_at(trace, kernel->field_type(type, k), event->field[k], event->seq);
    }
}

void lives_use_addresses(const struct extract_trace *trace, struct extract_event *event)
{
    event->thread = extract_trace_address(trace, event->thread);
    for (unsigned k = 0; k < event->fields && k < event->type->fields; k++)
        if (event->type->field[k].kind == EXTRACT_KIND_OBJECT)
            event->field[k] = extract_trace_address(trace, event->field[k]);
}

uint64_t lives_begun(const struct extract_trace *trace, uint64_t seq)
{
    return extract_keys_count_up_to(trace->life_starts, trace->life_count,
                                    sizeof *trace->life_starts, seq);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

// Lists when lives begin. Returns false if memory is short.
static bool list_starts(struct extract_trace *trace)
{
    uint64_t *starts = realloc(trace->life_starts, (trace->life_count + 1) * sizeof *starts);

    if (!starts)
        return false;
    trace->life_starts = starts;
    for (size_t i = 0; i < trace->life_count; i++)
        starts[i] = trace->lives[i].from;
    if (trace->life_count)
        qsort(starts, trace->life_count, sizeof *starts, compare_numbers);
    return true;
}

// ---- which lives there are ----

static void note_reference(struct extract_trace *trace, uint32_t type, uint64_t address,
                           uint64_t seq)
{
    const struct extract_life *life = lives_find(trace, type, address, seq);

    if (life)
        trace->lives[life - trace->lives].has_events = true;
}

// Returns the event before which all lives without a creation begin and end.
static uint64_t last_to_find(const struct extract_trace *trace)
{
    uint64_t last = 0;

    for (size_t i = 0; i < trace->life_count; i++) {
        const struct extract_life *life = &trace->lives[i];
        size_t next = i + 1;
        while (next < trace->life_count && trace->lives[next].address == life->address &&
               trace->lives[next].type != life->type)
            next++;
        bool has_next = next < trace->life_count && trace->lives[next].address == life->address;
        if (life->is_assumed && !life->has_events)
            last = !has_next                        ? UINT64_MAX
                   : trace->lives[next].from > last ? trace->lives[next].from
                                                    : last;
    }
    return last;
}

// Finds out which lives have events before the event `last`.
static void find_references(struct build *build, uint64_t last)
{
    struct extract_trace *trace = build->trace;
    const struct extract_scheduler *kernel = trace->snapshot->ring.format->kernel;
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t got;

    extract_reader_init(&reader, trace);
    reader.has_addresses = true;
    while (reader.seq < last && (got = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < got; i++) {
            const struct extract_event *event = &events[i];
            const struct extract_event_type *type = event->type;
            if (event->thread && !extract_event_is_mark(event))
                note_reference(trace, LIFE_THREAD, event->thread, event->seq);
            for (unsigned k = 0; k < event->fields && k < type->fields; k++)
                if (type->field[k].kind == EXTRACT_KIND_OBJECT && event->field[k])
                    note_reference(trace, kernel->field_type(type, k), event->field[k], event->seq);
        }
}

// Returns whether the lives of an address must be kept: there are several, or there is one whose
// address the registry also has for another type, or whose name is in doubt.
static bool must_keep(const struct build *build, const struct extract_life *lives, size_t count)
{
    const struct life_place *list;
    size_t objects = lives_places_at(&build->changes, lives->address, &list);

    return count > 1 || lives->is_doubtful || has_types(build, list, objects);
}

void lives_remove(struct build *build)
{
    struct extract_trace *trace = build->trace;
    struct extract_life *lives = trace->lives;
    size_t kept = 0;

    for (size_t first = 0, end; first < trace->life_count; first = end) {
        size_t begin = kept;
        uint64_t address = lives[first].address;
        for (end = first; end < trace->life_count && lives[end].address == address; end++)
            if (!lives[end].is_removed)
                lives[kept++] = lives[end];
        if (kept > begin && !must_keep(build, &lives[begin], kept - begin))
            kept = begin;
    }
    trace->life_count = kept;
}

bool lives_build(struct build *build)
{
    struct extract_trace *trace = build->trace;
    const struct extract_scheduler *kernel = trace->snapshot->ring.format->kernel;
    struct life_changes *changes = &build->changes;

    if (!kernel || !kernel->field_type)
        return true;
    if (changes->count)
        qsort(changes->list, changes->count, sizeof *changes->list, compare_changes);
    if (!list_places(build) || !add_all(build) || !lives_arrange(trace))
        return false;
    if (!trace->life_count)
        return true;
    find_references(build, last_to_find(trace));
    for (size_t i = 0; i < trace->life_count; i++)
        trace->lives[i].is_removed = trace->lives[i].is_assumed && !trace->lives[i].has_events;
    lives_remove(build);
    return lives_arrange(trace) && lives_name(build) && list_starts(trace);
}
