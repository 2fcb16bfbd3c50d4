// SPDX-License-Identifier: MIT
// formats/rkh: infers settings from the frames. It tries all combinations of the open settings, and
// takes the one with which most frames have the exact length of their event's arguments.
//
// Source: docs/formats/rkh.md, "Inference".
#include "formats/rkh/rkh.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 2048,
    MAX_SAMPLE = 512, // bytes of a frame that is used as a sample
    AXES = 4,
    VALUES = 4,
    MIN_FITS = 3,   // number of frames that must fit
    MAX_LISTED = 4, // number of candidates in a message
    LIST_BYTES = 200
};

struct sample {
    uint32_t at, length; // in the pool's bytes
    uint8_t sum;
};

// The unstuffed frames of which the settings are inferred.
struct pool {
    uint8_t *bytes;
    struct sample *sample;
    unsigned count;
    uint32_t used;
};

// The values that a setting may have, and the one that is being tried.
struct axis {
    enum extract_rkh_key key;
    uint32_t value[VALUES];
    unsigned count, at;
};

// A search over all combinations of a few settings.
struct search {
    const struct pool *pool;
    struct extract_rkh *rkh;
    struct axis axis[AXES];
    unsigned axes;
    bool (*is_used)(const uint8_t *words); // selects the events that are used, by their arguments
    bool continuity;                       // the sequence numbers must also be consecutive

    // ---- Results ----
    unsigned total, best; // frames that were used; frames that fit with the best values
    unsigned odd, oddest; // fitting frames with unlikely numbers; those with the best values
    unsigned ties;        // other combinations with which as many fit
    uint32_t winner[AXES];
    uint8_t varied; // one bit per axis: other values fit as well
    char list[LIST_BYTES];
};

// ---- The samples ----

// Allocates the pool. Unstuffed frames are never longer than the input.
static bool pool_open(struct pool *pool, uint32_t length)
{
    size_t max_bytes = length < SAMPLES * MAX_SAMPLE ? length : SAMPLES * MAX_SAMPLE;

    *pool = (struct pool){.bytes = malloc(max_bytes + 1),
                          .sample = malloc(SAMPLES * sizeof(struct sample))};
    return pool->bytes && pool->sample;
}

static void pool_close(struct pool *pool)
{
    free(pool->bytes);
    free(pool->sample);
}

// Collects samples. The bytes before the first flag may be half a frame. Frames after a record with
// other settings are not used.
static void pool_fill(struct pool *pool, const struct extract_rkh *rkh, const uint8_t *bytes,
                      uint32_t length)
{
    struct rkh_frame frame;

    rkh_frame_scan(&frame, bytes, 0, length);
    uint32_t at = frame.length + 1;
    for (; at < length && pool->count < SAMPLES; at = frame.at + frame.length + 1) {
        rkh_frame_scan(&frame, bytes, at, length);
        if (!frame.ended || frame.torn || !frame.whole || frame.whole > MAX_SAMPLE)
            continue;
        struct extract_rkh recorded = *rkh;
        if (rkh_tcfg_read_frame(&recorded, &frame, bytes) &&
            rkh_wire_pack(&recorded) != rkh_wire_pack(rkh))
            return;
        struct sample *sample = &pool->sample[pool->count++];
        *sample = (struct sample){pool->used, frame.whole, frame.sum};
        rkh_frame_unstuff(&frame, bytes, pool->bytes + pool->used);
        pool->used += frame.whole;
    }
}

// ---- How well values fit ----

// Returns whether consecutive frames have consecutive numbers in their second byte.
static bool is_numbered(const struct pool *pool)
{
    unsigned steps = 0, pairs = 0;

    for (unsigned i = 1; i < pool->count; i++) {
        const struct sample *a = &pool->sample[i - 1], *b = &pool->sample[i];
        if (a->length < 2 || b->length < 2 || pool->bytes[a->at] == RKH_FWK_TCFG ||
            pool->bytes[b->at] == RKH_FWK_TCFG)
            continue;
        pairs++;
        steps += (uint8_t)(pool->bytes[b->at + 1] - pool->bytes[a->at + 1]) == 1;
    }
    return pairs && steps * 4 >= pairs * 3;
}

