// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: the ring. In: entries in parts. Out: whole records in target memory
// (docs/formats/hook.md). The tail passes a record before its bytes are overwritten. The head
// passes a record when all of it is written. So a reader that copies the memory at any moment can
// find out which records are whole.
#include "ring.h"
#include "hook_port.h"

// Bits of a frame, above the record's length.
#define FRAME_THREAD       0x20000UL
#define FRAME_STAMP        0x40000UL
#define FRAME_THREAD_64    0x80000UL
#define FRAME_STAMP_64     0x100000UL
#define FRAME_INTERRUPT    0x200000UL
#define FRAME_STARTING     0x400000UL
#define FRAME_CPU_SHIFT    24
#define FRAME_LENGTH       0xFFFFUL
#define FRAME_LENGTH_LEAST 8U

// Any object, a word at a time.
typedef uint32_t __attribute__((may_alias)) any_word;

struct hook_ring ringside_hooks;
_Static_assert(offsetof(struct hook_ring, buffer) == HOOK_HEADER_BYTES, "the header's size");
_Static_assert((HOOK_BUFFER_BYTES & (HOOK_BUFFER_BYTES - 1)) == 0, "not a power of two");
_Static_assert(HOOK_BUFFER_BYTES >= HOOK_BUFFER_LEAST, "too small");

static volatile bool writing; // a record is under way

// Where the next word goes: a position, and what is left of it in the buffer.
struct place {
    uint32_t at, mask;
};

static struct place place_of(uint32_t at)
{
    return (struct place){at, ringside_hooks.buffer_bytes - 1};
}

static uint32_t *word_at(struct place place)
{
    return &ringside_hooks.buffer[(place.at & place.mask) / 4];
}

static void put_words(struct place *to, const void *from, uint32_t bytes)
{
    const any_word *word = from;
    for (uint32_t i = 0; i < bytes / 4; i++, to->at += 4)
        *word_at(*to) = word[i];
}

static uint32_t padded(uint32_t bytes)
{
    return (bytes + 3) & ~3U;
}

// The rest of the last word becomes 0.
static void put_bytes(struct place *to, const UCHAR *from, uint32_t bytes)
{
    for (; bytes > 0; from += 4, to->at += 4) {
        UCHAR *byte = (UCHAR *)word_at(*to);
        uint32_t whole = bytes < 4 ? bytes : 4;
        for (uint32_t i = 0; i < 4; i++)
            byte[i] = i < whole ? from[i] : 0;
        bytes -= whole;
    }
}

static void put_buffer(struct place *to, const UCHAR *from, uint32_t bytes)
{
    uint32_t words = (uintptr_t)from % 4 == 0 ? bytes & ~3U : 0;
    put_words(to, from, words);
    put_bytes(to, from + words, bytes - words);
}

// How far the oldest record goes. A frame that was overwritten gives no way on: then
// everything goes.
static uint32_t oldest_length(uint32_t tail, uint32_t filled)
{
    uint32_t length = *word_at(place_of(tail)) & FRAME_LENGTH;
    return length < FRAME_LENGTH_LEAST || length % 4 != 0 || length > filled ? filled : length;
}

static bool make_room(uint32_t length)
{
    uint32_t size = ringside_hooks.buffer_bytes, head = ringside_hooks.head;
    uint32_t tail = ringside_hooks.tail;
    if (length > size)
        return false;
    if (head - tail > size) // overwritten, too
        tail = head;
    if (head - tail + length > size && (ringside_hooks.flags & HOOK_UNTIL_FULL)) {
        ringside_hooks.flags &= ~(uint32_t)HOOK_RECORDS;
        return false;
    }
    while (head - tail + length > size)
        tail += oldest_length(tail, head - tail);
    ringside_hooks.tail = tail;
    hook_port_barrier();
    return true;
}

static void lose(void)
{
    ringside_hooks.lost++;
}

static uint32_t frame_of_context(ULONG thread, bool stamped)
{
    uint32_t frame = hook_port_cpu() << FRAME_CPU_SHIFT;
    if (thread != 0)
        frame |= FRAME_THREAD | (sizeof thread == 8 ? FRAME_THREAD_64 : 0);
    if (stamped)
        frame |= FRAME_STAMP | (sizeof(ULONG) == 8 ? FRAME_STAMP_64 : 0);
    if (hook_port_starting())
        frame |= FRAME_STARTING;
    if (hook_port_in_interrupt())
        frame |= FRAME_INTERRUPT;
    return frame;
}

