// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: the events of the framework. In: what happens. Out: records. A macro is
// named after its event and takes what the event's record has.
#ifndef RKH_EVENTS_H
#define RKH_EVENTS_H

#include "trace.h"

// A group has the upper three bits of the number.
enum rkh_group {
    RKH_TG_MP,
    RKH_TG_QUE,
    RKH_TG_SMA,
    RKH_TG_SM,
    RKH_TG_TMR,
    RKH_TG_FWK,
    RKH_TG_USR,
    RKH_TG_UT
};
enum rkh_event {
    RKH_TE_MP_INIT = 0,
    RKH_TE_MP_GET,
    RKH_TE_MP_PUT,
    RKH_TE_QUE_INIT = 32,
    RKH_TE_QUE_GET,
    RKH_TE_QUE_FIFO,
    RKH_TE_QUE_LIFO,
    RKH_TE_QUE_FULL,
    RKH_TE_QUE_DPT,
    RKH_TE_QUE_GET_LAST,
    RKH_TE_SMA_ACT = 64,
    RKH_TE_SMA_TERM,
    RKH_TE_SMA_GET,
    RKH_TE_SMA_FIFO,
    RKH_TE_SMA_LIFO,
    RKH_TE_SMA_REG,
    RKH_TE_SMA_UNREG,
    RKH_TE_SMA_DEFER,
    RKH_TE_SMA_RCALL,
    RKH_TE_SM_INIT = 96,
    RKH_TE_SM_CLRH,
    RKH_TE_SM_TRN,
    RKH_TE_SM_STATE,
    RKH_TE_SM_ENSTATE,
    RKH_TE_SM_EXSTATE,
    RKH_TE_SM_NENEX,
    RKH_TE_SM_NTRNACT,
    RKH_TE_SM_TS_STATE,
    RKH_TE_SM_EVT_PROC,
    RKH_TE_SM_EVT_NFOUND,
    RKH_TE_SM_GRD_FALSE,
    RKH_TE_SM_CND_NFOUND,
    RKH_TE_SM_UNKN_STATE,
    RKH_TE_SM_EX_HLEVEL,
    RKH_TE_SM_EX_TSEG,
    RKH_TE_SM_EXE_ACT,
    RKH_TE_SM_DCH,
    RKH_TE_TMR_INIT = 128,
    RKH_TE_TMR_START,
    RKH_TE_TMR_STOP,
    RKH_TE_TMR_TOUT,
    RKH_TE_TMR_REM,
    RKH_TE_FWK_EN = 160,
    RKH_TE_FWK_EX,
    RKH_TE_FWK_EPREG,
    RKH_TE_FWK_AE,
    RKH_TE_FWK_GC,
    RKH_TE_FWK_GCR,
    RKH_TE_FWK_OBJ,
    RKH_TE_FWK_SIG,
    RKH_TE_FWK_FUN,
    RKH_TE_FWK_EXE_FUN,
    RKH_TE_FWK_SYNC_EVT,
    RKH_TE_FWK_TUSR,
    RKH_TE_FWK_TCFG,
    RKH_TE_FWK_ASSERT,
    RKH_TE_FWK_AO,
    RKH_TE_FWK_STATE,
    RKH_TE_FWK_PSTATE,
    RKH_TE_FWK_TIMER,
    RKH_TE_FWK_EPOOL,
    RKH_TE_FWK_QUEUE,
    RKH_TE_FWK_ACTOR,
    RKH_TE_UT_INIT = 224,
    RKH_TE_UT_CLEANUP,
    RKH_TE_UT_VERIFY,
    RKH_TE_UT_IGNORE_GROUP,
    RKH_TE_UT_EXPECT,
    RKH_TE_UT_EXPECT_ANYARGS,
    RKH_TE_UT_IGNORE,
    RKH_TE_UT_IGNORE_ARG,
    RKH_TE_UT_SUCCESS,
    RKH_TE_UT_FAIL
};

// Records that no filter keeps back; that those of groups and events do; also that of active
// objects; also that of signals.
#define RKH_TRC_RECORD(event, ...)                                                                 \
    RKH_TRC_BEGIN(event, true);                                                                    \
    __VA_ARGS__;                                                                                   \
    RKH_TRC_END()
