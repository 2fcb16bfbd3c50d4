// SPDX-License-Identifier: MIT
// fuzz: what the targets of the server and of the proxy share.
#ifndef EXTRACT_FUZZ_PACKETS_H
#define EXTRACT_FUZZ_PACKETS_H

#include "serve/serve_packet.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

// Opens an ELF file without sections, for a machine whose registers are known.
static inline struct extract_symbols *open_symbols(void)
{
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_RISCV,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header};
    struct extract_symbols *symbols;

    check(!extract_symbols_open_bytes(&symbols, "stub", &header, sizeof header, NULL));
    return symbols;
}

// Returns whether bytes are acknowledgements, interrupts and whole packets with right checksums.
// They are read with the reader that the server has.
static inline bool packets_are_whole(const void *bytes, size_t length)
{
    static struct serve_input input;
    const uint8_t *from = bytes;

    input.state = SERVE_BETWEEN;
    for (size_t i = 0; i < length; i++) {
        enum serve_news news = serve_take_byte(&input, from[i]);
        if (news == SERVE_DAMAGED || news == SERVE_LONG)
            return false;
    }
    return input.state == SERVE_BETWEEN;
}

#endif
