// SPDX-License-Identifier: MIT
// formats/hook: translates events for the schedule, by the lines of role files.
//
// A value that an entry lacks is not 0: a line that needs it does not apply to the entry. Only the
// caller of a lock's function may be absent, since it changes nothing else: 0 means not known.
//
// In a merged log of several boards, lines apply to the values as the targets recorded them. The
// threads, processes and locks that are found then get the bits of their board, as the thread ids
// of the entries have them.
#include "formats/hook/hook.h"
#include "formats/hook/roles.h"
#include <string.h>

// Adds the bits of the event's board to an address, or removes them. 0 and all ones stand for
// nothing.
static uint64_t with_board(const struct extract_event *event, uint64_t address)
{
    bool is_address = address && address != UINT32_MAX && address != UINT64_MAX;

    return is_address ? address ^ (uint64_t)hook_board_of(event) << 32 : address;
}

// Reads a value from an entry. Returns false if the entry does not have it.
static bool read_value(const struct extract_ring *ring, const struct extract_event *event,
                       const struct hook_expression *from, uint64_t *value)
{
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, ring->byte_order);
    struct hook_word word;
    uint64_t found = 0;
    bool exists = true;

    hook_word_read(&word, &c, event->priority_word & HOOK_FRAME_WIDE);
    switch (from->source) {
    case HOOK_CONSTANT:
        found = from->constant;
        break;
    case HOOK_WORD:
        exists = from->index < event->fields;
        found = exists ? event->field[from->index] : 0;
        break;
    case HOOK_DATA:
        found = word.data;
        break;
    case HOOK_TID:
        exists = event->priority_word & HOOK_FRAME_TID;
        found = with_board(event, event->thread);
        break;
    default: // HOOK_BYTES
        extract_cursor_span(&c, from->index);
        found = extract_cursor_number(&c, from->length);
        break;
    }
    *value = found >> from->shift & from->mask;
    return exists && !c.failed;
}

// Returns whether a line applies to an event, and stores the values that it takes from it.
static bool applies(const struct extract_ring *ring, const struct extract_event *event,
                    const struct hook_role *role, uint64_t values[HOOK_VALUES])
{
    uint64_t value;

    for (unsigned i = 0; i < role->condition_count; i++) {
        const struct hook_condition *condition = &role->conditions[i];
        if (!read_value(ring, event, &condition->left, &value) ||
            (value == condition->right) == condition->is_unequal)
            return false;
    }
    for (unsigned i = 0; i < HOOK_VALUES; i++) {
        if (!role->values[i].source || read_value(ring, event, &role->values[i], &values[i]))
            continue;
        if (i != HOOK_CALLER)
            return false;
        values[i] = 0;
    }
    return true;
}

// Replaces the data of an event by the name that they contain.
static void select_name(struct extract_event *event, const struct hook_role *role)
{
    uint32_t unit = event->priority_word & HOOK_FRAME_WIDE ? 8 : 4;
    uint32_t at = unit + role->name_at;

    at = at < event->data_bytes ? at : event->data_bytes;
    event->data += at;
    event->data_bytes -= at;
}

const struct extract_role_fields *hook_translate(const struct extract_ring *ring,
                                                 struct extract_event *event)
{
    static const bool is_owned[HOOK_VALUES] = {
        [HOOK_THREAD] = true, [HOOK_OLD] = true, [HOOK_PROCESS] = true, [HOOK_LOCK] = true};
    const struct extract_hook_roles *roles = ring->hook_roles;

    if (!roles || event->id >= HOOK_IDS)
        return NULL;
    for (uint16_t i = roles->first[event->id]; i; i = roles->list[i - 1].next) {
        uint64_t values[HOOK_VALUES] = {0};
        if (!applies(ring, event, &roles->list[i - 1], values))
            continue;
        memset(event->field, 0, sizeof event->field);
        for (unsigned k = 0; k < HOOK_VALUES; k++)
            if (roles->list[i - 1].values[k].source)
                event->field[hook_field(k)] =
                    is_owned[k] ? with_board(event, values[k]) : values[k];
        if (roles->list[i - 1].fields.has_name)
            select_name(event, &roles->list[i - 1]);
        return &roles->list[i - 1].fields;
    }
    return NULL;
}

static bool lacks_context(const struct extract_ring *ring)
{
    return ring->hook_roles != NULL;
}

static bool lacks_waits(const struct extract_ring *ring)
{
    return ring->hook_roles && !ring->hook_roles->shows_waits;
}

const struct extract_scheduler hook_kernel = {
    .translate = hook_translate,
    .lacks_context = lacks_context,
    .lacks_waits = lacks_waits,
    .way_out = "say with --roles which hooks are switches; see ringside-roles(5)",
};
