// SPDX-License-Identifier: MIT
// unit: the window, filter lines, keys and drawings of `ringside top`.
//
// Truth: computation by hand; the statistics of a ring with the same entries.
#include "cli/top/top.h"
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"

enum { A = 0x20004000, B = 0x20004200, USER = 4096, SLOT = 32 };

static struct ring_image image;
static struct look ring;
static struct top_source source;
static struct cli_options options;
static struct top_window *const window = &source.window;
static uint64_t now;      // time of the recording, ns
static uint64_t produced; // entries so far
static uint8_t slots[200 * 1024 * SLOT];

static int set_up(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    spec.entries = 16;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, A, 0x20005000, 1024, "a"});
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 0, B, 0x20006000, 2048, "b\x1b[2J"});
    ring_insert(&image, &(struct ring_entry){A, 5, USER, 1, {0}});
    look_open(&ring, &image);
    memset(&source, 0, sizeof source);
    source.options = &options;
    source.name = source.path = "log";
    source.is_closed = true;
    now = 1000 * EXTRACT_SECOND;
    produced = 0;
    assert_int_equal(top_window_set_ring(window, &ring.ring, NULL), EXTRACT_OK);
    assert_int_equal(top_window_set_registry(window, image.bytes + 48, 2 * 48, NULL), EXTRACT_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    look_close(&ring);
    top_window_free(window);
    return 0;
}

static void word(uint64_t slot, unsigned i, uint64_t value)
{
    ring_number(slots + slot * SLOT + 4 * i, value, 4, false);
}

// Writes slot i of the next block: an entry whose second info word is its number.
static void entry(uint64_t i, uint64_t thread, uint64_t stamp, uint64_t id)
{
    memset(slots + i * SLOT, 0, SLOT);
    word(i, 0, thread);
    word(i, 1, 0x80050005);
    word(i, 2, id);
    word(i, 3, stamp);
    word(i, 5, produced + i);
}

static void take(const struct extract_log_block *block, const void *payload)
{
    top_window_add_block(window, block, payload);
}

static struct extract_log_block entries_block(uint32_t count)
{
    return (struct extract_log_block){.type = EXTRACT_LOG_ENTRIES,
                                      .length = count * SLOT,
                                      .count = count,
                                      .first = produced,
                                      .wall = now};
}

// Adds a block of `count` entries, one tick apart.
static void arrive(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        entry(i, A, produced + i, USER);
    struct extract_log_block block = entries_block(count);
    take(&block, slots);
    produced += count;
}

static void lose(uint64_t lost, uint64_t modulo)
{
    produced += lost;
    take(&(struct extract_log_block){.type = EXTRACT_LOG_LOSS,
                                     .kind = EXTRACT_LOSS_LAPPED,
                                     .modulo = modulo,
                                     .first = produced,
                                     .lost = lost},
         NULL);
}

static void mark(uint16_t kind)
{
    take(&(struct extract_log_block){.type = EXTRACT_LOG_MARK, .kind = kind, .first = produced},
         NULL);
}

// Asserts that the window holds the newest `count` entries in order, as a trace over it shows.
static void holds(uint32_t count)
{
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
    struct extract_reader reader;
    struct extract_event event;
    assert_int_equal(window->count, count);
    assert_int_equal(top_window_make_snapshot(window, &snapshot, NULL), EXTRACT_OK);
    assert_int_equal(extract_trace_open(&trace, &snapshot, NULL, NULL), EXTRACT_OK);
    extract_reader_init(&reader, trace);
    for (uint64_t i = produced - count; i < produced; i++) {
        assert_int_equal(extract_reader_next(&reader, &event, 1), 1);
        assert_int_equal(event.field[1], (uint32_t)i);
    }
    assert_int_equal(extract_reader_next(&reader, &event, 1), 0);
    extract_trace_close(trace);
    extract_snapshot_free(&snapshot);
}

static void the_newest_entries_stay(void **state)
{
    (void)state;
    holds(0);
    arrive(1);
    holds(1);
    arrive(TOP_MAX_ENTRIES - 2);
    holds(TOP_MAX_ENTRIES - 1);
    arrive(1);
    holds(TOP_MAX_ENTRIES);
    arrive(1);
    holds(TOP_MAX_ENTRIES);
    for (unsigned i = 0; i < 7; i++) { // the buffer wraps, each time elsewhere
        arrive(30011);
        holds(TOP_MAX_ENTRIES);
    }
    arrive(3 * TOP_MAX_ENTRIES);
    holds(TOP_MAX_ENTRIES);
    assert_int_equal(window->state.entries, produced);
}

