// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: queues of events. In: events at either end. Out: the first of them. All but
// rkh_queue_init are called with interrupts locked.
#include "framework.h"

void rkh_queue_init(RKH_QUEUE_T *queue, RKH_EVT_T **places, RKH_QUENE_T count,
                    struct RKH_SMA_T *sma)
{
    *queue = (RKH_QUEUE_T){.pstart = places, .sma = sma, .nelems = count};
#if RKH_CFG_QUE_GET_LWMARK_EN
    queue->nmin = count;
#endif
    RKH_TR_QUE_INIT(queue, sma, count);
}

static bool has_room(RKH_QUEUE_T *queue)
{
    if (queue->qty < queue->nelems)
        return true;
    RKH_TR_QUE_FULL(queue);
    return false;
}

static void count_in(RKH_QUEUE_T *queue)
{
    queue->qty++;
#if RKH_CFG_QUE_GET_LWMARK_EN
    if (queue->nelems - queue->qty < queue->nmin)
        queue->nmin = (RKH_QUENE_T)(queue->nelems - queue->qty);
#endif
}

bool rkh_queue_put_fifo(RKH_QUEUE_T *queue, RKH_EVT_T *event)
{
    if (!has_room(queue))
        return false;
    queue->pstart[(queue->out + queue->qty) % queue->nelems] = event;
    count_in(queue);
    RKH_TR_QUE_FIFO(queue, queue->qty, RKH_QUEUE_NMIN(queue));
    return true;
}

bool rkh_queue_put_lifo(RKH_QUEUE_T *queue, RKH_EVT_T *event)
{
    if (!has_room(queue))
        return false;
    queue->out = (RKH_QUENE_T)((queue->out ? queue->out : queue->nelems) - 1);
    queue->pstart[queue->out] = event;
    count_in(queue);
    RKH_TR_QUE_LIFO(queue, queue->qty, RKH_QUEUE_NMIN(queue));
    return true;
}

RKH_EVT_T *rkh_queue_get(RKH_QUEUE_T *queue)
{
    if (queue->qty == 0)
        return NULL;
    RKH_EVT_T *event = queue->pstart[queue->out];
    queue->out = (RKH_QUENE_T)((queue->out + 1) % queue->nelems);
    queue->qty--;
    if (queue->qty)
        RKH_TR_QUE_GET(queue, queue->qty);
    else
        RKH_TR_QUE_GET_LAST(queue);
    return event;
}

void rkh_queue_deplete(RKH_QUEUE_T *queue)
{
    queue->qty = 0;
    RKH_TR_QUE_DPT(queue);
}
