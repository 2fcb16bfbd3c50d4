// SPDX-License-Identifier: MIT
// formats/rkh: converts ids of any version of the framework to those of 3.x, and gives each its
// type and the layout of its arguments.
//
// Source: docs/formats/rkh.md, "Ids"; the tables are rkh-events.tsv.
#include "formats/rkh/rkh.h"

static const struct extract_event_type types[] = {
#include "rkh_events.inc"
};

#define EXTRACT_CATALOGUE_INDEX
static const uint8_t type_index[RKH_IDS] = {
#include "rkh_events.inc"
};
#undef EXTRACT_CATALOGUE_INDEX

enum { MAX_WORDS = EXTRACT_FIELDS_MAX + 1 };

#define EXTRACT_CATALOGUE_WORD(word) RKH_WORD_##word
static const uint8_t words[RKH_IDS][MAX_WORDS] = {
#include "rkh_events.inc"
};

// The arguments that were different before 3.0.
static const struct {
    unsigned id;
    uint8_t words[MAX_WORDS];
} old_words[] = {
    {64, {RKH_WORD_sym, RKH_WORD_u8}},
    {66, {RKH_WORD_sym, RKH_WORD_sig, RKH_WORD_pool1, RKH_WORD_u8}},
    {67, {RKH_WORD_sym, RKH_WORD_sig, RKH_WORD_sndr, RKH_WORD_pool1, RKH_WORD_u8}},
    {68, {RKH_WORD_sym, RKH_WORD_sig, RKH_WORD_sndr, RKH_WORD_pool1, RKH_WORD_u8}},
    {162, {RKH_WORD_pool1, RKH_WORD_u32, RKH_WORD_esize}},
    {163, {RKH_WORD_esize, RKH_WORD_sig, RKH_WORD_u8, RKH_WORD_u8}},
    {165, {RKH_WORD_sig, RKH_WORD_u8, RKH_WORD_u8}},
    {178, {RKH_WORD_sym, RKH_WORD_str}},
};

enum { SMA_FIFO = 67, SMA_LIFO = 68, FWK_AE = 163, FWK_GCR = 165, SM_DCH = 113 };

#define OBJECT(label)                                                                              \
    {                                                                                              \
        label, EXTRACT_KIND_OBJECT                                                                 \
    }
#define NUMBER(label)                                                                              \
    {                                                                                              \
        label, EXTRACT_KIND_DEC                                                                    \
    }

// Types without their middle argument, which may be missing.
#define POST(id, symbol, name)                                                                     \
    {                                                                                              \
        id, symbol, name, EXTRACT_SVC, 6, false,                                                   \
        {                                                                                          \
            OBJECT("ao"), {"sig", EXTRACT_KIND_SIGNAL}, {"pool", EXTRACT_KIND_POOL},               \
                NUMBER("refc"), NUMBER("nelem"), NUMBER("nmin")                                    \
        }                                                                                          \
    }

static const struct extract_event_type without_sender[] = {
    POST(SMA_FIFO, "RKH_TE_SMA_FIFO", "post"),
    POST(SMA_LIFO, "RKH_TE_SMA_LIFO", "post first"),
};

static const struct extract_event_type allocate_without_mark = {FWK_AE,
                                                                "RKH_TE_FWK_AE",
                                                                "event allocate",
                                                                EXTRACT_SVC,
                                                                6,
                                                                false,
                                                                {NUMBER("esize"),
                                                                 {"sig", EXTRACT_KIND_SIGNAL},
                                                                 {"pool", EXTRACT_KIND_POOL},
                                                                 NUMBER("refc"),
                                                                 NUMBER("nused"),
                                                                 OBJECT("sender")}};

static const struct extract_event_type free_without_mark = {FWK_GCR,
                                                            "RKH_TE_FWK_GCR",
                                                            "event free",
                                                            EXTRACT_SVC,
                                                            5,
                                                            false,
                                                            {{"sig", EXTRACT_KIND_SIGNAL},
                                                             {"pool", EXTRACT_KIND_POOL},
                                                             NUMBER("refc"),
                                                             NUMBER("nused"),
                                                             OBJECT("sender")}};

