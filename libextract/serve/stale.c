// SPDX-License-Identifier: MIT
// serve: notices that a program was started again (stale.h). A kernel that runs changes the control
// blocks of its threads all the time.
#include "serve/stale.h"
#include <string.h>
#include <strings.h>

// Returns a checksum of the control blocks of threads; 0 if there are none.
static uint64_t sum_of(struct extract_memory *memory, struct extract_symbols *symbols)
{
    enum { THREADS = 16, BYTES = 256 };
    struct extract_kernel *kernel;
    uint8_t bytes[BYTES];
    uint64_t sum = 0;
    size_t got;

    if (extract_kernel_read_states(&kernel, memory, symbols, NULL))
        return 0;
    for (size_t i = 0; i < kernel->thread_count && i < THREADS; i++) {
        (void)extract_memory_read(memory, kernel->threads[i].address, bytes, sizeof bytes, &got,
                                  NULL);
        for (size_t k = 0; k < got; k++)
            sum = (sum ^ bytes[k]) * UINT64_C(0x100000001B3); // FNV-1a
        sum += kernel->threads[i].address;
    }
    extract_kernel_free(kernel);
    return sum;
}

void stale_begin(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols)
{
    if (!stale->is_stale)
        *stale = (struct stale){.is_stale = true, .sum = sum_of(memory, symbols)};
}

bool stale_check(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols)
{
    stale->is_stale = stale->is_stale && sum_of(memory, symbols) == stale->sum;
    return stale->is_stale;
}

bool stale_is_reset(const char *packet)
{
    static const char *const words[] = {"7265736574",                      // reset
                                        "73797374656d5f7265736574",        // system_reset
                                        "6a7461675f7265736574",            // jtag_reset
                                        "736f66745f72657365745f68616c74"}; // soft_reset_halt
    const char *command = strchr(packet, ',');

    for (size_t i = 0; command && i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        const char *end = command + 1 + length;
        if (strncasecmp(command + 1, words[i], length) == 0 &&
            (!*end || strncmp(end, "20", 2) == 0))
            return true;
    }
    return false;
}
