// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: a small framework of active objects, which is what records (trace.h). In:
// state machines, and events that are posted to them from threads and interrupt handlers. Out:
// actions, each run to its end in the thread of its active object.
//
// Types, members and functions have the names that RKH users and their debuggers know.
#ifndef RKH_FRAMEWORK_H
#define RKH_FRAMEWORK_H

#include "bout.h"
#include "events.h"

#define RKH_ANY ((RKH_SIG_T) ~(RKH_SIG_T)0) // ends a table of transitions

typedef struct RKH_EVT_T {
    RKH_SIG_T e;
    rui8_t nref;
    rui8_t pool; // 0: not from a pool; else its number from 1
} RKH_EVT_T;

struct RKH_SMA_T;

// ---- memory pools, and those of events (pool.c) ----

typedef struct RKH_MEMPOOL_T {
    void *free;
    RKH_MPNB_T nblocks, nfree;
    RKH_MPBS_T bsize;
#if RKH_CFG_MP_GET_LWM_EN
    RKH_MPNB_T nmin; // the least that were free
#endif
} RKH_MEMPOOL_T;

#if RKH_CFG_MP_GET_LWM_EN
#define RKH_MEMPOOL_NMIN(pool) ((pool)->nmin)
#else
#define RKH_MEMPOOL_NMIN(pool) 0U
#endif

void rkh_mempool_init(RKH_MEMPOOL_T *pool, void *area, RKH_MPNB_T blocks, RKH_MPBS_T bytes);
void *rkh_mempool_get(RKH_MEMPOOL_T *pool); // NULL: none is free
void rkh_mempool_put(RKH_MEMPOOL_T *pool, void *block);

// Pools come in the order of their blocks' sizes, which are multiples of a pointer's.
void rkh_fwk_registerEvtPool(void *area, rui32_t area_bytes, RKH_ES_T bytes);
// Returns an event of the first pool whose blocks are large enough; NULL: it is empty, or there is
// no such pool.
RKH_EVT_T *rkh_fwk_ae(RKH_ES_T bytes, RKH_SIG_T signal, const void *sender);
void rkh_fwk_reserve(RKH_EVT_T *event); // one more holds it
void rkh_fwk_gc(RKH_EVT_T *event, const void *sender);

// ---- queues (queue.c) ----

typedef struct RKH_QUEUE_T {
    RKH_EVT_T **pstart;
    struct RKH_SMA_T *sma; // NULL: a queue of its own
    RKH_QUENE_T nelems, qty, out;
#if RKH_CFG_QUE_GET_LWMARK_EN
    RKH_QUENE_T nmin; // the least that were free
#endif
} RKH_QUEUE_T;

#if RKH_CFG_QUE_GET_LWMARK_EN
#define RKH_QUEUE_NMIN(queue) ((queue)->nmin)
#else
#define RKH_QUEUE_NMIN(queue) 0U
#endif

void rkh_queue_init(RKH_QUEUE_T *queue, RKH_EVT_T **places, RKH_QUENE_T count,
                    struct RKH_SMA_T *sma);
bool rkh_queue_put_fifo(RKH_QUEUE_T *queue, RKH_EVT_T *event); // false: it is full
bool rkh_queue_put_lifo(RKH_QUEUE_T *queue, RKH_EVT_T *event);
RKH_EVT_T *rkh_queue_get(RKH_QUEUE_T *queue); // NULL: it is empty
void rkh_queue_deplete(RKH_QUEUE_T *queue);

// ---- state machines (machine.c) ----

typedef void (*RKH_ACT_T)(struct RKH_SMA_T *me, const RKH_EVT_T *event);
typedef bool (*RKH_GUARD_T)(const struct RKH_SMA_T *me, const RKH_EVT_T *event);
struct RKH_ST_T;

typedef struct RKH_TRN_T {
    RKH_SIG_T event;
    RKH_GUARD_T guard;             // NULL: always
    RKH_ACT_T action;              // NULL: none
    const struct RKH_ST_T *target; // NULL: an internal transition
} RKH_TRN_T;

// A target has no states inside of it.
typedef struct RKH_ST_T {
    const char *name;
    const struct RKH_ST_T *parent;
    RKH_ACT_T enter, exit;
    const RKH_TRN_T *trtbl;
} RKH_ST_T;

typedef struct RKH_ROM_T {
    const char *name;
    rui8_t prio;
    const RKH_ST_T *istate;
    RKH_ACT_T iaction;
} RKH_ROM_T;

void rkh_sm_init(struct RKH_SMA_T *me);
void rkh_sm_dispatch(struct RKH_SMA_T *me, const RKH_EVT_T *event);

// ---- active objects (actor.c) ----

typedef struct RKH_SMA_T {
    const RKH_ROM_T *romrkh;
    const RKH_ST_T *state;
    RKH_QUEUE_T equeue;
    TX_SEMAPHORE posted;
    TX_THREAD thread;
} RKH_SMA_T;

struct rkh_memory {
    RKH_EVT_T **places;
    RKH_QUENE_T count;
    void *stack;
    ULONG stack_bytes;
};

void rkh_sma_activate(RKH_SMA_T *me, const struct rkh_memory *memory);
void rkh_sma_terminate(RKH_SMA_T *me);
#if RKH_CFG_SMA_TRC_SNDR_EN
#define RKH_SENDER(sender)       , const void *sender
#define RKH_POST_FIFO(me, e, by) rkh_sma_post_fifo(me, e, by)
#define RKH_POST_LIFO(me, e, by) rkh_sma_post_lifo(me, e, by)
#else
#define RKH_SENDER(sender)
#define RKH_POST_FIFO(me, e, by) ((void)(by), rkh_sma_post_fifo(me, e))
#define RKH_POST_LIFO(me, e, by) ((void)(by), rkh_sma_post_lifo(me, e))
#endif
// Returns whether there was space. An event that finds no space is recycled.
bool rkh_sma_post_fifo(RKH_SMA_T *me, RKH_EVT_T *event RKH_SENDER(sender));
bool rkh_sma_post_lifo(RKH_SMA_T *me, RKH_EVT_T *event RKH_SENDER(sender));
void rkh_sma_defer(RKH_QUEUE_T *queue, RKH_EVT_T *event);
bool rkh_sma_recall(RKH_SMA_T *me, RKH_QUEUE_T *queue);
static inline rui8_t rkh_sma_prio(const RKH_SMA_T *me)
{
    return me->romrkh->prio;
}

// ---- timers (timer.c) ----

typedef struct RKH_TMR_T {
    struct RKH_TMR_T *next; // of those that run
    RKH_EVT_T *evt;
    RKH_SMA_T *sma;
    RKH_TNT_T ntick, period;
    bool runs;
} RKH_TMR_T;

void rkh_tmr_init(RKH_TMR_T *timer, RKH_EVT_T *event);
void rkh_tmr_start(RKH_TMR_T *timer, RKH_SMA_T *sma, RKH_TNT_T ticks, RKH_TNT_T period);
void rkh_tmr_stop(RKH_TMR_T *timer);
void rkh_tmr_tick(const void *sender); // once a tick

#endif
