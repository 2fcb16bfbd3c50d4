// SPDX-License-Identifier: MIT
// memory/live: reads and writes of any span, over connections that may break (live_memory.h).
//
// A span is accessed in commands of at most `chunk` bytes. If the server refuses a command, one of
// its bytes cannot be accessed. The first word is tried next, and then halves of what is left,
// until the first bad byte is found: all bytes before it are delivered.
//
//   refused      ├───────────── bad ─────────────┤
//   halved       ├─── given ─────┤├──── bad ─────┤
//   halved                        ├ bad ─┤
//
// If the connection breaks, its command is repeated over a new one, in at most TRIES attempts.
// After the last, no connection is tried for a delay that doubles with each failure: a caller that
// polls a dead server must not wait for it in each poll.
//
// The target must run again whatever happens. It is therefore released before a connection is
// closed, also after a time-out or a cancellation.
#include "memory/live/live_memory.h"
#include "base/now.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TRIES = 3,           // connections that one command may use
    DEFAULT_MS = 10000,  // time-out of an exchange, in ms
    BUDGET_STEP = 65536, // a span may take one more time-out for each that many bytes
    WORD = 4             // bytes of the first command after a refusal
};

#define PATIENCE_LEAST (EXTRACT_SECOND / 2)
#define MAX_PATIENCE   (EXTRACT_SECOND * 4)
#define MAX_PARTING    (EXTRACT_SECOND * 2)

// One read or write of a span; either `into` or `from` is NULL.
struct job {
    uint64_t address;
    uint8_t *into;       // destination of a read
    const uint8_t *from; // source of a write
};

void live_note_halted(struct live *live, uint64_t since)
{
    live->running = live->resumed = false;
    if (live->halts.now)
        return;
    live->halts.now = true;
    live->halts.count++;
    live->halted_since = since;
}

void live_note_running(struct live *live)
{
    live->running = true;
    if (!live->halts.now)
        return;
    uint64_t stood = extract_now() - live->halted_since;
    live->halts.now = false;
    live->halts.nanoseconds += stood;
    if (stood > live->halts.longest)
        live->halts.longest = stood;
}

void live_forget_halt(struct live *live)
{
    live->running = true;
    live->halts.count -= live->halts.now;
    live->halts.now = false;
}

enum live_answer live_refuse(struct live *live, const char *why, ...)
{
    va_list args;
    va_start(args, why);
    vsnprintf(live->refusal, sizeof live->refusal, why, args);
    va_end(args);
    return LIVE_REFUSED;
}

static unsigned digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 'a' - 'A';
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

// Skips "0x" at the cursor. Returns the base of the number: 16 after "0x", otherwise 10.
static unsigned base_at(struct extract_cursor *cursor)
{
    if (extract_cursor_left(cursor) < 2 || cursor->bytes[cursor->at] != '0' ||
        (cursor->bytes[cursor->at + 1] | ('a' - 'A')) != 'x')
        return 10;
    extract_cursor_span(cursor, 2);
    return 16;
}

bool live_number(struct extract_cursor *cursor, unsigned base, uint64_t *value)
{
    bool found = false;

    *value = 0;
    if (!base)
        base = base_at(cursor);
    while (extract_cursor_left(cursor)) {
        unsigned digit = digit_value(cursor->bytes[cursor->at]);
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
        extract_cursor_u8(cursor);
        found = true;
    }
    return found;
}

// Lets the target run and closes the connection. Waits for MAX_PARTING at most. Ignores `cancel`:
// that the caller wants to end is no reason to leave the target halted. Returns false after a
// fault.
static bool part(struct live *live)
{
    struct connection *connection = &live->connection;

    const volatile sig_atomic_t *cancel = connection->cancel;
    bool done = true;
    if (connection->fd >= 0 && live->kind->part) {
        connection->cancel = NULL;
        connection->limit = extract_now() + MAX_PARTING;
        connection_begin(connection);
        done = live->kind->part(live);
        connection->cancel = cancel;
    }
    live_note_running(live);
    connection_close(connection);
    return done;
}

// Closes a connection after a fault, and keeps the fault and its error. After a time-out or a
// cancellation the server may still hold its target halted, so that the target is released first.
static void drop(struct live *live)
{
    struct extract_error why = live->connection.error;
    enum connection_fault fault = live->connection.fault;

    if (fault == CONNECTION_CANCELLED || fault == CONNECTION_LATE)
        part(live);
    live_note_running(live);
    connection_close(&live->connection);
    live->connection.error = why;
    live->connection.fault = fault;
}

// Connects once and prepares the connection. Returns false after a fault.
static bool start(struct live *live)
{
    live->dialled = extract_now();
    if (!connection_connect(&live->connection))
        return false;
    connection_begin(&live->connection);
    if (live->kind->greet(live)) {
        live->patience = 0;
        return true;
    }
    drop(live);
    return false;
}

