// SPDX-License-Identifier: MIT
// formats/posix: presents events to report templates, as entries of a trace hook.
//
// Source: docs/formats/posix-ring.md, "As hook entries".
#include "formats/posix/posix.h"

enum { WORD = 8, GENERIC = 0x4000, STAMPED = 0x8000 };

// Bits of the hook data.
enum { HAS_CUT = 1, HAS_INTERRUPT = 2, HAS_PID = 4 };

bool posix_entry(const struct extract_ring *ring, const struct extract_event *event,
                 struct extract_entry *entry, uint8_t *buffer)
{
    bool user = event->id >= POSIX_USER;
    uint64_t words[POSIX_RTOS_WORDS];
    unsigned count = posix_rtos_words(event, words);
    unsigned pid = posix_pid_field(event), at_interrupt = posix_interrupt_field(event);

    if (event->data_bytes > POSIX_MAX_RECORD || event->fields < 4)
        return false;
    *entry = (struct extract_entry){.bytes = buffer,
                                    .bits = 8 * WORD,
                                    .generic = true,
                                    .little = true,
                                    .hook = (uint16_t)(event->id << 4),
                                    .type = STAMPED | GENERIC,
                                    .priority = event->priority,
                                    .pid = event->field[pid],
                                    .tid = event->thread,
                                    .log_offset = event->slot,
                                    .event = event};
    entry->data = (uint16_t)((event->field[2] ? HAS_CUT : 0) |
                             (event->context == EXTRACT_ISR ? HAS_INTERRUPT : 0) |
                             (event->field[pid] ? HAS_PID : 0));
    uint64_t number =
        user ? extract_number_key(EXTRACT_KIND_USER_EVENT, event->field[0]) : event->field[0];
    uint64_t interrupt = event->context == EXTRACT_ISR ? event->field[at_interrupt] : 0;
    uint8_t *to = extract_store(buffer + WORD, number, WORD, EXTRACT_BIG);
    to = extract_store(to, event->field[1], WORD, EXTRACT_LITTLE);
    to = extract_store(to, interrupt, WORD, EXTRACT_LITTLE);
    // The data of user events is copied unchanged, that of system events and of a kernel's events
    // as words.
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, ring->byte_order);
    for (unsigned i = 0; i < count; i++)
        to = extract_store(to, words[i], WORD, EXTRACT_LITTLE);
    extract_cursor_span(&c, (uint64_t)count * ring->word_bytes);
    while (!user && extract_cursor_left(&c) >= 4)
        to = extract_store(to, extract_cursor_u32(&c), 4, EXTRACT_LITTLE);
    size_t left = extract_cursor_left(&c);
    memcpy(to, extract_cursor_span(&c, left), left);
    to += left;
    entry->length = (size_t)(to - buffer);
    entry->bytes_of_data = (uint32_t)entry->length - 2 * WORD;
    extract_store(buffer,
                  (uint64_t)entry->type << 48 | (uint64_t)(entry->bytes_of_data & 0xFFFF) << 32 |
                      (uint64_t)entry->hook << 16 | entry->data,
                  WORD, EXTRACT_BIG);
    return true;
}
