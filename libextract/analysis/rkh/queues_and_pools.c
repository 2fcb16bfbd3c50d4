// SPDX-License-Identifier: MIT
// analysis/rkh: what stores events and blocks. In: events of queues and pools. Out: how full they
// were, how often they were asked, and how often in vain.
#include "analysis/rkh/analysis.h"

static void note_field(struct rkh_range *range, const struct extract_event *event,
                       const char *label)
{
    uint64_t value;
    if (rkh_field(event, label, &value))
        rkh_range_note(range, value);
}

// ---- queues ----

static void take_queue(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address;
    struct rkh_queue *queue;
    if (!rkh_field(event, "q", &address))
        return;
    if (!(queue = rkh_table_at(&study->queues, rkh_analysis_key(study, address), NULL))) {
        study->failed = true;
        return;
    }
    queue->address = address;
    queue->seq = study->now.seq;
    if (event->id == RKH_QUE_INIT) {
        rkh_field(event, "ao", &queue->object);
        rkh_field(event, "nelem", &queue->size);
    }
    if (!study->now.counts || event->id == RKH_QUE_INIT)
        return;
    queue->fifo += event->id == RKH_QUE_FIFO;
    queue->lifo += event->id == RKH_QUE_LIFO;
    queue->gets += event->id == RKH_QUE_GET || event->id == RKH_QUE_GET_LAST;
    queue->full += event->id == RKH_QUE_FULL;
    queue->empty += event->id == RKH_QUE_DPT;
    queue->deferred += event->id == RKH_SMA_DEFER;
    note_field(&queue->queued, event, "nelem");
    note_field(&queue->low, event, "nmin");
    if (event->id == RKH_QUE_GET_LAST)
        rkh_range_note(&queue->queued, 0);
}

// ---- pools ----

static void take_pool(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address, free = 0;
    struct rkh_pool *pool;
    if (!rkh_field(event, "mp", &address))
        return;
    if (!(pool = rkh_table_at(&study->pools, rkh_analysis_key(study, address), NULL))) {
        study->failed = true;
        return;
    }
    pool->address = address;
    pool->seq = study->now.seq;
    if (event->id == RKH_MP_INIT) {
        rkh_field(event, "nblocks", &pool->blocks);
        rkh_field(event, "bsize", &pool->block_size);
    }
    if (!study->now.counts || event->id == RKH_MP_INIT)
        return;
    pool->gets += event->id == RKH_MP_GET;
    pool->puts += event->id == RKH_MP_PUT;
    note_field(&pool->free, event, "nfree");
    note_field(&pool->low, event, "nmin");
    pool->exhausted += event->id == RKH_MP_GET && rkh_field(event, "nfree", &free) && !free;
}

static struct rkh_event_pool *event_pool_at(struct rkh_analysis *study, uint64_t index)
{
    struct rkh_event_pool *pool =
        rkh_table_at(&study->event_pools, rkh_analysis_key(study, index), NULL);
    study->failed |= !pool;
    if (!pool)
        return NULL;
    pool->index = index;
    pool->seq = study->now.seq;
    return pool;
}

// Records of framework 2.4 do not say how many blocks there are.
static void count_event_pool(struct rkh_event_pool *pool, const struct extract_event *event)
{
    uint64_t used;
    pool->allocations += event->id == RKH_FWK_AE;
    pool->collections += event->id == RKH_FWK_GCR;
    pool->dropped += event->id == RKH_FWK_GC;
    note_field(&pool->used, event, "nused");
    note_field(&pool->low, event, "nmin");
    pool->exhausted += event->id == RKH_FWK_AE && pool->blocks &&
                       rkh_field(event, "nused", &used) && used >= pool->blocks;
}

static void take_event_pool(struct rkh_analysis *study, const struct extract_event *event)
{
    struct rkh_event_pool *pool;
    uint64_t number;
    if (!rkh_field(event, "pool", &number) || number == EXTRACT_NO_POOL ||
        !(pool = event_pool_at(study, number)))
        return;
    if (event->id == RKH_FWK_EPREG) {
        rkh_field(event, "nblk", &pool->blocks);
        rkh_field(event, "esize", &pool->event_size);
    } else if (study->now.counts) {
        count_event_pool(pool, event);
    }
}

void rkh_stores_take(struct rkh_analysis *study, const struct extract_event *event)
{
    if (event->id <= RKH_MP_PUT)
        take_pool(study, event);
    else if ((event->id >= RKH_QUE_INIT && event->id <= RKH_QUE_GET_LAST) ||
             event->id == RKH_SMA_DEFER)
        take_queue(study, event);
    else if (event->id >= RKH_FWK_EPREG && event->id <= RKH_FWK_GCR)
        take_event_pool(study, event);
}