#define RKH_TRC_RECORD_E(event, ...)                                                               \
    RKH_TRC_BEGIN(event, rkh_trc_passes(event));                                                   \
    __VA_ARGS__;                                                                                   \
    RKH_TRC_END()
#define RKH_TRC_RECORD_A(event, priority, ...)                                                     \
    RKH_TRC_BEGIN(event, rkh_trc_passes_object(event, priority));                                  \
    __VA_ARGS__;                                                                                   \
    RKH_TRC_END()
#define RKH_TRC_RECORD_S(event, priority, signal, ...)                                             \
    RKH_TRC_BEGIN(event, rkh_trc_passes_signal(event, priority, signal));                          \
    __VA_ARGS__;                                                                                   \
    RKH_TRC_END()

#define RKH_TR_MP_INIT(mp, nblocks, bsize)                                                         \
    RKH_TRC_RECORD_E(RKH_TE_MP_INIT, RKH_TRC_SYM(mp); RKH_TRC_NBLK(nblocks); RKH_TRC_BSIZE(bsize))
#define RKH_TR_MP_GET(mp, nfree, nmin)                                                             \
    RKH_TRC_RECORD_E(RKH_TE_MP_GET, RKH_TRC_SYM(mp); RKH_TRC_NBLK(nfree); RKH_TRC_MPNMIN(nmin))
#define RKH_TR_MP_PUT(mp, nfree)                                                                   \
    RKH_TRC_RECORD_E(RKH_TE_MP_PUT, RKH_TRC_SYM(mp); RKH_TRC_NBLK(nfree))
#define RKH_TR_QUE_INIT(q, ao, nelem)                                                              \
    RKH_TRC_RECORD_E(RKH_TE_QUE_INIT, RKH_TRC_SYM(q); RKH_TRC_SYM(ao); RKH_TRC_NELEM(nelem))
#define RKH_TR_QUE_GET(q, nelem)                                                                   \
    RKH_TRC_RECORD_E(RKH_TE_QUE_GET, RKH_TRC_SYM(q); RKH_TRC_NELEM(nelem))
#define RKH_TR_QUE_FIFO(q, nelem, nmin)                                                            \
    RKH_TRC_RECORD_E(RKH_TE_QUE_FIFO, RKH_TRC_SYM(q); RKH_TRC_NELEM(nelem); RKH_TRC_QNMIN(nmin))
#define RKH_TR_QUE_LIFO(q, nelem, nmin)                                                            \
    RKH_TRC_RECORD_E(RKH_TE_QUE_LIFO, RKH_TRC_SYM(q); RKH_TRC_NELEM(nelem); RKH_TRC_QNMIN(nmin))
#define RKH_TR_QUE_FULL(q)     RKH_TRC_RECORD_E(RKH_TE_QUE_FULL, RKH_TRC_SYM(q))
#define RKH_TR_QUE_DPT(q)      RKH_TRC_RECORD_E(RKH_TE_QUE_DPT, RKH_TRC_SYM(q))
#define RKH_TR_QUE_GET_LAST(q) RKH_TRC_RECORD_E(RKH_TE_QUE_GET_LAST, RKH_TRC_SYM(q))
#define RKH_TR_SMA_ACT(ao, prio, qsize)                                                            \
    RKH_TRC_RECORD_A(RKH_TE_SMA_ACT, prio, RKH_TRC_SYM(ao); RKH_TRC_U8(prio); RKH_TRC_U8(qsize))
#define RKH_TR_SMA_TERM(ao, prio)                                                                  \
    RKH_TRC_RECORD_A(RKH_TE_SMA_TERM, prio, RKH_TRC_SYM(ao); RKH_TRC_U8(prio))
#define RKH_TR_SMA_GET(priority, ao, sig, pool, refc, nelem, nmin)                                 \
    RKH_TRC_RECORD_S(RKH_TE_SMA_GET, priority, sig, RKH_TRC_SYM(ao); RKH_TRC_SIG(sig);             \
                     RKH_TRC_U8(pool); RKH_TRC_U8(refc); RKH_TRC_NELEM(nelem);                     \
                     RKH_TRC_QNMIN(nmin))
#define RKH_TR_SMA_FIFO(priority, ao, sig, sender, pool, refc, nelem, nmin)                        \
    RKH_TRC_RECORD_S(RKH_TE_SMA_FIFO, priority, sig, RKH_TRC_SYM(ao); RKH_TRC_SIG(sig);            \
                     RKH_TRC_SNDR(sender); RKH_TRC_U8(pool); RKH_TRC_U8(refc);                     \
                     RKH_TRC_NELEM(nelem); RKH_TRC_QNMIN(nmin))