static void write_record(const struct hook_parts *parts)
{
    ULONG thread = hook_port_thread(), stamp = parts->stamped ? hook_port_stamp() : 0;
    uint32_t thread_bytes = thread != 0 ? sizeof thread : 0;
    uint32_t stamp_bytes = parts->stamped ? sizeof stamp : 0;
    uint32_t length = 4 + parts->hook_bytes + parts->data_bytes + padded(parts->buffer_bytes) +
                      thread_bytes + stamp_bytes;
    if (!make_room(length)) {
        lose();
        return;
    }
    uint32_t frame =
        parts->frame | frame_of_context(thread, parts->stamped) | (length & FRAME_LENGTH);
    struct place to = place_of(ringside_hooks.head);
    put_words(&to, &frame, sizeof frame);
    put_words(&to, parts->hook, parts->hook_bytes);
    put_words(&to, parts->data, parts->data_bytes);
    put_buffer(&to, parts->buffer, parts->buffer_bytes);
    put_words(&to, &thread, thread_bytes);
    put_words(&to, &stamp, stamp_bytes);
    hook_port_barrier();
    ringside_hooks.records++;
    ringside_hooks.head = to.at;
}

// An interrupt that cannot be locked out may come in the middle of a record, and the clock may be
// traced itself: what they write is counted only.
__attribute__((noinline)) void hook_ring_write(const struct hook_parts *parts)
{
    ULONG lock = hook_port_lock();
    if (!(ringside_hooks.flags & HOOK_RECORDS)) {
        hook_port_unlock(lock);
        return;
    }
    if (writing || parts->buffer_bytes > HOOK_MAX_GENERIC) {
        lose();
    } else {
        writing = true;
        write_record(parts);
        writing = false;
    }
    hook_port_unlock(lock);
}

static bool is_open(void)
{
    return ringside_hooks.magic == HOOK_MAGIC;
}

static void begin(uint32_t bytes)
{
    ringside_hooks.version = HOOK_VERSION;
    ringside_hooks.header_bytes = HOOK_HEADER_BYTES;
    ringside_hooks.buffer_bytes = bytes;
    ringside_hooks.clock_hz = HOOK_CLOCK_HZ;
    ringside_hooks.clock_bits = HOOK_CLOCK_BITS;
    ringside_hooks.head = ringside_hooks.tail = 0;
    ringside_hooks.records = ringside_hooks.lost = 0;
    ringside_hooks.word_bytes = sizeof(ULONG);
    ringside_hooks.cpus = HOOK_CPUS;
}

// Without its magic, a ring is not valid: so one half cannot be of the old ring and the other of
// the new one.
enum bout_status bout_hooks_open(uint32_t bytes, bool until_full)
{
    if (bytes < HOOK_BUFFER_LEAST || bytes > HOOK_BUFFER_BYTES || (bytes & (bytes - 1)) != 0)
        return BOUT_SIZE_ERROR;
    ULONG lock = hook_port_lock();
    uint32_t generation = is_open() ? ringside_hooks.generation + 1 : 0;
    ringside_hooks.magic = 0;
    hook_port_barrier();
    begin(bytes);
    ringside_hooks.generation = generation;
    ringside_hooks.flags = HOOK_RECORDS | (until_full ? HOOK_UNTIL_FULL : 0);
    hook_port_barrier();
    ringside_hooks.magic = HOOK_MAGIC;
    hook_port_unlock(lock);
    return BOUT_SUCCESS;
}

void bout_hooks_stop(void)
{
    ULONG lock = hook_port_lock();
    ringside_hooks.flags &= ~(uint32_t)HOOK_RECORDS;
    hook_port_unlock(lock);
}

void bout_hooks_start(void)
{
    ULONG lock = hook_port_lock();
    if (is_open())
        ringside_hooks.flags |= HOOK_RECORDS;
    hook_port_unlock(lock);
}

void bout_hooks_clear(void)
{
    ULONG lock = hook_port_lock();
    ringside_hooks.generation++;
    hook_port_barrier();
    ringside_hooks.tail = ringside_hooks.head;
    ringside_hooks.records = ringside_hooks.lost = 0;
    hook_port_unlock(lock);
}