// Returns the words of a sample if it is used by this search; otherwise NULL.
static const uint8_t *words_of(const struct search *search, const struct rkh_wire *wire,
                               const struct sample *sample)
{
    int id = rkh_id(wire->family, search->pool->bytes[sample->at]);
    const uint8_t *words =
        id < 0 || id == RKH_FWK_TCFG ? NULL : rkh_words(wire->family, (unsigned)id);

    return words && search->is_used(words) ? words : NULL;
}

// Returns whether a sample has the exact length. `odd` counts samples in which a queue or a pool
// has more than 255 elements or blocks: it is just as likely that these are two one-byte arguments.
static bool fits_sample(const struct search *search, const struct rkh_wire *wire,
                        const struct sample *sample, unsigned *odd)
{
    const uint8_t *bytes = search->pool->bytes + sample->at;
    uint32_t head = 1u + wire->nseq + wire->ts, around = head + wire->chk;
    struct rkh_args args;
    struct rkh_item item;
    bool is_odd = false;

    if (sample->length < around ||
        !rkh_args_open(&args, wire, (unsigned)rkh_id(wire->family, bytes[0]), bytes + head,
                       sample->length - around))
        return false;
    while (rkh_args_next(&args, &item))
        is_odd |=
            item.value > UINT8_MAX && (item.word == RKH_WORD_nelem || item.word == RKH_WORD_qnmin ||
                                       item.word == RKH_WORD_nblk || item.word == RKH_WORD_mpnmin);
    *odd += is_odd && rkh_args_fit(&args);
    return rkh_args_fit(&args);
}

static unsigned count_fits(struct search *search)
{
    const struct pool *pool = search->pool;
    struct rkh_wire wire;
    unsigned fits = 0;

    rkh_wire_unpack(&wire, rkh_wire_pack(search->rkh));
    search->total = search->odd = 0;
    for (unsigned i = 0; i < pool->count; i++)
        if (words_of(search, &wire, &pool->sample[i])) {
            search->total++;
            fits += fits_sample(search, &wire, &pool->sample[i], &search->odd);
        }
    return fits;
}

// ---- The search ----

// Adds the values to try; only one for a setting that is known. For a timestamp, the firmware's
// types give the size it has if it is present. If `distrust`, the types are another firmware's.
static void add_axis(struct search *search, const struct axis *wanted, bool distrust)
{
    const struct extract_rkh *rkh = search->rkh;
    enum extract_rkh_key key = wanted->key;
    struct axis *axis = &search->axis[search->axes++];
    bool dwarf = rkh->from[key] == EXTRACT_RKH_DWARF;

    if (rkh->from[key] == EXTRACT_RKH_DEFAULT || (dwarf && distrust))
        *axis = *wanted;
    else if (dwarf && key == EXTRACT_RKH_TS)
        *axis = (struct axis){key, {rkh->value[key], 0}, 2, 0};
    else
        *axis = (struct axis){key, {rkh->value[key]}, 1, 0};
}

static bool next_combination(struct search *search)
{
    for (unsigned i = 0; i < search->axes; i++) {
        struct axis *axis = &search->axis[i];
        axis->at = (axis->at + 1) % axis->count;
        if (axis->at)
            return true;
    }
    return false;
}

static void list_combination(struct search *search)
{
    size_t used = strlen(search->list);

    for (unsigned i = 0; i < search->axes && search->ties < MAX_LISTED; i++) {
        const struct axis *axis = &search->axis[i];
        int more = snprintf(search->list + used, LIST_BYTES - used, "%s%s=%u",
                            i      ? ","
                            : used ? " or "
                                   : "",
                            extract_rkh_name(axis->key), axis->value[axis->at]);
        used += more > 0 && (size_t)more < LIST_BYTES - used ? (size_t)more : 0;
    }
}

