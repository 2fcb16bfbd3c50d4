// SPDX-License-Identifier: MIT
// memory/live: the kind of live memory that OpenOCD's Tcl port serves.
//
// Each command of live_memory.h becomes one Tcl script; no read or write needs a halted target. A
// script ends with 0x1a, and so does its reply. A reply carries no status of its own, so that each
// script is wrapped to return
//
//   ringside NUMBER CODE STATE RESULT
//
// with the number of the script, the code of `catch`, and the state of the core. The number shows
// whether a reply belongs to this script, or is late or incomplete.
// Source: OpenOCD User's Guide, "Tcl Scripting API" and "Tcl RPC server".
#include "base/now.h"
#include "memory/live/live_memory.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FRAME_END = 0x1a,
    CHUNK = 65536,                      // most bytes of one read; read_memory takes 65536 elements
    MAX_STORE = 1024,                   // most bytes of one write
    MAX_TAIL = 64,                      // bytes after a request, which end the script
    SCRIPT_SIZE = 1024 + MAX_STORE * 5, // a byte takes at most "0x01 "
    REPLY_SIZE = CHUNK / 4 * 11 + 16 * 1024, // a word takes "0x01234567 "; the rest is a message
    NAME_SIZE = 128                          // bytes of a target's name, with its null byte
};

// A type of OpenOCD's targets whose memory it may be unable to read while they run. (It reads a
// mem_ap, a cortex_m and an hla_target while they run.)
struct core_type {
    const char *name;
    const char *hint;     // the way out
    const char *old_hint; // the way out in versions before 0.12
};

struct openocd {
    struct live live;
    char target[NAME_SIZE];
    bool answers; // it has answered a script
    bool named;   // the user named the target
    bool native;  // OpenOCD has read_memory (0.12); otherwise mem2array is used
    bool is_core; // the target reports its true state; a mem_ap reports the last requested one
    const struct core_type *type; // NULL: reads of a running target need nothing special
    uint32_t number;
    size_t used;
    uint8_t reply[REPLY_SIZE];
    char script[SCRIPT_SIZE];
};

#define WITHOUT_A_BUS "; without a system bus, halt the core; otherwise check the address"
#define MEM_AP_HINT   "the core runs: halt it, or read a target of type mem_ap with --target"
static const struct core_type core_types[] = {
    {"riscv", "the RISC-V core runs: in OpenOCD, use \"riscv set_mem_access sysbus\"" WITHOUT_A_BUS,
     "the RISC-V core runs: in OpenOCD, use \"riscv set_prefer_sba on\"" WITHOUT_A_BUS},
    {"cortex_a", MEM_AP_HINT, MEM_AP_HINT},
    {"cortex_r4", MEM_AP_HINT, MEM_AP_HINT},
    {"aarch64", MEM_AP_HINT, MEM_AP_HINT},
};

static const char mark[] = "ringside ";

// Something that never answered may be another server, such as one of GDB whose target is halted.
static void doubt_silence(struct openocd *o)
{
    struct connection *connection = &o->live.connection;

    if (connection->fault == CONNECTION_LATE && !o->answers)
        connection_fail(connection, CONNECTION_LATE, EXTRACT_IO,
                        "check that OpenOCD responds, and that this is OpenOCD's tcl_port "
                        "(default 6666), not its telnet or GDB port",
                        "%s", connection->error.why);
}

// A server of GDB may have halted its target because a client connected: it is asked to detach, in
// the two forms that such servers know.
static bool not_openocd(struct openocd *o)
{
    static const char detach[] = "$D#44$D;1#b0";

    if (o->used && (o->reply[0] == '$' || o->reply[0] == '+'))
        (void)connection_send(&o->live.connection, detach, sizeof detach - 1);
    return connection_fail(&o->live.connection, CONNECTION_BROKEN, EXTRACT_BAD,
                           "use OpenOCD's tcl_port (default 6666), not its telnet or GDB port",
                           "does not answer as OpenOCD's Tcl port does");
}

// Reads a reply up to its end. Returns false after a fault.
static bool receive(struct openocd *o)
{
    for (o->used = 0;;) {
        int byte = connection_byte(&o->live.connection);
        if (byte < 0)
            return false;
        if (byte == FRAME_END)
            return true;
        if (o->used == sizeof o->reply)
            return connection_fail(&o->live.connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                                   "the reply does not end");
        o->reply[o->used++] = (uint8_t)byte;
        if (o->used < sizeof mark && byte != mark[o->used - 1])
            return not_openocd(o);
    }
}

// Reads `text` at the cursor. Returns false if something else is there.
static bool skip_text(struct extract_cursor *cursor, const char *text)
{
    const uint8_t *found = extract_cursor_span(cursor, strlen(text));

    return found && memcmp(found, text, strlen(text)) == 0;
}

