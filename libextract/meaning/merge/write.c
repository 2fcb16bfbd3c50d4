// SPDX-License-Identifier: MIT
// merge: writes the merged log: the events of all inputs in order of time.
//
// Every input is read through a buffer of a few hundred events. The next event is always the
// earliest one at the front of a buffer. An event of a snapshot that is at the front of another
// snapshot's buffer, too, is taken from both:
//
//     snapshot 1   … 7 8 9                    written   … 7 8 9 10 11
//     snapshot 2         8 9 10 11                          ▲ ▲ in both
//
// What an input reports as missing is written as a loss, unless another snapshot contains that
// time without a gap.
#include "events/events_room.h"
#include "merge/merge.h"
#include <stdio.h>
#include <string.h>

enum {
    BUFFER = 256,
    BLOCK_ENTRIES = 1024,
    BLOCK_BYTES = 1 << 16, // of entries of a byte ring; the last one may pass it
    NAMES_HEADER = 8,      // bytes of a block of names before the names
    TEXT = 512
};

// An input that is being read.
struct source {
    struct merge_input *input;
    struct extract_reader reader;
    struct extract_event *events; // BUFFER of them
    size_t at, count;             // the events from `at` on have not been taken
    int64_t time; // of the event at the front; never less than that of an earlier one
    int64_t last; // time of the last entry that was taken
    bool has_ended;
    bool was_mark; // a marker was taken, and no entry after it
    bool has_begun;
};

struct output {
    struct merge *merge;
    struct extract_log_writer *log;
    struct source *sources;
    struct extract_event *events;     // the buffers of all sources
    uint8_t *bytes;                   // entries that are not written yet
    uint32_t used;                    // bytes of them
    uint32_t entry_count;             // number of them
    uint64_t total;                   // bytes of entries that were written
    bool is_stream;                   // the entries are those of a byte ring
    bool is_broken;                   // they do not continue those that were written
    uint64_t first_stamp, last_stamp; // of these entries
    uint64_t next;                    // number of the next entry
    uint64_t wall;                    // of the newest block; 0: not known
    bool has_walls;                   // all inputs state when they were read
    struct extract_error *error;
};

// ---- reading ----

static const struct extract_event *front_of(const struct source *source)
{
    return &source->events[source->at];
}

// Reads more events behind those in the buffer.
static void read_more(struct source *source)
{
    size_t left = source->count - source->at;

    memmove(source->events, source->events + source->at, left * sizeof *source->events);
    source->at = 0;
    source->count =
        left + merge_read(source->input, &source->reader, source->events + left, BUFFER - left);
}

// Updates the state of a source after the event at its front has changed.
static void look_at_front(struct source *source)
{
    if (source->at == source->count)
        read_more(source);
    source->has_ended = source->at == source->count;
    if (source->has_ended)
        return;
    int64_t time = merge_time(source->input, front_of(source)->ticks);
    source->time = time > source->time ? time : source->time;
}

static void take_front(struct source *source)
{
    const struct extract_event *event = front_of(source);

    source->was_mark = extract_event_is_mark(event);
    if (!source->was_mark) {
        source->has_begun = true;
        source->last = source->time;
    }
    source->at++;
    look_at_front(source);
}

// Returns the time of the next entry of a source after the event at its front; its time now if
// there is none in the buffer.
static int64_t next_entry_time(struct source *source)
{
    read_more(source);
    for (size_t i = source->at + 1; i < source->count; i++)
        if (!extract_event_is_mark(&source->events[i]))
            return merge_time(source->input, source->events[i].ticks);
    return source->time;
}

// ---- writing ----

static enum extract_code put_block(struct output *out, struct extract_log_block *block,
                                   const void *payload)
{
    if (out->merge->options.must_end && out->merge->options.must_end())
        return extract_error_set(out->error, EXTRACT_IO, "merge", NULL, "interrupted");
    block->wall = out->has_walls ? out->wall : 0;
    return extract_log_put(out->log, block, payload, out->error);
}

