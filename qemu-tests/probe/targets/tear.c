// SPDX-License-Identifier: MIT
// probe/targets: the tear injector. In: beats. Out: stores into the target's memory between them.
// The ring's layout: TraceX user guide, chapter 11; docs/formats/threadx.md.
#include "probe/targets/tear.h"
#include "images/proof.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RING_ID = 0x54585442,
    AT_START = 24, // offsets in the control header
    AT_END = 28,
    AT_CURRENT = 32,
    ENTRY_BYTES = 32,
    ENTRY_WORDS = ENTRY_BYTES / 4,
    SOURCE = 2 // of proof.h: an interrupt's
};

static bool load(const struct tear *tear, uint32_t address, uint32_t *value)
{
    uint64_t word = 0;
    bool done = tear->target->read(tear->target->context, address, 4, &word);
    *value = (uint32_t)word;
    return done;
}

static bool store(const struct tear *tear, uint32_t address, uint32_t value)
{
    return tear->target->write(tear->target->context, address, 4, value);
}

void tear_off(struct tear *tear)
{
    if (tear->run_every)
        tear->target->resume(tear->target->context);
    free(tear->steps);
    const struct target *target = tear->target;
    *tear = (struct tear){.target = target};
}

void tear_free(struct tear *tear)
{
    free(tear->steps);
    tear->steps = NULL;
}

enum extract_code tear_add(struct tear *tear, struct tear_step step, struct extract_error *error)
{
    if (tear->step_next == tear->step_count)
        tear->step_next = tear->step_count = 0;
    if (tear->step_count == TEAR_STEPS)
        return extract_error_set(error, EXTRACT_LIMIT, "tear write", "run them, or tear off",
                                 "%d writes are waiting", TEAR_STEPS);
    if (!tear->steps)
        tear->steps = calloc(TEAR_STEPS, sizeof *tear->steps);
    if (!tear->steps)
        return extract_error_set(error, EXTRACT_NOMEM, "tear write", NULL, "out of memory");
    if (!tear->step_count)
        tear->script_beats = 0;
    tear->steps[tear->step_count++] = step;
    return EXTRACT_OK;
}

enum extract_code tear_start_ring(struct tear *tear, uint64_t beats, uint64_t stores,
                                  uint32_t header, uint32_t live, struct extract_error *error)
{
    struct tear_ring ring = {.header = header, .live = live};
    uint32_t id;
    if (!load(tear, header, &id) || !load(tear, header + AT_START, &ring.start) ||
        !load(tear, header + AT_END, &ring.end) || !load(tear, header + AT_CURRENT, &ring.current))
        return extract_error_set(error, EXTRACT_UNREADABLE, "tear ring", NULL,
                                 "no memory at 0x%" PRIx32, header);
    if (id != RING_ID || ring.start >= ring.end || (ring.end - ring.start) % ENTRY_BYTES ||
        ring.current < ring.start || ring.current >= ring.end ||
        (ring.current - ring.start) % ENTRY_BYTES)
        return extract_error_set(error, EXTRACT_BAD, "tear ring",
                                 "give the address of its control header",
                                 "no ring of 4-byte little-endian words at 0x%" PRIx32, header);
    tear->ring = ring;
    tear->ring_every = beats;
    tear->ring_stores = stores;
    tear->ring_beats = 0;
    tear->ring_failed = false;
    return EXTRACT_OK;
}

enum extract_code tear_start_run(struct tear *tear, uint64_t beats, uint64_t us,
                                 struct extract_error *error)
{
    if (!tear->target->stop(tear->target->context))
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "tear run",
                                 "use tear ring or tear write", "no guest runs here");
    tear->run_every = beats;
    tear->run_us = us;
    tear->run_beats = 0;
    return EXTRACT_OK;
}

// The value of one word of the entry with this sequence number. Its stamp is its number too.
static uint32_t entry_word(uint32_t sequence, unsigned word)
{
    struct proof proof = proof_make(SOURCE, sequence, sequence, PROOF_INTERRUPT);
    switch (word) {
    case 0:
        return PROOF_INTERRUPT; // thread
    case 1:
        return 0; // who was interrupted
    case 2:
        return PROOF_FIRST_ID + SOURCE;
    case 3:
        return sequence; // time stamp
    default:
        return proof.info[word - 4];
    }
}

static bool ring_store(struct tear *tear)
{
    struct tear_ring *ring = &tear->ring;
    unsigned at = ring->store++;
    if (at < ENTRY_WORDS)
        return store(tear, ring->current + at * 4, entry_word(ring->sequence, at));
    if (at == ENTRY_WORDS) {
        ring->current += ENTRY_BYTES;
        if (ring->current == ring->end)
            ring->current = ring->start;
        return !ring->live || store(tear, ring->live, ring->current);
    }
    ring->store = 0;
    ring->sequence++;
    return store(tear, ring->header + AT_CURRENT, ring->current);
}

static void move_ring(struct tear *tear)
{
    if (!tear->ring_every || ++tear->ring_beats < tear->ring_every)
        return;
    tear->ring_beats = 0;
    for (uint64_t i = 0; i < tear->ring_stores && !tear->ring_failed; i++)
        tear->ring_failed = !ring_store(tear);
}

static void move_script(struct tear *tear)
{
    if (tear->step_next == tear->step_count)
        return;
    tear->script_beats++;
    while (tear->step_next < tear->step_count &&
           tear->script_beats >= tear->steps[tear->step_next].beats) {
        const struct tear_step *step = &tear->steps[tear->step_next++];
        store(tear, step->address, step->value);
        tear->script_beats = 0;
    }
}

static void move_guest(struct tear *tear)
{
    if (!tear->run_every || ++tear->run_beats < tear->run_every)
        return;
    tear->run_beats = 0;
    struct timespec pause = {(time_t)(tear->run_us / 1000000),
                             (long)(tear->run_us % 1000000 * 1000)};
    tear->target->resume(tear->target->context);
    nanosleep(&pause, NULL);
    tear->target->stop(tear->target->context);
}

void tear_beat(struct tear *tear)
{
    move_script(tear);
    move_ring(tear);
    move_guest(tear);
}

void tear_describe(const struct tear *tear, struct extract_text *text)
{
    extract_text_printf(text, "writes_waiting=%zu ring_every=%" PRIu64 " ring_stores=%" PRIu64,
                        tear->step_count - tear->step_next, tear->ring_every, tear->ring_stores);
    extract_text_printf(text, " produced=%" PRIu32 " ring_failed=%d", tear->ring.sequence,
                        tear->ring_failed);
    extract_text_printf(text, " run_every=%" PRIu64 " run_us=%" PRIu64, tear->run_every,
                        tear->run_us);
}