static void try_combination(struct search *search, bool numbered)
{
    bool nseq = search->rkh->value[EXTRACT_RKH_NSEQ];

    if (search->continuity && nseq != numbered)
        return;
    unsigned fits = count_fits(search);
    if (fits < search->best || (fits == search->best && search->odd > search->oddest))
        return;
    if (fits > search->best || search->odd < search->oddest || !search->list[0]) {
        search->ties = search->varied = 0;
        search->list[0] = 0;
        for (unsigned i = 0; i < search->axes; i++)
            search->winner[i] = search->axis[i].value[search->axis[i].at];
    } else {
        search->ties++;
        for (unsigned i = 0; i < search->axes; i++)
            if (search->winner[i] != search->axis[i].value[search->axis[i].at])
                search->varied |= (uint8_t)(1u << i);
    }
    search->best = fits;
    search->oddest = search->odd;
    list_combination(search);
}

// Tries all combinations, and leaves the best values in `rkh`. A value is marked as inferred if no
// other value fits as well.
static void run_search(struct search *search)
{
    struct extract_rkh *rkh = search->rkh;
    bool numbered = is_numbered(search->pool);

    do {
        for (unsigned i = 0; i < search->axes; i++)
            rkh->value[search->axis[i].key] = search->axis[i].value[search->axis[i].at];
        try_combination(search, numbered);
    } while (next_combination(search));
    for (unsigned i = 0; i < search->axes; i++) {
        struct axis *axis = &search->axis[i];
        rkh->value[axis->key] = search->winner[i];
        if (axis->count > 1 && search->best && !(search->varied >> i & 1))
            rkh->from[axis->key] = EXTRACT_RKH_INFERENCE;
    }
}

// ---- The groups of settings ----

static bool contains_any(const uint8_t *words, uint32_t set)
{
    for (; *words; words++)
        if (set >> *words & 1)
            return true;
    return false;
}

#define BIT(word) (1u << RKH_WORD_##word)

// Selects events that consist of addresses, signals and bytes.
static bool is_core_event(const uint8_t *words)
{
    return *words && !contains_any(words, ~(BIT(sym) | BIT(sig) | BIT(pool1) | BIT(u8)));
}

static bool is_queue_event(const uint8_t *words)
{
    return contains_any(words, BIT(nelem) | BIT(sndr)) && !contains_any(words, BIT(fun));
}

static bool is_pool_event(const uint8_t *words)
{
    return contains_any(words, BIT(nblk) | BIT(esize) | BIT(bsize));
}

static bool is_timer_event(const uint8_t *words)
{
    return contains_any(words, BIT(ntick));
}

static bool is_function_event(const uint8_t *words)
{
    return contains_any(words, BIT(fun) | BIT(items));
}

// Tries all values. If too few frames fit, tries those that the firmware's types exclude.
static void search_values(struct search *search, const struct axis *axes, unsigned count)
{
    struct extract_rkh known = *search->rkh, trusted;

    for (unsigned i = 0; i < count; i++)
        add_axis(search, &axes[i], false);
    run_search(search);
    if (search->best * 10 >= search->total * 9)
        return;
    struct search free = {.pool = search->pool,
                          .rkh = search->rkh,
                          .is_used = search->is_used,
                          .continuity = search->continuity};
    trusted = *search->rkh;
    *search->rkh = known;
    for (unsigned i = 0; i < count; i++)
        add_axis(&free, &axes[i], true);
    run_search(&free);
    if (free.best > search->best)
        *search = free;
    else
        *search->rkh = trusted;
}

