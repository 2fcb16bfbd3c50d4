// SPDX-License-Identifier: MIT
// bench: what a report through templates costs, beside the same report without them, in one run.
//
// In: how many events (default 1,000,000). Out: events a second of `report` through the templates
// that come with Ringside, of code that writes the same bytes by hand, of fprintf, and of
// babeltrace2's text sink on as many events; the price of the templates as a ratio; PASS or FAIL.
#include "base/text_writer.h"
#include "tests/bench/ctf_writer.h"
#include "tests/bench/measure.h"
#include "tests/bench/ring_maker.h"
#include <errno.h>
#include <extract/session.h>

enum { RUNS = 5, BATCH = 128, BASE = 0x20000000, THREADS = 8, OBJECTS = 15, LINE_ROOM = 512 };
enum { WHO_COLUMNS = sizeof "interrupt/thread 0" - 1 };
enum { MUST = 3, PRICE_MUST = 3 };

struct bench {
    uint32_t events;
    struct maker ring;
    struct extract_memory *memory;
    struct extract_session *session;
    struct extract_text through, by_hand; // the same report, made in both ways
    char folder[64];                      // of the CTF trace; "" when there is none
    int null;
};

// ---- the events: a mix as busy systems show it ----

static uint32_t thread_at(uint32_t i)
{
    return BASE + 0x1000 + 0xA0 * (i % THREADS);
}

static uint32_t object_at(uint32_t i)
{
    return BASE + 0x4000 + 0x40 * (i % (OBJECTS - THREADS));
}

static void make_objects(struct maker *ring)
{
    static const uint8_t types[OBJECTS - THREADS] = {8, 3, 4, 6, 5, 7, 2};
    static const char *const names[OBJECTS - THREADS] = {
        "byte pool 0", "queue 0", "semaphore 0", "event flags 0", "mutex 0", "block 0", "timer 0"};
    char name[32];
    for (uint32_t i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %u", i);
        maker_object(ring, 1, thread_at(i), BASE + 0x8000 + 1024 * i, 1024, name);
    }
    for (uint32_t i = 0; i < OBJECTS - THREADS; i++)
        maker_object(ring, types[i], object_at(i), 100, 0, names[i]);
}

// How an event of the mix is made, and how it is printed by hand: a letter a field.
//   o object   x number in hexadecimal   d decimal   w waiting time   s state of a thread   f "or"
static const struct mix {
    uint32_t id;
    unsigned level;
    const char *hex, *name, *kinds, *label[4];
} mix[] = {
    {69, 1, "045", "queue send", "oxwd", {"queue", "source", "wait", "enqueued"}},
    {68, 1, "044", "queue receive", "oxwd", {"queue", "dest", "wait", "enqueued"}},
    {83, 1, "053", "semaphore get", "owdx", {"semaphore", "wait", "current_count", "sp"}},
    {88,
     1,
     "058",
     "semaphore put",
     "oddx",
     {"semaphore", "current_count", "suspended_count", "sp"}},
    {52, 1, "034", "mutex get", "owod", {"mutex", "wait", "owner", "own_count"}},
    {57, 1, "039", "mutex put", "oodx", {"mutex", "owner", "own_count", "sp"}},
    {1, 2, "001", "thread resume", "osxo", {"thread", "prev_state", "sp", "next_thread"}},
    {2, 2, "002", "thread suspend", "osxo", {"thread", "new_state", "sp", "next_thread"}},
    {112, 1, "070", "thread sleep", "dsx", {"ticks", "state", "sp", NULL}},
    {3, 3, "003", "isr enter", "xdxd", {"sp", "isr_number", "sys_state", "preempt_disable"}},
    {4, 3, "004", "isr exit", "xdxd", {"sp", "isr_number", "sys_state", "preempt_disable"}},
    {36, 1, "024", "event flags set", "oxfd", {"group", "flags", "option", "suspended_count"}},
};

enum { MIX = sizeof mix / sizeof *mix };

static const char *const states[] = {
    "ready",       "completed",  "terminated", "suspended", "sleep", "queue",  "semaphore",
    "event flags", "block pool", "byte pool",  "io driver", "file",  "tcp/ip", "mutex"};

