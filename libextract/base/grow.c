// SPDX-License-Identifier: MIT
// base: advice to the system about large blocks of memory, such as the copy of a ring.
//
// A block that is filled from end to end costs a page fault per page. Large pages make that cost
// small, but the system uses them only where it is advised to.
#include "base/grow.h"
#include <sys/mman.h>
#include <unistd.h>

enum { MIN_BYTES = 1 << 22 }; // smaller blocks gain nothing from large pages

void extract_block_advise(void *block, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)block;
    uintptr_t first = (start + page - 1) / page * page;

    if (bytes >= MIN_BYTES) // the result does not matter: small pages work as well
        (void)madvise((void *)first, (start + bytes - first) / page * page, MADV_HUGEPAGE);
}
