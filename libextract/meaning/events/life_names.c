// SPDX-License-Identifier: MIT
// events: names of lives, for addresses that more than one object had in turn (lives.c).
//
// A name is given only if it is known whose it is:
//
//   entries that name objects   The newest name within a life is its name.
//   registry of a ring          It is as it was at the end. A slot in use belongs to the newest
//                               life. If the ring has all events, a slot of a deleted object
//                               belongs to an older life if no other one may have it. Where several
//                               slots have different names and no event shows a creation or a
//                               deletion, the slot in use is certain only if these events are
//                               known to be recorded and have been overwritten.
//   registries of a log         An object in use belongs to the life within which the registry was
//                               read. After the last event of a target that runs, it may be that
//                               of a later life, which has no event in the log.
//
// A registry slot has the priority with which its thread was created, so that a life with another
// one has another slot. If a registry has only one name for a life, it is likely its own:
// "worker~1" is the first one, and "worker~" the only one. A life without a name has the symbol at
// its address, or the address, and its number: "0x20000200#1". If several have the same name,
// reports print the older ones with their numbers: "worker#1".
//
// Source: tx_trace_object_register.c and tx_trace_object_unregister.c of Eclipse ThreadX: a new
// object gets the next slot that is unused or had its address; a deletion frees the first slot with
// the address, even if another one is in use.
#include "events/lives.h"
#include "base/keys.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    NO_OBJECT = UINT32_MAX,
    NAME_BYTES = 1025,
    MAX_PLACES = 64, // slots of one address that are compared
    MAX_NAMED = 256  // lives of one address that are compared with each other
};

// What a life is to be named after.
struct wanted {
    uint32_t object; // of a registry; NO_OBJECT: none
    size_t name;     // offset of a name that an entry gives; 0: none
    bool is_named;
};

struct naming {
    struct build *build;
    struct wanted *wanted; // per life
    bool *is_used;         // per object: a life has it
    size_t used_count;     // of is_used
};

// The lives at one address.
struct group {
    size_t first, end;
};

static struct extract_life *life_at(const struct naming *naming, size_t i)
{
    return &naming->build->trace->lives[i];
}

static bool is_newest_of_type(const struct naming *naming, const struct group *group, size_t i)
{
    for (size_t k = i + 1; k < group->end; k++)
        if (life_at(naming, k)->type == life_at(naming, i)->type)
            return false;
    return true;
}

// Returns whether object `i`, which is one of a registry, may be that of a life.
static bool may_be(const struct naming *naming, const struct extract_life *life, size_t i)
{
    const struct extract_object *object = &naming->build->trace->objects[i];

    return object->registered && object->type == life->type &&
           (!life->is_created || life->priority == EXTRACT_NO_PRIORITY ||
            object->priority == EXTRACT_NO_PRIORITY || life->priority == object->priority);
}

// ---- names from entries ----

// Returns the index of the first change at an address, which is not 0, or of the next one.
static size_t first_change(const struct life_changes *changes, uint64_t address)
{
    return extract_keys_count_up_to(changes->list, changes->count, sizeof *changes->list,
                                    address - 1);
}

static const struct extract_object *object_of_map(const struct naming *naming,
                                                  const struct extract_life *life)
{
    struct extract_trace *trace = naming->build->trace;
    const struct extract_epoch *epoch =
        extract_epoch_of(trace, extract_trace_registry(trace, life->from));
    uint32_t head = extract_map_get(
        life->type == LIFE_THREAD ? &epoch->threads : &epoch->by_address, life->address);

    while (head && trace->versions[head].newer)
        head = trace->versions[head].newer;
    return head ? &trace->objects[trace->versions[head].object] : NULL;
}

static void use_entries(const struct naming *naming, const struct group *group)
{
    const struct build *build = naming->build;
    const struct life_changes *changes = &build->changes;
    struct wanted *oldest = &naming->wanted[group->first];
    const struct extract_life *lives = build->trace->lives;
    uint64_t address = lives[group->first].address;
    const struct extract_object *carried = object_of_map(naming, &lives[group->first]);
    bool is_carried = carried && (size_t)(carried - build->trace->objects) < build->carried;
    bool is_first = true;

    for (size_t i = first_change(changes, address);
         i < changes->count && changes->list[i].address == address; i++) {
        const struct life_change *change = &changes->list[i];
        if (change->kind != LIFE_NAMED)
            continue;
        if (is_first && is_carried && change->name_before)
            *oldest = (struct wanted){NO_OBJECT, change->name_before, true};
        is_first = false;
        const struct extract_life *life = lives_find(build->trace, 0, address, change->seq);
        if (life)
            naming->wanted[life - lives] = (struct wanted){NO_OBJECT, change->name, true};
    }
    if (is_first && is_carried && carried->registered)
        *oldest =
            (struct wanted){NO_OBJECT, build->offsets[carried - build->trace->objects].name, true};
}

