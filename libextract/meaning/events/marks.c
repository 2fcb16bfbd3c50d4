// SPDX-License-Identifier: MIT
// events: markers, which are events that no target wrote: what a recorder noted between the entries
// of a log, and what is missing or damaged in a ring.
//
// Each marker has an event type in the table below, so that reports, filters and templates treat it
// like any other event. It has no timestamp of its own: it gets number and time of the reader that
// meets it.
#include "events/events_room.h"

#define MARK(kind, symbol, name)                                                                   \
    {                                                                                              \
        EXTRACT_ID_MARK + (kind), symbol, name, EXTRACT_KERN, 2, false,                            \
        {                                                                                          \
            {"text", EXTRACT_KIND_TEXT},                                                           \
            {                                                                                      \
                "value", EXTRACT_KIND_HEX                                                          \
            }                                                                                      \
        }                                                                                          \
    }

static const struct extract_event_type types[] = {
    {EXTRACT_ID_LOST,
     "RINGSIDE_LOST",
     "events lost",
     EXTRACT_KERN,
     7,
     false,
     {{"reason", EXTRACT_KIND_LOSS},
      {"lost_at_least", EXTRACT_KIND_DEC},
      {"lost_exact", EXTRACT_KIND_BOOL},
      {"modulo", EXTRACT_KIND_DEC},
      {"lost_at_most", EXTRACT_KIND_DEC},
      {"lost_low", EXTRACT_KIND_DEC},
      {"lost_high", EXTRACT_KIND_DEC}}},
    {EXTRACT_ID_DAMAGED,
     "RINGSIDE_DAMAGED",
     "log damaged",
     EXTRACT_KERN,
     1,
     false,
     {{"entries", EXTRACT_KIND_DEC}}},
    {EXTRACT_ID_BROKEN,
     "RINGSIDE_BROKEN",
     "entries damaged",
     EXTRACT_KERN,
     3,
     false,
     {{"reason", EXTRACT_KIND_VERDICT},
      {"entries", EXTRACT_KIND_DEC},
      {"bytes", EXTRACT_KIND_DEC}}},
    MARK(EXTRACT_MARK_START, "RINGSIDE_START", "recording started"),
    {EXTRACT_ID_MARK + EXTRACT_MARK_STOP,
     "RINGSIDE_STOP",
     "recording stopped",
     EXTRACT_KERN,
     1,
     false,
     {{"text", EXTRACT_KIND_TEXT}}},
    MARK(EXTRACT_MARK_FULL, "RINGSIDE_FULL", "log full"),
    MARK(EXTRACT_MARK_RESET, "RINGSIDE_RESET", "trace restarted"),
    MARK(EXTRACT_MARK_GONE, "RINGSIDE_GONE", "target gone"),
    MARK(EXTRACT_MARK_BACK, "RINGSIDE_BACK", "target back"),
    MARK(EXTRACT_MARK_DISABLED, "RINGSIDE_DISABLED", "trace disabled"),
    MARK(EXTRACT_MARK_ENABLED, "RINGSIDE_ENABLED", "trace enabled"),
    {EXTRACT_ID_MARK + EXTRACT_MARK_FILTER,
     "RINGSIDE_FILTER",
     "filter set",
     EXTRACT_KERN,
     2,
     false,
     {{"filter", EXTRACT_KIND_HEX}, {"text", EXTRACT_KIND_TEXT}}},
    MARK(EXTRACT_MARK_ERROR, "RINGSIDE_ERROR", "recording error"),
    MARK(EXTRACT_MARK_CLOCK, "RINGSIDE_CLOCK", "clock went back"),
    MARK(0, "RINGSIDE_MARK", "mark"), // for kinds that a later version writes
};

enum { TYPES = sizeof types / sizeof *types };

const struct extract_event_type *extract_mark_type_at(size_t i)
{
    return i < TYPES ? &types[i] : NULL;
}

const struct extract_event_type *extract_mark_type(uint32_t id)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].id == id)
            return &types[i];
    return &types[TYPES - 1];
}

// Fills everything but the fields, and returns the type.
static const struct extract_event_type *fill_head(const struct extract_reader *reader, uint32_t id,
                                                  struct extract_event *event)
{
    const struct extract_event_type *type = extract_mark_type(id);

