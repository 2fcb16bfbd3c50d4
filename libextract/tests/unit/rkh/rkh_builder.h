// SPDX-License-Identifier: MIT
// tests: builds synthetic RKH streams and rings. The input is frames, as hexadecimal digits without
// stuffing. The output is the bytes of a stream, or of a target's ring.
//
// Source: docs/formats/rkh.md. This code is written from that page alone and shares nothing with
// the decoder, so the two check each other.
#ifndef TESTS_RKH_BUILDER_H
#define TESTS_RKH_BUILDER_H

#include "tests/unit/ring_builder.h"
#include <extract/session.h>

enum { RKH_MAX_BYTES = 16384, RKH_MAX_EVENTS = 8192 };

struct rkh_bytes {
    uint8_t bytes[RKH_MAX_BYTES];
    size_t length;
    bool chk; // frames get a checksum
};

// Starts a stream with a flag.
void rkh_begin(struct rkh_bytes *stream, bool chk);
void rkh_raw(struct rkh_bytes *stream, const void *bytes, size_t length);
// Appends a frame, given as its bytes without stuffing and checksum. Text in quotes is added as
// text.
void rkh_hex(struct rkh_bytes *stream, const char *hex);
void rkh_frame_of(struct rkh_bytes *stream, const uint8_t *bytes, size_t length);
// A mix of events. Addresses have `ptr` bytes, timestamps `ts` bytes (0: none) and signals `sig`
// bytes. Sequence numbers start at `seq` (below 0: none).
struct rkh_mix {
    unsigned ptr, ts, sig;
    int seq;
};
void rkh_mixed(struct rkh_bytes *stream, const struct rkh_mix *mix, unsigned frames);

// The addresses that a target's ELF gives for the variables of its ring.
struct rkh_places {
    struct extract_symbols *symbols;
    uint64_t array, in_at, out_at, qty_at, chk_at;
};

// Reads the addresses from an ELF. Returns false if the ELF does not exist.
bool rkh_places_read(struct rkh_places *places, const char *elf);
// If `address` is in the variable of `size` bytes at `at`, stores the byte of `value` there and
// returns true.
bool rkh_byte_of(uint64_t at, uint64_t value, unsigned size, uint64_t address, uint8_t *byte);

// Opens a file of such bytes with the settings in `words`. Errors are returned to the caller.
enum extract_code rkh_look(struct look *look, const char *path, const char *words,
                           struct extract_error *error);
// Returns all events and markers, which are valid until the next call.
const struct extract_event *rkh_events(const struct look *look, size_t *count);

#endif
