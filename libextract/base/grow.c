// SPDX-License-Identifier: MIT
// base: large blocks of memory. In: a block. Out: advice to the system on its pages.
#include "base/grow.h"
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 1 << 22 }; // bytes of a block that large pages are worth it for

void extract_block_advise(void *block, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)block;
    uintptr_t first = (start + page - 1) / page * page;
    if (bytes >= LARGE) // what it says is of no matter: small pages do as well
        (void)madvise((void *)first, (start + bytes - first) / page * page, MADV_HUGEPAGE);
}
