// SPDX-License-Identifier: MIT
// events: objects that only symbols of the firmware name.
//
// A kernel without a registry of its objects reports their addresses only. An object that is a
// variable of the firmware has the name of that variable. Its description is made when somebody
// asks for it, and belongs to the trace.
#include "base/grow.h"
#include "events/events_room.h"
#include <extract/symbols.h>
#include <stdlib.h>

enum {
    MAX_SYMBOL = 1024,
    MAX_ADDRESSES = 1 << 17 // that are remembered; others have no name
};
enum { NO_SYMBOL = UINT32_MAX }; // an address without a symbol

struct symbol_objects {
    struct extract_map map; // address to index + 1, or NO_SYMBOL
    struct extract_object **objects;
    size_t count, capacity;
};

struct symbol_objects *symbol_objects_new(void)
{
    struct symbol_objects *known = calloc(1, sizeof *known);

    if (known && extract_map_init(&known->map, 16))
        return known;
    free(known);
    return NULL;
}

void symbol_objects_free(struct symbol_objects *known)
{
    if (!known)
        return;
    for (size_t i = 0; i < known->count; i++) {
        free((char *)known->objects[i]->shown);
        free(known->objects[i]);
    }
    free(known->objects);
    extract_map_free(&known->map);
    free(known);
}

// Returns a new object with the name of a symbol; NULL if memory is short.
static struct extract_object *make_object(uint64_t address, const char *name)
{
    struct extract_object *object = malloc(sizeof *object);
    struct extract_text shown;

    extract_text_init(&shown, NULL, NULL);
    extract_text_escaped(&shown, name);
    extract_text_putc(&shown, 0);
    char *copy = shown.code ? NULL : strdup(shown.data);
    extract_text_free(&shown);
    if (!object || !copy) {
        free(object);
        free(copy);
        return NULL;
    }
    *object = (struct extract_object){.address = address,
                                      .type_name = "object",
                                      .name = "",
                                      .shown = copy,
                                      .shown_columns = (uint32_t)extract_text_columns(copy),
                                      .shown_bytes = (uint32_t)strlen(copy),
                                      .in_use = true,
                                      .priority = EXTRACT_NO_PRIORITY,
                                      .slot = UINT32_MAX};
    return object;
}

const struct extract_object *symbol_objects_find(const struct extract_trace *trace,
                                                 uint64_t address)
{
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct symbol_objects *known = trace->symbol_objects;
    char name[MAX_SYMBOL];
    bool may_have = trace->symbols && known && address && !extract_key_is_number(address);
    bool has_room = may_have && known->map.used < MAX_ADDRESSES;
    uint32_t *place = has_room || (may_have && extract_map_get(&known->map, address))
                          ? extract_map_at(&known->map, address)
                          : NULL;

    if (!place || *place == NO_SYMBOL)
        return NULL;
    if (*place)
        return known->objects[*place - 1];
    *place = NO_SYMBOL;
    if (!extract_format_describe(ring, trace->symbols, address, name, sizeof name))
        return NULL;
    struct extract_object **objects = extract_grow(known->objects, &known->capacity, known->count,
                                                   sizeof(struct extract_object *));
    if (!objects)
        return NULL;
    known->objects = objects;
    objects[known->count] = make_object(address, name);
    if (!objects[known->count])
        return NULL;
    *place = (uint32_t)++known->count;
    return objects[known->count - 1];
}
