// SPDX-License-Identifier: MIT
// formats/rkh: settings by inference. In: frames, and the settings that are known. Out: those of
// the others that let most frames have the exact length of their event's arguments.
//
// Source: docs/formats/rkh.md, "Inference".
#include "formats/rkh/rkh.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 2048,
    MAX_SAMPLE = 512, // bytes of a frame that is worth to be looked at
    AXES = 4,
    VALUES = 4,
    LEAST = 3,  // frames that must fit
    LISTED = 4, // candidates in a message
    LIST_ROOM = 200
};

struct sample {
    uint32_t at, length; // in the pool
    uint8_t sum;
};

struct pool {
    uint8_t *bytes;
    struct sample *sample;
    unsigned count;
    uint32_t used;
};

// Values that a setting may have.
struct axis {
    enum extract_rkh_key key;
    uint32_t value[VALUES];
    unsigned count, at;
};

struct search {
    const struct pool *pool;
    struct extract_rkh *rkh;
    struct axis axis[AXES];
    unsigned axes;
    bool (*asks)(const uint8_t *words);
    bool continuity; // sequence numbers are asked, too
    // What was found:
    unsigned total, best; // frames that were asked; that fit with the best values
    unsigned odd, oddest; // of those that fit, with unlikely numbers; with the best values
    unsigned ties;        // other values with which as many fit
    uint32_t winner[AXES];
    uint8_t varied; // bit an axis: other values of it do as well
    char list[LIST_ROOM];
};

// ---- the frames ----

// Frames take no more room than they do with their stuffing.
static bool pool_open(struct pool *pool, uint32_t length)
{
    size_t most = length < SAMPLES * MAX_SAMPLE ? length : SAMPLES * MAX_SAMPLE;
    *pool =
        (struct pool){.bytes = malloc(most + 1), .sample = malloc(SAMPLES * sizeof(struct sample))};
    return pool->bytes && pool->sample;
}

static void pool_close(struct pool *pool)
{
    free(pool->bytes);
    free(pool->sample);
}

// Whether a frame is a record of other settings.
static bool is_other(const struct extract_rkh *rkh, const struct rkh_frame *frame,
                     const uint8_t *bytes)
{
    struct extract_rkh told = *rkh;
    return rkh_tcfg_take(&told, frame, bytes) && rkh_wire_pack(&told) != rkh_wire_pack(rkh);
}

// What lies in front of the first flag may be half a frame. Frames behind a record of other
// settings are not asked.
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
        if (is_other(rkh, &frame, bytes))
            return;
        struct sample *sample = &pool->sample[pool->count++];
        *sample = (struct sample){pool->used, frame.whole, frame.sum};
        rkh_frame_unstuff(&frame, bytes, pool->bytes + pool->used);
        pool->used += frame.whole;
    }
}

// What has a wrong checksum tells nothing.
static void pool_sift(struct pool *pool)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < pool->count; i++)
        if (!pool->sample[i].sum)
            pool->sample[kept++] = pool->sample[i];
    pool->count = kept;
}

// ---- how well values fit ----

// Whether consecutive frames are numbered, by their second byte.
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

// The words of a sample that is asked, else NULL.
static const uint8_t *words_of(const struct search *search, const struct rkh_wire *wire,
                               const struct sample *sample)
{
    int id = rkh_id(wire->family, search->pool->bytes[sample->at]);
    const uint8_t *words =
        id < 0 || id == RKH_FWK_TCFG ? NULL : rkh_words(wire->family, (unsigned)id);
    return words && search->asks(words) ? words : NULL;
}