static void time_passes(void **state)
{
    (void)state;
    arrive(100);
    now += 4 * EXTRACT_SECOND;
    arrive(10);
    now += 6 * EXTRACT_SECOND; // the first are 10 s old, not yet older
    arrive(5);
    holds(115);
    top_window_drop_old(window, now + 1);
    holds(15);
    top_window_drop_old(window,
                        now + 3600 * EXTRACT_SECOND); // the latest arrival stays
    holds(5);
    assert_int_equal(top_window_newest_arrival(window), now);
}

static void many_arrivals_are_joined(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20000; i++, now += EXTRACT_SECOND / 1000)
        arrive(1); // 20 s, one per millisecond
    now -= EXTRACT_SECOND / 1000;
    // The window holds 10 s, and what was joined with the oldest of these entries.
    assert_true(window->count >= 9990 && window->count <= 10012);
    holds(window->count);
    now -= 600 * EXTRACT_SECOND; // the host's clock was set back
    arrive(3);
    assert_true(window->count >= 9993);
}

// The window still holds the entries before a gap, the newest so far; the next ones begin another
// one.
static void is_over(uint32_t count)
{
    assert_true(window->is_over);
    assert_int_equal(window->count, count);
}

static void gaps_begin_anew(void **state)
{
    (void)state;
    arrive(20);
    lose(7, 0);
    is_over(20);
    arrive(3);
    holds(3);
    assert_int_equal(window->state.lost, 7);
    assert_int_equal(window->state.gaps_not_exact, 0);
    lose(1024, 1024);
    assert_int_equal(window->state.gaps_not_exact, 1);
    arrive(2);
    produced++; // a number is missing without a reason
    arrive(4);
    holds(4);
    assert_int_equal(window->state.lost, 7 + 1024 + 1);
    mark(EXTRACT_MARK_RESET);
    is_over(4);
    arrive(1);
    holds(1);
    assert_int_equal(window->state.resets, 1);
    assert_int_equal(window->state.entries, 30);
    mark(EXTRACT_MARK_START);
    is_over(1);
    produced += 9; // numbers start elsewhere: nothing is lost
    arrive(2);
    struct extract_log_block old = entries_block(5);
    top_window_skip_block(window, &old); // counted, but not kept
    produced += 5;
    is_over(2);
    arrive(2);
    holds(2);
    assert_int_equal(window->state.lost, 7 + 1024 + 1);
    assert_int_equal(window->state.entries, 39);
}

// A log that has ended shows its last window with data, although losses follow it. One that is
// still written, or a target, shows that nothing is known yet.
static void ended_logs_keep_their_window(void **state)
{
    struct top_facts facts;
    (void)state;
    arrive(5);
    lose(7, 0);
    mark(EXTRACT_MARK_STOP);
    top_source_read_facts(&source, &facts);
    assert_string_equal(facts.state, "ended");
    assert_int_equal(window->count, 5);
    source.has_writer = true;
    top_source_read_facts(&source, &facts);
    holds(0);
}

static void marks_tell_the_state(void **state)
{
    (void)state;
    mark(EXTRACT_MARK_GONE);
    assert_true(window->state.is_disconnected);
    mark(EXTRACT_MARK_BACK);
    assert_false(window->state.is_disconnected);
    mark(EXTRACT_MARK_DISABLED);
    assert_true(window->state.trace_is_disabled);
    mark(EXTRACT_MARK_ENABLED);
    assert_false(window->state.trace_is_disabled);
    mark(EXTRACT_MARK_FULL);
    assert_true(window->state.has_ended);
    mark(EXTRACT_MARK_START);
    assert_false(window->state.has_ended);
    take(&(struct extract_log_block){.type = EXTRACT_LOG_MARK, .kind = 999}, NULL);
    take(&(struct extract_log_block){.type = 77}, NULL);
}

