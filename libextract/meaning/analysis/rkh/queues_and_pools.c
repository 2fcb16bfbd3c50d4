// SPDX-License-Identifier: MIT
// analysis/rkh: queues, memory pools and event pools. Finds out how full each of them was, how
// often it was used, and how often a request failed.
#include "analysis/rkh/analysis.h"

static void add_field(struct rkh_range *range, const struct extract_event *event, const char *label)
{
    uint64_t value;

    if (rkh_get_field(event, label, &value))
        rkh_range_add(range, value);
}

static void add_queue_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t address;

    if (!rkh_get_field(event, "q", &address))
        return;
    struct rkh_queue *queue =
        rkh_table_find_or_add(&analysis->queues, rkh_analysis_key(analysis, address));
    if (!queue) {
        analysis->failed = true;
        return;
    }
    queue->address = address;
    queue->seq = analysis->now.seq;
    if (event->id == RKH_QUE_INIT) {
        rkh_get_field(event, "ao", &queue->object);
        rkh_get_field(event, "nelem", &queue->size);
    }
    if (!analysis->now.is_counted || event->id == RKH_QUE_INIT)
        return;
    queue->fifo += event->id == RKH_QUE_FIFO;
    queue->lifo += event->id == RKH_QUE_LIFO;
    queue->gets += event->id == RKH_QUE_GET || event->id == RKH_QUE_GET_LAST;
    queue->full += event->id == RKH_QUE_FULL;
    queue->empty += event->id == RKH_QUE_DPT;
    queue->deferred += event->id == RKH_SMA_DEFER;
    add_field(&queue->queued, event, "nelem");
    add_field(&queue->low, event, "nmin");
    if (event->id == RKH_QUE_GET_LAST)
        rkh_range_add(&queue->queued, 0);
}

// Counts a request for a block. The framework traces a refused one, too, with nothing free, as it
// does the request that takes the last block. What was free before decides, if that is known.
static void add_request(struct rkh_pool *pool, bool has_level, uint64_t free)
{
    if (has_level && free == 0 && pool->free_known && pool->free_now == 0) {
        pool->refused++;
    } else if (has_level && free == 0 && !pool->free_known) {
        pool->uncertain++;
    } else {
        pool->gets++;
        pool->exhausted += has_level && free == 0;
    }
}

static void add_pool_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t address, free = 0;

    if (!rkh_get_field(event, "mp", &address))
        return;
    struct rkh_pool *pool =
        rkh_table_find_or_add(&analysis->pools, rkh_analysis_key(analysis, address));
    if (!pool) {
        analysis->failed = true;
        return;
    }
    pool->address = address;
    pool->seq = analysis->now.seq;
    if (event->id == RKH_MP_INIT) {
        rkh_get_field(event, "nblocks", &pool->blocks);
        rkh_get_field(event, "bsize", &pool->block_size);
    }
    bool has_level = rkh_get_field(event, event->id == RKH_MP_INIT ? "nblocks" : "nfree", &free);
    if (analysis->now.is_counted && event->id != RKH_MP_INIT) {
        if (event->id == RKH_MP_GET)
            add_request(pool, has_level, free);
        pool->puts += event->id == RKH_MP_PUT;
        add_field(&pool->free, event, "nfree");
        add_field(&pool->low, event, "nmin");
    }
    pool->free_known = has_level;
    pool->free_now = free;
}

// Handles an event of an event pool. Events that come from no pool name EXTRACT_NO_POOL. Frames of
// framework 2.4 do not contain the number of blocks, so that it is not known when a pool is
// exhausted.
static void add_event_pool_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t index, used;

    if (!rkh_get_field(event, "pool", &index) || index == EXTRACT_NO_POOL)
        return;
    struct rkh_event_pool *pool =
        rkh_table_find_or_add(&analysis->event_pools, rkh_analysis_key(analysis, index));
    if (!pool) {
        analysis->failed = true;
        return;
    }
    pool->index = index;
    pool->seq = analysis->now.seq;
    if (event->id == RKH_FWK_EPREG) {
        rkh_get_field(event, "nblk", &pool->blocks);
        rkh_get_field(event, "esize", &pool->event_size);
        return;
    }
    if (!analysis->now.is_counted)
        return;
    pool->allocations += event->id == RKH_FWK_AE;
    pool->collections += event->id == RKH_FWK_GCR;
    pool->dropped += event->id == RKH_FWK_GC;
    add_field(&pool->used, event, "nused");
    add_field(&pool->low, event, "nmin");
    pool->exhausted += event->id == RKH_FWK_AE && pool->blocks &&
                       rkh_get_field(event, "nused", &used) && used >= pool->blocks;
}

void rkh_storage_add_break(struct rkh_analysis *analysis)
{
    for (size_t i = 0; i < analysis->pools.count; i++)
        ((struct rkh_pool *)rkh_table_row(&analysis->pools, i))->free_known = false;
}

void rkh_storage_add_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    if (event->id <= RKH_MP_PUT)
        add_pool_event(analysis, event);
    else if ((event->id >= RKH_QUE_INIT && event->id <= RKH_QUE_GET_LAST) ||
             event->id == RKH_SMA_DEFER)
        add_queue_event(analysis, event);
    else if (event->id >= RKH_FWK_EPREG && event->id <= RKH_FWK_GCR)
        add_event_pool_event(analysis, event);
}
