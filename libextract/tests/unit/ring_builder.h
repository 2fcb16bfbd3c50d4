// SPDX-License-Identifier: MIT
// tests: synthetic ThreadX rings. In: what a target's tracing was set up with, and its entries.
// Out: the bytes that such a target holds, and memories and traces over them.
//
// Source: docs/formats/threadx.md (TraceX user guide, chapter 11). Written from those facts alone
// and sharing no code with the decoder, so that the two check each other.
#ifndef TESTS_RING_BUILDER_H
#define TESTS_RING_BUILDER_H

#include <extract/trace.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum {
    MAX_RING_BYTES = 64 * 1024,
    ENTRY_WORDS = 8,
    MAX_EVENTS = 2048,
    FAKE_SPANS = 8,
    // Words of the header that tests damage, counted in ULONGs.
    WORD_MASK = 1,
    WORD_BASE = 2,
    WORD_REGISTRY_START = 3,
    WORD_REGISTRY_END = 5,
    WORD_ENTRIES_START = 6,
    WORD_ENTRIES_END = 7,
    WORD_CURRENT = 8,
    WORD_RESERVED2 = 9
};

#define RING_IN_ISR  UINT64_C(0xFFFFFFFF)
#define RING_IN_INIT UINT64_C(0xF0F0F0F0)

struct ring_spec {
    unsigned word_bytes; // of a ULONG: 4 or 8
    bool big_endian;
    uint64_t address; // where the header lies
    uint64_t mask;
    unsigned name_bytes;
    unsigned objects; // registry slots
    unsigned entries;
    unsigned tail;    // unused bytes behind the last entry
    uint8_t recycled; // what the memory held before tracing was enabled
};

struct ring_image {
    struct ring_spec spec;
    uint8_t bytes[MAX_RING_BYTES];
    size_t length;
    unsigned current; // slot that is written next
};

// Word by word, in the order in which the target writes them.
struct ring_entry {
    uint64_t thread, priority, id, stamp, info[4];
};

struct ring_object {
    uint8_t available, type, reserved1, reserved2;
    uint64_t address, param1, param2;
    const char *name;
};

// What most tests start from: 4-byte ULONGs, little-endian, at 0x20000100.
extern const struct ring_spec ring_plain;

// The state that tracing is in right after it was enabled, without the two entries that
// tx_trace_enable makes.
void ring_build(struct ring_image *image, const struct ring_spec *spec);
// Sizes by the facts: 12 ULONGs; 4 ULONGs and the name; 8 ULONGs.
unsigned ring_header_bytes(const struct ring_spec *spec);
unsigned ring_object_bytes(const struct ring_spec *spec);
unsigned ring_entry_bytes(const struct ring_spec *spec);
// Offset of a slot of the entries from the header; and its address.
size_t ring_slot_offset(const struct ring_image *image, unsigned slot);
uint64_t ring_slot_address(const struct ring_image *image, unsigned slot);

// A number in the target's byte order.
void ring_number(uint8_t *to, uint64_t value, unsigned bytes, bool big_endian);
void ring_header_word(struct ring_image *image, unsigned word, uint64_t value);
void ring_word(struct ring_image *image, unsigned slot, unsigned word, uint64_t value);
void ring_put(struct ring_image *image, unsigned slot, const struct ring_entry *entry);
void ring_point(struct ring_image *image, unsigned slot); // moves the header's pointer
// Writes an entry at the pointer, which moves.
void ring_insert(struct ring_image *image, const struct ring_entry *entry);
// Inserts `count` entries of thread 0x20004000, with timestamps that continue from *stamp by
// `step`.
void ring_run(struct ring_image *image, unsigned count, uint64_t *stamp, uint64_t step);
void ring_register(struct ring_image *image, unsigned slot, const struct ring_object *object);
// Registers objects from slot 0 on, and inserts entries.
void ring_fill(struct ring_image *image, const struct ring_object *objects, size_t object_count,
               const struct ring_entry *entries, size_t entry_count);

// A memory of images; bytes [from, to) of a ring as one image of it, at their address.
struct extract_memory *images_open(void);
void images_add(struct extract_memory *memory, const struct ring_image *image, size_t from,
                size_t to);
// The ring as it is found in a memory of its image.
void image_find(const struct ring_image *image, struct extract_ring *ring);

// The steps from memory to trace, each of which must succeed.
struct look {
    struct extract_memory *memory;
    struct extract_ring ring;
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
};

void look_open(struct look *look, const struct ring_image *image);
// The same for a memory, which `look` owns from now on.
void look_open_memory(struct look *look, struct extract_memory *memory, uint64_t address,
                      struct extract_symbols *symbols);
void look_close(struct look *look);
// All events of a trace, good until the next call.
const struct extract_event *look_events(const struct look *look, size_t *count);
const struct extract_event *look_event(const struct look *look, size_t i);
// Checks that valid + damaged + unused is what the ring can hold.
void assert_accounted(const struct look *look);

// A memory of callbacks over spans of bytes, in which one read can be made to fail.
struct fake_span {
    uint64_t address;
    const void *bytes;
    size_t length;
};

struct fake_memory {
    struct fake_span span[FAKE_SPANS];
    size_t count;
    long reads;   // so far
    long fail_at; // the read that delivers too little, counted from 1; 0: none
    size_t keep;  // bytes that it delivers all the same
};

void fake_add(struct fake_memory *fake, uint64_t address, const void *bytes, size_t length);
size_t fake_read(void *context, uint64_t address, void *buffer, size_t length);
struct extract_memory *fake_open(struct fake_memory *fake, bool running);

#endif