// ---- names from registries ----

// Returns an object with the only name that registries have for a life; NO_OBJECT if they have
// several, or none that can be its own.
static uint32_t only_name(const struct naming *naming, const struct extract_life *life,
                          bool only_in_use)
{
    const struct build *build = naming->build;
    const struct life_place *list;
    size_t places = lives_places_at(&build->changes, life->address, &list);
    uint32_t only = NO_OBJECT;

    for (size_t i = 0; i < places && places <= MAX_PLACES; i++) {
        uint32_t object = list[i].object;
        if (object >= naming->used_count || !may_be(naming, life, object) ||
            (only_in_use && !build->trace->objects[object].in_use))
            continue;
        const char *names = build->trace->names.data;
        if (only != NO_OBJECT &&
            strcmp(names + build->offsets[only].name, names + build->offsets[object].name) != 0)
            return NO_OBJECT;
        only = object;
    }
    return only;
}

// Counts the objects that may be that of a life and that no other life has; *found is the last one.
static size_t count_fitting(const struct naming *naming, const struct extract_life *life,
                            uint32_t *found)
{
    const struct life_place *list;
    size_t places = lives_places_at(&naming->build->changes, life->address, &list), count = 0;

    if (places > MAX_PLACES)
        return places;
    for (size_t i = 0; i < places; i++) {
        if (naming->is_used[list[i].object] || !may_be(naming, life, list[i].object))
            continue;
        *found = list[i].object;
        count++;
    }
    return count;
}

static void take_object(const struct naming *naming, size_t life, uint32_t object)
{
    naming->wanted[life] = (struct wanted){object, 0, true};
    naming->is_used[object] = true;
}

// Returns whether an object may be that of another life without a name.
static bool is_wanted_elsewhere(const struct naming *naming, const struct group *group, size_t life,
                                uint32_t object)
{
    for (size_t k = group->first; k < group->end; k++)
        if (k != life && !naming->wanted[k].is_named && may_be(naming, life_at(naming, k), object))
            return true;
    return false;
}

// Returns whether the trace begins with the first event of the target, and lacks none.
static bool has_all_events(const struct build *build)
{
    return !build->trace->info.wrapped && !build->trace->is_part && !build->changes.pause_count;
}

// Names the newest life of each type after the slots that are in use; all of them, if no event
// shows that it was created. The registry that is known is the newest one. If the registries of a
// recording have several names, the time at which each was read decides (use_log).
static void use_newest(const struct naming *naming, const struct group *group)
{
    struct extract_log_snapshots *snapshots = naming->build->trace->snapshots;
    bool is_recorded = snapshots && !extract_log_snapshots_are_merged(snapshots);

    for (size_t i = group->first; i < group->end; i++) {
        const struct extract_life *life = life_at(naming, i);
        if (!is_newest_of_type(naming, group, i) || life->is_deleted || life->is_merged)
            continue;
        if (is_recorded && only_name(naming, life, false) == NO_OBJECT)
            continue;
        uint32_t found = only_name(naming, life, true);
        if (found == NO_OBJECT && !life->is_in_use && !life->is_created)
            found = only_name(naming, life, false);
        if (found != NO_OBJECT)
            take_object(naming, i, found);
    }
}

static void use_ring(const struct naming *naming, const struct group *group)
{
    uint32_t found = NO_OBJECT;

    if (!has_all_events(naming->build) || group->end - group->first > MAX_NAMED)
        return;
    for (size_t i = group->end; i-- > group->first;)
        if (!naming->wanted[i].is_named && !life_at(naming, i)->is_merged &&
            count_fitting(naming, life_at(naming, i), &found) == 1 &&
            !is_wanted_elsewhere(naming, group, i, found))
            take_object(naming, i, found);
}

