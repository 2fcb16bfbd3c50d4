// SPDX-License-Identifier: MIT
// tests: simulates a target that writes its ring while a reader reads it, in virtual time. The
// caller sets the ring, the link and the writer's speed. The simulation provides a memory to read
// from, and a judge that checks what a recorder makes of it.
//
// The writer makes one store per step, in the order of the ThreadX event trace: eight words, then
// the pointer. The words of an entry follow from its number, so a mix of two entries is detected.
// This file is written from docs/formats/threadx.md alone and shares no code with the library. Unit
// tests and the benchmark use it.
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include <extract/record.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIM_HEADER = 12, // words
    SIM_ENTRY = 8,
    SIM_OBJECT = 12,
    SIM_STORES = 9, // stores per event: eight words and the pointer
    SIM_ADDRESS = 0x20000000,
    SIM_LIVE = 0x30000000, // address of the pointer to the write position
    SIM_TRACKED = 1 << 16  // events whose patches are remembered
};

#define SIM_TICKS_PER_NS 0.025 // 25 MHz: the clock rate when events have times

struct sim {
    uint32_t slots, mask;
    uint32_t *words; // header, one object, entries
    size_t count;    // number of words
    uint64_t number; // number of the event that is being written
    unsigned store;  // the next store of that event
    uint64_t stores; // stores of all events so far
    uint32_t stamp;  // timestamp of that event
    uint32_t step;   // ticks between two events; 0: the clock does not advance
    bool patches;    // odd events are filled in when the next event is half-written
    // Virtual time and the link.
    uint64_t now;     // ns
    double per_ns;    // events per ns
    double owed;      // stores that are due
    uint64_t latency; // ns per read
    double word_ns;   // ns per word
    // If this is set, it returns the ns from one event to the next, and `per_ns` is not used. The
    // timestamp of each event is then its time.
    double (*next)(struct sim *sim);
    double due; // time of the next event, ns
    uint64_t random;
    double load[4];       // state of `next`
    bool dead;            // nothing can be read
    bool off;             // the trace is disabled, as SIM_LIVE shows
    uint32_t hole, holes; // entries [hole, hole + holes) cannot be read
    // If this is set, it is called before each word that is read.
    void (*before_word)(struct sim *sim);
    uint64_t words_read, reads;
    uint32_t patched_end;          // elements of `patched` from this index on are 0
    uint64_t patched[SIM_TRACKED]; // the store count when an event was filled in; 0: not yet
};

static inline uint32_t sim_hash(uint64_t number, uint32_t word)
{
    uint64_t x = (number + 1) * UINT64_C(0x9E3779B97F4A7C15) + word * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)((x ^ x >> 31) * UINT64_C(0x94D049BB133111EB) >> 32);
}

static inline uint32_t sim_word(const struct sim *sim, uint64_t number, uint32_t word,
                                uint32_t stamp)
{
    bool odd = sim->patches && number % 2;
    switch (word) {
    case 0:
        return 0x20010000 + 256 * (uint32_t)(number % 7);
    case 1:
        return 0x80100010;
    case 2:
        return odd ? 1 : 4096 + (uint32_t)(number % 5);
    case 3:
        return stamp;
    case 4:
        return (uint32_t)number;
    case 7:
        return odd ? 0 : sim_hash(number, 7);
    default:
        return sim_hash(number, word);
    }
}

static inline uint32_t *sim_slot(struct sim *sim, uint64_t number)
{
    return sim->words + SIM_HEADER + SIM_OBJECT + number % sim->slots * SIM_ENTRY;
}

static inline uint32_t sim_address(const uint32_t *word, const struct sim *sim)
{
    return SIM_ADDRESS + 4 * (uint32_t)(word - sim->words);
}

// Fills in the result of event `number`, if the event is still in the ring.
static inline void sim_patch(struct sim *sim, uint64_t number)
{
    uint32_t *slot = sim_slot(sim, number);
    if (!(sim->patches && number % 2) || slot[4] != (uint32_t)number)
        return;
    slot[7] = sim_hash(number, 7);
    uint32_t at = (uint32_t)(number % SIM_TRACKED);
    sim->patched[at] = sim->stores;
    sim->patched_end = at < sim->patched_end ? sim->patched_end : at + 1;
}