// Reads a word and the space after it. Returns false if it has no end or does not fit.
static bool parse_word(struct extract_cursor *cursor, char *word, size_t size)
{
    size_t used = 0;

    while (extract_cursor_left(cursor)) {
        uint8_t c = extract_cursor_u8(cursor);
        if (c == ' ') {
            word[used] = 0;
            return true;
        }
        if (used + 1 == size)
            return false;
        word[used++] = (char)c;
    }
    return false;
}

// Reads "MARK NUMBER CODE STATE" and leaves the cursor at the result. Returns false if this is not
// the reply to the last script.
static bool parse_head(struct openocd *o, struct extract_cursor *result, char code[16])
{
    char state[32];
    uint64_t number;

    *result = extract_cursor_make(o->reply, o->used, EXTRACT_LITTLE);
    if (!skip_text(result, mark) || !live_number(result, 10, &number) || number != o->number ||
        !skip_text(result, " ") || !parse_word(result, code, 16) ||
        !parse_word(result, state, sizeof state))
        return false;
    o->answers = true;
    o->live.running = !o->is_core || strcmp(state, "halted") != 0;
    return true;
}

// Runs a script, whose braces must be balanced, and sets *result to what it returned. Returns
// LIVE_REFUSED if the script failed; live->refusal then holds its message.
static enum live_answer run_script(struct openocd *o, struct extract_cursor *result,
                                   const char *format, ...)
{
    char code[16];
    va_list args;
    const char *state = o->target[0] ? o->target : "target";
    int n =
        snprintf(o->script, sizeof o->script,
                 "apply {{} {set s unknown; catch {set s [%s curstate]}; set c [catch {", state);
    va_start(args, format);
    int length = vsnprintf(o->script + n, sizeof o->script - (size_t)n, format, args);
    va_end(args);
    if ((size_t)(n + length) >= sizeof o->script - MAX_TAIL)
        return live_refuse(&o->live, "a script of %d bytes is too long", length);
    n += length;
    n += snprintf(o->script + n, sizeof o->script - (size_t)n,
                  "} r]; return \"%s%" PRIu32 " $c $s $r\"}}%c", mark, ++o->number, FRAME_END);

    if (!connection_send(&o->live.connection, o->script, (size_t)n) || !receive(o)) {
        doubt_silence(o);
        return LIVE_BROKEN;
    }
    if (!parse_head(o, result, code)) {
        not_openocd(o);
        return LIVE_BROKEN;
    }
    if (strcmp(code, "0") == 0)
        return LIVE_GIVEN;
    size_t left = extract_cursor_left(result);
    if (!left)
        return live_refuse(&o->live, "OpenOCD fails with code %s", code);
    return live_refuse(&o->live, "OpenOCD says \"%.*s\"", (int)(left < 128 ? left : 128),
                       (const char *)extract_cursor_span(result, left));
}

// Runs a script and copies its whole result. Returns false after a fault, also if the script
// failed.
static bool query_word(struct openocd *o, char *word, size_t size, const char *script)
{
    struct extract_cursor result;
    enum live_answer answer = run_script(o, &result, "%s", script);

    if (answer == LIVE_REFUSED)
        return connection_fail(&o->live.connection, CONNECTION_LATE, EXTRACT_BAD, NULL, "%s",
                               o->live.refusal);
    size_t length = extract_cursor_left(&result);
    if (answer == LIVE_BROKEN)
        return false;
    if (length >= size)
        return not_openocd(o);
    memcpy(word, extract_cursor_span(&result, length), length);
    word[length] = 0;
    return true;
}

// Returns whether a name is a plain word. Only such a name may become part of a script.
static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:+@";
    size_t length = strlen(name);

    return length && length < NAME_SIZE && strspn(name, allowed) == length && name[0] != '-';
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; *at; at += *at == ' ') {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, name, word) == 0)
            return true;
        at += word;
    }
    return false;
}

// Uses the target that the user named, or the current one. Returns false if OpenOCD does not have
// it.
static bool choose_target(struct openocd *o)
{
    char names[1024], hint[240];

    if (!o->named && !query_word(o, o->target, sizeof o->target, "target current"))
        return false;
    if (!o->named && !is_name(o->target))
        return connection_fail(&o->live.connection, CONNECTION_LATE, EXTRACT_NOTFOUND,
                               "create one in OpenOCD's configuration", "OpenOCD has no target");
    if (!query_word(o, names, sizeof names, "target names"))
        return false;
    if (is_listed(names, o->target))
        return true;
    snprintf(hint, sizeof hint, "use one of its targets: %.200s", names);
    return connection_fail(&o->live.connection, CONNECTION_LATE, EXTRACT_NOTFOUND, hint,
                           "OpenOCD has no target \"%s\"", o->target);
}

