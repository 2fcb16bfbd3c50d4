// SPDX-License-Identifier: MIT
// follow: continues a log by one pass over a ring (`ringside flush`), which adds to the log what
// the ring holds and the log does not.
//
// The pass is an ordinary recording whose blocks are collected here. Then the newest entries of the
// log are searched in the run of entries that was read. If they are found, everything after them is
// new. Otherwise all of the run is new, and entries between the log and the run are lost. Their
// number follows from two positions in the ring: that of the log's end, which MARK STOP noted, and
// that of the run's end.
#define _GNU_SOURCE // memmem
#include "follow/follow_room.h"
#include "log/log_block.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TAIL_BLOCKS = 8,   // newest blocks of the log that are searched in the ring
    TAIL_ENTRIES = 16, // newest entries of a counted ring, of which one must be found
    SAME_SLOTS = 4,    // newest slots that must all be found, if the log has that many
    ANCHOR_BYTES = 64  // newest bytes of a ring whose entries do not tell their length
};

// A block of the recording, with a copy of its payload.
struct collected {
    struct extract_log_block block;
    uint8_t *payload;
};

// The end of the log.
struct tail {
    struct extract_ring ring; // format is NULL if the log has none
    uint8_t *bytes;           // its newest entries
    uint32_t length;
    uint64_t position; // in the ring, of the next entry, as MARK STOP noted it; 0: not known
};

// What lies between the newest entry of the log and the oldest that the ring holds.
enum gap {
    GAP_NONE,
    GAP_LOSS,   // entries are lost
    GAP_RESTART // an unknown number of entries is lost: the ring was emptied
};

struct flush {
    struct extract_ring ring; // format is NULL if no ring was found
    struct collected *list;   // the recording
    size_t count, capacity;
    uint8_t *run; // its entries up to the first loss, one after the other
    uint32_t run_length;
    bool has_loss;     // the recording has a loss
    uint64_t position; // in the ring, of the next entry after the recording; 0: not known
    struct tail tail;
};

static enum extract_code no_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "flush", NULL, "out of memory");
}

static bool append_bytes(uint8_t **bytes, uint32_t *length, const uint8_t *more, uint32_t count)
{
    uint8_t *grown = realloc(*bytes, (size_t)*length + count + 1);

    if (!grown)
        return false;
    memcpy(grown + *length, more, count);
    *bytes = grown;
    *length += count;
    return true;
}

// ---- what the ring holds ----

static struct collected *add_block(struct flush *f)
{
    struct collected *list = extract_grow(f->list, &f->capacity, f->count, sizeof *list);

    if (!list)
        return NULL;
    f->list = list;
    f->list[f->count] = (struct collected){.payload = NULL};
    return &f->list[f->count++];
}

static enum extract_code collect_block(void *context, const struct extract_log_block *block,
                                       const void *payload, struct extract_error *error)
{
    struct flush *f = context;
    struct collected *collected = add_block(f);
    bool fits = collected && (collected->payload = malloc((size_t)block->length + 1));

    if (!fits)
        return no_memory(error);
    collected->block = *block;
    if (block->length)
        memcpy(collected->payload, payload, block->length);
    if (block->type == EXTRACT_LOG_RING)
        f->ring = *(const struct extract_ring *)payload;
    f->has_loss |= block->type == EXTRACT_LOG_LOSS;
    if (block->type == EXTRACT_LOG_MARK && block->kind == EXTRACT_MARK_STOP)
        f->position = block->value;
    if (extract_log_holds_entries(block) && !f->has_loss)
        fits = append_bytes(&f->run, &f->run_length, payload, block->length);
    return fits ? EXTRACT_OK : no_memory(error);
}

// ---- what the log holds ----

static enum extract_code read_ring(struct tail *tail, struct extract_log *log,
                                   const struct extract_log_block *block,
                                   struct extract_error *error)
{
    uint8_t *payload = malloc((size_t)block->length + 1);

    if (!payload)
        return no_memory(error);
    enum extract_code code = extract_log_read(log, block, payload, error);
    code = code ? code : extract_log_ring(&tail->ring, payload, block->length, error);
    free(payload);
    return code;
}