// Returns the next life of the same type at an address; NULL: none follows.
static const struct extract_life *next_of_type(const struct naming *naming,
                                               const struct group *group, size_t i)
{
    size_t next = i + 1;

    while (next < group->end && life_at(naming, next)->type != life_at(naming, i)->type)
        next++;
    return next < group->end ? life_at(naming, next) : NULL;
}

// Returns the index of the first sighting of an address by a registry that was read after an event,
// or of the next one.
static size_t first_sighting(const struct life_changes *changes, uint64_t address, uint64_t from)
{
    size_t low = 0, high = changes->sighting_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct life_sighting *seen = &changes->sightings[middle];
        if (seen->address < address || (seen->address == address && seen->after < from))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void use_log(const struct naming *naming, const struct group *group)
{
    const struct life_changes *changes = &naming->build->changes;

    for (size_t i = group->first; i < group->end; i++) {
        const struct extract_life *life = life_at(naming, i);
        const struct extract_life *next = next_of_type(naming, group, i);
        uint64_t last = life->is_deleted ? life->deleted_at : next ? next->from : UINT64_MAX;
        uint32_t found = NO_OBJECT;
        bool is_one = !naming->wanted[i].is_named && only_name(naming, life, false) == NO_OBJECT;
        for (size_t k = first_sighting(changes, life->address, life->from);
             k < changes->sighting_count && changes->sightings[k].address == life->address; k++) {
            const struct life_sighting *seen = &changes->sightings[k];
            if (seen->before > last || seen->before == UINT64_MAX)
                break;
            if (!may_be(naming, life, seen->object))
                continue;
            is_one &= found == NO_OBJECT || found == seen->object;
            found = seen->object;
        }
        if (found != NO_OBJECT && is_one && !life->is_merged)
            naming->wanted[i] = (struct wanted){found, 0, true};
    }
}

// Finds out when the registries of a log were read. Those of unknown times are never used.
static void time_sightings(struct build *build)
{
    struct life_changes *changes = &build->changes;
    uint64_t after = 0, before = UINT64_MAX;
    size_t block = SIZE_MAX;

    for (size_t i = 0; i < changes->sighting_count; i++) {
        struct life_sighting *seen = &changes->sightings[i];
        if (seen->block != block &&
            !extract_log_snapshots_read_at(build->trace->snapshots, seen->block, &after, &before)) {
            after = 0;
            before = UINT64_MAX;
        }
        block = seen->block;
        seen->after = after;
        seen->before = before;
    }
}

static int compare_sightings(const void *a, const void *b)
{
    const struct life_sighting *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->after < y->after ? -1 : x->after > y->after;
}

// ---- lives become objects ----

static const char *name_of(const struct naming *naming, size_t i)
{
    const struct build *build = naming->build;
    const struct wanted *wanted = &naming->wanted[i];
    size_t offset = !wanted->is_named             ? SIZE_MAX
                    : wanted->object == NO_OBJECT ? wanted->name
                                                  : build->offsets[wanted->object].name;

    return offset == SIZE_MAX ? "" : build->trace->names.data + offset;
}

// Returns the name of a life, also if it is only likely.
static const char *likely_name_of(const struct naming *naming, size_t i)
{
    const struct build *build = naming->build;
    bool has_entries = build->trace->snapshot->ring.format->entry_name;
    uint32_t likely = naming->wanted[i].is_named || has_entries
                          ? NO_OBJECT
                          : only_name(naming, life_at(naming, i), false);

    return likely == NO_OBJECT ? name_of(naming, i)
                               : build->trace->names.data + build->offsets[likely].name;
}

// Marks lives that a restart of the target began and that have the name of the one before: they are
// the same thread or object for the user, as those whose address has had no other are.
static bool mark_same(const struct naming *naming, const struct group *group)
{
    bool has_same = false;

    for (size_t i = group->first + 1; i < group->end; i++) {
        struct extract_life *life = life_at(naming, i);
        size_t before = i;
        while (before > group->first && (life_at(naming, before - 1)->type != life->type ||
                                         life_at(naming, before - 1)->is_removed))
            before--;
        if (before == group->first || !life->may_be_same ||
            strcmp(likely_name_of(naming, i), likely_name_of(naming, before - 1)) != 0)
            continue;
        life_at(naming, before - 1)->is_deleted = life->is_deleted;
        life->is_removed = has_same = true;
    }
    return has_same;
}

static const char *type_name_of(const struct naming *naming, const struct extract_life *life)
{
    const struct life_place *list;
    size_t places = lives_places_at(&naming->build->changes, life->address, &list);

    if (life->type == LIFE_THREAD)
        return names_thread_type(naming->build);
    for (size_t i = 0; i < places; i++)
        if (naming->build->trace->objects[list[i].object].type == life->type)
            return naming->build->trace->objects[list[i].object].type_name;
    return "object";
}

// Adds an object for a life: a copy of another one, or one with a name or without.
static bool add_object(const struct naming *naming, size_t i, uint32_t number)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct build *build = naming->build;
    struct extract_trace *trace = build->trace;
    const struct wanted *wanted = &naming->wanted[i];
    struct extract_life *life = &trace->lives[i];
    bool has_entries = trace->snapshot->ring.format->entry_name;
    char name[NAME_BYTES];
    struct extract_object object = {.address = life->address,
                                    .type = life->type,
                                    .type_name = type_name_of(naming, life),
                                    .param_types = no_params,
                                    .priority = life->priority,
                                    .slot = UINT32_MAX};

    if (wanted->object != NO_OBJECT)
        object = trace->objects[wanted->object];
    object.in_use = !number && !life->is_deleted;
    object.registered |= wanted->is_named;
    life->object = (uint32_t)trace->object_count;
    if (object.registered && object.slot == UINT32_MAX)
        object.slot = life->object;
    trace->info.objects += object.registered;
    snprintf(name, sizeof name, "%s", name_of(naming, i)); // the names move when one is added
    uint32_t likely = has_entries || *name ? NO_OBJECT : only_name(naming, life, false);
    bool is_itself = !number && !life->is_deleted && !life->is_doubtful;
    if (*name || (likely == NO_OBJECT && is_itself))
        return names_add_object(build, &object, name);
    if (likely != NO_OBJECT)
        snprintf(name, sizeof name, "%s", build->trace->names.data + build->offsets[likely].name);
    return names_add_unnamed(build, &object, name, number);
}

