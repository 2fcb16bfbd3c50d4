// SPDX-License-Identifier: MIT
// gdb-reader tests: a Cortex-M3 program that writes a trace whose every word is known.
//
// The ring is a ThreadX trace ring (docs/formats/threadx.md) with EVENTS entries, by default 64,
// and two threads. Event number n is user event 4096 with stamp 10 * n and fields n, 2 * n, 3 * n,
// 4 * n. Even events come from thread alpha, odd ones from thread beta. checkpoint() is called
// after 40, 100 and EVENTS + 56 events. inner() is inlined into work(), and a timer interrupt calls
// tick().
//
// Standard: ThreadX 6.4, tx_trace.h; Armv7-M Architecture Reference Manual, B3.3 (SysTick).
#include <stdint.h>

#ifndef EVENTS
#define EVENTS 64
#endif
#define SLOTS 4

struct header {
    uint32_t id, mask, base, registry_start;
    uint16_t reserved1, name_bytes;
    uint32_t registry_end, start, end, current, reserved[3];
};
struct object {
    uint8_t available, type, reserved[2];
    uint32_t address, param[2];
    char name[32];
};
struct entry {
    uint32_t thread, priority, id, stamp, info[4];
};

static struct {
    struct header header;
    struct object object[SLOTS];
    struct entry entry[EVENTS];
} ring;
struct header *_tx_trace_header_ptr;
struct entry *_tx_trace_buffer_current_ptr;
uint32_t alpha[40], beta[40]; // thread control blocks
volatile uint32_t ticks;

static uint32_t address(const volatile void *p)
{
    return (uint32_t)(uintptr_t)p;
}

static void name_thread(struct object *object, const uint32_t *thread, const char *name)
{
    object->type = 1;
    object->address = address(thread);
    for (int i = 0; name[i]; i++)
        object->name[i] = name[i];
}

static void start_trace(void)
{
    ring.header = (struct header){
        .id = 0x54585442,
        .mask = 0xffffffff,
        .base = address(&ring),
        .registry_start = address(ring.object),
        .name_bytes = 32,
        .registry_end = address(ring.object + SLOTS),
        .start = address(ring.entry),
        .end = address(ring.entry + EVENTS),
        .current = address(ring.entry),
        .reserved = {0xaaaaaaaa, 0xbbbbbbbb, 0xcccccccc},
    };
    name_thread(&ring.object[0], alpha, "alpha");
    name_thread(&ring.object[1], beta, "beta");
    for (int i = 2; i < SLOTS; i++)
        ring.object[i].available = 1;
    _tx_trace_buffer_current_ptr = ring.entry;
    _tx_trace_header_ptr = &ring.header;
}

static inline __attribute__((always_inline)) void inner(uint32_t n)
{
    struct entry *e = _tx_trace_buffer_current_ptr;

    *e = (struct entry){
        address(n % 2 ? beta : alpha), 0x80100010, 4096, 10 * n, {n, 2 * n, 3 * n, 4 * n},
    };
    e = e + 1 == ring.entry + EVENTS ? ring.entry : e + 1;
    _tx_trace_buffer_current_ptr = e;
    ring.header.current = address(e);
}

__attribute__((noinline)) uint32_t work(uint32_t n)
{
    inner(n);
    return n + 1;
}

__attribute__((noinline)) void checkpoint(uint32_t n)
{
    __asm__ volatile("" ::"r"(n));
}

__attribute__((noinline)) void tick(void)
{
    ticks++;
}

// GDB unwinds no further than main. Otherwise its core files would become huge.
int main(void)
{
    start_trace();
    for (uint32_t n = 0; n < EVENTS + 56;) {
        n = work(n);
        if (n == 40 || n == 100 || n == EVENTS + 56)
            checkpoint(n);
    }
    *(volatile uint32_t *)0xE000E014 = 25000; // reload
    *(volatile uint32_t *)0xE000E018 = 0;
    *(volatile uint32_t *)0xE000E010 = 7; // on, with interrupt
    for (;;)
        ;
}