// Returns the type of a target if OpenOCD may be unable to read it while it runs; otherwise NULL.
static const struct core_type *find_core_type(const char *name)
{
    for (size_t i = 0; i < sizeof core_types / sizeof *core_types; i++)
        if (strcmp(core_types[i].name, name) == 0)
            return &core_types[i];
    return NULL;
}

static const char *running_hint(const struct live *live)
{
    const struct openocd *o = (const struct openocd *)live;

    return !o->type ? NULL : o->native ? o->type->hint : o->type->old_hint;
}

// Learns what reads depend on: target, byte order, type, and whether read_memory exists. To test
// the last, it reads 0 elements, which does not access the target.
static bool greet(struct live *live)
{
    struct openocd *o = (struct openocd *)live;
    struct extract_cursor result;
    char facts[64], script[2 * NAME_SIZE + 64];

    if (!choose_target(o))
        return false;
    snprintf(script, sizeof script, "concat [%s cget -endian] [%s cget -type]", o->target,
             o->target);
    if (!query_word(o, facts, sizeof facts, script))
        return false;
    live->byte_order = strncmp(facts, "big ", 4) ? EXTRACT_LITTLE : EXTRACT_BIG;
    o->is_core = !strstr(facts, " mem_ap");
    const char *type = strchr(facts, ' ');
    o->type = type ? find_core_type(type + 1) : NULL;
    enum live_answer answer = run_script(o, &result, "%s read_memory 0 8 0", o->target);
    o->native = answer == LIVE_GIVEN;
    return answer != LIVE_BROKEN;
}

// An access to `count` words of `width` bits.
struct access {
    uint64_t address;
    unsigned width, count;
};

// Returns the access that covers a span: words of 32 bits, or bytes if the span is shorter than a
// word.
static struct access plan(uint64_t address, size_t length)
{
    uint64_t start = address & ~UINT64_C(3);
    struct access whole = {start, 32, (unsigned)((address - start + length + 3) / 4)};
    struct access bytes = {address, 8, (unsigned)length};

    return length < 4 ? bytes : whole;
}

// Reads words as a list of numbers, in the way that this OpenOCD knows.
static enum live_answer read_words(struct openocd *o, const struct access *a,
                                   struct extract_cursor *result)
{
    if (o->native)
        return run_script(o, result, "%s read_memory 0x%" PRIx64 " %u %u", o->target, a->address,
                          a->width, a->count);
    return run_script(o, result,
                      "%s mem2array a %u 0x%" PRIx64 " %u; set l {}; "
                      "for {set i 0} {$i < %u} {incr i} {lappend l $a($i)}; set l",
                      o->target, a->width, a->address, a->count, a->count);
}

// Stores the bytes of a word that lie in [address, address + length).
static void put_word(const struct openocd *o, const struct access *a, unsigned i, uint64_t word,
                     uint64_t address, uint8_t *buffer, size_t length)
{
    unsigned bytes = a->width / 8;

    for (unsigned b = 0; b < bytes; b++) {
        unsigned shift = 8 * (o->live.byte_order == EXTRACT_BIG ? bytes - 1 - b : b);
        uint64_t offset = a->address + (uint64_t)i * bytes + b - address;
        if (offset < length)
            buffer[offset] = (uint8_t)(word >> shift);
    }
}

static enum live_answer fetch(struct live *live, uint64_t address, uint8_t *buffer, size_t length,
                              size_t *got)
{
    struct openocd *o = (struct openocd *)live;
    struct access a = plan(address, length);
    struct extract_cursor words;
    uint64_t word;
    enum live_answer answer = read_words(o, &a, &words);

    if (answer != LIVE_GIVEN)
        return answer;
    for (unsigned i = 0; i < a.count; i++) {
        if ((i && !skip_text(&words, " ")) || !live_number(&words, 0, &word) || word >> a.width)
            words.failed = true;
        put_word(o, &a, i, word, address, buffer, length);
    }
    if (words.failed || extract_cursor_left(&words)) {
        connection_fail(&live->connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                        "the reply is not the %u words that were requested", a.count);
        return LIVE_BROKEN;
    }
    *got = length;
    return LIVE_GIVEN;
}

// Returns the word of `width` bits at `bytes`, in the target's byte order.
static uint64_t get_word(const struct openocd *o, const uint8_t *bytes, unsigned width)
{
    struct extract_cursor c = extract_cursor_make(bytes, width / 8, o->live.byte_order);

    return width == 8 ? extract_cursor_u8(&c) : extract_cursor_u32(&c);
}

