// SPDX-License-Identifier: MIT
// qemu-tests: reads a stream of POSIX trace by itself, as docs/formats/posix-ring.md has it, so
// that what Ringside shows can be compared with it. In: the file that is named, a copy of
// ringside_posix of a halted target, and the number of a stream. Out: a line for each done
// record, oldest first:
//   id context thread-or-interrupt stamp address cut data
// the data hexadecimal, - where there are none; then "= NAME=NUMBER...", what the blocks say, and
// how many records are done (kept) and open. Events that prove themselves (images/posix/shared.h)
// are checked. Exit status 1 when one of them is torn or does not follow, or when the memory breaks
// a rule.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../images/proof.h"
#include "broken.h"

enum { MAX_FILE = 1 << 20, RECORD_WORDS = 4096, SOURCES = 4, PROOF_TAIL = 53 };
enum { PROOF_BYTES = 8, LINE = 512 };
enum { RECORD_OPEN = 1, RECORD_DONE = 2, TRAILER = 0xA, FIRST_USER = 32 };
// Words of the process block, and of a stream block.
enum { GENERATION = 4, STREAMS = 6, STREAM_BYTES, STREAMS_AT, NAMES_AT, NAME_BYTES };
enum { NAMES_USED = 12, LAYOUT = 14 };
enum { RING_AT = 4, RING_WORDS, BINDING = 8, STATE };
enum { HEAD = 12, TAIL, RECORDED, OVERWRITTEN, REFUSED };

struct object {
    bool big;
    uint32_t bytes;
    uint32_t stream;      // where its block is
    unsigned address, at; // words of an address; the word where a record's data begin
    uint8_t memory[MAX_FILE];
};

struct record {
    uint32_t words[RECORD_WORDS];
    uint8_t bytes[RECORD_WORDS * 4];
    uint32_t length, id, data;
    bool cut, interrupt;
    uint64_t caller, thread;
};

// What has been seen of the sources that prove themselves.
struct seen {
    bool known[SOURCES];
    uint32_t next[SOURCES], missing, proofs;
    uint64_t events, lost;
};

static uint32_t word(const struct object *object, uint64_t at)
{
    if (at + 4 > object->bytes)
        broken("offset %" PRIu64 " is after the end", at);
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value = value << 8 | object->memory[at + (object->big ? i : 3 - i)];
    return value;
}

static uint32_t process(const struct object *object, unsigned index)
{
    return word(object, index * 4);
}

static uint32_t stream(const struct object *object, unsigned index)
{
    return word(object, object->stream + index * 4);
}

static void object_read(struct object *object, const char *path, uint32_t number)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        broken("%s cannot be read", path);
    object->bytes = (uint32_t)fread(object->memory, 1, MAX_FILE, file);
    fclose(file);
    object->big = object->memory[0] == 'C';
    if (memcmp(object->memory, object->big ? "CRTP" : "PTRC", 4) != 0)
        broken("%s holds no process block", path);
    if (number >= process(object, STREAMS))
        broken("there is no stream %u", (unsigned)number);
    object->stream = process(object, STREAMS_AT) + number * process(object, STREAM_BYTES);
    if (word(object, object->stream) != 0x53525450)
        broken("there is no stream block");
    object->address = (process(object, LAYOUT) & 0xFF) / 4;
    object->at = 3 + 2 * object->address;
}

static uint64_t address_at(const struct object *object, const struct record *record, unsigned at)
{
    return record->words[at] | (object->address == 2 ? (uint64_t)record->words[at + 1] << 32 : 0);
}

static void words_read(const struct object *object, struct record *record, uint32_t position)
{
    uint32_t ring = stream(object, RING_AT), mask = stream(object, RING_WORDS) - 1;
    for (uint32_t i = 0; i < record->length; i++) {
        uint64_t at = ring + ((uint64_t)((position + i) & mask) * 4);
        record->words[i] = word(object, at);
        memcpy(record->bytes + (size_t)i * 4, object->memory + at, 4);
    }
}

// The record at `position`; false when it is open.
static bool record_read(const struct object *object, struct record *record, uint32_t position,
                        uint32_t left)
{
    record->length = 1;
    words_read(object, record, position);
    uint32_t first = record->words[0], tag = first & 0x0FFFFFFF;
    record->length = first >> 16 & 0xFFF;
    if ((first & 0xFFFF) != (position & 0xFFFF) || record->length <= object->at ||
        record->length > left)
        broken("%08x at position %u is no record", (unsigned)first, (unsigned)position);
    words_read(object, record, position);
    if (record->words[record->length - 1] != (tag | (uint32_t)TRAILER << 28))
        broken("the record at position %u has another's end", (unsigned)position);
    if (first >> 30 == RECORD_OPEN)
        return false;
    record->id = record->words[1] & 0xFFFF;
    record->data = record->words[1] >> 16;
    record->cut = first >> 28 & 1;
    record->interrupt = first >> 29 & 1;
    record->caller = address_at(object, record, 2);
    record->thread = address_at(object, record, 2 + object->address);
    if (first >> 30 != RECORD_DONE || record->length != object->at + 1 + (record->data + 3) / 4)
        broken("the record at position %u does not add up", (unsigned)position);
    return true;
}

static void record_print(const struct object *object, const struct record *record)
{
    printf("%u %s %" PRIu64 " %u %" PRIu64 " %u ", (unsigned)record->id,
           record->interrupt ? "isr" : "thread", record->thread,
           (unsigned)record->words[object->at - 1], record->caller, record->cut);
    for (uint32_t i = 0; i < record->data; i++)
        printf("%02x", record->bytes[object->at * 4 + i]);
    puts(record->data ? "" : "-");
}

