// SPDX-License-Identifier: MIT
// merge: makes the registry of the merged log, and the ring that describes it.
//
// Snapshots and cores of one target share their objects: an address means the same in all of them.
// If it does not, the objects of the newest snapshot are in use, and the others are as good as
// deleted. Boards do not share objects: the addresses of every board but the first get its number
// in the bits that its own addresses do not use, and names get the name of the input as a prefix.
//
// Only slot rings have a registry of objects. Entries of byte rings name objects themselves.
#include "base/grow.h"
#include "base/map.h"
#include "formats/format.h"
#include "merge/merge.h"
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1024, NAME_LEAST_BYTES = 32 };

// An object as the log has it.
struct merged_object {
    struct extract_object object; // its address is that of the log
    const struct merge_input *input;
};

struct registry {
    struct merged_object *list;
    size_t count, capacity;
    struct extract_map by_address; // an object that is in use, or the first one
    struct extract_map by_content; // the first object of that address, type and name
    uint32_t name_bytes;
};

static uint64_t content_key(const struct extract_object *object)
{
    const uint64_t prime = UINT64_C(0x100000001B3); // of FNV-1a
    uint64_t key = (object->address ^ (uint64_t)object->type << 56) * prime;

    for (const char *c = object->name; *c; c++)
        key = (key ^ (uint8_t)*c) * prime;
    return key;
}

static bool is_same_object(const struct extract_object *a, const struct extract_object *b)
{
    return a->address == b->address && a->type == b->type && strcmp(a->name, b->name) == 0;
}

// Writes the name that an object has in the log. Returns its length.
static size_t write_name(const struct merge *merge, const struct merged_object *object,
                         char name[NAME_MAX_BYTES])
{
    bool has_prefix = merge->options.kind == MERGE_BOARDS && object->object.name[0];
    int length = snprintf(name, NAME_MAX_BYTES, "%s%s%s", has_prefix ? object->input->prefix : "",
                          has_prefix ? "/" : "", object->object.name);

    return length < NAME_MAX_BYTES ? (size_t)length : NAME_MAX_BYTES - 1;
}

static bool add_object(struct registry *registry, const struct merge *merge,
                       const struct merge_input *input, const struct extract_object *object)
{
    struct merged_object merged = {*object, input};
    char name[NAME_MAX_BYTES];

    merged.object.address = extract_encode_address(&input->encoding, object->address);
    uint32_t *same = extract_map_at(&registry->by_content, content_key(&merged.object));
    uint32_t *first = extract_map_at(&registry->by_address, merged.object.address);
    struct merged_object *list =
        extract_grow(registry->list, &registry->capacity, registry->count, sizeof *list);
    if (list)
        registry->list = list;
    if (!same || !first || !list)
        return false;
    if (*same && list[*same - 1].input != input &&
        is_same_object(&list[*same - 1].object, &merged.object))
        return true;
    // Of two inputs, the one that was added first decides which object is in use.
    merged.object.in_use &= !*first || list[*first - 1].input == input;
    list[registry->count++] = merged;
    *same = *same ? *same : (uint32_t)registry->count;
    *first = *first ? *first : (uint32_t)registry->count;
    uint32_t bytes = (uint32_t)write_name(merge, &merged, name) + 1;
    registry->name_bytes = bytes > registry->name_bytes ? bytes : registry->name_bytes;
    return true;
}

static bool add_objects(struct registry *registry, const struct merge *merge,
                        const struct merge_input *input)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(input->trace, &objects);

    for (size_t i = 0; i < count; i++) {
        bool is_known = objects[i].registered || (objects[i].from_memory && objects[i].name[0]);
        if (is_known && objects[i].number_kind == EXTRACT_KIND_NONE &&
            !add_object(registry, merge, input, &objects[i]))
            return false;
    }
    return true;
}

// Collects the objects of all inputs; of snapshots, those of the newest one first.
static bool collect_objects(struct registry *registry, const struct merge *merge)
{
    bool newest_first = merge->options.kind == MERGE_SNAPSHOTS;

    *registry = (struct registry){.name_bytes = NAME_LEAST_BYTES};
    if (!extract_map_init(&registry->by_address, 64) ||
        !extract_map_init(&registry->by_content, 64))
        return false;
    for (size_t i = 0; i < merge->count; i++)
        if (!add_objects(registry, merge, &merge->inputs[newest_first ? merge->count - 1 - i : i]))
            return false;
    return true;
}

bool merge_has_registry(const struct merge *merge)
{
    return extract_trace_snapshot(merge->inputs[0].trace)->ring.format->encoder->object != NULL;
}

// Makes a ring as large as all inputs together, so that a merged log can be saved as a dump.
static enum extract_code make_ring(struct merge *merge, const struct registry *registry,
                                   struct extract_error *error)
{
    const struct extract_ring **rings = calloc(merge->count, sizeof *rings);
    const uint64_t most = EXTRACT_RING_LIMIT / 4;
    struct extract_encoded_ring wanted = {.inputs = rings,
                                          .input_count = merge->count,
                                          .objects = (uint32_t)registry->count,
                                          .name_bytes = (registry->name_bytes + 7) / 8 * 8,
                                          .cores = merge->cores,
                                          .is_wide = merge->options.kind == MERGE_BOARDS};
    enum extract_code code = EXTRACT_OK;
    uint64_t entries = 0;

    if (!rings)
        return EXTRACT_NOMEM;
    for (size_t i = 0; i < merge->count; i++) {
        rings[i] = &extract_trace_snapshot(merge->inputs[i].trace)->ring;
        entries += rings[i]->entries.count;
    }
    if (registry->count > most / (wanted.name_bytes + 64))
        code = extract_error_set(error, EXTRACT_LIMIT, "merge", "merge fewer inputs",
                                 "the inputs have too many objects");
    wanted.entries = (uint32_t)(entries < most / 64 ? entries : most / 64);
    wanted.entries = wanted.entries ? wanted.entries : 1;
    if (!code)
        code = rings[0]->format->encoder->ring(&merge->ring, &wanted, error);
    free(rings);
    return code;
}

enum extract_code merge_make_registry(struct merge *merge, struct extract_error *error)
{
    struct registry registry = {.name_bytes = NAME_LEAST_BYTES};
    char name[NAME_MAX_BYTES];
    enum extract_code code = EXTRACT_NOMEM;

    if (!merge_has_registry(merge) || collect_objects(&registry, merge))
        code = make_ring(merge, &registry, error);
    uint32_t slot_bytes = merge->ring.registry.slot_bytes;
    if (!code) {
        merge->registry_bytes = registry.count * slot_bytes;
        merge->registry = calloc(1, merge->registry_bytes + 1);
        code = merge->registry ? EXTRACT_OK : EXTRACT_NOMEM;
    }
    for (size_t i = 0; i < registry.count && !code; i++) {
        write_name(merge, &registry.list[i], name);
        merge->ring.format->encoder->object(&merge->ring, &registry.list[i].object, name,
                                            merge->registry + i * slot_bytes);
    }
    extract_map_free(&registry.by_address);
    extract_map_free(&registry.by_content);
    free(registry.list);
    return code == EXTRACT_NOMEM
               ? extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory")
               : code;
}
