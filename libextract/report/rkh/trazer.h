// SPDX-License-Identifier: MIT
// report/rkh: what the files of the lines of Trazer share: the lines of Trazer 3.2, the host's tool
// of RKH.
//
// Source: docs/formats/rkh-text.md, "The text of Trazer". The lines name objects by the records
// that came before them, as a tool that reads a stream as it comes must.
#ifndef EXTRACT_REPORT_RKH_TRAZER_H
#define EXTRACT_REPORT_RKH_TRAZER_H

#include "analysis/rkh/posts.h"
#include "base/map.h"
#include "events/internal.h"
#include "formats/rkh/rkh.h"
#include <extract/report.h>

// Names that records have told so far.
struct trazer_names {
    struct extract_map by_key; // to offsets + 1
    struct extract_text bytes; // escaped and NUL-ended, one behind the other
    struct extract_text raw;   // the one that is taken
};

// The sequence numbers of frames, as the lines follow them.
struct trazer_numbers {
    bool is_known;   // `expected` is the number of the next frame, if none is missing
    bool has_begun;  // a TCFG record came last: the target may count from 0 again
    bool is_told;    // the loss in front of the next frame has its line
    bool has_damage; // damaged frames in front of the next frame have lines
    uint8_t expected;
};

struct trazer {
    struct extract_text *text;
    const struct extract_trace *trace;
    const struct extract_ring *ring;
    struct trazer_names names;
    struct rkh_post_queues queues;
    struct extract_reader reader; // what is known when an event is printed comes from all in front
    struct extract_event batch[64];
    size_t at, got;
    struct extract_text scratch;
    uint64_t shown;
    struct trazer_numbers numbers;
    bool (*go_on)(void *context);
    void *context;
};

// trazer_names.c. False: out of memory.
bool trazer_names_init(struct trazer_names *names);
void trazer_names_free(struct trazer_names *names);
bool trazer_names_take(struct trazer_names *names, const struct extract_event *event);
const char *trazer_names_find(const struct trazer_names *names, uint64_t key); // NULL: none

// trazer_settings.c. The settings in front of the stream, and those that a record of it tells.
void trazer_banner(struct trazer *trazer, const char *source);
void trazer_settings(struct trazer *trazer, const struct extract_event *event);

// trazer_lines.c. The sequence number of an event's frame; -1: it has none.
int trazer_number(const struct extract_event *event);
// The line, or lines, of an event.
void trazer_event(struct trazer *trazer, const struct extract_event *event,
                  const struct rkh_post_match *derived);

// trazer_values.c. What an argument is.
void trazer_address(struct trazer *trazer, uint64_t address);
void trazer_signal(struct trazer *trazer, uint64_t number);
void trazer_pool(struct trazer *trazer, uint64_t index); // counted from 0; Trazer counts from 1
// Behind a mark, at least so many upper-case digits.
void trazer_hex(struct trazer *trazer, const char *mark, uint64_t value, unsigned digits);
void trazer_name(struct trazer *trazer, const struct rkh_item *item); // without a leading &
void trazer_bytes(struct trazer *trazer, const uint8_t *bytes, uint32_t length);
void trazer_item(struct trazer *trazer, const struct rkh_item *item); // of a user event
void trazer_items(struct trazer *trazer, struct rkh_args *args); // of a user event, a line each

// trazer_report.c: the whole report.
enum extract_code trazer_report(struct extract_text *text, const struct extract_view *view,
                                const struct extract_trace *trace,
                                const struct extract_report_options *options,
                                struct extract_report_outcome *outcome);

#endif