#define RKH_TR_SMA_LIFO(priority, ao, sig, sender, pool, refc, nelem, nmin)                        \
    RKH_TRC_RECORD_S(RKH_TE_SMA_LIFO, priority, sig, RKH_TRC_SYM(ao); RKH_TRC_SIG(sig);            \
                     RKH_TRC_SNDR(sender); RKH_TRC_U8(pool); RKH_TRC_U8(refc);                     \
                     RKH_TRC_NELEM(nelem); RKH_TRC_QNMIN(nmin))
#define RKH_TR_SMA_REG(ao, prio)                                                                   \
    RKH_TRC_RECORD_A(RKH_TE_SMA_REG, prio, RKH_TRC_SYM(ao); RKH_TRC_U8(prio))
#define RKH_TR_SMA_UNREG(ao, prio)                                                                 \
    RKH_TRC_RECORD_A(RKH_TE_SMA_UNREG, prio, RKH_TRC_SYM(ao); RKH_TRC_U8(prio))
#define RKH_TR_SMA_DEFER(q, sig)                                                                   \
    RKH_TRC_RECORD_E(RKH_TE_SMA_DEFER, RKH_TRC_SYM(q); RKH_TRC_SIG(sig))
#define RKH_TR_SMA_RCALL(ao, sig)                                                                  \
    RKH_TRC_RECORD_E(RKH_TE_SMA_RCALL, RKH_TRC_SYM(ao); RKH_TRC_SIG(sig))
#define RKH_TR_SM_INIT(priority, ao, istate)                                                       \
    RKH_TRC_RECORD_A(RKH_TE_SM_INIT, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(istate))
#define RKH_TR_SM_CLRH(priority, ao, history)                                                      \
    RKH_TRC_RECORD_A(RKH_TE_SM_CLRH, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(history))
#define RKH_TR_SM_TRN(priority, ao, source, target)                                                \
    RKH_TRC_RECORD_A(RKH_TE_SM_TRN, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(source);                \
                     RKH_TRC_SYM(target))
#define RKH_TR_SM_STATE(priority, ao, nxtst)                                                       \
    RKH_TRC_RECORD_A(RKH_TE_SM_STATE, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(nxtst))
#define RKH_TR_SM_ENSTATE(priority, ao, state)                                                     \
    RKH_TRC_RECORD_A(RKH_TE_SM_ENSTATE, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(state))
#define RKH_TR_SM_EXSTATE(priority, ao, state)                                                     \
    RKH_TRC_RECORD_A(RKH_TE_SM_EXSTATE, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(state))
#define RKH_TR_SM_NENEX(priority, ao, nen, nex)                                                    \
    RKH_TRC_RECORD_A(RKH_TE_SM_NENEX, priority, RKH_TRC_SYM(ao); RKH_TRC_U8(nen); RKH_TRC_U8(nex))
#define RKH_TR_SM_NTRNACT(priority, ao, nta, nts)                                                  \
    RKH_TRC_RECORD_A(RKH_TE_SM_NTRNACT, priority, RKH_TRC_SYM(ao); RKH_TRC_U8(nta); RKH_TRC_U8(nts))
#define RKH_TR_SM_TS_STATE(priority, ao, state)                                                    \
    RKH_TRC_RECORD_A(RKH_TE_SM_TS_STATE, priority, RKH_TRC_SYM(ao); RKH_TRC_SYM(state))
#define RKH_TR_SM_EVT_PROC(priority, ao)                                                           \
    RKH_TRC_RECORD_A(RKH_TE_SM_EVT_PROC, priority, RKH_TRC_SYM(ao))
#define RKH_TR_SM_EVT_NFOUND(priority, ao, sig)                                                    \
    RKH_TRC_RECORD_S(RKH_TE_SM_EVT_NFOUND, priority, sig, RKH_TRC_SYM(ao); RKH_TRC_SIG(sig))
#define RKH_TR_SM_GRD_FALSE(priority, ao)                                                          \
    RKH_TRC_RECORD_A(RKH_TE_SM_GRD_FALSE, priority, RKH_TRC_SYM(ao))