enum { STATES = sizeof states / sizeof *states };

static uint32_t make_field(char kind, unsigned i, uint32_t r)
{
    switch (kind) {
    case 'o':
        return i ? thread_at(r >> 20) : object_at(r >> 12);
    case 'w':
        return r & 1 ? 0xFFFFFFFF : r & 0xFF;
    case 's':
        return (r >> 8) % STATES;
    case 'd':
        return r >> 24;
    case 'f':
        return 0;
    default:
        return BASE + 0x8000 + (r & 0x1FFC);
    }
}

static void make_events(struct maker *ring, uint32_t count)
{
    static const uint8_t often[16] = {0, 1, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    uint32_t state = 2463534242u, stamp = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = random_word(&state), priority = 8 + (r >> 8) % 8, info[4] = {0};
        const struct mix *kind = &mix[often[r % 16]];
        bool interrupt = kind->level == 3;
        for (unsigned f = 0; kind->kinds[f]; f++)
            info[f] = make_field(kind->kinds[f], f, random_word(&state));
        stamp += 10 + (r & 0xFF);
        maker_event(ring, interrupt ? MAKER_ISR : thread_at(r >> 4),
                    interrupt ? thread_at(r >> 4) : MAKER_PRIORITY(priority, priority), kind->id,
                    stamp, info);
    }
}

// ---- the same lines by hand ----

struct hand {
    struct text_writer writer;
    const struct mix *by_id[256];
    struct {
        uint64_t address;
        const char *name;
        uint32_t length;
    } names[64];
    unsigned seq;
    uint64_t last;
};

static unsigned place_of(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

static void learn(struct hand *hand, const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    for (size_t i = 0; i < MIX; i++)
        hand->by_id[mix[i].id] = &mix[i];
    for (size_t i = 0; i < count; i++) {
        unsigned at = place_of(objects[i].address);
        while (hand->names[at].address)
            at = (at + 1) % 64;
        hand->names[at].address = objects[i].address;
        hand->names[at].name = objects[i].shown;
        hand->names[at].length = objects[i].shown_bytes;
    }
}

static void put_word(struct text_writer *writer, const char *word)
{
    text_writer_copy(writer, word, strlen(word));
}

static void put_name(struct hand *hand, uint64_t address)
{
    unsigned at = place_of(address);
    while (hand->names[at].address != address)
        at = (at + 1) % 64;
    text_writer_copy(&hand->writer, hand->names[at].name, hand->names[at].length);
}

static void put_hexadecimal(struct text_writer *writer, uint64_t value)
{
    unsigned digits = value > UINT16_MAX ? 8 : 4;
    TEXT_WRITER_LITERAL(writer, "0x");
    for (unsigned i = digits; i > 0; i--, value >>= 4)
        writer->at[i - 1] = "0123456789ABCDEF"[value & 15];
    writer->at += digits;
}

static void put_field(struct hand *hand, char kind, uint64_t value)
{
    struct text_writer *writer = &hand->writer;
    switch (kind) {
    case 'o':
        put_name(hand, value);
        break;
    case 'w':
        if (!value || value == UINT32_MAX)
            put_word(writer, value ? "forever" : "none");
        else
            text_writer_dec(writer, value);
        break;
    case 's':
        put_word(writer, states[value]);
        break;
    case 'f':
        put_word(writer, "or");
        break;
    case 'd':
        text_writer_dec(writer, value);
        break;
    default:
        put_hexadecimal(writer, value);
    }
}

static void put_prefix(struct hand *hand, const struct extract_event *event, const char *id)
{
    struct text_writer *writer = &hand->writer;
    text_writer_dec_right(writer, event->seq, hand->seq);
    TEXT_WRITER_LITERAL(writer, "  ");
    put_word(writer, id);
    TEXT_WRITER_LITERAL(writer, "   ");
    const char *start = writer->at;
    if (event->context == EXTRACT_ISR)
        TEXT_WRITER_LITERAL(writer, "interrupt/");
    put_name(hand, event->thread);
    text_writer_pad(writer, WHO_COLUMNS + 2 - (unsigned)(writer->at - start));
    text_writer_dec_right(writer, event->ticks, 13);
    TEXT_WRITER_LITERAL(writer, "  ");
    text_writer_dec_right(writer, event->ticks - hand->last, 11);
    hand->last = event->ticks;
}

static void put_event(struct hand *hand, const struct extract_event *event)
{
    struct text_writer *writer = &hand->writer;
    const struct mix *kind = hand->by_id[event->id];
    put_prefix(hand, event, kind->hex);
    text_writer_pad(writer, 2 + 8 * kind->level);
    put_word(writer, kind->name);
    for (unsigned i = 0; kind->kinds[i]; i++) {
        text_writer_char(writer, ' ');
        put_word(writer, kind->label[i]);
        text_writer_char(writer, '=');
        put_field(hand, kind->kinds[i], event->field[i]);
    }
    if (event->flags & EXTRACT_FLAG_PROVISIONAL)
        TEXT_WRITER_LITERAL(writer, "  [provisional]");
    text_writer_char(writer, '\n');
}

static enum extract_code report_by_hand(struct bench *b, struct extract_text *text)
{
    const struct extract_trace *trace = extract_session_trace(b->session);
    struct extract_event events[BATCH];
    struct extract_reader reader;
    struct hand hand = {.seq = text_writer_digits(b->events)};
    size_t count;

    learn(&hand, trace);
    hand.seq = hand.seq < 3 ? 3 : hand.seq;
    extract_text_printf(text,
                        "%*s  ID    %-*s  ELAPSED_TICKS  DELTA_TICKS  APPL    SYSCALL "
                        "KERNEL  INTERRUPT\n",
                        (int)hand.seq, "SEQ", WHO_COLUMNS, "THREAD");
    text_writer_open(&hand.writer, text);
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++) {
            if (!text_writer_need(&hand.writer, LINE_ROOM))
                return text->code;
            put_event(&hand, &events[i]);
        }
    text_writer_close(&hand.writer);
    return text->code;
}

