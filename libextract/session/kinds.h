// SPDX-License-Identifier: MIT
// session: what a file is, by its first bytes.
#ifndef EXTRACT_SESSION_KINDS_H
#define EXTRACT_SESSION_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// "trx", "hook", "hookstream", "core", "elf", "log", "ihex", "srec" or "raw".
const char *extract_kind_of(const uint8_t *bytes, size_t length);

#endif