// Whether a sample has the exact length. `odd` counts those in which a queue or a pool has more
// than 255 elements or blocks: as likely, two settings of one byte lie there.
static bool fits_in(const struct search *search, const struct rkh_wire *wire,
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

static unsigned score(struct search *search)
{
    const struct pool *pool = search->pool;
    struct rkh_wire wire;
    unsigned fits = 0;
    rkh_wire_unpack(&wire, rkh_wire_pack(search->rkh));
    search->total = search->odd = 0;
    for (unsigned i = 0; i < pool->count; i++)
        if (words_of(search, &wire, &pool->sample[i])) {
            search->total++;
            fits += fits_in(search, &wire, &pool->sample[i], &search->odd);
        }
    return fits;
}

// ---- the search ----

// The values to try: one for a setting that is known. Of a stamp, the firmware's types say how long
// it is when there is one. `distrust`: they are another firmware's.
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

static bool next_place(struct search *search)
{
    for (unsigned i = 0; i < search->axes; i++) {
        struct axis *axis = &search->axis[i];
        axis->at = (axis->at + 1) % axis->count;
        if (axis->at)
            return true;
    }
    return false;
}

static void list_place(struct search *search)
{
    size_t used = strlen(search->list);
    for (unsigned i = 0; i < search->axes && search->ties < LISTED; i++) {
        const struct axis *axis = &search->axis[i];
        int more = snprintf(search->list + used, LIST_ROOM - used, "%s%s=%u",
                            i      ? ","
                            : used ? " or "
                                   : "",
                            extract_rkh_name(axis->key), axis->value[axis->at]);
        used += more > 0 && (size_t)more < LIST_ROOM - used ? (size_t)more : 0;
    }
}

static void try_place(struct search *search, bool numbered)
{
    bool nseq = search->rkh->value[EXTRACT_RKH_NSEQ];
    if (search->continuity && nseq != numbered)
        return;
    unsigned fits = score(search);
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
    list_place(search);
}

// Leaves the best values in `rkh`; each is said to be inferred when no other one does as well.
static void run(struct search *search)
{
    struct extract_rkh *rkh = search->rkh;
    bool numbered = is_numbered(search->pool);
    do {
        for (unsigned i = 0; i < search->axes; i++)
            rkh->value[search->axis[i].key] = search->axis[i].value[search->axis[i].at];
        try_place(search, numbered);
    } while (next_place(search));
    for (unsigned i = 0; i < search->axes; i++) {
        struct axis *axis = &search->axis[i];
        rkh->value[axis->key] = search->winner[i];
        if (axis->count > 1 && search->best && !(search->varied >> i & 1))
            rkh->from[axis->key] = EXTRACT_RKH_INFERENCE;
    }
}

// ---- what is looked for ----

static bool holds(const uint8_t *words, uint32_t set)
{
    for (; *words; words++)
        if (set >> *words & 1)
            return true;
    return false;
}

#define BIT(word) (1u << RKH_WORD_##word)

// Events of addresses, signals and bytes alone.
static bool asks_core(const uint8_t *words)
{
    return *words && !holds(words, ~(BIT(sym) | BIT(sig) | BIT(pool1) | BIT(u8)));
}

static bool asks_queues(const uint8_t *words)
{
    return holds(words, BIT(nelem) | BIT(sndr)) && !holds(words, BIT(fun));
}

static bool asks_pools(const uint8_t *words)
{
    return holds(words, BIT(nblk) | BIT(esize) | BIT(bsize));
}

static bool asks_timers(const uint8_t *words)
{
    return holds(words, BIT(ntick));
}

static bool asks_functions(const uint8_t *words)
{
    return holds(words, BIT(fun) | BIT(items));
}

// Tries all values; and those that the firmware's types exclude when too few frames fit the others.
static void explore(struct search *search, const struct axis *axes, unsigned count)
{
    struct extract_rkh known = *search->rkh, trusted;
    for (unsigned i = 0; i < count; i++)
        add_axis(search, &axes[i], false);
    run(search);
    if (search->best * 10 >= search->total * 9)
        return;
    struct search free = {.pool = search->pool,
                          .rkh = search->rkh,
                          .asks = search->asks,
                          .continuity = search->continuity};
    trusted = *search->rkh;
    *search->rkh = known;
    for (unsigned i = 0; i < count; i++)
        add_axis(&free, &axes[i], true);
    run(&free);
    if (free.best > search->best)
        *search = free;
    else
        *search->rkh = trusted;
}

// Where hardly any frame fits, it may be of a version with other ids, which no frame tells.
static enum extract_code ask(const struct search *search, bool fits, struct extract_error *error)
{
    if (search->rkh->lacks_types)
        return extract_error_set(error, EXTRACT_BAD, "RKH stream",
                                 "say them with --rkh, or use an ELF file that was built with -g",
                                 "it holds no TCFG record, its ELF file has no debugging "
                                 "information of RKH, and its frames do not tell how they are laid "
                                 "out: %s",
                                 search->total ? search->list : "too few are there");
    return extract_error_set(
        error, EXTRACT_BAD, "RKH stream",
        fits ? "say them with --rkh, or give the firmware with --elf"
             : "say them with --rkh, or give the firmware with --elf; streams of RKH 2.0 to 2.2, "
               "whose events have other numbers, are not read",
        "it holds no TCFG record, and its frames do not tell how they are laid "
        "out: %s",
        search->total ? search->list : "too few are there");
}

static enum extract_code find_core(const struct pool *pool, struct extract_rkh *rkh,
                                   struct extract_error *error)
{
    static const struct axis axes[] = {{EXTRACT_RKH_NSEQ, {1, 0}, 2, 0},
                                       {EXTRACT_RKH_TS, {4, 2, 1, 0}, 4, 0},
                                       {EXTRACT_RKH_PTR, {4, 2}, 2, 0},
                                       {EXTRACT_RKH_SIG, {1, 2, 4}, 3, 0}};
    struct search search = {
        .pool = pool, .rkh = rkh, .asks = asks_core, .continuity = !rkh->from[EXTRACT_RKH_NSEQ]};
    unsigned places = 1;
    explore(&search, axes, sizeof axes / sizeof *axes);
    for (unsigned i = 0; i < search.axes; i++)
        places *= search.axis[i].count;
    bool fits = search.best >= LEAST && search.best * 2 > search.total;
    return places == 1 || (fits && !search.ties) ? EXTRACT_OK : ask(&search, fits, error);
}

// The words that a setting shapes.
static uint32_t words_by(enum extract_rkh_key key)
{
    static const uint32_t sets[EXTRACT_RKH_KEYS] = {[EXTRACT_RKH_FUN] = BIT(fun) | BIT(items),
                                                    [EXTRACT_RKH_ESIZE] = BIT(esize),
                                                    [EXTRACT_RKH_NBLK] = BIT(nblk) | BIT(mpnmin),
                                                    [EXTRACT_RKH_BSIZE] = BIT(bsize),
                                                    [EXTRACT_RKH_NELEM] = BIT(nelem),
                                                    [EXTRACT_RKH_NTICK] = BIT(ntick),
                                                    [EXTRACT_RKH_SNDR] = BIT(sndr),
                                                    [EXTRACT_RKH_QNMIN] = BIT(qnmin),
                                                    [EXTRACT_RKH_MPNMIN] = BIT(mpnmin)};
    return sets[key];
}

// How many frames a setting shapes, and how many of these fit.
static unsigned weigh(const struct search *search, enum extract_rkh_key key, unsigned *fits)
{
    struct rkh_wire wire;
    unsigned asked = 0, odd = 0;
    rkh_wire_unpack(&wire, rkh_wire_pack(search->rkh));
    *fits = 0;
    for (unsigned i = 0; i < search->pool->count; i++) {
        const struct sample *sample = &search->pool->sample[i];
        const uint8_t *words = words_of(search, &wire, sample);
        if (words && holds(words, words_by(key))) {
            asked++;
            *fits += fits_in(search, &wire, sample, &odd);
        }
    }
    return asked;
}

// A value for which half a frame may stand is said to be a default. Errors: BAD (several settings
// of one length do as well, and frames would say other things with each).
static enum extract_code find_group(const struct pool *pool, struct extract_rkh *rkh,
                                    bool (*asks)(const uint8_t *), const struct axis *axes,
                                    unsigned count, struct extract_error *error)
{
    struct search search = {.pool = pool, .rkh = rkh, .asks = asks};
    bool chk = rkh->value[EXTRACT_RKH_CHK], open = false;
    explore(&search, axes, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned fits, asked = weigh(&search, axes[i].key, &fits);
        if (rkh->from[axes[i].key] == EXTRACT_RKH_INFERENCE &&
            (fits * 2 <= asked || (!chk && fits < 2 && search.best < search.total)))
            rkh->from[axes[i].key] = EXTRACT_RKH_DEFAULT;
        open |= count > 1 && (search.varied >> i & 1) && fits >= LEAST && fits * 2 > asked;
    }
    return open ? ask(&search, true, error) : EXTRACT_OK;
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
    enum extract_code code = find_group(pool, rkh, asks_queues, queues, 3, error);
    if (!code)
        code = find_group(pool, rkh, asks_pools, pools, 4, error);
    if (!code)
        code = find_group(pool, rkh, asks_timers, timers, 1, error);
    return code ? code : find_group(pool, rkh, asks_functions, functions, 1, error);
}

// Sums of 0 come by chance once in 256 frames.
static void find_checksum(const struct pool *pool, struct extract_rkh *rkh)
{
    unsigned right = 0;
    if (rkh->from[EXTRACT_RKH_CHK] != EXTRACT_RKH_DEFAULT)
        return;
    for (unsigned i = 0; i < pool->count; i++)
        right += !pool->sample[i].sum;
    rkh->value[EXTRACT_RKH_CHK] = right * 2 > pool->count;
    rkh->from[EXTRACT_RKH_CHK] = EXTRACT_RKH_INFERENCE;
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
        if (rkh->value[EXTRACT_RKH_CHK])
            pool_sift(&pool);
        code = find_core(&pool, rkh, error);
    }
    if (pool.count && !code)
        code = find_rest(&pool, rkh, error);
    pool_close(&pool);
    return code;
}
