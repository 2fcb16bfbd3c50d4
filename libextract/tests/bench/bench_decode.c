// SPDX-License-Identifier: MIT
// bench: what the library does in a second, beside what the machine and others do, in one run.
//
// In: how many events (default 1,000,000) and an ELF for its symbols (default: this program).
// Out: a table of events a second with ratios, and PASS or FAIL for each figure that must be met.
#include "tests/bench/ctf_writer.h"
#include "tests/bench/measure.h"
#include "tests/bench/ring_maker.h"
#include "symbols/dwarf.h"
#include <errno.h>
#include <extract/schedule.h>
#include <extract/session.h>
#include <fcntl.h>
#include <unistd.h>

enum { RUNS = 12, THREADS = 8, OBJECTS = 15, BATCH = 128, LOOKUPS = 1 << 20, BASE = 0x20000000 };

struct bench {
    uint32_t events;
    const char *elf;
    struct maker ring;
    struct extract_memory *memory;
    struct extract_session *text, *json;
    struct extract_symbols *symbols;
    uint64_t *addresses; // to look up
    uint32_t lookups;    // how many; 0: the ELF gives none
    void *copy;
    char folder[64]; // of the CTF trace; "" when there is none
    int null;
    uint64_t sum; // keeps the compiler from leaving work out
};

static void make_objects(struct maker *ring)
{
    static const struct {
        uint8_t type;
        const char *name;
    } others[] = {{8, "byte pool 0"}, {3, "queue 0"}, {4, "semaphore 0"}, {6, "event flags 0"},
                  {5, "mutex 0"},     {7, "block 0"}, {2, "timer 0"}};
    char name[32];
    for (unsigned i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %u", i);
        maker_object(ring, 1, BASE + 0x1000 + 0xA0 * i, BASE + 0x8000 + 1024 * i, 1024, name);
    }
    for (unsigned i = 0; i < OBJECTS - THREADS; i++)
        maker_object(ring, others[i].type, BASE + 0x4000 + 0x40 * i, 100, 0, others[i].name);
}

static uint32_t thread_address(uint32_t number)
{
    return BASE + 0x1000 + 0xA0 * (number % THREADS);
}

// A mix as busy systems show it: queues first, then semaphores, mutexes, switches and interrupts. A
// thread continues until it resumes a thread, suspends itself or sleeps: for about five events, as
// in traces of real systems. Each field has a value of its kind.
static void make_events(struct maker *ring, uint32_t count)
{
    enum { RESUME = 1, SUSPEND = 2, ENTER = 3, EXIT = 4, GET = 52, PUT = 57, SLEEP = 112 };
    static const uint32_t ids[] = {69,  68,  69,     68,      69,    68,    83,   88,
                                   GET, PUT, RESUME, SUSPEND, SLEEP, ENTER, EXIT, 36};
    enum { WAITS_FOR_QUEUE = 5, FOREVER = 0xFFFFFFFF };
    uint32_t state = 2463534242u, stamp = 0, thread = thread_address(0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = random_word(&state), id = ids[r % 16], priority = 8 + (r >> 8) % 8;
        uint32_t object = BASE + 0x4000 + 0x40 * ((r >> 12) % (OBJECTS - THREADS));
        uint32_t stack = BASE + 0x8000 + (r & 0x1FFC), wait = r & 1 ? FOREVER : r & 0xFF;
        bool interrupt = id == ENTER || id == EXIT, moves = id == RESUME || id == SUSPEND;
        uint32_t next = moves || id == SLEEP ? thread_address(r >> 4) : thread;
        const uint32_t move[] = {id == RESUME ? next : thread, WAITS_FOR_QUEUE, stack, next};
        const uint32_t nesting[] = {stack, r >> 30, 1, 0};
        const uint32_t get[] = {object, wait, 0, 0};
        const uint32_t put[] = {object, thread, 1, stack};
        const uint32_t call[] = {object, stack, wait, r >> 24};
        stamp += 10 + (r & 0xFF);
        maker_event(ring, interrupt ? MAKER_ISR : thread,
                    interrupt ? thread : MAKER_PRIORITY(priority, priority), id, stamp,
                    moves       ? move
                    : interrupt ? nesting
                    : id == GET ? get
                    : id == PUT ? put
                                : call);
        thread = next;
    }
}

static bool flush_to_null(void *context, const char *data, size_t length)
{
    return write(*(int *)context, data, length) == (ssize_t)length;
}

static double run_copy(struct bench *b)
{
    memcpy(b->copy, b->ring.bytes, b->ring.length);
    b->sum += ((uint8_t *)b->copy)[b->sum % b->ring.length];
    return b->events;
}