static void bad_blocks_are_gaps(void **state)
{
    (void)state;
    arrive(4);
    struct extract_log_block block = entries_block(8);
    block.length = 8 * SLOT - 1; // one byte short
    take(&block, slots);
    assert_true(window->is_over);
    assert_int_equal(window->count, 4);
    arrive(4);
    block = entries_block(UINT32_MAX);
    block.length = SLOT;
    take(&block, slots);
    assert_true(window->is_over);
    assert_int_equal(window->count, 4);
    arrive(2);
    block = entries_block(2);
    block.flags = EXTRACT_LOG_PROVISIONAL;
    block.provisional = 4000000;
    take(&block, slots);
    produced += 2;
    struct extract_snapshot snapshot;
    assert_int_equal(top_window_make_snapshot(window, &snapshot, NULL), EXTRACT_OK);
    assert_int_equal(snapshot.counts[EXTRACT_PROVISIONAL], 4);
    assert_int_equal(snapshot.counts[EXTRACT_GOOD], 0);
    extract_snapshot_free(&snapshot);
}

static void rings_that_do_not_fit(void **state)
{
    (void)state;
    struct extract_ring bad = ring.ring;
    bad.address += 4; // a different ring is checked
    bad.entries.start = bad.address - SLOT;
    assert_int_equal(top_window_set_ring(window, &bad, NULL), EXTRACT_BAD);
    bad = ring.ring;
    bad.entries.slot_bytes = 1 << 20;
    assert_int_equal(top_window_set_ring(window, &bad, NULL), EXTRACT_BAD);
    bad = ring.ring;
    bad.word_bytes = 8;
    bad.registry.end = bad.entries.start + 1;
    assert_int_equal(top_window_set_ring(window, &bad, NULL), EXTRACT_BAD);
    arrive(3);
    assert_int_equal(top_window_set_ring(window, &ring.ring, NULL), EXTRACT_OK);
    holds(3); // the same ring again
    bad = ring.ring;
    bad.address -= 16;
    assert_int_equal(top_window_set_ring(window, &bad, NULL), EXTRACT_OK);
    assert_int_equal(window->count, 0); // entries of another ring
}

static void rates(void **state)
{
    uint64_t rate;
    (void)state;
    assert_false(top_window_rate(window, now, &rate));
    arrive(1000); // may be old, so they give no rate
    assert_false(top_window_rate(window, now, &rate));
    now += 2 * EXTRACT_SECOND;
    arrive(30);
    assert_true(top_window_rate(window, now, &rate));
    assert_int_equal(rate, 15000);   // 30 in 2 s
    lose(5, EXTRACT_LOG_LOSS_EXACT); // a gap does not reset the rate
    assert_true(top_window_rate(window, now + EXTRACT_SECOND, &rate));
    assert_int_equal(rate, 10000);
}

// ---- filter lines ----

static enum extract_code filter_of(const char *line)
{
    struct extract_filter *filter;
    enum extract_code code = top_filter_line_parse(line, 0, &filter, NULL);
    extract_filter_free(filter);
    return code;
}

static void filter_lines(void **state)
{
    (void)state;
    assert_int_equal(filter_of(""), EXTRACT_OK);
    assert_int_equal(filter_of("  event=queue*  --thread 'a b' class=SVC --from=1 to 2 last=3 "),
                     EXTRACT_OK);
    assert_int_equal(filter_of("colour=red"), EXTRACT_USAGE);
    assert_int_equal(filter_of("event"), EXTRACT_USAGE);
    assert_int_equal(filter_of("class=NONE"), EXTRACT_USAGE);
    assert_int_equal(filter_of("last=many"), EXTRACT_USAGE);
    assert_int_equal(filter_of("= = ="), EXTRACT_USAGE);
    assert_int_equal(filter_of("where='info1 == 5 && dt > 3' last=3"), EXTRACT_OK);
    assert_int_equal(filter_of("where=info1==5"), EXTRACT_OK);
    assert_int_equal(filter_of("where='info1 = 5'"), EXTRACT_USAGE);
    assert_int_equal(filter_of("event='queue"),
                     EXTRACT_OK); // an open quote ends with the line
}

static void conditions_as_a_line(void **state)
{
    struct extract_condition some[] = {{EXTRACT_FILTER_EVENT, "queue send"},
                                       {EXTRACT_FILTER_THREAD, "a\"b"}};
    struct extract_condition both[] = {{EXTRACT_FILTER_WHERE, "event == \"a\" && thread == 'b'"}};
    struct extract_session_options session = {.conditions = some, .condition_count = 2};
    char line[TOP_LINE_BYTES], name[TOP_LINE_BYTES];
    (void)state;
    assert_true(top_filter_line_write(line, &session));
    assert_string_equal(line, "event=\"queue send\" thread='a\"b'");
    session = (struct extract_session_options){.conditions = both, .condition_count = 1};
    assert_true(top_filter_line_write(line, &session));
    assert_string_equal(line, "where='event == \"a\" && thread == '\"'b'\"");
    assert_int_equal(filter_of(line), EXTRACT_OK); // the parser joins the parts
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    both[0].value = name;
    assert_false(top_filter_line_write(line, &session));
}