// Connects if no connection is open: at once for `turn` 0, later ones after turn * turn * 0.1 s.
// Returns false after a fault, or before retry_at.
static bool connect_again(struct live *live, unsigned turn)
{
    uint64_t now = extract_now();

    if (live->connection.fd >= 0)
        return true;
    if (now < live->retry_at)
        return false;
    return connection_wait_until(&live->connection, now + turn * turn * (EXTRACT_SECOND / 10)) &&
           start(live);
}

// Delays the next attempt to connect, twice as long as the last time.
static void lose_patience(struct live *live)
{
    uint64_t next = live->patience ? live->patience * 2 : PATIENCE_LEAST;

    live->patience = next < MAX_PATIENCE ? next : MAX_PATIENCE;
    live->retry_at = extract_now() + live->patience;
}

static enum live_answer command(struct live *live, const struct job *job, size_t at, size_t length,
                                size_t *got)
{
    connection_begin(&live->connection);
    if (job->into)
        return live->kind->fetch(live, job->address + at, job->into + at, length, got);
    return live->kind->store(live, job->address + at, job->from + at, length, got);
}

// Runs one command. If the connection breaks, repeats it over a new one.
static enum live_answer attempt(struct live *live, const struct job *job, size_t at, size_t length,
                                size_t *got)
{
    for (unsigned turn = 0; turn < TRIES; turn++) {
        *got = 0;
        if (connect_again(live, turn)) {
            enum live_answer answer = command(live, job, at, length, got);
            if (answer != LIVE_BROKEN)
                return answer;
            drop(live);
        }
        if (live->connection.fault != CONNECTION_BROKEN || extract_now() < live->retry_at)
            break;
    }
    if (extract_now() >= live->retry_at && live->connection.fault != CONNECTION_CANCELLED)
        lose_patience(live);
    return LIVE_BROKEN;
}

// Returns how many bytes the next command accesses; 0 if the first byte is the bad one. The next
// `bad` bytes are known to fail as a whole, unless `bad` is 0. `first_refusal`: the last
// command was the first one that the server refused.
static size_t next_part(const struct live *live, size_t left, size_t bad, bool first_refusal)
{
    size_t part = left < live->chunk ? left : live->chunk;

    if (!bad)
        return part;
    part = bad / 2 < part ? bad / 2 : part;
    if (first_refusal && part > WORD)
        return WORD; // if the whole span is bad, its first word shows it at once
    return part > WORD ? part - part % WORD : part;
}

// Runs the commands of a job. Returns how many bytes were accessed before the first bad one.
static size_t work(struct live *live, const struct job *job, size_t length)
{
    size_t done = 0, bad = 0; // bad: how many bytes from `done` on failed as a whole
    bool first_refusal = false;

    live->refused = true; // unless the connection fails
    live->connection.limit = extract_now() + live->connection.timeout * (2 + length / BUDGET_STEP);
    while (done < length) {
        size_t got, part = next_part(live, length - done, bad, first_refusal);
        if (!part)
            break;
        enum live_answer answer = attempt(live, job, done, part, &got);
        live->refused = answer != LIVE_BROKEN;
        if (answer == LIVE_BROKEN)
            break;
        first_refusal = answer == LIVE_REFUSED && !bad;
        if (answer == LIVE_GIVEN) {
            done += got;
            bad = bad > got ? bad - got : 0;
        } else {
            bad = part;
        }
    }
    return done;
}

// Returns whether the memory may be accessed. It may not if the caller has resumed the target: an
// access would halt it again.
static bool may_access(struct live *live)
{
    if (!live->resumed)
        return true;
    live_refuse(live, "the target runs, and the server reads it only while it is halted");
    live->refused = true;
    return false;
}

size_t live_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct live *live = context;
    struct job job = {.address = address, .into = buffer};

    return may_access(live) ? work(live, &job, length) : 0;
}

static size_t write_span(void *context, uint64_t address, const void *bytes, size_t length)
{
    struct live *live = context;
    struct job job = {.address = address, .from = bytes};

    return may_access(live) ? work(live, &job, length) : 0;
}

static bool explain(void *context, uint64_t address, struct extract_error *error)
{
    struct live *live = context;
    const char *hint = live->running ? live->kind->running_hint(live) : NULL;

    if (live->refused)
        extract_error_set(error, EXTRACT_UNREADABLE, live->place,
                          hint ? hint : "check the address, and that the target runs this firmware",
                          "no access at 0x%" PRIx64 ": %s", address, live->refusal);
    else
        *error = live->connection.error;
    return true;
}

static bool is_running(void *context)
{
    return ((struct live *)context)->running;
}

static bool region(void *context, size_t i, struct extract_region *found)
{
    struct live *live = context;

    return live->kind->region && live->kind->region(live, i, found);
}

static void free_live(struct live *live)
{
    free(live->place);
    free(live);
}

static void close_live(void *context)
{
    part(context);
    free_live(context);
}