static double run_decode(struct bench *b)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t count, total = 0;
    extract_reader_init(&reader, extract_session_trace(b->text));
    while ((count = extract_reader_next(&reader, events, BATCH))) {
        total += count;
        b->sum += events[count - 1].ticks;
    }
    return (double)total;
}

static double run_report(struct bench *b, struct extract_session *session)
{
    struct extract_text text;
    struct extract_error error;
    extract_text_init(&text, flush_to_null, &b->null);
    enum extract_code code = extract_session_run(session, "report", &text, &error);
    extract_text_flush(&text);
    extract_text_free(&text);
    return code ? 0 : (double)extract_session_shown(session);
}

static double run_text(struct bench *b)
{
    return run_report(b, b->text);
}

static double run_stats(struct bench *b)
{
    struct extract_text text;
    struct extract_error error;
    extract_text_init(&text, flush_to_null, &b->null);
    enum extract_code code = extract_session_run(b->text, "stats", &text, &error);
    extract_text_flush(&text);
    extract_text_free(&text);
    return code ? 0 : b->events;
}

static void add_interval(void *context, const struct extract_interval *interval)
{
    *(uint64_t *)context += interval->to;
}

static void add_state(void *context, const struct extract_state *state)
{
    *(uint64_t *)context += state->to;
}

static void add_wake(void *context, const struct extract_wake *wake)
{
    *(uint64_t *)context += wake->at;
}

static double run_schedule(struct bench *b)
{
    const struct extract_schedule_sink sink = {
        .context = &b->sum, .interval = add_interval, .state = add_state, .wake = add_wake};
    struct extract_error error;
    return extract_schedule_run(NULL, extract_session_trace(b->text), &sink, &error) ? 0
                                                                                     : b->events;
}

static double run_json(struct bench *b)
{
    return run_report(b, b->json);
}

static double run_printf(struct bench *b)
{
    FILE *null = fopen("/dev/null", "w");
    if (!null)
        return 0;
    for (uint32_t i = 0; i < b->events; i++)
        fprintf(null,
                "%7u  %9u  +%4u  %-10s  %-5u  %-5s  %-14s  queue=%s  source=0x%x  wait=%s  "
                "enqueued=%u\n",
                i, i * 17, 17u, "thread 1", 16u, "SVC", "queue send", "queue 0", 0x20003000 + i,
                "forever", i % 10);
    fclose(null);
    return b->events;
}

static double run_symbols(struct bench *b)
{
    struct extract_symbol symbol;
    uint64_t offset;
    for (uint32_t i = 0; i < b->lookups; i++)
        if (extract_symbols_by_address(b->symbols, b->addresses[i], &symbol, &offset, NULL))
            b->sum += offset;
    return b->lookups;
}

static double run_babeltrace(struct bench *b)
{
    return ctf_print(b->folder, b->null) ? b->events : 0;
}

enum { COPY, DECODE, FPRINTF, TEXT, JSON, SCHEDULE, STATS, SYMBOLIZE, BABELTRACE };

// What is measured, and the least that it must reach of another row in the same run; 0: nothing.
static const struct {
    const char *name;
    double (*run)(struct bench *);
    double must;
    unsigned of;
    int runs;
} measures[] = {
    [COPY] = {"memcpy of the ring", run_copy, 0, 0, RUNS},
    [DECODE] = {"decode", run_decode, 0.1, COPY, RUNS},
    [FPRINTF] = {"fprintf of such a line", run_printf, 0, 0, RUNS},
    [TEXT] = {"report, text", run_text, 1.5, FPRINTF, RUNS},
    [JSON] = {"report, JSON lines", run_json, 0.75, FPRINTF, RUNS},
    [SCHEDULE] = {"schedule", run_schedule, 0.12, DECODE, RUNS},
    [STATS] = {"stats", run_stats, 0.12, DECODE, RUNS},
    [SYMBOLIZE] = {"symbolize an address", run_symbols, 1.5, FPRINTF, RUNS},
    [BABELTRACE] = {"babeltrace2, text sink", run_babeltrace, 0, 0, 1},
};

enum { MEASURES = sizeof measures / sizeof *measures };

// Fills in the best rate of each measure. The measures take turns, so that a slow moment of the
// machine does not fall on one of them alone, and what else the machine does can only slow one
// down.
static void find_best_rates(struct bench *b, double rates[])
{
    for (int run = 0; run < RUNS; run++)
        for (size_t i = 0; i < MEASURES; i++) {
            if (run >= measures[i].runs)
                continue;
            double start = now(), count = measures[i].run(b), rate = count / (now() - start) / 1e6;
            rates[i] = rate > rates[i] ? rate : rates[i];
        }
}

