// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: a recorder of RKH trace streams, version 3.4. In: events with their
// arguments. Out: frames in a ring of bytes, which a debugger finds by the symbols trcstm, trcin,
// trcout, trcend and trcqty; whoever sends the stream takes them out again.
//
// A record is made between RKH_TRC_BEGIN and RKH_TRC_END, one RKH_TRC_… an argument. It may be made
// in threads, in interrupt handlers and before the scheduler runs. Nothing is recorded until
// rkh_trc_init, and nothing that is filtered until the filters are opened.
#ifndef RKH_TRACE_H
#define RKH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#ifdef RKH_PORT
#include RKH_PORT
#else
#include "port.h"
#endif

// The types that debuggers look for. Where a long has 64 bits, so has rui32_t; the stream has 32.
typedef unsigned char rui8_t;
typedef unsigned short rui16_t;
typedef unsigned long rui32_t;

#define RKH_UINT_(bits)  RKH_UINT__(bits)
#define RKH_UINT__(bits) rui##bits##_t
typedef rui8_t RKH_TE_ID_T;
typedef RKH_UINT_(RKH_CFGPORT_TRC_SIZEOF_TSTAMP) RKH_TS_T;
typedef RKH_UINT_(RKH_CFG_FWK_SIZEOF_EVT) RKH_SIG_T;
typedef RKH_UINT_(RKH_CFG_FWK_SIZEOF_EVT_SIZE) RKH_ES_T;
typedef RKH_UINT_(RKH_CFG_TMR_SIZEOF_NTIMER) RKH_TNT_T;
typedef RKH_UINT_(RKH_CFG_QUE_SIZEOF_NELEM) RKH_QUENE_T;
typedef RKH_UINT_(RKH_CFG_MP_SIZEOF_NBLOCK) RKH_MPNB_T;
typedef RKH_UINT_(RKH_CFG_MP_SIZEOF_BSIZE) RKH_MPBS_T;

#if RKH_CFG_TRC_SIZEOF_STREAM < 255
typedef rui8_t TRCQTY_T;
#else
typedef rui16_t TRCQTY_T;
#endif

extern const char rkh_version[];

enum { RKH_FLAG = 0x7E }; // ends a frame; a stream begins with one

// ---- the ring (stream.c) ----

void rkh_trc_init(void); // an empty stream
void rkh_trc_put(rui8_t byte);
// The oldest byte, or NULL; the oldest bytes in one piece, at most *count, which becomes how many
// they are; a copy of them across the ring's end, and how many.
rui8_t *rkh_trc_get(void);
rui8_t *rkh_trc_get_block(TRCQTY_T *count);
TRCQTY_T rkh_trc_getWholeBlock(rui8_t *to, TRCQTY_T most);

// ---- what the application gives ----

RKH_TS_T rkh_trc_getts(void);
void rkh_trc_flush(void); // sends what lies in the ring

// ---- records (record.c) ----

// Frames of each event that are whole in the ring, and events that a filter kept from it.
extern volatile uint32_t rkh_emitted[256], rkh_suppressed[256];

void rkh_trc_restart(void); // the next frame is number 0
void rkh_trc_begin(RKH_TE_ID_T event);
void rkh_trc_begin_bare(RKH_TE_ID_T event); // without number and stamp
void rkh_trc_number(rui32_t value, unsigned bits);
void rkh_trc_string(const char *text);
void rkh_trc_memory(const void *from, rui8_t bytes);
void rkh_trc_end(void);

#define RKH_TRC_BEGIN(event, passes)                                                               \
    do {                                                                                           \
        const RKH_TE_ID_T rkh_event_ = (event);                                                    \
        const unsigned long rkh_lock_ = rkh_port_lock();                                           \
        if (passes) {                                                                              \
            rkh_trc_begin(rkh_event_);
#define RKH_TRC_END()                                                                              \
    rkh_trc_end();                                                                                 \
    }                                                                                              \
    else rkh_suppressed[rkh_event_]++;                                                             \
    rkh_port_unlock(rkh_lock_);                                                                    \
    }                                                                                              \
    while (0)

#define RKH_TRC_U8(value)   rkh_trc_number(value, 8)
#define RKH_TRC_U16(value)  rkh_trc_number(value, 16)
#define RKH_TRC_U32(value)  rkh_trc_number(value, 32)
#define RKH_TRC_SYM(object) rkh_trc_number((rui32_t)(uintptr_t)(object), RKH_CFGPORT_TRC_SIZEOF_PTR)
#define RKH_TRC_FUN(function)                                                                      \
    rkh_trc_number((rui32_t)(uintptr_t)(function), RKH_CFGPORT_TRC_SIZEOF_FUN_PTR)