static enum extract_code read_entries(struct tail *tail, struct extract_log *log, size_t i,
                                      struct extract_error *error)
{
    struct extract_log_block block;

    if (!extract_log_block_at(log, i, &block) || !extract_log_holds_entries(&block))
        return EXTRACT_OK;
    uint8_t *payload = malloc((size_t)block.length + 1);
    enum extract_code code =
        payload ? extract_log_read(log, &block, payload, error) : no_memory(error);
    if (!code && !append_bytes(&tail->bytes, &tail->length, payload, block.length))
        code = no_memory(error);
    free(payload);
    return code;
}

// Reads the newest blocks of entries, as far back as the last reset of the target.
static enum extract_code read_tail(struct tail *tail, struct extract_log *log,
                                   struct extract_error *error)
{
    struct extract_log_block block;
    size_t newest[TAIL_BLOCKS], count = 0;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; !code && extract_log_block_at(log, i, &block); i++) {
        bool reset = block.type == EXTRACT_LOG_MARK && block.kind == EXTRACT_MARK_RESET;
        bool stop = block.type == EXTRACT_LOG_MARK && block.kind == EXTRACT_MARK_STOP;
        if (block.type == EXTRACT_LOG_RING)
            code = read_ring(tail, log, &block, error);
        // Only the position that the newest entries end at counts.
        if (stop || extract_log_holds_entries(&block))
            tail->position = stop ? block.value : 0;
        if (reset)
            count = 0;
        else if (extract_log_holds_entries(&block))
            newest[count++ % TAIL_BLOCKS] = i;
    }
    for (size_t n = count > TAIL_BLOCKS ? count - TAIL_BLOCKS : 0; !code && n < count; n++)
        code = read_entries(tail, log, newest[n % TAIL_BLOCKS], error);
    return code;
}

static enum extract_code read_log_end(struct tail *tail, const char *path,
                                      struct extract_error *error)
{
    struct extract_log *log;

    if (access(path, F_OK))
        return EXTRACT_OK;
    enum extract_code code = extract_log_open(&log, path, error);
    if (code)
        return code;
    code = read_tail(tail, log, error);
    extract_log_free(log);
    return code;
}

// ---- where the log ends in the ring ----

// Returns the offset after the last place in the run that holds the log's newest slots; 0: none. At
// the start of the run, the older of them may be missing.
static uint32_t find_slots(const struct flush *f)
{
    const struct tail *tail = &f->tail;
    uint32_t each = f->ring.entries.slot_bytes, have = tail->length / each;
    uint32_t same = have < SAME_SLOTS ? have : SAME_SLOTS;

    for (uint32_t end = f->run_length / each; same && end; end--) {
        uint32_t n = 0, wanted = end < same ? end : same;
        while (n < wanted &&
               f->ring.format->slots->is_same(&f->ring, tail->bytes + (size_t)(have - 1 - n) * each,
                                              f->run + (size_t)(end - 1 - n) * each))
            n++;
        if (n == wanted)
            return end * each;
    }
    return 0;
}

static uint32_t find_bytes(const struct flush *f, const uint8_t *bytes, uint32_t length)
{
    const uint8_t *at = length ? memmem(f->run, f->run_length, bytes, length) : NULL;

    return at ? (uint32_t)(at - f->run) + length : 0;
}

// Searches the newest entries of a counted ring one by one: some may exist only in the log.
static uint32_t find_entries(const struct flush *f)
{
    const struct extract_stream *stream = f->ring.format->stream;
    const struct tail *tail = &f->tail;
    uint32_t start[TAIL_ENTRIES], length[TAIL_ENTRIES], count = 0, found = 0;

    for (uint32_t at = 0, own; at < tail->length; at += own ? own : 4) {
        own = stream->counted->length(&tail->ring, tail->bytes + at, tail->length - at);
        if (!own)
            continue;
        start[count % TAIL_ENTRIES] = at;
        length[count++ % TAIL_ENTRIES] = own;
    }
    for (uint32_t n = 0; !found && n < count && n < TAIL_ENTRIES; n++) {
        uint32_t i = (count - 1 - n) % TAIL_ENTRIES;
        found = find_bytes(f, tail->bytes + start[i], length[i]);
    }
    return found;
}

