// SPDX-License-Identifier: MIT
// cli/top: what the files of `ringside top` share.
//
// Data flows one way: source (a recorder or a log) → window (the newest entries) → look (a trace
// over them, made again at each refresh) → draw (text) → screen.
#ifndef RINGSIDE_TOP_H
#define RINGSIDE_TOP_H

#include "base/now.h"
#include "cli/cli.h"
#include <extract/log.h>
#include <extract/record.h>
#include <termios.h>

#define TOP_MEASURE (EXTRACT_SECOND / 10) // ns; rates over less tell nothing

enum {
    TOP_ENTRIES = 64 * 1024, // of a window at most
    TOP_BYTES = 4 << 20,     // of one over a stream
    TOP_SECONDS = 10,        // of a window
    TOP_STEPS = 1024,        // arrivals that a window tells apart
    TOP_LINE = 512           // bytes of a filter line, with its NUL
};

// ---- window.c: the newest entries of a recording ----

// Entries that arrived at one time.
struct top_step {
    uint64_t wall; // ns since 1970
    uint64_t count;
};

// What the marks of a recording say of its target.
struct top_state {
    uint64_t resets, entries;
    uint64_t lost;                 // at least
    uint64_t gaps, gaps_not_exact; // of these, `lost` is not all
    bool gone, disabled, ended;
};

// A block of bytes of a stream.
struct top_block {
    struct extract_log_block block;
    uint8_t *payload;
};

struct top_blocks {
    struct top_block *list; // owned, with their payloads
    size_t oldest, count, capacity;
    uint64_t entries, bytes; // in all of them
};

struct top_window {
    struct extract_ring ring;
    bool has_ring;
    bool streams;             // entries differ in length: `blocks` has them, and no slots
    struct top_blocks blocks; // of a stream
    uint8_t *slots;           // TOP_ENTRIES of them, used in a circle; owned
    uint32_t oldest, count;
    uint32_t provisional; // so many of the newest are not final
    bool next_known;
    uint64_t next;     // number of the entry that continues the window
    uint8_t *registry; // owned
    size_t registry_bytes;
    bool has_names; // it is the payload of a block of type NAMES
    struct top_step step[TOP_STEPS];
    unsigned step_oldest, steps;
    uint64_t step_entries; // of all steps; more than `count` behind a gap
    unsigned cores;        // that the ring's entries have shown so far; 0: none
    struct top_state state;
};

// Takes a block of a recording: of ENTRIES and BYTES, those go into the window, and what is older
// than its time or above its size leaves it. A gap begins the window again: no statistics hold over
// one. A block that contradicts the ring is a gap. Blocks of other types than these, LOSS and MARK
// do nothing.
void top_window_take(struct top_window *window, const struct extract_log_block *block,
                     const void *payload);
// Counts a block of ENTRIES or BYTES that has no room in the window any more; the window begins
// behind it.
void top_window_skip(struct top_window *window, const struct extract_log_block *block);
// Says what ring the entries are of. Those of another ring are dropped. Errors: NOMEM, BAD (a ring
// that no window can hold).
enum extract_code top_window_ring(struct top_window *window, const struct extract_ring *ring,
                                  struct extract_error *error);
// The bytes of its registry. Errors: NOMEM.
enum extract_code top_window_objects(struct top_window *window, const void *bytes, size_t length,
                                     struct extract_error *error);
// The payload of a block of NAMES, which are a registry as well. Errors: NOMEM.
enum extract_code top_window_names(struct top_window *window, const void *payload, size_t length,
                                   struct extract_error *error);
// Drops all entries; what was counted stays.
void top_window_clear(struct top_window *window);
// Drops what is older than TOP_SECONDS at `now`, but never what arrived last.
void top_window_age(struct top_window *window, uint64_t now);
// The window over slots as a ring of its own, to be freed with extract_snapshot_free. Errors:
// NOMEM.
enum extract_code top_window_snapshot(const struct top_window *window,
                                      struct extract_snapshot *snapshot,
                                      struct extract_error *error);