// ---- keys ----

static enum top_action type(struct top_view *view, const char *keys)
{
    return top_handle_keys(view, keys, strlen(keys));
}

static void keys_change_the_view(void **state)
{
    struct top_view view = {.sort = TOP_LOAD};
    (void)state;
    assert_int_equal(type(&view, "q"), TOP_QUIT);
    assert_int_equal(type(&view, "r"), TOP_CLEAR);
    type(&view, "s");
    assert_int_equal(view.sort, TOP_EVENTS);
    type(&view, "<<");
    assert_int_equal(view.sort, TOP_PRIORITY);
    type(&view, "<<");
    assert_int_equal(view.sort, TOP_STACK); // wraps around
    type(&view, ">");
    assert_int_equal(view.sort, TOP_NAME);
    type(&view, "p");
    assert_true(view.is_paused);
    type(&view, " ");
    assert_false(view.is_paused);
    type(&view, "?");
    assert_true(view.shows_help);
    type(&view, "x");
    assert_false(view.shows_help);
    // Keys that send sequences do not count as the letters in them.
    assert_int_equal(type(&view, "\x1b[A\x1bOq\x1b[15~"), TOP_NOTHING);
    assert_int_equal(type(&view, "\x1b["), TOP_NOTHING);
}

static void a_filter_is_typed(void **state)
{
    struct top_view view = {0};
    (void)state;
    type(&view, "fevent=q\r");
    assert_string_equal(view.filter_line, "event=q");
    type(&view, "f");
    assert_string_equal(view.edited_line, "event=q");
    type(&view, "\x7f\xc3\xa9\xc3\xa9\x7f");
    assert_string_equal(view.edited_line, "event=\xc3\xa9"); // deletes whole characters
    type(&view, "\x1b");
    assert_false(view.is_editing);
    assert_string_equal(view.filter_line, "event=q");
    type(&view, "f\x15"
                "nonsense=1\r");
    assert_string_equal(view.filter_line, "event=q"); // an invalid filter is ignored
    assert_non_null(strstr(view.message, "no filter has that name"));
    type(&view, "f\x15\x7f\r");
    assert_string_equal(view.filter_line, "");
    assert_string_equal(view.message, "");
    type(&view, "f");
    for (unsigned i = 0; i < 3 * TOP_LINE_BYTES; i++)
        type(&view, "y");
    assert_int_equal(strlen(view.edited_line), TOP_LINE_BYTES - 1);
}

// ---- drawings ----

static void cut_to(const char *line, unsigned columns, const char *expected)
{
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    top_truncate_line(&text, line, strlen(line), columns);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data, expected);
    extract_text_free(&text);
}

