// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: pools of blocks, and events in them. In: sizes. Out: blocks, until none are
// left. An event's block is returned when its last holder has released it.
#include "framework.h"

// A pool of the framework, whose records call it memPool0, memPool1 …
typedef struct RKHEvtPool {
    RKH_MEMPOOL_T memPool;
} RKHEvtPool;
static RKHEvtPool evtPools[RKH_CFG_FWK_MAX_EVT_POOL];
static rui8_t event_pool_count;

void rkh_mempool_init(RKH_MEMPOOL_T *pool, void *area, RKH_MPNB_T blocks, RKH_MPBS_T bytes)
{
    char *block = area;
    *pool = (RKH_MEMPOOL_T){.nblocks = blocks, .nfree = blocks, .bsize = bytes};
#if RKH_CFG_MP_GET_LWM_EN
    pool->nmin = blocks;
#endif
    for (RKH_MPNB_T i = 0; i < blocks; i++, block += bytes) {
        *(void **)(void *)block = pool->free;
        pool->free = block;
    }
    RKH_TR_MP_INIT(pool, blocks, bytes);
}

void *rkh_mempool_get(RKH_MEMPOOL_T *pool)
{
    unsigned long lock = rkh_port_lock();
    void *block = pool->free;
    if (block) {
        pool->free = *(void **)block;
        pool->nfree--;
#if RKH_CFG_MP_GET_LWM_EN
        if (pool->nfree < pool->nmin)
            pool->nmin = pool->nfree;
#endif
    }
    // A refused request is traced, too, with nothing free.
    RKH_TR_MP_GET(pool, pool->nfree, RKH_MEMPOOL_NMIN(pool));
    rkh_port_unlock(lock);
    return block;
}

void rkh_mempool_put(RKH_MEMPOOL_T *pool, void *block)
{
    unsigned long lock = rkh_port_lock();
    *(void **)block = pool->free;
    pool->free = block;
    pool->nfree++;
    RKH_TR_MP_PUT(pool, pool->nfree);
    rkh_port_unlock(lock);
}

void rkh_fwk_registerEvtPool(void *area, rui32_t area_bytes, RKH_ES_T bytes)
{
    char name[] = "memPool0";
    if (event_pool_count == RKH_CFG_FWK_MAX_EVT_POOL)
        return;
    RKH_MEMPOOL_T *pool = &evtPools[event_pool_count++].memPool;
    RKH_MPNB_T blocks = (RKH_MPNB_T)(area_bytes / bytes);
    RKH_TR_FWK_EPREG(event_pool_count, area_bytes, bytes, blocks);
    name[sizeof name - 2] = (char)('0' + event_pool_count - 1);
    rkh_trc_name(RKH_TE_FWK_OBJ, pool, name);
    rkh_mempool_init(pool, area, blocks, (RKH_MPBS_T)bytes);
}

RKH_EVT_T *rkh_fwk_ae(RKH_ES_T bytes, RKH_SIG_T signal, const void *sender)
{
    rui8_t i = 0;
    while (i < event_pool_count && evtPools[i].memPool.bsize < bytes)
        i++;
    if (i == event_pool_count)
        return NULL;
    RKH_MEMPOOL_T *pool = &evtPools[i].memPool;
    unsigned long lock = rkh_port_lock();
    RKH_EVT_T *event = rkh_mempool_get(pool);
    if (event) {
        *event = (RKH_EVT_T){signal, 0, (rui8_t)(i + 1)};
        RKH_TR_FWK_AE(bytes, signal, i, 0, (rui32_t)(pool->nblocks - pool->nfree),
                      RKH_MEMPOOL_NMIN(pool), sender);
    }
    rkh_port_unlock(lock);
    return event;
}

void rkh_fwk_reserve(RKH_EVT_T *event)
{
    if (event->pool)
        event->nref++;
}

static void recycle(RKH_EVT_T *event, const void *sender)
{
    RKH_MEMPOOL_T *pool = &evtPools[event->pool - 1].memPool;
    RKH_TR_FWK_GCR(event->e, (rui8_t)(event->pool - 1), event->nref,
                   (rui32_t)(pool->nblocks - pool->nfree - 1), RKH_MEMPOOL_NMIN(pool), sender);
    rkh_mempool_put(pool, event);
}

void rkh_fwk_gc(RKH_EVT_T *event, const void *sender)
{
    if (!event->pool)
        return;
    unsigned long lock = rkh_port_lock();
    if (event->nref > 1) {
        event->nref--;
        RKH_TR_FWK_GC(event->e, event->pool, event->nref);
    } else {
        recycle(event, sender);
    }
    rkh_port_unlock(lock);
}
