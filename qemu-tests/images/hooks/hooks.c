// SPDX-License-Identifier: MIT
// qemu-tests/images/hooks: a small product that is recorded through hook words, from start-up to
// the end of its work. A device interrupt brings samples, which go sensor -> queue -> filter ->
// semaphore -> logger; each of them has events of its own, with and without buffers. At the end
// every form of entry is written once. Then recording stops, and hooks_done is 1.
#include "shared.h"

// The application's hook words; the lower half is the number of the sample, or of the form.
enum {
    HOOK_SAMPLE = 0x01000000,   // from the interrupt; D1 sample
    HOOK_MEASURED = 0x01100000, // D1 sample, D2 value
    HOOK_MESSAGE = 0x01200000,  // generic; D1 sample, a text
    HOOK_LOGGED = 0x01300000,   // no data, no stamp
    HOOK_FORM = 0x01400000,     // D1 to D5: 1 to 5
    HOOK_FORM_32 = 0x01500000,  // the same with 32-bit words
    HOOK_FORM_64 = 0x01600000,  // with 64-bit words
    HOOK_BEGIN = 0x01700000     // before the scheduler runs
};

enum { SAMPLES = 20, FORM_GENERIC = 6, FORM_STAMPED = 16 };

// What the application itself has done, for tests.
volatile struct {
    uint32_t samples, measured, messages, logged, forms, lost;
} hooks_made;
// What the kernel had counted when recording stopped.
volatile struct hook_counts hooks_final;
volatile uint32_t hooks_done;

static TX_THREAD sensor_thread, filter_thread, logger_thread, closer_thread;
static _Alignas(8) UCHAR stacks[4][IMAGE_STACK_BYTES];
static TX_QUEUE sample_queue;
static TX_SEMAPHORE device_semaphore, log_semaphore, end_semaphore;
static ULONG sample_area[8];
static UCHAR block[HOOK_MAX_GENERIC + 1];

void board_device_interrupt(void)
{
    if (hooks_made.samples == SAMPLES)
        return;
    uint32_t sample = ++hooks_made.samples;
    TRCHKL1T(HOOK_SAMPLE | sample, sample);
    bout_semaphore_put(&device_semaphore);
}

static ULONG value_of(ULONG sample)
{
    return sample * sample + 7;
}

static void sensor_entry(ULONG unused)
{
    (void)unused;
    for (ULONG sample = 1; sample <= SAMPLES; sample++) {
        bout_semaphore_get(&device_semaphore, BOUT_WAIT_FOREVER);
        TRCHKL2T(HOOK_MEASURED | (uint32_t)sample, sample, value_of(sample));
        hooks_made.measured++;
        bout_queue_send(&sample_queue, &sample, BOUT_WAIT_FOREVER);
    }
}

static void filter_entry(ULONG unused)
{
    (void)unused;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        ULONG sample;
        char text[20];
        bout_queue_receive(&sample_queue, &sample, BOUT_WAIT_FOREVER);
        TRCGENT(0, HOOK_MESSAGE, sample, image_message(sample, text), text);
        hooks_made.messages++;
        bout_semaphore_put(&log_semaphore);
    }
}

static void logger_entry(ULONG unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= SAMPLES; i++) {
        bout_semaphore_get(&log_semaphore, BOUT_WAIT_FOREVER);
        TRCHKL0(HOOK_LOGGED | i);
        hooks_made.logged++;
    }
    bout_semaphore_put(&end_semaphore);
}

static void own_forms(void)
{
    TRCHKL0(HOOK_FORM);
    TRCHKL1(HOOK_FORM | 1, 1);
    TRCHKL2(HOOK_FORM | 2, 1, 2);
    TRCHKL3(HOOK_FORM | 3, 1, 2, 3);
    TRCHKL4(HOOK_FORM | 4, 1, 2, 3, 4);
    TRCHKL5(HOOK_FORM | 5, 1, 2, 3, 4, 5);
    TRCGEN(0, HOOK_FORM | FORM_GENERIC, 1, 5, "bytes");
    TRCHKL0T(HOOK_FORM | FORM_STAMPED);
    TRCHKL1T(HOOK_FORM | FORM_STAMPED | 1, 1);
    TRCHKL2T(HOOK_FORM | FORM_STAMPED | 2, 1, 2);
    TRCHKL3T(HOOK_FORM | FORM_STAMPED | 3, 1, 2, 3);
    TRCHKL4T(HOOK_FORM | FORM_STAMPED | 4, 1, 2, 3, 4);
    TRCHKL5T(HOOK_FORM | FORM_STAMPED | 5, 1, 2, 3, 4, 5);
    TRCGENT(0, HOOK_FORM | FORM_STAMPED | FORM_GENERIC, 1, 5, "bytes");
    hooks_made.forms += 14;
}

