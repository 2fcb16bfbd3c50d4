// SPDX-License-Identifier: MIT
// probe/jtag: remote_bitbang. In: characters that set TCK, TMS, TDI and the reset lines. Out: edges
// for the TAP, samples of TDO.
#include "probe/jtag/bitbang.h"

void bitbang_restart(struct bitbang *bitbang)
{
    tap_reset(bitbang->tap);
    bitbang->tck = false;
    bitbang->quit = false;
}

static void set_lines(struct bitbang *bitbang, unsigned lines)
{
    bool tck = lines & 4;
    if (tck && !bitbang->tck)
        tap_clock(bitbang->tap, lines & 2, lines & 1);
    bitbang->tck = tck;
}

// 'r' to 'u': bit 1 is TRST, bit 0 SRST.
static void set_resets(struct bitbang *bitbang, unsigned lines)
{
    bool asserted = lines & 1;
    if (lines & 2)
        tap_reset(bitbang->tap);
    if (asserted != bitbang->reset_asserted)
        bitbang->target->reset(bitbang->target->context, asserted);
    bitbang->reset_asserted = asserted;
}

size_t bitbang_feed(struct bitbang *bitbang, const char *in, size_t length, char *out,
                    size_t *answered)
{
    size_t at = 0, written = 0;
    while (at < length && !*bitbang->due && !bitbang->quit) {
        char c = in[at++];
        if (c >= '0' && c <= '7')
            set_lines(bitbang, (unsigned)(c - '0'));
        else if (c == 'R')
            out[written++] = tap_tdo(bitbang->tap) ? '1' : '0';
        else if (c >= 'r' && c <= 'u')
            set_resets(bitbang, (unsigned)(c - 'r'));
        else if (c == 'Q')
            bitbang->quit = true;
    }
    *answered = written;
    return at;
}