// Writes the entries that are waiting. The last `provisional` ones may not be final; entries of
// byte rings are.
static enum extract_code flush_entries(struct output *out, uint32_t provisional)
{
    bool is_provisional = provisional && !out->is_stream;
    struct extract_log_block block = {
        .type = out->is_stream ? EXTRACT_LOG_BYTES : EXTRACT_LOG_ENTRIES,
        .flags = (out->is_stream ? 0u : (unsigned)EXTRACT_LOG_STAMPS) |
                 (is_provisional ? (unsigned)EXTRACT_LOG_PROVISIONAL : 0u),
        .length = out->used,
        .count = out->entry_count,
        .provisional = is_provisional ? provisional : 0,
        .first = out->next - out->entry_count,
        .first_stamp = out->is_stream ? 0 : out->first_stamp,
        .last_stamp = out->is_stream ? 0 : out->last_stamp};

    if (!out->entry_count)
        return EXTRACT_OK;
    out->total += out->used;
    if (out->is_stream && out->total > EXTRACT_RING_LIMIT)
        return extract_error_set(out->error, EXTRACT_LIMIT, "merge",
                                 "merge fewer or shorter inputs",
                                 "the log would have more than 256 MiB of entries");
    out->entry_count = out->used = 0;
    out->is_broken = false;
    return put_block(out, &block, out->bytes);
}

// Changes an event of an input to what the log contains: its time, its core and its addresses.
static void translate(const struct output *out, const struct source *source,
                      struct extract_event *event)
{
    const struct merge *merge = out->merge;
    const struct merge_input *input = source->input;
    const struct extract_encoding *encoding = &input->encoding;

    if (!input->is_untimed)
        event->raw_stamp = merge->start + (uint64_t)merge_time(input, event->ticks);
    event->core = (uint8_t)(event->core + input->first_core);
    if (event->context != EXTRACT_INIT)
        event->thread = extract_encode_address(encoding, event->thread);
    for (unsigned i = 0; i < event->fields && i < EXTRACT_FIELDS_MAX; i++) {
        enum extract_kind kind = event->type->field[i].kind;
        if (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE)
            event->field[i] = extract_encode_address(encoding, event->field[i]);
    }
}

// Adds a byte that must precede the first entry after a gap.
static void add_separator(struct output *out)
{
    uint8_t separator = out->merge->ring.format->encoder->separator;

    if (!separator || !out->is_broken || out->entry_count)
        return;
    out->bytes[out->used++] = separator;
    out->entry_count++;
    out->next++;
}

static enum extract_code write_loss(struct output *out, enum extract_log_loss kind, uint64_t lost,
                                    uint64_t modulo);

static enum extract_code write_entry(struct output *out, const struct source *source,
                                     struct extract_event event)
{
    struct extract_encoding *encoding = &source->input->encoding;
    bool is_provisional = event.flags & EXTRACT_FLAG_PROVISIONAL && !out->is_stream;

    translate(out, source, &event);
    add_separator(out);
    if (!out->entry_count)
        out->first_stamp = event.raw_stamp;
    out->last_stamp = event.raw_stamp;
    out->wall = source->reader.wall_ns > out->wall ? source->reader.wall_ns : out->wall;
    encoding->sequence = (uint8_t)out->next;
    uint32_t bytes =
        out->merge->ring.format->encoder->entry(encoding, &event, out->bytes + out->used);
    if (!bytes)
        return write_loss(out, EXTRACT_LOSS_LOG_FULL, 1, 0);
    out->used += bytes;
    out->entry_count++;
    out->next++;
    bool is_full = out->is_stream ? out->used >= BLOCK_BYTES : out->entry_count == BLOCK_ENTRIES;
    return is_provisional || is_full ? flush_entries(out, is_provisional) : EXTRACT_OK;
}

