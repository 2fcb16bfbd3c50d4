// SPDX-License-Identifier: MIT
// memory/live: commands for the monitor of a GDB server (qRcmd), and what only they tell of
// OpenOCD. With "gdb_report_data_abort disable", which is its default, OpenOCD answers zeros for
// memory that it cannot read; its commands report the failure.
#ifndef EXTRACT_MEMORY_LIVE_MONITOR_H
#define EXTRACT_MEMORY_LIVE_MONITOR_H

#include "memory/live/live_packet.h"
#include <extract/text.h>

// The command that OpenOCD answers with its name.
#define MONITOR_VERSION "version"

// Appends the request that runs a command, and a NUL.
void monitor_put_request(struct extract_text *request, const char *command);
// Appends what a packet prints: the pairs of hexadecimal digits of its body, from `at` on.
void monitor_put_output(struct extract_text *output, const struct packets *packets, size_t at);

// Returns whether the output of MONITOR_VERSION is OpenOCD's.
bool monitor_is_openocd(const char *output);
// Returns whether all bytes are 0.
bool monitor_is_zero(const uint8_t *bytes, size_t length);
// Appends the command, and a NUL, that makes OpenOCD read memory again and report a failure.
void monitor_put_question(struct extract_text *command, uint64_t address, size_t length);
// Returns the failure that the output of this command reports, up to the end of its line, and sets
// its length; NULL if there is none.
const char *monitor_find_failure(const char *output, size_t *length);

#endif