// ---- the measures ----

static bool flush_to_null(void *context, const char *data, size_t length)
{
    return write(*(int *)context, data, length) == (ssize_t)length;
}

static double run_hand(struct bench *b)
{
    struct extract_text text;
    extract_text_init(&text, flush_to_null, &b->null);
    enum extract_code code = report_by_hand(b, &text);
    extract_text_flush(&text);
    extract_text_free(&text);
    return code ? 0 : b->events;
}

static double run_templates(struct bench *b)
{
    struct extract_text text;
    extract_text_init(&text, flush_to_null, &b->null);
    enum extract_code code = extract_session_run(b->session, "report", &text, NULL);
    extract_text_flush(&text);
    extract_text_free(&text);
    return code ? 0 : (double)extract_session_shown(b->session);
}

static double run_printf(struct bench *b)
{
    FILE *null = fopen("/dev/null", "w");
    if (!null)
        return 0;
    for (uint32_t i = 0; i < b->events; i++)
        fprintf(null,
                "%6u  %-4s  %-9s  %13u  %11u  %8s%s queue=%s source=0x%04X wait=%s enqueued=%u\n",
                i, "045", "thread 1", i * 17, 17u, "", "queue send", "queue 0", 0x20003000 + i,
                "forever", i % 10);
    fclose(null);
    return b->events;
}

static double run_babeltrace(struct bench *b)
{
    return ctf_print(b->folder, b->null) ? b->events : 0;
}

enum { TEMPLATES, HAND, PRINTF, BABELTRACE, MEASURES };

static const struct {
    const char *name;
    double (*run)(struct bench *);
    int runs;
} measures[MEASURES] = {
    {"report through templates", run_templates, RUNS},
    {"the same by hand", run_hand, RUNS},
    {"fprintf of such a line", run_printf, RUNS},
    {"babeltrace2, text sink", run_babeltrace, 1},
};

