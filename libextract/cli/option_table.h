// SPDX-License-Identifier: MIT
// cli: the codes of options, and what getopt_long and the help need of their table.
#ifndef RINGSIDE_OPTION_TABLE_H
#define RINGSIDE_OPTION_TABLE_H

#include "cli/cli.h"
#include <getopt.h>

enum { OPTION_LONG_MAX = 64 }; // long options, and the end of their list

enum {
    OPT_ELF = 256,
    OPT_FORMAT,
    OPT_HOOK,
    OPT_RKH,
    OPT_VIEW,
    OPT_LISTEN,
    OPT_BAUD,
    OPT_FOLLOW,
    OPT_SAVE,
    OPT_HZ,
    OPT_RING,
    OPT_STREAM,
    OPT_MODULUS,
    OPT_USER_EVENTS,
    OPT_JSON,
    OPT_NO_HEADER,
    OPT_COLOR,
    OPT_COST,
    OPT_OPENOCD,
    OPT_REMOTE,
    OPT_PID,
    OPT_TARGET,
    OPT_TIMEOUT,
    OPT_DELAY,
    OPT_COUNT,
    OPT_BATCH,
    OPT_POLICY,
    OPT_SIZE,
    OPT_EVERY,
    OPT_FOR,
    OPT_UNTIL,
    OPT_SYNC,
    OPT_KEEP,
    OPT_FILTER // + enum extract_filter_word
};

// Fills the list that getopt_long takes. Its strings are static.
void option_table_list(struct option list[OPTION_LONG_MAX]);
// Returns the name of the i-th long option, without "--"; NULL after the last.
const char *option_long_name(size_t i);

#endif