static void lines_are_cut(void **state)
{
    (void)state;
    cut_to("abcdef", 6, "abcdef");
    cut_to("abcdef", 5, "abcd~");
    cut_to("abcdef", 1, "~");
    cut_to("abcdef", 0, "");
    cut_to("", 3, "");
    cut_to("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x", 4, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x");
    cut_to("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x", 3, "\xc3\xa9\xe2\x82\xac~");
    cut_to("\x1b[1mhead\x1b[0m", 4, "\x1b[1mhead\x1b[0m");
    cut_to("\x1b[1mheads\x1b[0m", 4, "\x1b[1mhea\x1b[0m~");
    // A number is never cut.
    cut_to("load 1234", 8, "load ~");
    cut_to("load 12.4 %", 8, "load ~");
    cut_to("load 12.4 %", 10, "load 12.4~");
    cut_to("load \x1b[1m1234\x1b[0m", 7, "load \x1b[1m\x1b[0m~");
    cut_to("0x20001AF0", 6, "~");
    cut_to("task12", 6, "task12");
    cut_to("task123", 6, "task1~");
}

static void open_look(struct top_snapshot *snapshot)
{
    assert_int_equal(top_snapshot_open(snapshot, &source, NULL, NULL), EXTRACT_OK);
}

static const char *drawing_of(struct extract_text *text, const struct top_view *view,
                              struct top_size size)
{
    struct top_snapshot snapshot;
    open_look(&snapshot);
    text->used = 0;
    if (view->report.json)
        top_draw_json(text, &snapshot, view);
    else
        top_draw(text, &snapshot, view, size);
    extract_text_putc(text, 0);
    assert_int_equal(text->code, EXTRACT_OK);
    top_snapshot_close(&snapshot);
    return text->data;
}

// Thread b has the core for 30 of 40 ticks, and a for 10: the time before an event belongs to its
// thread.
static void share_load(void)
{
    entry(0, A, 100, USER);
    entry(1, B, 130, USER + 1);
    entry(2, A, 140, USER);
    struct extract_log_block block = entries_block(3);
    take(&block, slots);
    produced += 3;
}

static void loads_are_drawn(void **state)
{
    struct extract_text text;
    struct top_view view = {.sort = TOP_LOAD, .report = {.size = sizeof view.report}};
    (void)state;
    share_load();
    extract_text_init(&text, NULL, NULL);
    const char *drawing = drawing_of(&text, &view, (struct top_size){0, 0});
    assert_non_null(strstr(drawing, "log: threadx, ended\n"));
    assert_non_null(strstr(drawing, "threads 100.0 %, interrupts 0.0 %, idle 0.0 %  window: 3 "
                                    "events, 40 ticks\n"));
    const char *a = strstr(drawing, "\na  "), *b = strstr(drawing, "\nb\\x1b[2J");
    assert_non_null(a);
    assert_non_null(b); // with an escaped control character
    assert_true(b < a); // b has the core from 100 to 130
    assert_non_null(strstr(b, " 75.0  ||||||||  "));
    assert_non_null(strstr(a, " 25.0  |||   "));
    assert_null(strchr(drawing, '\x1b'));
    view.sort = TOP_STACK; // no stack is known: sorts by name
    view.report.color = true;
    drawing = drawing_of(&text, &view, (struct top_size){10, 40});
    assert_non_null(strstr(drawing, "\x1b[1m"));
    unsigned lines = 0;
    for (const char *at = drawing; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 9); // and the last line
    extract_text_free(&text);
}

// Threads of several cores have the times of their own core. The window keeps its column of cores
// while it holds entries of one core only.
static void loads_of_several_cores_are_drawn(void **state)
{
    struct extract_text text;
    struct top_view view = {.sort = TOP_LOAD, .report = {.size = sizeof view.report}};
    struct extract_ring other = ring.ring;
    (void)state;
    extract_text_init(&text, NULL, NULL);
    entry(0, A, 100, USER);
    entry(1, B, 130, USER | 1 << 24);
    entry(2, A, 140, USER);
    struct extract_log_block block = entries_block(3);
    take(&block, slots);
    produced += 3;
    const char *drawing = drawing_of(&text, &view, (struct top_size){0, 0});
    assert_non_null(strstr(drawing, "load: threads 100.0 %, interrupts 0.0 %, idle 0.0 %  window: "
                                    "3 events, 40 ticks\n"));
    assert_non_null(strstr(strstr(drawing, "\na  "), " 100.0  "));
    assert_non_null(strstr(strstr(drawing, "\nb\\x1b[2J"), " 0.0  "));
    assert_non_null(strstr(drawing, "  CPU  "));
    lose(1, 0); // the window starts again
    share_load();
    assert_non_null(strstr(drawing_of(&text, &view, (struct top_size){0, 0}), "  CPU  "));
    view.report.json = true;
    // The number of cores of another ring is not known yet.
    other.address += 16;
    other.registry.start += 16;
    other.registry.end += 16;
    other.entries.start += 16;
    other.entries.end += 16;
    assert_int_equal(top_window_set_ring(window, &other, NULL), EXTRACT_OK);
    share_load();
    assert_non_null(
        strstr(drawing_of(&text, &view, (struct top_size){0, 0}), "\"percent\":75.000"));
    extract_text_free(&text);
}

static void filters_do_not_change_loads(void **state)
{
    struct extract_text text;
    struct top_view view = {.report = {.size = sizeof view.report}, .filter_line = "thread=a"};
    (void)state;
    share_load();
    extract_text_init(&text, NULL, NULL);
    const char *drawing = drawing_of(&text, &view, (struct top_size){0, 0});
    assert_non_null(strstr(drawing, " 25.0  |||   "));
    assert_non_null(strstr(drawing, " 66.6  APPL   user event 4096\n")); // 2 of 3
    assert_null(strstr(drawing, "APPL   user event 4097"));
    view.report.json = true; // counts are filtered, loads are not
    const char *json = drawing_of(&text, &view, (struct top_size){0, 0});
    const char *filtered = strstr(json, "\"filtered\":{\"events\":2,");
    assert_non_null(filtered);
    assert_non_null(strstr(filtered, "\"span_ticks\":40,"));
    assert_non_null(strstr(filtered, "\"percent\":75.000"));
    assert_non_null(strstr(filtered, "\"percent\":25.000"));
    view =
        (struct top_view){.report = {.size = sizeof view.report}, .filter_line = "thread=nobody"};
    drawing = drawing_of(&text, &view, (struct top_size){0, 0});
    assert_non_null(strstr(drawing, "thread: \"nobody\": no such name in this trace"));
    extract_text_free(&text);
}

static void json_is_one_line(void **state)
{
    struct extract_text text;
    struct top_view view = {.report = {.size = sizeof view.report, .json = true}};
    (void)state;
    share_load();
    extract_text_init(&text, NULL, NULL);
    const char *json = drawing_of(&text, &view, (struct top_size){0, 0});
    assert_ptr_equal(strchr(json, '\n'), json + strlen(json) - 1);
    assert_non_null(strstr(json, "\"events_per_second\":null"));
    assert_non_null(strstr(json, "\"stats\":{\"events\":3,"));
    assert_non_null(strstr(json, "\"percent\":75.000"));
    assert_non_null(strstr(json, "},{\"seq\":1,"));
    top_window_free(window); // there is no ring yet
    json = drawing_of(&text, &view, (struct top_size){0, 0});
    assert_non_null(strstr(json, "\"stats\":null,\"newest\":[]}\n"));
    extract_text_free(&text);
}

// The same entries give the same statistics and the same report as a ring and as a window.
static void a_window_is_a_ring(void **state)
{
    struct extract_report_options plain = {.size = sizeof plain, .json = true};
    struct extract_text from_ring, from_window;
    struct extract_view *view;
    struct extract_stats *stats;
    struct top_snapshot snapshot;
    uint64_t stamp = 500;
    (void)state;
    look_close(&ring);
    ring_run(&image, 9, &stamp, 7);
    look_open(&ring, &image);
    memcpy(slots, image.bytes + ring_slot_offset(&image, 0), 10 * SLOT);
    struct extract_log_block block = entries_block(10);
    take(&block, slots);
    open_look(&snapshot);
    extract_text_init(&from_ring, NULL, NULL);
    extract_text_init(&from_window, NULL, NULL);
    assert_int_equal(extract_view_new(&view, NULL, ring.trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&stats, view, ring.trace, NULL), EXTRACT_OK);
    extract_report_stats(&from_ring, stats, &plain);
    extract_report_stats(&from_window, snapshot.stats, &plain);
    assert_int_equal(from_ring.used, from_window.used);
    assert_memory_equal(from_ring.data, from_window.data, from_ring.used);
    extract_stats_free(stats);
    extract_view_free(view);
    top_snapshot_close(&snapshot);
    extract_text_free(&from_ring);
    extract_text_free(&from_window);
}

static enum extract_code one_look(void)
{
    struct top_snapshot snapshot;
    enum extract_code code = top_snapshot_open(&snapshot, &source, NULL, NULL);
    if (!code)
        top_snapshot_close(&snapshot);
    return code;
}

static void memory_is_short(void **state)
{
    (void)state;
    share_load();
    each_allocation_fails(one_look);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(the_newest_entries_stay),
        CASE(time_passes),
        CASE(many_arrivals_are_joined),
        CASE(gaps_begin_anew),
        CASE(ended_logs_keep_their_window),
        CASE(marks_tell_the_state),
        CASE(bad_blocks_are_gaps),
        CASE(rings_that_do_not_fit),
        CASE(rates),
        cmocka_unit_test(filter_lines),
        cmocka_unit_test(conditions_as_a_line),
        cmocka_unit_test(keys_change_the_view),
        cmocka_unit_test(a_filter_is_typed),
        cmocka_unit_test(lines_are_cut),
        CASE(loads_are_drawn),
        CASE(loads_of_several_cores_are_drawn),
        CASE(filters_do_not_change_loads),
        CASE(json_is_one_line),
        CASE(a_window_is_a_ring),
        CASE(memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