// Writes words if the span consists of whole words, and otherwise bytes: no byte outside of the
// span may be written.
static enum live_answer store(struct live *live, uint64_t address, const uint8_t *bytes,
                              size_t length, size_t *done)
{
    struct openocd *o = (struct openocd *)live;
    struct extract_cursor result;
    char list[MAX_STORE * 5 + 1], *at = list;
    size_t most = length < MAX_STORE ? length : MAX_STORE;
    unsigned width = (address | most) % 4 ? 8 : 32, count = (unsigned)most / (width / 8);

    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "%s%#" PRIx64, i ? " " : "", get_word(o, bytes + i * (width / 8), width));
    enum live_answer answer =
        o->native
            ? run_script(o, &result, "%s write_memory 0x%" PRIx64 " %u {%s}", o->target, address,
                         width, list)
            : run_script(
                  o, &result,
                  "set i -1; foreach v {%s} {set a([incr i]) $v}; %s array2mem a %u 0x%" PRIx64
                  " %u",
                  list, o->target, width, address, count);
    *done = answer == LIVE_GIVEN ? most : 0;
    return answer;
}

// Makes the target the current one of a script, which is a single word or in braces.
#define ON_TARGET "set b [target current]; targets %s; set c [catch %s m]; targets $b; "

// Halts a core that runs. OpenOCD is asked first whether it has halted by itself.
static bool stop(struct live *live)
{
    struct openocd *o = (struct openocd *)live;
    struct extract_cursor result;
    uint64_t requested = extract_now();

    if (!o->is_core)
        return true;
    enum live_answer answer = run_script(
        o, &result,
        "catch {%s arp_poll}; if {[%s curstate] eq \"halted\"} {concat 0} else {" ON_TARGET
        "if {$c} {error $m}; concat 1}",
        o->target, o->target, o->target, "{halt 1000}");
    if (answer == LIVE_REFUSED)
        return connection_fail(&live->connection, CONNECTION_LATE, EXTRACT_IO, "halt it in OpenOCD",
                               "the core cannot be halted: %s", live->refusal);
    if (answer == LIVE_GIVEN && skip_text(&result, "1"))
        live_note_halted(live, requested);
    return answer == LIVE_GIVEN;
}

// Resumes a core that `stop` has halted.
static bool part(struct live *live)
{
    struct openocd *o = (struct openocd *)live;
    struct extract_cursor result;

    if (!live->halts.now)
        return true;
    enum live_answer answer =
        run_script(o, &result, ON_TARGET "if {$c} {error $m}", o->target, "resume");
    if (answer == LIVE_REFUSED)
        return connection_fail(&live->connection, CONNECTION_LATE, EXTRACT_IO, NULL,
                               "the core cannot be resumed: %s", live->refusal);
    return answer == LIVE_GIVEN;
}

static enum live_answer ask(struct live *live, const char *request, struct extract_text *text)
{
    struct openocd *o = (struct openocd *)live;
    struct extract_cursor result;
    enum live_answer answer = run_script(o, &result, "%s", request);

    if (answer != LIVE_GIVEN)
        return answer;
    size_t left = extract_cursor_left(&result);
    extract_text_put(text, (const char *)extract_cursor_span(&result, left), left);
    return LIVE_GIVEN;
}

static const struct live_kind openocd_kind = {.greet = greet,
                                              .fetch = fetch,
                                              .store = store,
                                              .part = part,
                                              .stop = stop,
                                              .ask = ask,
                                              .running_hint = running_hint,
                                              .protocol = LIVE_TCL};

const char *openocd_target(const struct live *live)
{
    return ((const struct openocd *)live)->target;
}

enum extract_code openocd_open(struct extract_memory **memory, const char *place,
                               const struct extract_live_options *options, live_dial *dial,
                               void *context, struct extract_error *error)
{
    const char *target = options ? options->target : NULL;

    *memory = NULL;
    if (target && !is_name(target))
        return extract_error_set(error, EXTRACT_USAGE, target,
                                 "run OpenOCD's command \"target names\" to list them",
                                 "not the name of a target");
    struct live *live;
    enum extract_code code =
        live_new(&live, &openocd_kind, sizeof(struct openocd), place, options, error);
    if (code)
        return code;
    struct openocd *o = (struct openocd *)live;
    if (target)
        strcpy(o->target, target);
    o->named = target != NULL;
    live->chunk = CHUNK;
    live->connection.dial = dial;
    live->connection.context = context;
    live->connection.hint =
        "check that OpenOCD is running and that this is its tcl_port (default 6666)";
    return live_open(live, memory, error);
}

enum extract_code extract_memory_open_openocd(struct extract_memory **memory, const char *place,
                                              const struct extract_live_options *options,
                                              struct extract_error *error)
{
    return openocd_open(memory, place, options, connection_open, NULL, error);
}
