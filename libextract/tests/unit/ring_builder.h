// SPDX-License-Identifier: MIT
// tests: synthetic ThreadX rings. A test passes the settings of a target's trace, and its entries.
// The functions build the bytes in such a target's memory, and open memories and traces over them.
//
// Truth: docs/formats/threadx.md (TraceX user guide, chapter 11). This code is written from those
// facts alone and shares none with the decoder, so that the two check each other.
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
    unsigned word_bytes; // size of a ULONG: 4 or 8
    bool big_endian;
    uint64_t address; // address of the header
    uint64_t mask;
    unsigned name_bytes;
    unsigned objects; // registry slots
    unsigned entries;
    unsigned tail;    // unused bytes after the last entry
    uint8_t recycled; // fills the memory before tracing is enabled
};

struct ring_image {
    struct ring_spec spec;
    uint8_t bytes[MAX_RING_BYTES];
    size_t length;
    unsigned current; // slot that the target writes next
};

// The words of an entry, in the order in which the target writes them.
struct ring_entry {
    uint64_t thread, priority, id, stamp, info[4];
};

struct ring_object {
    uint8_t available, type, reserved1, reserved2;
    uint64_t address, param1, param2;
    const char *name;
};

// The settings from which most tests start: 4-byte ULONGs, little-endian, at 0x20000100.
extern const struct ring_spec ring_plain;

// Builds the state right after tracing was enabled, without the two entries that tx_trace_enable
// makes.
void ring_build(struct ring_image *image, const struct ring_spec *spec);
// Return the sizes in bytes: a header has 12 ULONGs, an object 4 ULONGs and its name, an entry 8
// ULONGs.
unsigned ring_header_bytes(const struct ring_spec *spec);
unsigned ring_object_bytes(const struct ring_spec *spec);
unsigned ring_entry_bytes(const struct ring_spec *spec);
// Return the offset of a slot of the entries from the header, and its address.
size_t ring_slot_offset(const struct ring_image *image, unsigned slot);
uint64_t ring_slot_address(const struct ring_image *image, unsigned slot);

// Writes a number in the target's byte order.
void ring_number(uint8_t *to, uint64_t value, unsigned bytes, bool big_endian);
void ring_header_word(struct ring_image *image, unsigned word, uint64_t value);
void ring_word(struct ring_image *image, unsigned slot, unsigned word, uint64_t value);
void ring_put(struct ring_image *image, unsigned slot, const struct ring_entry *entry);
void ring_point(struct ring_image *image, unsigned slot); // moves the header's pointer
// Writes an entry at the pointer, and advances the pointer.
void ring_insert(struct ring_image *image, const struct ring_entry *entry);
// Inserts `count` entries of thread 0x20004000. Their timestamps start at *stamp and grow by
// `step`.
void ring_run(struct ring_image *image, unsigned count, uint64_t *stamp, uint64_t step);
void ring_register(struct ring_image *image, unsigned slot, const struct ring_object *object);

enum { RING_THREADS = 3, RING_FIRST_THREAD = 0x20004000, RING_THREAD_BYTES = 0x200 };
// Builds a ring with 32 slots and the threads a, b and c, whose control blocks follow each other.
// They have stacks of 1 KiB at 0x20005000, 0x20006000 and 0x20007000.
void ring_build_threads(struct ring_image *image);
// Registers objects from slot 0 on, and inserts entries.
void ring_fill(struct ring_image *image, const struct ring_object *objects, size_t object_count,
               const struct ring_entry *entries, size_t entry_count);

// Open a memory of images, and add bytes [from, to) of a ring to it as one image at their address.
struct extract_memory *images_open(void);
void images_add(struct extract_memory *memory, const struct ring_image *image, size_t from,
                size_t to);
// Finds the ring in a memory of its image.
void image_find(const struct ring_image *image, struct extract_ring *ring);

// The results of the steps from memory to trace. Each step must succeed.
struct look {
    struct extract_memory *memory;
    struct extract_ring ring;
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
};

void look_open(struct look *look, const struct ring_image *image);
// Opens the same from an existing memory, which `look` then owns.
void look_open_memory(struct look *look, struct extract_memory *memory, uint64_t address,
                      struct extract_symbols *symbols);
void look_close(struct look *look);
// Returns all events of a trace. They are valid until the next call.
const struct extract_event *look_events(const struct look *look, size_t *count);
const struct extract_event *look_event(const struct look *look, size_t i);
// Asserts that valid + damaged + unused is the number of entries that the ring can contain.
void assert_accounted(const struct look *look);

// A memory of callbacks over spans of bytes. A test can make one read fail.
struct fake_span {
    uint64_t address;
    const void *bytes;
    size_t length;
};

struct fake_memory {
    struct fake_span span[FAKE_SPANS];
    size_t count;
    long reads;   // so far
    long fail_at; // the read that returns too few bytes, counted from 1; 0: none
    size_t keep;  // bytes that the failing read still returns
};

void fake_add(struct fake_memory *fake, uint64_t address, const void *bytes, size_t length);
size_t fake_read(void *context, uint64_t address, void *buffer, size_t length);
struct extract_memory *fake_open(struct fake_memory *fake, bool running);

#endif