#define RKH_TR_SM_CND_NFOUND(priority, ao)                                                         \
    RKH_TRC_RECORD_A(RKH_TE_SM_CND_NFOUND, priority, RKH_TRC_SYM(ao))
#define RKH_TR_SM_UNKN_STATE(priority, ao)                                                         \
    RKH_TRC_RECORD_A(RKH_TE_SM_UNKN_STATE, priority, RKH_TRC_SYM(ao))
#define RKH_TR_SM_EX_HLEVEL(priority, ao)                                                          \
    RKH_TRC_RECORD_A(RKH_TE_SM_EX_HLEVEL, priority, RKH_TRC_SYM(ao))
#define RKH_TR_SM_EX_TSEG(priority, ao)                                                            \
    RKH_TRC_RECORD_A(RKH_TE_SM_EX_TSEG, priority, RKH_TRC_SYM(ao))
#define RKH_TR_SM_EXE_ACT(priority, acttype, ao, state, action)                                    \
    RKH_TRC_RECORD_A(RKH_TE_SM_EXE_ACT, priority, RKH_TRC_U8(acttype); RKH_TRC_SYM(ao);            \
                     RKH_TRC_SYM(state); RKH_TRC_FUN(action))
#define RKH_TR_SM_DCH(priority, ao, sig, state)                                                    \
    RKH_TRC_RECORD_S(RKH_TE_SM_DCH, priority, sig, RKH_TRC_SYM(ao); RKH_TRC_SIG(sig);              \
                     RKH_TRC_SYM(state))
#define RKH_TR_TMR_INIT(tmr, sig)                                                                  \
    RKH_TRC_RECORD_E(RKH_TE_TMR_INIT, RKH_TRC_SYM(tmr); RKH_TRC_SIG(sig))
#define RKH_TR_TMR_START(tmr, ao, ntick, period)                                                   \
    RKH_TRC_RECORD_E(RKH_TE_TMR_START, RKH_TRC_SYM(tmr); RKH_TRC_SYM(ao); RKH_TRC_NTICK(ntick);    \
                     RKH_TRC_NTICK(period))
#define RKH_TR_TMR_STOP(tmr, ntick, period)                                                        \
    RKH_TRC_RECORD_E(RKH_TE_TMR_STOP, RKH_TRC_SYM(tmr); RKH_TRC_NTICK(ntick); RKH_TRC_NTICK(period))
#define RKH_TR_TMR_TOUT(priority, tmr, sig, ao)                                                    \
    RKH_TRC_RECORD_S(RKH_TE_TMR_TOUT, priority, sig, RKH_TRC_SYM(tmr); RKH_TRC_SIG(sig);           \
                     RKH_TRC_SYM(ao))
#define RKH_TR_TMR_REM(tmr) RKH_TRC_RECORD_E(RKH_TE_TMR_REM, RKH_TRC_SYM(tmr))
#define RKH_TR_FWK_EN()     RKH_TRC_RECORD_E(RKH_TE_FWK_EN, (void)0)
#define RKH_TR_FWK_EX()     RKH_TRC_RECORD_E(RKH_TE_FWK_EX, (void)0)
#define RKH_TR_FWK_EPREG(pool, ssize, esize, nblk)                                                 \
    RKH_TRC_RECORD_E(RKH_TE_FWK_EPREG, RKH_TRC_U8(pool); RKH_TRC_U32(ssize); RKH_TRC_ESIZE(esize); \
                     RKH_TRC_NBLK(nblk))
#define RKH_TR_FWK_AE(esize, sig, pool, refc, nused, nmin, sender)                                 \
    RKH_TRC_RECORD_E(RKH_TE_FWK_AE, RKH_TRC_ESIZE(esize); RKH_TRC_SIG(sig); RKH_TRC_U8(pool);      \
                     RKH_TRC_U8(refc); RKH_TRC_NBLK(nused); RKH_TRC_MPNMIN(nmin);                  \
                     RKH_TRC_SYM(sender))
#define RKH_TR_FWK_GC(sig, pool, refc)                                                             \
    RKH_TRC_RECORD_E(RKH_TE_FWK_GC, RKH_TRC_SIG(sig); RKH_TRC_U8(pool); RKH_TRC_U8(refc))
