// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: a small product of three active objects, which is recorded from start-up
// to the end of its work. A device interrupt brings samples: sampler -> filter -> logger. The
// logger is slow, and defers what comes in the meantime; the sampler is paused by an urgent event;
// between two samples filters are closed and opened again. Then everything that a record can have
// is written once, and rkh_done is 1.
#include "shared.h"

#define NO_MORE                                                                                    \
    {                                                                                              \
        RKH_ANY, NULL, NULL, NULL                                                                  \
    }

enum signal { SAMPLE, BLOCK, PAUSE, RESUME, WRITTEN, FULL, STATUS };
enum user_event { USR_SAMPLE = RKH_TE_USER, USR_STATUS, USR_LOGGED, USR_FORMS = RKH_TE_USER + 9 };
// What happens at which sample of a turn.
enum { PAUSED = 6, CLOSED = 12, OPENED = 16, TURN = 24, SAMPLES_OF_BLOCK = 3 };
enum { SAMPLER_PRIO = 3, FILTER_PRIO = 5, LOGGER_PRIO = 7, CLOSER_PRIO = 9, PLACES = 4 };

// Blocks of pools have space for a pointer wherever they lie.
struct sample_event {
    _Alignas(void *) RKH_EVT_T evt;
    uint32_t number, value;
};
struct block_event {
    _Alignas(void *) RKH_EVT_T evt;
    uint32_t first;
    uint32_t values[SAMPLES_OF_BLOCK];
};

// What the application itself has done, for tests.
volatile struct {
    uint32_t samples, blocks, deferred, refused;
} rkh_made;
// How many there are to be, which tests may change.
volatile uint32_t rkh_samples_most = TURN;

static RKH_SMA_T sampler, filter, logger;
static RKH_QUEUE_T deferred;
static RKH_EVT_T *sampler_places[PLACES], *filter_places[PLACES], *logger_places[PLACES];
static RKH_EVT_T *deferred_places[2];
static RKH_TMR_T resume_timer, written_timer;
static RKH_EVT_T pause_event = {PAUSE, 0, 0}, resume_event = {RESUME, 0, 0};
static RKH_EVT_T written_event = {WRITTEN, 0, 0}, status_event = {STATUS, 0, 0};
static RKH_EVT_T full_event = {FULL, 0, 0};
static _Alignas(8) UCHAR sample_area[8 * sizeof(struct sample_event)];
static _Alignas(8) UCHAR block_area[4 * sizeof(struct block_event)];
static _Alignas(8) UCHAR stacks[4][IMAGE_STACK_BYTES];
static TX_TIMER tick_timer;
static TX_SEMAPHORE end_semaphore;
static TX_THREAD closer_thread;
static struct block_event collected;
static uint32_t collected_count;
static UCHAR l_isr_device, l_isr_tick; // senders that are no active objects

// ---- the sampler ----

static const RKH_ST_T sampler_ready, sampler_paused;

static void pass_on(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    const struct sample_event *from = (const struct sample_event *)event;
    struct sample_event *to = (struct sample_event *)rkh_fwk_ae(sizeof *to, SAMPLE, me);
    RKH_TRC_USR_BEGIN(USR_SAMPLE);
    RKH_TUSR_U32(3, from->number);
    RKH_TUSR_X32(8, from->value);
    RKH_TRC_USR_END();
    if (!to)
        return;
    to->number = from->number;
    to->value = from->value;
    if (!RKH_POST_FIFO(&filter, &to->evt, me))
        rkh_made.refused++;
}

static void pause_enter(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    (void)event;
    rkh_tmr_start(&resume_timer, me, 4, 0);
}

static const RKH_TRN_T sampler_ready_trns[] = {
    {SAMPLE, NULL, pass_on, NULL}, {PAUSE, NULL, NULL, &sampler_paused}, NO_MORE};
static const RKH_TRN_T sampler_paused_trns[] = {{RESUME, NULL, NULL, &sampler_ready}, NO_MORE};
static const RKH_ST_T sampler_ready = {"sampler_ready", NULL, NULL, NULL, sampler_ready_trns};
static const RKH_ST_T sampler_paused = {"sampler_paused", NULL, pause_enter, NULL,
                                        sampler_paused_trns};
static const RKH_ROM_T sampler_rom = {"sampler", SAMPLER_PRIO, &sampler_ready, NULL};

// ---- the filter: collecting, and full, in one state ----

static const RKH_ST_T filter_active, filter_collecting, filter_full;

static void collect(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    const struct sample_event *sample = (const struct sample_event *)event;
    if (collected_count == 0)
        collected.first = sample->number;
    collected.values[collected_count++] = sample->value;
    if (collected_count == SAMPLES_OF_BLOCK && !RKH_POST_LIFO(me, &full_event, me)) {
        rkh_made.refused++;
        collected_count = 0;
    }
}

static void send_block(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    struct block_event *block = (struct block_event *)rkh_fwk_ae(sizeof *block, BLOCK, me);
    (void)event;
    if (block) {
        collected.evt = block->evt;
        *block = collected;
        rkh_made.blocks++;
        if (!RKH_POST_FIFO(&logger, &block->evt, me))
            rkh_made.refused++;
    }
    collected_count = 0;
}

