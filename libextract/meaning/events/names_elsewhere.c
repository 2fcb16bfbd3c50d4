// SPDX-License-Identifier: MIT
// events: names and priorities that the trace does not state: those of the firmware's ELF, and
// those of the control blocks in the target's memory.
#include "events/event_names.h"
#include "kernel/kernel_room.h"
#include <stdlib.h>

enum { BATCH = 256 };

// Looks up the priorities of threads for which no entry states one, in memory and ELF: those of
// threads that keep theirs in all of the trace.
void names_find_priorities(struct build *build)
{
    struct extract_trace *trace = build->trace;
    const struct extract_ring *ring = &trace->snapshot->ring;
    const struct extract_scheduler *kernel = ring->format->kernel;

    if (!kernel)
        return;
    names_note_order(build, kernel->order);
    for (size_t i = 0; kernel->priority && trace->symbols && i < trace->object_count; i++) {
        struct extract_object *object = &trace->objects[i];
        uint64_t address = extract_ring_address(ring, object->address);
        uint16_t priority;
        if (!object->thread || object->priority != EXTRACT_NO_PRIORITY ||
            build->offsets[i].has_priorities)
            continue;
        enum extract_priority_order order =
            kernel->priority(build->memory, trace->symbols, address, &priority);
        names_note_order(build, order);
        // During a loss, priorities may have changed, unless they never do.
        if (order && (kernel->order || !build->has_break)) {
            object->priority = priority;
            object->keeps_priority = true;
        }
    }
}

// ---- names from the control blocks of the kernel ----

// Passes each object that an event is about, and that nothing has named, to `visit`, until that
// returns false.
static void visit_unnamed(struct build *build, void *context,
                          bool (*visit)(struct build *build, void *context, const char *label,
                                        uint64_t address))
{
    const struct extract_trace *trace = build->trace;
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t got;

    extract_reader_init(&reader, trace);
    while ((got = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < got; i++)
            for (unsigned k = 0; k < events[i].fields && k < events[i].type->fields; k++)
                if (events[i].type->field[k].kind == EXTRACT_KIND_OBJECT && events[i].field[k] &&
                    !extract_names_find(trace, false, events[i].field[k], events[i].seq) &&
                    !visit(build, context, events[i].type->field[k].label, events[i].field[k]))
                    return;
}

static bool note_unnamed(struct build *build, void *context, const char *label, uint64_t address)
{
    (void)build;
    (void)label;
    (void)address;
    *(bool *)context = true;
    return false;
}

// Adds an object that the kernel's lists name, unless the trace has one at its address.
static bool add_kernel_object(struct build *build, const struct extract_kernel_object *object)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    struct extract_trace *trace = build->trace;
    struct extract_epoch *epoch = &trace->epochs[trace->epoch_count - 1];
    uint64_t address = object->address;
    const struct extract_object added = {.address = address,
                                         .type_name = object->type,
                                         .param_types = no_params,
                                         .in_use = true,
                                         .priority = EXTRACT_NO_PRIORITY,
                                         .slot = UINT32_MAX};

    if (!object->name[0] || extract_names_find(trace, false, address, UINT64_MAX))
        return true;
    return trace->object_count >= build->max_objects ||
           (names_add_object(build, &added, object->name) &&
            names_enter_object(trace, epoch, trace->object_count - 1, epoch->from));
}

// The objects that no list of the kernel has, as far as they were looked for.
struct unlisted {
    struct extract_kernel *kernel;
    struct extract_map seen; // addresses
    bool fits;
};

static bool add_unlisted(struct build *build, void *context, const char *label, uint64_t address)
{
    struct unlisted *unlisted = context;
    uint32_t *seen = extract_map_at(&unlisted->seen, address);

    if (!seen || *seen)
        return seen != NULL;
    *seen = 1;
    const struct extract_kernel_object *object =
        kernel_read_object(unlisted->kernel, build->memory, build->trace->symbols, label, address);
    unlisted->fits = !object || add_kernel_object(build, object);
    return unlisted->fits;
}

bool names_add_kernel(struct build *build)
{
    struct extract_trace *trace = build->trace;
    struct unlisted unlisted = {.fits = true};
    bool has_unnamed = false;

    if (!build->memory || !trace->symbols || !trace->snapshot->ring.format->kernel)
        return true;
    visit_unnamed(build, &has_unnamed, note_unnamed);
    if (!has_unnamed)
        return true;
    // Without a kernel that can be read, addresses and symbols remain.
    extract_kernel_read_states(&unlisted.kernel, build->memory, trace->symbols, NULL);
    struct extract_kernel *kernel = unlisted.kernel;
    for (size_t i = 0; kernel && i < kernel->object_count && unlisted.fits; i++)
        unlisted.fits = add_kernel_object(build, &kernel->objects[i]);
    if (kernel && unlisted.fits && extract_map_init(&unlisted.seen, 64)) {
        visit_unnamed(build, &unlisted, add_unlisted);
        extract_map_free(&unlisted.seen);
    }
    extract_kernel_free(kernel);
    return unlisted.fits;
}

// ---- names from the ELF only ----

// Adds the name of a signal from the ELF, in every run whose entries do not name the signal.
static bool add_signal(void *context, uint64_t number, const char *name)
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
        if (!is_added &&
            (trace->object_count >= build->max_objects || !names_add_object(build, &object, name)))
            return trace->object_count >= build->max_objects;
        is_added = true;
        if (!names_enter_version(trace, &epoch->by_address, trace->object_count - 1, epoch->from))
            return false;
    }
    return true;
}

enum extract_code names_add_signals(struct build *build, struct extract_error *error)
{
    struct extract_trace *trace = build->trace;
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct extract_numbers numbers = {.count = 0};

    if (!trace->symbols || !ring->format->describing)
        return EXTRACT_OK;
    names_set_pointers(build); // the list below points to names
    struct extract_number *list = extract_signals_list(trace, &numbers.count);
    numbers.list = list;
    trace->has_unnamed = false;
    enum extract_code code = EXTRACT_NOMEM;
    if (list)
        code = ring->format->describing->name_signals(ring, trace->symbols, &numbers, add_signal,
                                                      build, &trace->signals, error);
    else
        extract_error_set(error, EXTRACT_NOMEM, "names of signals", NULL, "out of memory");
    free(list);
    trace->info.signals = &trace->signals;
    return code;
}