static const struct extract_event_type old_pool_name = {
    RKH_FWK_EPOOL,
    "RKH_TE_FWK_EPOOL",
    "name of event pool",
    EXTRACT_SVC,
    2,
    false,
    {OBJECT("ep"), {"name", EXTRACT_KIND_TEXT}}};

static const struct extract_event_type user = {
    .id = RKH_USER,
    .symbol = "RKH_TE_USER",
    .name = "user event",
    .class_ = EXTRACT_APPL,
    .range = true,
};

static const struct extract_event_type unknown = {
    .symbol = "RKH_TE_UNKNOWN", .name = "unknown event", .class_ = EXTRACT_KERN, .range = true};

const struct extract_event_type *rkh_type(uint32_t id)
{
    if (id >= RKH_USER && id < RKH_USER_END)
        return &user;
    return id < RKH_IDS && type_index[id] ? &types[type_index[id] - 1] : &unknown;
}

const struct extract_event_type *rkh_type_on(const struct rkh_wire *wire, unsigned id)
{
    bool old = wire->family != RKH_FAMILY_3;

    if ((id == SMA_FIFO || id == SMA_LIFO) && !wire->size[RKH_WORD_sndr])
        return &without_sender[id - SMA_FIFO];
    if (id == FWK_AE && !wire->size[RKH_WORD_mpnmin])
        return &allocate_without_mark;
    if (id == FWK_GCR && !wire->size[RKH_WORD_mpnmin])
        return &free_without_mark;
    return id == RKH_FWK_EPOOL && old ? &old_pool_name : rkh_type(id);
}

const uint8_t *rkh_words(enum rkh_family family, unsigned id)
{
    static const uint8_t short_dispatch[] = {RKH_WORD_sym, RKH_WORD_sig, RKH_WORD_none};

    if (id >= RKH_USER && id < RKH_USER_END)
        return words[RKH_USER];
    if (id >= RKH_IDS || !type_index[id])
        return NULL;
    if (id == SM_DCH && family >= RKH_FAMILY_243)
        return short_dispatch;
    for (size_t i = 0; family && i < sizeof old_words / sizeof *old_words; i++)
        if (old_words[i].id == id)
            return old_words[i].words;
    return words[id];
}

// Convert ids of the groups SM and FWK, which were renumbered with 3.0.
static int convert_sm_id(enum rkh_family family, int id)
{
    if (family >= RKH_FAMILY_243)
        return id == 98 ? SM_DCH : id > 112 ? -1 : id > 98 ? id - 1 : id;
    return id > 112 || (id == 112 && family != RKH_FAMILY_245) ? -1 : id;
}

static int convert_fwk_id(enum rkh_family family, int id)
{
    int last = family == RKH_FAMILY_245 ? 181 : family == RKH_FAMILY_23 ? 174 : 180;

    if (id <= 165)
        return id;
    if (id <= 167)
        return id - 166 + 71; // DEFER and RCALL
    if (id > last)
        return -1;
    return id <= 171 || family == RKH_FAMILY_245 ? id - 2 : id - 1;
}

int rkh_id(enum rkh_family family, unsigned id)
{
    int found = (int)id;

    if (family == RKH_FAMILY_3)
        found = (int)id;
    else if (id == 71)
        found = family <= RKH_FAMILY_244 ? SM_DCH : -1;
    else if (id == 72 || (id >= 224 && (family != RKH_FAMILY_245 || id > 233)))
        found = -1;
    else if (id >= 96 && id < 128)
        found = convert_sm_id(family, found);
    else if (id >= 160 && id < 192)
        found = convert_fwk_id(family, found);
    return found >= 0 && rkh_words(family, (unsigned)found) ? found : -1;
}