// Writes a loss of `lost` entries, and any multiple of `modulo` more.
static enum extract_code write_loss(struct output *out, enum extract_log_loss kind, uint64_t lost,
                                    uint64_t modulo)
{
    enum extract_code code = flush_entries(out, 0);

    if (code)
        return code;
    lost = lost < INT64_MAX - out->next ? lost : 0;
    out->next += lost;
    out->is_broken = true;
    out->merge->gaps++;
    // The host's time does not show how long the gap is.
    struct extract_log_block block = {.type = EXTRACT_LOG_LOSS,
                                      .kind = (uint16_t)kind,
                                      .flags = EXTRACT_LOG_LOSS_HELD,
                                      .first = out->next,
                                      .lost = lost,
                                      .modulo = modulo};
    return put_block(out, &block, NULL);
}

static enum extract_code write_mark(struct output *out, enum extract_log_mark kind, uint64_t value,
                                    const char *text, size_t length)
{
    enum extract_code code = flush_entries(out, 0);
    struct extract_log_block block = {.type = EXTRACT_LOG_MARK,
                                      .kind = (uint16_t)kind,
                                      .length = (uint32_t)length,
                                      .first = out->next,
                                      .value = value};

    return code ? code : put_block(out, &block, text);
}

// ---- markers and gaps of inputs ----

// Returns whether another snapshot contains all events from a time to another.
static bool is_covered(const struct output *out, const struct source *source, int64_t from,
                       int64_t to)
{
    const struct merge *merge = out->merge;

    if (merge->options.kind != MERGE_SNAPSHOTS)
        return false;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_input *other = &merge->inputs[i];
        if (other != source->input && other->is_whole &&
            merge_time(other, other->ticks_first) <= from &&
            merge_time(other, other->ticks_last) >= to)
            return true;
    }
    return false;
}

// Writes what RINGSIDE_LOST, RINGSIDE_DAMAGED or RINGSIDE_BROKEN of an input reports.
static enum extract_code copy_loss(struct output *out, const struct extract_event *event)
{
    uint64_t reason = event->field[EXTRACT_LOST_REASON];
    bool has_modulo = event->fields > EXTRACT_LOST_MODULO && event->field[EXTRACT_LOST_MODULO];
    uint64_t modulo = event->field[EXTRACT_LOST_EXACT] ? 0
                      : has_modulo                     ? event->field[EXTRACT_LOST_MODULO]
                                                       : EXTRACT_LOG_ANY_MORE;

    if (event->id == EXTRACT_ID_DAMAGED)
        return write_loss(out, EXTRACT_LOSS_UNREADABLE, event->field[0], EXTRACT_LOG_ANY_MORE);
    if (event->id == EXTRACT_ID_BROKEN)
        return write_loss(out, EXTRACT_LOSS_TORN, event->field[1], EXTRACT_LOG_ANY_MORE);
    // The sum of the losses of one input says nothing of the merged log.
    if (reason == EXTRACT_LOSS_EARLIER || !reason || reason >= EXTRACT_LOSS_REASONS)
        reason = EXTRACT_LOSS_LAPPED;
    return write_loss(out, (enum extract_log_loss)reason, event->field[EXTRACT_LOST_AT_LEAST],
                      modulo);
}

// Writes a marker of an input, with the input's name before its text.
static enum extract_code copy_mark(struct output *out, const struct source *source,
                                   const struct extract_event *event)
{
    uint32_t kind = event->id - EXTRACT_ID_MARK;
    uint64_t value = 0;
    struct extract_text text;

    extract_text_init(&text, NULL, NULL);
    extract_text_printf(&text, "%s", source->input->name);
    for (unsigned i = 0; i < event->fields; i++) {
        if (event->type->field[i].kind != EXTRACT_KIND_TEXT)
            value = event->field[i];
        else
            extract_text_puts(&text, ": ");
        if (event->type->field[i].kind == EXTRACT_KIND_TEXT)
            extract_trace_text(source->input->trace, event->field[i], &text);
    }
    enum extract_code code =
        text.code ? extract_error_set(out->error, text.code, "merge", NULL, "out of memory")
                  : write_mark(out, (enum extract_log_mark)kind, value, text.data,
                               text.used < TEXT ? text.used : TEXT);
    extract_text_free(&text);
    return code;
}