// Returns whether the newest life may have an object of the trace as it is.
static bool may_keep(const struct naming *naming, const struct extract_life *life,
                     const struct wanted *wanted, const struct extract_object *object)
{
    size_t i = (size_t)(object - naming->build->trace->objects);

    if (i < naming->used_count && naming->is_used[i])
        return false;
    if (wanted->is_named)
        return wanted->object == NO_OBJECT;
    return !object->registered && i >= naming->build->carried &&
           !(life->is_deleted && object->from_memory);
}

// Makes an object the newest one at its address.
static bool enter(const struct naming *naming, const struct extract_life *life)
{
    struct extract_trace *trace = naming->build->trace;
    struct extract_epoch *epoch = &trace->epochs[trace->epoch_count - 1];
    uint32_t *places[2] = {
        extract_map_at(&epoch->by_address, life->address),
        life->type == LIFE_THREAD ? extract_map_at(&epoch->threads, life->address) : NULL};

    if (trace->snapshots)
        return true; // each event finds the life itself
    if (!places[0] || (life->type == LIFE_THREAD && !places[1]))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (places[i] && *places[i])
            trace->versions[*places[i]].object = life->object;
    return names_enter_object(trace, epoch, life->object, epoch->from);
}

// Gives the newest life an object as it is. That of a thread which only events name has the
// priority of the first of them, which may be of an older life.
static void keep_object(struct extract_trace *trace, struct extract_life *life, uint32_t i)
{
    struct extract_object *object = &trace->objects[i];

    life->object = i;
    if (life->type == LIFE_THREAD && life->count > 1 && !object->registered && !object->from_memory)
        object->priority = life->priority;
}

// Gives each life of a group its object.
static bool make_objects(const struct naming *naming, const struct group *group)
{
    struct extract_trace *trace = naming->build->trace;

    bool fits = trace->object_count + (group->end - group->first) <= naming->build->max_objects;
    for (size_t i = group->first; i < group->end && !fits; i++)
        trace->lives[i].is_removed = true; // the address stands for one object
    if (!fits)
        return true;
    for (size_t i = group->first; i < group->end; i++) {
        const struct wanted *wanted = &naming->wanted[i];
        bool is_newest = i + 1 == group->end;
        const struct extract_object *now =
            is_newest ? object_of_map(naming, &trace->lives[i]) : NULL;
        if (wanted->object != NO_OBJECT && trace->objects[wanted->object].key == 0) {
            trace->lives[i].object = wanted->object;
            trace->objects[wanted->object].key = trace->lives[i].key;
            continue;
        }
        if (now && may_keep(naming, &trace->lives[i], wanted, now))
            keep_object(trace, &trace->lives[i], (uint32_t)(now - trace->objects));
        else if (!add_object(naming, i, is_newest ? 0 : (uint32_t)(i + 1 - group->first)))
            return false;
        trace->objects[trace->lives[i].object].key = trace->lives[i].key;
    }
    return enter(naming, &trace->lives[group->end - 1]);
}

