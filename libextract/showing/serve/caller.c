// SPDX-License-Identifier: MIT
// serve: distinguishes a client of GDB's protocol from others (caller.h).
#include "serve/caller.h"
#include "base/token.h"
#include <string.h>

enum { INTERRUPT = 3 };

static bool can_be_method(const struct serve_input *packet)
{
    for (size_t i = 0; i < packet->used; i++)
        if (!extract_is_token(packet->data[i]))
            return false;
    return true;
}

static bool only_reads(const struct serve_input *packet)
{
    return packet->used &&
           (strchr("HTgpq", packet->data[0]) || strcmp(packet->data, "QStartNoAckMode") == 0);
}

enum caller_kind caller_take(struct caller *caller, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < length && caller->kind < CALLER_GDB; i++) {
        bool is_between = caller->input.state == SERVE_BETWEEN;
        bool is_expected = from[i] == '+' || from[i] == '-' || from[i] == '$' ||
                           (from[i] == INTERRUPT && caller->kind == CALLER_READS);
        if (is_between && !is_expected)
            caller->kind = CALLER_FOREIGN;
        else if (serve_take_byte(&caller->input, from[i]) == SERVE_GOOD)
            caller->kind = !can_be_method(&caller->input) ? CALLER_GDB
                           : only_reads(&caller->input)   ? CALLER_READS
                                                          : CALLER_FOREIGN;
    }
    return caller->kind;
}
