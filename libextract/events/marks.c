// SPDX-License-Identifier: MIT
// events: the types of the marks that stand between the entries of a log, or of a ring.
#include "events/room.h"

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
     4,
     false,
     {{"reason", EXTRACT_KIND_LOSS},
      {"lost", EXTRACT_KIND_DEC},
      {"estimate", EXTRACT_KIND_BOOL},
      {"modulo", EXTRACT_KIND_DEC}}},
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
    MARK(EXTRACT_MARK_STOP, "RINGSIDE_STOP", "recording stopped"),
    MARK(EXTRACT_MARK_FULL, "RINGSIDE_FULL", "log full"),
    MARK(EXTRACT_MARK_RESET, "RINGSIDE_RESET", "target reset"),
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
    MARK(0, "RINGSIDE_MARK", "mark"), // of a kind that a later version writes
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

static const struct extract_event_type *put_head(const struct extract_reader *reader, uint32_t id,
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
                                    .context = EXTRACT_RECORDER};
    return type;
}

void extract_mark_lost(const struct extract_reader *reader, const struct extract_log_block *block,
                       struct extract_event *event)
{
    bool exact = block->flags & EXTRACT_LOG_LOSS_EXACT;
    bool modulo = block->flags & EXTRACT_LOG_LOSS_MODULO;
    put_head(reader, EXTRACT_ID_LOST, event);
    event->field[0] = block->kind;
    event->field[1] = block->lost;
    event->field[2] = !exact;
    event->field[3] = block->modulo;
    // A number that nobody knows is not shown.
    event->fields = exact ? 3 : modulo ? 4 : 1;
}

void extract_mark_missing(const struct extract_reader *reader, uint8_t count,
                          struct extract_event *event)
{
    put_head(reader, EXTRACT_ID_LOST, event);
    event->field[0] = EXTRACT_LOSS_NUMBERS;
    event->field[1] = count;
    event->field[2] = true;
    event->field[3] = UINT8_MAX + 1;
    event->fields = 4;
}

void extract_mark_damaged(const struct extract_reader *reader, uint64_t entries,
                          struct extract_event *event)
{
    put_head(reader, EXTRACT_ID_DAMAGED, event);
    event->field[0] = entries;
    event->fields = 1;
}

void extract_mark_broken(const struct extract_reader *reader, enum extract_verdict verdict,
                         uint32_t entries, uint64_t bytes, struct extract_event *event)
{
    put_head(reader, EXTRACT_ID_BROKEN, event);
    event->field[0] = verdict;
    event->field[1] = entries;
    event->field[2] = bytes;
    event->fields = 3;
}

void extract_mark_put(const struct extract_reader *reader, const struct extract_log_block *block,
                      struct extract_event *event)
{
    uint32_t kind = block->kind <= EXTRACT_MARK_ERROR ? block->kind : 0;
    const struct extract_event_type *type = put_head(reader, EXTRACT_ID_MARK + kind, event);
    for (unsigned i = 0; i < type->fields; i++) {
        bool text = type->field[i].kind == EXTRACT_KIND_TEXT;
        event->field[i] = text ? EXTRACT_TEXT_OF_LOG | block->index : block->value;
        // A value of 0 means something for the filter only.
        if (text ? block->length != 0 : block->value || kind == EXTRACT_MARK_FILTER)
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
        return true;
    default:
        return false;
    }
}
