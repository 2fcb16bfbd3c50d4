// SPDX-License-Identifier: MIT
// formats: what must hold of a header. In: checks of its fields. Out: the first that fails, in
// words.
#include "formats/format.h"
#include <stdio.h>

enum extract_code extract_checks_run(const struct extract_check *checks, size_t count,
                                     const char *title, uint64_t address,
                                     struct extract_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (checks[i].holds)
            continue;
        char what[64];
        snprintf(what, sizeof what, "%s at 0x%llx", title, (unsigned long long)address);
        extract_error_set(error, EXTRACT_BAD, what,
                          "is this the right address, and is the dump whole?", "%s is 0x%llx: %s",
                          checks[i].field, (unsigned long long)checks[i].value, checks[i].reason);
        if (error)
            error->where = address;
        return EXTRACT_BAD;
    }
    return EXTRACT_OK;
}
