// SPDX-License-Identifier: MIT
// memory: what a file is, by its first bytes.
#ifndef EXTRACT_MEMORY_KINDS_H
#define EXTRACT_MEMORY_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// "trx", "hook", "hookstream", "core", "elf", "log", "ihex", "srec" or "raw".
const char *extract_kind_of(const uint8_t *bytes, size_t length);

// Whether the bytes begin like a ThreadX trace, like a record of Intel HEX, like an S-record.
bool extract_trx_is(const uint8_t *bytes, size_t length);
bool extract_hex_is(const uint8_t *bytes, size_t length);
bool extract_srec_is(const uint8_t *bytes, size_t length);

#endif