    *event = (struct extract_event){.seq = reader->seq,
                                    .ticks = reader->ticks,
                                    .raw_stamp = reader->last_stamp,
                                    .type = type,
                                    .id = type->id,
                                    .priority = EXTRACT_NO_PRIORITY,
                                    .threshold = EXTRACT_NO_PRIORITY,
                                    .flags = reader->untimed ? EXTRACT_FLAG_UNTIMED : 0,
                                    .context = EXTRACT_RECORDER};
    return type;
}

// Makes RINGSIDE_LOST for `at_least` entries and any multiple of `modulo` more; 0 means exactly
// `at_least`. Fields that are not known are left out.
static void put_lost(const struct extract_reader *reader, uint32_t reason, uint64_t at_least,
                     uint64_t modulo, struct extract_event *event)
{
    fill_head(reader, EXTRACT_ID_LOST, event);
    event->field[EXTRACT_LOST_REASON] = reason;
    event->field[EXTRACT_LOST_AT_LEAST] = at_least;
    event->field[EXTRACT_LOST_EXACT] = !modulo;
    event->field[EXTRACT_LOST_MODULO] = modulo;
    event->field[LOST_GAP] = LOST_NO_GAP;
    event->fields =
        modulo > EXTRACT_LOG_ANY_MORE ? EXTRACT_LOST_MODULO + 1 : EXTRACT_LOST_EXACT + 1;
}

void extract_mark_lost(const struct extract_reader *reader, const struct extract_log_block *block,
                       struct extract_event *event)
{
    const struct loss_estimate *likely =
        loss_estimator_find(&reader->trace->estimator, block->index);

    put_lost(reader, block->kind, block->lost, block->modulo, event);
    if (!(block->flags & EXTRACT_LOG_LOSS_HELD))
        event->field[LOST_GAP] = block->index;
    if (!likely)
        return;
    event->field[EXTRACT_LOST_AT_MOST] = likely->at_most;
    event->field[EXTRACT_LOST_LOW] = likely->low;
    event->field[EXTRACT_LOST_HIGH] = likely->high;
    event->fields = EXTRACT_LOST_HIGH + 1;
}

void extract_mark_missing(const struct extract_reader *reader, uint8_t count,
                          struct extract_event *event)
{
    put_lost(reader, EXTRACT_LOSS_NUMBERS, count, UINT8_MAX + 1, event);
}

void extract_mark_damaged(const struct extract_reader *reader, uint64_t entries,
                          struct extract_event *event)
{
    fill_head(reader, EXTRACT_ID_DAMAGED, event);
    event->field[0] = entries;
    event->fields = 1;
}

void extract_mark_broken(const struct extract_reader *reader, enum extract_verdict verdict,
                         uint32_t entries, uint64_t bytes, struct extract_event *event)
{
    fill_head(reader, EXTRACT_ID_BROKEN, event);
    event->field[0] = verdict;
    event->field[1] = entries;
    event->field[2] = bytes;
    event->fields = 3;
}

void extract_mark_put(const struct extract_reader *reader, const struct extract_log_block *block,
                      struct extract_event *event)
{
    uint32_t kind = block->kind <= EXTRACT_MARK_CLOCK ? block->kind : 0;
    const struct extract_event_type *type = fill_head(reader, EXTRACT_ID_MARK + kind, event);

    for (unsigned i = 0; i < type->fields; i++) {
        bool is_text = type->field[i].kind == EXTRACT_KIND_TEXT;
        event->field[i] = is_text ? EXTRACT_TEXT_OF_LOG | block->index : block->value;
        // Only for the filter, a value of 0 has a meaning.
        if (is_text ? block->length != 0 : block->value || kind == EXTRACT_MARK_FILTER)
            event->fields = (uint8_t)(i + 1);
    }
}

bool extract_event_is_break(const struct extract_event *event)
{
    switch (event->id) {
    case EXTRACT_ID_LOST:
    case EXTRACT_ID_DAMAGED:
    case EXTRACT_ID_BROKEN:
    case EXTRACT_ID_MARK + EXTRACT_MARK_START:
    case EXTRACT_ID_MARK + EXTRACT_MARK_RESET:
    case EXTRACT_ID_MARK + EXTRACT_MARK_DISABLED:
    case EXTRACT_ID_MARK + EXTRACT_MARK_ENABLED:
    case EXTRACT_ID_MARK + EXTRACT_MARK_CLOCK:
        return true;
    default:
        return false;
    }
}