static void print_table(const double rates[])
{
    printf("%-24s %12s %16s\n", "", "M events/s", "x fprintf");
    for (size_t i = 0; i < MEASURES; i++)
        if (rates[i] > 0)
            printf("%-24s %12.2f %16.2f\n", measures[i].name, rates[i], rates[i] / rates[FPRINTF]);
        else
            printf("%-24s %12s %16s\n", measures[i].name, "not run", "-");
    if (rates[BABELTRACE] > 0)
        printf("report, text / babeltrace2: %.1f\n", rates[TEXT] / rates[BABELTRACE]);
    for (size_t i = 0; i < MEASURES; i++) {
        double ratio = rates[i] / rates[measures[i].of];
        if (measures[i].must > 0 && rates[i] > 0)
            printf("%s %s: %.2f of %s, must be %.2f\n", ratio >= measures[i].must ? "PASS" : "FAIL",
                   measures[i].name, ratio, measures[measures[i].of].name, measures[i].must);
    }
}

// Where the ELF's symbols lie, by names that most programs have.
static bool find_span(const struct bench *b, uint64_t *low, uint64_t *high)
{
    static const char *const names[] = {"_start", "main", "_init",  "_fini",
                                        "_end",   "end",  "_edata", "_tx_trace_header_ptr"};
    struct extract_symbol symbol;
    *low = UINT64_MAX;
    *high = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!extract_symbols_by_name(b->symbols, names[i], &symbol))
            continue;
        *low = symbol.address < *low ? symbol.address : *low;
        *high = symbol.address > *high ? symbol.address : *high;
    }
    return *high > *low;
}

// Random addresses that a symbol covers: those that none covers would be found out sooner.
static bool make_addresses(struct bench *b)
{
    uint64_t low, high, tries = 0;
    uint32_t state = 88172645u, count = 0;
    struct extract_symbol symbol;

    b->addresses = calloc(LOOKUPS, sizeof *b->addresses);
    if (!b->addresses || !find_span(b, &low, &high))
        return b->addresses != NULL;
    while (count < LOOKUPS && tries++ < (uint64_t)LOOKUPS * 64) {
        uint64_t address = low + random_word(&state) % (high - low);
        if (extract_symbols_by_address(b->symbols, address, &symbol, NULL, NULL))
            b->addresses[count++] = address;
    }
    b->lookups = count == LOOKUPS ? LOOKUPS : 0;
    return true;
}

static enum extract_code open_all(struct bench *b, struct extract_error *error)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = BASE};
    enum extract_code code = extract_memory_new_images(&b->memory, error);
    if (!code)
        code =
            extract_memory_add_bytes(b->memory, "ring", b->ring.bytes, b->ring.length, BASE, error);
    if (!code)
        code = extract_session_open(&b->text, b->memory, NULL, &options, error);
    options.json = true;
    if (!code)
        code = extract_session_open(&b->json, b->memory, NULL, &options, error);
    if (!code)
        code = extract_symbols_open(&b->symbols, b->elf, error);
    return code;
}

static void close_all(struct bench *b)
{
    extract_symbols_close(b->symbols);
    extract_session_close(b->text);
    extract_session_close(b->json);
    extract_memory_close(b->memory);
    maker_close(&b->ring);
    ctf_remove(b->folder);
    free(b->copy);
    free(b->addresses);
    close(b->null);
}

static bool prepare(struct bench *b)
{
    struct extract_error error;
    char line[512];
    b->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!maker_open(&b->ring, BASE, 0xFFFFFFFF, 32, b->events, false))
        return false;
    make_objects(&b->ring);
    make_events(&b->ring, b->events);
    b->copy = malloc(b->ring.length);
    if (b->null < 0 || !b->copy || !ctf_make(b->folder, b->events))
        return false;
    if (open_all(b, &error)) {
        fprintf(stderr, "%s\n", extract_error_format(&error, line, sizeof line));
        return false;
    }
    return make_addresses(b);
}

int main(int argc, char **argv)
{
    struct bench b = {.elf = argc > 2 ? argv[2] : "/proc/self/exe", .null = -1};
    uint64_t events = 1000000;
    double rates[MEASURES] = {0};

    if ((argc > 1 && !extract_number_parse(argv[1], &events)) || events < 1 || events > 4000000) {
        fprintf(stderr, "usage: bench_decode [EVENTS (up to 4000000) [ELF]]\n");
        return 1;
    }
    b.events = (uint32_t)events;
    bool ready = prepare(&b);
    if (ready) {
        printf("%u events, %zu symbols, best of %d\n", b.events, extract_symbols_count(b.symbols),
               RUNS);
        find_best_rates(&b, rates);
        print_table(rates);
        printf("(checksum %llx)\n", (unsigned long long)b.sum);
    } else {
        fprintf(stderr, "bench_decode: it could not be prepared: %s\n", strerror(errno));
    }
    close_all(&b);
    return ready ? 0 : 1;
}
