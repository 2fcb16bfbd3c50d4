// SPDX-License-Identifier: MIT
// report/rkh: what the files of the Trazer report share. It prints the lines of Trazer 3.2, RKH's
// own tool for the host.
//
// Trazer reads a stream as it arrives. So its lines name an object only if an earlier frame gave
// the name, and number posts and measure waiting times from what came before. To print the same,
// the report follows all events of a trace, also those that the view leaves out.
//
// Source: docs/formats/rkh-text.md, "The text of Trazer".
#ifndef EXTRACT_REPORT_RKH_TRAZER_H
#define EXTRACT_REPORT_RKH_TRAZER_H

#include "analysis/rkh/posts.h"
#include "base/map.h"
#include "events/events_room.h"
#include "formats/rkh/rkh.h"
#include <extract/report.h>

// Names that frames have given so far.
struct trazer_names {
    struct extract_map by_key;   // keys to offsets in `bytes` + 1
    struct extract_text bytes;   // escaped, each NUL-terminated
    struct extract_text scratch; // a name that is being added
};

// The sequence numbers of frames.
struct trazer_numbers {
    bool is_known;         // `expected` is the number of the next frame if none is missing
    bool is_after_restart; // the last frame was a TCFG record: the target may count from 0 again
    bool has_loss_line;    // the loss before the next frame was printed
    bool has_damage;       // damaged frames before the next frame were printed
    uint8_t expected;
};

struct trazer {
    struct extract_text *text;
    const struct extract_trace *trace;
    const struct extract_ring *ring;
    struct trazer_names names;
    struct rkh_post_queues queues;
    struct extract_reader reader; // reads all events of the trace
    struct extract_event batch[64];
    size_t next, batch_count; // the next event of the batch, and its number of events
    struct extract_text scratch;
    uint64_t printed; // number of events
    struct trazer_numbers numbers;
    bool (*may_continue)(void *context);
    void *context; // of may_continue
};

// trazer_values.c: the names so far. trazer_names_init and trazer_names_add_event return false if
// memory is short; trazer_names_find returns NULL for a key without a name.
bool trazer_names_init(struct trazer_names *names);
void trazer_names_free(struct trazer_names *names);
bool trazer_names_add_event(struct trazer_names *names, const struct extract_event *event);
const char *trazer_names_find(const struct trazer_names *names, uint64_t key);

// trazer_settings.c: the settings before the stream, and those of a TCFG record.
void trazer_put_banner(struct trazer *trazer, const char *source);
void trazer_put_settings(struct trazer *trazer, const struct extract_event *event);

// trazer_lines.c: returns the sequence number of an event's frame; -1: it has none.
int trazer_sequence_number(const struct extract_event *event);
// trazer_lines.c: writes the line, or lines, of an event.
void trazer_put_event(struct trazer *trazer, const struct extract_event *event,
                      const struct rkh_post_match *match);

// trazer_values.c: the arguments of an event.
void trazer_put_address(struct trazer *trazer, uint64_t address);
void trazer_put_signal(struct trazer *trazer, uint64_t number);
void trazer_put_pool(struct trazer *trazer, uint64_t index); // from 0; Trazer counts from 1
// Writes a prefix and at least `digits` upper-case hexadecimal digits.
void trazer_put_hex(struct trazer *trazer, const char *prefix, uint64_t value, unsigned digits);
void trazer_put_name(struct trazer *trazer, const struct rkh_item *item); // without a leading &
void trazer_put_bytes(struct trazer *trazer, const uint8_t *bytes, uint32_t length); // escaped
void trazer_put_item(struct trazer *trazer, const struct rkh_item *item); // of a user event
void trazer_put_items(struct trazer *trazer, struct rkh_args *args);      // one per line

// trazer_report.c: prints the report.
enum extract_code trazer_report(struct extract_text *text, const struct extract_view *view,
                                const struct extract_trace *trace,
                                const struct extract_report_options *options,
                                struct extract_report_outcome *outcome);

#endif
