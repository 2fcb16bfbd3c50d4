// SPDX-License-Identifier: MIT
// probe/targets: RAM images instead of a guest. In: files. Out: memory that can be read and
// written, and that moves only when it is written; the files are not touched.
#ifndef PROBE_STATIC_H
#define PROBE_STATIC_H

#include "probe/targets/target.h"
#include <stddef.h>

struct images; // owned by the target

// Makes `target` serve the images "FILE@ADDRESS". Errors: USAGE (no address, or images that
// overlap or leave the 32-bit address space), IO, NOMEM.
enum extract_code static_open(struct target *target, char *const *arguments, size_t count,
                              struct extract_error *error);
void static_close(struct target *target);

#endif