// Reports that the settings are not certain. If hardly any frame fits, the stream may be of a
// version with other ids, which no frame shows.
static enum extract_code report_open_settings(const struct search *search, bool fits,
                                              struct extract_error *error)
{
    if (search->rkh->lacks_types)
        return extract_error_set(error, EXTRACT_BAD, "RKH stream",
                                 "set them with --rkh, or use an ELF file that was built with -g",
                                 "stream has no TCFG record, its ELF file has no debugging "
                                 "information of RKH, and its frames do not show their "
                                 "layout: %s",
                                 search->total ? search->list : "too few frames");
    return extract_error_set(
        error, EXTRACT_BAD, "RKH stream",
        fits ? "set them with --rkh, or pass the firmware with --elf"
             : "set them with --rkh, or pass the firmware with --elf; streams of RKH 2.0 to 2.2, "
               "whose events have other numbers, cannot be read",
        "stream has no TCFG record, and its frames do not show their "
        "layout: %s",
        search->total ? search->list : "too few frames");
}

static enum extract_code find_core(const struct pool *pool, struct extract_rkh *rkh,
                                   struct extract_error *error)
{
    static const struct axis axes[] = {{EXTRACT_RKH_NSEQ, {1, 0}, 2, 0},
                                       {EXTRACT_RKH_TS, {4, 2, 1, 0}, 4, 0},
                                       {EXTRACT_RKH_PTR, {4, 2}, 2, 0},
                                       {EXTRACT_RKH_SIG, {1, 2, 4}, 3, 0}};
    struct search search = {.pool = pool,
                            .rkh = rkh,
                            .is_used = is_core_event,
                            .continuity = !rkh->from[EXTRACT_RKH_NSEQ]};
    unsigned combinations = 1;

    search_values(&search, axes, sizeof axes / sizeof *axes);
    for (unsigned i = 0; i < search.axes; i++)
        combinations *= search.axis[i].count;
    bool fits = search.best >= MIN_FITS && search.best * 2 > search.total;
    return combinations == 1 || (fits && !search.ties) ? EXTRACT_OK
                                                       : report_open_settings(&search, fits, error);
}

// Returns how many frames depend on a setting, and in *fits how many of these fit.
static unsigned count_dependent(const struct search *search, enum extract_rkh_key key,
                                unsigned *fits)
{
    static const uint32_t dependent_words[EXTRACT_RKH_KEYS] = {
        [EXTRACT_RKH_FUN] = BIT(fun) | BIT(items),
        [EXTRACT_RKH_ESIZE] = BIT(esize),
        [EXTRACT_RKH_NBLK] = BIT(nblk) | BIT(mpnmin),
        [EXTRACT_RKH_BSIZE] = BIT(bsize),
        [EXTRACT_RKH_NELEM] = BIT(nelem),
        [EXTRACT_RKH_NTICK] = BIT(ntick),
        [EXTRACT_RKH_SNDR] = BIT(sndr),
        [EXTRACT_RKH_QNMIN] = BIT(qnmin),
        [EXTRACT_RKH_MPNMIN] = BIT(mpnmin)};
    struct rkh_wire wire;
    unsigned dependent = 0, odd = 0;

    rkh_wire_unpack(&wire, rkh_wire_pack(search->rkh));
    *fits = 0;
    for (unsigned i = 0; i < search->pool->count; i++) {
        const struct sample *sample = &search->pool->sample[i];
        const uint8_t *words = words_of(search, &wire, sample);
        if (words && contains_any(words, dependent_words[key])) {
            dependent++;
            *fits += fits_sample(search, &wire, sample, &odd);
        }
    }
    return dependent;
}