static inline void sim_store(struct sim *sim)
{
    uint32_t *slot = sim_slot(sim, sim->number);
    sim->stores++;
    if (sim->store < SIM_ENTRY) {
        slot[sim->store] = sim_word(sim, sim->number, sim->store, sim->stamp);
        if (sim->store == 5 && sim->number)
            sim_patch(sim, sim->number - 1);
        sim->store++;
        return;
    }
    sim->patched[sim->number % SIM_TRACKED] = 0;
    sim->number++;
    sim->stamp += sim->step;
    sim->store = 0;
    sim->words[8] = sim_address(sim_slot(sim, sim->number), sim);
}

// Simulates the start of the firmware: writes the header and an empty ring.
static inline void sim_boot(struct sim *sim)
{
    uint32_t *w = sim->words, registry = SIM_ADDRESS + 4 * SIM_HEADER;
    uint32_t start = registry + 4 * SIM_OBJECT, end = start + 32 * sim->slots;
    const uint32_t header[SIM_HEADER] = {0x54585442, sim->mask,  SIM_ADDRESS, registry,
                                         32u << 16,  start,      start,       end,
                                         start,      0xAAAAAAAA, 0xBBBBBBBB,  0xCCCCCCCC};
    memset(w, 0, sim->count * sizeof *w);
    memcpy(w, header, sizeof header);
    w[SIM_HEADER] = 0x10800100; // in use, a thread, priority 16
    w[SIM_HEADER + 1] = 0x20010000;
    memcpy(w + SIM_HEADER + 4, "worker", 6);
    sim->store = 0;
}

// `sim` must have static storage or come from an earlier sim_make. Model checks make many short
// runs, so this clears only the part of `patched` that the last run used.
static inline bool sim_make(struct sim *sim, uint32_t slots)
{
    memset(sim->patched, 0, sim->patched_end * sizeof *sim->patched);
    memset(sim, 0, offsetof(struct sim, patched));
    sim->slots = slots;
    sim->mask = UINT32_MAX;
    sim->step = 977;
    sim->stamp = 0xFFFFF000;
    sim->count = SIM_HEADER + SIM_OBJECT + (size_t)slots * SIM_ENTRY;
    sim->words = calloc(sim->count, sizeof *sim->words);
    if (sim->words)
        sim_boot(sim);
    return sim->words != NULL;
}

// Writes complete events at once.
static inline void sim_run(struct sim *sim, uint64_t events)
{
    for (uint64_t i = 0; i < events * SIM_STORES; i++)
        sim_store(sim);
}

static inline double sim_random(struct sim *sim) // returns a value in [0, 1)
{
    sim->random = sim->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(sim->random >> 11) * 0x1p-53;
}

static inline void sim_pass(struct sim *sim, double ns)
{
    sim->now += (uint64_t)ns;
    while (sim->next && sim->due <= (double)sim->now) {
        sim->stamp = (uint32_t)(uint64_t)(sim->due * SIM_TICKS_PER_NS);
        sim_run(sim, 1);
        sim->due += sim->next(sim);
    }
    sim->owed += ns * sim->per_ns * (double)SIM_STORES;
    for (; sim->owed >= 1; sim->owed -= 1)
        sim_store(sim);
}

static inline uint64_t sim_now(void *context)
{
    return ((struct sim *)context)->now;
}

static inline size_t sim_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct sim *sim = context;
    uint64_t first = (address - SIM_ADDRESS) / 4;
    uint64_t hole = SIM_HEADER + SIM_OBJECT + (uint64_t)sim->hole * SIM_ENTRY;
    sim->reads++;
    sim_pass(sim, (double)sim->latency);
    if (address == SIM_LIVE && length == 4 && !sim->dead) {
        const uint32_t live = sim->off ? 0 : sim->words[8];
        memcpy(buffer, &live, sizeof live);
        return length;
    }
    for (size_t i = 0; i < length / 4; i++) {
        bool in_hole = first + i >= hole && first + i < hole + sim->holes * SIM_ENTRY;
        if (sim->dead || in_hole || address < SIM_ADDRESS || first + i >= sim->count)
            return 4 * i;
        if (sim->before_word)
            sim->before_word(sim);
        sim_pass(sim, sim->word_ns);
        memcpy((uint8_t *)buffer + 4 * i, &sim->words[first + i], 4);
        sim->words_read++;
    }
    return length;
}

// ---- The judge: a sink that knows the true events ----

struct sim_validate {
    const struct sim *sim;
    bool started;
    uint64_t next; // true number of the event after the last recorded one
    uint64_t entries, lost;
    uint64_t gaps, exact_gaps;
    uint64_t pending;    // events known to be lost since the last entries
    uint64_t modulo;     // `pending` may be low by a multiple of this; 0: exact
    uint64_t poll_start; // stores made when this poll began
    unsigned marks[16];
    uint64_t lost_by[8]; // by kind of loss
    unsigned rings, objects;
    const char *fault; // NULL: none
};