static struct group group_at(const struct extract_trace *trace, size_t first)
{
    return (struct group){first, first + trace->lives[first].count};
}

// Finds what each life is named after.
static void find_names(const struct naming *naming)
{
    struct extract_trace *trace = naming->build->trace;

    for (size_t i = 0; i < trace->life_count; i++)
        naming->wanted[i] = (struct wanted){.object = NO_OBJECT};
    for (size_t i = 0; i < trace->life_count; i += trace->lives[i].count) {
        const struct group group = group_at(trace, i);
        bool has_entries = trace->snapshot->ring.format->entry_name;
        if (!has_entries)
            use_newest(naming, &group);
        if (has_entries)
            use_entries(naming, &group);
        else if (trace->snapshots)
            use_log(naming, &group);
        else
            use_ring(naming, &group);
    }
}

// Returns what reports print for a life.
static const char *shown_of(const struct naming *naming, const struct extract_life *life)
{
    return naming->build->trace->names.data + naming->build->offsets[life->object].shown;
}

// Returns whether a later life at the same address has the same name in reports, as that of a task
// which is created again and again.
static bool has_namesake(const struct naming *naming, const struct extract_life *life)
{
    uint32_t later = life->count - life->number;

    for (uint32_t i = 1; i <= later && i <= MAX_NAMED; i++)
        if (strcmp(shown_of(naming, life + i), shown_of(naming, life)) == 0)
            return true;
    return false;
}

// Gives the objects their keys and numbers.
static void number_objects(const struct naming *naming)
{
    struct extract_trace *trace = naming->build->trace;

    for (size_t i = 0; i < trace->life_count; i++) {
        const struct extract_life *life = &trace->lives[i];
        trace->objects[life->object].key = life->key;
        trace->objects[life->object].life = life->count > 1 ? life->number : 0;
        if (life->is_doubtful && trace->objects[life->object].registered) {
            names_add_sign(naming->build, life->object, 0);
            trace->objects[life->object].likely = true;
        }
        if (has_namesake(naming, life))
            names_add_sign(naming->build, life->object, life->number);
    }
}

static bool name_all(struct naming *naming)
{
    struct extract_trace *trace = naming->build->trace;
    bool has_same = false;

    find_names(naming);
    for (size_t i = 0; i < trace->life_count; i += trace->lives[i].count) {
        const struct group group = group_at(trace, i);
        has_same |= mark_same(naming, &group);
    }
    if (has_same) {
        lives_remove(naming->build);
        if (!lives_arrange(trace))
            return false;
        memset(naming->is_used, 0, naming->used_count * sizeof *naming->is_used);
        find_names(naming);
    }
    for (size_t i = 0; i < trace->object_count; i++) {
        trace->objects[i].key = 0;
        trace->objects[i].life = 0;
    }
    for (size_t i = 0; i < trace->life_count; i += trace->lives[i].count) {
        const struct group group = group_at(trace, i);
        if (!make_objects(naming, &group))
            return false;
    }
    lives_remove(naming->build); // those for which there was no object
    if (!lives_arrange(trace))
        return false;
    number_objects(naming);
    return true;
}

bool lives_name(struct build *build)
{
    struct extract_trace *trace = build->trace;
    struct naming naming = {.build = build, .used_count = trace->object_count};

    if (!trace->life_count)
        return true;
    naming.wanted = malloc(trace->life_count * sizeof *naming.wanted);
    naming.is_used = calloc(trace->object_count + 1, sizeof *naming.is_used);
    time_sightings(build);
    if (build->changes.sighting_count)
        qsort(build->changes.sightings, build->changes.sighting_count,
              sizeof *build->changes.sightings, compare_sightings);
    bool fits = naming.wanted && naming.is_used && name_all(&naming);
    free(naming.wanted);
    free(naming.is_used);
    return fits;
}
