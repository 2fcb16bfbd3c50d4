// SPDX-License-Identifier: MIT
// cli/top: what the files of `ringside top` share.
//
// A *source* is a live target that a recorder polls, or a log that another program writes. Its
// newest blocks go into the *window*: at most TOP_MAX_SECONDS and TOP_MAX_ENTRIES, without a gap.
// At each refresh, a *snapshot* of the window is opened as a trace, and drawn as text or JSON.
//
//   source ──blocks──► window ──────► snapshot ────► drawing ──► screen, or standard output
//   top_live.c         top_window.c   top_snapshot.c top_draw.c  top_screen.c
//   top_follow.c       top_blocks.c                  top_json.c
//
// top_loop.c does this until the user, a signal, a count or the end of the source stops it.
#ifndef RINGSIDE_TOP_H
#define RINGSIDE_TOP_H

#include "base/now.h"
#include "cli/cli.h"
#include <extract/log.h>
#include <extract/record.h>
#include <termios.h>

#define TOP_MIN_RATE_NS (EXTRACT_SECOND / 10) // rates over a shorter time mean nothing

enum {
    TOP_MAX_ENTRIES = 64 * 1024, // in a window
    TOP_MAX_BYTES = 4 << 20,     // in a window over a byte ring
    TOP_MAX_SECONDS = 10,        // that a window spans
    TOP_MAX_ARRIVALS = 1024,     // that a window keeps apart
    TOP_LINE_BYTES = 512         // of a filter line, with its NUL
};

// ---- top_window.c: the newest entries of a recording ----

// Entries that arrived at one time.
struct top_arrival {
    uint64_t wall; // ns since 1970
    uint64_t count;
};

// What the blocks of a recording have reported so far.
struct top_state {
    uint64_t resets, entries;
    uint64_t lost;           // at least
    uint64_t gaps;           // places where entries are missing
    uint64_t gaps_not_exact; // gaps whose size is not known exactly
    bool is_disconnected;    // the target does not answer
    bool trace_is_disabled, has_ended;
};

// A block of type BYTES.
struct top_block {
    struct extract_log_block block;
    uint8_t *payload;
};

struct top_blocks {
    struct top_block *list; // owned, with their payloads
    size_t oldest, count, capacity;
    uint64_t entries, bytes; // in all blocks together
};

struct top_window {
    struct extract_ring ring;
    bool has_ring;
    bool is_stream;           // a byte ring: entries are in `blocks`; otherwise in `slots`
    struct top_blocks blocks; // of a byte ring
    uint8_t *slots;           // circular, with capacity for TOP_MAX_ENTRIES; owned
    uint32_t oldest, count;   // of `slots`
    uint32_t provisional;     // number of newest entries that are not final
    bool is_over;             // the next entries do not continue it
    bool next_is_known;
    uint64_t next_number; // of the entry that continues the window
    uint8_t *registry;    // owned
    size_t registry_bytes;
    bool has_names; // `registry` is the payload of a block of type NAMES
    struct top_arrival arrivals[TOP_MAX_ARRIVALS]; // circular
    unsigned oldest_arrival, arrival_count;
    uint64_t arrived_entries; // in all arrivals; more than the window holds after a gap
    unsigned cores_seen;      // in the entries of the ring so far; 0: none
    struct top_state state;
};

// Adds a block of type ENTRIES, BYTES, LOSS or MARK; ignores other types. Entries that are too old
// or too many leave the window. A gap ends it, because statistics over a gap would be wrong. A
// block that contradicts the ring counts as a gap.
void top_window_add_block(struct top_window *window, const struct extract_log_block *block,
                          const void *payload);
// Counts a block of type ENTRIES or BYTES without keeping its entries. The window starts again
// after it.
void top_window_skip_block(struct top_window *window, const struct extract_log_block *block);
// Sets the ring that the next entries belong to. Entries of another ring are dropped. Errors:
// NOMEM, BAD (the window cannot hold entries of this ring).
enum extract_code top_window_set_ring(struct top_window *window, const struct extract_ring *ring,
                                      struct extract_error *error);
// Copies the bytes of the ring's registry. Errors: NOMEM.
enum extract_code top_window_set_registry(struct top_window *window, const void *bytes,
                                          size_t length, struct extract_error *error);
// Copies the payload of a block of type NAMES, which replaces the registry. Errors: NOMEM.
enum extract_code top_window_set_names(struct top_window *window, const void *payload,
                                       size_t length, struct extract_error *error);
