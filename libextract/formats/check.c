// SPDX-License-Identifier: MIT
// formats: checks of a ring's header. A format lists the conditions that its header must meet; this
// turns the first one that does not hold into a message.
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
                          "check the address, and that the dump is complete", "%s is 0x%llx: %s",
                          checks[i].field, (unsigned long long)checks[i].value, checks[i].reason);
        if (error)
            error->where = address;
        return EXTRACT_BAD;
    }
    return EXTRACT_OK;
}