static uint32_t find_end(const struct flush *f)
{
    const struct tail *tail = &f->tail;
    uint32_t anchor = tail->length < ANCHOR_BYTES ? tail->length : ANCHOR_BYTES;

    if (!f->run_length || !tail->length)
        return 0;
    if (f->ring.entries.slot_bytes)
        return find_slots(f);
    return f->ring.format->stream->counted
               ? find_entries(f)
               : find_bytes(f, tail->bytes + tail->length - anchor, anchor);
}

// Returns whether the ring's counters show that the target has restarted since the log was written.
static bool ring_has_restarted(const struct flush *f)
{
    const struct extract_stream *stream = f->ring.format->stream;
    struct extract_ring_counters before, now;

    if (!stream || !stream->counted)
        return false;
    return stream->read_counters(&f->tail.ring, f->tail.ring.header, &before) &&
           stream->read_counters(&f->ring, f->ring.header, &now) &&
           before.generation != now.generation;
}

// ---- what is new ----

static uint32_t count_entries(const struct extract_ring *ring, const uint8_t *bytes,
                              uint32_t length)
{
    const struct extract_stream *stream = ring->format->stream;
    uint32_t count = 0;

    if (ring->entries.slot_bytes)
        return length / ring->entries.slot_bytes;
    for (uint32_t at = 0, own; at < length; at += own) {
        own = stream->counted ? stream->counted->length(ring, bytes + at, length - at) : 1;
        own = own ? own : length - at;
        count += stream->counted || bytes[at] == stream->terminated->terminator;
    }
    return count;
}

// Removes bytes from the start of a block of entries.
static void trim_block(const struct extract_ring *ring, struct collected *collected, uint32_t bytes)
{
    struct extract_log_block *block = &collected->block;

    block->length -= bytes;
    block->count -= count_entries(ring, collected->payload, bytes);
    memmove(collected->payload, collected->payload + bytes, block->length);
    if (block->provisional > block->count)
        block->provisional = block->count;
    if (block->flags & EXTRACT_LOG_STAMPS && block->count)
        block->first_stamp = ring->format->slots->stamp(ring, collected->payload);
}

// Removes the `known` bytes of entries that the log has. The others are numbered from 0 on.
static void drop_known(struct flush *f, uint32_t known)
{
    uint64_t gone = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct extract_log_block *block = &f->list[i].block;
        uint32_t had = block->count, part = block->length < known ? block->length : known;
        if (extract_log_holds_entries(block) && part) {
            trim_block(&f->ring, &f->list[i], part);
            known -= part;
            block->first += had - block->count;
            gone += had - block->count;
        }
        block->first -= gone;
    }
}

static bool has_new_entries(const struct flush *f)
{
    bool has_new = false;

    for (size_t i = 0; i < f->count; i++) {
        const struct extract_log_block *block = &f->list[i].block;
        bool entries = extract_log_holds_entries(block) && block->length;
        has_new |= entries || block->type == EXTRACT_LOG_LOSS;
    }
    return has_new;
}

// ---- continuing the log ----

// Counts the entries of the run that take a position in the ring. Some entries of a stream have no
// number, and the bytes before the first terminator are the rest of an entry that was overwritten.
static uint64_t count_positions(const struct flush *f)
{
    const struct extract_stream *stream = f->ring.format->stream;
    bool is_aligned = false;
    uint64_t count = 0;

    if (f->ring.entries.slot_bytes || stream->counted)
        return count_entries(&f->ring, f->run, f->run_length);
    for (uint32_t at = 0, from = 0; at < f->run_length; at++) {
        if (f->run[at] != stream->terminated->terminator)
            continue;
        bool is_entry = is_aligned && at > from;
        count += is_entry && stream->terminated->number(&f->ring, f->run + from, at - from) >= 0;
        from = at + 1;
        is_aligned = true;
    }
    return count;
}