// Infers a group of settings. A value that half a frame may have suggested is only a default.
// Errors: BAD (several combinations of the same length fit as well, and frames would mean something
// else with each).
static enum extract_code find_group(const struct pool *pool, struct extract_rkh *rkh,
                                    bool (*is_used)(const uint8_t *), const struct axis *axes,
                                    unsigned count, struct extract_error *error)
{
    struct search search = {.pool = pool, .rkh = rkh, .is_used = is_used};
    bool chk = rkh->value[EXTRACT_RKH_CHK], open = false;

    search_values(&search, axes, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned fits, dependent = count_dependent(&search, axes[i].key, &fits);
        if (rkh->from[axes[i].key] == EXTRACT_RKH_INFERENCE &&
            (fits * 2 <= dependent || (!chk && fits < 2 && search.best < search.total)))
            rkh->from[axes[i].key] = EXTRACT_RKH_DEFAULT;
        open |= count > 1 && (search.varied >> i & 1) && fits >= MIN_FITS && fits * 2 > dependent;
    }
    return open ? report_open_settings(&search, true, error) : EXTRACT_OK;
}

static enum extract_code find_rest(const struct pool *pool, struct extract_rkh *rkh,
                                   struct extract_error *error)
{
    static const struct axis queues[] = {{EXTRACT_RKH_NELEM, {1, 2, 4}, 3, 0},
                                         {EXTRACT_RKH_QNMIN, {1, 0}, 2, 0},
                                         {EXTRACT_RKH_SNDR, {1, 0}, 2, 0}};
    static const struct axis pools[] = {{EXTRACT_RKH_NBLK, {1, 2, 4}, 3, 0},
                                        {EXTRACT_RKH_MPNMIN, {1, 0}, 2, 0},
                                        {EXTRACT_RKH_BSIZE, {1, 2, 4}, 3, 0},
                                        {EXTRACT_RKH_ESIZE, {2, 1, 4}, 3, 0}};
    static const struct axis timers[] = {{EXTRACT_RKH_NTICK, {2, 1, 4}, 3, 0}};
    uint32_t pointer = rkh->value[EXTRACT_RKH_PTR];
    const struct axis functions[] = {{EXTRACT_RKH_FUN, {pointer, 6 - pointer}, 2, 0}};
    enum extract_code code = find_group(pool, rkh, is_queue_event, queues, 3, error);

    if (!code)
        code = find_group(pool, rkh, is_pool_event, pools, 4, error);
    if (!code)
        code = find_group(pool, rkh, is_timer_event, timers, 1, error);
    return code ? code : find_group(pool, rkh, is_function_event, functions, 1, error);
}

// Infers whether there is a checksum, and removes the samples in which it is wrong. A sum of 0
// occurs by chance once in 256 frames.
static void find_checksum(struct pool *pool, struct extract_rkh *rkh)
{
    unsigned right = 0;

    for (unsigned i = 0; i < pool->count; i++)
        right += !pool->sample[i].sum;
    if (rkh->from[EXTRACT_RKH_CHK] == EXTRACT_RKH_DEFAULT) {
        rkh->value[EXTRACT_RKH_CHK] = right * 2 > pool->count;
        rkh->from[EXTRACT_RKH_CHK] = EXTRACT_RKH_INFERENCE;
    }
    if (!rkh->value[EXTRACT_RKH_CHK])
        return;
    unsigned kept = 0;
    for (unsigned i = 0; i < pool->count; i++)
        if (!pool->sample[i].sum)
            pool->sample[kept++] = pool->sample[i];
    pool->count = kept;
}

enum extract_code rkh_infer(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length,
                            struct extract_error *error)
{
    struct pool pool;
    enum extract_code code = EXTRACT_OK;

    rkh_defaults(rkh);
    if (!pool_open(&pool, length)) {
        pool_close(&pool);
        return extract_error_set(error, EXTRACT_NOMEM, "RKH stream", NULL, "out of memory");
    }
    pool_fill(&pool, rkh, bytes, length);
    if (pool.count) {
        find_checksum(&pool, rkh);
        code = find_core(&pool, rkh, error);
    }
    if (pool.count && !code)
        code = find_rest(&pool, rkh, error);
    pool_close(&pool);
    return code;
}
