// SPDX-License-Identifier: MIT
// control: names of the bits in RKH's filters. They come from the objects of the trace, and from
// the signals and active objects of the ELF. A name that nothing has is refused with a list of
// those that exist.
#include "control/control.h"
#include <stdio.h>

// Finds the bit number that an object of the trace has in a table. Returns false if it has none.
static bool find_bit_number(const struct extract_object *object, enum extract_target_kind kind,
                            uint64_t *number)
{
    *number = object->address;
    switch (kind) {
    case EXTRACT_TARGET_OBJECT:
        *number = object->priority;
        return object->thread && object->priority != EXTRACT_NO_PRIORITY;
    case EXTRACT_TARGET_SIGNAL:
        return object->number_kind == EXTRACT_KIND_SIGNAL;
    case EXTRACT_TARGET_EVENT:
        *number += RKH_USER;
        return object->number_kind == EXTRACT_KIND_USER_EVENT && object->address < RKH_GROUP_EVENTS;
    default:
        return false;
    }
}

bool control_next_name(const struct extract_control *control, enum extract_target_kind kind,
                       size_t *n, const char **name, uint64_t *number)
{
    const struct extract_object *objects;
    size_t count = control->trace ? extract_trace_objects(control->trace, &objects) : 0;

    for (; *n < count; ++*n) {
        const struct extract_object *object = &objects[*n];
        if (!find_bit_number(object, kind, number))
            continue;
        *name = *object->name ? object->name : object->shown; // the printed name
        ++*n;
        return true;
    }
    // Without a trace, signals have their names from the ELF.
    for (; !control->trace && kind == EXTRACT_TARGET_SIGNAL; ++*n) {
        if (!rkh_signals_at(&control->signals, *n, number, name))
            return false;
        if (rkh_signals_name(&control->signals, *number)) {
            ++*n;
            return true;
        }
    }
    // An active object is listed twice: by its own name and by that of its variable.
    size_t actor = (*n - count) / 2;
    if (kind != EXTRACT_TARGET_OBJECT || actor >= control->actor_count)
        return false;
    const struct rkh_actor *found = &control->actors[actor];
    *name = (*n - count) % 2 || !*found->name ? found->symbol : found->name;
    *number = found->priority;
    ++*n;
    return true;
}

const char *control_bit_name(const struct extract_control *control, enum extract_target_kind kind,
                             uint32_t bit, char name[static RKH_NAME_BYTES])
{
    const char *known;
    uint64_t number;
    size_t n = 0;

    if (kind == EXTRACT_TARGET_GROUP)
        return rkh_group_name(bit);
    if (kind == EXTRACT_TARGET_EVENT) {
        uint32_t place;
        int id = rkh_places_event(&control->places, bit, &place);
        return id < 0 ? NULL : rkh_event_name((unsigned)id, name);
    }
    while (control_next_name(control, kind, &n, &known, &number))
        if (number == bit)
            return known;
    snprintf(name, RKH_NAME_BYTES, "%u", (unsigned)bit);
    return name;
}

// Returns whether an earlier name than the n-th is the same, since trace and ELF name the same
// objects.
static bool is_listed(const struct extract_control *control, enum extract_target_kind kind,
                      size_t n, const char *name)
{
    const char *other;
    uint64_t number;
    size_t i = 0;

    while (control_next_name(control, kind, &i, &other, &number) && i <= n)
        if (strcmp(name, other) == 0)
            return true;
    return false;
}

static void list_known(const struct extract_control *control, enum extract_target_kind kind,
                       struct extract_listing *listing)
{
    char numbers[64];
    const char *name;
    uint64_t number;
    size_t n = 0;

    snprintf(numbers, sizeof numbers, "%s 0 to %u",
             kind == EXTRACT_TARGET_OBJECT ? "priorities" : "numbers",
             control_bits(control, kind) - 1);
    extract_listing_put(listing, numbers);
    while (control_next_name(control, kind, &n, &name, &number))
        if (!is_listed(control, kind, n - 1, name))
            extract_listing_put(listing, name);
}

enum extract_code control_refuse_name(const struct extract_control *control,
                                      enum extract_target_kind kind, const char *word,
                                      const char *name, struct extract_error *error)
{
    struct extract_listing listing = {.used = 0};
    char hint[sizeof listing.text + 32];

    if (!control->table[kind].bytes)
        return extract_error_set(error, EXTRACT_NOTFOUND, word,
                                 "use group= or event=", "the firmware has no %s",
                                 kind == EXTRACT_TARGET_OBJECT ? "trcsmaftbl" : "trcsigftbl");
    if (kind == EXTRACT_TARGET_GROUP || kind == EXTRACT_TARGET_EVENT)
        rkh_target_filter.list(kind, name, &listing);
    else
        list_known(control, kind, &listing);
    snprintf(hint, sizeof hint, "use one of: %s", listing.text);
    return extract_error_set(error, EXTRACT_NOTFOUND, word, hint,
                             "no such name in the target's filters");
}