// Drops all entries; the counts in `state` stay.
void top_window_clear(struct top_window *window);
// Drops entries that are older than TOP_MAX_SECONDS at `now`, but never the newest arrival.
void top_window_drop_old(struct top_window *window, uint64_t now);
// Copies the window over a slot ring as a complete ring. The caller frees it with
// extract_snapshot_free. Errors: NOMEM.
enum extract_code top_window_make_snapshot(const struct top_window *window,
                                           struct extract_snapshot *snapshot,
                                           struct extract_error *error);
// Returns when the newest entries arrived; 0: the window is empty.
uint64_t top_window_newest_arrival(const struct top_window *window);
// Computes entries per 1000 seconds, from the first arrival to `now`. Returns false if the time is
// too short.
bool top_window_rate(const struct top_window *window, uint64_t now, uint64_t *rate);
void top_window_free(struct top_window *window);

// ---- top_blocks.c: the newest blocks of a byte ring ----

// Appends a copy of the block, and drops the oldest blocks beyond TOP_MAX_BYTES. Returns false if
// memory is short.
bool top_blocks_append(struct top_blocks *blocks, const struct extract_log_block *block,
                       const void *payload);
// Drops the oldest blocks until at most `max_entries` entries are left.
void top_blocks_shrink(struct top_blocks *blocks, uint64_t max_entries);
void top_blocks_clear(struct top_blocks *blocks);
void top_blocks_free(struct top_blocks *blocks);
// Copies the window over a byte ring to a log in memory. The caller frees it with extract_log_free.
// Errors: those of extract_log_put, IO.
enum extract_code top_window_make_log(const struct top_window *window, struct extract_log **log,
                                      struct extract_error *error);

// ---- top_source.c, top_live.c, top_follow.c: where blocks come from ----

// A quantity that a source may not know.
struct top_number {
    uint64_t value;
    bool is_known;
};

// What the first lines of a drawing show.
struct top_facts {
    const char *target;
    const char *state;
    struct top_state counts;
    struct top_number events_per_1000_s;
    struct top_number fill; // entries or bytes that were new at the last poll
    struct top_number link_bytes_per_second;
    struct top_number poll_period_ns;
    struct top_number quiet_ns;           // time since the newest entry arrived
    struct top_number halted_thousandths; // part of the time that our reads halted the target
    uint32_t ring_entries;                // size of the target's ring: entries, or bytes
    bool in_bytes;                        // `fill` and `ring_entries` are bytes
};

struct top_source {
    struct top_window window;
    const struct cli_options *options;
    const char *name;
    struct extract_symbols *symbols;
    struct extract_hook_roles *roles; // of hook words; NULL: none
    // Of a live target:
    struct extract_memory *memory;
    struct extract_recorder *recorder;
    struct extract_log_writer *log;                              // NULL: none is written
    struct top_number link_bytes_per_second, halted_thousandths; // the last measurement
    uint64_t measured_ns;                                        // time of that; 0: none yet
    uint64_t read_bytes, halted_ns;                              // totals at that time
    // Of a log that another program writes:
    uint64_t interval_ns; // between polls
    uint64_t polled_ns;   // time of the last poll
    const char *path;
    uint64_t next_block; // number of the first block that was not read
    uint64_t created;    // of the log's header: shows whether the file was replaced
    bool has_writer, is_closed, is_unreadable;
    int64_t file_state[3]; // size and time of change at the last poll
};

// `interval_ns` is the time between polls of a log.
enum extract_code top_source_open(struct top_source *source, const struct cli_options *options,
                                  uint64_t interval_ns, struct extract_error *error);
// Adds new blocks to the window. Trouble with the target or the log is not an error: the facts
// report it. Errors: NOMEM, and those of a log that the recorder writes.
enum extract_code top_source_poll(struct top_source *source, struct extract_error *error);
// Returns the time until the next poll is due.
uint64_t top_source_due_ns(const struct top_source *source);
// Returns whether no more entries can arrive.
bool top_source_has_ended(const struct top_source *source);
// Fills the facts, and drops old entries from the window. The link's rate and the time halted are
// those since the last measurement, at least TOP_MIN_RATE_NS ago.
void top_source_read_facts(struct top_source *source, struct top_facts *facts);
// Errors: those of the log that is written.
enum extract_code top_source_close(struct top_source *source, struct extract_error *error);

// top_live.c and top_follow.c: what top_source.c calls for each kind of source.
enum extract_code top_live_open(struct top_source *source, struct extract_error *error);
void top_live_read_facts(struct top_source *source, struct top_facts *facts);
enum extract_code top_live_close(struct top_source *source, struct extract_error *error);
enum extract_code top_log_poll(struct top_source *source, struct extract_error *error);

// ---- top_snapshot.c: the meaning of a window ----

// The newest event in the context of a thread.
struct top_last_event {
    const struct extract_event_type *type; // NULL: none
    uint32_t id;
};

