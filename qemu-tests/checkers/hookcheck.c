// SPDX-License-Identifier: MIT
// qemu-tests: reads a ring of hook words by itself, as docs/formats/hook.md has it, so that what
// Ringside shows can be compared with it. In: the file that is named, a copy of ringside_hooks.
// Out: a line for each record, oldest first:
//   id context thread stamp words buffer
// The id and the numbers are decimal, the words separated by commas, the buffer hexadecimal; -
// where there is none. Records of the images that prove themselves (images/hooks/shared.h) are
// checked. Exit status 1 when one of them is torn or does not follow, or when the ring breaks a
// rule. With `gaps` before the file some may be missing, but none comes twice or goes back.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../images/proof.h"
#include "broken.h"

enum { HEADER_BYTES = 64, FRAME_BYTES = 4, MAX_BUFFER = 1 << 24, MAX_RECORD = 65536 };
enum { PROOF_ID = 0x0D00, PROOF_ID_STEP = 0x10, PROOF_TAIL = 50, PROOF_BYTES = 12 };
// Words of the header.
enum { MAGIC, VERSION, HEADER, BUFFER, FLAGS, HZ, BITS, HEAD, TAIL, RECORDS, LOST };
// Bits of a frame.
enum { WIDE = 1 << 16, THREAD = 1 << 17, STAMP = 1 << 18, THREAD_64 = 1 << 19, STAMP_64 = 1 << 20 };
enum { INTERRUPT = 1 << 21, STARTING = 1 << 22 };

struct ring {
    bool big;
    uint8_t header[HEADER_BYTES];
    uint8_t buffer[MAX_BUFFER];
    uint32_t bytes;
};

struct record {
    uint32_t frame, id, sub, words;
    bool generic;
    uint64_t thread, stamp, word[5];
    const uint8_t *data, *buffer;
    uint32_t buffer_bytes;
};

// What has been seen of the sources that prove themselves.
struct seen {
    bool gaps; // are allowed
    bool known[PROOF_SOURCES];
    uint32_t next[PROOF_SOURCES];
    unsigned long checked;
};

static uint64_t number(const struct ring *ring, const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | from[ring->big ? i : bytes - 1 - i];
    return value;
}

static uint32_t header(const struct ring *ring, unsigned word)
{
    return (uint32_t)number(ring, ring->header + word * 4, 4);
}

static void ring_read(struct ring *ring, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fread(ring->header, HEADER_BYTES, 1, file) != 1)
        broken("%s cannot be read", path);
    ring->big = ring->header[0] != 'H';
    if (memcmp(ring->header, ring->big ? "KOOH" : "HOOK", 4) != 0)
        broken("%s is no ring", path);
    ring->bytes = header(ring, BUFFER);
    if (ring->bytes < 64 || ring->bytes > MAX_BUFFER || (ring->bytes & (ring->bytes - 1)))
        broken("a buffer of %u bytes", (unsigned)ring->bytes);
    if (fread(ring->buffer, ring->bytes, 1, file) != 1)
        broken("%s has no whole buffer", path);
    fclose(file);
    if (header(ring, VERSION) != 1 || header(ring, HEADER) != HEADER_BYTES)
        broken("another version");
}

// Takes a number from the end of a record; its frame stays.
static uint64_t take(const struct ring *ring, const uint8_t *record, uint32_t *length,
                     unsigned bytes)
{
    if (*length < FRAME_BYTES + bytes)
        broken("a record is too short for its frame");
    *length -= bytes;
    return number(ring, record + *length, bytes);
}

static void words_read(const struct ring *ring, struct record *record, const uint8_t *from,
                       uint32_t length, unsigned size)
{
    record->words = record->generic ? 1 : length / size;
    if (record->words > 5 || length < record->words * size)
        broken("%u bytes of data", (unsigned)length);
    for (uint32_t i = 0; i < record->words; i++)
        record->word[i] = number(ring, from + i * size, size);
    record->buffer = from + record->words * size;
}

// The type's or the flags' word for what the record has, too.
static void hook_read(const struct ring *ring, struct record *record, const uint8_t *from,
                      uint32_t length)
{
    unsigned size = record->frame & WIDE ? 8 : 4;
    uint64_t hook = number(ring, from, size);
    uint32_t type = hook >> 16 & 0xF, flags = (uint32_t)(hook >> 48);
    uint32_t said = size == 8 ? hook >> 32 & 0xFFFF : (uint32_t)hook & 0xFFFF;
    bool stamped = size == 8 ? flags & 0x8000 : type & 8;
    record->data = from;
    record->sub = (uint32_t)hook & 0xFFFF;
    record->id = (uint32_t)(hook >> 16) & (size == 8 ? 0xFFFF : 0xFFF0);
    record->generic = size == 8 ? flags & 0x4000 : (type & 7) == 0;
    if (length < size || stamped != !!(record->frame & STAMP))
        broken("hook word and frame do not agree");
    words_read(ring, record, from + size, length - size, size);
    uint32_t data = record->words * size, rest = length - size - data;
    record->buffer_bytes = record->generic ? said : 0;
    if (rest != (record->buffer_bytes + 3) / 4 * 4 ||
        (size == 8 && !record->generic && said != data))
        broken("hook %04x: its length is not that of the record", (unsigned)record->id);
    if (size == 4 && !record->generic &&
        (type & 7) != (record->words == 0   ? 1U
                       : record->words == 1 ? 2U
                                            : 6U))
        broken("hook %04x: its type is not that of the record", (unsigned)record->id);
}

