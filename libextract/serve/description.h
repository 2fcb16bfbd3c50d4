// SPDX-License-Identifier: MIT
// serve: the registers of a live server, as its target description lists them.
#ifndef EXTRACT_SERVE_DESCRIPTION_H
#define EXTRACT_SERVE_DESCRIPTION_H

#include "registers/registers.h"

enum { DESCRIBED_MOST = 512 };

struct described_register {
    unsigned number; // in the protocol
    unsigned bytes;
    unsigned index; // of registers.h; NO_REGISTER: not a general one
};

struct description {
    struct described_register list[DESCRIBED_MOST]; // by number
    size_t count;
    unsigned next; // number of the next register without one
};

// Adds the registers of a document of the target description (target.xml, or one that it includes).
void description_add(struct description *description, const struct register_machine *machine,
                     const char *xml, size_t length);
// Finds the file that a document includes next, after *at. Returns false after the last one.
bool description_next_include(const char *xml, size_t length, size_t *at, char *name, size_t size);

#endif