#define RKH_TRC_SIG(signal)  rkh_trc_number(signal, RKH_CFG_FWK_SIZEOF_EVT)
#define RKH_TRC_ESIZE(bytes) rkh_trc_number(bytes, RKH_CFG_FWK_SIZEOF_EVT_SIZE)
#define RKH_TRC_NBLK(blocks) rkh_trc_number(blocks, RKH_CFG_MP_SIZEOF_NBLOCK)
#define RKH_TRC_BSIZE(bytes) rkh_trc_number(bytes, RKH_CFG_MP_SIZEOF_BSIZE)
#define RKH_TRC_NELEM(count) rkh_trc_number(count, RKH_CFG_QUE_SIZEOF_NELEM)
#define RKH_TRC_NTICK(ticks) rkh_trc_number(ticks, RKH_CFG_TMR_SIZEOF_NTIMER)
#define RKH_TRC_STR(text)    rkh_trc_string(text)
// Those that a configuration leaves out.
#if RKH_CFG_SMA_TRC_SNDR_EN
#define RKH_TRC_SNDR(object) RKH_TRC_SYM(object)
#else
#define RKH_TRC_SNDR(object) ((void)(object))
#endif
#if RKH_CFG_MP_GET_LWM_EN
#define RKH_TRC_MPNMIN(blocks) RKH_TRC_NBLK(blocks)
#else
#define RKH_TRC_MPNMIN(blocks) ((void)(blocks))
#endif
#if RKH_CFG_QUE_GET_LWMARK_EN
#define RKH_TRC_QNMIN(count) RKH_TRC_NELEM(count)
#else
#define RKH_TRC_QNMIN(count) ((void)(count))
#endif

// ---- user events: items that describe themselves ----

enum { RKH_TE_USER = 192, RKH_USER_EVENTS = 32 };
enum rkh_item {
    RKH_ITEM_I8,
    RKH_ITEM_U8,
    RKH_ITEM_I16,
    RKH_ITEM_U16,
    RKH_ITEM_I32,
    RKH_ITEM_U32,
    RKH_ITEM_X32,
    RKH_ITEM_STR,
    RKH_ITEM_MEM,
    RKH_ITEM_OBJ,
    RKH_ITEM_FUN,
    RKH_ITEM_SIG
};

// `width` is the least number of digits to show, 0 to 15.
#define RKH_TRC_USR_BEGIN(event) RKH_TRC_BEGIN(event, rkh_trc_passes(event))
#define RKH_TRC_USR_END()        RKH_TRC_END()
#define RKH_TUSR_(kind, width, value)                                                              \
    (RKH_TRC_U8((rui8_t)((width) << 4 | (kind))), rkh_trc_number((rui32_t)(value), RKH_BITS_(kind)))
#define RKH_BITS_(kind)        ((kind) < RKH_ITEM_I16 ? 8U : (kind) < RKH_ITEM_I32 ? 16U : 32U)
#define RKH_TUSR_I8(width, v)  RKH_TUSR_(RKH_ITEM_I8, width, v)
#define RKH_TUSR_U8(width, v)  RKH_TUSR_(RKH_ITEM_U8, width, v)
#define RKH_TUSR_I16(width, v) RKH_TUSR_(RKH_ITEM_I16, width, v)
#define RKH_TUSR_U16(width, v) RKH_TUSR_(RKH_ITEM_U16, width, v)
#define RKH_TUSR_I32(width, v) RKH_TUSR_(RKH_ITEM_I32, width, v)
#define RKH_TUSR_U32(width, v) RKH_TUSR_(RKH_ITEM_U32, width, v)
#define RKH_TUSR_X32(width, v) RKH_TUSR_(RKH_ITEM_X32, width, v)
#define RKH_TUSR_STR(text)     (RKH_TRC_U8(RKH_ITEM_STR), rkh_trc_string(text))
#define RKH_TUSR_MEM(from, n)  (RKH_TRC_U8(RKH_ITEM_MEM), rkh_trc_memory(from, n))
#define RKH_TUSR_OBJ(object)   (RKH_TRC_U8(RKH_ITEM_OBJ), RKH_TRC_SYM(object))
#define RKH_TUSR_FUN(function) (RKH_TRC_U8(RKH_ITEM_FUN), RKH_TRC_FUN(function))
#define RKH_TUSR_EVT(signal)   (RKH_TRC_U8(RKH_ITEM_SIG), RKH_TRC_SIG(signal))

// ---- filters (filter.c): a bit that is set lets an event through ----

enum rkh_filter { RKH_FILTER_ON, RKH_FILTER_OFF };
enum { RKH_GROUPS = 8, RKH_EVENTS_OF_GROUP = 32 };

bool rkh_trc_passes(RKH_TE_ID_T event);
bool rkh_trc_passes_object(RKH_TE_ID_T event, rui8_t priority);
bool rkh_trc_passes_signal(RKH_TE_ID_T event, rui8_t priority, RKH_SIG_T signal);

void rkh_filter_group(enum rkh_filter filter, unsigned group);
void rkh_filter_group_all_events(enum rkh_filter filter, unsigned group);
void rkh_filter_event(enum rkh_filter filter, RKH_TE_ID_T event);
void rkh_filter_sma(enum rkh_filter filter, rui8_t priority);
void rkh_filter_all_sma(enum rkh_filter filter);
void rkh_filter_signal(enum rkh_filter filter, RKH_SIG_T signal);
void rkh_filter_all_signals(enum rkh_filter filter);
void rkh_filter_everything(enum rkh_filter filter);

// ---- names and the stream's own description (names.c): never filtered, sent at once ----

void rkh_trc_describe(void);
void rkh_trc_name(RKH_TE_ID_T record, const void *object, const char *name);
void rkh_trc_name_state(RKH_TE_ID_T record, const void *ao, const void *state, const char *name);
void rkh_trc_name_signal(RKH_SIG_T signal, const char *name);
void rkh_trc_name_index(RKH_TE_ID_T record, rui8_t index, const char *name);

#endif