static void record_read(const struct ring *ring, struct record *record, const uint8_t *bytes,
                        uint32_t length)
{
    *record = (struct record){.frame = (uint32_t)number(ring, bytes, FRAME_BYTES)};
    if (record->frame & STAMP)
        record->stamp = take(ring, bytes, &length, record->frame & STAMP_64 ? 8 : 4);
    if (record->frame & THREAD)
        record->thread = take(ring, bytes, &length, record->frame & THREAD_64 ? 8 : 4);
    hook_read(ring, record, bytes + FRAME_BYTES, length - FRAME_BYTES);
}

static void record_print(const struct record *record)
{
    printf("%u %s ", (unsigned)record->id,
           record->frame & STARTING    ? "init"
           : record->frame & INTERRUPT ? "isr"
                                       : "thread");
    printf(record->frame & THREAD ? "%" PRIu64 " " : "- ", record->thread);
    printf(record->frame & STAMP ? "%" PRIu64 " " : "- ", record->stamp);
    for (uint32_t i = 0; i < record->words; i++)
        printf(i ? ",%" PRIu64 : "%" PRIu64, record->word[i]);
    printf(record->words ? " " : "- ");
    for (const uint8_t *byte = record->data; byte < record->buffer + record->buffer_bytes; byte++)
        printf("%02x", *byte);
    putchar('\n');
}

// The four words of a proof, out of either form.
static bool proof_take(const struct ring *ring, const struct record *record, uint32_t info[4])
{
    uint32_t sequence = (uint32_t)record->word[0];
    info[0] = sequence;
    if (!record->generic) {
        for (uint32_t i = 1; i < 4; i++)
            info[i] = (uint32_t)record->word[i];
        return record->words == 4 && record->sub == (sequence & 0xFFFF);
    }
    if (record->buffer_bytes != PROOF_BYTES + sequence % PROOF_TAIL)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        info[1 + i] = (uint32_t)number(ring, record->buffer + 4 * i, 4);
    for (uint32_t i = 0; i < sequence % PROOF_TAIL; i++)
        if (record->buffer[PROOF_BYTES + i] != ((sequence + i) & 0xFF))
            return false;
    return true;
}

static void record_check(const struct ring *ring, const struct record *record, struct seen *seen)
{
    uint32_t source = (record->id - PROOF_ID) / PROOF_ID_STEP, info[4];
    if (record->id < PROOF_ID || source >= PROOF_SOURCES)
        return;
    uint32_t thread = record->frame & INTERRUPT ? PROOF_INTERRUPT : (uint32_t)record->thread;
    if (!proof_take(ring, record, info) || !proof_holds(PROOF_FIRST_ID + source, thread, info))
        broken("record %u of source %u is torn", (unsigned)info[0], (unsigned)source);
    int32_t ahead = (int32_t)(info[0] - seen->next[source]);
    if (seen->known[source] && (seen->gaps ? ahead < 0 : ahead != 0))
        broken("record %u of source %u does not follow", (unsigned)info[0], (unsigned)source);
    seen->known[source] = true;
    seen->next[source] = info[0] + 1;
    seen->checked++;
}

int main(int argc, char **argv)
{
    static struct ring ring;
    static uint8_t bytes[MAX_RECORD];
    struct seen seen = {.gaps = argc == 3 && strcmp(argv[1], "gaps") == 0};
    if (argc != 2 + seen.gaps)
        broken("usage: hookcheck [gaps] FILE");
    ring_read(&ring, argv[argc - 1]);
    uint32_t at = header(&ring, TAIL), left = header(&ring, HEAD) - at, length;
    if (left > ring.bytes)
        broken("%u bytes in a buffer of %u", (unsigned)left, (unsigned)ring.bytes);
    for (; left; left -= length, at += length) {
        length = (uint32_t)number(&ring, ring.buffer + (at & (ring.bytes - 1)), 4) & 0xFFFF;
        if (length < 8 || length % 4 || length > left)
            broken("a record of %u bytes where %u are left", (unsigned)length, (unsigned)left);
        for (uint32_t i = 0; i < length; i++)
            bytes[i] = ring.buffer[(at + i) & (ring.bytes - 1)];
        struct record record;
        record_read(&ring, &record, bytes, length);
        record_print(&record);
        record_check(&ring, &record, &seen);
    }
    return 0;
}
