// SPDX-License-Identifier: MIT
// follow: continues a log by one pass over a ring (`ringside flush`): the log gets what the ring
// holds and the log does not.
//
// The newest entries of the log are searched in the ring. If they are found there, everything after
// them is new. Otherwise everything in the ring is new, and entries between the two are lost. How
// many, the positions of both ends tell: where the log's last recording ended, it has noted its
// position in the ring.
#define _GNU_SOURCE // memmem
#include "follow/internal.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TAIL_BLOCKS = 8, // of the log, that are looked at
    TAIL_ENTRIES = 16,
    ALIKE = 4,        // slots that must be the same, where there are so many
    ANCHOR_BYTES = 64 // of a stream whose entries do not tell their length
};

// A block that the recorder gave.
struct kept {
    struct extract_log_block block;
    uint8_t *payload;
};

// The log's end.
struct tail {
    struct extract_ring ring; // of the entries; none: format is NULL
    uint8_t *bytes;
    uint32_t length;
    uint64_t position; // of the next entry, as MARK STOP tells it
};

// What lies between the newest entry of the log and the oldest that the ring holds.
enum gap {
    GAP_NONE,
    GAP_LOSS,   // entries are lost
    GAP_RESTART // an unknown number of entries is lost: the ring was emptied
};

struct flush {
    struct extract_ring ring; // format is NULL: there was none
    struct kept *list;
    size_t count, room;
    uint8_t *run; // entries up to the first loss, as they lie behind each other
    uint32_t run_length;
    bool broken;       // there was one
    uint64_t position; // of the next entry, as MARK STOP tells it
    struct tail tail;
};

static enum extract_code no_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "flush", NULL, "out of memory");
}

static bool append(uint8_t **bytes, uint32_t *length, const uint8_t *more, uint32_t count)
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

static struct kept *add(struct flush *f)
{
    struct kept *list = extract_grow(f->list, &f->room, f->count, sizeof *list);
    if (!list)
        return NULL;
    f->list = list;
    f->list[f->count] = (struct kept){.payload = NULL};
    return &f->list[f->count++];
}

static enum extract_code take(void *context, const struct extract_log_block *block,
                              const void *payload, struct extract_error *error)
{
    struct flush *f = context;
    struct kept *kept = add(f);
    bool fits = kept && (kept->payload = malloc((size_t)block->length + 1));
    if (!fits)
        return no_memory(error);
    kept->block = *block;
    if (block->length)
        memcpy(kept->payload, payload, block->length);
    if (block->type == EXTRACT_LOG_RING)
        f->ring = *(const struct extract_ring *)payload;
    f->broken |= block->type == EXTRACT_LOG_LOSS;
    if (block->type == EXTRACT_LOG_MARK && block->kind == EXTRACT_MARK_STOP)
        f->position = block->value;
    if (extract_log_holds_entries(block) && !f->broken)
        fits = append(&f->run, &f->run_length, payload, block->length);
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
    if (!code && !append(&tail->bytes, &tail->length, payload, block.length))
        code = no_memory(error);
    free(payload);
    return code;
}

// The newest blocks of entries, behind the last beginning of the target.
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

static enum extract_code open_tail(struct tail *tail, const char *path, struct extract_error *error)
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

// Behind the last place where the log's newest slots stand; 0: nowhere. At the run's start some of
// them may be gone.
static uint32_t find_slots(const struct flush *f)
{
    const struct tail *tail = &f->tail;
    uint32_t each = f->ring.entries.slot_bytes, have = tail->length / each;
    uint32_t alike = have < ALIKE ? have : ALIKE;
    for (uint32_t end = f->run_length / each; alike && end; end--) {
        uint32_t n = 0, most = end < alike ? end : alike;
        while (n < most &&
               f->ring.format->slots->is_same(&f->ring, tail->bytes + (size_t)(have - 1 - n) * each,
                                              f->run + (size_t)(end - 1 - n) * each))
            n++;
        if (n == most)
            return end * each;
    }
    return 0;
}

static uint32_t find_bytes(const struct flush *f, const uint8_t *bytes, uint32_t length)
{
    const uint8_t *at = length ? memmem(f->run, f->run_length, bytes, length) : NULL;
    return at ? (uint32_t)(at - f->run) + length : 0;
}

// Of the newest entries some may have been made for the log.
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

// Whether the target has begun again since the log was written, as far as its ring tells.
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

// Takes bytes away from the start of a block of entries.
static void trim(const struct extract_ring *ring, struct kept *kept, uint32_t bytes)
{
    struct extract_log_block *block = &kept->block;
    block->length -= bytes;
    block->count -= count_entries(ring, kept->payload, bytes);
    memmove(kept->payload, kept->payload + bytes, block->length);
    if (block->provisional > block->count)
        block->provisional = block->count;
    if (block->flags & EXTRACT_LOG_STAMPS && block->count)
        block->first_stamp = ring->format->slots->stamp(ring, kept->payload);
}

// Takes away what the log has: `known` bytes of entries. What is left is numbered from 0 on.
static void drop(struct flush *f, uint32_t known)
{
    uint64_t gone = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct extract_log_block *block = &f->list[i].block;
        uint32_t had = block->count, part = block->length < known ? block->length : known;
        if (extract_log_holds_entries(block) && part) {
            trim(&f->ring, &f->list[i], part);
            known -= part;
            block->first += had - block->count;
            gone += had - block->count;
        }
        block->first -= gone;
    }
}

