// SPDX-License-Identifier: MIT
// probe/qemu: the qtest protocol. In: accesses. Out: lines to QEMU, values from its answers.
#include "probe/qemu/qtest.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSTED = 256 }; // stores under way, so that neither side's buffer fills

// Returns the text after "OK" of the next answer; other lines report interrupts. NULL: there was no
// such answer.
static const char *answer(struct qtest *qtest)
{
    char *line;
    while ((line = channel_line(&qtest->channel, true))) {
        if (!strncmp(line, "OK", 2))
            return line + 2;
        if (strncmp(line, "IRQ", 3)) {
            qtest->channel.dead = true;
            break;
        }
    }
    return NULL;
}

bool qtest_settle(struct qtest *qtest)
{
    while (qtest->unanswered && answer(qtest))
        qtest->unanswered--;
    return !qtest->unanswered;
}

bool qtest_begin(struct qtest *qtest)
{
    static const char line[] = "endianness\n";
    const char *text = channel_send(&qtest->channel, line, sizeof line - 1) ? answer(qtest) : NULL;
    qtest->big = text && !strcmp(text, " big");
    return qtest->big || (text && !strcmp(text, " little"));
}

// Between the guest's number and the bytes that it has in memory, the first of them lowest.
static uint64_t lanes(const struct qtest *qtest, unsigned bytes, uint64_t value)
{
    return qtest->big ? __builtin_bswap64(value) >> 8 * (8 - bytes) : value;
}

static char width(unsigned bytes)
{
    return bytes == 8 ? 'q' : bytes == 4 ? 'l' : bytes == 2 ? 'w' : 'b';
}

bool qtest_read(struct qtest *qtest, uint32_t address, unsigned bytes, uint64_t *value)
{
    char line[64];
    int length = snprintf(line, sizeof line, "read%c 0x%" PRIx32 "\n", width(bytes), address);
    if (!channel_send(&qtest->channel, line, (size_t)length) || !qtest_settle(qtest))
        return false;
    const char *text = answer(qtest);
    if (text)
        *value = lanes(qtest, bytes, strtoull(text, NULL, 0));
    return text != NULL;
}

bool qtest_write(struct qtest *qtest, uint32_t address, unsigned bytes, uint64_t value)
{
    char line[64];
    int length = snprintf(line, sizeof line, "write%c 0x%" PRIx32 " 0x%" PRIx64 "\n", width(bytes),
                          address, lanes(qtest, bytes, value));
    if (qtest->unanswered >= POSTED && !qtest_settle(qtest))
        return false;
    qtest->unanswered++;
    return channel_send(&qtest->channel, line, (size_t)length);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool qtest_read_block(struct qtest *qtest, uint32_t address, uint8_t *bytes, size_t length)
{
    char line[64];
    int used = snprintf(line, sizeof line, "read 0x%" PRIx32 " 0x%zx\n", address, length);
    if (!channel_send(&qtest->channel, line, (size_t)used) || !qtest_settle(qtest))
        return false;
    const char *text = answer(qtest);
    if (!text || strlen(text) != 3 + 2 * length) // " 0x" and the digits
        return false;
    text += 3;
    for (size_t i = 0; i < length; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
