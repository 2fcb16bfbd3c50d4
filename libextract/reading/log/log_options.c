// SPDX-License-Identifier: MIT
// log: the names of block types and policies, and the sizes that users write.
#include "log/log_block.h"
#include <extract/filter.h>
#include <extract/log.h>
#include <string.h>

static const char *const policies[] = {"loop", "until_full", "append"};

enum { POLICIES = sizeof policies / sizeof *policies };

const char *extract_log_type_name(unsigned type)
{
    static const char *const names[EXTRACT_LOG_TYPES] = {
        "unknown", "SECTION", "RING",       "OBJECTS", "ENTRIES", "LOSS",
        "MARK",    "STATUS",  "ATTRIBUTES", "NAMES",   "BYTES",   "PROGRAM"};

    return names[type < EXTRACT_LOG_TYPES ? type : 0];
}

const char *extract_log_policy_name(enum extract_log_policy policy)
{
    return policies[(unsigned)policy % POLICIES];
}

bool extract_log_policy_parse(const char *word, enum extract_log_policy *policy)
{
    for (unsigned i = 0; i < POLICIES; i++)
        if (strcmp(word, policies[i]) == 0) {
            *policy = (enum extract_log_policy)i;
            return true;
        }
    return false;
}

bool extract_log_size_parse(const char *string, uint64_t *size)
{
    static const char units[] = "kMG";
    char digits[24];
    uint64_t number;
    size_t length = strlen(string);
    const char *unit = length ? strchr(units, string[length - 1]) : NULL;
    uint64_t scale = unit ? UINT64_C(1024) << 10 * (unit - units) : 1;

    length -= unit != NULL;
    if (length >= sizeof digits)
        return false;
    memcpy(digits, string, length);
    digits[length] = 0;
    if (!extract_number_parse(digits, &number) || !number ||
        __builtin_mul_overflow(number, scale, &number))
        return false;
    *size = number;
    return true;
}
