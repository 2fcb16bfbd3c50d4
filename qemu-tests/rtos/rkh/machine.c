// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: state machines with states inside of states. In: an event. Out: the first
// transition from the inside out that takes it: its exits, its action, its entries.
#include "framework.h"

enum action_kind { EFFECT, ENTRY, EXIT, GUARD = 5 };

static void act(RKH_SMA_T *me, enum action_kind kind, const RKH_ST_T *state, RKH_ACT_T action,
                const RKH_EVT_T *event)
{
    if (!action)
        return;
    action(me, event);
    RKH_TR_SM_EXE_ACT(rkh_sma_prio(me), kind, me, state, action);
}

static bool is_inside(const RKH_ST_T *state, const RKH_ST_T *of)
{
    while (state && state != of)
        state = state->parent;
    return state != NULL;
}

// The innermost state that both are inside of, other than themselves.
static const RKH_ST_T *common(const RKH_ST_T *source, const RKH_ST_T *target)
{
    const RKH_ST_T *state = source->parent;
    while (state && !is_inside(target->parent, state))
        state = state->parent;
    return state;
}

static rui8_t leave(RKH_SMA_T *me, const RKH_ST_T *until, const RKH_EVT_T *event)
{
    rui8_t count = 0;
    for (const RKH_ST_T *state = me->state; state != until; state = state->parent, count++) {
        act(me, EXIT, state, state->exit, event);
        RKH_TR_SM_EXSTATE(rkh_sma_prio(me), me, state);
    }
    return count;
}

// From the outside in.
static rui8_t enter(RKH_SMA_T *me, const RKH_ST_T *from, const RKH_ST_T *target,
                    const RKH_EVT_T *event)
{
    rui8_t count = 0;
    for (const RKH_ST_T *outer = from, *state; outer != target; outer = state, count++) {
        for (state = target; state->parent != outer;)
            state = state->parent;
        act(me, ENTRY, state, state->enter, event);
        RKH_TR_SM_ENSTATE(rkh_sma_prio(me), me, state);
    }
    return count;
}

static void finish(RKH_SMA_T *me, const RKH_ST_T *target, rui8_t entered, rui8_t left)
{
    rui8_t prio = rkh_sma_prio(me);
    me->state = target;
    RKH_TR_SM_NENEX(prio, me, entered, left);
    RKH_TR_SM_STATE(prio, me, target);
    RKH_TR_SM_EVT_PROC(prio, me);
}

void rkh_sm_init(RKH_SMA_T *me)
{
    const RKH_ROM_T *rom = me->romrkh;
    const RKH_ST_T *first = rom->istate;
    RKH_TR_SM_INIT(rom->prio, me, first);
    RKH_TR_SM_TRN(rom->prio, me, first, first);
    RKH_TR_SM_TS_STATE(rom->prio, me, first);
    act(me, EFFECT, first, rom->iaction, NULL);
    finish(me, first, enter(me, NULL, first, NULL), 0);
}

static const RKH_TRN_T *transition_of(const RKH_ST_T *state, RKH_SIG_T signal)
{
    for (; state; state = state->parent) {
        for (const RKH_TRN_T *trn = state->trtbl; trn && trn->event != RKH_ANY; trn++) {
            if (trn->event == signal)
                return trn;
        }
    }
    return NULL;
}

static bool is_open(RKH_SMA_T *me, const RKH_TRN_T *trn, const RKH_EVT_T *event)
{
    rui8_t prio = rkh_sma_prio(me);
    if (!trn->guard)
        return true;
    bool open = trn->guard(me, event);
    RKH_TR_SM_EXE_ACT(prio, GUARD, me, me->state, trn->guard);
    if (!open)
        RKH_TR_SM_GRD_FALSE(prio, me);
    return open;
}

static void take(RKH_SMA_T *me, const RKH_TRN_T *trn, const RKH_EVT_T *event)
{
    const RKH_ST_T *source = me->state, *target = trn->target;
    rui8_t prio = rkh_sma_prio(me), left;
    RKH_TR_SM_TRN(prio, me, source, target);
    if (!target) {
        act(me, EFFECT, source, trn->action, event);
        RKH_TR_SM_EVT_PROC(prio, me);
        return;
    }
    const RKH_ST_T *outer = common(source, target);
    RKH_TR_SM_TS_STATE(prio, me, target);
    left = leave(me, outer, event);
    act(me, EFFECT, source, trn->action, event);
    finish(me, target, enter(me, outer, target, event), left);
}

void rkh_sm_dispatch(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    rui8_t prio = rkh_sma_prio(me);
    RKH_TR_SM_DCH(prio, me, event->e, me->state);
    const RKH_TRN_T *trn = transition_of(me->state, event->e);
    if (!trn)
        RKH_TR_SM_EVT_NFOUND(prio, me, event->e);
    else if (is_open(me, trn, event))
        take(me, trn, event);
}