static inline void sim_validate_entry(struct sim_validate *judge, const uint32_t *w,
                                      bool provisional)
{
    const struct sim *sim = judge->sim;
    uint64_t number = w[4];
    for (uint32_t i = 0; i < SIM_ENTRY; i++)
        if (i != 3 && w[i] != sim_word(sim, number, i, 0) &&
            !(i == 7 && w[7] == sim_hash(number, 7)))
            judge->fault = "an entry is a mix of two";
    bool late = sim->patches && number % 2 && !w[7];
    uint64_t patched = sim->patched[number % SIM_TRACKED];
    if (late && !provisional && number + SIM_TRACKED > sim->number && patched &&
        patched < judge->poll_start)
        judge->fault = "an entry lacks what was filled in before it was final";
    if (judge->started && number < judge->next)
        judge->fault = "an entry comes twice";
    if (judge->started && number >= judge->next) {
        uint64_t gap = number - judge->next, more = gap - judge->pending;
        if (gap < judge->pending || (judge->modulo ? more % judge->modulo : more) != 0)
            judge->fault = "a loss is wrong";
    }
    judge->started = true;
    judge->pending = judge->modulo = 0;
    judge->next = number + 1;
}

static inline enum extract_code sim_validate(void *context, const struct extract_log_block *block,
                                             const void *payload, struct extract_error *error)
{
    struct sim_validate *judge = context;
    uint32_t words[SIM_ENTRY];
    (void)error;
    if (block->type == EXTRACT_LOG_ENTRIES) {
        if (block->first != judge->entries + judge->lost)
            judge->fault = "the numbers of entries do not go on";
        for (uint32_t i = 0; i < block->count; i++) {
            memcpy(words, (const uint8_t *)payload + 32 * i, 32);
            sim_validate_entry(judge, words, i + block->provisional >= block->count);
        }
        judge->entries += block->count;
    } else if (block->type == EXTRACT_LOG_LOSS) {
        judge->lost += block->lost;
        judge->pending += block->lost;
        judge->lost_by[block->kind & 7] += block->lost;
        judge->gaps++;
        judge->exact_gaps += !block->modulo;
        // Two losses in a row are combined. If both have different moduli, only a minimum is known.
        judge->modulo = judge->modulo && block->modulo && judge->modulo != block->modulo
                            ? EXTRACT_LOG_ANY_MORE
                            : judge->modulo | block->modulo;
    } else if (block->type == EXTRACT_LOG_MARK) {
        judge->marks[block->kind & 15]++;
    }
    judge->rings += block->type == EXTRACT_LOG_RING;
    judge->objects += block->type == EXTRACT_LOG_OBJECTS;
    return EXTRACT_OK;
}

// A recorder that records the simulated target.
struct sim_session {
    struct sim sim;
    struct sim_validate judge;
    struct extract_memory *memory;
    struct extract_recorder *recorder;
};

static inline enum extract_code sim_open(struct sim_session *s, struct extract_error *error)
{
    const struct extract_memory_source source = {
        .read = sim_read, .context = &s->sim, .byte_order = EXTRACT_LITTLE, .running = true};
    const struct extract_record_options options = {.size = sizeof options,
                                                   .ring_known = true,
                                                   .ring = SIM_ADDRESS,
                                                   .sink = sim_validate,
                                                   .context = &s->judge,
                                                   .now = sim_now,
                                                   .clock = &s->sim};
    s->judge = (struct sim_validate){.sim = &s->sim};
    enum extract_code code = extract_memory_new(&s->memory, &source, error);
    if (!code)
        code = extract_recorder_open(&s->recorder, s->memory, NULL, &options, error);
    return code;
}

static inline enum extract_code sim_poll(struct sim_session *s)
{
    s->judge.poll_start = s->sim.stores;
    return extract_recorder_poll(s->recorder, NULL);
}

// Polls when polls are due, until `ns` have passed.
static inline void sim_record(struct sim_session *s, uint64_t ns)
{
    uint64_t end = s->sim.now + ns;
    while (s->sim.now < end) {
        uint64_t due = extract_recorder_due(s->recorder);
        sim_pass(&s->sim, due ? (double)due : 1000); // the host's own work
        sim_poll(s);
    }
}

static inline void sim_close(struct sim_session *s)
{
    s->judge.poll_start = s->sim.stores;
    extract_recorder_close(s->recorder, NULL);
    extract_memory_close(s->memory);
    free(s->sim.words);
}

#endif
