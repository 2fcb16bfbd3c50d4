// SPDX-License-Identifier: MIT
// formats: figures of the libraries that run on a kernel, such as file systems and networks. A
// format has a table with one row per figure; `stats` prints them without further code.
#ifndef EXTRACT_FORMATS_FIGURES_H
#define EXTRACT_FORMATS_FIGURES_H

#include <extract/event.h>

// A figure: how many of certain events there are, or the sum of one of their fields.
struct extract_figure {
    const char *family; // "filex": families are printed if they have any event
    const char *group;  // "media"
    const char *name;   // "opens"
    uint16_t id;        // of the events
    uint16_t other_id;  // of other events that count, too; 0: none
    uint8_t field;      // number of the field that is summed, from 1 on; 0: the events are counted
    // Only events count whose field `when` (0: all events), with the bits of `mask`, is `value`; or
    // is not, if `is_not`.
    uint8_t when;
    bool is_not;
    uint32_t mask, value;
};

#endif