#define RKH_TR_FWK_GCR(sig, pool, refc, nused, nmin, sender)                                       \
    RKH_TRC_RECORD_E(RKH_TE_FWK_GCR, RKH_TRC_SIG(sig); RKH_TRC_U8(pool); RKH_TRC_U8(refc);         \
                     RKH_TRC_NBLK(nused); RKH_TRC_MPNMIN(nmin); RKH_TRC_SYM(sender))
#define RKH_TR_FWK_EXE_FUN(fun) RKH_TRC_RECORD(RKH_TE_FWK_EXE_FUN, RKH_TRC_FUN(fun))
#define RKH_TR_FWK_SYNC_EVT(fun, sender, receiver)                                                 \
    RKH_TRC_RECORD(RKH_TE_FWK_SYNC_EVT, RKH_TRC_FUN(fun); RKH_TRC_SNDR(sender);                    \
                   RKH_TRC_SNDR(receiver))
#define RKH_TR_FWK_ASSERT(module, line)                                                            \
    RKH_TRC_RECORD_E(RKH_TE_FWK_ASSERT, RKH_TRC_STR(module); RKH_TRC_U16(line))
#define RKH_TR_UT_INIT(line)    RKH_TRC_RECORD_E(RKH_TE_UT_INIT, RKH_TRC_U32(line))
#define RKH_TR_UT_CLEANUP(line) RKH_TRC_RECORD_E(RKH_TE_UT_CLEANUP, RKH_TRC_U32(line))
#define RKH_TR_UT_VERIFY(line)  RKH_TRC_RECORD_E(RKH_TE_UT_VERIFY, RKH_TRC_U32(line))
#define RKH_TR_UT_IGNORE_GROUP(line, group)                                                        \
    RKH_TRC_RECORD_E(RKH_TE_UT_IGNORE_GROUP, RKH_TRC_U32(line); RKH_TRC_U8(group))
#define RKH_TR_UT_EXPECT(line, evt)                                                                \
    RKH_TRC_RECORD_E(RKH_TE_UT_EXPECT, RKH_TRC_U32(line); RKH_TRC_SIG(evt))
#define RKH_TR_UT_EXPECT_ANYARGS(line, evt)                                                        \
    RKH_TRC_RECORD_E(RKH_TE_UT_EXPECT_ANYARGS, RKH_TRC_U32(line); RKH_TRC_SIG(evt))
#define RKH_TR_UT_IGNORE(line, evt)                                                                \
    RKH_TRC_RECORD_E(RKH_TE_UT_IGNORE, RKH_TRC_U32(line); RKH_TRC_SIG(evt))
#define RKH_TR_UT_IGNORE_ARG(line, evt, argno)                                                     \
    RKH_TRC_RECORD_E(RKH_TE_UT_IGNORE_ARG, RKH_TRC_U32(line); RKH_TRC_SIG(evt); RKH_TRC_U8(argno))
#define RKH_TR_UT_SUCCESS() RKH_TRC_RECORD_E(RKH_TE_UT_SUCCESS, (void)0)
#define RKH_TR_UT_FAIL()    RKH_TRC_RECORD_E(RKH_TE_UT_FAIL, (void)0)

// Names of objects, under which C has them.
#define RKH_TR_FWK_OBJ(object) rkh_trc_name(RKH_TE_FWK_OBJ, object, #object)
#define RKH_TR_FWK_FUN(function)                                                                   \
    rkh_trc_name(RKH_TE_FWK_FUN, (const void *)(uintptr_t)(function), #function)
#define RKH_TR_FWK_TIMER(timer)        rkh_trc_name(RKH_TE_FWK_TIMER, timer, #timer)
#define RKH_TR_FWK_QUEUE(queue)        rkh_trc_name(RKH_TE_FWK_QUEUE, queue, #queue)
#define RKH_TR_FWK_ACTOR(object, name) rkh_trc_name(RKH_TE_FWK_ACTOR, object, name)
#define RKH_TR_FWK_SIG(signal)         rkh_trc_name_signal(signal, #signal)
#define RKH_TR_FWK_TUSR(event)                                                                     \
    rkh_trc_name_index(RKH_TE_FWK_TUSR, (rui8_t)((event)-RKH_TE_USER), #event)
#define RKH_TR_FWK_EPOOL(index, name) rkh_trc_name_index(RKH_TE_FWK_EPOOL, index, name)

#endif