static bool is_news(const struct flush *f)
{
    bool news = false;
    for (size_t i = 0; i < f->count; i++) {
        const struct extract_log_block *block = &f->list[i].block;
        bool entries = extract_log_holds_entries(block) && block->length;
        news |= entries || block->type == EXTRACT_LOG_LOSS;
    }
    return news;
}

// ---- the log goes on ----

// Counts the entries of the run that take a position. Some entries of a stream have no number, and
// what comes before the first end of one is a rest that no report shows.
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

// How many entries are certainly lost between the log and what the ring holds, and modulo what.
// Both ends have a position in the ring, unless the recording before was not ended in order. What
// the ring held when it was emptied, nobody knows. A count that went back was begun again, too.
static uint64_t count_lost(const struct flush *f, enum gap gap, uint64_t *modulo)
{
    uint64_t lap = record_position_modulus(&f->ring);
    uint64_t have = count_positions(f);
    *modulo = EXTRACT_LOG_ANY_MORE;
    if (!f->position || !f->tail.position || f->broken || gap == GAP_RESTART)
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

static enum extract_code put(struct extract_log_writer *log, const struct kept *kept,
                             struct extract_error *error)
{
    const struct extract_log_block *block = &kept->block;
    if (block->type == EXTRACT_LOG_RING)
        return extract_log_put_ring(log, (const void *)kept->payload, error);
    if (block->type == EXTRACT_LOG_OBJECTS)
        return extract_log_put_objects(log, block->value, kept->payload, block->length, error);
    if (extract_log_holds_entries(block) && !block->length)
        return EXTRACT_OK;
    return extract_log_put(log, block, kept->payload, error);
}

static enum extract_code write_all(const struct flush *f, struct extract_log_writer *log,
                                   enum gap gap, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint64_t modulo, lost = count_lost(f, gap, &modulo), skipped = 0;
    for (size_t i = 0; !code && i < f->count; i++) {
        struct extract_log_block *block = &f->list[i].block;
        block->first += skipped;
        code = put(log, &f->list[i], error);
        bool is_start = block->type == EXTRACT_LOG_MARK && block->kind == EXTRACT_MARK_START;
        if (!code && gap && is_start) {
            code = put_gap(log, gap, lost, modulo, block->wall, error);
            skipped = lost; // numbers of entries continue after the gap, those of START begin at 0
        }
    }
    return code;
}

// Where the log's newest entries are not in the ring, something is missing between. A log without
// entries is continued by all that was ever written, if the ring holds that.
static enum gap find_gap(const struct flush *f, uint32_t known,
                         const struct extract_record_status *status)
{
    if (known || !f->tail.ring.format || !f->run_length)
        return GAP_NONE;
    if (!f->tail.length && status->has_all)
        return GAP_NONE;
    return ring_has_restarted(f) || status->has_all ? GAP_RESTART : GAP_LOSS;
}

static enum extract_code go_on(struct flush *f, const char *path,
                               const struct extract_symbols *symbols,
                               struct extract_record_status *status, struct extract_error *error)
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
    drop(f, known);
    status->entries -= had < status->entries ? had : status->entries;
    if (!is_news(f))
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

static enum extract_code check_kind(const struct flush *f, const char *path,
                                    struct extract_error *error)
{
    const struct extract_ring *before = &f->tail.ring, *now = &f->ring;
    bool alike = before->format == now->format && before->byte_order == now->byte_order;
    if (!before->format || (alike && before->address == now->address))
        return EXTRACT_OK;
    if (alike)
        return extract_error_set(error, EXTRACT_USAGE, path, "flush to another log",
                                 "it is of the ring at 0x%llx, and this one lies at 0x%llx",
                                 (unsigned long long)before->address,
                                 (unsigned long long)now->address);
    return extract_error_set(error, EXTRACT_USAGE, path, "flush to another log",
                             "it is of another kind of trace (%s) than the ring (%s)",
                             before->format->name, now->format->name);
}

static enum extract_code read_all(struct flush *f, struct extract_memory *memory,
                                  struct extract_symbols *symbols,
                                  const struct extract_record_options *options,
                                  struct extract_record_status *status, struct extract_error *error)
{
    struct extract_recorder *recorder;
    struct extract_record_options once = *options;
    once.log = NULL;
    once.sink = take;
    once.context = f;
    enum extract_code code = extract_recorder_open(&recorder, memory, symbols, &once, error);
    return code ? code : extract_recorder_finish(recorder, status, error);
}

// There was no ring to read: says why.
static enum extract_code refuse_absent(struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_record_options *options,
                                       struct extract_error *error)
{
    struct extract_ring ring;
    if (extract_record_find(&ring, memory, symbols, options, error) == EXTRACT_ABSENT)
        return EXTRACT_ABSENT;
    return extract_error_set(error, EXTRACT_ABSENT, "trace ring", "start the trace first",
                             "its trace was never enabled");
}

enum extract_code extract_record_flush(const char *path, struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_record_options *options,
                                       struct extract_record_status *status,
                                       struct extract_error *error)
{
    struct flush f = {.list = NULL};
    *status = (struct extract_record_status){.polls = 0};
    enum extract_code code = open_tail(&f.tail, path, error);
    code = code ? code : read_all(&f, memory, symbols, options, status, error);
    if (!code && !f.ring.format)
        code = refuse_absent(memory, symbols, options, error);
    code = code ? code : check_kind(&f, path, error);
    code = code ? code : go_on(&f, path, symbols, status, error);
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