struct top_snapshot {
    struct extract_snapshot slots;      // the entries of a slot ring
    struct extract_log *log;            // of a byte ring; NULL: a slot ring
    struct extract_trace *trace;        // NULL: no ring was found yet
    struct extract_stats *stats;        // of all events
    struct top_last_event *last_events; // one per object of the trace; owned
    struct extract_error fault;         // why a byte ring cannot be decoded yet; code OK: none
    struct top_facts facts;
};

enum extract_code top_snapshot_open(struct top_snapshot *snapshot, struct top_source *source,
                                    const struct extract_user_types *types,
                                    struct extract_error *error);
void top_snapshot_close(struct top_snapshot *snapshot);
// Makes statistics of the events that match a filter line. A name that is not in this trace (yet)
// matches nothing; the statistics are then made as well, and NOTFOUND is returned.
enum extract_code top_snapshot_stats(const struct top_snapshot *snapshot, const char *line,
                                     uint64_t hz, struct extract_stats **stats,
                                     struct extract_error *error);
// Writes the newest `max_events` events that match a filter line, as `report` does.
enum extract_code top_snapshot_events(const struct top_snapshot *snapshot, const char *line,
                                      uint64_t max_events,
                                      const struct extract_report_options *report,
                                      struct extract_text *text, struct extract_error *error);

// ---- top_filter_line.c: filter lines: "event=queue* thread=worker", "--event queue*" ----

// Makes the filter of a line. It passes only the newest `max_events` that match; 0: all of them.
enum extract_code top_filter_line_parse(const char *line, uint64_t max_events,
                                        struct extract_filter **filter,
                                        struct extract_error *error);
// Writes the conditions of the command line as a filter line. Returns false if they do not fit.
bool top_filter_line_write(char line[TOP_LINE_BYTES],
                           const struct extract_session_options *options);

// ---- top_draw.c, top_json.c: a snapshot as text ----

// Columns that the threads can be sorted by.
enum top_column { TOP_NAME, TOP_PRIORITY, TOP_LOAD, TOP_EVENTS, TOP_STACK, TOP_COLUMNS };

// What the user has chosen.
struct top_view {
    enum top_column sort;
    char filter_line[TOP_LINE_BYTES];
    bool is_paused, shows_help;
    bool is_editing;
    char edited_line[TOP_LINE_BYTES];
    char message[TOP_LINE_BYTES]; // shown until the next key
    struct extract_report_options report;
};

// The size of a terminal. In batch mode both are 0: a drawing has no limits.
struct top_size {
    unsigned rows, columns;
};

void top_draw(struct extract_text *text, const struct top_snapshot *snapshot,
              const struct top_view *view, struct top_size size);
void top_draw_json(struct extract_text *text, const struct top_snapshot *snapshot,
                   const struct top_view *view);

// ---- top_screen.c: a terminal ----

struct top_screen {
    struct termios saved;
    bool is_open;
};

// Switches to the alternate screen, without echo. Errors: IO.
enum extract_code top_screen_open(struct top_screen *screen, struct extract_error *error);
// Restores the terminal. Does nothing if the screen is not open.
void top_screen_close(struct top_screen *screen);
struct top_size top_screen_size(void);
// Shows the lines of a drawing. Returns false if the terminal is gone.
bool top_screen_show(const struct extract_text *drawing, struct top_size size);
// Writes an escaped text, at most `columns` wide. A text that is cut ends in "~".
void top_truncate(struct extract_text *text, const char *string, unsigned columns);
// Does the same for a line of a drawing, whose SGR sequences take no columns.
void top_truncate_line(struct extract_text *text, const char *line, size_t length,
                       unsigned columns);

// ---- top_keys.c: what typing does ----

enum top_action {
    TOP_NOTHING,
    TOP_REDRAW,
    TOP_CLEAR, // empty the window
    TOP_QUIT
};

// Applies `length` typed bytes to the view, and returns what is left for the caller to do.
enum top_action top_handle_keys(struct top_view *view, const char *bytes, size_t length);

// ---- top_loop.c: polls and draws ----

// Opens a descriptor for signals that end the program and, for a screen, those that change it. The
// signals stay blocked from now on. So nothing is interrupted, one place restores the terminal, and
// what is being written is closed before a second signal can end the program. Errors: IO.
enum extract_code top_signals_open(int *descriptor, bool batch, struct extract_error *error);

struct top_options {
    int signals; // descriptor of top_signals_open
    uint64_t delay_ns;
    uint64_t count; // refreshes; 0: no limit
    bool batch;
};

// Sets *status to CLI_UNREADABLE if standard output failed, after printing a message.
enum extract_code top_run(struct top_source *source, const struct extract_user_types *types,
                          struct top_view *view, const struct top_options *options, int *status,
                          struct extract_error *error);

#endif