static bool has_some(const RKH_SMA_T *me, const RKH_EVT_T *event)
{
    (void)me, (void)event;
    return collected_count > 0;
}

static void tell_status(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    (void)event;
    RKH_TRC_USR_BEGIN(USR_STATUS);
    RKH_TUSR_OBJ(me);
    RKH_TUSR_U8(0, collected_count);
    RKH_TUSR_STR("collected");
    RKH_TRC_USR_END();
}

static const RKH_TRN_T filter_active_trns[] = {{STATUS, has_some, tell_status, NULL}, NO_MORE};
static const RKH_TRN_T filter_collecting_trns[] = {
    {SAMPLE, NULL, collect, NULL}, {FULL, NULL, NULL, &filter_full}, NO_MORE};
static const RKH_TRN_T filter_full_trns[] = {{SAMPLE, NULL, collect, &filter_collecting}, NO_MORE};
static const RKH_ST_T filter_active = {"filter_active", NULL, NULL, NULL, filter_active_trns};
static const RKH_ST_T filter_collecting = {"filter_collecting", &filter_active, NULL, NULL,
                                           filter_collecting_trns};
static const RKH_ST_T filter_full = {"filter_full", &filter_active, send_block, NULL,
                                     filter_full_trns};
static const RKH_ROM_T filter_rom = {"filter", FILTER_PRIO, &filter_collecting, NULL};

// ---- the logger ----

static const RKH_ST_T logger_idle, logger_writing;

static void begin_to_write(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    const struct block_event *block = (const struct block_event *)event;
    RKH_TRC_USR_BEGIN(USR_LOGGED);
    RKH_TUSR_U16(0, block->first);
    RKH_TUSR_MEM(block->values, sizeof block->values);
    RKH_TUSR_EVT(event->e);
    RKH_TRC_USR_END();
    rkh_tmr_start(&written_timer, me, 8, 0);
}

static void put_off(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    (void)me;
    rkh_sma_defer(&deferred, (RKH_EVT_T *)(uintptr_t)event);
    rkh_made.deferred++;
}

static void recall(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    (void)event;
    rkh_sma_recall(me, &deferred);
}

static void stop_timer(RKH_SMA_T *me, const RKH_EVT_T *event)
{
    (void)me, (void)event;
    rkh_tmr_stop(&written_timer);
}

static const RKH_TRN_T logger_idle_trns[] = {{BLOCK, NULL, begin_to_write, &logger_writing},
                                             NO_MORE};
static const RKH_TRN_T logger_writing_trns[] = {
    {BLOCK, NULL, put_off, NULL}, {WRITTEN, NULL, recall, &logger_idle}, NO_MORE};
static const RKH_ST_T logger_idle = {"logger_idle", NULL, NULL, NULL, logger_idle_trns};
static const RKH_ST_T logger_writing = {"logger_writing", NULL, NULL, stop_timer,
                                        logger_writing_trns};
static const RKH_ROM_T logger_rom = {"logger", LOGGER_PRIO, &logger_idle, stop_timer};

// ---- interrupts ----

static void close_some_filters(void)
{
    rkh_filter_group(RKH_FILTER_ON, RKH_TG_TMR);
    rkh_filter_event(RKH_FILTER_ON, RKH_TE_SM_NENEX);
    rkh_filter_sma(RKH_FILTER_ON, LOGGER_PRIO);
    rkh_filter_signal(RKH_FILTER_ON, SAMPLE);
}

static void sample(void)
{
    struct sample_event *event =
        (struct sample_event *)rkh_fwk_ae(sizeof *event, SAMPLE, &l_isr_device);
    if (!event) {
        rkh_made.refused++;
        return;
    }
    event->number = rkh_made.samples;
    event->value = event->number * 0x7E7D;
    if (!RKH_POST_FIFO(&sampler, &event->evt, &l_isr_device))
        rkh_made.refused++;
}

void board_device_interrupt(void)
{
    if (rkh_made.samples == rkh_samples_most)
        return;
    uint32_t turn = rkh_made.samples++ % TURN;
    sample();
    if (turn == PAUSED) {
        RKH_POST_LIFO(&sampler, &pause_event, &l_isr_device);
        RKH_POST_FIFO(&logger, &pause_event, &l_isr_device);
    } else if (turn == CLOSED) {
        close_some_filters();
    } else if (turn == OPENED) {
        rkh_filter_everything(RKH_FILTER_OFF);
    }
    if (turn % 4 == 0)
        RKH_POST_FIFO(&filter, &status_event, &l_isr_device);
    if (rkh_made.samples == rkh_samples_most)
        bout_semaphore_put(&end_semaphore);
}

// In the System Timer Thread.
static void tick(ULONG unused)
{
    (void)unused;
    rkh_tmr_tick(&l_isr_tick);
    rkh_trc_flush();
}

// ---- the end ----