// When the newest and the oldest entries arrived; 0 when there are none.
uint64_t top_window_newest(const struct top_window *window);
// Entries in 1000 seconds, from the first arrival to `now`. False: nothing is known yet.
bool top_window_rate(const struct top_window *window, uint64_t now, uint64_t *rate);
void top_window_free(struct top_window *window);

// ---- blocks.c: the newest blocks of a stream ----

// False: out of memory. The oldest blocks make room.
bool top_blocks_put(struct top_blocks *blocks, const struct extract_log_block *block,
                    const void *payload);
// Drops the oldest blocks until no more than so many entries are left.
void top_blocks_shrink(struct top_blocks *blocks, uint64_t entries);
void top_blocks_clear(struct top_blocks *blocks);
void top_blocks_free(struct top_blocks *blocks);
// The window over a stream as a log in memory, to be freed with extract_log_free. Errors: those of
// extract_log_put, IO.
enum extract_code top_window_log(const struct top_window *window, struct extract_log **log,
                                 struct extract_error *error);

// ---- source.c, live.c, follow.c: where blocks come from ----

// A quantity that a source may not know.
struct top_number {
    uint64_t value;
    bool known;
};

// What the head of a screen tells.
struct top_facts {
    const char *target;
    const char *state;
    struct top_state counts;
    struct top_number rate;   // events in 1000 s
    struct top_number fill;   // entries that were new at the last poll
    struct top_number link;   // bytes/s
    struct top_number period; // ns between polls
    struct top_number quiet;  // ns since the newest entry came
    struct top_number halted; // thousandths of the time that the target stood for our reads
    uint32_t slots;           // of the target's ring
    bool bytes;               // the ring, and its fill, are told in bytes
};

struct top_source {
    struct top_window window;
    const struct cli_options *options;
    const char *name;
    struct extract_symbols *symbols;
    // A live target:
    struct extract_memory *memory;
    struct extract_recorder *recorder;
    struct extract_log_writer *log;
    struct top_number link, halted;  // as measured last
    uint64_t measured, bytes, stood; // when, and what the counts were then
    // A log that is followed:
    uint64_t interval, polled; // ns between looks at it; when the last was
    const char *path;
    uint64_t next_block;
    uint64_t created;
    bool writing, closed, unreadable;
    int64_t changed[3]; // its size and time of change when it was read
};

// `interval`: ns between looks at a log.
enum extract_code top_source_open(struct top_source *source, const struct cli_options *options,
                                  uint64_t interval, struct extract_error *error);
// Takes what is new. Trouble with the target is no error: the facts tell it.
enum extract_code top_source_poll(struct top_source *source, struct extract_error *error);
// Nanoseconds until the next poll is due.
uint64_t top_source_due(const struct top_source *source);
// Whether nothing can come any more.
bool top_source_ended(const struct top_source *source);
// Rates are those since the call before.
void top_source_facts(struct top_source *source, struct top_facts *facts);
// Errors: those of the log that is written.
enum extract_code top_source_close(struct top_source *source, struct extract_error *error);

enum extract_code top_live_open(struct top_source *source, struct extract_error *error);
void top_live_facts(struct top_source *source, struct top_facts *facts);
enum extract_code top_live_close(struct top_source *source, struct extract_error *error);
enum extract_code top_follow_log(struct top_source *source, struct extract_error *error);

// ---- look.c: the meaning of a window ----

// The newest event in the context of a thread.
struct top_last {
    const struct extract_event_type *type; // NULL: none
    uint32_t id;
};

struct top_snapshot {
    struct extract_snapshot slots; // the entries of a slot ring
    struct extract_log *log;       // of a stream; NULL: of slots
    struct extract_trace *trace;   // NULL: there is no ring yet
    struct extract_stats *stats;   // of all events
    struct top_last *last;         // one an object of the trace; owned
    struct extract_error fault; // why a stream has no meaning yet; code OK: it has, or is no stream
    struct top_facts facts;
};

enum extract_code top_snapshot_open(struct top_snapshot *snapshot, struct top_source *source,
                                    const struct extract_user_types *types,
                                    struct extract_error *error);