static enum extract_code take_mark(struct output *out, struct source *source)
{
    struct extract_event event = *front_of(source);
    enum extract_code code = EXTRACT_OK;

    switch (event.id) {
    case EXTRACT_ID_LOST:
    case EXTRACT_ID_DAMAGED:
    case EXTRACT_ID_BROKEN:
        if (!is_covered(out, source, source->last, next_entry_time(source)))
            code = copy_loss(out, &event);
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_START:
    case EXTRACT_ID_MARK + EXTRACT_MARK_RESET:
    case EXTRACT_ID_MARK + EXTRACT_MARK_CLOCK:
        if (source->has_begun && !is_covered(out, source, source->last, next_entry_time(source)))
            code = write_loss(out, EXTRACT_LOSS_RESET, 0, EXTRACT_LOG_ANY_MORE);
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_GONE:
    case EXTRACT_ID_MARK + EXTRACT_MARK_BACK:
    case EXTRACT_ID_MARK + EXTRACT_MARK_DISABLED:
    case EXTRACT_ID_MARK + EXTRACT_MARK_ENABLED:
    case EXTRACT_ID_MARK + EXTRACT_MARK_FILTER:
    case EXTRACT_ID_MARK + EXTRACT_MARK_ERROR:
        code = copy_mark(out, source, &event);
        break;
    default: // the ends of recordings
        break;
    }
    take_front(source);
    return code;
}

// Writes the gap before the event at the front of a source, if there is one.
static enum extract_code take_gap(struct output *out, struct source *source)
{
    bool is_gap = front_of(source)->flags & EXTRACT_FLAG_GAP && !source->was_mark;

    if (!source->has_begun && source->input->gap)
        return write_loss(out, source->input->gap, 0, EXTRACT_LOG_ANY_MORE);
    if (!source->has_begun || !is_gap || is_covered(out, source, source->last, source->time))
        return EXTRACT_OK;
    return write_loss(out, EXTRACT_LOSS_TORN, 1, EXTRACT_LOG_ANY_MORE);
}

// ---- the merge ----

// Returns the place of an event among those at the front of a source that have its time; SIZE_MAX:
// it is not there.
static size_t find_twin(const struct source *source, const struct extract_event *event,
                        int64_t time)
{
    for (size_t i = source->at; i < source->count; i++) {
        if (extract_event_is_mark(&source->events[i]) ||
            merge_time(source->input, source->events[i].ticks) != time)
            break;
        if (merge_is_same(&source->events[i], event))
            return i - source->at;
    }
    return SIZE_MAX;
}

// Takes the event at the front of a source, which is the earliest one, and the same event of all
// other snapshots.
static enum extract_code take_entry(struct output *out, struct source *source)
{
    bool is_joined = out->merge->options.kind == MERGE_SNAPSHOTS;
    const struct source *last = out->sources + out->merge->count;

    // If another snapshot has events before this one at the same time, they come first.
    for (struct source *other = out->sources; is_joined && other < last; other++) {
        if (other == source || other->has_ended || other->time != source->time ||
            extract_event_is_mark(front_of(other)))
            continue;
        size_t place = find_twin(other, front_of(source), source->time);
        if (place != SIZE_MAX && place &&
            find_twin(source, front_of(other), source->time) == SIZE_MAX) {
            source = other;
            break;
        }
    }
    enum extract_code code = take_gap(out, source);
    struct extract_event event = *front_of(source);
    int64_t time = source->time;
    take_front(source);
    for (struct source *other = out->sources; is_joined && other < last; other++) {
        if (other == source || other->has_ended || other->time != time ||
            extract_event_is_mark(front_of(other)) || !merge_is_same(front_of(other), &event))
            continue;
        if (event.flags & EXTRACT_FLAG_PROVISIONAL) {
            uint64_t ticks = event.ticks;
            event = *front_of(other);
            event.ticks = ticks;
        }
        other->input->duplicates++;
        take_front(other);
    }
    return code ? code : write_entry(out, source, event);
}

