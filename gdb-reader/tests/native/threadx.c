// SPDX-License-Identifier: MIT
// gdb-reader tests: a host program that writes a ThreadX trace as the kernel's Linux port does.
// Words have 4 bytes, and hold the lower halves of addresses. It records five events of a thread
// whose control block is `worker`, which no registry slot names. Then it calls checkpoint() and
// aborts.
//
// Standard: ThreadX 6.4, tx_trace.h; docs/formats/threadx.md.
#include <stdint.h>
#include <stdlib.h>

#define LOW(pointer) ((uint32_t)(uintptr_t)(pointer))

enum { SLOTS = 2, ENTRIES = 8, EVENTS = 5 };

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
    struct entry entry[ENTRIES];
} ring;
struct header *_tx_trace_header_ptr;
struct entry *_tx_trace_buffer_current_ptr;
void *worker[40];

__attribute__((noinline)) void checkpoint(void)
{
    __asm__ volatile("" : : : "memory");
}

int main(void)
{
    ring.header = (struct header){
        .id = 0x54585442,
        .mask = 0xffffffff,
        .base = LOW(&ring),
        .registry_start = LOW(ring.object),
        .name_bytes = sizeof ring.object->name,
        .registry_end = LOW(ring.object + SLOTS),
        .start = LOW(ring.entry),
        .end = LOW(ring.entry + ENTRIES),
        .current = LOW(ring.entry + EVENTS),
        .reserved = {0xaaaaaaaa, 0xbbbbbbbb, 0xcccccccc},
    };
    for (uint32_t n = 0; n < EVENTS; n++)
        ring.entry[n] = (struct entry){LOW(worker), 0x80100010, 4096, 10 * n, {n, 0, 0, 0}};
    _tx_trace_header_ptr = &ring.header;
    _tx_trace_buffer_current_ptr = ring.entry + EVENTS;
    checkpoint();
    abort();
}
