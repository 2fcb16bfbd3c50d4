// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: a memory between the checker and the target's memory. It passes every
// access on, except writes to one word, and so shows what happens if a link breaks halfway.
#include "attach.h"

enum { PASSING_PID = PID + 2 };
enum { STREAM_BYTES = 28, STREAMS_AT = 32 }; // offsets in the process block

uint64_t refused;
static struct extract_memory *passing;

// Reads the target's memory, and halts the target if reading requires it.
static size_t pass_read(void *context, uint64_t address, void *buffer, size_t length)
{
    size_t got = 0;
    bool ran = !extract_live_halts(context).now;
    (void)extract_live_halt(context, NULL);
    (void)extract_memory_read(context, address, buffer, length, &got, NULL);
    if (ran)
        (void)extract_live_resume(context, NULL);
    return got;
}

static size_t pass_write(void *context, uint64_t address, const void *bytes, size_t length)
{
    bool ran = !extract_live_halts(context).now;
    if (refused && refused >= address && refused - address < length)
        return 0;
    (void)extract_live_halt(context, NULL);
    enum extract_code code = extract_memory_write(context, address, bytes, length, NULL);
    if (ran)
        (void)extract_live_resume(context, NULL);
    return code ? 0 : length;
}

bool passing_attach(const char *name, bool writes)
{
    const struct extract_memory_source source = {.read = pass_read,
                                                 .write = writes ? pass_write : NULL,
                                                 .context = memory,
                                                 .byte_order = extract_memory_byte_order(memory),
                                                 .running = true,
                                                 .name = "target"};
    bool good = !extract_memory_new(&passing, &source, NULL) &&
                !extract_posix_attach(PASSING_PID, passing, symbols, 0, NULL);
    process = PASSING_PID;
    check(name, good);
    return good;
}

void passing_detach(const char *name)
{
    check(name, extract_posix_detach(PASSING_PID, NULL) == EXTRACT_OK);
    extract_memory_close(passing);
    process = PID;
    refused = 0;
}

uint64_t stream_word(unsigned stream, uint32_t offset)
{
    uint64_t block = address_of("ringside_posix");
    return block + peek(block + STREAMS_AT) + (uint64_t)stream * peek(block + STREAM_BYTES) +
           offset;
}