// Finds the source with the earliest event, and the time up to which it remains the earliest. Of
// events at the same time, markers come first, since they may hide an entry that another source
// has, too. Returns NULL at the end.
static struct source *find_earliest(struct output *out, int64_t *until)
{
    struct source *earliest = NULL;

    *until = INT64_MAX;
    for (size_t i = 0; i < out->merge->count; i++) {
        struct source *source = &out->sources[i];
        if (source->has_ended)
            continue;
        bool is_mark = extract_event_is_mark(front_of(source));
        if (!earliest || source->time < earliest->time ||
            (source->time == earliest->time && is_mark &&
             !extract_event_is_mark(front_of(earliest)))) {
            *until = earliest ? earliest->time : INT64_MAX;
            earliest = source;
        } else if (source->time < *until) {
            *until = source->time;
        }
    }
    return earliest;
}

// Writes a marker when the trace of a board ends before the others: what the board did from then on
// is not known.
static enum extract_code end_source(struct output *out, const struct source *source)
{
    char text[TEXT];
    bool is_last = true;

    for (size_t i = 0; i < out->merge->count; i++)
        is_last &= out->sources[i].has_ended;
    if (is_last || out->merge->options.kind != MERGE_BOARDS)
        return EXTRACT_OK;
    snprintf(text, sizeof text, "%s ends here", source->input->name);
    return write_mark(out, EXTRACT_MARK_DISABLED, 0, text, strlen(text));
}

static enum extract_code write_events(struct output *out)
{
    enum extract_code code = EXTRACT_OK;
    struct source *source;
    int64_t until;

    while (!code && (source = find_earliest(out, &until))) {
        do {
            code = extract_event_is_mark(front_of(source)) ? take_mark(out, source)
                                                           : take_entry(out, source);
        } while (!code && !source->has_ended && source->time < until);
        if (!code && source->has_ended)
            code = end_source(out, source);
    }
    return code ? code : flush_entries(out, 0);
}

// Appends how the clock of an input was aligned to the text of the marker START.
static void describe(struct extract_text *text, const struct merge_input *input)
{
    const struct merge_line *clock = &input->clock;

    extract_text_printf(text, "; %s: %+.1f ticks, rate %.9f", input->name, input->shift,
                        clock->rate);
    if (clock->certainty <= MERGE_LIKELY)
        extract_text_printf(text, ", %suncertain by %.1f ticks",
                            clock->certainty == MERGE_LIKELY ? "likely " : "", clock->uncertainty);
    else
        extract_text_puts(text,
                          clock->certainty == MERGE_GIVEN ? ", as given" : ", uncertainty unknown");
}

// Returns which cores of an input are the first ones of a board: bit i for its core i. In a log of
// several cores, core 0 always is, which distinguishes that log from others.
static uint64_t board_starts(const struct merge *merge, const struct merge_input *input)
{
    const uint64_t own = input->trace->board_starts;
    const bool is_board = merge->options.kind == MERGE_BOARDS || !input->first_core;

    return merge->options.kind == MERGE_SNAPSHOTS ? own : (own & ~UINT64_C(1)) | is_board;
}

// Writes the marker START, whose text describes the merge.
static enum extract_code write_start(struct output *out)
{
    const struct merge *merge = out->merge;
    struct extract_text text;
    uint64_t starts = 0; // bit i: core i is the first one of a board

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_input *input = &merge->inputs[i];
        const uint64_t own = board_starts(merge, input);
        starts |= input->first_core < 64 ? own << input->first_core : 0;
    }
    extract_text_init(&text, NULL, NULL);
    extract_text_printf(&text, EXTRACT_LOG_MERGED "%zu inputs", merge->count);
    for (size_t i = 1; i < merge->count && merge->options.kind != MERGE_SNAPSHOTS; i++)
        if (text.used < TEXT)
            describe(&text, &merge->inputs[i]);
    enum extract_code code =
        text.code ? extract_error_set(out->error, text.code, "merge", NULL, "out of memory")
                  : write_mark(out, EXTRACT_MARK_START, starts, text.data, text.used);
    extract_text_free(&text);
    return code;
}