// Words of 32 and of 64 bits, whatever the target's are.
static void both_widths(void)
{
    trchook(HOOK_FORM_32 | 1 << 16, 1, 2, 3, 4, 5);
    trchook(HOOK_FORM_32 | 2 << 16 | 1, 1, 2, 3, 4, 5);
    trchook(HOOK_FORM_32 | 6 << 16 | 5, 1, 2, 3, 4, 5);
    trchookt(HOOK_FORM_32 | 1 << 16 | FORM_STAMPED, 1, 2, 3, 4, 5);
    trchookt(HOOK_FORM_32 | 2 << 16 | FORM_STAMPED | 1, 1, 2, 3, 4, 5);
    trchook(HOOK_FORM_32 | 14 << 16 | FORM_STAMPED | 5, 1, 2, 3, 4, 5);
    trcgen(0, HOOK_FORM_32, 1, 5, "bytes");
    trcgent(0, HOOK_FORM_32, 1, 5, "bytes");
    trchook64(HOOK_FORM_64 | 5, 1, 2, 3, 4, UINT64_C(0x500000000));
    trchook64t(HOOK_FORM_64 | FORM_STAMPED | 5, 1, 2, 3, 4, UINT64_C(0x500000000));
    trcgen64(0, HOOK_FORM_64 | FORM_GENERIC, 1, 5, "bytes");
    trcgent64(0, HOOK_FORM_64 | FORM_STAMPED | FORM_GENERIC, 1, 5, "bytes");
    hooks_made.forms += 12;
}

static void long_buffers(void)
{
    for (uint32_t i = 0; i < sizeof block; i++)
        block[i] = (UCHAR)i;
    TRCGENT(0, HOOK_FORM, 1, HOOK_MAX_GENERIC, block);
    TRCGENT(0, HOOK_FORM, 1, 0, block);
    hooks_made.forms += 2;
    TRCGENT(0, HOOK_FORM, 1, HOOK_MAX_GENERIC + 1, block);
    TRCGENT(7, HOOK_FORM, 1, 1, block); // a channel that is not open
    hooks_nest = true;
    TRCHKL0T(HOOK_FORM | FORM_STAMPED); // its stamp is traced
    hooks_made.forms++;
    hooks_made.lost += 2;
}

static void closer_entry(ULONG unused)
{
    (void)unused;
    bout_semaphore_get(&end_semaphore, BOUT_WAIT_FOREVER);
    own_forms();
    both_widths();
    long_buffers();
    ULONG lock = bout_lock();
    bout_hooks_stop();
    hooks_final = bout_hooks_counts;
    hooks_done = 1;
    bout_unlock(lock);
}

static void define(void)
{
    bout_hooks_open(HOOK_BUFFER_BYTES, true);
    TRCHKL1T(HOOK_BEGIN, HOOK_BUFFER_BYTES);
    bout_queue_create(&sample_queue, "samples", 1, sample_area, sizeof sample_area);
    bout_semaphore_create(&device_semaphore, "device", 0);
    bout_semaphore_create(&log_semaphore, "log", 0);
    bout_semaphore_create(&end_semaphore, "end", 0);
    image_thread(&sensor_thread, "sensor", sensor_entry, 0, stacks[0], 6);
    image_thread(&filter_thread, "filter", filter_entry, 0, stacks[1], 8);
    image_thread(&logger_thread, "logger", logger_entry, 0, stacks[2], 10);
    image_thread(&closer_thread, "closer", closer_entry, 0, stacks[3], 12);
    board_device_start(50);
}

void image_main(void)
{
    bout_start(define);
}
