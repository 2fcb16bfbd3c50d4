// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: active objects. In: events that are posted to them. Out: each of them given
// to the state machine, one after the other, in the active object's own thread.
#include "framework.h"

static RKH_EVT_T *next_event(RKH_SMA_T *me)
{
    bout_semaphore_get(&me->posted, BOUT_WAIT_FOREVER);
    unsigned long lock = rkh_port_lock();
    RKH_EVT_T *event = rkh_queue_get(&me->equeue);
    if (event)
        RKH_TR_SMA_GET(rkh_sma_prio(me), me, event->e, event->pool, event->nref, me->equeue.qty,
                       RKH_QUEUE_NMIN(&me->equeue));
    rkh_port_unlock(lock);
    return event;
}

static void actor_entry(ULONG parameter)
{
    RKH_SMA_T *me = (RKH_SMA_T *)parameter;
    for (;;) {
        RKH_EVT_T *event = next_event(me);
        if (!event)
            continue;
        rkh_sm_dispatch(me, event);
        rkh_fwk_gc(event, me);
    }
}

// The number of the active object's place in filters is its thread's priority, too.
void rkh_sma_activate(RKH_SMA_T *me, const struct rkh_memory *memory)
{
    rui8_t prio = rkh_sma_prio(me);
    rkh_queue_init(&me->equeue, memory->places, memory->count, me);
    RKH_TR_SMA_REG(me, prio);
    bout_semaphore_create(&me->posted, (char *)(uintptr_t)me->romrkh->name, 0);
    rkh_sm_init(me);
    RKH_TR_SMA_ACT(me, prio, memory->count);
    bout_thread_create(&me->thread,
                       &(struct bout_thread_options){.name = (char *)(uintptr_t)me->romrkh->name,
                                                     .entry = actor_entry,
                                                     .parameter = (ULONG)me,
                                                     .stack = memory->stack,
                                                     .stack_size = memory->stack_bytes,
                                                     .priority = prio,
                                                     .preempt_threshold = prio});
}

// The event does not belong to the active object that asks for it.
void rkh_sma_terminate(RKH_SMA_T *me)
{
    rui8_t prio = rkh_sma_prio(me);
    bout_thread_terminate(&me->thread);
    unsigned long lock = rkh_port_lock();
    rkh_queue_deplete(&me->equeue);
    RKH_TR_SMA_UNREG(me, prio);
    RKH_TR_SMA_TERM(me, prio);
    rkh_port_unlock(lock);
}

#if RKH_CFG_SMA_TRC_SNDR_EN
#define SENDER sender
#else
#define SENDER NULL
#endif

static bool post(RKH_SMA_T *me, RKH_EVT_T *event, const void *sender, bool first)
{
    const RKH_QUEUE_T *queue = &me->equeue;
    rui8_t prio = rkh_sma_prio(me);
    unsigned long lock = rkh_port_lock();
    rkh_fwk_reserve(event);
    bool put = (first ? rkh_queue_put_lifo : rkh_queue_put_fifo)(&me->equeue, event);
    if (!put)
        rkh_fwk_gc(event, sender);
    else if (first)
        RKH_TR_SMA_LIFO(prio, me, event->e, sender, event->pool, event->nref, queue->qty,
                        RKH_QUEUE_NMIN(queue));
    else
        RKH_TR_SMA_FIFO(prio, me, event->e, sender, event->pool, event->nref, queue->qty,
                        RKH_QUEUE_NMIN(queue));
    rkh_port_unlock(lock);
    if (put)
        bout_semaphore_put(&me->posted);
    return put;
}

bool rkh_sma_post_fifo(RKH_SMA_T *me, RKH_EVT_T *event RKH_SENDER(sender))
{
    return post(me, event, SENDER, false);
}

bool rkh_sma_post_lifo(RKH_SMA_T *me, RKH_EVT_T *event RKH_SENDER(sender))
{
    return post(me, event, SENDER, true);
}

void rkh_sma_defer(RKH_QUEUE_T *queue, RKH_EVT_T *event)
{
    unsigned long lock = rkh_port_lock();
    if (rkh_queue_put_fifo(queue, event)) {
        rkh_fwk_reserve(event);
        RKH_TR_SMA_DEFER(queue, event->e);
    }
    rkh_port_unlock(lock);
}

bool rkh_sma_recall(RKH_SMA_T *me, RKH_QUEUE_T *queue)
{
    unsigned long lock = rkh_port_lock();
    RKH_EVT_T *event = rkh_queue_get(queue);
    if (event && event->pool)
        event->nref--; // the queue held it
    if (event)
        RKH_TR_SMA_RCALL(me, event->e);
    rkh_port_unlock(lock);
    return event && RKH_POST_LIFO(me, event, me);
}
