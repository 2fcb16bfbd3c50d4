// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: timers. In: ticks. Out: a timer's event, posted when it is due.
#include "framework.h"

static RKH_TMR_T *running;

void rkh_tmr_init(RKH_TMR_T *timer, RKH_EVT_T *event)
{
    *timer = (RKH_TMR_T){.evt = event};
    RKH_TR_TMR_INIT(timer, event->e);
}

static void remove(RKH_TMR_T *timer)
{
    RKH_TMR_T **link = &running;
    while (*link != timer)
        link = &(*link)->next;
    *link = timer->next;
    timer->runs = false;
    RKH_TR_TMR_REM(timer);
}

void rkh_tmr_start(RKH_TMR_T *timer, RKH_SMA_T *sma, RKH_TNT_T ticks, RKH_TNT_T period)
{
    unsigned long lock = rkh_port_lock();
    RKH_TR_TMR_START(timer, sma, ticks, period);
    timer->sma = sma;
    timer->ntick = ticks;
    timer->period = period;
    if (!timer->runs) {
        timer->next = running;
        running = timer;
        timer->runs = true;
    }
    rkh_port_unlock(lock);
}

void rkh_tmr_stop(RKH_TMR_T *timer)
{
    unsigned long lock = rkh_port_lock();
    RKH_TR_TMR_STOP(timer, timer->ntick, timer->period);
    if (timer->runs)
        remove(timer);
    rkh_port_unlock(lock);
}

// A timer that is due; it has gone on, or it is no longer among those that run.
static RKH_TMR_T *expire_one(void)
{
    RKH_TMR_T *timer = running;
    while (timer && timer->ntick > 0)
        timer = timer->next;
    if (!timer)
        return NULL;
    RKH_TR_TMR_TOUT(rkh_sma_prio(timer->sma), timer, timer->evt->e, timer->sma);
    timer->ntick = timer->period;
    if (timer->period == 0)
        remove(timer);
    return timer;
}

void rkh_tmr_tick(const void *sender)
{
    unsigned long lock = rkh_port_lock();
    for (RKH_TMR_T *timer = running; timer; timer = timer->next)
        timer->ntick--;
    rkh_port_unlock(lock);
    for (;;) {
        lock = rkh_port_lock();
        RKH_TMR_T *due = expire_one();
        rkh_port_unlock(lock);
        if (!due)
            return;
        RKH_POST_FIFO(due->sma, due->evt, sender);
    }
}