// Writes how many events the targets did not record, by the counts in the rings. Nothing states
// when, so that this loss is at the end. Snapshots of one ring have one count.
static enum extract_code write_unrecorded(struct output *out)
{
    const struct merge *merge = out->merge;
    bool is_one_ring = merge->options.kind == MERGE_SNAPSHOTS;
    uint64_t lost = 0;

    for (size_t i = 0; i < merge->count; i++) {
        uint64_t own = extract_trace_info(merge->inputs[i].trace)->log
                           ? 0
                           : extract_trace_snapshot(merge->inputs[i].trace)->unwritten;
        own = own < UINT32_MAX ? own : UINT32_MAX;
        lost = !is_one_ring ? lost + own : own > lost ? own : lost;
    }
    return lost ? write_loss(out, EXTRACT_LOSS_REFUSED, lost, 0) : EXTRACT_OK;
}

// Returns the bytes of a name in the table of names of user events.
static uint32_t name_slot_bytes(const struct merge *merge)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < merge->user_count; i++) {
        size_t length = strlen(merge->user_names[i]);
        longest = length > longest ? length : longest;
    }
    return (uint32_t)(longest / 4 + 1) * 4;
}

// Writes the names of the types of user events.
static enum extract_code write_names(struct output *out)
{
    const struct merge *merge = out->merge;
    uint32_t slot_bytes = name_slot_bytes(merge);
    uint64_t length = NAMES_HEADER + (uint64_t)merge->user_count * slot_bytes;
    struct extract_log_block block = {.type = EXTRACT_LOG_NAMES, .length = (uint32_t)length};
    uint8_t *payload = length < EXTRACT_RING_LIMIT ? calloc(1, (size_t)length) : NULL;

    if (!payload)
        return extract_error_set(out->error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    extract_log_store(payload, slot_bytes, 4);
    extract_log_store(payload + 4, merge->ring.format->user_ids, 4);
    for (uint32_t i = 0; i < merge->user_count; i++)
        memcpy(payload + NAMES_HEADER + (size_t)i * slot_bytes, merge->user_names[i],
               strlen(merge->user_names[i]));
    enum extract_code code = put_block(out, &block, payload);
    free(payload);
    return code;
}

// Skips the entries at the start of a snapshot that have no timestamp of their own, if another
// snapshot begins before them and has them, too: there they have the time of the entry before them.
static void skip_unstamped(struct output *out, struct source *source)
{
    const struct merge *merge = out->merge;
    bool (*has_stamp)(const struct extract_event *) = merge->ring.format->encoder->has_stamp;
    bool is_known = false;

    if (!has_stamp || merge->options.kind != MERGE_SNAPSHOTS || source->has_ended ||
        source->input->is_constant)
        return;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_input *other = &merge->inputs[i];
        is_known |= other != source->input && other->is_whole &&
                    merge_time(other, other->ticks_first) < source->time &&
                    merge_time(other, other->ticks_last) >= source->time;
    }
    while (is_known && !source->has_ended && !extract_event_is_mark(front_of(source)) &&
           !has_stamp(front_of(source))) {
        source->input->duplicates++;
        take_front(source);
    }
}