// Returns how many entries are certainly lost between the log and the run, and modulo what. Both
// ends have a position in the ring, unless the recording before was not ended in order. What the
// ring held when it was emptied is unknown. A count that went back has restarted as well.
static uint64_t count_lost(const struct flush *f, enum gap gap, uint64_t *modulo)
{
    uint64_t lap = record_position_modulus(&f->ring);
    uint64_t have = count_positions(f);

    *modulo = EXTRACT_LOG_ANY_MORE;
    if (!f->position || !f->tail.position || f->has_loss || gap == GAP_RESTART)
        return 0;
    uint64_t lost = f->position - f->tail.position - have;
    if (!lap && (uint32_t)lost > INT32_MAX) // counts of 32 bits
        return 0;
    *modulo = lap;
    return lap ? (lost + (have / lap + 2) * lap) % lap : (uint32_t)lost;
}

static enum extract_code put_gap(struct extract_log_writer *log, enum gap gap, uint64_t lost,
                                 uint64_t modulo, uint64_t wall, struct extract_error *error)
{
    static const char restart[] = "the target was reset, or its trace enabled again";
    struct extract_log_block loss = {.type = EXTRACT_LOG_LOSS,
                                     .kind = gap == GAP_RESTART ? EXTRACT_LOSS_RESET
                                                                : EXTRACT_LOSS_LAPPED,
                                     .flags = EXTRACT_LOG_LOSS_HELD,
                                     .lost = lost,
                                     .modulo = modulo,
                                     .first = lost,
                                     .wall = wall};
    struct extract_log_block mark = {.type = EXTRACT_LOG_MARK,
                                     .kind = EXTRACT_MARK_RESET,
                                     .length = sizeof restart - 1,
                                     .wall = wall};
    enum extract_code code = extract_log_put(log, &loss, NULL, error);

    return code || gap != GAP_RESTART ? code : extract_log_put(log, &mark, restart, error);
}

static enum extract_code put_block(struct extract_log_writer *log,
                                   const struct collected *collected, struct extract_error *error)
{
    const struct extract_log_block *block = &collected->block;

    if (block->type == EXTRACT_LOG_RING)
        return extract_log_put_ring(log, (const void *)collected->payload, error);
    if (block->type == EXTRACT_LOG_OBJECTS)
        return extract_log_put_objects(log, block->value, collected->payload, block->length, error);
    if (extract_log_holds_entries(block) && !block->length)
        return EXTRACT_OK;
    return extract_log_put(log, block, collected->payload, error);
}

static enum extract_code write_all(const struct flush *f, struct extract_log_writer *log,
                                   enum gap gap, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint64_t modulo, lost = count_lost(f, gap, &modulo), skipped = 0;

    for (size_t i = 0; !code && i < f->count; i++) {
        struct extract_log_block *block = &f->list[i].block;
        block->first += skipped;
        code = put_block(log, &f->list[i], error);
        bool is_start = block->type == EXTRACT_LOG_MARK && block->kind == EXTRACT_MARK_START;
        if (!code && gap && is_start) {
            code = put_gap(log, gap, lost, modulo, block->wall, error);
            skipped = lost; // numbers of entries continue after the gap, those of START begin at 0
        }
    }
    return code;
}

// If the log's newest entries are not in the ring, entries are missing between them and the run. A
// log without entries has no gap if the ring holds all that was ever written to it.
static enum gap find_gap(const struct flush *f, uint32_t known,
                         const struct extract_record_status *status)
{
    if (known || !f->tail.ring.format || !f->run_length)
        return GAP_NONE;
    if (!f->tail.length && status->has_all)
        return GAP_NONE;
    return ring_has_restarted(f) || status->has_all ? GAP_RESTART : GAP_LOSS;
}

static enum extract_code continue_log(struct flush *f, const char *path,
                                      const struct extract_symbols *symbols,
                                      struct extract_record_status *status,
                                      struct extract_error *error)
{
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *log;
    uint32_t known = ring_has_restarted(f) ? 0 : find_end(f);
    enum gap gap = find_gap(f, known, status);
    uint64_t had = count_entries(&f->ring, f->run, known);

