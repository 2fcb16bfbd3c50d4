// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: filters of groups, events, active objects and signals. In: what is to pass.
// Out: whether an event does. A debugger may write these tables while the target runs. They are 0
// at start-up: nothing passes.
#include "trace.h"

enum { EVENT_BYTES = 17, NUMBER_BITS = 5 };
#define SLOTS(bits) (((bits) + 7) / 8)

#if RKH_CFG_FWK_MAX_SIGNALS / 8 > 255 || RKH_CFG_FWK_MAX_SMA / 8 > 255
typedef rui16_t FSLOT;
#else
typedef rui8_t FSLOT;
#endif

// Which bytes of the events' table a group has.
struct group_map {
    rui8_t offset, range;
};
static const struct group_map trcgmtbl[RKH_GROUPS] = {{0, 1}, {1, 1}, {2, 2},  {4, 3},
                                                      {7, 1}, {8, 3}, {11, 4}, {15, 2}};
static rui8_t trcgfilter;
static rui8_t trceftbl[EVENT_BYTES];
static rui8_t trcsmaftbl[SLOTS(RKH_CFG_FWK_MAX_SMA)];
static rui8_t trcsigftbl[SLOTS(RKH_CFG_FWK_MAX_SIGNALS)];

struct filter_table {
    FSLOT size;
    rui8_t *tbl;
};
static const struct filter_table fsig = {sizeof trcsigftbl, trcsigftbl};
static const struct filter_table fsma = {sizeof trcsmaftbl, trcsmaftbl};

// Signals that the framework keeps to itself.
#define COMPLETION_EVENT ((RKH_SIG_T) ~(RKH_SIG_T)1)

static void set_bit(rui8_t *byte, unsigned bit, enum rkh_filter filter)
{
    if (filter == RKH_FILTER_OFF)
        *byte = (rui8_t)(*byte | 1U << bit);
    else
        *byte = (rui8_t)(*byte & ~(1U << bit));
}

static rui8_t *byte_of(RKH_TE_ID_T event)
{
    unsigned number = event % RKH_EVENTS_OF_GROUP;
    struct group_map map = trcgmtbl[event >> NUMBER_BITS];
    return number / 8 < map.range ? &trceftbl[map.offset + number / 8] : NULL;
}

static bool slot_passes(const struct filter_table *table, rui32_t slot)
{
    return slot / 8 < table->size && table->tbl[slot / 8] >> slot % 8 & 1;
}

static void set_slot(const struct filter_table *table, rui32_t slot, enum rkh_filter filter)
{
    if (slot / 8 < table->size)
        set_bit(&table->tbl[slot / 8], (unsigned)(slot % 8), filter);
}

static void set_all(rui8_t *table, unsigned bytes, enum rkh_filter filter)
{
    for (unsigned i = 0; i < bytes; i++)
        table[i] = filter == RKH_FILTER_OFF ? 0xFF : 0;
}

bool rkh_trc_passes(RKH_TE_ID_T event)
{
    const rui8_t *byte = byte_of(event);
    return trcgfilter >> (event >> NUMBER_BITS) & 1 && byte && *byte >> event % 8 & 1;
}

bool rkh_trc_passes_object(RKH_TE_ID_T event, rui8_t priority)
{
    return rkh_trc_passes(event) && slot_passes(&fsma, priority);
}

bool rkh_trc_passes_signal(RKH_TE_ID_T event, rui8_t priority, RKH_SIG_T signal)
{
    return rkh_trc_passes_object(event, priority) &&
           (signal == COMPLETION_EVENT || slot_passes(&fsig, signal));
}

void rkh_filter_group(enum rkh_filter filter, unsigned group)
{
    set_bit(&trcgfilter, group % RKH_GROUPS, filter);
}

void rkh_filter_group_all_events(enum rkh_filter filter, unsigned group)
{
    struct group_map map = trcgmtbl[group % RKH_GROUPS];
    rkh_filter_group(filter, group);
    set_all(&trceftbl[map.offset], map.range, filter);
}

void rkh_filter_event(enum rkh_filter filter, RKH_TE_ID_T event)
{
    rui8_t *byte = byte_of(event);
    if (!byte)
        return;
    set_bit(byte, event % 8, filter);
    if (filter == RKH_FILTER_OFF)
        rkh_filter_group(filter, event >> NUMBER_BITS);
}

void rkh_filter_sma(enum rkh_filter filter, rui8_t priority)
{
    set_slot(&fsma, priority, filter);
}

void rkh_filter_all_sma(enum rkh_filter filter)
{
    set_all(trcsmaftbl, sizeof trcsmaftbl, filter);
}

void rkh_filter_signal(enum rkh_filter filter, RKH_SIG_T signal)
{
    set_slot(&fsig, signal, filter);
}

void rkh_filter_all_signals(enum rkh_filter filter)
{
    set_all(trcsigftbl, sizeof trcsigftbl, filter);
}

void rkh_filter_everything(enum rkh_filter filter)
{
    for (unsigned group = 0; group < RKH_GROUPS; group++)
        rkh_filter_group_all_events(filter, group);
    rkh_filter_all_sma(filter);
    rkh_filter_all_signals(filter);
}