// Returns the place with its host, allocated. A port alone is one of this host.
static char *place_name(const char *place)
{
    const char *host = !strpbrk(place, ":/") ? "localhost:" : place[0] == ':' ? "localhost" : "";
    size_t size = strlen(host) + strlen(place) + 1;
    char *name = malloc(size);

    if (name)
        snprintf(name, size, "%s%s", host, place);
    return name;
}

enum extract_code live_new(struct live **live, const struct live_kind *kind, size_t size,
                           const char *place, const struct extract_live_options *options,
                           struct extract_error *error)
{
    unsigned ms = options && options->timeout_ms ? options->timeout_ms : DEFAULT_MS;
    enum extract_code code = connection_check(place, error);

    if (code)
        return code;
    struct live *l = *live = calloc(1, size);
    char *name = l ? place_name(place) : NULL;
    if (!name) {
        free(l);
        return extract_error_set(error, EXTRACT_NOMEM, place, NULL, "out of memory");
    }
    l->kind = kind;
    l->place = name;
    l->running = true;
    l->connection.fd = -1;
    l->connection.place = name;
    l->connection.timeout = ms * (EXTRACT_SECOND / 1000);
    l->connection.cancel = options ? options->cancel : NULL;
    return EXTRACT_OK;
}

enum extract_code live_open(struct live *live, struct extract_memory **memory,
                            struct extract_error *error)
{
    struct extract_memory_source source = {.read = live_read,
                                           .close = close_live,
                                           .context = live,
                                           .name = live->place,
                                           .write = write_span,
                                           .region = region,
                                           .is_running = is_running,
                                           .explain = explain};
    enum extract_code code;

    live->connection.limit = extract_now() + live->connection.timeout;
    if (!start(live)) {
        code = live->connection.error.code;
        if (error)
            *error = live->connection.error;
        free_live(live);
        return code;
    }
    source.byte_order = live->byte_order;
    code = extract_memory_new(memory, &source, error);
    if (code)
        close_live(live);
    return code;
}

// Returns OK if `done`, otherwise the error of the connection.
static enum extract_code say(const struct live *live, bool done, struct extract_error *error)
{
    if (done)
        return EXTRACT_OK;
    if (error)
        *error = live->connection.error;
    return live->connection.error.code;
}

static bool halt(struct live *live)
{
    live->connection.limit = extract_now() + 2 * live->connection.timeout;
    live->resumed = false;
    if (live->connection.fd < 0)
        return connect_again(live, 0);
    connection_begin(&live->connection);
    if (live->kind->halt(live))
        return true;
    drop(live);
    return false;
}

bool live_stop(struct live *live)
{
    if (live->halts.now)
        return true;
    if (!live->kind->stop)
        return !live->kind->halt || halt(live);
    live->connection.limit = extract_now() + 2 * live->connection.timeout;
    if (!connect_again(live, 0))
        return false;
    connection_begin(&live->connection);
    if (live->kind->stop(live))
        return true;
    drop(live);
    return false;
}

enum live_answer live_ask(struct live *live, const char *request, struct extract_text *answer)
{
    live->connection.limit = extract_now() + 2 * live->connection.timeout;
    if (!may_access(live))
        return LIVE_REFUSED;
    if (!connect_again(live, 0))
        return LIVE_BROKEN;
    connection_begin(&live->connection);
    enum live_answer result = live->kind->ask(live, request, answer);
    if (result == LIVE_BROKEN)
        drop(live);
    return result;
}

enum extract_code extract_live_halt(struct extract_memory *memory, struct extract_error *error)
{
    struct live *live = live_of(memory);
    if (!live || !live->kind->halt || live->halts.now)
        return EXTRACT_OK;
    return say(live, halt(live), error);
}

enum extract_code extract_live_resume(struct extract_memory *memory, struct extract_error *error)
{
    struct live *live = live_of(memory);
    if (!live || !live->kind->resume || !live->halts.now)
        return EXTRACT_OK;
    live->connection.limit = extract_now() + live->connection.timeout;
    connection_begin(&live->connection);
    bool done = live->kind->resume(live);
    if (!done)
        drop(live);
    return say(live, done, error);
}

enum extract_code extract_live_release(struct extract_memory *memory, struct extract_error *error)
{
    struct live *live = live_of(memory);
    if (!live)
        return EXTRACT_OK;
    // A resumed target is halted first: while it runs, its server accepts no other request.
    bool done = part(live);
    live->resumed = false;
    return say(live, done, error);
}

struct extract_live_halts extract_live_halts(const struct extract_memory *memory)
{
    const struct live *live = live_of(memory);
    struct extract_live_halts halts = {0, 0, 0, false};
    if (!live)
        return halts;
    halts = live->halts;
    if (halts.now) {
        uint64_t stood = extract_now() - live->halted_since;
        halts.nanoseconds += stood;
        halts.longest = stood > halts.longest ? stood : halts.longest;
    }
    return halts;
}