// The source of an event that proves itself, by its type's name; SOURCES: it does not.
static uint32_t source_named(const char *name)
{
    return strncmp(name, "storm_", 6) == 0 && name[6] && !name[7] ? (uint32_t)(name[6] - 'a')
                                                                  : (uint32_t)SOURCES;
}

static uint32_t source_of(const struct object *object, uint32_t id)
{
    uint32_t slot = id - FIRST_USER, bytes = process(object, NAME_BYTES);
    if (slot >= process(object, NAMES_USED))
        return SOURCES;
    return source_named((const char *)object->memory + process(object, NAMES_AT) +
                        (size_t)slot * bytes);
}

static uint32_t number(const uint8_t *from, bool big)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value = value << 8 | from[big ? i : 3 - i];
    return value;
}

static bool proof_is_right(const uint8_t *data, uint32_t length, bool big, uint32_t source,
                           uint32_t thread)
{
    if (length < PROOF_BYTES)
        return false;
    uint32_t running = number(data, big), tail = running % PROOF_TAIL;
    uint32_t hash = proof_mix(proof_mix(proof_mix(1, running), source), thread);
    bool holds = length == PROOF_BYTES + tail && number(data + 4, big) == hash;
    for (uint32_t i = 0; holds && i < tail; i++)
        holds = data[PROOF_BYTES + i] == ((running + i) & 0xFF);
    return holds;
}

static void proof_check(struct seen *seen, const uint8_t *data, uint32_t length, bool big,
                        uint32_t source, uint32_t thread)
{
    if (!proof_is_right(data, length, big, source, thread))
        broken("an event of source %u is torn: after number %u", (unsigned)source,
               (unsigned)seen->next[source] - 1);
    uint32_t running = number(data, big);
    if (seen->known[source] && seen->next[source] > running)
        broken("event %u of source %u comes twice", (unsigned)running, (unsigned)source);
    if (seen->known[source])
        seen->missing += running - seen->next[source];
    seen->known[source] = true;
    seen->next[source] = running + 1;
    seen->proofs++;
}

static void record_check(const struct object *object, const struct record *record,
                         struct seen *seen)
{
    uint32_t source = source_of(object, record->id);
    uint32_t thread = record->interrupt ? PROOF_INTERRUPT : (uint32_t)record->thread;
    if (source < SOURCES)
        proof_check(seen, record->bytes + (size_t)object->at * 4, record->data, object->big, source,
                    thread);
}

// ---- copies ----

static int check_copy(const char *path, uint32_t which)
{
    static struct object object;
    static struct record record;
    struct seen seen = {0};
    object_read(&object, path, which);
    uint32_t head = stream(&object, HEAD), at = stream(&object, TAIL), kept = 0, open = 0;
    uint32_t refused = stream(&object, REFUSED);
    if (head - at > stream(&object, RING_WORDS))
        broken("%u words in a ring of %u", (unsigned)(head - at),
               (unsigned)stream(&object, RING_WORDS));
    for (; at != head; at += record.length) {
        if (!record_read(&object, &record, at, head - at)) {
            open++;
            continue;
        }
        kept++;
        record_print(&object, &record);
        record_check(&object, &record, &seen);
    }
    // What an open one hides is not missing.
    if (seen.missing > refused + open)
        broken("%u events are missing, %u were refused", (unsigned)seen.missing, (unsigned)refused);
    printf("= generation=%u binding=%u state=%u recorded=%u overwritten=%u refused=%u kept=%u "
           "open=%u proofs=%u\n",
           (unsigned)process(&object, GENERATION), (unsigned)stream(&object, BINDING),
           (unsigned)stream(&object, STATE), (unsigned)stream(&object, RECORDED),
           (unsigned)stream(&object, OVERWRITTEN), (unsigned)refused, (unsigned)kept,
           (unsigned)open, (unsigned)seen.proofs);
    return 0;
}

// ---- events that were read elsewhere ----

static uint32_t unhex(uint8_t *to, const char *digits)
{
    static const char all[] = "0123456789abcdef";
    uint32_t length = 0;
    for (; digits[0] && digits[1] && strchr(all, digits[0]) && strchr(all, digits[1]); digits += 2)
        to[length++] =
            (uint8_t)((strchr(all, digits[0]) - all) * 16 + (strchr(all, digits[1]) - all));
    return length;
}

static void line_check(struct seen *seen, const char *line, bool big)
{
    char name[LINE], context[LINE], data[LINE];
    uint8_t bytes[LINE];
    unsigned long long thread, lost;
    if (sscanf(line, "L %llu", &lost) == 1) {
        seen->lost += lost;
    } else if (*line == 'R') {
        memset(seen->known, 0, sizeof seen->known);
    } else if (sscanf(line, "E %511s %511s %llu %511s", name, context, &thread, data) == 4) {
        uint32_t source = source_named(name);
        seen->events++;
        if (source < SOURCES)
            proof_check(seen, bytes, unhex(bytes, data), big, source,
                        strcmp(context, "isr") == 0 ? PROOF_INTERRUPT : (uint32_t)thread);
    } else {
        broken("%s: cannot be read", line);
    }
}

static int check_lines(bool big)
{
    struct seen seen = {0};
    char line[LINE];
    while (fgets(line, sizeof line, stdin))
        line_check(&seen, line, big);
    printf("events=%" PRIu64 " proofs=%u missing=%u lost=%" PRIu64 "\n", seen.events,
           (unsigned)seen.proofs, (unsigned)seen.missing, seen.lost);
    return seen.missing > seen.lost;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "-") == 0)
        return check_lines(argc > 2);
    if (argc < 2)
        broken("usage: posixcheck FILE [STREAM], or posixcheck - [big]");
    return check_copy(argv[1], argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0);
}
