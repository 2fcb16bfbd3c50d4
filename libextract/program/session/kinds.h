// SPDX-License-Identifier: MIT
// session: detects the kind of a file by its first bytes.
#ifndef EXTRACT_SESSION_KINDS_H
#define EXTRACT_SESSION_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns the kind by which users name it: "trx", "hook", "hookstream", "rkhring", "ptr", "core",
// "elf", "crashcatcher", "log", "ihex", "srec", "text", or "raw" for anything else.
const char *extract_kind_of(const uint8_t *bytes, size_t length);

#endif