static bool open_sources(struct output *out)
{
    size_t count = out->merge->count;

    out->sources = calloc(count, sizeof *out->sources);
    out->events = malloc(count * BUFFER * sizeof *out->events);
    out->is_stream = out->merge->ring.format->stream != NULL;
    out->is_broken = true;
    out->bytes =
        malloc(out->is_stream ? (size_t)BLOCK_BYTES + EXTRACT_ENCODED_CAPACITY
                              : (size_t)BLOCK_ENTRIES * out->merge->ring.entries.slot_bytes);
    if (!out->sources || !out->events || !out->bytes)
        return false;
    out->has_walls = true;
    for (size_t i = 0; i < count; i++) {
        struct source *source = &out->sources[i];
        source->input = &out->merge->inputs[i];
        source->events = out->events + i * BUFFER;
        source->time = source->last = INT64_MIN;
        source->input->duplicates = 0;
        extract_reader_init(&source->reader, source->input->trace);
        source->reader.has_addresses = true;
        look_at_front(source);
        skip_unstamped(out, source);
        out->has_walls &= extract_trace_info(source->input->trace)->log != NULL;
    }
    return true;
}

// Returns the address of the program's entry point that an input states; 0: none.
static uint64_t program_of(const struct merge_input *input)
{
    uint64_t entry = extract_trace_snapshot(input->trace)->ring.posix.entry;
    struct extract_log_snapshots *snapshots = input->trace->snapshots;

    if (snapshots && !extract_log_program(extract_log_snapshots_log(snapshots), &entry))
        return 0;
    return entry;
}

// Writes where the program was loaded, so that the log finds its symbols as the inputs do. Boards
// have programs of their own, and the addresses of the first one are unchanged.
static enum extract_code write_program(struct output *out)
{
    const struct merge *merge = out->merge;
    size_t count = merge->options.kind == MERGE_BOARDS ? 1 : merge->count;
    uint64_t entry = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t own = program_of(&merge->inputs[i]);
        if (own && entry && own != entry)
            return EXTRACT_OK; // it was started several times
        entry = own ? own : entry;
    }
    return entry ? extract_log_put_program(out->log, entry, out->error) : EXTRACT_OK;
}

enum extract_code merge_write(struct merge *merge, struct extract_log_writer *log,
                              struct extract_error *error)
{
    struct output out = {.merge = merge, .log = log, .error = error};
    enum extract_code code = EXTRACT_OK;

    if (!open_sources(&out))
        code = extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    if (!code)
        code = extract_log_put_ring(log, &merge->ring, error);
    if (!code && merge->registry_bytes)
        code = extract_log_put_objects(log, merge->ring.registry.start, merge->registry,
                                       merge->registry_bytes, error);
    if (!code && merge->object_names.used)
        code = extract_log_put_objects(log, 0, merge->object_names.data, merge->object_names.used,
                                       error);
    if (!code && merge->user_count && merge->ring.format->encoder->has_names)
        code = write_names(&out);
    if (!code)
        code = write_program(&out);
    if (!code)
        code = write_start(&out);
    if (!code)
        code = write_events(&out);
    if (!code)
        code = write_unrecorded(&out);
    if (!code)
        code = write_mark(&out, EXTRACT_MARK_STOP, 0, NULL, 0);
    for (size_t i = 0; i < merge->count && !code; i++) {
        struct merge_input *input = &merge->inputs[i];
        input->first = (uint64_t)(merge_time(input, input->ticks_first) - merge->origin);
        input->last = (uint64_t)(merge_time(input, input->ticks_last) - merge->origin);
    }
    free(out.sources);
    free(out.events);
    free(out.bytes);
    return code;
}

uint32_t merge_section_bytes(const struct merge *merge)
{
    enum { LEAST = 1 << 20, MOST = 1 << 26, STEP = 4096 };
    uint64_t names = merge->ring.format->encoder->has_names
                         ? (uint64_t)merge->user_count * name_slot_bytes(merge)
                         : 0;
    names += merge->object_names.used;
    uint64_t wanted = ((merge->registry_bytes + names) * 4 + STEP - 1) / STEP * STEP;

    return wanted < LEAST ? LEAST : wanted < MOST ? (uint32_t)wanted : MOST;
}