// The best of several runs: what else the machine does can only slow one down.
static double best_rate(struct bench *b, size_t i)
{
    double best = 0;
    for (int run = 0; run < measures[i].runs; run++) {
        double start = now(), count = measures[i].run(b), rate = count / (now() - start);
        best = rate > best ? rate : best;
    }
    return best / 1e6;
}

static int verdict(bool good, const char *format, double value, double bound)
{
    printf("%s ", good ? "PASS" : "FAIL");
    printf(format, value, bound);
    return !good;
}

static int print_table(const double rates[MEASURES])
{
    double price = rates[HAND] / rates[TEMPLATES];
    printf("%-26s %12s\n", "", "M events/s");
    for (size_t i = 0; i < MEASURES; i++)
        if (rates[i] > 0)
            printf("%-26s %12.2f\n", measures[i].name, rates[i]);
        else
            printf("%-26s %12s\n", measures[i].name, "not run");
    if (rates[BABELTRACE] > 0)
        printf("templates / babeltrace2: %.1f times as fast\n",
               rates[TEMPLATES] / rates[BABELTRACE]);
    printf("templates / fprintf: %.2f times as fast\n", rates[TEMPLATES] / rates[PRINTF]);
    return verdict(rates[TEMPLATES] >= (double)MUST, "%.2f M events/s, must be %.0f\n",
                   rates[TEMPLATES], MUST) +
           verdict(
               price <= (double)PRICE_MUST,
               "the price of templates against formatting by hand: %.2f, must be at most %.0f\n",
               price, PRICE_MUST);
}

// The same bytes, or the first line that differs on standard error.
static bool compare(struct bench *b)
{
    struct extract_text *one = &b->through, *other = &b->by_hand;
    size_t at = 0, start = 0;
    if (extract_session_run(b->session, "report", one, NULL) || report_by_hand(b, other))
        return false;
    if (one->used == other->used && !memcmp(one->data, other->data, one->used))
        return true;
    for (; at < one->used && at < other->used && one->data[at] == other->data[at]; at++)
        start = one->data[at] == '\n' ? at + 1 : start;
    fprintf(stderr, "bench_report: the reports differ:\n%.*s\n%.*s\n",
            (int)strcspn(one->data + start, "\n"), one->data + start,
            (int)strcspn(other->data + start, "\n"), other->data + start);
    errno = EBADMSG;
    return false;
}

static bool prepare(struct bench *b)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = BASE};
    b->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (b->null < 0 || !maker_open(&b->ring, BASE, 0xFFFFFFFF, 32, b->events, false) ||
        !ctf_make(b->folder, b->events))
        return false;
    make_objects(&b->ring);
    make_events(&b->ring, b->events);
    return !extract_memory_new_images(&b->memory, NULL) &&
           !extract_memory_add_bytes(b->memory, "ring", b->ring.bytes, b->ring.length, BASE,
                                     NULL) &&
           !extract_session_open(&b->session, b->memory, NULL, &options, NULL) && compare(b);
}

static void close_all(struct bench *b)
{
    extract_text_free(&b->through);
    extract_text_free(&b->by_hand);
    extract_session_close(b->session);
    extract_memory_close(b->memory);
    maker_close(&b->ring);
    ctf_remove(b->folder);
    close(b->null);
}

int main(int argc, char **argv)
{
    struct bench b = {.null = -1};
    uint64_t events = 1000000;
    double rates[MEASURES];
    int failed = 1;

    if ((argc > 1 && !extract_number_parse(argv[1], &events)) || events < 1 || events > 4000000) {
        fprintf(stderr, "usage: bench_report [EVENTS (up to 4000000)]\n");
        return 1;
    }
    b.events = (uint32_t)events;
    if (prepare(&b)) {
        printf("%u events, best of %d; both reports are the same %zu bytes\n", b.events, RUNS,
               b.through.used);
        for (size_t i = 0; i < MEASURES; i++)
            rates[i] = best_rate(&b, i);
        failed = print_table(rates);
    } else {
        fprintf(stderr, "bench_report: it could not be prepared: %s\n", strerror(errno));
    }
    close_all(&b);
    return failed != 0;
}