    if (gap) {
        uint64_t modulo;
        status->lost += count_lost(f, gap, &modulo);
        status->gaps++;
        status->gaps_not_exact += modulo != 0;
        status->lost_is_exact &= !modulo;
        status->laps += gap == GAP_LOSS;
    }
    status->resets += gap == GAP_RESTART;
    drop_known(f, known);
    status->entries -= had < status->entries ? had : status->entries;
    if (!has_new_entries(f))
        return EXTRACT_OK;
    enum extract_code code = extract_log_create(&log, path, &options, error);
    if (code)
        return code;
    code = record_put_program(log, symbols, error);
    code = code ? code : write_all(f, log, gap, error);
    extract_log_note_cost(log, status->polls, &status->cost);
    enum extract_code closed = extract_log_close(log, code ? NULL : error);
    return code ? code : closed;
}

static enum extract_code check_same_ring(const struct flush *f, const char *path,
                                         struct extract_error *error)
{
    const struct extract_ring *before = &f->tail.ring, *now = &f->ring;
    bool is_same_kind = before->format == now->format && before->byte_order == now->byte_order;

    if (!before->format || (is_same_kind && before->address == now->address))
        return EXTRACT_OK;
    if (is_same_kind)
        return extract_error_set(error, EXTRACT_USAGE, path, "flush to another log",
                                 "is a log of the ring at 0x%llx; this ring is at 0x%llx",
                                 (unsigned long long)before->address,
                                 (unsigned long long)now->address);
    return extract_error_set(error, EXTRACT_USAGE, path, "flush to another log",
                             "is a log of another format (%s) than the ring (%s)",
                             before->format->name, now->format->name);
}

static enum extract_code read_run(struct flush *f, struct extract_memory *memory,
                                  struct extract_symbols *symbols,
                                  const struct extract_record_options *options,
                                  struct extract_record_status *status, struct extract_error *error)
{
    struct extract_recorder *recorder;
    struct extract_record_options once = *options;

    once.log = NULL;
    once.sink = collect_block;
    once.context = f;
    enum extract_code code = extract_recorder_open(&recorder, memory, symbols, &once, error);
    return code ? code : extract_recorder_finish(recorder, status, error);
}

// Reports why there was no ring to read.
static enum extract_code refuse_absent(struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_record_options *options,
                                       struct extract_error *error)
{
    struct extract_ring ring;

    if (extract_record_find(&ring, memory, symbols, options, error) == EXTRACT_ABSENT)
        return EXTRACT_ABSENT;
    return extract_error_set(error, EXTRACT_ABSENT, "trace ring", "start the trace first",
                             "was never enabled");
}

enum extract_code extract_record_flush(const char *path, struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_record_options *options,
                                       struct extract_record_status *status,
                                       struct extract_error *error)
{
    struct flush f = {.list = NULL};

    *status = (struct extract_record_status){.polls = 0};
    enum extract_code code = read_log_end(&f.tail, path, error);
    code = code ? code : read_run(&f, memory, symbols, options, status, error);
    if (!code && !f.ring.format)
        code = refuse_absent(memory, symbols, options, error);
    code = code ? code : check_same_ring(&f, path, error);
    code = code ? code : continue_log(&f, path, symbols, status, error);
    for (size_t i = 0; i < f.count; i++)
        free(f.list[i].payload);
    free(f.list);
    free(f.run);
    free(f.tail.bytes);
    return code;
}

void extract_record_flushed(const struct extract_record_status *status, bool json,
                            struct extract_text *text)
{
    unsigned long long added = status->entries, lost = status->lost;
    bool is_exact = status->lost_is_exact;

    if (json) {
        extract_text_printf(text, "{\"added\":%llu,\"lost\":", added);
        if (is_exact)
            extract_text_dec(text, lost);
        else
            extract_text_puts(text, "null");
        extract_text_printf(text,
                            ",\"lost_at_least\":%llu,\"lost_exact\":%s,\"gaps\":%llu,"
                            "\"gaps_not_exact\":%llu}\n",
                            lost, is_exact ? "true" : "false", (unsigned long long)status->gaps,
                            (unsigned long long)status->gaps_not_exact);
    } else if (status->gaps) {
        extract_text_printf(text, "flush: %llu events added, %s%llu lost\n", added,
                            is_exact ? "" : "at least ", lost);
    } else {
        extract_text_printf(text, "flush: %llu events added\n", added);
    }
}
