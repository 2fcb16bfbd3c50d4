// SPDX-License-Identifier: MIT
// tests: builds synthetic rings of hook words. The input is records, part by part. The output is
// the bytes in a target's memory, or the bytes of a file.
//
// Source: docs/formats/hook.md. This code is written from that page alone and shares nothing with
// the decoder, so the two check each other.
#ifndef TESTS_HOOK_BUILDER_H
#define TESTS_HOOK_BUILDER_H

#include "tests/unit/ring_builder.h"
#include <extract/session.h>

enum {
    HOOKS_HEADER = 64,
    MAX_HOOKS_BYTES = HOOKS_HEADER + 128 * 1024,
    HOOKS_WIDE = 1 << 16, // bits of a frame
    HOOKS_TID = 1 << 17,
    HOOKS_STAMP = 1 << 18,
    HOOKS_TID_8 = 1 << 19,
    HOOKS_STAMP_8 = 1 << 20,
    HOOKS_ISR = 1 << 21,
    HOOKS_INIT = 1 << 22,
    // Words of the control block.
    HOOKS_MAGIC = 0,
    HOOKS_VERSION,
    HOOKS_HEADER_BYTES,
    HOOKS_BUFFER_BYTES,
    HOOKS_FLAGS,
    HOOKS_CLOCK_HZ,
    HOOKS_CLOCK_BITS,
    HOOKS_HEAD,
    HOOKS_TAIL,
    HOOKS_RECORDS,
    HOOKS_LOST,
    HOOKS_GENERATION,
    HOOKS_WORD_BYTES,
    HOOKS_CPUS
};

// The ring of a target. These functions write it as the target's recorder would.
struct hooks {
    bool big;
    uint64_t address;
    uint32_t size; // size of the buffer
    uint32_t head, tail, records, lost;
    uint8_t bytes[MAX_HOOKS_BYTES]; // control block and buffer
};

// A record, as a program gives it to the recorder.
struct hooks_record {
    uint32_t frame; // bits 16 and above
    uint64_t hook;
    unsigned words; // data words
    uint64_t data[5];
    const char *buffer;
    unsigned buffer_bytes;
    uint64_t tid, stamp;
};

// Makes an empty ring whose positions begin at `start`. It has 4-byte words, a 32-bit clock of 1
// MHz and two processors. It is recording, and keeps the newest records.
void hooks_build(struct hooks *hooks, bool big, uint32_t size, uint32_t start);
void hooks_word(struct hooks *hooks, unsigned word, uint32_t value);
uint32_t hooks_word_at(const struct hooks *hooks, unsigned word);
// Writes a word of the buffer at a position.
void hooks_poke(struct hooks *hooks, uint32_t position, uint32_t value);
// Writes a record, and drops the oldest records if needed. Returns its position.
uint32_t hooks_put(struct hooks *hooks, const struct hooks_record *record);
// Writes a record of type A with hook id 123 and thread 0x20004000. It has 20 bytes.
uint32_t hooks_put_plain(struct hooks *hooks, uint32_t number, uint64_t stamp);
size_t hooks_bytes(const struct hooks *hooks);

// Returns the ring as an image of memory at its address. hooks_look opens a trace on it.
struct extract_memory *hooks_memory(const struct hooks *hooks);
void hooks_look(struct look *look, const struct hooks *hooks);

#endif