static void write_every_form(void)
{
    static const UCHAR bytes[] = {0x7E, 0x7D, 0x00, 0x20, 0xFF};
    RKH_TRC_USR_BEGIN(USR_FORMS);
    RKH_TUSR_I8(3, -5);
    RKH_TUSR_U8(3, 250);
    RKH_TUSR_I16(6, -300);
    RKH_TUSR_U16(5, 0x7E7D);
    RKH_TUSR_I32(8, -70000);
    RKH_TUSR_U32(10, 4000000000);
    RKH_TUSR_X32(8, 0xDEADBEEF);
    RKH_TUSR_STR("hello");
    RKH_TUSR_MEM(bytes, sizeof bytes);
    RKH_TUSR_OBJ(&logger.equeue);
    RKH_TUSR_FUN(write_every_form);
    RKH_TUSR_EVT(STATUS);
    RKH_TRC_USR_END();
}

static void closer_entry(ULONG unused)
{
    (void)unused;
    bout_semaphore_get(&end_semaphore, BOUT_WAIT_FOREVER);
    bout_thread_sleep(30);
    RKH_TR_FWK_SYNC_EVT(write_every_form, &logger, &filter);
    write_every_form();
    RKH_TR_FWK_EXE_FUN(write_every_form);
    rkh_sma_terminate(&sampler);
    RKH_TR_FWK_EX();
    RKH_TR_FWK_ASSERT("rkh", 4711);
    rkh_finish();
}

// ---- the beginning ----

// What has no name here has one in the ELF file only: a state, a queue, a timer and a function.
static void name_everything(void)
{
    RKH_TR_FWK_ACTOR(&l_isr_device, "l_isr_device");
    RKH_TR_FWK_OBJ(&l_isr_tick);
    rkh_trc_name(RKH_TE_FWK_AO, &sampler, sampler_rom.name);
    rkh_trc_name(RKH_TE_FWK_AO, &filter, filter_rom.name);
    rkh_trc_name(RKH_TE_FWK_AO, &logger, logger_rom.name);
    rkh_trc_name_state(RKH_TE_FWK_STATE, &sampler, &sampler_ready, sampler_ready.name);
    rkh_trc_name_state(RKH_TE_FWK_STATE, &sampler, &sampler_paused, sampler_paused.name);
    rkh_trc_name_state(RKH_TE_FWK_STATE, &filter, &filter_collecting, filter_collecting.name);
    rkh_trc_name_state(RKH_TE_FWK_STATE, &logger, &logger_idle, logger_idle.name);
    rkh_trc_name_state(RKH_TE_FWK_STATE, &logger, &logger_writing, logger_writing.name);
    RKH_TR_FWK_SIG(SAMPLE);
    RKH_TR_FWK_SIG(BLOCK);
    RKH_TR_FWK_SIG(PAUSE);
    RKH_TR_FWK_SIG(RESUME);
    RKH_TR_FWK_SIG(FULL);
    RKH_TR_FWK_SIG(STATUS);
    RKH_TR_FWK_TIMER(&resume_timer);
    RKH_TR_FWK_QUEUE(&sampler.equeue);
    RKH_TR_FWK_FUN(collect);
    RKH_TR_FWK_TUSR(USR_SAMPLE);
    RKH_TR_FWK_TUSR(USR_LOGGED);
    RKH_TR_FWK_TUSR(USR_FORMS);
    RKH_TR_FWK_EPOOL(0, "samples");
    RKH_TR_FWK_EPOOL(1, "blocks");
}

static void activate_all(void)
{
    const struct {
        RKH_SMA_T *ao;
        const RKH_ROM_T *rom;
        RKH_EVT_T **places;
    } actors[] = {{&sampler, &sampler_rom, sampler_places},
                  {&filter, &filter_rom, filter_places},
                  {&logger, &logger_rom, logger_places}};
    for (uint32_t i = 0; i < sizeof actors / sizeof *actors; i++) {
        actors[i].ao->romrkh = actors[i].rom;
        rkh_sma_activate(actors[i].ao, &(struct rkh_memory){actors[i].places, PLACES, stacks[i],
                                                            sizeof stacks[i]});
    }
}

static void define(void)
{
    rkh_trc_init();
    rkh_filter_everything(RKH_FILTER_OFF);
    rkh_trc_describe();
    rkh_fwk_registerEvtPool(sample_area, sizeof sample_area, sizeof(struct sample_event));
    rkh_fwk_registerEvtPool(block_area, sizeof block_area, sizeof(struct block_event));
    name_everything();
    rkh_queue_init(&deferred, deferred_places, 2, NULL);
    rkh_tmr_init(&resume_timer, &resume_event);
    rkh_tmr_init(&written_timer, &written_event);
    activate_all();
    bout_semaphore_create(&end_semaphore, "end", 0);
    image_thread(&closer_thread, "closer", closer_entry, 0, stacks[3], CLOSER_PRIO);
    bout_timer_create(&tick_timer, "tick", tick, 0, 1, 1, true);
    board_device_start(50);
    RKH_TR_FWK_EN();
}

void image_main(void)
{
    bout_start(define);
}
