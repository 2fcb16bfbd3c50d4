// SPDX-License-Identifier: MIT
// memory/live: commands for the monitor of a GDB server (monitor.h).
#include "memory/live/monitor.h"
#include "base/hex.h"
#include <inttypes.h>
#include <string.h>

static const char failure_mark[] = "ringside: ";

void monitor_put_request(struct extract_text *request, const char *command)
{
    extract_text_puts(request, "qRcmd,");
    for (const char *at = command; *at; at++)
        extract_text_printf(request, "%02x", (unsigned char)*at);
    extract_text_putc(request, 0);
}

void monitor_put_output(struct extract_text *output, const struct packets *packets, size_t at)
{
    for (; at + 2 <= packets->used; at += 2) {
        int high = extract_hex_value(packets->body[at]);
        int low = extract_hex_value(packets->body[at + 1]);
        if (high < 0 || low < 0)
            return;
        extract_text_putc(output, (char)(high << 4 | low));
    }
}

bool monitor_is_openocd(const char *output)
{
    return strstr(output, "Open On-Chip Debugger") != NULL;
}

bool monitor_is_zero(const uint8_t *bytes, size_t length)
{
    return length && !bytes[0] && memcmp(bytes, bytes + 1, length - 1) == 0;
}

void monitor_put_question(struct extract_text *command, uint64_t address, size_t length)
{
    static const char format[] =
        "apply {{} {set t [target current]; set n [catch {$t read_memory 0 8 0}]; "
        "if {[catch {if {$n} {$t mem2array a 32 %#" PRIx64 " %zu} else {$t read_memory %#" PRIx64
        " 32 %zu}} m]} {return \"%s$m\"}}}";
    uint64_t start = address & ~UINT64_C(3);
    size_t words = (size_t)(address - start + length + 3) / 4;

    extract_text_printf(command, format, start, words, start, words, failure_mark);
    extract_text_putc(command, 0);
}

const char *monitor_find_failure(const char *output, size_t *length)
{
    const char *found = strstr(output, failure_mark); // what OpenOCD logs comes before it

    if (!found)
        return NULL;
    found += sizeof failure_mark - 1;
    *length = strcspn(found, "\n");
    return found;
}