void top_snapshot_close(struct top_snapshot *snapshot);
// Statistics of what a filter line leaves. NOTFOUND: it names nothing of this trace (yet).
enum extract_code top_snapshot_stats(const struct top_snapshot *snapshot, const char *line,
                                     uint64_t hz, struct extract_stats **stats,
                                     struct extract_error *error);
// Writes the newest `most` events that a filter line leaves, as `report` does.
enum extract_code top_snapshot_events(const struct top_snapshot *snapshot, const char *line,
                                      uint64_t most, const struct extract_report_options *report,
                                      struct extract_text *text, struct extract_error *error);

// ---- words.c: filter lines: "event=queue* thread=worker", "--event queue*" ----

// The filter of a line, and the newest `most` (0: all) of what it leaves.
enum extract_code top_filter_line_filter(const char *line, uint64_t most,
                                         struct extract_filter **filter,
                                         struct extract_error *error);
// Writes the conditions of the command line as a filter line. False: they do not fit.
bool top_filter_line_write(char line[TOP_LINE], const struct extract_session_options *options);

// ---- draw.c, json.c: a look as text ----

enum top_column {
    TOP_NAME,
    TOP_PRIORITY,
    TOP_LOAD,
    TOP_EVENTS,
    TOP_STACK,
    TOP_COLUMNS // how many a table can be sorted by
};

// What the user has chosen.
struct top_view {
    enum top_column sort;
    char line[TOP_LINE]; // of the filter
    bool paused, help;
    bool editing;
    char edit[TOP_LINE];
    char message[TOP_LINE]; // shown until the next key
    struct extract_report_options report;
};

// Room for a drawing. 0: as much as it takes, for batch mode.
struct top_size {
    unsigned rows, columns;
};

void top_draw(struct extract_text *text, const struct top_snapshot *snapshot,
              const struct top_view *view, struct top_size size);
void top_draw_json(struct extract_text *text, const struct top_snapshot *snapshot,
                   const struct top_view *view);

// ---- cut.c: text in a given width ----

// Writes an escaped text, at most `columns` wide; what is cut ends in "~".
void top_truncate(struct extract_text *text, const char *string, unsigned columns);
// Writes a line of a drawing (its SGR sequences take no columns), at most `columns` wide.
void top_truncate_line(struct extract_text *text, const char *line, size_t length,
                       unsigned columns);

// ---- screen.c: a terminal (ECMA-48 and the private modes of xterm; termios) ----

struct top_screen {
    struct termios saved;
    bool open;
};

// The alternate screen without echo. Errors: IO.
enum extract_code top_screen_open(struct top_screen *screen, struct extract_error *error);
// Gives the terminal back as it was. Does nothing when it is not open.
void top_screen_close(struct top_screen *screen);
struct top_size top_screen_size(void);
// Shows the lines of a drawing. False: the terminal is gone.
bool top_screen_show(const struct extract_text *drawing, struct top_size size);

// ---- keys.c ----

enum top_action {
    TOP_NOTHING,
    TOP_REDRAW,
    TOP_CLEAR, // begin the window again
    TOP_QUIT
};

// What `length` bytes of typing mean.
enum top_action top_handle_keys(struct top_view *view, const char *bytes, size_t length);

// ---- loop.c: until the user, a signal, a count or the source ends it ----

// Signals that end the program, and for a screen those that change it, come out of a descriptor
// from now on, so that nothing is interrupted and the terminal is given back in one place. They
// stay blocked: what is being written must be closed before the next one ends us. Errors: IO.
enum extract_code top_signals(int *descriptor, bool batch, struct extract_error *error);

struct top_options {
    int signals;    // descriptor of top_signals
    uint64_t delay; // ns
    uint64_t count; // refreshes; 0: no limit
    bool batch;
};

// *status is CLI_UNREADABLE when standard output failed, which has been said then.
enum extract_code top_run(struct top_source *source, const struct extract_user_types *types,
                          struct top_view *view, const struct top_options *options, int *status,
                          struct extract_error *error);

#endif
